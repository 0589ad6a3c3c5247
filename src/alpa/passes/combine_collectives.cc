#include "alpa/passes/combine_collectives.h"

#include <algorithm>
#include <numeric>

#include "alpa/hlo/collectives.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/independent_groups.h"
#include "alpa/passes/collective.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewrite;
using tensor::Shape;

struct Member {
  InstructionId id = -1;
  Collective collective;
};

class Combiner {
 public:
  Combiner(const hlo::Module& module, Rewrite& rewrite, hlo::FreshNames& names, int64_t num_devices)
      : module_(module), rewrite_(rewrite), names_(names), num_devices_(num_devices) {}

  void run(int64_t limit_bytes) {
    std::vector<hlo::Candidate> candidates;
    std::vector<std::vector<int32_t>> before;
    for (InstructionId id = 0; id < rewrite_.size(); ++id) {
      before.push_back(rewrite_[id].operands);
      before.back().insert(before.back().end(), rewrite_[id].control_predecessors.begin(),
                           rewrite_[id].control_predecessors.end());
      auto one = collective(module_, rewrite_, id, num_devices_);
      if (!one) continue;
      const int64_t bytes = hlo::collective_bytes(rewrite_.computation(), rewrite_[id]);
      candidates.push_back({id, kind_key(*one, rewrite_[id].shape.dtype),
                            hlo::combined_weight(one->opcode, bytes, is_inner(rewrite_[id].shape, *one))});
      members_.push_back({id, *std::move(one)});
    }
    for (const auto& group : hlo::independent_groups(before, candidates, limit_bytes)) {
      if (group.size() < 2) continue;
      std::vector<Member> together;
      for (const int64_t k : group) together.push_back(members_[static_cast<size_t>(k)]);
      combine(together);
    }
  }

 private:
  static bool is_inner(const Shape& shape, const Collective& one) {
    int64_t outer = 1;
    for (int64_t dim = 0; one.dim && dim < *one.dim; ++dim) outer *= shape.dims[static_cast<size_t>(dim)];
    return outer > 1;
  }

  void combine(const std::vector<Member>& together) {
    const Instruction model = rewrite_[together.front().id];
    if (model.opcode == Opcode::kAllToAll) return combine_side_by_side(together, model);
    std::vector<InstructionId> operands;
    std::vector<Shape> shapes;
    for (const Member& member : together) {
      operands.push_back(model.opcode == Opcode::kAllReduce ? rewrite_[member.id].operands[0] : flat_operand(member));
      shapes.push_back(model.opcode == Opcode::kAllReduce ? rewrite_[member.id].shape : flat_result(member));
    }
    Instruction combined = hlo::clone(model, combined_name(model.opcode), std::move(operands));
    combined.shape = Shape::tuple(shapes);
    if (model.opcode != Opcode::kAllReduce) hlo::set_dimensions(combined, {0});
    const InstructionId all = rewrite_.add(std::move(combined));
    for (size_t k = 0; k < together.size(); ++k) {
      Instruction element =
          hlo::make_instruction(Opcode::kGetTupleElement, combined_name(Opcode::kGetTupleElement), shapes[k], {all});
      hlo::set_tuple_index(element, static_cast<int64_t>(k));
      const InstructionId result = rewrite_.add(std::move(element));
      rewrite_.replace_uses(together[k].id,
                            model.opcode == Opcode::kAllReduce ? result : from_flat(together[k], result));
    }
  }

  // What the members of a group divide among themselves comes first, all else behind it in one dim: of several operands
  // XLA's CPU compiler takes the dim to be the outermost in memory, and one dim is always that.
  InstructionId flat_operand(const Member& member) {
    InstructionId operand = rewrite_[member.id].operands[0];
    if (member.collective.opcode == Opcode::kReduceScatter)
      operand = split_to_front(operand, *member.collective.dim, member.collective.group_size());
    return reshaped(operand, flat(rewrite_[operand].shape));
  }

  Shape flat_result(const Member& member) const { return flat(rewrite_[member.id].shape); }

  static Shape flat(const Shape& shape) { return Shape(shape.dtype, {tensor::num_elements(shape)}); }

  InstructionId from_flat(const Member& member, InstructionId value) {
    if (member.collective.opcode == Opcode::kReduceScatter) return reshaped(value, rewrite_[member.id].shape);
    Shape pieces = rewrite_[rewrite_[member.id].operands[0]].shape;
    pieces.dims.insert(pieces.dims.begin(), member.collective.group_size());
    return joined_from_front(reshaped(value, pieces), *member.collective.dim);
  }

  std::string combined_name(Opcode opcode) { return names_.name(std::string(hlo::name(opcode)) + ".combined"); }

  // [.., n, ..] -> [parts, .., n / parts, ..]
  InstructionId split_to_front(InstructionId value, int64_t dim, int64_t parts) {
    Shape shape = rewrite_[value].shape;
    const auto at = static_cast<size_t>(dim);
    shape.dims[at] /= parts;
    shape.dims.insert(shape.dims.begin() + dim, parts);
    std::vector<int64_t> order{dim};
    for (int64_t k = 0; k < shape.rank(); ++k) {
      if (k != dim) order.push_back(k);
    }
    return transposed(reshaped(value, shape), order);
  }

  // [parts, .., n, ..] -> [.., parts * n, ..], where n is dim `dim` of what is left without the first
  InstructionId joined_from_front(InstructionId value, int64_t dim) {
    Shape shape = rewrite_[value].shape;
    std::vector<int64_t> order;
    for (int64_t k = 1; k < shape.rank(); ++k) {
      if (k == dim + 1) order.push_back(0);
      order.push_back(k);
    }
    const InstructionId beside = transposed(value, order);
    shape.dims[static_cast<size_t>(dim) + 1] *= shape.dims[0];
    shape.dims.erase(shape.dims.begin());
    return reshaped(beside, shape);
  }

  // Several operands mean something else to an all-to-all: its pieces lie side by side in one array instead.
  void combine_side_by_side(const std::vector<Member>& together, const Instruction& model) {
    const int64_t parts = together.front().collective.group_size();
    std::vector<InstructionId> flat;
    std::vector<Shape> shapes;
    std::vector<int64_t> widths;
    for (const Member& member : together) {
      const InstructionId split = split_to_front(rewrite_[member.id].operands[0], *member.collective.dim, parts);
      shapes.push_back(rewrite_[split].shape);
      widths.push_back(tensor::num_elements(shapes.back()) / parts);
      flat.push_back(reshaped(split, Shape(model.shape.dtype, {parts, widths.back()})));
    }
    const Shape all(model.shape.dtype, {parts, std::accumulate(widths.begin(), widths.end(), int64_t{0})});
    Instruction beside =
        hlo::make_instruction(Opcode::kConcatenate, combined_name(Opcode::kConcatenate), all, std::move(flat));
    hlo::set_dimensions(beside, {1});
    Instruction combined = hlo::clone(model, combined_name(Opcode::kAllToAll), {rewrite_.add(std::move(beside))});
    combined.shape = all;
    hlo::set_dimensions(combined, {0});
    const InstructionId exchanged = rewrite_.add(std::move(combined));
    int64_t start = 0;
    for (size_t k = 0; k < together.size(); ++k) {
      const InstructionId piece = rewrite_.add(hlo::make_slice(
          combined_name(Opcode::kSlice), Shape(model.shape.dtype, {parts, widths[k]}), exchanged, {0, start}));
      start += widths[k];
      const InstructionId result = joined_from_front(reshaped(piece, shapes[k]), *together[k].collective.dim);
      rewrite_.replace_uses(together[k].id, result);
    }
  }

  InstructionId reshaped(InstructionId value, const Shape& shape) {
    if (rewrite_[value].shape == shape) return value;
    return rewrite_.add(hlo::make_instruction(Opcode::kReshape, combined_name(Opcode::kReshape), shape, {value}));
  }

  InstructionId transposed(InstructionId value, const std::vector<int64_t>& order) {
    if (std::is_sorted(order.begin(), order.end())) return value;
    const Shape shape = rewrite_[value].shape;
    return rewrite_.add(hlo::make_transpose(combined_name(Opcode::kTranspose), shape, value, order));
  }

  const hlo::Module& module_;
  Rewrite& rewrite_;
  hlo::FreshNames& names_;
  int64_t num_devices_;
  std::vector<Member> members_;
};

}  // namespace

hlo::Module combine_collectives(const hlo::Module& module, int64_t num_devices, int64_t limit_bytes) {
  return hlo::rewrite_computations(module, [&](Rewrite& rewrite, hlo::FreshNames& names) {
    Combiner(module, rewrite, names, num_devices).run(limit_bytes);
  });
}

}  // namespace alpa::passes
