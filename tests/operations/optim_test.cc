#include "alpa/api/testing/derivatives.h"

namespace alpa {
namespace {

struct Params {
  Array a, b, c, d;
  ALPA_PYTREE(a, b, c, d)
};

constexpr int kSteps = 5;

class Optimizers : public testing::OneDevice {
 protected:
  Params read(const std::string& prefix) const {
    const auto get = [&](const char* name) { return Array(expected.at(prefix + "/" + name)); };
    return {get("a"), get("b"), get("c"), get("d")};
  }

  template <typename Optimizer>
  void compare(const std::string& name, const Optimizer& optimizer, DType dtype = DType::kF32,
               double tolerance = 1e-5) {
    SCOPED_TRACE(name);
    const auto cast = [&](const Array& x) { return x.astype(dtype); };
    Params params = tree_map(read("params"), cast);
    auto state = optimizer.init(params);
    std::vector<Array> found, wanted;
    for (int step = 0; step < kSteps; ++step) {
      const Params gradients = tree_map(read("gradients/" + std::to_string(step)), cast);
      auto [updates, next] = optimizer.update(gradients, state, params);
      state = next;
      params = optim::apply_updates(params, updates);
      for (const Array& leaf : tree_leaves(params)) found.push_back(leaf);
      for (const Array& leaf : tree_leaves(read(name + "/" + std::to_string(step)))) wanted.push_back(leaf);
    }
    frontend::evaluate(found);
    for (size_t k = 0; k < found.size(); ++k) {
      ASSERT_EQ(found[k].shape(), wanted[k].shape());
      const std::vector<double> x = found[k].to_vector<double>(), y = wanted[k].to_vector<double>();
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(x[i], y[i], tolerance * (1 + std::abs(y[i])))
            << "step " << k / 4 << ", array " << k % 4 << ", " << i;
    }
    ++compared;
  }

  void compare_schedule(const std::string& name, const optim::Schedule& schedule) {
    const tensor::Literal& wanted = expected.at("schedule/" + name);
    std::vector<Array> found;
    for (int step = 0; step < wanted.shape().dims[0]; ++step) found.push_back(schedule.at(full({}, step, DType::kS32)));
    const std::vector<double> values = stack(found).to_vector<double>();
    for (size_t k = 0; k < values.size(); ++k)
      EXPECT_NEAR(values[k], wanted.at(static_cast<int64_t>(k)), 1e-6) << name << k;
  }

  std::map<std::string, tensor::Literal> expected = testing::read_numbers("optim");
  size_t compared = 0;
};

const optim::Mask kMatrices = [](const std::string&, const Array& parameter) { return parameter.rank() > 1; };

TEST_F(Optimizers, AreThoseOfOptax) {
  compare("sgd", optim::sgd({.learning_rate = 0.1}));
  compare("momentum", optim::sgd({.learning_rate = 0.1, .momentum = 0.9}));
  compare("nesterov", optim::sgd({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}));
  compare("sgd_schedule", optim::sgd({.learning_rate = optim::linear_schedule(0.1, 0.02, 3)}));
  compare("adam", optim::adam({.learning_rate = 0.1}));
  compare("adam_options", optim::adam({.learning_rate = 0.1, .b1 = 0.8, .b2 = 0.95, .eps = 1e-3}));
  compare("adam_schedule", optim::adam({.learning_rate = optim::warmup_cosine_decay_schedule(0, 0.1, 2, 5, 0.01)}));
  compare("adamw", optim::adamw({.learning_rate = 0.1}));
  compare("adamw_mask", optim::adamw({.learning_rate = 0.1, .weight_decay = 0.1, .mask = kMatrices}));
  compare("adamw_bfloat16", optim::adamw({.learning_rate = 0.1}), DType::kBF16, 2e-2);
  compare("lamb", optim::lamb({.learning_rate = 0.1}));
  compare("lamb_decay", optim::lamb({.learning_rate = 0.1, .weight_decay = 0.1, .mask = kMatrices}));
  compare("adafactor", optim::adafactor({.learning_rate = 0.1}));
  compare("adafactor_factored", optim::adafactor({.learning_rate = 0.1, .min_dim_size_to_factor = 3}));
  compare("adafactor_options", optim::adafactor({.learning_rate = optim::exponential_decay_schedule(0.1, 2, 0.5),
                                                 .min_dim_size_to_factor = 2,
                                                 .decay_rate = 0.7,
                                                 .clipping_threshold = 0.5,
                                                 .multiply_by_parameter_scale = false,
                                                 .eps = 1e-6}));
  const auto sgd = optim::sgd({.learning_rate = 0.1});
  compare("clip_by_global_norm", optim::chain(optim::clip_by_global_norm(2), sgd));
  compare("clip_by_large_norm", optim::chain(optim::clip_by_global_norm(1e4), sgd));
  compare("clip", optim::chain(optim::clip(0.5), optim::adam({.learning_rate = 0.1})));
  compare("decayed_weights", optim::chain(optim::add_decayed_weights(0.1, kMatrices),
                                          optim::sgd({.learning_rate = 0.1, .momentum = 0.5})));
  std::set<std::string> names;
  for (const auto& [name, value] : expected) names.insert(name.substr(0, name.find('/')));
  EXPECT_EQ(compared + 3, names.size());  // beside parameters, gradients and schedules
}

TEST_F(Optimizers, SchedulesAreThoseOfOptax) {
  compare_schedule("linear", optim::linear_schedule(0.5, -0.25, 7));
  compare_schedule("linear_up", optim::linear_schedule(0, 1, 1));
  compare_schedule("cosine", optim::cosine_decay_schedule(0.5, 6));
  compare_schedule("cosine_alpha", optim::cosine_decay_schedule(0.5, 6, 0.1));
  compare_schedule("warmup_cosine", optim::warmup_cosine_decay_schedule(0.1, 0.9, 3, 9, 0.2));
  compare_schedule("exponential", optim::exponential_decay_schedule(0.5, 3, 0.7));
  compare_schedule("staircase", optim::exponential_decay_schedule(0.5, 3, 0.7, true));
}

TEST_F(Optimizers, ErrorsAreTyped) {
  EXPECT_THROW(optim::linear_schedule(0, 1, 0), InvalidArgumentError);
  EXPECT_THROW(optim::warmup_cosine_decay_schedule(0, 1, 5, 5), InvalidArgumentError);
  const auto optimizer = optim::adam({});
  const std::vector<Array> params = {ones({2}), ones({3})}, fewer = {ones({2})};
  EXPECT_THROW(optimizer.update(fewer, optimizer.init(params), params), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
