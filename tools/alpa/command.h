#pragma once

#include <fmt/format.h>

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
Command add_read_stablehlo(CLI::App& root);

/// Checks that an option is a number of a range; unlike CLI::Range it refuses "nan", and names the range in few digits.
inline CLI::Validator number_within(double lowest, double highest) {
  return CLI::Validator(
      [lowest, highest](std::string& text) {
        double value = 0;
        const bool within = CLI::detail::lexical_cast(text, value) && value >= lowest && value <= highest;
        return within ? "" : fmt::format("{} is no number from {:g} to {:g}", text, lowest, highest);
      },
      fmt::format("from {:g} to {:g}", lowest, highest));
}

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
