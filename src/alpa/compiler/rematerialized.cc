#include "alpa/compiler/rematerialized.h"

#include "alpa/compiler/accumulate.h"
#include "alpa/passes/rematerialize.h"

namespace alpa::compiler {

Program rematerialized(const Program& program, const std::vector<std::string>& names,
                       const passes::PassObserver& observer) {
  Program result = program;
  if (names.empty()) return result;
  const auto pass = [&](const hlo::Module& module) { return passes::rematerialize(module, names); };
  result.module = passes::run_pass("rematerialize", program.module, pass, observer);
  build_graph(result);
  return result;
}

PlannedProgram planned_program(const Program& program, const plan::Plan& plan, const passes::PassObserver& observer) {
  PlannedProgram result{rematerialized(program, plan.rematerialized, observer), plan};
  result.plan.rematerialized.clear();
  return result;
}

}  // namespace alpa::compiler
