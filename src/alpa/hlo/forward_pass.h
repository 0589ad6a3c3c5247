#pragma once

#include <optional>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// The forward pass of a training step: what its entry does up to `end`, and after it what the loss still waits for.
/// Everything else is its backward pass and its update.
struct ForwardPass {
  InstructionId end = 0;
  std::vector<bool> of_loss;  ///< By instruction: whether the loss follows from it.

  bool is_backward(InstructionId id) const { return id > end && !of_loss[static_cast<size_t>(id)]; }
};

/// Nothing if no value waits for a later use, so that there is no such pass.
///
/// The end is found by what waits there: of the instructions from which a loss follows (one real number that the
/// program gives) it is the one over which most bytes are kept for later uses; of all instructions, if the program
/// gives no such number. An exported program stands in the order of its results, where the loss itself may come last.
/// Parameters do not count, nor do constants and what is made of constants alone. Cost: O(edges), for each such number.
std::optional<ForwardPass> forward_pass(const Module& module);

/// By instruction of a computation: whether its value follows from constants alone.
std::vector<bool> constant_values(const Computation& computation);

}  // namespace alpa::hlo
