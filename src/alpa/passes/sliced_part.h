#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alpa/passes/partition_values.h"

namespace alpa::passes {

/// A box inside an array, one a device.
struct Part {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> offsets;  ///< By dim, then by device.

  bool operator==(const Part&) const = default;
};

/// What each device takes of a dynamic-slice's operand. Nothing if an offset is not known.
std::optional<Part> taken_part(const hlo::Rewrite& rewrite, hlo::InstructionId slice, PartitionValues& values);

/// The part `inner` of the part `outer`, as a part of what that one is of.
Part part_within(Part outer, const Part& inner);

/// A dynamic-slice that leaves each device its part; the value itself if that is all of it.
hlo::InstructionId add_slice(hlo::Rewrite& rewrite, hlo::FreshNames& names, hlo::InstructionId value, const Part& part);

/// A slice and the way to it from the value that is sliced.
struct SlicedUse {
  /// Operations of one operand, from the value on; slices that come before the last one are among them.
  std::vector<hlo::InstructionId> path;
  std::vector<std::vector<int64_t>> sizes_after;  ///< Of the part, after each of them.
  hlo::InstructionId slice = -1;
  Part part;  ///< Of the value, not of what the path makes of it.
};

/// All uses of `value`, if each leads to `depth` dynamic slices one after another, whose parts are known; nothing else.
std::optional<std::vector<SlicedUse>> sliced_uses(const hlo::Rewrite& rewrite, hlo::InstructionId value, int depth,
                                                  PartitionValues& values);

}  // namespace alpa::passes
