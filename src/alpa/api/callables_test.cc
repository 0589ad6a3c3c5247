#include <gtest/gtest.h>

#include "alpa/alpa.h"

/// What `parallelize` takes for a function, and how its arguments come.
namespace alpa {
namespace {

class Callables : public testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 8}); }
  void TearDown() override { shutdown(); }
};

Array doubled(const Array& x) { return x * 2; }

struct Scale {
  int by;
  Array operator()(const Array& x) const { return x * by; }
};

struct Counter {
  int calls = 0;
  Array operator()(const Array& x) { return x + ++calls; }
};

template <typename T>
T twice(T x) {
  return tree_map(x, [](const Array& a) { return a + a; });
}

float first(const Array& x) { return x.to_vector<float>()[0]; }

TEST_F(Callables, FunctionsPointersFunctorsAndStdFunction) {
  const Array x = ones({8});
  EXPECT_EQ(first(parallelize(doubled)(x)), 2);
  EXPECT_EQ(first(parallelize(&doubled)(x)), 2);
  EXPECT_EQ(first(parallelize(Scale{3})(x)), 3);
  EXPECT_EQ(first(parallelize(Counter{})(x)), 2);
  EXPECT_EQ(first(parallelize(std::function<Array(const Array&)>(doubled))(x)), 2);
  const auto by = std::make_unique<int>(5);
  EXPECT_EQ(first(parallelize([&by](const Array& a) { return a * *by; })(x)), 5);
  auto owned = std::make_unique<int>(6);
  EXPECT_EQ(first(parallelize([owned = std::move(owned)](const Array& a) { return a * *owned; })(x)), 6);
}

TEST_F(Callables, Templates) {
  const auto any = parallelize([](const auto& x) { return twice(x); });
  EXPECT_EQ(first(any(ones({8}))), 2);
  EXPECT_EQ(first(any(std::vector<Array>{ones({8}), zeros({2})})[0]), 2);
  EXPECT_EQ(first(parallelize(twice<Array>)(ones({8}))), 2);
}

TEST_F(Callables, ArgumentsByValueReferenceAndMove) {
  const Array x = ones({8});
  std::vector<Array> list = {x, x + 1};
  EXPECT_EQ(first(parallelize([](Array a) { return a += 1, a; })(x)), 2);
  EXPECT_EQ(first(parallelize([](Array& a) { return a += 1, a; })(x)), 2);
  EXPECT_EQ(first(parallelize([](Array&& a) { return std::move(a) + 1; })(x)), 2);
  EXPECT_EQ(first(x), 1);
  const auto add_up = parallelize([](std::vector<Array> all) { return all[0] + all[1]; });
  EXPECT_EQ(first(add_up(list)), 3);
  EXPECT_EQ(first(add_up(std::as_const(list))), 3);
  EXPECT_EQ(first(add_up(std::move(list))), 3);
}

TEST_F(Callables, ResultsOfAnyTree) {
  int traced = 0;
  parallelize([&](const Array&) { ++traced; })(ones({8}));  // nothing
  EXPECT_EQ(traced, 1);
  const auto many = parallelize([](const Array& x) {
    return std::tuple(x, std::map<std::string, std::optional<Array>>{{"a", x + 1}, {"b", std::nullopt}}, 7);
  });
  const auto [same, named, number] = many(ones({8}));
  EXPECT_EQ(first(same), 1);
  EXPECT_EQ(first(*named.at("a")), 2);
  EXPECT_FALSE(named.at("b").has_value());
  EXPECT_EQ(number, 7);
}

}  // namespace
}  // namespace alpa
