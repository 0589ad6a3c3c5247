#pragma once

#include <string>
#include <string_view>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// The program as text to read, diff and edit: one line an instruction, in the manner of XLA's own text.
///
///     HloModule jit_step, always={metadata}
///
///     add.1 (id=1) {
///       a.1 = f32[] parameter(0)
///       b.1 = f32[] parameter(1)
///       ROOT sum.1 = f32[] add(a.1, b.1)
///     }
///
///     ENTRY main.2 (id=2) {
///       x.2 = f32[8,4]{1,0} parameter(0)
///       zero.2 = f32[] constant(0)
///       ROOT y.2 = f32[8]{0} reduce(x.2, zero.2), dimensions={1}, to_apply=add.1
///     }
///
/// It is a language of ours, which XLA's parser does not promise to take. It is complete: parse_text gives a module
/// with the same bytes. What is the usual case is left out: ids that count up from (computation id << 32) + 1, layouts'
/// padding alignment of 1 (else ":P"), flags that say that no dim is dynamic, signatures that the instructions give,
/// and the empty fields of `always` (an instruction that lacks one says so by `without`). Every other field has the
/// name and value that the proto gives it, fields unknown to us stand base64 in `proto`, and elements of constants are
/// in row-major order (base64 if they are many). Cost: O(bytes).
std::string to_text(const Module& module);

/// Reads what `to_text` writes; blanks, line ends and "//" comments may stand anywhere between words.
/// Errors: InvalidArgumentError with line and column if it is not of that form, and those of `read_module`.
Module parse_text(std::string_view text);

}  // namespace alpa::hlo
