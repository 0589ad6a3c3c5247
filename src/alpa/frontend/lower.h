#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "alpa/frontend/liveness.h"
#include "alpa/frontend/trace.h"
#include "alpa/hlo/builder.h"

namespace alpa::frontend {

/// Turns graphs into HLO, computation by computation. Primitives' `lower` functions call it.
class Lowering {
 public:
  explicit Lowering(hlo::ModuleBuilder& module, std::string name);

  hlo::ComputationBuilder& builder() { return builder_; }
  /// A computation of its own for a function that an operation calls. A function of one result has that as root, else a
  /// tuple; with `tupled` it takes and gives tuples always, as loops and branches do.
  hlo::ComputationId function(const Function& function, const std::string& name, bool tupled);
  /// A computation to be made by hand within this module; hand it back by `add`.
  Lowering nested(const std::string& name);
  /// Which outputs of the operation that is being lowered are used; ids of others are never asked for.
  const std::vector<bool>& used() const { return used_; }
  /// A reducer of two scalars.
  hlo::ComputationId reducer(hlo::Opcode opcode, DType dtype);
  /// A computation that the caller builds by hand.
  hlo::ComputationId add(hlo::Computation computation) { return module_.add(std::move(computation)); }
  /// Makes names of computations unique.
  int64_t num_computations() const { return module_.num_computations(); }

  /// Sets the values of the parameters (any id for those that no result needs), then records all that the results need.
  /// Ids of the results.
  std::vector<hlo::InstructionId> run(const std::vector<Array>& parameters,
                                      const std::vector<hlo::InstructionId>& arguments,
                                      const std::vector<Array>& results);
  hlo::Computation build(hlo::InstructionId root) && { return std::move(builder_).build(root); }

 private:
  std::vector<hlo::InstructionId> leaf(const Node& node);

  hlo::ModuleBuilder& module_;
  std::string name_;
  hlo::ComputationBuilder builder_;
  std::map<const Node*, std::vector<hlo::InstructionId>> ids_;
  std::vector<bool> used_;
};

/// The function as a program: its parameters, named, and a tuple of its results. Known arrays become constants.
hlo::Module lower(const Function& function, const std::string& name, const std::vector<std::string>& parameter_names);

}  // namespace alpa::frontend
