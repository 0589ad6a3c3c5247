#pragma once

#include "alpa/frontend/ops/bodies.h"

namespace alpa::frontend {

/// A loop while a condition holds. Condition and body take the carry.
std::vector<Array> emit_while(const Closure& condition, const Closure& body, const std::vector<Array>& init,
                              const Where& where);

/// One of several functions without parameters, chosen by an s32 scalar in range.
std::vector<Array> emit_branches(const Array& index, const std::vector<Closure>& branches, const Where& where);

}  // namespace alpa::frontend
