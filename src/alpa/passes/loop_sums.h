#pragma once

#include <vector>

#include "alpa/hlo/rewrite.h"

namespace alpa::passes {

/// An element of a loop's tuple that the loop only adds to, or writes rows of:
///
///   element = element + addend          or          element[row, ...] = addend
///
/// Nothing else reads it, in the body or in the condition.
struct LoopSum {
  int64_t element = 0;
  hlo::InstructionId update = 0;  ///< Of the body: the addition, or the dynamic-update-slice.
  size_t addend = 0;              ///< Operand of `update`.
  int64_t rows = 0;               ///< Of an array that is written row by row; 0 for what is added up.
  hlo::InstructionId row = -1;    ///< Of the body: the row that is written, the same on all devices.
  hlo::InstructionId init = 0;    ///< Of the caller.
};

/// The sums of a `while` instruction of `caller`, whose body it alone calls; by element. Arrays that are written row
/// by row are such only if they begin as zeros, so that a row that is never written is the sum of nothing. A loop whose
/// tuple is used otherwise than element by element has none.
std::vector<LoopSum> loop_sums(const hlo::Module& module, const hlo::Rewrite& caller, hlo::InstructionId loop);

}  // namespace alpa::passes
