#include "alpa/planner/intra/kernels.h"

#include <algorithm>
#include <map>
#include <set>

namespace alpa::planner {
namespace {

using hlo::Opcode;

// What can be computed for one element of its result at a time.
bool computes_elements(const DeviceOp& op) {
  switch (op.opcode) {
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose: return op.results.size() == 1;
    default: return op.results.size() == 1 && hlo::is_elementwise(op.opcode);
  }
}

// What is not computed twice to spare memory.
bool is_expensive(Opcode opcode) {
  switch (opcode) {
    case Opcode::kReduce:
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kCbrt:
    case Opcode::kTanh:
    case Opcode::kTan:
    case Opcode::kSine:
    case Opcode::kCosine:
    case Opcode::kErf:
    case Opcode::kAtan2: return true;
    default: return false;
  }
}

// Elements from which on a reduction is a call of a library, which multiplies what it sums but does nothing else.
constexpr int64_t kLibraryReduction = 4096;

bool reads_again(Opcode opcode) { return opcode == Opcode::kBroadcast || opcode == Opcode::kGather; }

struct Reading {
  bool again = false;        // an element is read for several of the result
  bool elementwise = false;  // and only for the one at its place
};

class Fuser {
 public:
  Fuser(const DeviceComputation& computation, const DeviceCompiler& compiler)
      : ops_(computation.ops),
        computation_(computation),
        compiler_(compiler),
        readings_(ops_.size()),
        users_(ops_.size()) {}

  KernelGraph run() {
    for (const DeviceValue& root : computation_.roots) kept_.insert(root.op);
    for (int32_t id = 0; id < count(); ++id) {
      for (const DeviceValue& operand : op(id).operands) {
        users_[index(operand.op)].insert(id);
        readings_[index(id)].try_emplace(operand, reading(id, operand));
      }
    }
    find_fusible_into_all();
    for (int32_t id = count(); id-- > 0;) {
      if (is_dead(id)) {
        leave_out(id);
      } else {
        take_in(id);
      }
    }
    return graph();
  }

 private:
  static size_t index(int32_t id) { return static_cast<size_t>(id); }
  int32_t count() const { return static_cast<int32_t>(ops_.size()); }
  const DeviceOp& op(int32_t id) const { return ops_[index(id)]; }
  bool is_dead(int32_t id) const {
    return users_[index(id)].empty() && !kept_.contains(id) && op(id).opcode != Opcode::kParameter;
  }

  Reading reading(int32_t id, const DeviceValue& operand) const {
    const DeviceOp& user = op(id);
    bool elementwise = hlo::is_elementwise(user.opcode);
    if (user.opcode == Opcode::kDynamicUpdateSlice || user.opcode == Opcode::kScatter)
      elementwise = user.operands.front() == operand;
    return {reads_again(user.opcode), elementwise};
  }

  // Of an operation's operands those as large as its result.
  bool reads_one(int32_t id) const {
    int large = 0;
    for (const DeviceValue& operand : op(id).operands) {
      const DeviceOp& from = op(operand.op);
      if (from.opcode == Opcode::kBroadcast || from.opcode == Opcode::kIota) continue;
      large += from.results[index(operand.result)].elements >= op(id).results[0].elements;
    }
    return large <= 1;
  }

  void find_fusible_into_all() {
    into_all_.resize(ops_.size());
    for (int32_t id = count(); id-- > 0;) {
      into_all_[index(id)] = !kept_.contains(id) && std::all_of(users_[index(id)].begin(), users_[index(id)].end(),
                                                                [&](int32_t user) { return is_fusible(user); });
    }
  }

  bool by_library(int32_t id) const {
    if (!compiler_.reductions_by_library || op(id).opcode != Opcode::kReduce) return false;
    const DeviceValue& reduced = op(id).operands.front();
    return op(reduced.op).results[index(reduced.result)].elements >= kLibraryReduction;
  }

  bool is_fusible(int32_t id) const { return computes_elements(op(id)) && !by_library(id); }

  bool takes(int32_t kernel, const DeviceValue& value) const {
    const DeviceOp& made = op(value.op);
    if (!is_fusible(value.op)) return false;
    if (by_library(kernel)) {
      const bool factor = made.opcode == Opcode::kMultiply || made.opcode == Opcode::kBroadcast;
      return factor && users_[index(value.op)].size() == 1 && !kept_.contains(value.op);
    }
    if (readings_[index(kernel)].at(value).again && is_expensive(made.opcode)) return false;
    const bool again = users_[index(value.op)].size() > 1 || kept_.contains(value.op);
    return !again || (!is_expensive(made.opcode) && (reads_one(value.op) || into_all_[index(value.op)]));
  }

  void take_in(int32_t kernel) {
    if (!is_fusible(kernel) && !by_library(kernel)) return;
    std::set<DeviceValue, std::greater<>> open;
    for (const auto& [value, how] : readings_[index(kernel)]) open.insert(value);
    while (!open.empty()) {
      const DeviceValue value = *open.begin();
      open.erase(open.begin());
      if (!takes(kernel, value)) continue;
      const Reading outer = readings_[index(kernel)].at(value);
      readings_[index(kernel)].erase(value);
      users_[index(value.op)].erase(kernel);
      for (const DeviceValue& operand : op(value.op).operands) {
        const Reading inner = reading(value.op, operand);
        const Reading all{outer.again || inner.again, outer.elementwise && inner.elementwise};
        const auto [known, fresh] = readings_[index(kernel)].try_emplace(operand, all);
        if (!fresh) known->second = {known->second.again || all.again, known->second.elementwise && all.elementwise};
        users_[index(operand.op)].insert(kernel);
        open.insert(operand);
      }
      if (is_dead(value.op)) leave_out(value.op);
    }
  }

  void leave_out(int32_t id) {
    for (const DeviceValue& operand : op(id).operands) users_[index(operand.op)].erase(id);
  }

  KernelGraph graph() const {
    KernelGraph result;
    std::vector<int32_t> kernel_of(ops_.size(), -1);
    for (int32_t id = 0; id < count(); ++id) {
      if (is_dead(id)) continue;
      Kernel kernel{op(id).opcode, {}, op(id).results, op(id).called, op(id).origin};
      const auto use = [&](const DeviceValue& value, bool in_place) {
        kernel.uses.push_back({{kernel_of[index(value.op)], value.result}, in_place});
      };
      if (!op(id).called.empty()) {
        for (const DeviceValue& operand : op(id).operands) use(operand, false);
      } else {
        for (const auto& [value, how] : readings_[index(id)]) use(value, how.elementwise);
      }
      kernel_of[index(id)] = static_cast<int32_t>(result.kernels.size());
      result.kernels.push_back(std::move(kernel));
    }
    for (const int32_t parameter : computation_.parameters) result.parameters.push_back(kernel_of[index(parameter)]);
    for (const DeviceValue& root : computation_.roots) result.roots.push_back({kernel_of[index(root.op)], root.result});
    return result;
  }

  const std::vector<DeviceOp>& ops_;
  const DeviceComputation& computation_;
  const DeviceCompiler& compiler_;
  std::vector<std::map<DeviceValue, Reading>> readings_;  // what each kernel reads, and how
  std::vector<std::set<int32_t>> users_;                  // kernels
  std::set<int32_t> kept_;                                // roots
  std::vector<bool> into_all_;
};

}  // namespace

KernelGraph fuse(const DeviceComputation& computation, const DeviceCompiler& compiler) {
  return Fuser(computation, compiler).run();
}

}  // namespace alpa::planner
