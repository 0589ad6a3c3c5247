#include <algorithm>

#include "alpa/hlo/attributes.h"
#include "alpa/planner/intra/rule_families.h"

namespace alpa::planner {
namespace {

bool contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Dims of 0..rank-1 that no list names, ascending.
std::vector<int64_t> others(int64_t rank, const std::vector<int64_t>& a, const std::vector<int64_t>& b = {}) {
  std::vector<int64_t> result;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!contains(a, dim) && !contains(b, dim)) result.push_back(dim);
  }
  return result;
}

// Stock XLA's all-reduce on the CPU loses NaNs in a maximum or minimum of floats.
bool loses_nans(const RuleRequest& request, hlo::ComputationId combiner) {
  const hlo::Computation& computation = request.module.computation(combiner);
  const hlo::Opcode opcode = computation[computation.root].opcode;
  return tensor::is_floating(request.results[0].dtype) &&
         (opcode == hlo::Opcode::kMaximum || opcode == hlo::Opcode::kMinimum);
}

}  // namespace

// A dim that is cut stays whole: stock XLA loses clamped starts there (case A02).
ShardingRule dynamic_slice_rule(const RuleRequest& request) { return slice_rule(request); }

ShardingRule dynamic_update_slice_rule(const RuleRequest& request) {
  FactorList factors(request);
  for (int64_t dim = 0; dim < request.results[0].rank(); ++dim) {
    const auto at = static_cast<size_t>(dim);
    if (request.operands[0].dims[at] == request.operands[1].dims[at])
      factors.parallel({{0, dim}, {1, dim}}, {{0, dim}});
  }
  return factors.take();
}

ShardingRule gather_rule(const RuleRequest& request) {
  const hlo::GatherDims dims = hlo::gather_dims(request.instruction);
  const tensor::Shape& table = request.operands[0];
  const tensor::Shape& indices = request.operands[1];
  FactorList factors(request);
  // Batch dims of the result are the dims of the indices without index_vector_dim, in order.
  const std::vector<int64_t> batch = others(request.results[0].rank(), dims.offset);
  const std::vector<int64_t> index_dims = others(indices.rank(), {dims.index_vector_dim});
  for (size_t k = 0; k < index_dims.size(); ++k) {
    const auto batching = std::find(dims.indices_batching.begin(), dims.indices_batching.end(), index_dims[k]);
    if (batching == dims.indices_batching.end()) {
      factors.parallel({{1, index_dims[k]}}, {{0, batch.at(k)}});
    } else {
      const int64_t table_dim = dims.operand_batching.at(static_cast<size_t>(batching - dims.indices_batching.begin()));
      factors.parallel({{0, table_dim}, {1, index_dims[k]}}, {{0, batch.at(k)}});
    }
  }
  const int index_end = factors.count();
  const std::vector<int64_t> window_dims = others(table.rank(), dims.collapsed, dims.operand_batching);
  for (size_t k = 0; k < window_dims.size(); ++k) {
    const auto at = static_cast<size_t>(window_dims[k]);
    if (dims.slice_sizes.at(at) == table.dims[at]) factors.parallel({{0, window_dims[k]}}, {{0, dims.offset.at(k)}});
  }
  // Rows that lie on other devices count as zeros; the sum over devices has each row once.
  if (dims.start_index_map.size() == 1 && contains(dims.collapsed, dims.start_index_map[0])) {
    const int before = factors.count();
    factors.reduction({{0, dims.start_index_map[0]}});
    if (factors.count() > before && dims.indices_batching.empty()) factors.keep_apart(0, index_end);
  }
  return factors.take();
}

ShardingRule scatter_rule(const RuleRequest& request) {
  if (request.results.size() != 1) return {};
  const hlo::ScatterDims dims = hlo::scatter_dims(request.instruction);
  const tensor::Shape& table = request.operands[0];
  const tensor::Shape& indices = request.operands[1];
  const tensor::Shape& updates = request.operands[2];
  FactorList factors(request);
  const std::vector<int64_t> batch = others(updates.rank(), dims.update_window);
  const std::vector<int64_t> index_dims = others(indices.rank(), {dims.index_vector_dim});
  const hlo::ComputationId combiner = request.instruction.called.at(0);
  const bool combines = is_combiner(request, combiner) && !loses_nans(request, combiner);
  for (size_t k = 0; k < index_dims.size(); ++k) {
    const auto batching = std::find(dims.indices_batching.begin(), dims.indices_batching.end(), index_dims[k]);
    if (batching != dims.indices_batching.end()) {
      const int64_t table_dim = dims.input_batching.at(static_cast<size_t>(batching - dims.indices_batching.begin()));
      factors.parallel({{0, table_dim}, {1, index_dims[k]}, {2, batch.at(k)}}, {{0, table_dim}});
    } else if (combines) {
      factors.reduction({{1, index_dims[k]}, {2, batch.at(k)}});
    }
  }
  const int index_end = factors.count();
  const std::vector<int64_t> window_dims = others(table.rank(), dims.inserted_window, dims.input_batching);
  for (size_t k = 0; k < window_dims.size(); ++k) {
    const int64_t update_dim = dims.update_window.at(k);
    if (table.dims[static_cast<size_t>(window_dims[k])] == updates.dims[static_cast<size_t>(update_dim)]) {
      factors.parallel({{0, window_dims[k]}, {2, update_dim}}, {{0, window_dims[k]}});
    }
  }
  // Each device takes the updates of its own rows: updates whole, nothing exchanged.
  if (dims.scatter_to_operand.size() == 1 && contains(dims.inserted_window, dims.scatter_to_operand[0])) {
    const int before = factors.count();
    factors.parallel({{0, dims.scatter_to_operand[0]}}, {{0, dims.scatter_to_operand[0]}});
    if (factors.count() > before && dims.indices_batching.empty()) factors.keep_apart(0, index_end);
  }
  return factors.take();
}

}  // namespace alpa::planner
