#include <algorithm>
#include <numeric>

#include "alpa/hlo/attributes.h"
#include "alpa/planner/intra/rule_families.h"

namespace alpa::planner {

ShardingRule broadcast_rule(const RuleRequest& request) {
  const std::vector<int64_t> mapped = hlo::dimensions(request.instruction);
  FactorList factors(request);
  for (int64_t dim = 0; dim < request.results[0].rank(); ++dim) {
    const auto from = std::find(mapped.begin(), mapped.end(), dim);
    if (from == mapped.end()) {
      factors.parallel({}, {{0, dim}});
    } else {
      factors.parallel({{0, from - mapped.begin()}}, {{0, dim}});
    }
  }
  return factors.take();
}

ShardingRule transpose_rule(const RuleRequest& request) {
  const std::vector<int64_t> permutation = hlo::dimensions(request.instruction);
  FactorList factors(request);
  for (size_t dim = 0; dim < permutation.size(); ++dim) {
    factors.parallel({{0, permutation[dim]}}, {{0, static_cast<int64_t>(dim)}});
  }
  return factors.take();
}

// Both shapes are cut into the smallest runs of dims with equal products; in each, the major-most dims (sizes of 1 left
// out) are cut alike by whatever divides both: the parts are the same contiguous stretch on either side.
ShardingRule reshape_rule(const RuleRequest& request) {
  const auto& from = request.operands[0].dims;
  const auto& to = request.results[0].dims;
  FactorList factors(request);
  if (tensor::num_elements(request.results[0]) == 0) return {};
  size_t a = 0;
  size_t b = 0;
  while (a < from.size() && b < to.size()) {
    if (from[a] == 1) {
      ++a;
      continue;
    }
    if (to[b] == 1) {
      ++b;
      continue;
    }
    factors.parallel({{0, static_cast<int64_t>(a)}}, {{0, static_cast<int64_t>(b)}});
    int64_t left = from[a++];
    int64_t right = to[b++];
    while (left != right) {
      if (left < right) {
        left *= from[a++];
      } else {
        right *= to[b++];
      }
    }
  }
  return factors.take();
}

ShardingRule slice_rule(const RuleRequest& request) {
  const auto& from = request.operands[0].dims;
  const auto& to = request.results[0].dims;
  FactorList factors(request);
  for (size_t dim = 0; dim < from.size(); ++dim) {
    if (from[dim] == to[dim]) factors.parallel({{0, static_cast<int64_t>(dim)}}, {{0, static_cast<int64_t>(dim)}});
  }
  return factors.take();
}

ShardingRule pad_rule(const RuleRequest& request) {
  const std::vector<hlo::PadDim> pads = hlo::pad_dims(request.instruction);
  FactorList factors(request);
  for (size_t dim = 0; dim < pads.size(); ++dim) {
    if (pads[dim].low != 0 || pads[dim].high != 0 || pads[dim].interior != 0) continue;
    factors.parallel({{0, static_cast<int64_t>(dim)}}, {{0, static_cast<int64_t>(dim)}});
  }
  return factors.take();
}

ShardingRule concatenate_rule(const RuleRequest& request) {
  const int64_t joined = hlo::dimensions(request.instruction).at(0);
  FactorList factors(request);
  for (int64_t dim = 0; dim < request.results[0].rank(); ++dim) {
    if (dim == joined) continue;
    std::vector<FactorList::Dim> operands;
    for (size_t k = 0; k < request.operands.size(); ++k) operands.push_back({static_cast<int>(k), dim});
    factors.parallel(operands, {{0, dim}});
  }
  return factors.take();
}

ShardingRule reverse_rule(const RuleRequest& request) {
  const std::vector<int64_t> reversed = hlo::dimensions(request.instruction);
  FactorList factors(request);
  for (int64_t dim = 0; dim < request.results[0].rank(); ++dim) {
    if (std::find(reversed.begin(), reversed.end(), dim) == reversed.end()) factors.parallel({{0, dim}}, {{0, dim}});
  }
  return factors.take();
}

ShardingRule iota_rule(const RuleRequest& request) {
  FactorList factors(request);
  for (int64_t dim = 0; dim < request.results[0].rank(); ++dim) factors.parallel({}, {{0, dim}});
  return factors.take();
}

}  // namespace alpa::planner
