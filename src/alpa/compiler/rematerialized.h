#pragma once

#include <string>
#include <vector>

#include "alpa/compiler/program.h"
#include "alpa/plan/plan.h"

namespace alpa::compiler {

/// The step whose backward pass makes these values of its forward pass anew (passes::rematerialize). Inputs, outputs
/// and hash stay. Errors: InvalidArgumentError that names an instruction which cannot be made anew.
Program rematerialized(const Program& program, const std::vector<std::string>& names,
                       const passes::PassObserver& observer = {});

/// A program and a plan of it that makes nothing more anew.
struct PlannedProgram {
  Program program;
  plan::Plan plan;
};

/// The program that a plan's names are of: with the values made anew that the plan says. Errors: as rematerialized.
PlannedProgram planned_program(const Program& program, const plan::Plan& plan,
                               const passes::PassObserver& observer = {});

}  // namespace alpa::compiler
