#include "alpa/solver/highs/mip.h"

#include <interfaces/highs_c_api.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "alpa/base/error.h"

namespace alpa::solver {
namespace {

constexpr double kObjectiveScale = 1e6;

struct HighsDeleter {
  void operator()(void* highs) const { Highs_destroy(highs); }
};
using HighsHandle = std::unique_ptr<void, HighsDeleter>;

/// The model, row by row.
struct Model {
  std::vector<double> cost, lower, upper;
  std::vector<HighsInt> integrality;
  std::vector<double> row_lower, row_upper, value;
  std::vector<HighsInt> start, index;

  HighsInt add_column(double column_cost, double low, double high, bool integer) {
    cost.push_back(column_cost);
    lower.push_back(low);
    upper.push_back(high);
    integrality.push_back(integer ? kHighsVarTypeInteger : kHighsVarTypeContinuous);
    return static_cast<HighsInt>(cost.size()) - 1;
  }
  void begin_row(double low, double high) {
    row_lower.push_back(low);
    row_upper.push_back(high);
    start.push_back(static_cast<HighsInt>(index.size()));
  }
  void add_term(HighsInt column, double factor) {
    index.push_back(column);
    value.push_back(factor);
  }
};

class Builder {
 public:
  Builder(const MipRequest& request) : request_(request), mrf_(*request.mrf) {
    const double infinity = std::numeric_limits<double>::infinity();
    double most = 1;
    for (const auto& unary : mrf_.unary) most = widen(unary, most);
    for (const Mrf::Edge& edge : mrf_.edges) most = widen(edge.table->costs, most);
    const double reference = request.cutoff ? std::max(1.0, std::abs(*request.cutoff)) : most;
    scale_ = request.minimise_peak ? 0 : std::min(1.0, kObjectiveScale / reference);
    add_nodes();
    for (const Mrf::Edge& edge : mrf_.edges) add_edge(edge);
    if (request.minimise_peak) {
      usage_scale_ = 1 / largest_usage();
      peak_ = model_.add_column(1, -infinity, infinity, false);
    }
    for (const UsageRow& row : request.rows) add_usage_row(row);
  }

  Model& model() { return model_; }
  /// Model objective = scale · problem objective.
  double scale() const { return request_.minimise_peak ? usage_scale_ : scale_; }
  HighsInt column(int32_t node, int32_t s) const { return first_[node] + s; }

 private:
  static double widen(const std::vector<int64_t>& costs, double most) {
    for (int64_t cost : costs) {
      if (!is_infinite(cost)) most = std::max(most, std::abs(double(cost)));
    }
    return most;
  }

  double largest_usage() const {
    double most = 1;
    for (const UsageRow& row : request_.rows) {
      for (const auto& term : row.terms) most = widen(term.usage, most);
    }
    return most;
  }

  void add_nodes() {
    for (int32_t i = 0; i < mrf_.size(); ++i) {
      first_.push_back(static_cast<HighsInt>(model_.cost.size()));
      for (int64_t cost : mrf_.unary[i]) model_.add_column(double(cost) * scale_, 0, 1, true);
      model_.begin_row(1, 1);
      for (int32_t s = 0; s < mrf_.domain(i); ++s) model_.add_term(column(i, s), 1);
    }
  }

  void add_edge(const Mrf::Edge& edge) {
    const Table& table = *edge.table;
    const bool binding = std::any_of(table.costs.begin(), table.costs.end(), is_infinite);
    if (scale_ == 0 && !binding) return;
    std::vector<HighsInt> columns(table.costs.size(), -1);
    for (size_t k = 0; k < columns.size(); ++k) {
      if (!is_infinite(table.costs[k])) columns[k] = model_.add_column(double(table.costs[k]) * scale_, 0, 1, false);
    }
    const auto tie = [&](HighsInt node_column, size_t first, size_t step, int32_t count) {
      model_.begin_row(0, 0);
      model_.add_term(node_column, -1);
      for (int32_t k = 0; k < count; ++k) {
        if (columns[first + k * step] >= 0) model_.add_term(columns[first + k * step], 1);
      }
    };
    for (int32_t r = 0; r < table.rows; ++r) tie(column(edge.a, r), size_t(r) * table.cols, 1, table.cols);
    for (int32_t c = 0; c < table.cols; ++c) tie(column(edge.b, c), c, table.cols, table.rows);
  }

  void add_usage_row(const UsageRow& row) {
    double most = 1;
    for (const auto& term : row.terms) most = widen(term.usage, most);
    const double factor = request_.minimise_peak ? usage_scale_ : 1 / most;
    model_.begin_row(-std::numeric_limits<double>::infinity(), double(row.limit) * factor);
    for (const auto& term : row.terms) {
      for (size_t s = 0; s < term.usage.size(); ++s) {
        if (term.usage[s] != 0) model_.add_term(column(term.node, static_cast<int32_t>(s)), term.usage[s] * factor);
      }
    }
    if (request_.minimise_peak) model_.add_term(peak_, -1);
  }

  const MipRequest& request_;
  const Mrf& mrf_;
  Model model_;
  double scale_ = 1;
  double usage_scale_ = 1;
  HighsInt peak_ = -1;
  std::vector<HighsInt> first_;
};

void set_options(void* highs, const MipRequest& request, double scale) {
  Highs_setBoolOptionValue(highs, "output_flag", 0);
  Highs_setIntOptionValue(highs, "threads", 1);
  Highs_setStringOptionValue(highs, "parallel", "off");
  Highs_setIntOptionValue(highs, "random_seed", 1);
  Highs_setIntOptionValue(highs, "mip_max_nodes", static_cast<HighsInt>(request.branch_nodes));
  Highs_setDoubleOptionValue(highs, "time_limit", std::max(0.01, request.seconds));
  Highs_setDoubleOptionValue(highs, "mip_rel_gap", request.relative_gap);
  Highs_setDoubleOptionValue(highs, "mip_abs_gap", 0.49 * scale);
  Highs_setDoubleOptionValue(highs, "mip_feasibility_tolerance", 1e-6);
  if (request.cutoff) Highs_setDoubleOptionValue(highs, "objective_bound", (*request.cutoff - 0.25) * scale);
}

}  // namespace

MipResult solve_mip(const MipRequest& request) {
  Builder builder(request);
  Model& model = builder.model();
  HighsHandle highs(Highs_create());
  set_options(highs.get(), request, builder.scale());
  const HighsInt status = Highs_passMip(
      highs.get(), static_cast<HighsInt>(model.cost.size()), static_cast<HighsInt>(model.row_lower.size()),
      static_cast<HighsInt>(model.index.size()), kHighsMatrixFormatRowwise, kHighsObjSenseMinimize, 0,
      model.cost.data(), model.lower.data(), model.upper.data(), model.row_lower.data(), model.row_upper.data(),
      model.start.data(), model.index.data(), model.value.data(), model.integrality.data());
  require<InternalError>(status != kHighsStatusError, "solver", "HiGHS rejects a model of {} columns and {} rows",
                         model.cost.size(), model.row_lower.size());
  const HighsInt ran = Highs_run(highs.get());
  MipResult result;
  result.bound = -std::numeric_limits<double>::infinity();
  if (ran == kHighsStatusError) return result;
  const HighsInt state = Highs_getModelStatus(highs.get());
  result.stopped_by_clock = state == kHighsModelStatusTimeLimit;
  const bool none = state == kHighsModelStatusInfeasible || state == kHighsModelStatusUnboundedOrInfeasible;
  result.finished = state == kHighsModelStatusOptimal || none || state == kHighsModelStatusObjectiveBound;
  if (none || state == kHighsModelStatusObjectiveBound) return result;
  Highs_getDoubleInfoValue(highs.get(), "mip_dual_bound", &result.bound);
  result.bound /= builder.scale();
  // HiGHS may end with a labelling above the cutoff; it still has looked for nothing there.
  if (request.cutoff) result.bound = std::min(result.bound, *request.cutoff);
  HighsInt primal = kHighsSolutionStatusNone;
  Highs_getIntInfoValue(highs.get(), "primal_solution_status", &primal);
  if (primal != kHighsSolutionStatusFeasible) return result;
  std::vector<double> values(model.cost.size());
  std::vector<double> rows(model.row_lower.size());
  Highs_getSolution(highs.get(), values.data(), nullptr, rows.data(), nullptr);
  for (int32_t i = 0; i < request.mrf->size(); ++i) {
    const auto first = values.begin() + builder.column(i, 0);
    result.labels.push_back(static_cast<int32_t>(std::max_element(first, first + request.mrf->domain(i)) - first));
  }
  return result;
}

}  // namespace alpa::solver
