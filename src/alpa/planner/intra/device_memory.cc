#include "alpa/planner/intra/device_memory.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

#include "alpa/planner/intra/copies.h"
#include "alpa/planner/intra/kernels.h"

namespace alpa::planner {
namespace {

using hlo::Opcode;

size_t index(int32_t id) { return static_cast<size_t>(id); }

// What can run, in the order in which it became able to.
std::vector<int32_t> breadth_first(const KernelGraph& graph) {
  const std::vector<Kernel>& kernels = graph.kernels;
  std::vector<std::vector<int32_t>> users(kernels.size());
  std::vector<int> waits(kernels.size());
  std::deque<int32_t> ready;
  for (int32_t id = 0; id < static_cast<int32_t>(kernels.size()); ++id) {
    std::set<int32_t> operands;
    for (const KernelUse& use : kernels[index(id)].uses) operands.insert(use.value.op);
    for (const int32_t operand : operands) users[index(operand)].push_back(id);
    waits[index(id)] = static_cast<int>(operands.size());
    if (operands.empty()) ready.push_back(id);
  }
  std::vector<int32_t> order;
  while (!ready.empty()) {
    order.push_back(ready.front());
    ready.pop_front();
    for (const int32_t user : users[index(order.back())]) {
      if (--waits[index(user)] == 0) ready.push_back(user);
    }
  }
  return order;
}

struct Peak {
  int64_t bytes = 0;
  std::vector<DeviceMemory::Holding> alive;
};

// Values that must lie in the same memory, from when the first is made to the last use of any. Positions in the order.
struct Buffer {
  int64_t bytes = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int32_t maker = -1;  // kernel
};

// Memory that a parameter leaves before a root comes.
struct Gap {
  int64_t bytes = 0;
  std::vector<int32_t> buffers;
};

// Of one computation; parameters and roots lie in memory of whoever runs it.
class Simulation {
 public:
  Simulation(const DeviceProgram& program, const DeviceCompiler& compiler, const KernelGraph& graph,
             const std::vector<DeviceAlias>& aliases)
      : program_(program), compiler_(compiler), graph_(graph), aliases_(aliases), order_(breadth_first(graph)) {}

  Peak run() {
    find_positions();
    find_last_uses();
    make_buffers();
    fill_gaps();
    write_over();
    return find_peak();
  }

 private:
  const Kernel& kernel(int32_t id) const { return graph_.kernels[index(id)]; }
  int32_t& buffer_of(const DeviceValue& value) { return buffers_of_[index(value.op)][index(value.result)]; }
  int64_t last_use(const DeviceValue& value) const { return last_uses_[index(value.op)][index(value.result)]; }
  int64_t end() const { return static_cast<int64_t>(order_.size()); }

  void find_positions() {
    positions_.resize(order_.size());
    for (size_t k = 0; k < order_.size(); ++k) positions_[index(order_[k])] = static_cast<int64_t>(k);
  }

  // A loop's or a barrier's result lies where what came into it lay, so that is used until the result is.
  static bool hands_on(const Kernel& kernel) {
    return kernel.opcode == Opcode::kWhile || kernel.opcode == Opcode::kOptimizationBarrier;
  }

  void find_last_uses() {
    for (int32_t id = 0; id < static_cast<int32_t>(order_.size()); ++id)
      last_uses_.emplace_back(kernel(id).results.size(), positions_[index(id)]);
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      for (size_t k = 0; k < kernel(*id).uses.size(); ++k) {
        const DeviceValue& value = kernel(*id).uses[k].value;
        const bool carried = hands_on(kernel(*id)) && k < last_uses_[index(*id)].size();
        const int64_t until = carried ? last_uses_[index(*id)][k] : positions_[index(*id)];
        int64_t& last = last_uses_[index(value.op)][index(value.result)];
        last = std::max(last, until);
      }
    }
  }

  void make_buffers() {
    for (const Kernel& one : graph_.kernels) buffers_of_.emplace_back(one.results.size(), -1);
    const std::set<DeviceValue> roots(graph_.roots.begin(), graph_.roots.end());
    for (const int32_t id : order_) {
      const Kernel& one = kernel(id);
      if (one.opcode == Opcode::kParameter || one.opcode == Opcode::kConstant) continue;
      for (int32_t k = 0; k < static_cast<int32_t>(one.results.size()); ++k) {
        if (hands_on(one)) {
          buffer_of({id, k}) = buffer_of(one.uses[index(k)].value);
        } else if (!roots.contains({id, k})) {
          buffer_of({id, k}) = static_cast<int32_t>(buffers_.size());
          buffers_.push_back({one.results[index(k)].bytes, positions_[index(id)], last_use({id, k}), id});
        }
      }
    }
  }

  // Whether the kernel that makes `later` may write it over `earlier`, whose last use that is.
  bool overwrites(int32_t later, int32_t earlier) {
    const Buffer& made = buffers_[index(later)];
    const Buffer& gone = buffers_[index(earlier)];
    if (made.begin != gone.end || made.bytes != gone.bytes) return false;
    const std::vector<KernelUse>& uses = kernel(made.maker).uses;
    return std::any_of(uses.begin(), uses.end(),
                       [&](const KernelUse& use) { return use.in_place && buffer_of(use.value) == earlier; });
  }

  bool fits(const Gap& gap, int32_t buffer) {
    const Buffer& wanted = buffers_[index(buffer)];
    return std::all_of(gap.buffers.begin(), gap.buffers.end(), [&](int32_t other) {
      const Buffer& there = buffers_[index(other)];
      return wanted.begin > there.end || wanted.end < there.begin || overwrites(buffer, other) ||
             overwrites(other, buffer);
    });
  }

  // The parameter and the root of a gap, as buffers that are at their place already.
  void open_gap(const DeviceAlias& alias, std::vector<Gap>& gaps) {
    const DeviceValue parameter{graph_.parameters[index(alias.parameter)], 0};
    const DeviceValue root = graph_.roots[index(alias.root)];
    const int64_t bytes = kernel(parameter.op).results[0].bytes;
    if (root.op == parameter.op || positions_[index(root.op)] <= last_use(parameter) + 1) return;
    Gap gap{bytes, {}};
    for (const DeviceValue& value : {parameter, root}) {
      const bool first = value == parameter;
      if (buffer_of(value) >= 0) return;  // what went through a loop
      buffer_of(value) = static_cast<int32_t>(buffers_.size());
      gap.buffers.push_back(buffer_of(value));
      buffers_.push_back({bytes, first ? -1 : positions_[index(value.op)], first ? last_use(value) : end(), value.op});
    }
    gaps.push_back(std::move(gap));
  }

  // The largest first, each in the smallest gap that has room.
  void fill_gaps() {
    std::vector<int32_t> largest(buffers_.size());
    std::iota(largest.begin(), largest.end(), 0);
    std::stable_sort(largest.begin(), largest.end(),
                     [&](int32_t a, int32_t b) { return buffers_[index(a)].bytes > buffers_[index(b)].bytes; });
    std::vector<Gap> gaps;
    for (const DeviceAlias& alias : aliases_) open_gap(alias, gaps);
    std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.bytes < b.bytes; });
    elsewhere_.resize(buffers_.size());
    for (const Gap& gap : gaps) {
      for (const int32_t buffer : gap.buffers) elsewhere_[index(buffer)] = true;
    }
    for (const int32_t buffer : largest) {
      const int64_t bytes = buffers_[index(buffer)].bytes;
      auto gap = std::lower_bound(gaps.begin(), gaps.end(), bytes,
                                  [](const Gap& one, int64_t wanted) { return one.bytes < wanted; });
      gap = std::find_if(gap, gaps.end(), [&](const Gap& one) { return fits(one, buffer); });
      if (gap == gaps.end()) continue;
      gap->buffers.push_back(buffer);
      elsewhere_[index(buffer)] = true;
    }
  }

  // Results take the memory of operands that end with them. Buffers are in the order in which they are made.
  void write_over() {
    std::vector<int32_t> memory(buffers_.size());
    std::iota(memory.begin(), memory.end(), 0);
    for (int32_t made = 0; made < static_cast<int32_t>(buffers_.size()); ++made) {
      if (elsewhere_[index(made)]) continue;
      for (const KernelUse& use : kernel(buffers_[index(made)].maker).uses) {
        const int32_t operand = use.in_place ? buffer_of(use.value) : -1;
        if (operand < 0 || elsewhere_[index(operand)]) continue;
        Buffer& there = buffers_[index(memory[index(operand)])];
        if (there.end != buffers_[index(made)].begin || there.bytes != buffers_[index(made)].bytes) continue;
        there.end = buffers_[index(made)].end;
        memory[index(made)] = memory[index(operand)];
        elsewhere_[index(made)] = true;
        break;
      }
    }
  }

  Peak find_peak();
  Peak peak_of_called(const Kernel& kernel) const;

  const DeviceProgram& program_;
  const DeviceCompiler& compiler_;
  const KernelGraph& graph_;
  const std::vector<DeviceAlias>& aliases_;
  const std::vector<int32_t> order_;
  std::vector<int64_t> positions_;                // by kernel
  std::vector<std::vector<int64_t>> last_uses_;   // by kernel and result
  std::vector<std::vector<int32_t>> buffers_of_;  // -1: in memory of parameters, roots or constants
  std::vector<Buffer> buffers_;
  std::vector<char> elsewhere_;  // by buffer: in a gap, or in the memory of another
};

Peak peak_of(const DeviceProgram& program, const DeviceCompiler& compiler, int32_t computation,
             const std::vector<DeviceAlias>& aliases) {
  KernelGraph fused = fuse(program.computations[index(computation)], compiler);
  const KernelGraph graph = with_copies(program, std::move(fused), aliases);
  return Simulation(program, compiler, graph, aliases).run();
}

Peak Simulation::peak_of_called(const Kernel& kernel) const {
  Peak most;
  for (const int32_t callee : kernel.called) {
    std::vector<DeviceAlias> carried;
    const auto roots = static_cast<int32_t>(program_.computations[index(callee)].roots.size());
    for (int32_t k = 0; kernel.opcode == Opcode::kWhile && k < roots; ++k) carried.push_back({k, k});
    Peak one = peak_of(program_, compiler_, callee, carried);
    if (one.bytes > most.bytes) most = std::move(one);
  }
  return most;
}

Peak Simulation::find_peak() {
  std::vector<int64_t> changes(order_.size() + 1);
  for (size_t k = 0; k < buffers_.size(); ++k) {
    if (elsewhere_[k]) continue;
    changes[static_cast<size_t>(buffers_[k].begin)] += buffers_[k].bytes;
    changes[static_cast<size_t>(buffers_[k].end) + 1] -= buffers_[k].bytes;
  }
  Peak peak;
  int64_t peak_at = -1;
  int64_t live = 0;
  for (size_t now = 0; now < order_.size(); ++now) {
    live += changes[now];
    Peak inner;
    if (!kernel(order_[now]).called.empty()) inner = peak_of_called(kernel(order_[now]));
    if (live + inner.bytes <= peak.bytes) continue;
    peak_at = static_cast<int64_t>(now);
    peak = {live + inner.bytes, std::move(inner.alive)};
  }
  for (size_t k = 0; k < buffers_.size(); ++k) {
    if (!elsewhere_[k] && buffers_[k].begin <= peak_at && peak_at <= buffers_[k].end)
      peak.alive.push_back({kernel(buffers_[k].maker).origin, buffers_[k].bytes});
  }
  return peak;
}

}  // namespace

DeviceMemory memory_of(const DeviceProgram& program, const DeviceCompiler& compiler) {
  const DeviceComputation& entry = program.computations[index(program.entry)];
  DeviceMemory memory;
  for (const int32_t parameter : entry.parameters)
    memory.argument_bytes += entry.ops[index(parameter)].results[0].bytes;
  std::vector<char> aliased(entry.roots.size());
  for (const DeviceAlias& alias : program.aliases) aliased[index(alias.root)] = true;
  for (size_t k = 0; k < entry.roots.size(); ++k) {
    if (!aliased[k])
      memory.output_bytes += entry.ops[index(entry.roots[k].op)].results[index(entry.roots[k].result)].bytes;
  }
  Peak peak = peak_of(program, compiler, program.entry, program.aliases);
  memory.temp_bytes = peak.bytes;
  memory.alive = std::move(peak.alive);
  return memory;
}

}  // namespace alpa::planner
