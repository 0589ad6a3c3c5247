#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "alpa/alpa.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/tensor/safetensors.h"

/// What tests of operations have in common: derivatives against finite differences, and numbers against JAX's.
namespace alpa::testing {

using FlatFunction = std::function<std::vector<Array>(const std::vector<Array>&)>;

/// One array from one or more.
template <typename F>
FlatFunction single(F function) {
  return [function](const std::vector<Array>& x) { return std::vector<Array>{function(x)}; };
}

/// f64 numbers in (-1, 1) without order and with no two alike.
inline Array numbers(const Dims& dims, double seed = 1) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  std::vector<double> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(std::sin(7.3 * seed + 2.17 * static_cast<double>(k * k + k)));
  return Array::from(values, dims);
}

/// The sum of the real outputs, each with weights of its own.
inline Array weighted(const std::vector<Array>& outputs) {
  Array total = full({}, 0, DType::kF64);
  double seed = 5;
  for (const Array& output : outputs) {
    if (frontend::is_differentiable(output.dtype())) total = total + sum(output * numbers(output.dims(), seed++));
  }
  return total;
}

/// Gradient and pushforward of `function` along directions against central differences, then the same of the gradient
/// for `order` 2. All inputs are f64; those of another element type are constants.
inline void expect_derivatives(const FlatFunction& function, const std::vector<Array>& inputs, int order = 2,
                               const std::string& what = "first derivative") {
  SCOPED_TRACE(what);
  std::vector<Array> variables;
  std::vector<size_t> place;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].dtype() != DType::kF64) continue;
    variables.push_back(inputs[k]);
    place.push_back(k);
  }
  const auto loss = [&](const std::vector<Array>& at) {
    std::vector<Array> all = inputs;
    for (size_t k = 0; k < at.size(); ++k) all[place[k]] = at[k];
    return std::vector<Array>{weighted(function(all))};
  };
  const auto gradient = [&](const std::vector<Array>& at) {
    const frontend::Linearized linear = frontend::vjp(at, loss);
    std::vector<Array> gradients = linear.pullback({full({}, 1, DType::kF64)});
    for (size_t k = 0; k < gradients.size(); ++k) gradients[k] = frontend::instantiate(gradients[k], at[k].shape());
    return gradients;
  };
  const std::vector<Array> found = gradient(variables);
  for (size_t k = 0; k < variables.size(); ++k) {
    const Array direction = numbers(variables[k].dims(), 11 + static_cast<double>(k));
    const double step = 1e-6;
    std::vector<Array> up = variables, down = variables, tangents(variables.size());
    up[k] = variables[k] + direction * step;
    down[k] = variables[k] - direction * step;
    for (size_t other = 0; other < variables.size(); ++other) tangents[other] = zeros_like(variables[other]);
    tangents[k] = direction;
    const frontend::Forward forward = frontend::jvp(variables, tangents, loss);
    // One program for all, which costs less than one each.
    const Array pushed = frontend::instantiate(forward.tangents[0], forward.outputs[0].shape());
    const std::vector<double> numbers_found =
        stack({loss(up)[0], loss(down)[0], sum(found[k] * direction), pushed}).to_vector<double>();
    const double slope = (numbers_found[0] - numbers_found[1]) / (2 * step);
    const double tolerance = 1e-6 * (1 + std::abs(slope));
    EXPECT_NEAR(numbers_found[2], slope, tolerance) << "gradient of input " << place[k];
    EXPECT_NEAR(numbers_found[3], slope, tolerance) << "pushforward of input " << place[k];
  }
  if (order < 2) return;
  expect_derivatives(
      [&](const std::vector<Array>& at) {
        std::vector<Array> chosen;
        for (const size_t k : place) chosen.push_back(at[k]);
        return gradient(chosen);
      },
      inputs, order - 1, "second derivative");
}

/// Numbers from a file of tests/data/frontend: "<case>/in0", "<case>/out0" and, where gradients are given, the
/// cotangents "<case>/ct0" of the outputs and the gradients "<case>/grad0" of the inputs.
class Expected {
 public:
  explicit Expected(const std::string& family) {
    const std::string path = std::string(ALPA_TEST_DATA) + "/frontend/" + family + ".safetensors";
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    arrays_ = tensor::read_safetensors(bytes.str(), path);
  }

  void compare(const std::string& name, const FlatFunction& function, double tolerance = 1e-5) const {
    SCOPED_TRACE(name);
    const std::vector<Array> inputs = list(name, "in"), outputs = list(name, "out"), cotangents = list(name, "ct");
    ASSERT_FALSE(outputs.empty());
    const std::vector<Array> found = function(inputs);
    ASSERT_EQ(found.size(), outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) expect_near(found[k], outputs[k], tolerance, "output");
    if (cotangents.empty()) return;
    const std::vector<Array> gradients = frontend::vjp(inputs, function).pullback(cotangents);
    for (size_t k = 0; k < inputs.size(); ++k) {
      const auto entry = arrays_.find(name + "/grad" + std::to_string(k));
      if (entry == arrays_.end()) continue;
      const Array gradient = frontend::instantiate(gradients[k], inputs[k].shape());
      expect_near(gradient, Array(entry->second), tolerance, "gradient " + std::to_string(k));
    }
  }

 private:
  std::vector<Array> list(const std::string& name, const std::string& kind) const {
    std::vector<Array> result;
    while (true) {
      const auto entry = arrays_.find(name + "/" + kind + std::to_string(result.size()));
      if (entry == arrays_.end()) return result;
      result.emplace_back(entry->second);
    }
  }

  static void expect_near(const Array& found, const Array& expected, double tolerance, const std::string& what) {
    ASSERT_EQ(tensor::to_string(found.shape()), tensor::to_string(expected.shape())) << what;
    const std::vector<double> a = found.to_vector<double>(), b = expected.to_vector<double>();
    for (size_t k = 0; k < a.size(); ++k) {
      if (std::isnan(b[k]) && std::isnan(a[k])) continue;
      if (a[k] == b[k]) continue;
      ASSERT_NEAR(a[k], b[k], tolerance * (1 + std::abs(b[k]))) << what << ", element " << k;
    }
  }

  std::map<std::string, tensor::Literal> arrays_;
};

/// One device, on which eager programs run.
class OneDevice : public ::testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 1}); }
  void TearDown() override { shutdown(); }
};

}  // namespace alpa::testing
