#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "alpa/hlo/rewrite.h"

namespace alpa::passes {

/// What small integer values are on each partition, as far as they follow from constants and the partition's number:
/// the offsets of the partitioner's slices, by whichever arithmetic it makes them.
class PartitionValues {
 public:
  PartitionValues(const hlo::Rewrite& rewrite, int64_t num_devices) : rewrite_(rewrite), num_devices_(num_devices) {}

  int64_t num_devices() const { return num_devices_; }

  /// By partition; nothing if it is no scalar integer or depends on anything else.
  std::optional<std::vector<int64_t>> scalar(hlo::InstructionId id);

 private:
  using Elements = std::vector<int64_t>;                ///< Of one partition, row-major.
  using Values = std::optional<std::vector<Elements>>;  ///< By partition.

  const Values& of(hlo::InstructionId id);
  Values evaluate(hlo::InstructionId id);
  Values on_all(Elements elements) const;
  Values dynamic_slice(const hlo::Instruction& slice);
  Values elementwise(const hlo::Instruction& instruction);

  const hlo::Rewrite& rewrite_;
  int64_t num_devices_;
  std::map<hlo::InstructionId, Values> known_;
};

}  // namespace alpa::passes
