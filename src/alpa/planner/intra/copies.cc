#include "alpa/planner/intra/copies.h"

#include <algorithm>
#include <set>

namespace alpa::planner {
namespace {

using hlo::Opcode;

size_t index(int32_t id) { return static_cast<size_t>(id); }

class Copier {
 public:
  Copier(const DeviceProgram& program, KernelGraph graph) : program_(program), graph_(std::move(graph)) {
    users_.resize(graph_.kernels.size());
    for (int32_t id = 0; id < count(); ++id) {
      for (const KernelUse& use : kernel(id).uses) users_[index(use.value.op)].insert(id);
    }
    seen_.assign(graph_.kernels.size(), 0);
  }

  KernelGraph run(const std::vector<DeviceAlias>& aliases) {
    const int32_t before = count();
    for (const DeviceAlias& alias : aliases) keep_parameter(alias);
    for (int32_t id = 0; id < before; ++id) {
      if (kernel(id).opcode == Opcode::kWhile) keep_inits(id);
    }
    return std::move(graph_);
  }

 private:
  Kernel& kernel(int32_t id) { return graph_.kernels[index(id)]; }
  int32_t count() const { return static_cast<int32_t>(graph_.kernels.size()); }

  // Whether all of `before` are operands of `id`, by way of others too.
  bool all_before(const std::set<int32_t>& before, int32_t id) {
    size_t missing = before.size();
    if (missing == 0) return true;
    if (*before.rbegin() >= id) return false;
    ++mark_;
    std::vector<int32_t> open{id};
    while (!open.empty() && missing > 0) {
      const int32_t at = open.back();
      open.pop_back();
      for (const KernelUse& use : kernel(at).uses) {
        const int32_t operand = use.value.op;
        const bool copy = operand >= static_cast<int32_t>(users_.size());
        if (copy || operand < *before.begin() || seen_[index(operand)] == mark_) continue;
        seen_[index(operand)] = mark_;
        missing -= before.contains(operand);
        open.push_back(operand);
      }
    }
    return missing == 0;
  }

  void keep_parameter(const DeviceAlias& alias) {
    const DeviceValue root = graph_.roots[index(alias.root)];
    const int32_t parameter = graph_.parameters[index(alias.parameter)];
    if (root.op == parameter) return;
    std::set<int32_t> others = users_[index(parameter)];
    others.erase(root.op);
    bool safe = all_before(others, root.op);
    for (const KernelUse& use : kernel(root.op).uses) {
      if (use.value.op == parameter) safe &= use.in_place;
    }
    if (safe) return;
    const int32_t copy = add_copy({parameter, 0});
    for (const int32_t user : users_[index(parameter)]) {
      for (KernelUse& use : kernel(user).uses) {
        if (use.value.op == parameter) use.value = {copy, 0};
      }
    }
  }

  int32_t add_copy(const DeviceValue& value) {
    const DeviceArray array = kernel(value.op).results[index(value.result)];
    const int32_t origin = kernel(value.op).origin;
    graph_.kernels.push_back({Opcode::kCopy, {{value, false}}, {array}, {}, origin});
    return count() - 1;
  }

  void keep_inits(int32_t loop) {
    const DeviceComputation& body = program_.computations[index(kernel(loop).called.front())];
    std::set<DeviceValue> taken;
    for (size_t k = 0; k < kernel(loop).uses.size(); ++k) {
      const DeviceValue value = kernel(loop).uses[k].value;
      if (body.roots[k] == DeviceValue{body.parameters[k], 0}) continue;
      const bool owned = kernel(value.op).opcode != Opcode::kParameter && kernel(value.op).opcode != Opcode::kConstant;
      if (owned && is_last(loop, value.op) && taken.insert(value).second) continue;
      const int32_t copy = add_copy(value);
      kernel(loop).uses[k].value = {copy, 0};
    }
  }

  bool is_last(int32_t loop, int32_t made) {
    if (made >= static_cast<int32_t>(users_.size())) return true;  // a copy
    std::set<int32_t> others = users_[index(made)];
    others.erase(loop);
    return all_before(others, loop);
  }

  const DeviceProgram& program_;
  KernelGraph graph_;
  std::vector<std::set<int32_t>> users_;  // without copies
  std::vector<int32_t> seen_;             // by kernel, the last search that came by
  int32_t mark_ = 0;
};

}  // namespace

KernelGraph with_copies(const DeviceProgram& program, KernelGraph graph, const std::vector<DeviceAlias>& aliases) {
  return Copier(program, std::move(graph)).run(aliases);
}

}  // namespace alpa::planner
