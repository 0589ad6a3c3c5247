#pragma once

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// True for what does more than make its result; collectives do not count here.
bool has_side_effects(const Instruction& instruction);

/// Without the computations that the entry does not reach.
Module drop_uncalled(Module module);

/// The same program with what the entry's root does not need left out and equal instructions of the entry merged (same
/// opcode, attributes, shape and operands). Parameters and what has side effects stay. Other computations are kept as
/// they are, those that nothing calls dropped. Meant for a program whose calls are inlined. Cost: O(instructions).
Module simplify_entry(const Module& module);

}  // namespace alpa::hlo
