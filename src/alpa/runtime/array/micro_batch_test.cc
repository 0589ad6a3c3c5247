#include "alpa/runtime/array/micro_batch.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"

namespace alpa::runtime {
namespace {

using tensor::DType;
using tensor::Literal;
using tensor::Shape;

Literal counting(const std::vector<int64_t>& dims) {
  Literal literal(Shape(DType::kS16, dims));
  for (int64_t k = 0; k < tensor::num_elements(literal.shape()); ++k) literal.set(k, static_cast<double>(k));
  return literal;
}

TEST(MicroBatch, PartsComeInOrderAlongAnyDim) {
  const std::vector<int64_t> dims = {4, 6, 2};
  const Literal batch = counting(dims);
  for (int dim = 0; dim < 3; ++dim) {
    for (int64_t index = 0; index < 2; ++index) {
      const Literal part = micro_batch(batch, dim, 2, index);
      std::vector<int64_t> sizes = dims;
      sizes[static_cast<size_t>(dim)] /= 2;
      ASSERT_EQ(part.shape(), Shape(DType::kS16, sizes));
      for (int64_t k = 0; k < tensor::num_elements(part.shape()); ++k) {
        std::vector<int64_t> at = {k / (sizes[1] * sizes[2]), k / sizes[2] % sizes[1], k % sizes[2]};
        at[static_cast<size_t>(dim)] += index * sizes[static_cast<size_t>(dim)];
        EXPECT_EQ(part.at(k), static_cast<double>((at[0] * 6 + at[1]) * 2 + at[2]));
      }
    }
  }
}

TEST(MicroBatch, EmptyArraysHaveEmptyParts) {
  EXPECT_EQ(micro_batch(counting({0, 4}), 1, 2, 1).shape(), Shape(DType::kS16, {0, 2}));
  EXPECT_EQ(micro_batch(counting({4, 0}), 0, 2, 1).shape(), Shape(DType::kS16, {2, 0}));
}

TEST(MicroBatch, RejectsPartsThatDoNotDivide) {
  EXPECT_THROW(micro_batch(counting({6, 2}), 0, 4, 0), InvalidArgumentError);
  EXPECT_THROW(micro_batch(counting({6, 2}), 0, 0, 0), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa::runtime
