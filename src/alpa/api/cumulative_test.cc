#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::expect_derivatives;
using testing::Expected;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;
using Operation = Array (*)(const ArrayLike&, int, bool);

constexpr std::pair<const char*, Operation> kOperations[] = {
    {"cumsum", cumsum}, {"cumprod", cumprod}, {"cummax", cummax}, {"cummin", cummin}, {"cumlogsumexp", cumlogsumexp}};

class Cumulative : public testing::OneDevice {
 protected:
  Expected expected{"cumulative"};
  void compare(const std::string& name, const std::function<Array(const Array&)>& function) {
    expected.compare(name, single([&](const Arrays& x) { return function(x[0]); }), 3e-5);
  }
};

TEST_F(Cumulative, IsThatOfJax) {
  for (const auto& [name, operation] : kOperations) {
    compare(name, [&](const Array& x) { return operation(x, 1, false); });
    compare(std::string(name) + "_reverse", [&](const Array& x) { return operation(x, 0, true); });
  }
  compare("cumprod_long", [](const Array& x) { return cumprod(x, -1); });
  compare("cumsum_bools", [](const Array& x) { return cumsum(x, 0); });
}

TEST_F(Cumulative, DerivativesAtTiesAndZerosAreThoseOfJax) {
  compare("cummax_ties", [](const Array& x) { return cummax(x, 0); });
  compare("cumprod_zeros", [](const Array& x) { return cumprod(x, 0); });
  compare("product_zeros", [](const Array& x) { return prod(x, {1}); });
  compare("product_two_dims", [](const Array& x) { return prod(x, {0, 2}); });
}

TEST_F(Cumulative, DerivativesAreThoseOfFiniteDifferences) {
  for (const auto& [name, operation] : kOperations) {
    SCOPED_TRACE(name);
    const Operation call = operation;
    expect_derivatives(single([&](const Arrays& x) { return square(call(x[0], 1, false)); }), {numbers({2, 5, 2})},
                       operation == cumprod || operation == cumlogsumexp ? 2 : 1);
    expect_derivatives(single([&](const Arrays& x) { return square(call(x[0], 0, true)); }), {numbers({5})}, 1);
  }
  expect_derivatives(single([](const Arrays& x) { return prod(x[0], {0, 2}); }), {numbers({2, 3, 2})});
}

TEST_F(Cumulative, TakesWhatHasNoElements) {
  EXPECT_EQ(cumsum(ones({0, 3}), 0).dims(), (Dims{0, 3}));
  EXPECT_EQ(cumprod(ones({1}), 0).item<float>(), 1);
  EXPECT_THROW(cumsum(ones({3}), 1), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
