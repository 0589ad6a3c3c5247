#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::Expected;
using testing::FiniteDifferences;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;

using Paddings = std::vector<Padding>;
const std::map<std::string, Paddings> kPads = {{"plain", {{1, 2, 0}, {0, 1, 0}, {0, 0, 0}}},
                                               {"cut", {{-1, 0, 0}, {0, -2, 0}, {1, -1, 0}}},
                                               {"interior", {{0, 0, 2}, {1, 0, 1}, {0, 2, 0}}},
                                               {"all", {{-1, 3, 2}, {2, -1, 1}, {-2, -1, 1}}}};

class Shapes : public testing::OneDevice {
 protected:
  void collect(const std::string& name, const std::function<Array(const Arrays&)>& function) {
    expected.collect(name, single(function), {name.find("half") == std::string::npos ? 1e-5 : 1e-3, 1});
  }
  void collect_orders();
  void collect_parts();
  void collect_created();
  Expected expected{"shape"};
};

void Shapes::collect_orders() {
  collect("reshape", [](const Arrays& x) { return reshape(x[0], {4, 6}); });
  collect("reshape_rest", [](const Arrays& x) { return x[0].reshape({2, -1, 2}); });
  collect("reshape_scalar", [](const Arrays& x) { return reshape(x[0], {}); });
  collect("reshape_empty", [](const Arrays& x) { return reshape(x[0], {3, 0}); });
  collect("flatten", [](const Arrays& x) { return flatten(x[0]); });
  collect("transpose", [](const Arrays& x) { return transpose(x[0]); });
  collect("transpose_order", [](const Arrays& x) { return transpose(x[0], {1, -1, 0}); });
  collect("swap_dims", [](const Arrays& x) { return swapaxes(x[0], 0, -1); });
  collect("move_dim", [](const Arrays& x) { return moveaxis(x[0], 0, -1); });
  collect("move_dim_front", [](const Arrays& x) { return moveaxis(x[0], -1, 0); });
  collect("broadcast_to", [](const Arrays& x) { return broadcast_to(x[0], {2, 5, 3, 4}); });
  collect("broadcast_to_scalar", [](const Arrays& x) { return broadcast_to(x[0], {2, 3}); });
  collect("broadcast_in_dim", [](const Arrays& x) { return broadcast_in_dim(x[0], {2, 5, 3}, {0, 2}); });
  collect("expand_dims", [](const Arrays& x) { return expand_dims(x[0], {0, -1, 2}); });
  collect("squeeze", [](const Arrays& x) { return squeeze(x[0]); });
  collect("squeeze_dim", [](const Arrays& x) { return squeeze(x[0], {-2}); });
  collect("reverse", [](const Arrays& x) { return reverse(x[0], {0, -1}); });
  collect("roll", [](const Arrays& x) { return roll(x[0], 1, 1); });
  collect("roll_back", [](const Arrays& x) { return roll(x[0], -6, -1); });
  collect("repeat", [](const Arrays& x) { return repeat(x[0], 3, 1); });
  collect("tile", [](const Arrays& x) { return tile(x[0], {2, 1, 3}); });
  collect("tile_fewer", [](const Arrays& x) { return tile(x[0], {2}); });
  collect("tile_more", [](const Arrays& x) { return tile(x[0], {2, 1, 1, 2}); });
}

void Shapes::collect_parts() {
  collect("concatenate", [](const Arrays& x) { return concatenate(x, 1); });
  collect("concatenate_last", [](const Arrays& x) { return concatenate(x, -1); });
  collect("concatenate_mixed", [](const Arrays& x) { return concatenate(x); });
  collect("stack", [](const Arrays& x) { return stack(x); });
  collect("stack_last", [](const Arrays& x) { return stack(x, -1); });
  expected.collect("split", [](const Arrays& x) { return split(x[0], 2, -1); });
  expected.collect("split_at", [](const Arrays& x) { return split_at(x[0], {1, 1, 3}, 2); });
  for (const auto& [name, padding] : kPads)
    collect("pad_" + name, [padding = padding](const Arrays& x) { return pad(x[0], padding, x[1]); });
  collect("pad_dims", [](const Arrays& x) { return pad(x[0], {{1, 0}, {0, 2}}, 3); });
  collect("slice", [](const Arrays& x) { return slice(x[0], {0, 1, 0}, {2, 3, 4}, {1, 1, 3}); });
  collect("slice_dim", [](const Arrays& x) { return slice_in_dim(x[0], -1, 1, 4, 2); });
  collect("slice_empty", [](const Arrays& x) { return x[0](all, range(2, 2)); });
  for (const char* dtype : {"float16", "bfloat16", "complex64", "int8", "uint16", "bool"})
    collect(std::string("moves_") + dtype, [](const Arrays& x) {
      const Array both = concatenate({x[0], x[0].transposed().reshape({2, 3})}, 1);
      return pad(reverse(both, {1}), {{1, 1}, {1, 1}})(range(1, {}), range({}, {}, 2));
    });
}

void Shapes::collect_created() {
  collect("iota", [](const Arrays&) { return iota({2, 3}, 1); });
  collect("iota_half", [](const Arrays&) { return iota({3, 2}, 0, DType::kF16); });
  collect("arange", [](const Arrays&) { return arange(5); });
  collect("arange_step", [](const Arrays&) { return arange(1, 2.5, 0.25, DType::kF32); });
  collect("arange_down", [](const Arrays&) { return arange(5, 0, -2, DType::kS32); });
  collect("arange_none", [](const Arrays&) { return arange(3, 1, 1, DType::kF32); });
  collect("linspace", [](const Arrays&) { return linspace(-1, 2, 7); });
  collect("linspace_one", [](const Arrays&) { return linspace(3, 4, 1); });
  collect("linspace_none", [](const Arrays&) { return linspace(3, 4, 0); });
  collect("linspace_integers", [](const Arrays&) { return linspace(-5, 5, 4, DType::kS32); });
  collect("linspace_half", [](const Arrays&) { return linspace(0, 1, 3000, DType::kF16); });
  collect("eye", [](const Arrays&) { return eye(3); });
  collect("eye_wide", [](const Arrays&) { return eye(2, 4, 1, DType::kS32); });
  collect("tri", [](const Arrays&) { return tri(3, 4, -1); });
  for (const int64_t offset : {0, 1, -2, 9}) {
    collect("tril_" + std::to_string(offset), [offset](const Arrays& x) { return tril(x[0], offset); });
    collect("triu_" + std::to_string(offset), [offset](const Arrays& x) { return triu(x[0], offset); });
  }
  collect("tril_infinite", [](const Arrays& x) { return tril(x[0]); });
  collect("one_hot", [](const Arrays& x) { return one_hot(x[0], 3); });
  collect("one_hot_bytes", [](const Arrays& x) { return one_hot(x[0], 300, DType::kBF16); });
  expected.collect("meshgrid", [](const Arrays& x) { return meshgrid(x); });
  expected.collect("meshgrid_matrix", [](const Arrays& x) { return meshgrid(x, true); });
  collect("full_like", [](const Arrays& x) { return full_like(x[0], 2.7); });
  expected.collect("zeros", [](const Arrays&) {
    return Arrays{zeros({2, 0}), ones({2}, DType::kPred), full({2, 2}, 7, DType::kS8)};
  });
}

TEST_F(Shapes, AreThoseOfJax) {
  collect_orders();
  collect_parts();
  collect_created();
  expected.check();
  expected.expect_all_used();
}

TEST_F(Shapes, DerivativesAreThoseOfFiniteDifferences) {
  FiniteDifferences differences;
  const Array x = numbers({2, 3, 4});
  const auto add = [&](const char* name, const std::function<Array(const Array&)>& function) {
    differences.add(name, single([function](const Arrays& a) { return square(function(a[0])); }), {x}, 1);
  };
  add("reshape", [](const Array& a) { return reshape(a, {-1, 6}); });
  add("transpose", [](const Array& a) { return transpose(a, {1, 2, 0}); });
  add("move_dim", [](const Array& a) { return moveaxis(swapaxes(a, 0, 1), 0, 2); });
  add("broadcast", [](const Array& a) { return broadcast_to(expand_dims(a, {1}), {2, 5, 3, 4}); });
  add("slice", [](const Array& a) { return slice(a, {0, 1, 0}, {2, 3, 4}, {1, 1, 3}); });
  add("reverse and roll", [](const Array& a) { return roll(reverse(a, {0, 2}), 3, 2); });
  add("repeat and tile", [](const Array& a) { return tile(repeat(a, 2, 1), {1, 2, 1}); });
  add("tril and triu", [](const Array& a) { return tril(a, 1) * triu(a, -1); });
  for (const auto& [name, padding] : kPads)
    differences.add("pad_" + name,
                    single([padding = padding](const Arrays& a) { return square(pad(a[0], padding, a[1])); }),
                    {x, numbers({})});
  differences.add("concatenate", single([](const Arrays& a) { return square(concatenate(a, 1)); }),
                  {x, numbers({2, 1, 4}, 2)});
  differences.add("stack and split", [](const Arrays& a) { return split(square(stack(a, -1)), 2, 1); },
                  {numbers({2, 2}), numbers({2, 2}, 2)});
  differences.add("meshgrid",
                  [](const Arrays& a) {
                    const Arrays grid = meshgrid(a);
                    return Arrays{grid[0] * grid[1]};
                  },
                  {numbers({2}), numbers({3}, 2)});
  differences.check();
}

TEST_F(Shapes, ErrorsAreTyped) {
  const Array x = ones({2, 3});
  EXPECT_THROW(reshape(x, {4}), InvalidArgumentError);
  EXPECT_THROW(reshape(x, {-1, -1}), InvalidArgumentError);
  EXPECT_THROW(reshape(x, {4, -1}), InvalidArgumentError);
  EXPECT_THROW(transpose(x, {0, 0}), InvalidArgumentError);
  EXPECT_THROW(moveaxis(x, 0, 2), InvalidArgumentError);
  EXPECT_THROW(broadcast_to(x, {3}), InvalidArgumentError);
  EXPECT_THROW(broadcast_to(x, {2, 4}), InvalidArgumentError);
  EXPECT_THROW(expand_dims(x, {0, 0}), InvalidArgumentError);
  EXPECT_THROW(squeeze(x, {0}), InvalidArgumentError);
  EXPECT_THROW(concatenate({}), InvalidArgumentError);
  EXPECT_THROW(concatenate({x, ones({3, 3})}, 1), InvalidArgumentError);
  EXPECT_THROW(concatenate({Array(1), Array(2)}), InvalidArgumentError);
  EXPECT_THROW(stack({}), InvalidArgumentError);
  EXPECT_THROW(stack({x, ones({2})}), InvalidArgumentError);
  EXPECT_THROW(split(x, 2, 1), InvalidArgumentError);
  EXPECT_THROW(split_at(x, {2, 1}, 1), InvalidArgumentError);
  EXPECT_THROW(pad(x, {{1, 1}}), InvalidArgumentError);
  EXPECT_THROW(pad(x, {{0, 0, -1}, {}}), InvalidArgumentError);
  EXPECT_THROW(pad(x, {{-3, 0}, {}}), InvalidArgumentError);
  EXPECT_THROW(pad(x, {{1, 0}, {}}, ones({2})), InvalidArgumentError);
  EXPECT_THROW(slice(x, {0}, {1}), InvalidArgumentError);
  EXPECT_THROW(slice_in_dim(x, 1, 0, 4), InvalidArgumentError);
  EXPECT_THROW(reverse(x, {0, -2}), InvalidArgumentError);
  EXPECT_THROW(repeat(x, -1, 0), InvalidArgumentError);
  EXPECT_THROW(tile(x, {-1, 1}), InvalidArgumentError);
  EXPECT_THROW(zeros({-1}), InvalidArgumentError);
  EXPECT_THROW(iota({2}, 1), InvalidArgumentError);
  EXPECT_THROW(iota({2}, 0, DType::kPred), InvalidArgumentError);
  EXPECT_EQ(arange(-1).dims(), Dims{0});  // as NumPy
  EXPECT_THROW(arange(0, 1, 0, DType::kF32), InvalidArgumentError);
  EXPECT_THROW(linspace(0, 1, -1), InvalidArgumentError);
  EXPECT_THROW(eye(-1), InvalidArgumentError);
  EXPECT_THROW(tril(ones({2})), InvalidArgumentError);
  EXPECT_THROW(one_hot(zeros({2}, DType::kS32), -1), InvalidArgumentError);
  EXPECT_THROW(meshgrid({x}), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
