#pragma once

#include <string>
#include <vector>

#include "alpa/compiler/compile.h"
#include "alpa/plan/plan.h"

namespace alpa::tool {

/// What a run measured.
struct RunResult {
  std::vector<double> losses;        ///< One a step; none if the program has no loss.
  std::vector<double> step_seconds;  ///< One a step.
};

/// What `alpa run --out` writes; losses that are no finite numbers are null.
std::string result_json(const RunResult& result, const compiler::Compiled& compiled, const plan::Plan& plan);

/// Losses and step times of a file that `result_json` wrote. Errors: InvalidArgumentError that names `source`.
RunResult result_from_json(const std::string& text, const std::string& source);

/// Half of the numbers lie below; 0 of none.
double median(std::vector<double> numbers);

}  // namespace alpa::tool
