#include "alpa/passes/run_pass.h"

#include <chrono>

#include "alpa/base/error.h"
#include "alpa/hlo/verify.h"

namespace alpa::passes {

hlo::Module run_pass(std::string_view name, const hlo::Module& module, const Pass& pass, const PassObserver& observer) {
  const auto start = std::chrono::steady_clock::now();
  hlo::Module result = pass(module);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  try {
    hlo::verify(result);
  } catch (const InvalidArgumentError& error) {  // what came in was verified: the fault is the pass's
    raise<InternalError>("passes", "pass {} broke the program: {}; this is a fault of ours, please report it", name,
                         error.what());
  }
  if (observer)
    observer({std::string(name), seconds, hlo::instruction_count(module), hlo::instruction_count(result)}, result);
  return result;
}

}  // namespace alpa::passes
