#include <algorithm>
#include <cmath>
#include <limits>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/reducer.h"
#include "alpa/planner/intra/rule_families.h"

namespace alpa::planner {
namespace {

using hlo::Opcode;

// The one operation of a reducer over its two parameters, if that is all it is and devices' parts can be combined by
// it: stock XLA has all-reduces for sums, products, extrema and, of predicates alone, "and" and "or".
std::optional<Opcode> plain_operation(const hlo::Computation& reducer) {
  const std::optional<Opcode> opcode = hlo::reducer_opcode(reducer);
  const bool logical = opcode == Opcode::kAnd || opcode == Opcode::kOr;
  return logical && reducer[reducer.root].shape.dtype != tensor::DType::kPred ? std::nullopt : opcode;
}

double smallest(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kS8: return std::numeric_limits<int8_t>::min();
    case tensor::DType::kS16: return std::numeric_limits<int16_t>::min();
    case tensor::DType::kS32: return std::numeric_limits<int32_t>::min();
    case tensor::DType::kS64: return static_cast<double>(std::numeric_limits<int64_t>::min());
    default: return tensor::is_floating(dtype) ? -std::numeric_limits<double>::infinity() : 0;
  }
}

double largest(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kPred: return 1;
    case tensor::DType::kS8: return std::numeric_limits<int8_t>::max();
    case tensor::DType::kU8: return std::numeric_limits<uint8_t>::max();
    case tensor::DType::kS16: return std::numeric_limits<int16_t>::max();
    case tensor::DType::kU16: return std::numeric_limits<uint16_t>::max();
    case tensor::DType::kS32: return std::numeric_limits<int32_t>::max();
    case tensor::DType::kU32: return std::numeric_limits<uint32_t>::max();
    case tensor::DType::kS64: return static_cast<double>(std::numeric_limits<int64_t>::max());
    case tensor::DType::kU64: return static_cast<double>(std::numeric_limits<uint64_t>::max());
    default: return std::numeric_limits<double>::infinity();
  }
}

bool is_identity(Opcode operation, const tensor::Literal& constant) {
  const tensor::DType dtype = constant.shape().dtype;
  if (constant.imaginary_at(0) != 0) return false;
  const double value = constant.at(0);
  switch (operation) {
    case Opcode::kAdd: return value == 0;
    case Opcode::kMultiply: return value == 1;
    case Opcode::kMaximum: return value == smallest(dtype);
    case Opcode::kMinimum: return value == largest(dtype);
    case Opcode::kOr: return value == 0;
    case Opcode::kAnd: return value == 1;
    default: return false;
  }
}

}  // namespace

bool is_combiner(const RuleRequest& request, hlo::ComputationId reducer) {
  return plain_operation(request.module.computation(reducer)).has_value();
}

bool is_plain_reducer(const RuleRequest& request, hlo::InstructionId init) {
  const auto operation = plain_operation(request.module.computation(request.instruction.called.at(0)));
  if (!operation) return false;
  const hlo::Instruction& constant = request.computation[init];
  const auto value = constant.opcode == Opcode::kConstant ? hlo::constant_value(constant) : std::nullopt;
  return value && is_identity(*operation, *value);
}

ShardingRule reduce_rule(const RuleRequest& request) {
  const std::vector<int64_t> reduced = hlo::dimensions(request.instruction);
  const size_t arrays = request.operands.size() / 2;
  const bool may_divide_reduced = arrays == 1 && is_plain_reducer(request, request.instruction.operands.at(1));
  FactorList factors(request);
  int64_t result_dim = 0;
  for (int64_t dim = 0; dim < request.operands[0].rank(); ++dim) {
    const bool kept = std::find(reduced.begin(), reduced.end(), dim) == reduced.end();
    if (!kept && !may_divide_reduced) continue;
    std::vector<FactorList::Dim> operands;
    std::vector<FactorList::Dim> results;
    for (size_t k = 0; k < arrays; ++k) {
      operands.push_back({static_cast<int>(k), dim});
      if (kept) results.push_back({static_cast<int>(k), result_dim});
    }
    factors.add(kept ? Factor::Kind::kParallel : Factor::Kind::kReduction, operands, results);
    result_dim += kept;
  }
  return factors.take();
}

ShardingRule reduce_window_rule(const RuleRequest& request) {
  const std::vector<hlo::WindowDim> windows = hlo::window(request.instruction);
  const size_t arrays = request.operands.size() / 2;
  FactorList factors(request);
  for (size_t dim = 0; dim < windows.size(); ++dim) {
    if (!windows[dim].is_trivial()) continue;
    std::vector<FactorList::Dim> dims;
    for (size_t k = 0; k < arrays; ++k) dims.push_back({static_cast<int>(k), static_cast<int64_t>(dim)});
    factors.parallel(dims, dims);
  }
  return factors.take();
}

ShardingRule select_and_scatter_rule(const RuleRequest& request) {
  const std::vector<hlo::WindowDim> windows = hlo::window(request.instruction);
  FactorList factors(request);
  for (size_t dim = 0; dim < windows.size(); ++dim) {
    if (!windows[dim].is_trivial()) continue;
    const auto at = static_cast<int64_t>(dim);
    factors.parallel({{0, at}, {1, at}}, {{0, at}});
  }
  return factors.take();
}

ShardingRule sort_rule(const RuleRequest& request) {
  const int64_t sorted = hlo::dimensions(request.instruction).at(0);
  FactorList factors(request);
  for (int64_t dim = 0; dim < request.operands[0].rank(); ++dim) {
    if (dim == sorted) continue;
    std::vector<FactorList::Dim> dims;
    for (size_t k = 0; k < request.operands.size(); ++k) dims.push_back({static_cast<int>(k), dim});
    factors.parallel(dims, dims);
  }
  return factors.take();
}

// Leading batch dims; the last two are a matrix.
ShardingRule matrix_rule(const RuleRequest& request) {
  FactorList factors(request);
  for (int64_t dim = 0; dim + 2 < request.results[0].rank(); ++dim) {
    std::vector<FactorList::Dim> operands;
    for (size_t k = 0; k < request.operands.size(); ++k) operands.push_back({static_cast<int>(k), dim});
    factors.parallel(operands, {{0, dim}});
  }
  return factors.take();
}

}  // namespace alpa::planner
