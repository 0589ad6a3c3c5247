#include "alpa/hlo/linear_operands.h"

#include <algorithm>
#include <numeric>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/reducer.h"
#include "alpa/hlo/zero_value.h"

namespace alpa::hlo {
namespace {

bool keeps_fixed(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kPartitionId:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice: return true;
    default:
      return is_elementwise(opcode) && opcode != Opcode::kMap && opcode != Opcode::kRng &&
             opcode != Opcode::kStochasticConvert;
  }
}

bool is_continuous(const tensor::Shape& shape) {
  return shape.is_array() && (tensor::is_floating(shape.dtype) || tensor::is_complex(shape.dtype));
}

bool sums_from_zero(const Module& module, const Computation& computation, const Instruction& reduce) {
  if (reduce.operands.size() != 2 || reducer_opcode(module.computation(reduce.called.at(0))) != Opcode::kAdd)
    return false;
  return is_zero_scalar(computation[reduce.operands[1]]);
}

// One of them, if the other is fixed.
std::vector<size_t> factor(const Instruction& product, const std::vector<bool>& fixed) {
  if (fixed[static_cast<size_t>(product.operands[1])]) return {0};
  if (product.opcode == Opcode::kMultiply && fixed[static_cast<size_t>(product.operands[0])]) return {1};
  return {};
}

}  // namespace

std::vector<bool> fixed_values(const Computation& computation) {
  std::vector<bool> fixed;
  for (const Instruction& one : computation.instructions) {
    fixed.push_back(keeps_fixed(one.opcode) &&
                    std::all_of(one.operands.begin(), one.operands.end(),
                                [&](InstructionId operand) { return fixed[static_cast<size_t>(operand)]; }));
  }
  return fixed;
}

std::vector<size_t> linear_operands(const Module& module, const Computation& computation, InstructionId id,
                                    const std::vector<bool>& fixed) {
  const Instruction& one = computation[id];
  if (one.operands.empty() || !is_continuous(one.shape) || !is_continuous(computation[one.operands[0]].shape))
    return {};
  switch (one.opcode) {
    case Opcode::kNegate:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kSlice:
    case Opcode::kReverse: return {0};
    case Opcode::kConvert:
      return tensor::is_complex(one.shape.dtype) == tensor::is_complex(computation[one.operands[0]].shape.dtype)
                 ? std::vector<size_t>{0}
                 : std::vector<size_t>{};
    case Opcode::kBroadcast:  // of a scalar: made where it is used
      return computation[one.operands[0]].shape.rank() > 0 ? std::vector<size_t>{0} : std::vector<size_t>{};
    case Opcode::kReduce:
      return sums_from_zero(module, computation, one) ? std::vector<size_t>{0} : std::vector<size_t>{};
    case Opcode::kMultiply:
    case Opcode::kDivide: return factor(one, fixed);
    case Opcode::kDynamicSlice:
      return std::all_of(one.operands.begin() + 1, one.operands.end(),
                         [&](InstructionId start) { return fixed[static_cast<size_t>(start)]; })
                 ? std::vector<size_t>{0}
                 : std::vector<size_t>{};
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kConcatenate: {
      std::vector<size_t> all(one.operands.size());
      std::iota(all.begin(), all.end(), size_t{0});
      return all;
    }
    default: return {};
  }
}

}  // namespace alpa::hlo
