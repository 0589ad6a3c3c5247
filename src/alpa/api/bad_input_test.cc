#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/alpa.h"
#include "alpa/api/testing/message_of.h"
#include "alpa/runtime/mesh_executable.h"

/// What a caller can do wrong, and what is told then: which argument, what it is, what to do.
namespace alpa {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class BadInput : public testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 8}); }
  void TearDown() override {
    if (is_initialized()) shutdown();
  }
};

struct Settings {
  int depth = 1;
};

struct Pair {
  Array a, b;
  ALPA_PYTREE(a, b)
};

Array scaled(const Array& x, const std::vector<int>& by) { return x * by[0]; }

TEST_F(BadInput, ArgumentNumbersThatAreNotThere) {
  const Array x = ones({8});
  const auto call = [&](ParallelizeOptions options) {
    return message_of([&] { parallelize(scaled, std::move(options))(x, std::vector<int>{3}); });
  };
  EXPECT_THAT(call({.static_argnums = std::vector{7}}), AllOf(HasSubstr("static_argnums"), HasSubstr("7")));
  EXPECT_THAT(call({.donate_argnums = std::vector{-3}}), AllOf(HasSubstr("donate_argnums"), HasSubstr("-3")));
  EXPECT_THAT(call({.batch_argnums = {2}}), AllOf(HasSubstr("batch_argnums"), HasSubstr("2")));
  EXPECT_EQ(parallelize(scaled, {.static_argnums = std::vector{-1}})(x, std::vector<int>{3}).to_vector<float>()[0], 3);
}

TEST_F(BadInput, StaticArgumentsThatCannotBeTold) {
  const Array x = ones({8});
  const auto deep = parallelize([](const Array& a, const Settings& settings) { return a * settings.depth; });
  EXPECT_THAT(message_of([&] { deep(x, Settings{2}); }),
              AllOf(HasSubstr("argument 1"), HasSubstr("Settings"), HasSubstr("std::hash")));
  const int by = 3;
  const auto apply = parallelize([](const Array& a, auto function) { return function(a); });
  EXPECT_THAT(message_of([&] { apply(x, [by](const Array& a) { return a * by; }); }), HasSubstr("argument 1"));
  EXPECT_EQ(apply(x, [](const Array& a) { return a * 4; }).to_vector<float>()[0], 4);  // nothing to tell apart
  EXPECT_EQ(apply(x, static_cast<Array (*)(const Array&)>([](const Array& a) { return a * 5; })).to_vector<float>()[0],
            5);
}

TEST_F(BadInput, ArraysInStaticArguments) {
  const auto scale = parallelize([](const Array& x, const std::vector<Array>& by) { return x * by[0]; },
                                 {.static_argnums = std::vector{1}});
  EXPECT_THAT(message_of([&] { scale(ones({8}), std::vector<Array>{Array(2)}); }),
              AllOf(HasSubstr("args[1][0]"), HasSubstr("static")));
}

TEST_F(BadInput, MapKeysThatReadLikeStructure) {
  using Table = std::map<std::string, std::vector<int>>;
  const auto count = parallelize([](const Array& x, const Table& table) { return x * table.begin()->first.size(); });
  EXPECT_EQ(count(ones({8}), Table{{"a", {}}, {"b [0 c", {}}}).to_vector<float>()[0], 1);
  EXPECT_EQ(count(ones({8}), Table{{"a [0 b", {}}, {"c", {}}}).to_vector<float>()[0], 6);
}

TEST_F(BadInput, CallsWithinATrace) {
  std::optional<ParallelizedFunction<std::function<Array(const Array&)>>> itself;
  std::shared_ptr<Executable> seen;
  bool recurse = true;
  itself = parallelize(std::function<Array(const Array&)>([&](const Array& x) {
    seen = itself->get_last_executable();
    return recurse ? (*itself)(x) : x + 1;
  }));
  EXPECT_THAT(message_of([&] { (*itself)(ones({8})); }), HasSubstr("inside another traced function"));
  recurse = false;
  EXPECT_EQ((*itself)(ones({8})).to_vector<float>()[0], 2);
  EXPECT_EQ(seen, nullptr);
  // Whether it is compiled already makes no difference.
  const Array known = ones({8});
  const auto outer = parallelize([&](const Array& x) { return x + (*itself)(known); });
  EXPECT_THAT(message_of([&] { outer(ones({8})); }), HasSubstr("inside another traced function"));
}

TEST_F(BadInput, CotangentsAndTangentsOfAnotherType) {
  const auto twice = [](const Array& x) { return x * 2; };
  const Array x = ones({2});
  const auto pull = vjp(twice, x).second;
  EXPECT_THAT(message_of([&] { pull(ones({3})); }), AllOf(HasSubstr("f32[3]"), HasSubstr("f32[2]")));
  EXPECT_THAT(message_of([&] { pull(ones({2}, DType::kBF16)); }), AllOf(HasSubstr("bf16[2]"), HasSubstr("f32[2]")));
  EXPECT_EQ(std::get<0>(vjp(twice, Array(3.0)).second(1)).item<float>(), 2);  // a number takes the type
  EXPECT_THAT(message_of([&] { jvp(twice, std::tuple(x), std::tuple(ones({2}, DType::kF64))); }),
              AllOf(HasSubstr("f64[2]"), HasSubstr("f32[2]")));
  const auto both = [](const std::vector<Array>& all) { return all; };
  const auto pull_two = vjp(both, std::vector<Array>{x, x}).second;
  EXPECT_THAT(message_of([&] { pull_two({x}); }), HasSubstr("two trees differ in structure"));
}

TEST_F(BadInput, StaticValuesAreReadAtEachCall) {
  int compiled = 0;
  const auto step = parallelize(
      [&](const Array& x, const std::map<std::string, int>& settings, const std::string& name, bool negate) {
        ++compiled;
        const Array y = x * settings.at(name);
        return negate ? -y : y;
      });
  std::map<std::string, int> settings = {{"k", 2}};
  EXPECT_EQ(step(ones({8}), settings, "k", false).to_vector<float>()[0], 2);
  settings["k"] = 5;
  EXPECT_EQ(step(ones({8}), settings, "k", false).to_vector<float>()[0], 5);
  EXPECT_EQ(step(ones({8}), settings, "k", true).to_vector<float>()[0], -5);
  EXPECT_EQ(step(ones({8}), settings, "k", false).to_vector<float>()[0], 5);
  EXPECT_EQ(compiled, 3);
}

TEST_F(BadInput, StaticTextIsToldApartByWhatItSays) {
  const Array x = ones({8});
  const auto scale = parallelize([](const Array& a, std::string_view by) { return a * static_cast<int>(by.size()); });
  std::string text = "ab";
  EXPECT_EQ(scale(x, std::string_view(text)).to_vector<float>()[0], 2);
  text = "abcd";  // at the same place
  EXPECT_EQ(scale(x, std::string_view(text)).to_vector<float>()[0], 4);
  EXPECT_EQ(scale(x, text.c_str()).to_vector<float>()[0], 4);
  text[2] = '\0';
  EXPECT_EQ(scale(x, text.c_str()).to_vector<float>()[0], 2);
  const auto count = parallelize([](const std::map<std::string, std::vector<Array>>& tree) {
    return Array(static_cast<int>(tree.begin()->first.size())) * 1;
  });
  using Tree = std::map<std::string, std::vector<Array>>;
  EXPECT_EQ(count(Tree{{"a [0 b", {}}, {"c", {}}}).item<int>(), 6);
  EXPECT_EQ(count(Tree{{"a", {}}, {"b [0 c", {}}}).item<int>(), 1);
  const auto flags = parallelize([](const Array& a, const std::vector<bool>& on) { return on[0] ? a : -a; });
  EXPECT_EQ(flags(x, std::vector<bool>{true}).to_vector<float>()[0], 1);
  EXPECT_EQ(flags(x, std::vector<bool>{false}).to_vector<float>()[0], -1);
}

TEST_F(BadInput, StaticArgumentsThatMayChangeUnseen) {
  const Array x = ones({8});
  int by = 3;
  const auto pointed = parallelize([](const Array& a, int* k) { return a * *k; });
  EXPECT_THAT(message_of([&] { pointed(x, &by); }), AllOf(HasSubstr("argument 1"), HasSubstr("int*")));
  const auto shared = parallelize([](const Array& a, const std::shared_ptr<int>& k) { return a * *k; });
  EXPECT_THAT(message_of([&] { shared(x, std::make_shared<int>(2)); }), HasSubstr("shared_ptr"));
  const auto sum_of =
      parallelize([](const Array& a, const Pair& b) { return a + b.a; }, {.static_argnums = std::vector{1}});
  EXPECT_THAT(message_of([&] { sum_of(x, Pair{x, x}); }), AllOf(HasSubstr("argument 1"), HasSubstr("args[1].a")));
}

TEST_F(BadInput, ParallelizedFunctionsInsideTraces) {
  std::function<Array(const Array&)> again;
  const auto step = parallelize([&](const Array& x) { return again ? again(x) : x * 2; });
  const Array x = ones({8});
  EXPECT_EQ(step(x).to_vector<float>()[0], 2);
  const auto refused = [&](const auto& call) {
    EXPECT_THAT(message_of([&] { call(); }), HasSubstr("call the plain one"));
  };
  refused([&] { parallelize([&](const Array& a) { return step(a) + 1; })(x); });
  refused([&] { grad([&](const Array& a) { return sum(step(a)); })(x); });
  refused([&] { vjp([&](const Array& a) { return step(a); }, x); });
  again = [&](const Array& a) { return step(a); };  // itself
  refused([&] { step(ones({4})); });
  EXPECT_EQ(step(x).to_vector<float>()[0], 2);
}

TEST_F(BadInput, ValuesReadWhilePulledBack) {
  const auto read = [](const Array& a) {
    const Array y = a * a;
    return y * y.item<float>();  // its derivative would lack a part
  };
  EXPECT_THAT(message_of([&] { vjp(read, Array(3.0f)); }), HasSubstr("not known"));
}

TEST_F(BadInput, DirectionsThatDoNotFit) {
  const Array x = ones({3});
  const auto [y, pull] = vjp([](const std::vector<Array>& v) { return v; }, std::vector<Array>{x, x});
  const auto of = [&](const std::vector<Array>& cotangents) { return message_of([&] { pull(cotangents); }); };
  EXPECT_THAT(of({x}), HasSubstr("differ in structure"));
  EXPECT_THAT(of({x, ones({5, 3})}), AllOf(HasSubstr("cotangent"), HasSubstr("f32[5,3]"), HasSubstr("f32[3]")));
  const auto square_of = [](const Array& v) { return v * v; };
  EXPECT_THAT(message_of([&] { jvp(square_of, std::tuple(x), std::tuple(arange(3))); }), HasSubstr("s32[3]"));
}

TEST_F(BadInput, LiteralsOfManyBits) {
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  EXPECT_EQ((zeros({1}, DType::kS64) + kOdd).to_vector<int64_t>()[0], kOdd);
  EXPECT_EQ(full({1}, kOdd, DType::kS64).to_vector<int64_t>()[0], kOdd);
  EXPECT_EQ(full({1}, UINT64_MAX - 1, DType::kU64).to_vector<uint64_t>()[0], UINT64_MAX - 1);
  EXPECT_THAT(full({1}, kOdd, DType::kS64).to_string(), HasSubstr("9007199254740993"));
  EXPECT_THAT(message_of([] { full({1}, UINT64_MAX, DType::kS64); }), HasSubstr("out of range"));
  EXPECT_THAT(message_of([] { Array(kOdd).to_host(); }), HasSubstr("9007199254740993"));
  EXPECT_THAT(message_of([] { arange(3) + kOdd; }), AllOf(HasSubstr("s32"), HasSubstr("bad_input_test.cc")));
  EXPECT_THAT(message_of([] { scatter_set(zeros({2}, DType::kU8), arange(1), 300, 0); }), HasSubstr("300"));
}

TEST_F(BadInput, SizesBeyondCounting) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  EXPECT_THAT(message_of([] { zeros({kHuge, kHuge}); }), AllOf(HasSubstr("too large"), HasSubstr("1099511627776")));
  EXPECT_THAT(message_of([] { repeat(ones({2}), INT64_MAX, 0); }), HasSubstr("repeat"));
  EXPECT_THAT(message_of([] { tile(ones({2}), {-1}); }), HasSubstr("tile"));
  EXPECT_THAT(message_of([] { Array::from(std::vector<float>{1, 2}, {-1, -2}); }), HasSubstr("negative"));
  EXPECT_THAT(message_of([] { broadcast_in_dim(ones({2, 3}), {2, 3}, {0, 7}); }), HasSubstr("broadcast_in_dim"));
  EXPECT_EQ(arange(-3).size(), 0);
  EXPECT_THAT(message_of([] { arange(0, 1e300, 1, DType::kF32); }), HasSubstr("arange"));
}

TEST_F(BadInput, StatesOfAnotherOptimizer) {
  using Params = std::vector<Array>;
  const Params params = {ones({4})}, gradients = {ones({4})};
  const auto adam = optim::adam({.learning_rate = 0.1});
  const auto sgd = optim::sgd({.learning_rate = 0.1});
  EXPECT_THAT(message_of([&] { adam.update(gradients, sgd.init(params), params); }), HasSubstr("another"));
  EXPECT_THAT(message_of([&] { sgd.update(gradients, adam.init(params), params); }), HasSubstr("another"));
  EXPECT_THAT(message_of([&] { adam.update(gradients, adam.init(Params{}), params); }), HasSubstr("structure"));
  EXPECT_THAT(message_of([&] { adam.update(Params{ones({3})}, adam.init(params), params); }), HasSubstr("f32[3]"));
  EXPECT_THAT(message_of([&] { optim::apply_updates(params, Params{ones({2, 4})}); }), HasSubstr("f32[2,4]"));
}

TEST_F(BadInput, ArgumentsThatHoldNoArrays) {
  const auto square_of = parallelize([](double x) { return Array(x) * x; }, {.static_argnums = std::vector<int>{}});
  EXPECT_THAT(message_of([&] { square_of(3.0); }), AllOf(HasSubstr("argument 0"), HasSubstr("double")));
}

TEST_F(BadInput, ArraysNeverAssigned) {
  const auto add_up = parallelize([](const std::vector<Pair>& pairs) { return pairs[1].a + pairs[1].b; });
  const std::vector<Pair> pairs = {{ones({2}), ones({2})}, {ones({2}), {}}};
  EXPECT_THAT(message_of([&] { add_up(pairs); }), HasSubstr("args[0][1].b"));
  const auto nothing = parallelize([](const Array& x) { return std::pair(x, Array()); });
  EXPECT_THAT(message_of([&] { nothing(ones({2})); }), HasSubstr("result[1]"));
}

TEST_F(BadInput, DonatedTwiceOrAlsoGiven) {
  using State = std::map<std::string, Array>;
  const auto add_to = parallelize([](const State& state, const Array& x) { return state.at("a") + x; },
                                  {.donate_argnums = std::vector{0}});
  const Array x = ones({16}), y = add_to(State{{"a", ones({16})}}, x);
  const State twice = {{"a", y}, {"b", y}}, once = {{"a", y}};
  EXPECT_THAT(message_of([&] { add_to(twice, x); }), AllOf(HasSubstr("args[0].a"), HasSubstr("args[0].b")));
  EXPECT_THAT(message_of([&] { add_to(once, y); }), AllOf(HasSubstr("args[0].a"), HasSubstr("args[1]")));
  EXPECT_EQ(add_to(once, x).to_vector<float>()[0], 3);  // nothing was lost
  EXPECT_THAT(message_of([&] { add_to(once, x); }), AllOf(HasSubstr("args[0].a"), HasSubstr("donated")));
}

TEST_F(BadInput, AnotherBatchForACompiledStep) {
  const auto step = parallelize([](const Array& w, const Array& batch) { return mean(matmul(batch, w)); });
  const Array w = ones({4, 2});
  EXPECT_EQ(step(w, ones({16, 4})).item<float>(), 4);
  const auto executable = step.get_last_executable();
  EXPECT_THAT(message_of([&] { executable->launch_on_driver({w, ones({10, 4})}); }),
              AllOf(HasSubstr("args[1]"), HasSubstr("f32[10,4]"), HasSubstr("f32[16,4]")));
  EXPECT_THAT(message_of([&] { executable->launch_on_driver({w}); }), AllOf(HasSubstr("1 array"), HasSubstr("2")));
  EXPECT_EQ(step(w, ones({10, 4})).item<float>(), 4);  // compiled anew
}

TEST_F(BadInput, ABatchThatTheDevicesDoNotDivide) {
  const auto loss = [](const Array& w, const Array& batch) { return mean(matmul(batch, w)); };
  const Array w = ones({4, 2});
  for (const int64_t rows : {10, 3, 1}) {
    const Array batch = iota({rows, 4}, 0, DType::kF32);
    EXPECT_NEAR(parallelize(loss)(w, batch).item<float>(), loss(w, batch).item<float>(), 1e-5);
    EXPECT_THAT(message_of([&] { parallelize(loss, {.method = DataParallel()})(w, batch); }),
                AllOf(HasSubstr("args[1]"), HasSubstr(std::to_string(rows)), HasSubstr("8 devices")));
  }
}

TEST(ClusterLife, FunctionsSurviveANewCluster) {
  const auto step = parallelize([](const Array& w, const Array& x) { return w - 0.1 * mean(matmul(x, w)); });
  const auto expected = [](int64_t rows) { return 1 - 0.1 * 4 * (rows > 0 ? 1 : 0); };
  init("local", {.num_devices = 8});
  init("local", {.num_devices = 2});  // does nothing
  EXPECT_EQ(num_devices(), 8);
  const Array w = step(ones({4, 2}), ones({16, 4}));
  EXPECT_NEAR(w.to_vector<float>()[0], expected(16), 1e-6);
  EXPECT_NEAR(step(ones({4, 2}), ones({32, 4})).to_vector<float>()[0], expected(32), 1e-6);
  const auto old = step.get_last_executable();
  shutdown();
  EXPECT_THAT(message_of([] { shutdown(); }), HasSubstr("init"));
  EXPECT_THAT(message_of([&] { step(ones({4, 2}), ones({16, 4})); }), HasSubstr("alpa::init"));
  init("local", {.num_devices = 4});
  EXPECT_EQ(num_devices(), 4);
  EXPECT_TRUE(w.is_deleted());
  EXPECT_THAT(message_of([&] { step(w, ones({16, 4})); }), AllOf(HasSubstr("args[0]"), HasSubstr("shut down")));
  EXPECT_THAT(message_of([&] {
                w + 1;
                (w + 1).to_host();
              }),
              HasSubstr("shut down"));
  EXPECT_THAT(message_of([&] { old->launch_on_driver({ones({4, 2}), ones({32, 4})}); }), HasSubstr("shut down"));
  EXPECT_THAT(message_of([&] { old->preshard_dynamic_args({ones({4, 2}), ones({32, 4})}); }), HasSubstr("shut down"));
  EXPECT_NEAR(step(ones({4, 2}), ones({32, 4})).to_vector<float>()[0], expected(32), 1e-6);
  EXPECT_EQ(step.get_last_executable()->mesh_executable().logical_mesh().num_devices(), 4);
  shutdown();
}

TEST(ClusterLife, WhatInitRefuses) {
  EXPECT_THAT(message_of<UnsupportedError>([] { init("ray"); }), HasSubstr("local"));
  EXPECT_THAT(message_of([] { init("locale"); }), HasSubstr("locale"));
  EXPECT_THAT(message_of([] { init("local", {.num_devices = 0}); }), HasSubstr("num_devices"));
  EXPECT_THAT(message_of([] { init("local", {.num_devices = 100'000}); }), HasSubstr("4096"));
  EXPECT_THAT(message_of<Error>([] { init("local", {.plugin = "/no/such/plugin.so"}); }),
              HasSubstr("/no/such/plugin.so"));
  EXPECT_FALSE(is_initialized());
  EXPECT_THAT(message_of([] { num_devices(); }), HasSubstr("alpa::init"));
}

}  // namespace
}  // namespace alpa
