#pragma once

#include <string>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// By instruction of the entry: whether the backward pass may make its value anew. No: parameters, what comes after the
/// forward pass's end, loops and branches, what has side effects or an order of its own, what the root gives, and what
/// follows from constants alone.
std::vector<bool> rematerializable(const hlo::Module& module);

/// The program with values of its forward pass (hlo::forward_pass) made twice: once for their uses there, and again for
/// those in the backward pass, so that they need not be kept between. `names`: instructions of the entry.
///
/// A clone is named after its original ("x.remat.1") and stands in front of its first use. What it reads of the forward
/// pass comes through an opt-barrier, so that no common subexpression is found, together with an operand of the
/// backward pass that the use, or what follows from it, waits for: so the clone cannot be made before it is wanted.
/// Source: the idea of jax.checkpoint (recomputation behind a barrier with the cotangents).
/// Errors: InvalidArgumentError that names an instruction that is not there or not `rematerializable`.
hlo::Module rematerialize(const hlo::Module& module, const std::vector<std::string>& names);

}  // namespace alpa::passes
