#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "alpa/alpa.h"
#include "alpa/api/testing/message_of.h"

/// Programs of public reports about such systems, each of which aborted, hung or gave wrong numbers there: under every
/// method they give here what one device gives, or an error that names what is at fault. (A07, A08 of the reports:
/// micro_batches_test; A12: bad_input_test; A14: create_state_parallel_test, of room api.)
namespace alpa {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

// (arange % 7 - 3) / 4
Array ramp(const Dims& dims) {
  std::vector<float> values(static_cast<size_t>(tensor::num_elements(Shape(DType::kF32, dims))));
  for (size_t k = 0; k < values.size(); ++k) values[k] = (static_cast<float>(k % 7) - 3) / 4;
  return Array::from(values, dims);
}

Array count_up(const Dims& dims) {
  std::vector<float> values(static_cast<size_t>(tensor::num_elements(Shape(DType::kF32, dims))));
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k);
  return Array::from(values, dims);
}

ParallelizeOptions kept(AnyMethod method, std::vector<int> batch = {}) {
  return {.donate_argnums = std::vector<int>{}, .batch_argnums = std::move(batch), .method = method};
}

const std::vector<AnyMethod> kMeshes = {ShardParallel({8}), ShardParallel({2, 4}), ShardParallel({2, 2, 2})};

void expect_near(const Array& expected, const Array& got, float tolerance = 1e-4f) {
  ASSERT_EQ(expected.shape(), got.shape());
  EXPECT_THAT(got.to_vector<float>(), Pointwise(FloatNear(tolerance), expected.to_vector<float>()));
}

class PublicCases : public testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 8}); }
  void TearDown() override { shutdown(); }
};

TEST_F(PublicCases, A01GathersOfEveryForm) {
  const Array t = count_up({8, 8}), i = Array::from(std::vector<int>{0, 3, 7, 5}),
              j = Array::from(std::vector<int>{1, 1, 6, 0});
  const auto two = [](const Array& table, const Array& rows, const Array& columns) {
    const auto pick = [&](const Array& x) { return x(rows, columns); };
    const Array slopes = grad([&](const Array& x) { return sum(square(pick(x))); })(table);
    return std::pair(pick(table), sum(slopes));
  };
  const auto others = [](const Array& table, const Array& rows, const Array& columns) {
    const auto picks = [&](const Array& x) {
      const Array deep = x.reshape({4, 4, 4});
      const Array along = expand_dims(columns, {0}) + iota({8, 4}, 0, DType::kS32) % 2;
      return std::vector<Array>{x(alpa::all, rows), take_along_axis(x, along, 1),
                                deep(rows % 4, alpa::all, columns % 4),
                                gather(x, expand_dims(iota({8}, 0, DType::kS32) % 8, {1}),
                                       {.collapsed_slice_dims = {1},
                                        .start_index_map = {1},
                                        .operand_batching_dims = {0},
                                        .start_indices_batching_dims = {0}},
                                       {1, 1})};
    };
    const Array slopes = grad([&](const Array& x) {
      Array total = 0.0;
      for (const Array& one : picks(x)) total = total + sum(square(one));
      return total;
    })(table);
    auto all = picks(table);
    all.push_back(slopes);
    return all;
  };
  const std::vector<Array> expected = others(t, i, j);
  for (const AnyMethod& method : kMeshes) {
    const auto [picked, slope] = parallelize(two, kept(method))(t, i, j);
    EXPECT_THAT(picked.to_vector<float>(), ElementsAre(1, 25, 62, 40));
    EXPECT_EQ(slope.item<float>(), 256);
    const std::vector<Array> got = parallelize(others, kept(method))(t, i, j);
    for (size_t k = 0; k < got.size(); ++k) expect_near(expected[k], got[k]);
  }
}

TEST_F(PublicCases, A02UpdatesPastTheEndAreNotLost) {
  for (const int64_t width : {16, 4096}) {
    const auto put = [](const Array& cache, const Array& update, const Array& at) {
      return dynamic_update_slice(cache, update, {Array(0), at});
    };
    const auto look = [](const Array& cache, const Array& at) { return dynamic_slice(cache, {Array(0), at}, {2, 1}); };
    const auto decode = [](const Array& cache, const Array& update, const Array& at) {
      return fori_loop(
          0, 5,
          [&](const Array& k, const Array& c) {
            return dynamic_update_slice(c, update + k.astype(DType::kF32), {Array(0), at + k});
          },
          cache);
    };
    const Array cache = count_up({2, width}), update = full({2, 1}, 99.0f);
    for (const AnyMethod& method : kMeshes) {
      const auto step = parallelize(put, kept(method));
      const auto seen = parallelize(look, kept(method));
      const auto loop = parallelize(decode, kept(method));
      for (const int64_t start : {int64_t{100} * width, width - 1, int64_t{-3}, width / 2}) {
        const Array at = full({}, static_cast<int>(start), DType::kS32);
        const int64_t column = start >= width ? width - 1 : (start < 0 ? width + start : start);
        std::vector<float> expected = count_up({2, width}).to_vector<float>();
        EXPECT_THAT(seen(cache, at).to_vector<float>(),
                    ElementsAre(expected[static_cast<size_t>(column)], expected[static_cast<size_t>(width + column)]));
        expected[static_cast<size_t>(column)] = expected[static_cast<size_t>(width + column)] = 99;
        EXPECT_EQ(step(cache, update, at).to_vector<float>(), expected) << start << " of " << width;
        expect_near(decode(cache, update, at), loop(cache, update, at), 0);
      }
    }
  }
}

TEST_F(PublicCases, A03GradientsOfStridedConvolutions) {
  struct Form {
    Dims kernel, image;
    int64_t stride;
  };
  const Form reported = {{4, 2, 3, 3}, {4, 2, 8, 8}, 2};
  for (const Form& form : {reported, Form{{4, 2, 3, 3}, {1, 2, 8, 8}, 2}, Form{{64, 64, 3, 3}, {16, 64, 8, 8}, 2},
                           Form{{4, 2, 3, 3}, {8, 2, 8, 8}, 1}}) {
    const auto step = [&](const Array& kernel, const Array& image) {
      return value_and_grad([&](const Array& k) {
        return mean(square(conv_general_dilated(image, k,
                                                {.strides = {form.stride, form.stride},
                                                 .padding = {{1, 1}, {1, 1}},
                                                 .lhs_layout = "NCHW",
                                                 .rhs_layout = "OIHW",
                                                 .out_layout = "NCHW"})));
      })(kernel);
    };
    const Array kernel = ramp(form.kernel), image = ramp(form.image);
    const auto [loss, gradient] = step(kernel, image);
    std::vector<AnyMethod> methods = kMeshes;
    if (form.image[0] % 8 == 0) methods.insert(methods.end(), {DataParallel(), Zero3Parallel()});
    for (const AnyMethod& method : methods) {
      const auto [l, g] = parallelize(step, kept(method, {1}))(kernel, image);
      EXPECT_NEAR(l.item<float>(), loss.item<float>(), 1e-4 * std::abs(loss.item<float>()));
      expect_near(gradient, g, 1e-4f * std::max(1.0f, max(abs(gradient)).item<float>()));
    }
    if (&form.kernel != &reported.kernel && form.image != reported.image) continue;
    EXPECT_NEAR(loss.item<float>(), 0.7035217, 1e-5);
    EXPECT_NEAR(sum(abs(gradient)).item<float>(), 5.416138, 1e-4);
    EXPECT_THAT(gradient(0, 0, 0).to_vector<float>(), Pointwise(FloatNear(1e-5f), {-0.055298f, 0.005615f, 0.141113f}));
  }
}

TEST_F(PublicCases, A05DropoutMasksAreThoseOfOneDevice) {
  const auto drop = [](const Array& key, const Array& x) {
    return where(random::bernoulli(key, 0.5, x.dims()), x, 0.0);
  };
  const Array key = random::key(0);
  for (const AnyMethod& method : kMeshes) {
    EXPECT_THAT(parallelize(drop, kept(method))(key, ones({8, 3})).to_vector<float>(),
                ElementsAre(0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0));
    expect_near(drop(key, ones({63, 5})), parallelize(drop, kept(method))(key, ones({63, 5})), 0);
  }
  expect_near(drop(key, ones({8, 3})), parallelize(drop, kept(DataParallel(), {1}))(key, ones({8, 3})), 0);
}

struct MultiSteps {
  Array w, gradient, mini_step, gradient_step;
  ALPA_STATE(w, gradient, mini_step, gradient_step)
};

// Descends each second call along the mean of two gradients.
TEST_F(PublicCases, A06BranchesInTheOptimizer) {
  const auto step = [](const MultiSteps& state, const Array& batch) {
    const Array slope = grad([&](const Array& w) { return mean(batch) * sum(w); })(state.w);
    const Array gradient = state.gradient + (slope - state.gradient) / (state.mini_step + 1).astype(DType::kF32);
    const auto update = [](const MultiSteps& s) {
      return MultiSteps{s.w - 0.1 * s.gradient, s.gradient * 0, s.mini_step * 0, s.gradient_step + 1};
    };
    const auto wait = [](const MultiSteps& s) { return MultiSteps{s.w, s.gradient, s.mini_step + 1, s.gradient_step}; };
    return cond(state.mini_step == 1, update, wait,
                MultiSteps{state.w, gradient, state.mini_step, state.gradient_step});
  };
  for (const AnyMethod& method : std::vector<AnyMethod>{ShardParallel({8}), ShardParallel({2, 4}), DataParallel(),
                                                        Zero2Parallel(), Zero3Parallel(), ShardParallel({8}, 2)}) {
    SCOPED_TRACE(method->name());
    const auto train = parallelize(step, {.method = method});
    MultiSteps state{ones({4}), zeros({4}), zeros({}, DType::kS32), zeros({}, DType::kS32)};
    std::vector<float> weights;
    for (const float filled : {1, 3, 2, 4}) {
      state = train(state, full({16}, filled));
      weights.push_back(state.w.to_vector<float>()[0]);
    }
    EXPECT_THAT(weights, Pointwise(FloatNear(1e-6f), {1.0f, 0.8f, 0.8f, 0.5f}));
    EXPECT_EQ(state.mini_step.item<int>(), 0);
    EXPECT_EQ(state.gradient_step.item<int>(), 2);
  }
}

TEST_F(PublicCases, A11TheSameArrayDonatedAndKept) {
  using std::chrono::steady_clock;
  const auto add = parallelize([](const Array& a, const Array& b) { return a + b; },
                               {.donate_argnums = std::vector{0}, .batch_argnums = {}});
  const Array x = ones({16});
  EXPECT_EQ(add(ones({16}), x).to_vector<float>()[0], 2);  // compiled
  const auto start = steady_clock::now();
  EXPECT_THAT(message_of([&] { add(x, x); }), AllOf(HasSubstr("args[0]"), HasSubstr("args[1]"), HasSubstr("donated")));
  const Array y = add(x, ones({16}));
  EXPECT_THAT(message_of([&] { add(y, y); }), AllOf(HasSubstr("args[0]"), HasSubstr("args[1]")));
  EXPECT_LT(std::chrono::duration<double>(steady_clock::now() - start).count(), 10);
  const auto sums = parallelize([](const std::map<std::string, Array>& state) { return state.at("a") + state.at("b"); },
                                {.donate_argnums = std::vector{0}, .batch_argnums = {}});
  const std::map<std::string, Array> twice = {{"a", y}, {"b", y}};
  EXPECT_THAT(message_of([&] { sums(twice); }), AllOf(HasSubstr("args[0].a"), HasSubstr("args[0].b")));
  EXPECT_EQ(add(y, ones({16})).to_vector<float>()[0], 3);  // the cluster is as it was
}

}  // namespace
}  // namespace alpa
