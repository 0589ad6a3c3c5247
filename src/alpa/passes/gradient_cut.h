#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "alpa/passes/reach.h"
#include "alpa/passes/write_accumulation.h"

namespace alpa::passes {

/// Floating and complex values are averaged over micro-batches; of others the last micro-batch's stays.
bool is_averaged(tensor::DType dtype);

/// Where a step is cut at its gradient markers: what crosses from the part that runs for each micro-batch to the part
/// that runs once, and what each part needs.
class GradientCut {
 public:
  /// One array of an instruction's value.
  struct Leaf {
    hlo::InstructionId id = 0;
    std::vector<int64_t> path = {};  ///< Elements of tuples.
  };
  /// An operand of a marker that the step uses, or an output that passes all markers by (marker < 0).
  struct Crossing {
    hlo::InstructionId value = 0;
    hlo::InstructionId marker = -1;
    size_t operand = 0;
    size_t output = 0;
  };

  /// Errors: as write_accumulation.
  GradientCut(const hlo::Computation& entry, const AccumulationRequest& request);

  const Reach& reach() const { return reach_; }
  const std::vector<Leaf>& outputs() const { return outputs_; }
  const std::vector<Crossing>& crossings() const { return crossings_; }
  bool is_for_outputs(hlo::InstructionId id) const { return for_outputs_[static_cast<size_t>(id)]; }
  bool is_for_gradients(hlo::InstructionId id) const { return for_gradients_[static_cast<size_t>(id)]; }
  tensor::Shape shape_of(const Leaf& leaf) const;
  tensor::Shape shape_of(const Crossing& crossing) const;

 private:
  void check_markers() const;
  void find_dependences();
  void add_leaves(const Leaf& leaf, const tensor::Shape& shape);
  void need_for_outputs();
  void need_for_gradients();
  void use(const Leaf& leaf, std::vector<hlo::InstructionId>& roots);
  void use_marker(hlo::InstructionId operand, hlo::InstructionId user);
  void use_operand(hlo::InstructionId marker, size_t operand);
  [[noreturn]] void raise_passes_by(const std::string& what) const;
  std::string where(hlo::InstructionId id) const;

  const hlo::Computation& entry_;
  const AccumulationRequest& request_;
  const Reach reach_;
  std::vector<bool> of_batch_, of_marker_;         ///< By instruction: what it depends on.
  std::vector<bool> for_outputs_, for_gradients_;  ///< By instruction: what needs it.
  std::vector<Leaf> outputs_;
  std::set<std::pair<hlo::InstructionId, size_t>> used_;
  std::vector<Crossing> crossings_;
};

}  // namespace alpa::passes
