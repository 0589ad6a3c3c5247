#include "alpa/passes/ordered_reductions.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/edit.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::DType;
using tensor::Literal;
using tensor::Shape;
using Sharding = std::optional<sharding::OpSharding>;

// The integers that stand for floats of this type, if they are ordered as IEEE's are.
std::optional<DType> integers_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16: return DType::kS16;
    case DType::kF32: return DType::kS32;
    case DType::kF64: return DType::kS64;
    default: return std::nullopt;
  }
}

// A scalar of the bits `value`, cut to the type's width.
Literal scalar_of(DType dtype, uint64_t value) {
  std::array<std::byte, 8> bytes{};
  for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>((value >> (8 * k)) & 0xff);
  return {Shape(dtype, {}), std::span(bytes).first(static_cast<size_t>(tensor::bit_width(dtype)) / 8)};
}

bool is_reduced_dim_divided(const Computation& computation, const Instruction& reduce) {
  const Sharding sharding = hlo::sharding(computation[reduce.operands.at(0)]);
  if (!sharding) return false;
  const std::vector<int64_t> dims = hlo::dimensions(reduce);
  return std::any_of(dims.begin(), dims.end(), [&](int64_t dim) {
    return static_cast<size_t>(dim) < sharding->tile_dims.size() && sharding->tile_dims[static_cast<size_t>(dim)] > 1;
  });
}

// Maximum or minimum, if the reduction is one that the all-reduce would take wrongly.
std::optional<Opcode> extremum(const hlo::Module& module, const Computation& computation, const Instruction& reduce) {
  if (reduce.opcode != Opcode::kReduce || !reduce.shape.is_array() || !integers_of(reduce.shape.dtype))
    return std::nullopt;
  const Computation& reducer = module.computation(reduce.called.at(0));
  const Opcode opcode = reducer[reducer.root].opcode;
  if (opcode != Opcode::kMaximum && opcode != Opcode::kMinimum) return std::nullopt;
  return is_reduced_dim_divided(computation, reduce) ? std::optional(opcode) : std::nullopt;
}

class Rebuilder {
 public:
  using Reducers = std::map<std::pair<Opcode, DType>, ComputationId>;

  Rebuilder(const hlo::Module& module, const Computation& old, const Reducers& reducers)
      : module_(module), old_(old), reducers_(reducers) {
    new_ = hlo::without_instructions(old);
  }

  Computation run() {
    std::vector<InstructionId> map(old_.instructions.size());
    for (InstructionId id = 0; id < old_.size(); ++id) {
      Instruction copy = hlo::remapped(old_[id], map);
      const auto opcode = extremum(module_, old_, old_[id]);
      map[static_cast<size_t>(id)] = opcode ? over_integers(copy, *opcode) : append(std::move(copy));
    }
    new_.root = map[static_cast<size_t>(old_.root)];
    return std::move(new_);
  }

 private:
  InstructionId append(Instruction instruction) {
    new_.instructions.push_back(std::move(instruction));
    return new_.size() - 1;
  }

  InstructionId placed(Instruction instruction, const Sharding& sharding) {
    hlo::set_sharding(instruction, sharding);
    return append(std::move(instruction));
  }

  std::string fresh_name() { return name_ + ".ordered." + std::to_string(counter_++); }

  InstructionId filled(const Shape& shape, uint64_t value, const Sharding& sharding) {
    const InstructionId scalar =
        placed(hlo::make_constant(fresh_name(), scalar_of(shape.dtype, value)), sharding::OpSharding{});
    return placed(hlo::make_broadcast(fresh_name(), shape, scalar, {}), sharding);
  }

  InstructionId operation(Opcode opcode, const Shape& shape, std::vector<InstructionId> operands,
                          const Sharding& sharding) {
    return placed(hlo::make_instruction(opcode, fresh_name(), shape, std::move(operands)), sharding);
  }

  // Its own inverse.
  InstructionId key(InstructionId bits, const Sharding& sharding) {
    const Shape shape = new_[bits].shape;
    const int width = tensor::bit_width(shape.dtype);
    const InstructionId by = filled(shape, static_cast<uint64_t>(width) - 1, sharding);
    const InstructionId sign = operation(Opcode::kShiftRightArithmetic, shape, {bits, by}, sharding);
    const InstructionId most = filled(shape, (uint64_t{1} << (width - 1)) - 1, sharding);
    const InstructionId mask = operation(Opcode::kAnd, shape, {sign, most}, sharding);
    return operation(Opcode::kXor, shape, {bits, mask}, sharding);
  }

  // The keys of floats, NaNs the one that wins.
  InstructionId keys_of(InstructionId values, Opcode opcode) {
    const Shape floats = new_[values].shape;
    const Shape keys(*integers_of(floats.dtype), floats.dims);
    const Sharding sharding = hlo::sharding(new_[values]);
    const uint64_t least = uint64_t{1} << (tensor::bit_width(keys.dtype) - 1);
    const InstructionId number = key(operation(Opcode::kBitcastConvert, keys, {values}, sharding), sharding);
    const InstructionId nan = placed(hlo::make_compare(fresh_name(), "NE", floats, values, values), sharding);
    const InstructionId beyond = filled(keys, opcode == Opcode::kMaximum ? least - 1 : least, sharding);
    return operation(Opcode::kSelect, keys, {nan, beyond, number}, sharding);
  }

  InstructionId over_integers(const Instruction& reduce, Opcode opcode) {
    name_ = reduce.name;
    const Shape floats = reduce.shape;
    const Sharding sharding = hlo::sharding(reduce);
    const InstructionId all = keys_of(reduce.operands.at(0), opcode);
    const InstructionId init = keys_of(reduce.operands.at(1), opcode);
    Instruction inner = hlo::clone(reduce, fresh_name(), {all, init});
    inner.shape = Shape(*integers_of(floats.dtype), floats.dims);
    inner.called = {reducers_.at({opcode, inner.shape.dtype})};
    const InstructionId found = key(append(std::move(inner)), sharding);
    return placed(hlo::make_instruction(Opcode::kBitcastConvert, name_, floats, {found}), sharding);
  }

  const hlo::Module& module_;
  const Computation& old_;
  const Reducers& reducers_;
  Computation new_;
  std::string name_;
  int64_t counter_ = 0;
};

Computation integer_reducer(Opcode opcode, DType integers) {
  hlo::ComputationBuilder builder(std::string(hlo::name(opcode)) + ".ordered." + std::string(tensor::name(integers)));
  const Shape scalar(integers, {});
  const InstructionId lhs = builder.parameter(scalar);
  const InstructionId root = builder.op(opcode, scalar, {lhs, builder.parameter(scalar)});
  return std::move(builder).build(root);
}

// Callees come before callers: the new reducers go first, and every reference moves up by their number.
hlo::Module with_reducers(const hlo::Module& module, const std::vector<Computation>& reducers) {
  hlo::Module result = module;
  const auto shift = static_cast<ComputationId>(reducers.size());
  result.computations.insert(result.computations.begin(), reducers.begin(), reducers.end());
  result.entry += shift;
  for (size_t id = reducers.size(); id < result.computations.size(); ++id) {
    for (Instruction& instruction : result.computations[id].instructions) {
      for (ComputationId& callee : instruction.called) callee += shift;
    }
  }
  return result;
}

}  // namespace

hlo::Module ordered_reductions(const hlo::Module& module) {
  Rebuilder::Reducers reducers;
  std::vector<Computation> added;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const auto opcode = extremum(module, computation, instruction);
      if (!opcode) continue;
      const DType integers = *integers_of(instruction.shape.dtype);
      if (reducers.try_emplace({*opcode, integers}, static_cast<ComputationId>(added.size())).second)
        added.push_back(integer_reducer(*opcode, integers));
    }
  }
  if (added.empty()) return module;
  const hlo::Module extended = with_reducers(module, added);
  hlo::Module result = extended;
  for (size_t id = added.size(); id < result.computations.size(); ++id)
    result.computations[id] = Rebuilder(extended, extended.computations[id], reducers).run();
  return result;
}

}  // namespace alpa::passes
