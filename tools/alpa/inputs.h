#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alpa/compiler/program.h"
#include "alpa/tensor/literal.h"

namespace alpa::tool {

/// What can be said of the inputs before a plan is made, without reading their data: whether devices can hold them and
/// whether the file (empty: none) has them. Errors: as read_inputs; UnsupportedError for element types below a byte.
void check_inputs(const compiler::Program& program, const std::string& path);

/// The inputs of the first step, in the program's order, from a safetensors file by name. What the file lacks is zeros
/// if meta.json says so. Errors: InvalidArgumentError that names the file and the inputs that are missing, unknown, or
/// of another shape or element type.
std::vector<tensor::Literal> read_inputs(const compiler::Program& program, const std::string& path);

/// Made-up inputs, equal for equal seeds: parameters normal with deviation 0.02, optimizer state zeros, other floats
/// uniform in (0, 0.1) for state and in (0, 1) for batches, integers and booleans 0 or 1.
std::vector<tensor::Literal> synthetic_inputs(const compiler::Program& program, uint64_t seed);

}  // namespace alpa::tool
