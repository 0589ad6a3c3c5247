#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// A pass that was run.
struct PassRecord {
  std::string name;
  double seconds = 0;               ///< Of the pass alone.
  int64_t instructions_before = 0;  ///< Of all computations.
  int64_t instructions_after = 0;
};

/// Sees the program after each pass, in order; before the first pass it sees the program as read, as the pass "read".
using PassObserver = std::function<void(const PassRecord& record, const hlo::Module& after)>;

using Pass = std::function<hlo::Module(const hlo::Module&)>;

/// The one way to run a pass: times it, verifies what it gives, and shows that to the observer, if there is one.
/// Errors: those of the pass; InternalError, naming the pass, if it gives a program that is none.
hlo::Module run_pass(std::string_view name, const hlo::Module& module, const Pass& pass, const PassObserver& observer);

}  // namespace alpa::passes
