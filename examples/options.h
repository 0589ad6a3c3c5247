#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "alpa/base/error.h"

/// What every example can be told.
namespace examples {

struct Options {
  int devices = 8;
  int64_t steps = 0;
  int64_t seed = 0;
  std::string method = "shard";
};

/// Adds them to an example's own. `steps` is the default.
inline void add_options(CLI::App& app, Options& options, int64_t steps) {
  options.steps = steps;
  app.add_option("--devices", options.devices, "devices to train on")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps, "training steps")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of the parameters and the batches")->capture_default_str();
  app.add_option("--method", options.method, "how the step is spread")
      ->capture_default_str()
      ->check(CLI::IsMember({"shard", "data", "zero2", "zero3"}));
}

/// Runs an example, with its errors told in one line.
template <typename Body>
int run(Body&& body) {
  try {
    body();
    return 0;
  } catch (const alpa::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

}  // namespace examples
