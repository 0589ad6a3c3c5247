#pragma once

#include <cstdint>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// Floating-point operations of one execution: a multiply-add counts two. Dots and convolutions by their contractions
/// (a convolution's taps on padding and on the zeros of a dilated input are not counted), `reduce` one an operand
/// element, elementwise operations one an element, data movement none; called computations are not added. Units: FLOP.
int64_t flops(const Computation& computation, const Instruction& instruction);

/// The same for a whole program: loops by their trip counts (unknown: once), of branches the largest. INT64_MAX if it
/// is more. Cost: O(instructions).
int64_t flops(const Module& module);

/// Of the dots, ragged dots and convolutions of a whole program alone.
int64_t contraction_flops(const Module& module);

/// True for dot, ragged-dot and convolution.
bool is_contraction(Opcode opcode);

}  // namespace alpa::hlo
