#include "alpa/passes/partition_values.h"

#include <algorithm>
#include <cmath>

#include "alpa/hlo/attributes.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::DType;

constexpr int64_t kMostElements = 4096;
constexpr double kExact = 9007199254740992.0;  // 2^53: below, a double holds every integer

bool is_small_integer_array(const tensor::Shape& shape) {
  if (!shape.is_array() || !(tensor::is_integral(shape.dtype) || shape.dtype == DType::kPred)) return false;
  return shape.dtype != DType::kU64 && tensor::num_elements(shape) <= kMostElements;  // u64: beyond int64_t
}

bool is_unsigned(DType dtype) { return dtype == DType::kPred || tensor::name(dtype).front() == 'u'; }

// As the type's arithmetic leaves it.
int64_t wrapped(__int128 value, DType dtype) {
  const int bits = dtype == DType::kPred ? 1 : tensor::bit_width(dtype);
  const auto modulus = static_cast<__int128>(1) << bits;
  value %= modulus;
  if (value < 0) value += modulus;
  if (!is_unsigned(dtype) && value >= modulus / 2) value -= modulus;
  return static_cast<int64_t>(value);
}

std::optional<int64_t> apply(Opcode opcode, int64_t a, int64_t b, DType dtype) {
  const __int128 x = a;
  const __int128 y = b;
  switch (opcode) {
    case Opcode::kAdd: return wrapped(x + y, dtype);
    case Opcode::kSubtract: return wrapped(x - y, dtype);
    case Opcode::kMultiply: return wrapped(x * y, dtype);
    case Opcode::kDivide: return b == 0 ? std::nullopt : std::optional(wrapped(x / y, dtype));
    case Opcode::kRemainder: return b == 0 ? std::nullopt : std::optional(wrapped(x % y, dtype));
    case Opcode::kMinimum: return std::min(a, b);
    case Opcode::kMaximum: return std::max(a, b);
    default: return std::nullopt;
  }
}

std::optional<bool> compared(const std::string& direction, int64_t a, int64_t b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return a != b;
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  if (direction == "GE") return a >= b;
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<int64_t>> PartitionValues::scalar(InstructionId id) {
  if (rewrite_[id].shape.rank() != 0) return std::nullopt;
  const Values& values = of(id);
  if (!values) return std::nullopt;
  std::vector<int64_t> result;
  for (const Elements& elements : *values) result.push_back(elements.at(0));
  return result;
}

const PartitionValues::Values& PartitionValues::of(InstructionId id) {
  const auto found = known_.find(id);
  if (found != known_.end()) return found->second;
  Values values = is_small_integer_array(rewrite_[id].shape) ? evaluate(id) : std::nullopt;
  return known_.emplace(id, std::move(values)).first->second;
}

PartitionValues::Values PartitionValues::on_all(Elements elements) const {
  return std::vector<Elements>(static_cast<size_t>(num_devices_), std::move(elements));
}

PartitionValues::Values PartitionValues::evaluate(InstructionId id) {
  const Instruction& one = rewrite_[id];
  switch (one.opcode) {
    case Opcode::kPartitionId: {
      std::vector<Elements> values;
      for (int64_t partition = 0; partition < num_devices_; ++partition) values.push_back({partition});
      return values;
    }
    case Opcode::kConstant: {
      const auto literal = hlo::constant_value(one);
      if (!literal) return std::nullopt;
      Elements elements;
      for (int64_t k = 0; k < tensor::num_elements(one.shape); ++k) {
        if (std::abs(literal->at(k)) >= kExact) return std::nullopt;
        elements.push_back(static_cast<int64_t>(literal->at(k)));
      }
      return on_all(std::move(elements));
    }
    case Opcode::kReshape:
    case Opcode::kCopy: return of(one.operands.at(0));
    case Opcode::kBitcast:
      return rewrite_[one.operands.at(0)].shape.dtype == one.shape.dtype && one.shape.rank() <= 1
                 ? of(one.operands.at(0))
                 : std::nullopt;
    case Opcode::kBroadcast: {
      const tensor::Shape& operand = rewrite_[one.operands.at(0)].shape;
      const Values& values = of(one.operands.at(0));
      if (!values || operand.rank() != 0) return std::nullopt;
      std::vector<Elements> result;
      for (const Elements& elements : *values)
        result.emplace_back(static_cast<size_t>(tensor::num_elements(one.shape)), elements.at(0));
      return result;
    }
    case Opcode::kDynamicSlice: return dynamic_slice(one);
    default: return elementwise(one);
  }
}

// Of tables of one dim.
PartitionValues::Values PartitionValues::dynamic_slice(const Instruction& slice) {
  if (slice.shape.rank() != 1 || slice.operands.size() != 2 || rewrite_[slice.operands[1]].shape.rank() != 0)
    return std::nullopt;
  const Values table = of(slice.operands[0]);
  const Values start = of(slice.operands[1]);
  if (!table || !start) return std::nullopt;
  std::vector<Elements> result;
  for (size_t partition = 0; partition < table->size(); ++partition) {
    const Elements& all = (*table)[partition];
    const int64_t last = static_cast<int64_t>(all.size()) - slice.shape.dims[0];
    const int64_t first = std::clamp<int64_t>((*start)[partition].at(0), 0, last);
    result.emplace_back(all.begin() + first, all.begin() + first + slice.shape.dims[0]);
  }
  return result;
}

PartitionValues::Values PartitionValues::elementwise(const Instruction& instruction) {
  if (!hlo::is_elementwise(instruction.opcode)) return std::nullopt;
  std::vector<Values> operands;
  for (const InstructionId operand : instruction.operands) {
    if (rewrite_[operand].shape.dims != instruction.shape.dims) return std::nullopt;
    operands.push_back(of(operand));
    if (!operands.back()) return std::nullopt;
  }
  const DType dtype = instruction.shape.dtype;
  const auto element = [&](size_t partition, size_t k) -> std::optional<int64_t> {
    const auto value = [&](size_t operand) { return (*operands.at(operand))[partition][k]; };
    switch (instruction.opcode) {
      case Opcode::kConvert:
        return dtype == DType::kPred ? static_cast<int64_t>(value(0) != 0) : wrapped(value(0), dtype);
      case Opcode::kSelect: return value(0) != 0 ? value(1) : value(2);
      case Opcode::kClamp: return std::min(std::max(value(1), value(0)), value(2));
      case Opcode::kCompare: {
        const auto holds = compared(hlo::comparison_direction(instruction), value(0), value(1));
        return holds ? std::optional<int64_t>(*holds) : std::nullopt;
      }
      default:
        return operands.size() == 2 && dtype != DType::kPred ? apply(instruction.opcode, value(0), value(1), dtype)
                                                             : std::nullopt;
    }
  };
  std::vector<Elements> result(static_cast<size_t>(num_devices_));
  for (size_t partition = 0; partition < result.size(); ++partition) {
    for (int64_t k = 0; k < tensor::num_elements(instruction.shape); ++k) {
      const auto one = element(partition, static_cast<size_t>(k));
      if (!one) return std::nullopt;
      result[partition].push_back(*one);
    }
  }
  return result;
}

}  // namespace alpa::passes
