#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"
#include "elementwise_functions.h"

namespace alpa {
namespace {

using testing::Binary;
using testing::Expected;
using testing::single;
using testing::Unary;
using Arrays = std::vector<Array>;
template <typename Function>
std::vector<std::pair<const char*, Function>> joined(
    const std::vector<std::vector<std::pair<const char*, Function>>>& lists) {
  std::vector<std::pair<const char*, Function>> result;
  for (const auto& list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}

class Elementwise : public testing::OneDevice {
 protected:
  static testing::Tolerance tolerance_of(const std::string& variant) {
    if (variant.ends_with("bfloat16")) return {2e-2, 0.1};
    if (variant.ends_with("float16")) return {3e-3, 0.1};
    // Far from 1 what counts is the ratio; the least numbers are flushed to 0.
    if (variant == "wild" || variant == "grid") return {2e-5, 1e-32};
    return {1e-5, 1};
  }

  // Every case of the file whose name is that of the function, or starts with it and a slash.
  void collect(const std::string& name, const testing::FlatFunction& function) {
    for (const std::string& one : expected.cases()) {
      if (one != name && one.rfind(name + "/", 0) != 0) continue;
      expected.collect(one, function, tolerance_of(one.substr(one.find('/') + 1)));
    }
  }

  Expected expected{"elementwise"};
};

TEST_F(Elementwise, IsThatOfJax) {
  for (const auto& [name, function] :
       joined<Unary>({testing::kEverywhere, testing::kPositive, testing::kInside, testing::kAbove, testing::kOther})) {
    const Unary call = function;
    collect(name, single([call](const Arrays& x) { return call(x[0]); }));
  }
  expected.check();
  for (const auto& [name, function] : joined<Binary>({testing::kArithmetic, testing::kComparisons, testing::kBits})) {
    const Binary call = function;
    collect(name, single([call](const Arrays& x) { return call(x[0], x[1]); }));
  }
  collect("complex", single([](const Arrays& x) { return complex(x[0], x[1]); }));
  collect("where", single([](const Arrays& x) { return where(x[0], x[1], x[2]); }));
  collect("clip", single([](const Arrays& x) { return clip(x[0], x[1], x[2]); }));
  expected.check();
  expected.expect_all_used();
}

TEST_F(Elementwise, ErrorsAreTyped) {
  const Array z = complex(ones({2}), ones({2})), truth = equal(ones({2}), 1);
  for (const auto& [name, function] :
       std::vector<std::pair<const char*, Unary>>{{"floor", floor},
                                                  {"ceil", ceil},
                                                  {"round", round},
                                                  {"trunc", trunc},
                                                  {"cbrt", cbrt},
                                                  {"erf", erf},
                                                  {"asin", asin},
                                                  {"acos", acos},
                                                  {"atan", atan},
                                                  {"asinh", asinh},
                                                  {"acosh", acosh},
                                                  {"atanh", atanh},
                                                  {"bitwise_not", bitwise_not},
                                                  {"population_count", population_count}}) {
    SCOPED_TRACE(name);
    EXPECT_THROW(function(z).to_host(), InvalidArgumentError);
  }
  for (const auto& [name, function] : std::vector<std::pair<const char*, Binary>>{{"less", less},
                                                                                  {"greater_equal", greater_equal},
                                                                                  {"maximum", maximum},
                                                                                  {"minimum", minimum},
                                                                                  {"mod", mod},
                                                                                  {"remainder", remainder},
                                                                                  {"floor_divide", floor_divide},
                                                                                  {"atan2", atan2},
                                                                                  {"logaddexp", logaddexp},
                                                                                  {"bitwise_and", bitwise_and},
                                                                                  {"shift_left", shift_left}}) {
    SCOPED_TRACE(name);
    EXPECT_THROW(function(z, z).to_host(), InvalidArgumentError);
  }
  EXPECT_THROW(negate(truth), InvalidArgumentError);
  EXPECT_THROW(sign(truth), InvalidArgumentError);
  EXPECT_THROW(subtract(truth, truth), InvalidArgumentError);
  EXPECT_THROW(bitwise_or(ones({2}), 1), InvalidArgumentError);
  EXPECT_THROW(shift_left(1, ones({2})), InvalidArgumentError);
  EXPECT_THROW(power(truth, truth).to_host(), InvalidArgumentError);
  EXPECT_THROW(bitcast(ones({2}), DType::kF64), InvalidArgumentError);
  EXPECT_THROW(add(ones({2, 3}), ones({2})), InvalidArgumentError);
  EXPECT_THROW(add(ones({2}).astype(DType::kU8), 300), InvalidArgumentError);
  EXPECT_THROW(full({}, -1, DType::kU32), InvalidArgumentError);
  EXPECT_EQ(full({}, std::numeric_limits<uint64_t>::max(), DType::kU64).to_host().at(0), 0x1p64);
  EXPECT_THROW(full({}, std::numeric_limits<double>::quiet_NaN(), DType::kS64), InvalidArgumentError);
  EXPECT_EQ(full({}, 2.7, DType::kS32).item<int>(), 2);
  EXPECT_EQ(full({}, -2.7, DType::kS32).item<int>(), -2);
}

TEST_F(Elementwise, IsCloseAsNumPys) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Array a = Array::from(std::vector<float>{1, 1, inf, inf, nan, 0});
  const Array b = Array::from(std::vector<float>{1.000001F, 1.1F, inf, -inf, nan, 1e-9F});
  EXPECT_EQ(isclose(a, b).to_vector<int>(), (std::vector<int>{1, 0, 1, 0, 0, 1}));
  EXPECT_FALSE(allclose(a, b).item<bool>());
  EXPECT_TRUE(allclose(a(range(0, 1)), b(range(0, 1))).item<bool>());
}

}  // namespace
}  // namespace alpa
