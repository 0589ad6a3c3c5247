#include "alpa/passes/annotate.h"

#include <map>
#include <optional>
#include <set>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/sharding_constraint.h"
#include "alpa/hlo/summed_dims.h"
#include "alpa/passes/placements.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::ValueId;
using sharding::OpSharding;
using sharding::ShardingSpec;

using Specs = std::vector<ShardingSpec>;

struct Context {
  const hlo::Module& module;
  const hlo::ValueGraph& graph;
  const plan::Plan& plan;
  const Placements& placements;
  cost::ReshardModel& reshard;
};

// Rebuilds one computation.
class ComputationAnnotator {
 public:
  ComputationAnnotator(const Context& context, ComputationId id, Specs root)
      : context_(context), id_(id), old_(context.module.computation(id)), root_(std::move(root)) {
    new_ = hlo::without_instructions(old_);
  }

  Computation run() {
    for (InstructionId at = 0; at < old_.size(); ++at) visit(at);
    const std::vector<ValueId>& leaves = leaves_of(old_.root);
    new_.root = assemble(old_[old_.root].shape, leaves, root_, old_[old_.root].name);
    return std::move(new_);
  }

 private:
  const std::vector<ValueId>& leaves_of(InstructionId at) const {
    return context_.graph.leaves[static_cast<size_t>(id_)][static_cast<size_t>(at)];
  }
  const tensor::Shape& shape_of(ValueId value) const { return context_.graph.values[static_cast<size_t>(value)].shape; }

  OpSharding op_sharding(const tensor::Shape& shape, const Specs& specs) const {
    if (!shape.is_tuple()) return sharding::to_op_sharding(specs.at(0), context_.plan.mesh);
    OpSharding result;
    result.type = OpSharding::Type::kTuple;
    for (const ShardingSpec& spec : specs)
      result.elements.push_back(sharding::to_op_sharding(spec, context_.plan.mesh));
    return result;
  }

  InstructionId append(Instruction instruction, const Specs& specs) {
    hlo::set_sharding(instruction, op_sharding(instruction.shape, specs));
    new_.instructions.push_back(std::move(instruction));
    return new_.size() - 1;
  }

  std::string fresh_name(const std::string& base, std::string_view what) {
    return base + "." + std::string(what) + "." + std::to_string(counter_++);
  }

  Specs placed(const std::vector<ValueId>& values) const {
    Specs specs;
    for (const ValueId value : values) specs.push_back(context_.placements.spec(value));
    return specs;
  }

  // The arrays that a new instruction makes are known by value and placement from now on.
  void define(InstructionId instruction, const tensor::Shape& shape, const std::vector<ValueId>& values) {
    if (!shape.is_tuple()) {
      at_[{values.at(0), context_.placements.spec(values[0])}] = instruction;
      return;
    }
    size_t leaf = 0;
    define_elements(instruction, shape, values, leaf);
  }

  void define_elements(InstructionId tuple, const tensor::Shape& shape, const std::vector<ValueId>& values,
                       size_t& leaf) {
    for (size_t k = 0; k < shape.elements.size(); ++k) {
      const tensor::Shape& element = shape.elements[k];
      const int count = hlo::leaf_count(element);
      Specs specs(static_cast<size_t>(count));
      for (int j = 0; j < count; ++j)
        specs[static_cast<size_t>(j)] = context_.placements.spec(values[leaf + static_cast<size_t>(j)]);
      Instruction get =
          hlo::make_instruction(Opcode::kGetTupleElement, fresh_name(new_[tuple].name, "element"), element, {tuple});
      hlo::set_tuple_index(get, static_cast<int64_t>(k));
      const InstructionId id = append(std::move(get), specs);
      if (element.is_tuple()) {
        define_elements(id, element, values, leaf);
      } else {
        at_[{values[leaf], context_.placements.spec(values[leaf])}] = id;
        ++leaf;
      }
    }
  }

  void visit(InstructionId at) {
    const Instruction& instruction = old_[at];
    switch (instruction.opcode) {
      case Opcode::kTuple:
      case Opcode::kGetTupleElement: return;
      case Opcode::kParameter:
        return define(append(instruction, placed(leaves_of(at))), instruction.shape, leaves_of(at));
      case Opcode::kWhile:
      case Opcode::kOptimizationBarrier: return same_form(at);
      case Opcode::kConditional: return conditional(at);
      default: return operation(at);
    }
  }

  void operation(InstructionId at) {
    const Instruction& instruction = old_[at];
    const std::vector<ValueId>& results = leaves_of(at);
    if (!results.empty() && context_.placements.is_generator(results[0])) return;  // made where it is wanted
    std::vector<ValueId> arrays;
    for (const InstructionId operand : instruction.operands) {
      for (const ValueId value : leaves_of(operand)) arrays.push_back(value);
    }
    const Specs specs = placed(results);
    const Specs wanted = context_.placements.operands(instruction, arrays, specs.empty() ? ShardingSpec() : specs[0]);
    Instruction copy = hlo::clone(instruction, instruction.name, {});
    size_t leaf = 0;
    for (const InstructionId operand : instruction.operands) {
      const auto count = static_cast<size_t>(hlo::leaf_count(old_[operand].shape));
      copy.operands.push_back(assemble(old_[operand].shape, leaves_of(operand),
                                       Specs(wanted.begin() + static_cast<std::ptrdiff_t>(leaf),
                                             wanted.begin() + static_cast<std::ptrdiff_t>(leaf + count)),
                                       instruction.name));
      leaf += count;
    }
    // What an array must lie like is a placement of the array, no instruction.
    if (hlo::sharding_constraint(instruction)) return define(copy.operands.at(0), instruction.shape, results);
    if (partitioned_by_hand(instruction))
      return define(by_hand(std::move(copy), wanted, specs.at(0)), instruction.shape, results);
    const std::vector<int64_t> dims = hlo::summed_dims(context_.module, instruction);
    if (dims.empty()) return define(append(std::move(copy), specs), instruction.shape, results);
    const ShardingSpec made = summed(dims, wanted, specs.at(0));
    const InstructionId sum = append(std::move(copy), {made});
    define(made == specs[0] ? sum : scatter(sum, specs[0]), instruction.shape, results);
  }

  // Where a result lies when its addends are summed: an axis that divides `dims` of the first operand, over which the
  // operation sums, divides the result only once the sum is sliced.
  static ShardingSpec summed(const std::vector<int64_t>& dims, const Specs& wanted, const ShardingSpec& result) {
    std::vector<int> summed;
    for (const int64_t dim : dims) {
      const std::vector<int> axes = wanted.at(0).dims.at(static_cast<size_t>(dim)).axes();
      summed.insert(summed.end(), axes.begin(), axes.end());
    }
    return result.without(summed);
  }

  InstructionId scatter(InstructionId sum, const ShardingSpec& spec) {
    Instruction copy =
        hlo::make_instruction(Opcode::kCopy, fresh_name(new_[sum].name, "scatter"), new_[sum].shape, {sum});
    hlo::set_op_name(copy, hlo::op_name(new_[sum]));
    return append(std::move(copy), {spec});
  }

  // The partitioner gathers both sides of a grouped convolution, however they are divided. Each device computes its
  // part of the groups and of the batch instead, between the partitioner's own borders of hand-made partitioning.
  static bool partitioned_by_hand(const Instruction& instruction) {
    if (instruction.opcode != Opcode::kConvolution) return false;
    const hlo::ConvolutionDims dims = hlo::convolution_dims(instruction);
    return dims.feature_groups > 1 || dims.batch_groups > 1;
  }

  InstructionId append_manual(Instruction instruction) {
    OpSharding manual;
    manual.type = OpSharding::Type::kManual;
    hlo::set_sharding(instruction, manual);
    new_.instructions.push_back(std::move(instruction));
    return new_.size() - 1;
  }

  InstructionId by_hand(Instruction convolution, const Specs& wanted, const ShardingSpec& result) {
    const mesh::LogicalMesh& mesh = context_.plan.mesh;
    const std::string name = convolution.name;
    const tensor::Shape whole = convolution.shape;
    for (size_t k = 0; k < convolution.operands.size(); ++k) {
      InstructionId& operand = convolution.operands[k];
      operand =
          append_manual(hlo::make_custom_call("SPMDFullToShardShape", fresh_name(name, "shard"),
                                              sharding::local_shape(new_[operand].shape, wanted[k], mesh), {operand}));
    }
    const hlo::ConvolutionDims dims = hlo::convolution_dims(convolution);
    const int64_t parts = sharding::num_shards(wanted[1].dims[static_cast<size_t>(dims.kernel_output_feature)], mesh);
    hlo::set_groups(convolution, dims.feature_groups > 1 ? dims.feature_groups / parts : 1,
                    dims.batch_groups > 1 ? dims.batch_groups / parts : 1);
    convolution.shape = sharding::local_shape(whole, result, mesh);
    convolution.name = fresh_name(name, "local");
    const InstructionId local = append_manual(std::move(convolution));
    return append(hlo::make_custom_call("SPMDShardToFullShape", name, whole, {local}), {result});
  }

  // While and opt-barrier: the operand has the result's form, and lies as the result does.
  void same_form(InstructionId at) {
    const Instruction& instruction = old_[at];
    const Specs specs = placed(leaves_of(at));
    const InstructionId operand =
        assemble(instruction.shape, leaves_of(instruction.operands.at(0)), specs, instruction.name);
    define(append(hlo::clone(instruction, instruction.name, {operand}), specs), instruction.shape, leaves_of(at));
  }

  void conditional(InstructionId at) {
    const Instruction& instruction = old_[at];
    Instruction copy = hlo::clone(instruction, instruction.name, {});
    for (size_t k = 0; k < instruction.operands.size(); ++k) {
      const InstructionId operand = instruction.operands[k];
      const tensor::Shape& shape = old_[operand].shape;
      Specs specs;
      if (k == 0) {
        specs.push_back(ShardingSpec::replicated(shape.rank()));
      } else {
        const Computation& branch = context_.module.computation(instruction.called.at(k - 1));
        const InstructionId parameter = hlo::parameters(branch).at(0);
        for (const ValueId value :
             context_.graph.leaves[static_cast<size_t>(instruction.called[k - 1])][static_cast<size_t>(parameter)]) {
          specs.push_back(context_.placements.spec(value));
        }
      }
      copy.operands.push_back(assemble(shape, leaves_of(operand), specs, instruction.name));
    }
    define(append(std::move(copy), placed(leaves_of(at))), instruction.shape, leaves_of(at));
  }

  // One instruction that holds these values in these placements: the array itself, or a tuple of the given form.
  InstructionId assemble(const tensor::Shape& shape, const std::vector<ValueId>& values, const Specs& specs,
                         const std::string& name) {
    size_t leaf = 0;
    return assemble(shape, values, specs, name, leaf);
  }

  InstructionId assemble(const tensor::Shape& shape, const std::vector<ValueId>& values, const Specs& specs,
                         const std::string& name, size_t& leaf) {
    if (!shape.is_tuple()) {
      const InstructionId id = use(values.at(leaf), specs.at(leaf));
      ++leaf;
      return id;
    }
    const size_t first = leaf;
    std::vector<InstructionId> elements;
    for (const tensor::Shape& element : shape.elements)
      elements.push_back(assemble(element, values, specs, name, leaf));
    const Specs own(specs.begin() + static_cast<std::ptrdiff_t>(first),
                    specs.begin() + static_cast<std::ptrdiff_t>(leaf));
    return append(hlo::make_instruction(Opcode::kTuple, fresh_name(name, "tuple"), shape, std::move(elements)), own);
  }

  // The instruction that holds `value` placed as `wanted`; made if there is none yet.
  InstructionId use(ValueId value, const ShardingSpec& wanted) {
    const auto known = at_.find({value, wanted});
    if (known != at_.end()) return known->second;
    if (context_.placements.is_generator(value)) return at_[{value, wanted}] = generate(value, wanted);
    const ShardingSpec& have = context_.placements.spec(value);
    InstructionId from = at_.at({value, have});
    const std::string name = new_[from].name;
    for (const sharding::ReshardStep& step : context_.reshard.steps(shape_of(value), have, wanted)) {
      auto& made = at_.try_emplace({value, step.result}, -1).first->second;
      if (made < 0) {
        Instruction copy = hlo::make_instruction(Opcode::kCopy, fresh_name(name, "reshard"), shape_of(value), {from});
        hlo::set_op_name(copy, hlo::op_name(new_[from]));
        made = append(std::move(copy), {step.result});
      }
      from = made;
    }
    return from;
  }

  InstructionId generate(ValueId value, const ShardingSpec& spec) {
    const hlo::Node& node =
        context_.graph.nodes[static_cast<size_t>(context_.graph.values[static_cast<size_t>(value)].producer)];
    const Instruction& instruction = old_[node.instruction];
    std::vector<InstructionId> operands;
    for (const ValueId operand : node.operands)
      operands.push_back(use(operand, ShardingSpec::replicated(shape_of(operand).rank())));
    const bool first = generated_.insert(value).second;
    return append(
        hlo::clone(instruction, first ? instruction.name : fresh_name(instruction.name, "again"), std::move(operands)),
        {spec});
  }

  const Context& context_;
  const ComputationId id_;
  const Computation& old_;
  const Specs root_;
  Computation new_;
  std::map<std::pair<ValueId, ShardingSpec>, InstructionId> at_;
  std::set<ValueId> generated_;
  int64_t counter_ = 0;
};

// Placements that the roots of loop bodies and branches must end in, by computation; nothing for reducers and the like.
std::vector<std::optional<Specs>> root_specs(const hlo::Module& module, const hlo::ValueGraph& graph,
                                             const Placements& placements) {
  std::vector<std::optional<Specs>> result(module.computations.size());
  for (size_t id = 0; id < module.computations.size(); ++id) {
    const Computation& computation = module.computations[id];
    for (InstructionId at = 0; at < computation.size(); ++at) {
      const Instruction& instruction = computation[at];
      if (instruction.opcode != Opcode::kWhile && instruction.opcode != Opcode::kConditional) continue;
      Specs specs;
      for (const ValueId value : graph.leaves[id][static_cast<size_t>(at)]) specs.push_back(placements.spec(value));
      for (const ComputationId callee : instruction.called) result[static_cast<size_t>(callee)] = specs;
      if (instruction.opcode == Opcode::kWhile)
        result[static_cast<size_t>(instruction.called.at(1))] = Specs{ShardingSpec()};
    }
  }
  return result;
}

}  // namespace

hlo::Module annotate(const hlo::Module& module, const hlo::ValueGraph& graph, const plan::Plan& plan,
                     cost::ReshardModel& reshard) {
  const Placements placements(module, graph, plan);
  const Context context{module, graph, plan, placements, reshard};
  auto roots = root_specs(module, graph, placements);
  require<InvalidArgumentError>(plan.outputs.size() == graph.outputs.size(), "annotate",
                                "the plan has {} outputs, the program {}", plan.outputs.size(), graph.outputs.size());
  Specs outputs;
  for (const plan::TensorPlan& output : plan.outputs) outputs.push_back(output.spec);
  roots[static_cast<size_t>(module.entry)] = outputs;
  hlo::Module result;
  result.name = module.name;
  result.entry = module.entry;
  result.proto = module.proto;
  for (ComputationId id = 0; id < static_cast<ComputationId>(module.computations.size()); ++id) {
    const auto& root = roots[static_cast<size_t>(id)];
    result.computations.push_back(root ? ComputationAnnotator(context, id, *root).run() : module.computation(id));
  }
  return result;
}

}  // namespace alpa::passes
