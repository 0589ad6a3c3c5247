#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "alpa/base/error.h"

namespace alpa::tool {

/// The command line is wrong: exit status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A subcommand: its options, and what runs it after they were parsed. `run` returns the exit status.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Command add_run(CLI::App& root);
Command add_plan(CLI::App& root);
Command add_show(CLI::App& root);
Command add_devices(CLI::App& root);
Command add_solve(CLI::App& root);

/// Turns an InvalidArgumentError of `parse` into a UsageError: for the text of options.
template <typename Parse>
auto parse_option(Parse parse) {
  try {
    return parse();
  } catch (const InvalidArgumentError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace alpa::tool
