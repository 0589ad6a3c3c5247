#include <gtest/gtest.h>

#include <cmath>

#include "alpa/alpa.h"
#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/tensor/safetensors.h"

namespace alpa {
namespace {

/// Known answers that tests/data/frontend/generate_random.py took from JAX, with key 42.
class RandomLikeJax : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    init("local", {.num_devices = 8});
    const std::string path = std::string(ALPA_TEST_DATA) + "/frontend/random.safetensors";
    known() = tensor::read_safetensors(read_file(path), path);
  }
  static void TearDownTestSuite() { shutdown(); }

  static std::map<std::string, tensor::Literal>& known() {
    static std::map<std::string, tensor::Literal> answers;
    return answers;
  }

  // Equal bits, or equal up to `tolerance` of the larger of 1 and the value.
  static void expect(const std::string& name, const Array& array, double tolerance = 0) {
    SCOPED_TRACE(name);
    const tensor::Literal& answer = known().at(name);
    const tensor::Literal found = array.to_host();
    ASSERT_EQ(tensor::to_string(found.shape()), tensor::to_string(answer.shape()));
    if (tolerance == 0) {
      const auto a = found.bytes(), b = answer.bytes();
      ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
      return;
    }
    for (int64_t k = 0; k < tensor::num_elements(answer.shape()); ++k) {
      const double a = found.at(k), b = answer.at(k);
      if (a == b) continue;
      ASSERT_LE(std::fabs(a - b), tolerance * std::max(1.0, std::fabs(b))) << "element " << k;
    }
  }

  // As the file has bf16. Computed first: XLA would leave out a rounding between two conversions.
  static Array as_f32(const Array& x) { return Array(x.to_host()).astype(DType::kF32); }

  const Array key_ = random::key(42);
};

TEST_F(RandomLikeJax, Keys) {
  expect("key", key_);
  expect("split3", random::split(key_, 3));
  expect("fold7", random::fold_in(key_, 7));
}

TEST_F(RandomLikeJax, Bits) {
  expect("bits", random::bits(key_, {3, 5}));
  expect("bits8", random::bits(key_, {7}, DType::kU8));
  expect("bits16", random::bits(key_, {7}, DType::kU16));
  expect("bits64", random::bits(key_, {7}, DType::kU64));
}

TEST_F(RandomLikeJax, Uniform) {
  expect("uniform", random::uniform(key_, {4, 6}));
  expect("uniform_range", random::uniform(key_, {9}, DType::kF32, -2, 3), 1e-7);
  expect("uniform_f16", random::uniform(key_, {9}, DType::kF16));
  expect("uniform_bf16", as_f32(random::uniform(key_, {9}, DType::kBF16)));
  expect("uniform_f64", random::uniform(key_, {9}, DType::kF64));
}

TEST_F(RandomLikeJax, Distributions) {
  expect("normal", random::normal(key_, {5, 7}), 2e-7);
  expect("normal_bf16", as_f32(random::normal(key_, {9}, DType::kBF16)));
  expect("normal_f64", random::normal(key_, {9}, DType::kF64), 1e-14);
  expect("truncated", random::truncated_normal(key_, -1.5, 2, {33}), 5e-7);
  expect("bernoulli", random::bernoulli(key_, 0.3, {20}));
  expect("gumbel", random::gumbel(key_, {11}), 3e-7);
  expect("exponential", random::exponential(key_, {9}), 3e-7);
}

TEST_F(RandomLikeJax, Integers) {
  expect("randint", random::randint(key_, {20}, -5, 17));
  expect("randint_u8", random::randint(key_, {20}, 3, 200, DType::kU8));
  expect("randint_s64", random::randint(key_, {9}, -5, 1e12, DType::kS64));
  std::vector<float> logits(12);
  for (size_t k = 0; k < 12; ++k) logits[k] = -1.0f + 2.0f * static_cast<float>(k) / 11.0f;
  expect("categorical", random::categorical(key_, Array::from(logits, {3, 4})));
}

TEST_F(RandomLikeJax, InverseErrorFunction) {
  const Array x(known().at("erf_inv_x"));
  expect("erf_inv", erf_inv(x), 3e-7);
  const Array point = Array::from(std::vector<double>{0.3});
  const double slope = grad([](const Array& p) { return sum(erf_inv(p)); })(point).to_vector<double>()[0];
  const double up = erf_inv(point + 1e-6).to_vector<double>()[0], down = erf_inv(point - 1e-6).to_vector<double>()[0];
  EXPECT_NEAR(slope, (up - down) / 2e-6, 1e-8);
}

TEST_F(RandomLikeJax, DrawsAreTheSameOnEightDevices) {
  const auto draw = parallelize([](const Array& key) { return random::normal(key, {64, 32}); }, {.batch_argnums = {}});
  const auto alone = random::normal(key_, {64, 32}).to_vector<float>();
  EXPECT_EQ(draw(key_).to_vector<float>(), alone);
}

TEST_F(RandomLikeJax, WhatIsNoKeyIsRefused) {
  EXPECT_THROW(random::uniform(ones({2}), {3}), InvalidArgumentError);
  EXPECT_THROW(random::fold_in(key_, 1.5), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
