#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alpa/hlo/value_graph.h"
#include "alpa/plan/plan.h"

namespace alpa::passes {

/// Where each array of a program lies and where each operation wants its operands, read out of a plan.
class Placements {
 public:
  /// Errors: InvalidArgumentError if the plan says nothing of an instruction, or a placement does not fit its array.
  Placements(const hlo::Module& module, const hlo::ValueGraph& graph, const plan::Plan& plan);

  /// True for what is made anew in each placement wanted.
  bool is_generator(hlo::ValueId value) const { return !specs_[static_cast<size_t>(value)].has_value(); }
  /// Where a value lies that is no generator's.
  const sharding::ShardingSpec& spec(hlo::ValueId value) const { return *specs_[static_cast<size_t>(value)]; }

  /// What an operation wants of its operands; `operands` are its arrays, `result` the placement of its first result.
  std::vector<sharding::ShardingSpec> operands(const hlo::Instruction& instruction,
                                               const std::vector<hlo::ValueId>& operands,
                                               const sharding::ShardingSpec& result) const;

 private:
  const std::string& key_of(const hlo::Node& node) const;
  sharding::ShardingSpec planned(const std::string& name, size_t leaf, const tensor::Shape& shape) const;
  const sharding::ShardingSpec& checked(const std::vector<sharding::ShardingSpec>& specs, size_t index,
                                        const tensor::Shape& shape, const std::string& name) const;

  const hlo::Module& module_;
  const hlo::ValueGraph& graph_;
  const plan::Plan& plan_;
  std::vector<std::optional<sharding::ShardingSpec>> specs_;
};

}  // namespace alpa::passes
