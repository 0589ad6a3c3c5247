#pragma once

#include <vector>

#include "alpa/frontend/array.h"

namespace alpa {

/// Element type and weakness of a result.
struct Promoted {
  DType dtype = DType::kInvalid;
  bool weak = false;
  bool operator==(const Promoted&) const = default;
};

/// The element type of an operation on two arrays, as JAX's lattice has it:
///   bool < weak int < u8 < u16 < u32 < u64 < weak float,  weak int < s8 < s16 < s32 < s64 < weak float,
///   u8 < s16, u16 < s32, u32 < s64,  weak float < bf16, f16 < f32 < f64,  weak float < weak complex < c64 < c128,
///   f32 < c64, f64 < c128.
/// A weak result is s32, f32 or c64. Source: JAX documentation, "Type promotion semantics".
Promoted promote(Promoted a, Promoted b);

/// Of all of them, in order.
Promoted promote(const std::vector<Array>& arrays);

namespace frontend {
/// All with the promoted element type. Errors: InvalidArgumentError for a C++ number at `where` that it does not hold.
std::vector<Array> promoted(const std::vector<Array>& arrays, Where where);
/// All with the promoted element type and the broadcast dims, NumPy's rule: trailing dims agree or one of them is 1.
/// Errors: InvalidArgumentError that names `op`, the shapes and the place.
std::vector<Array> promoted_and_broadcast(const char* op, const std::vector<Array>& arrays, Where where);
/// The dims that arrays broadcast to. Errors: as promoted_and_broadcast.
Dims broadcast_dims(const char* op, const std::vector<Array>& arrays, Where where);
}  // namespace frontend

}  // namespace alpa
