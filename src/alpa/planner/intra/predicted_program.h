#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "alpa/hlo/opcode.h"
#include "alpa/mesh/logical_mesh.h"
#include "alpa/plan/plan.h"

namespace alpa::planner {

/// A collective that a plan's program will have.
struct PredictedCollective {
  hlo::Opcode kind = hlo::Opcode::kAllReduce;
  int64_t bytes = 0;  ///< Of one execution.
  std::vector<int> axes;
  std::string operands;  ///< Element type and reduction: only equal ones can be combined.
  bool is_sum = false;
  double executions = 1;  ///< A step.
  int32_t computation = 0;
  bool rearranged = false;  ///< An all-gather along a dim that is not the outermost.
};

/// What a value of the partitioned program is to the collective passes.
enum class StepRole {
  kOther,
  kMove,     ///< Of one operand, linear: reshape, transpose, copy, negation, product with a constant.
  kConvert,  ///< Of one operand, elementwise but not linear.
  kSum,      ///< Addition or subtraction of two.
  kSlice,    ///< Each device keeps a part.
};

/// The collectives of a partitioned program as far as the collective passes look at it: what merges all-reduces, makes
/// reduce-scatters of them and combines what does not wait for each other (docs/partitioner.md), without the
/// program. Steps are added operands first.
class PredictedProgram {
 public:
  explicit PredictedProgram(const mesh::LogicalMesh& mesh) : mesh_(mesh) {}

  /// Returns the step's number.
  int32_t add_step(StepRole role, std::vector<int32_t> operands);
  /// Each device keeps the part of `dim` that its place along `axes` says.
  int32_t add_slice(int32_t operand, int dim, std::vector<int> axes);
  int32_t add_collective(PredictedCollective collective, int32_t operand);
  /// Something outside wants the value: an output, the next turn of a loop.
  void use(int32_t step) { ++steps_[static_cast<size_t>(step)].uses; }

  /// Totals by opcode after the passes.
  std::map<std::string, plan::CollectiveCount> totals() &&;

 private:
  struct Step {
    StepRole role = StepRole::kOther;
    std::vector<int32_t> operands;
    std::vector<int> slice_axes = {};
    int slice_dim = -1;
    std::vector<PredictedCollective> collectives = {};  ///< Of the result, one after another.
    int64_t uses = 0;
    std::vector<int32_t> users = {};
  };

  Step& step(int32_t number) { return steps_[static_cast<size_t>(number)]; }
  void merge_all_reduces();
  void form_reduce_scatters();
  bool form(int32_t reduce);
  bool first_slices(int32_t value, std::vector<int32_t>& slices);
  std::vector<int32_t> slices_from(int32_t slice);
  int64_t size(const std::vector<int>& axes) const;
  std::map<std::string, plan::CollectiveCount> combined() const;

  mesh::LogicalMesh mesh_;
  std::vector<Step> steps_;
};

}  // namespace alpa::planner
