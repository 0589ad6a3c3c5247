#pragma once

#include <string>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::property {

/// One operation over parameters, as a program.
struct OpCase {
  std::string name;
  hlo::Module module;
  int64_t integer_bound = 8;  ///< Integer inputs are drawn from [-1, bound]: indices reach past both ends.
};

/// Every opcode that a sharding rule divides, in the forms that training steps have, and in some that they do not.
std::vector<OpCase> op_cases();

}  // namespace alpa::property
