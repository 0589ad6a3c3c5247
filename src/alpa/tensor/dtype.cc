#include "alpa/tensor/dtype.h"

#include <array>

#include "alpa/base/error.h"

namespace alpa::tensor {
namespace {

struct Row {
  DType dtype;
  int bits;
  std::string_view xla;
  std::string_view numpy;
};

constexpr std::array kRows = {
    Row{DType::kInvalid, 0, "invalid", ""},
    Row{DType::kPred, 8, "pred", "bool"},
    Row{DType::kS8, 8, "s8", "int8"},
    Row{DType::kS16, 16, "s16", "int16"},
    Row{DType::kS32, 32, "s32", "int32"},
    Row{DType::kS64, 64, "s64", "int64"},
    Row{DType::kU8, 8, "u8", "uint8"},
    Row{DType::kU16, 16, "u16", "uint16"},
    Row{DType::kU32, 32, "u32", "uint32"},
    Row{DType::kU64, 64, "u64", "uint64"},
    Row{DType::kF16, 16, "f16", "float16"},
    Row{DType::kF32, 32, "f32", "float32"},
    Row{DType::kF64, 64, "f64", "float64"},
    Row{DType::kTuple, 0, "tuple", ""},
    Row{DType::kOpaque, 0, "opaque", ""},
    Row{DType::kC64, 64, "c64", "complex64"},
    Row{DType::kBF16, 16, "bf16", "bfloat16"},
    Row{DType::kToken, 0, "token", ""},
    Row{DType::kC128, 128, "c128", "complex128"},
    Row{DType::kF8E5M2, 8, "f8e5m2", "float8_e5m2"},
    Row{DType::kF8E4M3FN, 8, "f8e4m3fn", "float8_e4m3fn"},
    Row{DType::kS4, 4, "s4", "int4"},
    Row{DType::kU4, 4, "u4", "uint4"},
    Row{DType::kF8E4M3B11FNUZ, 8, "f8e4m3b11fnuz", "float8_e4m3b11fnuz"},
    Row{DType::kF8E5M2FNUZ, 8, "f8e5m2fnuz", "float8_e5m2fnuz"},
    Row{DType::kF8E4M3FNUZ, 8, "f8e4m3fnuz", "float8_e4m3fnuz"},
    Row{DType::kS2, 2, "s2", "int2"},
    Row{DType::kU2, 2, "u2", "uint2"},
    Row{DType::kF8E4M3, 8, "f8e4m3", "float8_e4m3"},
    Row{DType::kF8E3M4, 8, "f8e3m4", "float8_e3m4"},
    Row{DType::kS1, 1, "s1", ""},
    Row{DType::kU1, 1, "u1", ""},
    Row{DType::kF4E2M1FN, 4, "f4e2m1fn", "float4_e2m1fn"},
    Row{DType::kF8E8M0FNU, 8, "f8e8m0fnu", "float8_e8m0fnu"},
    Row{DType::kBuffer, 0, "buffer", ""},
    Row{DType::kF6E3M2FN, 6, "f6e3m2fn", "float6_e3m2fn"},
    Row{DType::kF6E2M3FN, 6, "f6e2m3fn", "float6_e2m3fn"},
};

const Row& row(DType dtype) {
  for (const Row& candidate : kRows) {
    if (candidate.dtype == dtype) return candidate;
  }
  return kRows[0];
}

}  // namespace

int bit_width(DType dtype) { return row(dtype).bits; }

std::string_view name(DType dtype) { return row(dtype).xla; }

std::string_view numpy_name(DType dtype) { return row(dtype).numpy; }

DType parse_dtype(std::string_view text) {
  for (const Row& candidate : kRows) {
    if (candidate.dtype != DType::kInvalid && (text == candidate.xla || (!text.empty() && text == candidate.numpy))) {
      return candidate.dtype;
    }
  }
  raise<InvalidArgumentError>("dtype", "unknown element type \"{}\": use one like f32 or float32", text);
}

bool is_floating(DType dtype) {
  const std::string_view text = name(dtype);
  return text[0] == 'f' || dtype == DType::kBF16;
}

bool is_integral(DType dtype) {
  const char first = name(dtype)[0];
  return is_array(dtype) && (first == 's' || first == 'u');
}

bool is_complex(DType dtype) { return dtype == DType::kC64 || dtype == DType::kC128; }

}  // namespace alpa::tensor
