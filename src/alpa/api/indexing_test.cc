#include "alpa/api/testing/derivatives.h"
#include "alpa/api/testing/message_of.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::expect_derivatives;
using testing::Expected;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;

class Indexing : public testing::OneDevice {
 protected:
  Expected expected{"indexing"};
  void compare(const std::string& name, const std::function<Array(const Arrays&)>& function) {
    expected.compare(name, single(function));
  }
};

Array places(const std::vector<int>& values, const Dims& dims) { return Array::from(values, dims); }

const GatherDims kWindows = {.offset_dims = {1, 2}, .start_index_map = {0, 1}};
const ScatterDims kWindowsBack = {.update_window_dims = {1, 2}, .scatter_dims_to_operand_dims = {0, 1}};

TEST_F(Indexing, TakesAsJaxDoes) {
  compare("take_fill", [](const Arrays& x) { return take(x[0], x[1], 1); });
  compare("take_clip", [](const Arrays& x) { return take(x[0], x[1], 1, OutOfRange::kClip); });
  compare("take_rows", [](const Arrays& x) { return take(x[0], x[1], 0); });
  compare("take_last_scalar", [](const Arrays& x) { return take(x[0], x[1], -1); });
  compare("take_integers", [](const Arrays& x) { return take(x[0], x[1], 0); });
  compare("take_bytes", [](const Arrays& x) { return take(x[0], x[1], 0); });
  compare("along", [](const Arrays& x) { return take_along_axis(x[0], x[1], 1); });
  compare("along_fill", [](const Arrays& x) { return take_along_axis(x[0], x[1], 0); });
  compare("along_broadcast", [](const Arrays& x) { return take_along_axis(x[0], x[1], -1); });
  compare("along_broadcast_table", [](const Arrays& x) { return take_along_axis(x[0], x[1], -1); });
}

TEST_F(Indexing, ScattersAsJaxDoes) {
  compare("add", [](const Arrays& x) { return scatter_add(x[0], x[1], x[2], 1); });
  compare("add_wild", [](const Arrays& x) { return scatter_add(x[0], x[1], x[2], 1); });
  compare("add_broadcast", [](const Arrays& x) { return scatter_add(x[0], x[1], x[2], 0); });
  compare("set", [](const Arrays& x) { return scatter_set(x[0], x[1], x[2], 0); });
}

TEST_F(Indexing, GathersAndScattersWindowsAsJaxDoes) {
  compare("windows_fill", [](const Arrays& x) { return gather(x[0], x[1], kWindows, {2, 3}); });
  compare("windows_clip", [](const Arrays& x) { return gather(x[0], x[1], kWindows, {2, 3}, OutOfRange::kClip); });
  compare("scatter_windows_fill", [](const Arrays& x) { return scatter_add(x[0], x[1], x[2], kWindowsBack); });
  compare("scatter_windows_clip",
          [](const Arrays& x) { return scatter_add(x[0], x[1], x[2], kWindowsBack, OutOfRange::kClip); });
  const GatherDims batched = {.offset_dims = {1},
                              .collapsed_slice_dims = {1},
                              .start_index_map = {1},
                              .operand_batching_dims = {0},
                              .start_indices_batching_dims = {0}};
  compare("batched", [&](const Arrays& x) { return gather(x[0], x[1], batched, {1, 1, 2}, OutOfRange::kClip); });
}

TEST_F(Indexing, SlicesAtComputedPlacesAsJaxDoes) {
  compare("dynamic_slice", [](const Arrays& x) { return dynamic_slice(x[0], {x[1], x[2]}, {2, 3}); });
  compare("dynamic_slice", [](const Arrays& x) { return dynamic_slice(x[0], {-1, x[2]}, {2, 3}); });
  compare("dynamic_update_slice", [](const Arrays& x) { return dynamic_update_slice(x[0], x[1], {x[2], 1}); });
  compare("dynamic_index", [](const Arrays& x) { return dynamic_index_in_dim(x[0], x[1], 1, false); });
}

TEST_F(Indexing, SubscriptsAreThoseOfNumPy) {
  compare("range", [](const Arrays& x) { return x[0](range(1, {}), range(-2, {}), range({}, {}, 2)); });
  compare("backwards", [](const Arrays& x) { return x[0](range({}, {}, -1), range(3, 0, -2), range(-9, 9)); });
  compare("new_dims", [](const Arrays& x) { return x[0](newaxis, 2, ellipsis, newaxis, -1); });
  compare("empty", [](const Arrays& x) { return x[0](range(3, 1)); });
  compare("array", [](const Arrays& x) { return x[0](all, x[1]); });
  compare("array_wild", [](const Arrays& x) { return x[0](x[1]); });
  compare("neighbours", [](const Arrays& x) { return x[0](all, x[1], x[2] % 3); });
  compare("apart", [](const Arrays& x) { return x[0](x[1], range(1, 4), x[2] % 3); });
  compare("number_apart", [](const Arrays& x) { return x[0](-2, all, x[1] % 3); });
  compare("with_new_dim", [](const Arrays& x) { return x[0](newaxis, x[1], x[2]); });
  compare("scalar", [](const Arrays& x) { return x[0](x[1], ellipsis, range({}, {}, 2)); });
}

TEST_F(Indexing, ExtremaAtPlacesAreThoseOfJax) {
  for (const char* variant : {"", "_wild", "_ties", "_integers"}) {
    compare(std::string("max") + variant, [](const Arrays& x) { return scatter_max(x[0], x[1], x[2], 1); });
    compare(std::string("min") + variant, [](const Arrays& x) { return scatter_min(x[0], x[1], x[2], 1); });
  }
}

TEST_F(Indexing, DerivativesAreThoseOfFiniteDifferences) {
  const Array rows = places({4, 0, 4, -1}, {2, 2});
  expect_derivatives(single([](const Arrays& x) { return square(take(x[0], x[1], 0)); }), {numbers({5, 3}), rows});
  expect_derivatives(single([](const Arrays& x) { return square(take(x[0], x[1], 1, OutOfRange::kFillZero)); }),
                     {numbers({2, 3, 2}), places({7, 0, 0}, {3})});
  expect_derivatives(single([](const Arrays& x) { return square(take_along_axis(x[0], x[1], 1)); }),
                     {numbers({2, 4}), places({3, 3, 0, 1}, {2, 2})});
  expect_derivatives(single([](const Arrays& x) { return square(scatter_add(x[0], x[1], x[2], 0)); }),
                     {numbers({5, 3}), rows, numbers({2, 2, 3}, 2)});
  expect_derivatives(single([](const Arrays& x) { return square(scatter_set(x[0], x[1], x[2], 0)); }),
                     {numbers({5, 3}), rows, numbers({2, 2, 3}, 2)});
  expect_derivatives(single([](const Arrays& x) { return square(scatter_max(x[0], x[1], x[2], 0)); }),
                     {numbers({5, 3}), rows, numbers({2, 2, 3}, 2)});
  expect_derivatives(single([](const Arrays& x) { return square(scatter_min(x[0], x[1], x[2], 0)); }),
                     {numbers({5, 3}), rows, numbers({2, 2, 3}, 2)});
  expect_derivatives(
      single([](const Arrays& x) { return square(gather(x[0], x[1], kWindows, {2, 3}, OutOfRange::kClip)); }),
      {numbers({4, 5}), places({0, 0, 3, 1, 1, 9}, {3, 2})});
  expect_derivatives(single([](const Arrays& x) { return square(dynamic_slice(x[0], {x[1], 1}, {2, 3})); }),
                     {numbers({4, 5}), places({-1}, {})});
  expect_derivatives(single([](const Arrays& x) { return square(dynamic_update_slice(x[0], x[2], {x[1], 1})); }),
                     {numbers({4, 5}), places({1}, {}), numbers({2, 3}, 2)});
  expect_derivatives(
      single([](const Arrays& x) { return square(x[0](range({}, {}, -2), newaxis, x[1], range(1, {}))); }),
      {numbers({4, 5, 3}), rows});
}

TEST_F(Indexing, ErrorsNameDimSizeAndPlace) {
  const Array x = ones({4, 5});
  EXPECT_NE(message_of([&] { x(all, 5); })
                .find("index 5 is out of range for dim 1 of f32[4,5], which has size 5, at "
                      "indexing_test.cc:"),
            std::string::npos)
      << message_of([&] { x(all, 5); });
  EXPECT_NE(message_of([&] { x(-5); }).find("index -5 is out of range for dim 0"), std::string::npos);
  EXPECT_THROW(x(0, 0, 0), InvalidArgumentError);
  EXPECT_THROW(x(ellipsis, ellipsis), InvalidArgumentError);
  EXPECT_THROW(x(range(0, 2, 0)), InvalidArgumentError);
  EXPECT_THROW(x(ones({2})), InvalidArgumentError);
  EXPECT_THROW(take(x, ones({2}), 0), InvalidArgumentError);
  EXPECT_THROW(take(x, places({0}, {1}), 2), InvalidArgumentError);
  EXPECT_THROW(take_along_axis(x, places({0, 1, 2}, {3, 1}), 1), InvalidArgumentError);
  EXPECT_THROW(scatter_add(x, places({0}, {1}), ones({2, 5}), 0), InvalidArgumentError);
  EXPECT_THROW(scatter_max(complex(x, x), places({0}, {1}), ones({1, 5}), 0), InvalidArgumentError);
  EXPECT_THROW(gather(x, places({0}, {1, 1}), kWindows, {2, 3}), InvalidArgumentError);
  EXPECT_THROW(scatter_add(x, places({0}, {1, 1}), ones({1, 2, 9}), kWindowsBack), InvalidArgumentError);
  EXPECT_THROW(dynamic_slice(x, {0}, {2, 3}), InvalidArgumentError);
  EXPECT_THROW(dynamic_slice(x, {0, 0.5}, {2, 3}), InvalidArgumentError);
  EXPECT_THROW(dynamic_slice(x, {0, 0}, {2, 6}), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
