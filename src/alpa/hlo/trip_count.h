#pragma once

#include <cstdint>
#include <optional>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// Executions of a `while` instruction's body, if it counts an integer element of its tuple from a constant by a
/// constant step up (or down) to a constant bound; nothing otherwise.
std::optional<int64_t> trip_count(const Module& module, const Computation& computation, const Instruction& loop);

}  // namespace alpa::hlo
