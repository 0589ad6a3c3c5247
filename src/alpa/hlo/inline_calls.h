#pragma once

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// The same program without `call` (JAX emits one for each inner jit): each is replaced by a copy of its callee's
/// instructions, in the entry and in what it calls. Loops and conditionals get computations of their own; computations
/// that nothing calls any more are dropped. Cost: O(instructions of the result).
Module inline_calls(const Module& module);

}  // namespace alpa::hlo
