#pragma once

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// Without the computations that the entry does not reach.
Module drop_uncalled(Module module);

/// The same program with what the entry's root does not need left out and equal instructions of the entry merged (same
/// opcode, attributes, shape and operands). Parameters and what has side effects stay. Other computations are kept as
/// they are, those that nothing calls dropped. Meant for a program whose calls are inlined. Cost: O(instructions).
Module simplify_entry(const Module& module);

}  // namespace alpa::hlo
