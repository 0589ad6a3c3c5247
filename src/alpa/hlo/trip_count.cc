#include "alpa/hlo/trip_count.h"

#include "alpa/hlo/attributes.h"

namespace alpa::hlo {
namespace {

// Looks through copies and bitcasts to what they were made of.
InstructionId source(const Computation& computation, InstructionId id) {
  while (computation[id].opcode == Opcode::kCopy || computation[id].opcode == Opcode::kBitcast) {
    id = computation[id].operands.at(0);
  }
  return id;
}

std::optional<int64_t> constant_at(const Computation& computation, InstructionId id) {
  return integer_constant(computation[source(computation, id)]);
}

std::optional<int64_t> element_at(const Computation& computation, InstructionId id) {
  const Instruction& instruction = computation[source(computation, id)];
  if (instruction.opcode != Opcode::kGetTupleElement) return std::nullopt;
  if (computation[instruction.operands.at(0)].opcode != Opcode::kParameter) return std::nullopt;
  return tuple_index(instruction);
}

struct Bound {
  int64_t element;
  int64_t limit;
  bool inclusive;
  bool up;
};

std::optional<Bound> bound_of(const Computation& condition) {
  const Instruction& root = condition[source(condition, condition.root)];
  if (root.opcode != Opcode::kCompare) return std::nullopt;
  std::string direction = comparison_direction(root);
  auto element = element_at(condition, root.operands.at(0));
  auto limit = constant_at(condition, root.operands.at(1));
  if (!element && !limit) {  // constant on the left: turn the comparison round
    element = element_at(condition, root.operands.at(1));
    limit = constant_at(condition, root.operands.at(0));
    if (direction.size() == 2 && (direction[0] == 'L' || direction[0] == 'G'))
      direction[0] = direction[0] == 'L' ? 'G' : 'L';
  }
  if (!element || !limit) return std::nullopt;
  if (direction == "LT" || direction == "LE") return Bound{*element, *limit, direction == "LE", true};
  if (direction == "GT" || direction == "GE") return Bound{*element, *limit, direction == "GE", false};
  return std::nullopt;
}

std::optional<int64_t> step_of(const Computation& body, int64_t element) {
  const Instruction& root = body[body.root];
  if (root.opcode != Opcode::kTuple || element >= static_cast<int64_t>(root.operands.size())) return std::nullopt;
  const Instruction& next = body[source(body, root.operands[static_cast<size_t>(element)])];
  if (next.opcode != Opcode::kAdd && next.opcode != Opcode::kSubtract) return std::nullopt;
  const int64_t sign = next.opcode == Opcode::kAdd ? 1 : -1;
  for (const int side : {0, 1}) {
    if (side == 1 && sign < 0) break;
    const auto from = element_at(body, next.operands.at(static_cast<size_t>(side)));
    const auto by = constant_at(body, next.operands.at(static_cast<size_t>(1 - side)));
    if (from == element && by && *by != INT64_MIN) return sign * *by;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> trip_count(const Module& module, const Computation& computation, const Instruction& loop) {
  if (loop.opcode != Opcode::kWhile || loop.called.size() != 2) return std::nullopt;
  const auto bound = bound_of(module.computation(loop.called[1]));
  if (!bound) return std::nullopt;
  const auto step = step_of(module.computation(loop.called[0]), bound->element);
  const Instruction& init = computation[source(computation, loop.operands.at(0))];
  if (!step || init.opcode != Opcode::kTuple || bound->element >= static_cast<int64_t>(init.operands.size())) {
    return std::nullopt;
  }
  const auto start = constant_at(computation, init.operands[static_cast<size_t>(bound->element)]);
  if (!start || (bound->up ? *step <= 0 : *step >= 0)) return std::nullopt;
  const __int128 limit = bound->limit;
  const __int128 distance = (bound->up ? limit - *start : *start - limit) + (bound->inclusive ? 1 : 0);
  const __int128 stride = bound->up ? static_cast<__int128>(*step) : -static_cast<__int128>(*step);
  const __int128 trips = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  if (trips > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(trips);
}

}  // namespace alpa::hlo
