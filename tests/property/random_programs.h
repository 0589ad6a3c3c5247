#pragma once

#include <cstdint>

#include "alpa/compiler/program.h"
#include "alpa/mesh/logical_mesh.h"
#include "alpa/plan/plan.h"
#include "alpa/tensor/literal.h"

/// Small random programs of what reads and writes parts of arrays (slices, updates, gathers, scatters, pads, ...), with
/// indices at the edges, past them and negative; and random placements of all that they compute.
namespace alpa::property {

/// The same seed gives the same program. `held`: a barrier after each operation, so that the compiler merges none; what
/// such a program gives on one device is the reference.
hlo::Module random_program(uint32_t seed, bool held);

/// Any strategy of each operation, any placement of each input and output: every way that a rule emits may meet every
/// other.
plan::Plan random_plan(const compiler::Program& program, const mesh::LogicalMesh& mesh, uint32_t seed);

/// Floats in [-1, 1]; integers from -40 to 99, most of them edges of the programs' dims.
std::vector<tensor::Literal> edge_inputs(const compiler::Program& program, uint32_t seed);

}  // namespace alpa::property
