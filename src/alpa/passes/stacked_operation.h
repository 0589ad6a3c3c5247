#pragma once

#include <vector>

#include "alpa/hlo/rewrite.h"

namespace alpa::passes {

/// Adds what does to each of `rows` arrays that lie one after another in a new first dim what `one` does to a single
/// array. `one`: linear in `linear` of its operands (LinearFlow::linear_operands). `operands`: of the new instruction,
/// stacked at these positions, the fixed ones as they are. Collectives get channels of their own.
hlo::InstructionId add_stacked(hlo::Rewrite& to, hlo::FreshNames& names, const hlo::Instruction& one,
                               std::vector<hlo::InstructionId> operands, const std::vector<size_t>& linear,
                               int64_t rows);

}  // namespace alpa::passes
