#include "alpa/compiler/program.h"

#include <algorithm>
#include <map>
#include <set>

#include "alpa/base/error.h"
#include "alpa/base/name_source.h"
#include "alpa/compiler/accumulate.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/inline_calls.h"
#include "alpa/hlo/load.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/passes/drop_markers.h"
#include "alpa/passes/sharding_constraints.h"
#include "alpa/passes/tuple_branches.h"
#include "alpa/plan/plan.h"

namespace alpa::compiler {
namespace {

std::string unpacked_to_module(const std::string& bytes, std::string_view source, const StableHloReader& stablehlo) {
  switch (hlo::recognize(bytes)) {
    case hlo::FileKind::kHloModuleProto: return bytes;
    case hlo::FileKind::kHloProto: return hlo::module_of_hlo_proto(bytes);
    case hlo::FileKind::kStableHloText: hlo::check_nesting(bytes); [[fallthrough]];
    case hlo::FileKind::kStableHloArtifact: return stablehlo(bytes);
    case hlo::FileKind::kHloText: break;
  }
  raise<UnsupportedError>("program",
                          "{} is XLA's HLO text, which has no stable form: export the proto (HloModuleProto) or "
                          "StableHLO instead",
                          source);
}

tensor::Shape output_shape(const hlo::ValueGraph& graph, size_t index) {
  return graph.values[static_cast<size_t>(graph.outputs[index])].shape;
}

// What a step can report as its loss.
bool is_loss(const tensor::Shape& shape) {
  return shape.is_array() && shape.rank() == 0 && tensor::is_floating(shape.dtype) &&
         tensor::bit_width(shape.dtype) >= 16;
}

Meta guess_meta(const hlo::Module& module, const hlo::ValueGraph& graph) {
  Meta meta;
  const hlo::Computation& entry = module.entry_computation();
  std::set<std::string> taken;
  for (const hlo::InstructionId id : hlo::parameters(entry)) {
    InputMeta input;
    input.name = hlo::op_name(entry[id]);
    if (input.name.empty() || taken.contains(input.name)) input.name = entry[id].name;
    taken.insert(input.name);
    input.shape = entry[id].shape;
    meta.inputs.push_back(std::move(input));
  }
  for (size_t k = 0; k < graph.outputs.size(); ++k)
    meta.outputs.push_back({"output." + std::to_string(k), Role::kUnknown, std::nullopt});
  for (const int64_t donor : hlo::buffer_donors(module)) meta.inputs[static_cast<size_t>(donor)].donated = true;
  for (const hlo::Alias& alias : hlo::input_output_aliases(module)) {
    meta.inputs[static_cast<size_t>(alias.parameter)].donated = true;
    // XLA lets memory of the same size be reused for another shape.
    if (output_shape(graph, static_cast<size_t>(alias.output)) !=
        meta.inputs[static_cast<size_t>(alias.parameter)].shape)
      continue;
    meta.outputs[static_cast<size_t>(alias.output)].feeds_input = static_cast<int>(alias.parameter);
    meta.outputs[static_cast<size_t>(alias.output)].name = meta.inputs[static_cast<size_t>(alias.parameter)].name;
  }
  // State is what a step takes and gives back; without a sign of it, parameters look like a batch.
  const bool has_state =
      std::any_of(meta.inputs.begin(), meta.inputs.end(), [](const InputMeta& input) { return input.donated; });
  for (InputMeta& input : meta.inputs) {
    if (!has_state || input.donated || input.shape.rank() == 0) continue;
    input.role = Role::kBatch;
    input.batch_dim = 0;
  }
  for (size_t k = 0; k < meta.outputs.size(); ++k) {
    const tensor::Shape shape = output_shape(graph, k);
    if (meta.outputs[k].feeds_input || !is_loss(shape)) continue;
    meta.outputs[k].role = Role::kLoss;
    meta.outputs[k].name = "loss";
    break;
  }
  return meta;
}

void check_donations(const hlo::Module& module, const hlo::ValueGraph& graph) {
  const auto inputs = static_cast<int64_t>(graph.inputs.size());
  const auto outputs = static_cast<int64_t>(graph.outputs.size());
  for (const hlo::Alias& alias : hlo::input_output_aliases(module)) {
    require<InvalidArgumentError>(
        alias.output >= 0 && alias.output < outputs && alias.parameter >= 0 && alias.parameter < inputs, "program",
        "a donation entry names output {} and parameter {}, which the program lacks", alias.output, alias.parameter);
  }
  for (const int64_t donor : hlo::buffer_donors(module)) {
    require<InvalidArgumentError>(donor >= 0 && donor < inputs, "program",
                                  "a donation entry names parameter {}, which the program lacks", donor);
  }
}

void check_feeds(const Meta& meta) {
  std::map<int, std::string> fed;
  for (const OutputMeta& output : meta.outputs) {
    if (!output.feeds_input) continue;
    const auto [first, added] = fed.try_emplace(*output.feeds_input, output.name);
    require<InvalidArgumentError>(
        added, "meta", "outputs {} and {} both feed input {}: \"feeds_input\" may name it once", first->second,
        output.name, meta.inputs[static_cast<size_t>(*output.feeds_input)].name);
  }
}

// What feeds no input is not donated: XLA refuses to share memory between arrays that lie differently, and the next
// step wants the input again.
void keep_donations_of_fed_inputs(Program& program) {
  const std::vector<int64_t> donors = hlo::buffer_donors(program.module);
  std::set<int64_t> donated(donors.begin(), donors.end());
  bool all_feed = donors.empty();
  for (const hlo::Alias& alias : hlo::input_output_aliases(program.module)) {
    donated.insert(alias.parameter);
    all_feed &= program.meta.outputs[static_cast<size_t>(alias.output)].feeds_input == alias.parameter;
  }
  if (all_feed) return;
  std::vector<hlo::Alias> kept;
  for (size_t k = 0; k < program.meta.outputs.size(); ++k) {
    const auto feeds = program.meta.outputs[k].feeds_input;
    if (!feeds || donated.erase(*feeds) == 0) continue;
    kept.push_back({.output = static_cast<int64_t>(k), .parameter = *feeds});
  }
  for (const int64_t input : donated) program.unfed_donations.push_back(static_cast<int>(input));
  hlo::set_input_output_aliases(program.module, kept);
}

void check_losses(const Meta& meta, const hlo::ValueGraph& graph) {
  const OutputMeta* first = nullptr;
  for (size_t k = 0; k < meta.outputs.size(); ++k) {
    const OutputMeta& output = meta.outputs[k];
    if (output.role != Role::kLoss) continue;
    const tensor::Shape shape = output_shape(graph, k);
    require<InvalidArgumentError>(is_loss(shape), "meta",
                                  "output {} has the role loss, but is {}: a loss is one real number (f16, bf16, f32, "
                                  "f64); give it no role",
                                  output.name, tensor::to_string(shape));
    require<InvalidArgumentError>(first == nullptr, "meta", "outputs {} and {} both have the role loss: leave one",
                                  first == nullptr ? "" : first->name, output.name);
    first = &output;
  }
}

void check_fits(const Meta& meta, const hlo::Module& module, const hlo::ValueGraph& graph) {
  const auto params = hlo::parameters(module.entry_computation());
  require<InvalidArgumentError>(meta.inputs.size() == params.size(), "meta",
                                "it has {} inputs, the program {}: is it of this program?", meta.inputs.size(),
                                params.size());
  for (size_t k = 0; k < params.size(); ++k) {
    const tensor::Shape& shape = module.entry_computation()[params[k]].shape;
    require<InvalidArgumentError>(meta.inputs[k].shape == shape, "meta", "input {} is {} there, {} in the program",
                                  meta.inputs[k].name, tensor::to_string(meta.inputs[k].shape),
                                  tensor::to_string(shape));
  }
  require<InvalidArgumentError>(meta.outputs.size() == graph.outputs.size(), "meta",
                                "it has {} outputs, the program {}: is it of this "
                                "program?",
                                meta.outputs.size(), graph.outputs.size());
  check_losses(meta, graph);
  for (size_t k = 0; k < meta.outputs.size(); ++k) {
    const auto& shape = meta.outputs[k].shape;
    require<InvalidArgumentError>(!shape || *shape == output_shape(graph, k), "meta",
                                  "output {} is {} there, {} in the program", meta.outputs[k].name,
                                  shape ? tensor::to_string(*shape) : "", tensor::to_string(output_shape(graph, k)));
    if (!meta.outputs[k].feeds_input) continue;
    const InputMeta& input = meta.inputs[static_cast<size_t>(*meta.outputs[k].feeds_input)];
    require<InvalidArgumentError>(output_shape(graph, k) == input.shape, "meta",
                                  "output {} cannot feed input {}: {} and {}", meta.outputs[k].name, input.name,
                                  tensor::to_string(output_shape(graph, k)), tensor::to_string(input.shape));
  }
}

hlo::Module prepared(hlo::Module module, const passes::PassObserver& observer, bool accumulates) {
  const int64_t count = hlo::instruction_count(module);
  if (observer) observer({"read", 0, count, count}, module);
  const auto drop = accumulates ? passes::drop_other_markers : passes::drop_markers;
  module = passes::run_pass("drop_markers", module, drop, observer);
  module = passes::run_pass("sharding_constraints", module, passes::sharding_constraints, observer);
  module = passes::run_pass("inline_calls", module, hlo::inline_calls, observer);
  return passes::run_pass("tuple_branches", module, passes::tuple_branches, observer);
}

}  // namespace

std::string module_bytes(std::string bytes, std::string_view source, const StableHloReader& stablehlo) {
  return unpacked_to_module(hlo::unpack(std::move(bytes)), source, stablehlo);
}

Program load_program(std::string bytes, std::string_view source, const std::optional<Meta>& meta,
                     const StableHloReader& stablehlo, const passes::PassObserver& observer, int64_t micro_batches) {
  Program program;
  bytes = hlo::unpack(std::move(bytes));
  program.hash = plan::program_hash(bytes);
  program.module =
      prepared(hlo::read_module(unpacked_to_module(bytes, source, stablehlo)), observer, micro_batches > 1);
  program.graph = hlo::build_value_graph(program.module);
  check_donations(program.module, program.graph);
  if (meta) name_source(meta->source, [&] { check_fits(*meta, program.module, program.graph); });
  program.meta = meta ? *meta : guess_meta(program.module, program.graph);
  check_feeds(program.meta);
  keep_donations_of_fed_inputs(program);
  if (micro_batches > 1) accumulate(program, micro_batches, observer);
  return program;
}

Program program_from_module(hlo::Module module, Meta meta, int64_t micro_batches) {
  std::vector<hlo::Alias> aliases;
  for (size_t k = 0; k < meta.outputs.size(); ++k) {
    const auto fed = meta.outputs[k].feeds_input;
    if (fed && meta.inputs[static_cast<size_t>(*fed)].donated) aliases.push_back({static_cast<int64_t>(k), *fed});
  }
  hlo::set_input_output_aliases(module, aliases);
  const std::string bytes = hlo::write_module(module);
  return load_program(bytes, module.name, meta, nullptr, {}, micro_batches);
}

void check_steps(const Program& program, int64_t steps) {
  if (steps <= 1) return;
  for (const int input : program.unfed_donations) {
    const InputMeta& meta = program.meta.inputs[static_cast<size_t>(input)];
    require<InvalidArgumentError>(meta.role == Role::kBatch, "steps",
                                  "{} steps: the program gives up its input {} (it is donated) and no output feeds it; "
                                  "name that output by \"feeds_input\" in --meta, or run 1 step",
                                  steps, meta.name);
  }
}

}  // namespace alpa::compiler
