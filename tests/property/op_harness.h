#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "alpa/compiler/compile.h"
#include "alpa/pjrt/testing/eight_devices.h"
#include "alpa/planner/intra/strategy.h"

/// Runs one operation in one placement and tells what came of it.
namespace alpa::property {

/// True if ALPA_FULL_MATRIX is set: everything is tried instead of a covering subset.
bool full_matrix();

/// Floats in [-1, 1], integers in [-1, bound].
tensor::Literal random_literal(const tensor::Shape& shape, int64_t bound, std::mt19937& random);

/// Largest difference, relative to the largest value; infinite where one is NaN and the other not.
double difference(const tensor::Literal& a, const tensor::Literal& b);

/// What `difference` may be between placements.
double tolerance(const tensor::Shape& shape);

struct Outcome {
  std::vector<tensor::Literal> outputs;
  std::map<std::string, hlo::CollectiveTotal> found;
  int64_t contraction_flops = 0;
};

Outcome run(const compiler::Program& program, const plan::Plan& plan, const std::vector<tensor::Literal>& inputs,
            int plugin, compiler::Collectives collectives = compiler::Collectives::kPartitioner);

/// Everything replicated but what the strategy says of one operation and of the parameters that it takes.
plan::Plan plan_of(const compiler::Program& program, hlo::NodeId node, const planner::Strategy& strategy,
                   const mesh::LogicalMesh& mesh);

/// The strategy that divides nothing.
planner::Strategy whole_strategy(const compiler::Program& program, hlo::NodeId node);

/// Random inputs of a program, the same at each call.
std::vector<tensor::Literal> random_inputs(const compiler::Program& program, int64_t integer_bound);

std::string describe(const planner::Strategy& strategy, const mesh::LogicalMesh& mesh);
std::string describe(const std::map<std::string, hlo::CollectiveTotal>& totals);

bool same_bytes(const std::map<std::string, hlo::CollectiveTotal>& a,
                const std::map<std::string, hlo::CollectiveTotal>& b);

}  // namespace alpa::property
