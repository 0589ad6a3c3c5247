#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::Expected;
using testing::single;
using Arrays = std::vector<Array>;

using Image = testing::OneDevice;

TEST_F(Image, NearestElementsAreThoseOfJax) {
  Expected expected("image");
  const std::pair<const char*, Dims> cases[] = {
      {"up", {2, 8, 12, 3}}, {"down", {2, 2, 2, 3}},     {"both", {2, 12, 2, 3}},
      {"odd", {2, 5, 7, 3}}, {"odd_down", {1, 3, 4, 3}}, {"same", {2, 4, 6, 3}},
  };
  for (const auto& [name, dims] : cases) {
    const Dims& to = dims;
    expected.compare(name, single([&](const Arrays& x) { return resize_nearest(x[0], to); }));
  }
}

TEST_F(Image, DerivativesAreThoseOfFiniteDifferences) {
  testing::expect_derivatives(single([](const Arrays& x) { return square(resize_nearest(x[0], {8, 2, 5})); }),
                              {testing::numbers({4, 6, 3})});
}

TEST_F(Image, ErrorsAreTyped) {
  EXPECT_THROW(resize_nearest(ones({2, 2}), {4}), InvalidArgumentError);
  EXPECT_THROW(resize_nearest(ones({0, 2}), {4, 2}), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
