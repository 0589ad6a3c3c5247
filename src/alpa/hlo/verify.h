#pragma once

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// Checks what every other room takes for granted: order, names, arity, ranges of dims and attributes, shapes that fit.
/// Errors: InvalidArgumentError that names the instruction and what is wrong with it. Cost: O(instructions).
void verify(const Module& module);

}  // namespace alpa::hlo
