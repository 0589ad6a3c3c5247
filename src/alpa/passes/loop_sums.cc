#include "alpa/passes/loop_sums.h"

#include <algorithm>
#include <optional>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/zero_value.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewrite;

bool is_element(const Rewrite& rewrite, InstructionId id) { return rewrite[id].opcode == Opcode::kGetTupleElement; }

bool is_read_by_elements(const Rewrite& rewrite, InstructionId tuple) {
  const std::vector<InstructionId> users = rewrite.users(tuple);
  return rewrite.computation().root != tuple && !rewrite.is_ordered(tuple) &&
         std::all_of(users.begin(), users.end(), [&](InstructionId user) { return is_element(rewrite, user); });
}

std::vector<InstructionId> readers(const Rewrite& rewrite, InstructionId tuple, int64_t element) {
  std::vector<InstructionId> result;
  for (const InstructionId user : rewrite.users(tuple)) {
    if (is_element(rewrite, user) && hlo::tuple_index(rewrite[user]) == element) result.push_back(user);
  }
  return result;
}

bool is_called_once(const hlo::Module& module, ComputationId callee) {
  int64_t calls = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& one : computation.instructions)
      calls += std::count(one.called.begin(), one.called.end(), callee);
  }
  return calls == 1;
}

class Finder {
 public:
  Finder(const hlo::Module& module, const Rewrite& caller, InstructionId loop)
      : caller_(caller),
        loop_(loop),
        body_(module.computation(caller[loop].called.at(0))),
        condition_(module.computation(caller[loop].called.at(1))),
        readable_(is_called_once(module, caller[loop].called[0]) && is_called_once(module, caller[loop].called[1])) {}

  std::vector<LoopSum> run() {
    if (!readable_ || caller_[init_tuple()].opcode != Opcode::kTuple || body_[root()].opcode != Opcode::kTuple ||
        body_.is_ordered(root()) || !is_read_by_elements(caller_, loop_) ||
        !is_read_by_elements(body_, parameter(body_)) || !is_read_by_elements(condition_, parameter(condition_)))
      return {};
    find_same_everywhere();
    std::vector<LoopSum> sums;
    for (size_t k = 0; k < body_[root()].operands.size(); ++k) {
      if (const auto sum = sum_of(static_cast<int64_t>(k))) sums.push_back(*sum);
    }
    return sums;
  }

 private:
  InstructionId init_tuple() const { return caller_[loop_].operands.at(0); }
  InstructionId root() const { return body_.computation().root; }
  static InstructionId parameter(const Rewrite& rewrite) { return hlo::parameters(rewrite.computation()).at(0); }

  std::optional<LoopSum> sum_of(int64_t element) const {
    LoopSum sum;
    sum.element = element;
    sum.update = body_[root()].operands[static_cast<size_t>(element)];
    sum.init = caller_[init_tuple()].operands[static_cast<size_t>(element)];
    const std::vector<InstructionId> inside = readers(body_, parameter(body_), element);
    if (inside.size() != 1 || body_.use_count(inside[0]) != 1 || body_.is_ordered(inside[0]) ||
        !readers(condition_, parameter(condition_), element).empty() || readers(caller_, loop_, element).empty() ||
        body_.use_count(sum.update) != 1 || body_.is_ordered(sum.update))
      return std::nullopt;
    const Instruction& update = body_[sum.update];
    if (update.opcode == Opcode::kAdd) {
      if (update.operands[0] != inside[0] && update.operands[1] != inside[0]) return std::nullopt;
      sum.addend = update.operands[0] == inside[0] ? 1 : 0;
      return sum;
    }
    if (update.opcode != Opcode::kDynamicUpdateSlice || update.operands[0] != inside[0] || !writes_row(update))
      return std::nullopt;
    if (!hlo::is_zero(caller_.computation(), sum.init)) return std::nullopt;
    sum.addend = 1;
    sum.rows = update.shape.dims[0];
    sum.row = update.operands[2];
    return sum;
  }

  // All of one row, the same on all devices. Starts in the other dims are clamped to 0 then.
  bool writes_row(const Instruction& update) const {
    if (update.operands.size() < 3 || !same_everywhere_[static_cast<size_t>(update.operands[2])]) return false;
    std::vector<int64_t> row = update.shape.dims;
    row[0] = 1;
    return body_[update.operands[1]].shape.dims == row;
  }

  // What is made of constants and of counters: elements that begin as constants and grow by constants.
  void find_same_everywhere() {
    const Computation& body = body_.computation();
    same_everywhere_.assign(static_cast<size_t>(body.size()), false);
    const auto same = [&](InstructionId id) { return same_everywhere_[static_cast<size_t>(id)] != 0; };
    for (InstructionId id = 0; id < body.size(); ++id) {
      const Instruction& one = body[id];
      const bool moves = hlo::is_elementwise(one.opcode) && one.opcode != Opcode::kMap && one.opcode != Opcode::kRng &&
                         one.opcode != Opcode::kStochasticConvert;
      const bool made_alike = moves || one.opcode == Opcode::kReshape || one.opcode == Opcode::kBroadcast;
      same_everywhere_[static_cast<size_t>(id)] =
          one.opcode == Opcode::kConstant || is_counter(id) ||
          (made_alike && std::all_of(one.operands.begin(), one.operands.end(), same));
    }
  }

  bool is_counter(InstructionId id) const {
    if (!is_element(body_, id) || body_[id].operands[0] != parameter(body_)) return false;
    const auto element = static_cast<size_t>(hlo::tuple_index(body_[id]));
    const Instruction& next = body_[body_[root()].operands[element]];
    if (caller_[caller_[init_tuple()].operands[element]].opcode != Opcode::kConstant) return false;
    if (next.opcode != Opcode::kAdd && next.opcode != Opcode::kSubtract) return false;
    const auto is_itself = [&](InstructionId operand) {
      return is_element(body_, operand) && body_[operand].operands[0] == parameter(body_) &&
             hlo::tuple_index(body_[operand]) == static_cast<int64_t>(element);
    };
    const auto is_constant = [&](InstructionId operand) { return body_[operand].opcode == Opcode::kConstant; };
    return (is_itself(next.operands[0]) && is_constant(next.operands[1])) ||
           (is_constant(next.operands[0]) && is_itself(next.operands[1]));
  }

  const Rewrite& caller_;
  const InstructionId loop_;
  const Rewrite body_;
  const Rewrite condition_;
  const bool readable_;
  std::vector<char> same_everywhere_;  ///< By instruction of the body.
};

}  // namespace

std::vector<LoopSum> loop_sums(const hlo::Module& module, const Rewrite& caller, InstructionId loop) {
  return Finder(module, caller, loop).run();
}

}  // namespace alpa::passes
