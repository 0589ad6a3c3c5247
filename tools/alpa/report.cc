#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "format.h"
#include "group_names.h"

namespace alpa::tool {
namespace {

using compiler::Role;
using plan::TensorPlan;

int64_t local_bytes(const TensorPlan& tensor, const mesh::LogicalMesh& mesh) {
  return tensor::byte_size(sharding::local_shape(tensor.shape, tensor.spec, mesh));
}

/// One table of tensors, those that differ in their numbers alone in one row.
std::string tensor_table(const std::string& title, const std::vector<const TensorPlan*>& tensors,
                         const mesh::LogicalMesh& mesh) {
  if (tensors.empty()) return "";
  std::vector<std::string> names;
  std::vector<std::string> keys;
  int64_t whole_bytes = 0;
  int64_t device_bytes = 0;
  for (const TensorPlan* one : tensors) {
    names.push_back(one->name);
    keys.push_back(tensor::to_string(one->shape) + sharding::to_string(one->spec, mesh));
    whole_bytes += tensor::byte_size(one->shape);
    device_bytes += local_bytes(*one, mesh);
  }
  Table table({{title}, {"tensors", true}, {"shape"}, {"placement"}, {"bytes", true}, {"on a device", true}});
  for (const NameGroup& group : group_names(names, keys)) {
    const TensorPlan& one = *tensors[group.members[0]];
    const auto count = static_cast<double>(group.members.size());
    table.add({group.text, format_count(count), tensor::to_string(one.shape), sharding::to_string(one.spec, mesh),
               format_bytes(count * static_cast<double>(tensor::byte_size(one.shape))),
               format_bytes(count * static_cast<double>(local_bytes(one, mesh)))});
  }
  if (tensors.size() > 1) {
    table.rule();
    table.add({"", format_count(static_cast<double>(tensors.size())), "", "",
               format_bytes(static_cast<double>(whole_bytes)), format_bytes(static_cast<double>(device_bytes))});
  }
  return table.text() + "\n";
}

/// The parameter that a piece of optimizer state belongs to: the one of the same shape whose path ends it.
const TensorPlan* parameter_of(const TensorPlan& state, const std::vector<const TensorPlan*>& params) {
  for (const TensorPlan* param : params) {
    const size_t dot = param->name.find('.');
    const std::string path = dot == std::string::npos ? "." + param->name : param->name.substr(dot);
    if (state.shape == param->shape && state.name.ends_with(path)) return param;
  }
  return nullptr;
}

std::string optimizer_text(const std::vector<const TensorPlan*>& states, const std::vector<const TensorPlan*>& params,
                           const mesh::LogicalMesh& mesh) {
  std::vector<const TensorPlan*> others;
  int64_t whole_bytes = 0;
  int64_t device_bytes = 0;
  size_t followers = 0;
  for (const TensorPlan* state : states) {
    const TensorPlan* param = parameter_of(*state, params);
    if (param == nullptr || param->spec != state->spec) {
      others.push_back(state);
      continue;
    }
    ++followers;
    whole_bytes += tensor::byte_size(state->shape);
    device_bytes += local_bytes(*state, mesh);
  }
  std::string text;
  if (followers > 0) {
    text = fmt::format("  optimizer state: {} tensors lie as their parameters do: {}, {} on a device\n\n",
                       format_count(static_cast<double>(followers)), format_bytes(static_cast<double>(whole_bytes)),
                       format_bytes(static_cast<double>(device_bytes)));
  }
  return text + tensor_table("optimizer state", others, mesh);
}

std::vector<const TensorPlan*> with_role(const plan::Plan& plan, const compiler::Meta& meta, Role role) {
  std::vector<const TensorPlan*> result;
  for (size_t k = 0; k < meta.inputs.size(); ++k) {
    if (meta.inputs[k].role == role) result.push_back(&plan.inputs[k]);
  }
  return result;
}

/// The path without the name of the jitted function, "jit(train_step)/"; at most 60 characters of it, the last ones.
std::string short_path(const std::string& path) {
  constexpr size_t kLength = 60;
  const size_t cut = path.starts_with("jit(") ? path.find(")/") : std::string::npos;
  const std::string rest = cut == std::string::npos ? path : path.substr(cut + 2);
  return rest.size() <= kLength ? rest : "…" + rest.substr(rest.size() - kLength + 1);
}

}  // namespace

std::string plan_head(const plan::Plan& plan) {
  std::string axes;
  for (const mesh::MeshAxis& axis : plan.mesh.axes())
    axes += fmt::format("{}{}={}", axes.empty() ? "" : ", ", axis.name, axis.size);
  const std::string parts = plan.micro_batches > 1 ? fmt::format(", {} micro-batches", plan.micro_batches) : "";
  std::string text =
      fmt::format("Plan: method {} on mesh {} ({}) of {}{}; planned in {}\n", plan.method, plan.mesh.to_string(), axes,
                  plan.cluster.name, parts, format_seconds(plan.planning_seconds));
  const std::string proof =
      plan.bound_seconds > 0 || plan.objective_seconds <= 0
          ? fmt::format("proved bound {}, gap {:.2f} %", format_seconds(plan.bound_seconds), 100 * plan.gap())
          : "not searched for the best: no bound";
  text += fmt::format("  cost of a step {} (of it communication {}), {}\n", format_seconds(plan.objective_seconds),
                      format_seconds(plan.communication_seconds), proof);
  if (!plan.rematerialized.empty())
    text += fmt::format(
        "  values of the forward pass made anew in the backward pass: {} (plan.json names them); estimated "
        "to save {} a device and to add {} a step\n",
        plan.rematerialized.size(), format_bytes(static_cast<double>(plan.rematerialization_saved_bytes)),
        format_seconds(plan.rematerialization_added_seconds));
  return text;
}

std::string placement_tables(const plan::Plan& plan, const compiler::Meta& meta) {
  const auto params = with_role(plan, meta, Role::kParams);
  std::vector<const TensorPlan*> results;
  for (size_t k = 0; k < meta.outputs.size(); ++k) {
    if (!meta.outputs[k].feeds_input) results.push_back(&plan.outputs[k]);
  }
  return tensor_table("parameter", params, plan.mesh) +
         optimizer_text(with_role(plan, meta, Role::kOptState), params, plan.mesh) +
         tensor_table("other state", with_role(plan, meta, Role::kExtra), plan.mesh) +
         tensor_table("input", with_role(plan, meta, Role::kUnknown), plan.mesh) +
         tensor_table("batch", with_role(plan, meta, Role::kBatch), plan.mesh) +
         tensor_table("result", results, plan.mesh);
}

std::string communication_table(const plan::Plan& plan, const std::map<std::string, hlo::CollectiveTotal>* found) {
  std::set<std::string> kinds;
  for (const auto& [kind, total] : plan.collectives) kinds.insert(kind);
  if (found != nullptr) {
    for (const auto& [kind, total] : *found) kinds.insert(kind);
  }
  if (kinds.empty()) return "  no communication between devices\n";
  std::vector<Table::Column> columns{{"communication, a step"}, {"planned", true}, {"bytes", true}};
  if (found != nullptr) columns.insert(columns.end(), {{"found", true}, {"bytes", true}, {"found / planned", true}});
  Table table(columns);
  const auto row = [&](const std::string& title, const plan::CollectiveCount& planned,
                       const hlo::CollectiveTotal& seen) {
    std::vector<std::string> cells{title, format_count(planned.count), format_bytes(planned.bytes)};
    if (found != nullptr) {
      const std::string ratio = planned.bytes > 0 ? fmt::format("{:.3f}", seen.bytes / planned.bytes) : "-";
      cells.insert(cells.end(), {format_count(seen.count), format_bytes(seen.bytes), ratio});
    }
    table.add(std::move(cells));
  };
  plan::CollectiveCount all_planned;
  hlo::CollectiveTotal all_found;
  for (const std::string& kind : kinds) {
    const auto planned = plan.collectives.find(kind);
    const plan::CollectiveCount one = planned == plan.collectives.end() ? plan::CollectiveCount{} : planned->second;
    hlo::CollectiveTotal seen;
    if (found != nullptr && found->contains(kind)) seen = found->at(kind);
    row(kind, one, seen);
    all_planned = {all_planned.count + one.count, all_planned.bytes + one.bytes};
    all_found = {all_found.count + seen.count, all_found.bytes + seen.bytes};
  }
  table.rule();
  row("all", all_planned, all_found);
  return table.text() + fmt::format("  bytes: the larger of operand and result on one device; planned time {} a step\n",
                                    format_seconds(plan.communication_seconds));
}

std::string sites_table(const std::vector<compiler::CommunicationSite>& sites) {
  constexpr size_t kRows = 10;
  std::vector<std::string> names;
  std::vector<std::string> keys;
  for (const compiler::CommunicationSite& site : sites) {
    names.push_back(site.where.empty() ? "(change of placement)" : short_path(site.where));
    keys.push_back(site.kind);
  }
  struct Row {
    std::string where;
    compiler::CommunicationSite sum;
  };
  std::vector<Row> rows;
  for (const NameGroup& group : group_alike(names, keys)) {
    Row row{group.text, {}};
    row.sum.executions = 0;
    for (const size_t member : group.members) {
      row.sum.kind = sites[member].kind;
      row.sum.executions += sites[member].executions;
      row.sum.bytes += sites[member].bytes;
      row.sum.seconds += sites[member].seconds;
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.sum.seconds > b.sum.seconds; });
  Table table({{"where"}, {"collective"}, {"runs", true}, {"bytes", true}, {"modelled time", true}});
  Row others;
  others.sum.executions = 0;
  for (size_t k = 0; k < rows.size(); ++k) {
    const compiler::CommunicationSite& one = rows[k].sum;
    if (k < kRows) {
      table.add({rows[k].where, one.kind, format_count(one.executions), format_bytes(one.bytes),
                 format_seconds(one.seconds)});
      continue;
    }
    others.sum.executions += one.executions;
    others.sum.bytes += one.bytes;
    others.sum.seconds += one.seconds;
  }
  if (rows.size() > kRows) {
    table.rule();
    table.add({fmt::format("{} other places", rows.size() - kRows), "", format_count(others.sum.executions),
               format_bytes(others.sum.bytes), format_seconds(others.sum.seconds)});
  }
  return table.empty() ? "" : table.text();
}

std::string step_table(const RunResult& result) {
  constexpr size_t kRows = 12;
  const size_t steps = result.step_seconds.size();
  const bool losses = result.losses.size() == steps;
  std::vector<Table::Column> columns{{"step", true}, {"time", true}};
  if (losses) columns.insert(columns.begin() + 1, {"loss", true});
  Table table(columns);
  const size_t rows = std::min(steps, kRows);
  for (size_t row = 0; row < rows; ++row) {
    const size_t step = rows == 1 ? 0 : row * (steps - 1) / (rows - 1);
    std::vector<std::string> cells{format_count(static_cast<double>(step + 1)),
                                   format_seconds(result.step_seconds[step])};
    if (losses) cells.insert(cells.begin() + 1, format_loss(result.losses[step]));
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace alpa::tool
