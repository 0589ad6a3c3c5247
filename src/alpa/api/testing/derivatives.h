#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "alpa/alpa.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/evaluate.h"
#include "alpa/tensor/safetensors.h"

/// What tests of operations have in common: derivatives against finite differences, and numbers against JAX's.
namespace alpa::testing {

using frontend::FlatFunction;

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

/// Gradients and pushforwards of functions along directions against central differences, then the same of the gradients
/// for `order` 2. All inputs are f64; those of another element type are constants.
class FiniteDifferences {
 public:
  void add(const std::string& what, const FlatFunction& function, const std::vector<Array>& inputs, int order = 2) {
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
      std::vector<Array> up = variables, down = variables, tangents(variables.size());
      up[k] = variables[k] + direction * kStep;
      down[k] = variables[k] - direction * kStep;
      for (size_t other = 0; other < variables.size(); ++other) tangents[other] = zeros_like(variables[other]);
      tangents[k] = direction;
      const frontend::Forward forward = frontend::jvp(variables, tangents, loss);
      const Array pushed = frontend::instantiate(forward.tangents[0], forward.outputs[0].shape());
      pending_.push_back({what + ", input " + std::to_string(place[k]),
                          {loss(up)[0], loss(down)[0], sum(found[k] * direction), pushed}});
    }
    if (pending_.size() > kTogether) check();
    if (order < 2) return;
    const auto chosen_gradient = [&](const std::vector<Array>& at) {
      std::vector<Array> chosen;
      for (const size_t k : place) chosen.push_back(at[k]);
      return gradient(chosen);
    };
    add(what + ", second derivative", chosen_gradient, inputs, order - 1);
  }

  /// One program for all, which costs less than one each.
  void check() {
    std::vector<Array> all;
    for (const Pending& one : pending_) all.insert(all.end(), one.numbers.begin(), one.numbers.end());
    frontend::evaluate(all);
    for (const Pending& one : pending_) {
      std::vector<double> values;
      for (const Array& number : one.numbers) values.push_back(number.item<double>());
      const double slope = (values[0] - values[1]) / (2 * kStep);
      const double tolerance = 1e-6 * (1 + std::abs(slope));
      EXPECT_NEAR(values[2], slope, tolerance) << one.what << ": gradient";
      EXPECT_NEAR(values[3], slope, tolerance) << one.what << ": pushforward";
    }
    pending_.clear();
  }

 private:
  static constexpr double kStep = 1e-6;
  static constexpr size_t kTogether = 20;
  struct Pending {
    std::string what;
    std::vector<Array> numbers;  ///< Loss above and below; slope by gradient and by pushforward.
  };
  std::vector<Pending> pending_;
};

/// The same of one function at once.
inline void expect_derivatives(const FlatFunction& function, const std::vector<Array>& inputs, int order = 2) {
  FiniteDifferences differences;
  differences.add("derivative", function, inputs, order);
  differences.check();
}

/// A file of tests/data/frontend.
inline std::map<std::string, tensor::Literal> read_numbers(const std::string& family) {
  const std::string path = std::string(ALPA_TEST_DATA) + "/frontend/" + family + ".safetensors";
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return tensor::read_safetensors(bytes.str(), path);
}

/// How far numbers may lie from those expected: by `relative` times the sum of these and `scale`.
struct Tolerance {
  double relative = 1e-5, scale = 1;
};

/// Numbers from a file of tests/data/frontend: "<case>/in0", "<case>/out0" and, where gradients are given, the
/// cotangents "<case>/ct0" of the outputs and the gradients "<case>/grad0" of the inputs.
class Expected {
 public:
  explicit Expected(const std::string& family) : arrays_(read_numbers(family)) {}

  /// Compares at once.
  void compare(const std::string& name, const FlatFunction& function, double tolerance = 1e-5) {
    collect(name, function, {tolerance, 1});
    check();
  }

  /// Compares at the next `check`: one program for many cases costs less than one each.
  void collect(const std::string& name, const FlatFunction& function, Tolerance tolerance = {}) {
    SCOPED_TRACE(name);
    const std::vector<Array> inputs = list(name, "in"), outputs = list(name, "out"), cotangents = list(name, "ct");
    ASSERT_FALSE(outputs.empty());
    used_.insert(name);
    const frontend::Linearized linear =
        cotangents.empty() ? frontend::Linearized{function(inputs), nullptr} : frontend::vjp(inputs, function);
    ASSERT_EQ(linear.outputs.size(), outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k)
      pending_.push_back({name + ", output " + std::to_string(k), linear.outputs[k], outputs[k], tolerance});
    if (pending_.size() > kTogether) check();
    if (cotangents.empty()) return;
    const std::vector<Array> gradients = linear.pullback(cotangents);
    for (size_t k = 0; k < inputs.size(); ++k) {
      const auto entry = arrays_.find(name + "/grad" + std::to_string(k));
      if (entry == arrays_.end()) continue;
      const Array gradient = frontend::instantiate(gradients[k], inputs[k].shape());
      pending_.push_back({name + ", gradient " + std::to_string(k), gradient, Array(entry->second), tolerance});
    }
  }

  void check() {
    std::vector<Array> found;
    for (const Pending& one : pending_) found.push_back(one.found);
    frontend::evaluate(found);
    for (const Pending& one : pending_) expect_near(one);
    pending_.clear();
  }

  std::set<std::string> cases() const {
    std::set<std::string> names;
    for (const auto& [name, array] : arrays_) names.insert(name.substr(0, name.rfind('/')));
    return names;
  }

  /// No case of the file was forgotten.
  void expect_all_used() const {
    for (const std::string& name : cases()) EXPECT_EQ(used_.count(name), 1U) << name;
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

  static constexpr size_t kTogether = 60;  ///< Longer programs take more than their share of time.
  struct Pending {
    std::string what;
    Array found, expected;
    Tolerance tolerance;
  };

  static bool is_near(double a, double b, const Tolerance& tolerance) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    if (!std::isfinite(a) || !std::isfinite(b)) return false;
    return std::abs(a - b) <= tolerance.relative * (tolerance.scale + std::abs(b));
  }

  static void expect_near(const Pending& one) {
    ASSERT_EQ(tensor::to_string(one.found.shape()), tensor::to_string(one.expected.shape())) << one.what;
    const tensor::Literal a = one.found.to_host(), b = one.expected.to_host();
    for (int64_t k = 0; k < one.expected.size(); ++k) {
      EXPECT_TRUE(is_near(a.at(k), b.at(k), one.tolerance) &&
                  is_near(a.imaginary_at(k), b.imaginary_at(k), one.tolerance))
          << one.what << ", element " << k << ": " << a.at(k) << " " << a.imaginary_at(k) << "i instead of " << b.at(k)
          << " " << b.imaginary_at(k) << "i";
    }
  }

  std::map<std::string, tensor::Literal> arrays_;
  std::set<std::string> used_;
  std::vector<Pending> pending_;
};

/// One device, on which eager programs run.
class OneDevice : public ::testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 1}); }
  void TearDown() override { shutdown(); }
};

}  // namespace alpa::testing
