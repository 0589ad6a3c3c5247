#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "alpa/alpa.h"
#include "alpa/base/file.h"
#include "alpa/tensor/safetensors.h"

/// The training steps under tests/data/models, which JAX made: inputs of the first step and expected numbers.
namespace library_test {

using alpa::Array;

struct Fixture {
  std::map<std::string, alpa::tensor::Literal> inputs, expected;

  explicit Fixture(const std::string& model) {
    const std::string folder = std::string(ALPA_TEST_DATA) + "/models/" + model;
    inputs = alpa::tensor::read_safetensors(alpa::read_file(folder + "/inputs.safetensors"), folder);
    expected = alpa::tensor::read_safetensors(alpa::read_file(folder + "/expected.safetensors"), folder);
  }

  /// An input; zeros of `shape` if the file leaves it out.
  Array input(const std::string& name, const alpa::Shape& shape) const {
    const auto entry = inputs.find(name);
    return entry == inputs.end() ? alpa::zeros(shape.dims, shape.dtype) : Array(entry->second);
  }

  /// A tree like `like` with the fixture's parameters; `name` turns our key path into theirs.
  template <typename Tree>
  Tree params(const Tree& like, const std::function<std::string(const std::string&)>& name,
              const std::string& group = "params.") const {
    return alpa::tree_map_with_path(like, [&](const alpa::KeyPath& path, const Array& array) {
      return input(group + name(path.to_string()), array.shape());
    });
  }
};

/// How far parameters may lie from the fixture's, as a share of the largest change that the steps made in their tensor:
/// a missing or doubled update is off by a third.
constexpr double kParameterTolerance = 0.05;

/// Trains three steps on the same batch on all devices and compares losses (1e-4, relative) and parameters with the
/// fixture's.
template <typename State, typename Batch, typename Step>
void expect_training(const Fixture& fixture, State state, const Batch& batch, Step train_step,
                     const std::function<std::string(const std::string&)>& name) {
  const auto step = alpa::parallelize(train_step);
  for (int64_t k = 0; k < 3; ++k) {
    Array loss;
    std::tie(state, loss) = step(state, batch);
    const double expected = fixture.expected.at("loss").at(k);
    EXPECT_NEAR(loss.template item<float>(), expected, 1e-4 * std::fabs(expected)) << "step " << k;
  }
  alpa::tree_map_with_path(state.params, [&](const alpa::KeyPath& path, const Array& array) {
    const auto entry = fixture.expected.find("params." + name(path.to_string()));
    if (entry == fixture.expected.end()) {
      ADD_FAILURE() << "no parameter " << name(path.to_string());
      return array;
    }
    const alpa::tensor::Literal found = array.to_host();
    const alpa::tensor::Literal first = fixture.input("params." + name(path.to_string()), array.shape()).to_host();
    double largest = 0, worst = 0;
    for (int64_t k = 0; k < array.size(); ++k) {
      largest = std::max(largest, std::fabs(entry->second.at(k) - first.at(k)));
      const double distance = std::fabs(entry->second.at(k) - found.at(k));
      worst = std::isnan(distance) ? std::numeric_limits<double>::infinity() : std::max(worst, distance);
    }
    EXPECT_LE(worst, kParameterTolerance * largest + 1e-12) << path.to_string();
    return array;
  });
}

/// "fc[0].kernel" -> "fc0.kernel".
inline std::string without_brackets(std::string path) {
  std::erase_if(path, [](char c) { return c == '[' || c == ']'; });
  return path;
}

}  // namespace library_test
