#pragma once

#include <vector>

#include "alpa/passes/reach.h"

namespace alpa::passes {

/// A parameter of a part of a program: it is called and shaped as `like`, and stands for `value`.
struct PartParameter {
  hlo::InstructionId value = 0;
  hlo::InstructionId like = 0;
};

/// The part of a program's entry that makes `outputs`, which its root then is a tuple of, from these parameters, which
/// are numbered in order. `needed`: by instruction, what the part has; operands of what it has must be there too, or be
/// values of parameters. Instructions keep their names; what is called by none is left out.
hlo::Module extract_part(const hlo::Module& module, const Reach& reach, const std::vector<PartParameter>& parameters,
                         const std::vector<bool>& needed, const std::vector<hlo::InstructionId>& outputs);

}  // namespace alpa::passes
