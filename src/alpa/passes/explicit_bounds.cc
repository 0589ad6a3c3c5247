#include "alpa/passes/explicit_bounds.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::DType;
using tensor::Literal;
using tensor::Shape;

// The largest number that an index of this type can be.
int64_t limit_of(DType dtype) {
  const int bits = tensor::bit_width(dtype) - (tensor::name(dtype).front() == 'u' ? 0 : 1);
  return bits >= 62 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
}

// Indices on all devices together; at most `num_devices` may mean one on a device.
int64_t index_count(const Shape& indices, int64_t vector_dim) {
  int64_t count = 1;
  for (int64_t dim = 0; dim < indices.rank(); ++dim) {
    if (dim != vector_dim) count *= indices.dims[static_cast<size_t>(dim)];
  }
  return count;
}

class Rebuilder {
 public:
  Rebuilder(const Computation& old, int64_t num_devices) : old_(old), num_devices_(num_devices) {
    new_ = hlo::without_instructions(old);
  }

  Computation run() {
    std::vector<InstructionId> map(old_.instructions.size());
    for (InstructionId id = 0; id < old_.size(); ++id) {
      Instruction copy = hlo::remapped(old_[id], map);
      bound(copy);
      new_.instructions.push_back(std::move(copy));
      map[static_cast<size_t>(id)] = new_.size() - 1;
    }
    new_.root = map[static_cast<size_t>(old_.root)];
    return std::move(new_);
  }

 private:
  void bound(Instruction& instruction) {
    switch (instruction.opcode) {
      case Opcode::kDynamicSlice: return bound_starts(instruction, 1, instruction.shape);
      case Opcode::kDynamicUpdateSlice:
        return bound_starts(instruction, 2, Shape(new_[instruction.operands.at(1)].shape));
      case Opcode::kGather: return bound_gather(instruction);
      case Opcode::kScatter: return hold_operands(instruction);
      default: return;
    }
  }

  InstructionId append(Instruction instruction, const std::optional<sharding::OpSharding>& sharding) {
    if (sharding) hlo::set_sharding(instruction, sharding);
    new_.instructions.push_back(std::move(instruction));
    return new_.size() - 1;
  }

  std::string fresh_name(const Instruction& instruction, std::string_view what) {
    return instruction.name + "." + std::string(what) + "." + std::to_string(counter_++);
  }

  // A constant that lies on every device as a whole, if the program has shardings.
  InstructionId constant(const Instruction& user, const Literal& value, bool annotated) {
    return append(hlo::make_constant(fresh_name(user, "bound"), value),
                  annotated ? std::optional(sharding::OpSharding{}) : std::nullopt);
  }

  // min(max(index, low), high), placed as the index is.
  InstructionId clamped(const Instruction& user, InstructionId index, InstructionId low, InstructionId high) {
    const Shape shape = new_[index].shape;
    const auto sharding = hlo::sharding(new_[index]);
    const InstructionId above =
        append(hlo::make_instruction(Opcode::kMaximum, fresh_name(user, "low"), shape, {index, low}), sharding);
    return append(hlo::make_instruction(Opcode::kMinimum, fresh_name(user, "high"), shape, {above, high}), sharding);
  }

  void bound_starts(Instruction& instruction, size_t first, const Shape& part) {
    const Shape whole = new_[instruction.operands.at(0)].shape;
    for (size_t dim = 0; dim < whole.dims.size(); ++dim) {
      InstructionId& start = instruction.operands.at(first + dim);
      const DType dtype = new_[start].shape.dtype;
      const bool annotated = hlo::sharding(new_[start]).has_value();
      const int64_t high = whole.dims[dim] - part.dims[dim];
      const auto known = hlo::integer_constant(new_[start]);
      if (known && *known >= 0 && *known <= high) continue;
      const auto scalar = [&](int64_t value) {
        Literal literal(Shape(dtype, {}));
        literal.set(0, static_cast<double>(value));
        return constant(instruction, literal, annotated);
      };
      if (high == 0) {
        start = scalar(0);
      } else {
        const InstructionId low = scalar(0);
        start = clamped(instruction, start, low, scalar(std::min(high, limit_of(dtype))));
      }
    }
  }

  void bound_gather(Instruction& gather) {
    const hlo::GatherDims dims = hlo::gather_dims(gather);
    InstructionId& indices = gather.operands.at(1);
    const Shape shape = new_[indices].shape;
    if (index_count(shape, dims.index_vector_dim) > num_devices_) return;
    const Shape table = new_[gather.operands.at(0)].shape;
    const bool vectors = dims.index_vector_dim < shape.rank();
    Literal low(Shape(shape.dtype, {static_cast<int64_t>(dims.start_index_map.size())}));
    Literal high(low.shape());
    for (size_t k = 0; k < dims.start_index_map.size(); ++k) {
      const auto dim = static_cast<size_t>(dims.start_index_map[k]);
      const int64_t last = table.dims[dim] - dims.slice_sizes.at(dim);
      high.set(static_cast<int64_t>(k), static_cast<double>(std::min(last, limit_of(shape.dtype))));
    }
    const auto sharding = hlo::sharding(new_[indices]);
    const auto spread = [&](const Literal& bound) {
      Literal value(vectors ? bound.shape() : Shape(shape.dtype, {}));
      for (int64_t k = 0; k < tensor::num_elements(value.shape()); ++k) value.set(k, bound.at(k));
      const InstructionId made = constant(gather, value, sharding.has_value());
      return append(hlo::make_broadcast(fresh_name(gather, "bounds"), shape, made,
                                        vectors ? std::vector{dims.index_vector_dim} : std::vector<int64_t>{}),
                    sharding);
    };
    const InstructionId least = spread(low);
    indices = clamped(gather, indices, least, spread(high));
  }

  void hold_operands(Instruction& scatter) {
    const size_t arrays = scatter.operands.size() / 2;  // operands, indices, as many updates
    const Shape& indices = new_[scatter.operands.at(arrays)].shape;
    if (index_count(indices, hlo::scatter_dims(scatter).index_vector_dim) > num_devices_) return;
    for (size_t k = 0; k < arrays; ++k) {
      InstructionId& operand = scatter.operands[k];
      if (new_[operand].opcode == Opcode::kParameter) continue;
      operand = append(hlo::make_instruction(Opcode::kOptimizationBarrier, fresh_name(scatter, "held"),
                                             new_[operand].shape, {operand}),
                       hlo::sharding(new_[operand]));
    }
  }

  const Computation& old_;
  const int64_t num_devices_;
  Computation new_;
  int64_t counter_ = 0;
};

bool concerns(const Computation& computation) {
  return std::any_of(computation.instructions.begin(), computation.instructions.end(), [](const Instruction& one) {
    return one.opcode == Opcode::kDynamicSlice || one.opcode == Opcode::kDynamicUpdateSlice ||
           one.opcode == Opcode::kGather || one.opcode == Opcode::kScatter;
  });
}

}  // namespace

hlo::Module explicit_bounds(const hlo::Module& module, int64_t num_devices) {
  hlo::Module result = module;
  for (Computation& computation : result.computations) {
    if (concerns(computation)) computation = Rebuilder(Computation(computation), num_devices).run();
  }
  return result;
}

}  // namespace alpa::passes
