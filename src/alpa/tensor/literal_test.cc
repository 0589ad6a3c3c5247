#include "alpa/tensor/literal.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "alpa/base/error.h"

namespace alpa::tensor {
namespace {

TEST(DType, NamesParseBack) {
  for (int number = 1; number <= 36; ++number) {
    const auto dtype = static_cast<DType>(number);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    if (dtype != DType::kTuple && is_array(dtype) && bit_width(dtype) > 1) {
      EXPECT_EQ(parse_dtype(numpy_name(dtype)), dtype);
    }
  }
  EXPECT_THROW(parse_dtype("f31"), InvalidArgumentError);
  EXPECT_THROW(parse_dtype(""), InvalidArgumentError);
}

TEST(Shape, BytesOfTuplesAndPackedElements) {
  const Shape pair = Shape::tuple({Shape(DType::kF32, {2, 3}), Shape(DType::kS4, {5})});
  EXPECT_EQ(byte_size(pair), 24 + 3);
  EXPECT_EQ(to_string(pair), "(f32[2,3], s4[5])");
  EXPECT_EQ(num_elements(Shape(DType::kF32, {})), 1);
  EXPECT_EQ(num_elements(Shape(DType::kF32, {4, 0})), 0);
}

TEST(Literal, ComplexNumbersHaveTwoParts) {
  for (const DType dtype : {DType::kC64, DType::kC128}) {
    Literal literal(Shape(dtype, {2}));
    literal.set(1, 3);
    literal.set_imaginary(1, -4);
    EXPECT_EQ(literal.at(1), 3);
    EXPECT_EQ(literal.imaginary_at(1), -4);
    EXPECT_EQ(literal.imaginary_at(0), 0);
  }
  Literal real(Shape(DType::kF32, {2}));
  real.set_imaginary(0, 5);
  EXPECT_EQ(real.at(0), 0);
  EXPECT_EQ(real.imaginary_at(1), 0);
}

TEST(Literal, EveryHalfSurvivesDoubleRoundTrip) {
  Literal literal(Shape(DType::kF16, {1}));
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    std::memcpy(literal.mutable_bytes().data(), &half, 2);
    const double value = literal.at(0);
    if (std::isnan(value)) continue;
    literal.set(0, value);
    uint16_t back;
    std::memcpy(&back, literal.bytes().data(), 2);
    ASSERT_EQ(back, half);
  }
}

TEST(Literal, BFloatRoundsToNearestEven) {
  Literal literal(Shape(DType::kBF16, {1}));
  literal.set(0, 1.00390625);  // half way between 1 and 1.0078125: even mantissa wins
  EXPECT_EQ(literal.at(0), 1.0);
  literal.set(0, 1.01171875);
  EXPECT_EQ(literal.at(0), 1.015625);
}

TEST(Literal, RejectsWrongByteCount) {
  std::array<std::byte, 3> bytes{};
  EXPECT_THROW(Literal(Shape(DType::kF32, {1}), bytes), InvalidArgumentError);
}

TEST(Literal, IsAlignedForZeroCopy) {
  for (int count = 1; count < 40; ++count) {
    const Literal literal(Shape(DType::kU8, {count}));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(literal.bytes().data()) % 64, 0u);
  }
}

}  // namespace
}  // namespace alpa::tensor
