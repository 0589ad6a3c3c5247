#include "random_programs.h"

#include <algorithm>
#include <limits>
#include <random>

#include "alpa/cost/collective_model.h"
#include "alpa/hlo/builder.h"
#include "alpa/mesh/cluster.h"
#include "alpa/planner/intra/rule_book.h"
#include "alpa/planner/intra/strategy.h"

namespace alpa::property {
namespace {

using hlo::ComputationBuilder;
using hlo::InstructionId;
using hlo::ModuleBuilder;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

const std::vector<int64_t> kEdges = {-40, -9, -1, 0, 1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 31, 32, 99};

class Author {
 public:
  Author(uint32_t seed, bool held) : random_(seed), held_(held), module_("random") {}

  hlo::Module run() {
    InstructionId x = builder_.parameter(f32({sizes(), sizes()}));
    std::vector<InstructionId> results;
    const int64_t steps = 2 + below(4);
    for (int64_t k = 0; k < steps; ++k) {
      x = hold(step(x));
      if (below(3) == 0) results.push_back(x);
    }
    results.push_back(x);
    const InstructionId root = builder_.tuple(results);
    return std::move(module_).build(std::move(builder_).build(root));
  }

 private:
  static Shape f32(std::vector<int64_t> dims) { return Shape(DType::kF32, std::move(dims)); }
  static Shape s32(std::vector<int64_t> dims) { return Shape(DType::kS32, std::move(dims)); }

  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  int64_t pick(const std::vector<int64_t>& of) {
    return of[static_cast<size_t>(below(static_cast<int64_t>(of.size())))];
  }
  int64_t sizes() { return pick({8, 16, 16, 32}); }
  std::vector<int64_t> dims(InstructionId x) const { return builder_.shape(x).dims; }

  InstructionId hold(InstructionId x) {
    return held_ ? builder_.op(Opcode::kOptimizationBarrier, Shape(builder_.shape(x)), {x}) : x;
  }

  // A part of a dim: the whole, a half, a quarter, one.
  int64_t part(int64_t size) {
    const int64_t by = pick({1, 1, 2, 4, size});
    return size % by == 0 ? size / by : size;
  }

  InstructionId start() {
    return below(3) == 0 ? builder_.scalar(DType::kS32, static_cast<double>(pick(kEdges)))
                         : builder_.parameter(s32({}));
  }

  InstructionId indices(const std::vector<int64_t>& of) {
    if (below(3) != 0) return builder_.parameter(s32(of));
    tensor::Literal literal(s32(of));
    for (int64_t k = 0; k < tensor::num_elements(literal.shape()); ++k)
      literal.set(k, static_cast<double>(pick(kEdges)));
    return builder_.constant(literal);
  }

  InstructionId step(InstructionId x) {
    const std::vector<int64_t> from = dims(x);
    switch (below(tensor::num_elements(builder_.shape(x)) > 2048 ? 12 : 16)) {
      case 0:
      case 1:
      case 2: return dynamic_slice(x);
      case 3: return update(x);
      case 4:
      case 5: return gather(x);
      case 6:
      case 7:
      case 8: return scatter(x);
      case 9: return slice(x);
      case 10: return extremum(x);
      case 11: return simple(x);
      case 12: return roll(x);
      case 13: return pad(x);
      case 14: return concatenate(x);
      default: return sort(x);
    }
  }

  InstructionId dynamic_slice(InstructionId x) {
    std::vector<int64_t> to;
    for (const int64_t size : dims(x)) to.push_back(part(size));
    return builder_.dynamic_slice(f32(to), {x, start(), start()});
  }

  // Writes what comes from elsewhere, or what was read at the same place and changed inside.
  InstructionId update(InstructionId x) {
    std::vector<int64_t> to;
    for (const int64_t size : dims(x)) to.push_back(part(size));
    const std::vector<InstructionId> at{start(), start()};
    InstructionId piece =
        below(2) == 0 ? builder_.parameter(f32(to)) : hold(builder_.dynamic_slice(f32(to), {x, at[0], at[1]}));
    if (below(2) == 0) {
      const InstructionId inner = builder_.parameter(f32({part(to[0]), part(to[1])}));
      piece = hold(builder_.op(Opcode::kDynamicUpdateSlice, f32(to), {piece, inner, start(), start()}));
    }
    return builder_.op(Opcode::kDynamicUpdateSlice, f32(dims(x)), {x, piece, at[0], at[1]});
  }

  // Whole rows or columns, or windows of them.
  InstructionId gather(InstructionId x) {
    const std::vector<int64_t> from = dims(x);
    const int64_t count = pick({1, 1, 2, 8});
    const int64_t dim = below(2);
    const int64_t other = 1 - dim;
    const int64_t kept = from[static_cast<size_t>(other)];
    std::vector<int64_t> window(2, 1);
    window[static_cast<size_t>(other)] = kept;
    if (below(3) != 0) {
      const InstructionId at = indices({count, 1});
      hlo::GatherDims how{{1}, {dim}, {dim}, {}, {}, window, 1};
      return builder_.gather(f32({count, kept}), x, at, how);
    }
    const int64_t width = part(from[static_cast<size_t>(dim)]);
    window[static_cast<size_t>(dim)] = width;
    const InstructionId at = indices({1, 1});
    std::vector<int64_t> to{1, window[0], window[1]};
    hlo::GatherDims how{{1, 2}, {}, {dim}, {}, {}, window, 1};
    return builder_.op(Opcode::kReshape, f32(window), {hold(builder_.gather(f32(to), x, at, how))});
  }

  // Rows, columns, single elements or windows. Several updates at one place are combined in no order: then none is
  // plainly written.
  InstructionId scatter(InstructionId x) {
    const std::vector<int64_t> from = dims(x);
    const int64_t count = pick({1, 1, 1, 2, 8});
    hlo::ComputationId combiner = 0;
    if (count == 1 && below(2) == 0) {
      ComputationBuilder second("second." + std::to_string(counter_++));
      second.parameter(f32({}));
      combiner = module_.add(std::move(second).build(second.parameter(f32({}))));
    } else {
      const Opcode opcodes[] = {Opcode::kAdd, Opcode::kMaximum, Opcode::kMultiply, Opcode::kMinimum};
      combiner = module_.reducer(opcodes[below(4)], DType::kF32);
    }
    const int64_t form = below(4);
    const int64_t dim = below(2);
    const int64_t kept = from[static_cast<size_t>(1 - dim)];
    if (form <= 1) {
      const InstructionId at = indices({count, 1});
      const InstructionId updates = builder_.parameter(f32({count, kept}));
      return builder_.scatter(x, at, updates, {{1}, {dim}, {dim}, {}, {}, 1}, combiner);
    }
    if (form == 2) {
      const InstructionId at = indices({count, 2});
      const InstructionId updates = builder_.parameter(f32({count}));
      return builder_.scatter(x, at, updates, {{}, {0, 1}, {0, 1}, {}, {}, 1}, combiner);
    }
    const InstructionId at = indices({count, 1});
    std::vector<int64_t> window{count, from[0], from[1]};
    window[static_cast<size_t>(dim) + 1] = part(from[static_cast<size_t>(dim)]);
    const InstructionId updates = builder_.parameter(f32(window));
    return builder_.scatter(x, at, updates, {{1, 2}, {}, {dim}, {}, {}, 1}, combiner);
  }

  InstructionId slice(InstructionId x) {
    const std::vector<int64_t> from = dims(x);
    std::vector<int64_t> to;
    std::vector<hlo::SliceDim> how;
    for (const int64_t size : from) {
      const int64_t length = part(size);
      const int64_t first = below(size - length + 1);
      const int64_t stride = length % 2 == 0 && below(3) == 0 ? 2 : 1;
      how.push_back({first, first + length, stride});
      to.push_back((length + stride - 1) / stride);
    }
    return builder_.slice(f32(to), x, how);
  }

  InstructionId extremum(InstructionId x) {
    const std::vector<int64_t> from = dims(x);
    const int64_t dim = below(2);
    const bool most = below(2) == 0;
    const auto reducer = module_.reducer(most ? Opcode::kMaximum : Opcode::kMinimum, DType::kF32);
    const double infinity = std::numeric_limits<double>::infinity();
    const InstructionId init = builder_.scalar(DType::kF32, most ? -infinity : infinity);
    const InstructionId found = hold(builder_.with_dimensions(
        Opcode::kReduce, f32({from[static_cast<size_t>(1 - dim)]}), {x, init}, {dim}, {reducer}));
    const InstructionId spread = builder_.with_dimensions(Opcode::kBroadcast, f32(from), {found}, {1 - dim});
    return builder_.op(Opcode::kSubtract, f32(from), {x, spread});
  }

  InstructionId simple(InstructionId x) {
    const std::vector<int64_t> from = dims(x);
    switch (below(5)) {
      case 0: return builder_.with_dimensions(Opcode::kTranspose, f32({from[1], from[0]}), {x}, {1, 0});
      case 1: return builder_.with_dimensions(Opcode::kReverse, f32(from), {x}, {below(2)});
      case 2: return builder_.op(Opcode::kReshape, f32({from[1], from[0]}), {x});
      case 3: return builder_.op(Opcode::kAdd, f32(from), {x, builder_.parameter(f32(from))});
      default: return builder_.dot(f32({from[0], 16}), x, builder_.parameter(f32({from[1], 16})), {{1}, {0}, {}, {}});
    }
  }

  // A dynamic-slice of the array beside itself.
  InstructionId roll(InstructionId x) {
    const std::vector<int64_t> from = dims(x);
    const InstructionId twice =
        hold(builder_.with_dimensions(Opcode::kConcatenate, f32({2 * from[0], from[1]}), {x, x}, {0}));
    return builder_.dynamic_slice(f32(from), {twice, start(), builder_.scalar(DType::kS32, 0)});
  }

  InstructionId pad(InstructionId x) {
    const std::vector<int64_t> from = dims(x);
    const int64_t dim = below(2);
    const int64_t size = from[static_cast<size_t>(dim)];
    std::vector<hlo::PadDim> how(2);
    const std::vector<hlo::PadDim> forms{{size, 0, 0}, {0, size, 0}, {-size / 2, 0, 0}, {-1, 1, 0}, {1, 0, 1}};
    how[static_cast<size_t>(dim)] = forms[static_cast<size_t>(below(5))];
    std::vector<int64_t> to = from;
    const hlo::PadDim& one = how[static_cast<size_t>(dim)];
    to[static_cast<size_t>(dim)] += one.low + one.high + one.interior * (size - 1);
    return builder_.pad(f32(to), x, builder_.scalar(DType::kF32, 0.5), how);
  }

  InstructionId concatenate(InstructionId x) {
    std::vector<int64_t> to = dims(x);
    const InstructionId other = builder_.parameter(f32(to));
    const int64_t dim = below(2);
    to[static_cast<size_t>(dim)] *= 2;
    return builder_.with_dimensions(Opcode::kConcatenate, f32(to), {x, other}, {dim});
  }

  InstructionId sort(InstructionId x) {
    ComputationBuilder less("less." + std::to_string(counter_++));
    const InstructionId lhs = less.parameter(f32({}));
    const InstructionId root = less.compare("LT", lhs, less.parameter(f32({})));
    const auto comparator = module_.add(std::move(less).build(root));
    return builder_.with_dimensions(Opcode::kSort, f32(dims(x)), {x}, {below(2)}, {comparator});
  }

  std::mt19937 random_;
  const bool held_;
  ModuleBuilder module_;
  ComputationBuilder builder_{"main"};
  int64_t counter_ = 0;
};

}  // namespace

hlo::Module random_program(uint32_t seed, bool held) { return Author(seed, held).run(); }

plan::Plan random_plan(const compiler::Program& program, const mesh::LogicalMesh& mesh, uint32_t seed) {
  std::mt19937 random(seed);
  const hlo::ValueGraph& graph = program.graph;
  const mesh::ClusterSpec cluster = mesh::local_cpu(8);
  const cost::CollectiveModel collectives(cluster, mesh);
  const planner::RuleBook rules(program.module, graph);
  planner::StrategyMaker maker(rules, graph, collectives);
  plan::Plan plan;
  plan.program_hash = program.hash;
  plan.mesh = mesh;
  plan.cluster = cluster;
  std::vector<sharding::ShardingSpec> specs;
  for (const hlo::Value& value : graph.values) specs.push_back(sharding::ShardingSpec::replicated(value.shape.rank()));
  for (hlo::NodeId id = 0; id < static_cast<hlo::NodeId>(graph.nodes.size()); ++id) {
    if (hlo::is_generator(program.module, graph, id)) continue;
    const hlo::Node& node = graph.nodes[static_cast<size_t>(id)];
    const auto table = maker.table(id);
    const planner::Strategy& strategy = table->strategies[random() % table->strategies.size()];
    for (size_t k = 0; k < node.results.size(); ++k) specs[static_cast<size_t>(node.results[k])] = strategy.results[k];
    const std::string& name = program.module.computation(node.computation)[node.instruction].name;
    plan.ops[name] = strategy.results;
    if (!strategy.operands.empty()) plan.operands[name] = strategy.operands;
  }
  for (const hlo::ValueId value : graph.inputs)
    plan.inputs.push_back({"", graph.values[static_cast<size_t>(value)].shape, specs[static_cast<size_t>(value)]});
  for (const hlo::ValueId value : graph.outputs) {
    const tensor::Shape& shape = graph.values[static_cast<size_t>(value)].shape;
    const auto ways = sharding::enumerate_specs(shape, mesh);
    plan.outputs.push_back({"", shape, ways[random() % ways.size()]});
  }
  return plan;
}

std::vector<tensor::Literal> edge_inputs(const compiler::Program& program, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  std::vector<tensor::Literal> inputs;
  for (const hlo::ValueId input : program.graph.inputs) {
    tensor::Literal literal(program.graph.values[static_cast<size_t>(input)].shape);
    for (int64_t k = 0; k < tensor::num_elements(literal.shape()); ++k) {
      literal.set(k, tensor::is_integral(literal.shape().dtype) ? static_cast<double>(kEdges[random() % kEdges.size()])
                                                                : real(random));
    }
    inputs.push_back(std::move(literal));
  }
  return inputs;
}

}  // namespace alpa::property
