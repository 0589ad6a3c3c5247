#include "alpa/compiler/accumulate.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/passes/drop_markers.h"
#include "alpa/passes/split_accumulation.h"
#include "alpa/passes/write_accumulation.h"

namespace alpa::compiler {
namespace {

constexpr const char* kPlace = "micro-batches";

void check_batch(const Meta& meta, int64_t micro_batches) {
  const bool known = std::any_of(meta.inputs.begin(), meta.inputs.end(),
                                 [](const InputMeta& input) { return input.batch_dim.has_value(); });
  require<InvalidArgumentError>(known, kPlace,
                                "{} micro-batches are parts of a batch, and no input is known to be one: give --meta "
                                "with \"role\": \"batch\" and \"batch_dim\", or use 1",
                                micro_batches);
  for (const OutputMeta& output : meta.outputs) {
    if (!output.feeds_input) continue;
    const InputMeta& input = meta.inputs[static_cast<size_t>(*output.feeds_input)];
    require<InvalidArgumentError>(!input.batch_dim, kPlace,
                                  "output {} feeds input {}, which is cut into {} micro-batches: what a step hands on "
                                  "to the next cannot be cut; give it no batch_dim, or use 1 micro-batch",
                                  output.name, input.name, micro_batches);
  }
}

// Nodes of loops and branches run as often more as the instruction that calls them.
void count_executions(const hlo::Module& module, const passes::Accumulation& layout, hlo::ValueGraph& graph) {
  const std::vector<double> entry = passes::executions_in_parts(module, layout);
  std::vector<double> called(module.computations.size(), 1);
  const auto times = [&](hlo::ComputationId computation, hlo::InstructionId id) {
    return computation == module.entry ? std::max(entry[static_cast<size_t>(id)], 1.0)
                                       : called[static_cast<size_t>(computation)];
  };
  for (size_t id = module.computations.size(); id-- > 0;) {  // callers come after what they call
    const hlo::Computation& computation = module.computations[id];
    for (hlo::InstructionId at = 0; at < computation.size(); ++at) {
      for (const hlo::ComputationId callee : computation[at].called)
        called[static_cast<size_t>(callee)] = times(static_cast<hlo::ComputationId>(id), at);
    }
  }
  for (hlo::Node& node : graph.nodes) {
    if (node.kind != hlo::Node::Kind::kInput) node.executions *= times(node.computation, node.instruction);
  }
  for (hlo::Tie& tie : graph.ties) {
    const hlo::Node& to = graph.nodes[static_cast<size_t>(graph.values[static_cast<size_t>(tie.to)].producer)];
    tie.executions *= times(to.computation, to.instruction);
  }
}

}  // namespace

void accumulate(Program& program, int64_t micro_batches, const passes::PassObserver& observer) {
  check_batch(program.meta, micro_batches);
  passes::AccumulationRequest request{micro_batches, {}, {}, std::nullopt};
  for (const InputMeta& input : program.meta.inputs) request.batch_inputs.push_back(input.batch_dim.has_value());
  for (const OutputMeta& output : program.meta.outputs) request.output_names.push_back(output.name);
  if (!program.meta.marked.empty()) request.marked_operands = program.meta.marked.size();
  const auto write = [&](const hlo::Module& module) {
    passes::WrittenAccumulation written = passes::write_accumulation(module, request);
    program.accumulation = written.layout;
    return passes::drop_markers(written.module);  // those in loops and branches
  };
  program.module = passes::run_pass("write_accumulation", program.module, write, observer);
  build_graph(program);
}

void build_graph(Program& program) {
  program.graph = hlo::build_value_graph(program.module);
  if (program.accumulation) count_executions(program.module, *program.accumulation, program.graph);
}

}  // namespace alpa::compiler
