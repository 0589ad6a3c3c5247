#pragma once

#include <cstdint>
#include <string_view>

namespace alpa::tensor {

/// Element types, with the numbers of XLA's PrimitiveType.
enum class DType : int {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kTuple = 13,
  kOpaque = 14,
  kC64 = 15,
  kBF16 = 16,
  kToken = 17,
  kC128 = 18,
  kF8E5M2 = 19,
  kF8E4M3FN = 20,
  kS4 = 21,
  kU4 = 22,
  kF8E4M3B11FNUZ = 23,
  kF8E5M2FNUZ = 24,
  kF8E4M3FNUZ = 25,
  kS2 = 26,
  kU2 = 27,
  kF8E4M3 = 28,
  kF8E3M4 = 29,
  kS1 = 30,
  kU1 = 31,
  kF4E2M1FN = 32,
  kF8E8M0FNU = 33,
  kBuffer = 34,
  kF6E3M2FN = 35,
  kF6E2M3FN = 36,
};

/// Bits of one element; 0 for tuple, token and opaque.
int bit_width(DType dtype);

/// XLA's name: "f32", "pred", "bf16".
std::string_view name(DType dtype);

/// NumPy's name: "float32", "bool", "bfloat16"; empty if NumPy (with ml_dtypes) has none.
std::string_view numpy_name(DType dtype);

/// From XLA's or NumPy's name. Errors: InvalidArgumentError that names `text`.
DType parse_dtype(std::string_view text);

/// True for f16, bf16, f32, f64 and the 8-bit and smaller floats.
bool is_floating(DType dtype);
/// True for signed and unsigned integers (not pred).
bool is_integral(DType dtype);
bool is_complex(DType dtype);

/// True if a value of this type is an array of elements (not tuple, token or opaque).
inline bool is_array(DType dtype) { return bit_width(dtype) > 0; }

}  // namespace alpa::tensor
