#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::expect_derivatives;
using testing::Expected;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;

class Pooling : public testing::OneDevice {
 protected:
  Expected expected{"pooling"};
  void compare(const std::string& name, const std::function<Array(const Array&)>& function) {
    expected.compare(name, single([&](const Arrays& x) { return function(x[0]); }));
  }
  void compare(const std::string& name, WindowReduction reduction, const WindowOptions& options) {
    compare(name, [&](const Array& x) { return reduce_window(x, reduction, options); });
  }
};

TEST_F(Pooling, IsThatOfFlax) {
  compare("max_same", [](const Array& x) { return max_pool(x, {3, 3}, {2, 2}, "SAME"); });
  compare("max_valid", [](const Array& x) { return max_pool(x, {2, 3}, {1, 2}); });
  compare("min_same", [](const Array& x) { return min_pool(x, {3, 3}, {2, 2}, "SAME"); });
  compare("min_valid", [](const Array& x) { return min_pool(x, {2, 3}, {1, 2}); });
  compare("max_explicit", [](const Array& x) { return max_pool(x, {3, 2}, {2, 1}, {{1, 2}, {0, 1}}); });
  compare("average", [](const Array& x) { return avg_pool(x, {2, 2}, {2, 2}); });
  compare("average_same", [](const Array& x) { return avg_pool(x, {3, 2}, {2, 2}, "SAME"); });
  compare("average_inside", [](const Array& x) { return avg_pool(x, {3, 2}, {2, 2}, "SAME", false); });
}

TEST_F(Pooling, WindowsAreThoseOfJax) {
  compare("sum_same", WindowReduction::kSum, {.window = {1, 3, 3, 1}, .strides = {1, 2, 2, 1}, .padding = "SAME"});
  compare("sum_valid", WindowReduction::kSum, {.window = {1, 2, 3, 1}, .strides = {1, 1, 2, 1}});
  compare("sum_explicit", WindowReduction::kSum,
          {.window = {2, 3, 2, 2}, .strides = {1, 2, 1, 1}, .padding = {{0, 1}, {1, 2}, {-1, 1}, {1, 0}}});
  compare("sum_dilated", WindowReduction::kSum,
          {.window = {1, 3, 2, 1},
           .strides = {1, 2, 1, 1},
           .padding = {{0, 0}, {1, 2}, {0, 1}, {0, 0}},
           .base_dilation = {1, 2, 3, 1},
           .window_dilation = {1, 2, 1, 1}});
  compare("max_one_dim", WindowReduction::kMax, {.window = {3}, .strides = {2}, .padding = "SAME"});
  compare("max_ties", WindowReduction::kMax, {.window = {3}, .strides = {2}});
}

TEST_F(Pooling, DerivativesAreThoseOfFiniteDifferences) {
  const Array x = numbers({2, 5, 4, 2});
  expect_derivatives(single([](const Arrays& a) { return square(max_pool(a[0], {3, 2}, {2, 1}, "SAME")); }), {x});
  expect_derivatives(single([](const Arrays& a) { return square(min_pool(a[0], {2, 2}, {1, 2})); }), {x});
  expect_derivatives(single([](const Arrays& a) { return square(avg_pool(a[0], {3, 2}, {2, 1}, "SAME", false)); }),
                     {x});
  const WindowOptions dilated{.window = {2, 3},
                              .strides = {2, 1},
                              .padding = {{2, -1}, {1, 2}},
                              .base_dilation = {2, 1},
                              .window_dilation = {2, 2}};
  expect_derivatives(
      single([&](const Arrays& a) { return square(reduce_window(a[0], WindowReduction::kSum, dilated)); }),
      {numbers({5, 4})});
}

TEST_F(Pooling, DerivativeOfAnExtremumWithDilationIsAnError) {
  const auto loss = [](const Array& x) {
    return sum(reduce_window(x, WindowReduction::kMax, {.window = {2}, .window_dilation = {2}}));
  };
  EXPECT_EQ(loss(ones({4})).item<float>(), 2);
  try {
    grad(loss)(ones({4}));
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("its window is dilated"), std::string::npos) << error.what();
  }
}

TEST_F(Pooling, ErrorsAreTyped) {
  const Array x = ones({1, 4, 4, 3});
  EXPECT_THROW(max_pool(x, {2, 2, 2, 2}), InvalidArgumentError);
  EXPECT_THROW(max_pool(x, {2, 2}, {2}), InvalidArgumentError);
  EXPECT_THROW(max_pool(x, {2, 2}, {2, 0}), InvalidArgumentError);
  EXPECT_THROW(max_pool(x, {2, 2}, {2, 2}, "FULL"), InvalidArgumentError);
  EXPECT_THROW(max_pool(x, {2, 2}, {2, 2}, {{1, 1}}), InvalidArgumentError);
  EXPECT_THROW(reduce_window(x, WindowReduction::kSum, {.window = {2, 2}}), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
