#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/liveness.h"
#include "alpa/hlo/text.h"
#include "alpa/hlo/trip_count.h"
#include "command.h"
#include "format.h"
#include "step_options.h"

namespace alpa::tool {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  alpa show step.hlo.pb.xz\n"
    "  alpa show dump/07_partition.hlo.pb --stats";

double bytes_of(const tensor::Shape& shape) { return static_cast<double>(tensor::byte_size(shape)); }

/// Bytes that all instructions read and write if none is fused, loops once.
double traffic_bytes(const hlo::Module& module) {
  double bytes = 0;
  for (const hlo::Computation& computation : module.computations) {
    for (const hlo::Instruction& one : computation.instructions) {
      const bool free = one.opcode == hlo::Opcode::kParameter || one.opcode == hlo::Opcode::kTuple ||
                        one.opcode == hlo::Opcode::kGetTupleElement || one.opcode == hlo::Opcode::kConstant ||
                        one.opcode == hlo::Opcode::kWhile || one.opcode == hlo::Opcode::kCall ||
                        one.opcode == hlo::Opcode::kConditional || one.opcode == hlo::Opcode::kBitcast;
      if (free) continue;
      bytes += bytes_of(one.shape);
      for (const hlo::InstructionId operand : one.operands) bytes += bytes_of(computation[operand].shape);
    }
  }
  return bytes;
}

std::string sizes_table(const hlo::Module& module) {
  const hlo::Computation& entry = module.entry_computation();
  double parameter_bytes = 0;
  double elements = 0;
  const auto parameters = hlo::parameters(entry);
  for (const hlo::InstructionId id : parameters) {
    parameter_bytes += bytes_of(entry[id].shape);
    elements += static_cast<double>(tensor::num_elements(entry[id].shape));
  }
  const auto flops = static_cast<double>(hlo::flops(module));
  const auto contractions = static_cast<double>(hlo::contraction_flops(module));
  Table table({{"of the module"}, {"", true}, {""}});
  table.add({"parameters", format_count(static_cast<double>(parameters.size())),
             fmt::format("{} elements, {}", format_count(elements), format_bytes(parameter_bytes))});
  table.add({"donated to outputs", format_count(static_cast<double>(hlo::input_output_aliases(module).size()))});
  table.add({"result", "", format_bytes(bytes_of(entry[entry.root].shape))});
  table.add({"computations", format_count(static_cast<double>(module.computations.size()))});
  table.add({"instructions", format_count(static_cast<double>(hlo::instruction_count(module)))});
  table.add({"FLOPs", "", format_flops(flops)});
  table.add({"  in dots and convolutions", "",
             fmt::format("{} ({:.1f} %)", format_flops(contractions), flops > 0 ? 100 * contractions / flops : 0.0)});
  const hlo::Liveness alive = hlo::liveness(module, entry);
  table.add({"most bytes alive", "",
             fmt::format("{} in program order, of them {} parameters; at {}",
                         format_bytes(static_cast<double>(alive.peak_bytes)),
                         format_bytes(static_cast<double>(alive.parameter_bytes)), entry[alive.peak_at].name)});
  table.add({"bytes read and written", "", format_bytes(traffic_bytes(module)) + " if nothing is fused, loops once"});
  return table.text() + "\n";
}

std::string opcodes_table(const hlo::Module& module) {
  std::map<std::string_view, int64_t> counts;
  for (const hlo::Computation& computation : module.computations) {
    for (const hlo::Instruction& one : computation.instructions) ++counts[hlo::name(one.opcode)];
  }
  std::vector<std::pair<std::string_view, int64_t>> rows(counts.begin(), counts.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Table table({{"opcode"}, {"instructions", true}});
  for (const auto& [opcode, count] : rows) table.add({std::string(opcode), format_count(static_cast<double>(count))});
  return table.text();
}

std::string loops_table(const hlo::Module& module) {
  Table table({{"loop"}, {"in"}, {"runs", true}, {"carries", true}});
  for (const hlo::Computation& computation : module.computations) {
    for (const hlo::Instruction& one : computation.instructions) {
      if (one.opcode != hlo::Opcode::kWhile) continue;
      const auto count = hlo::trip_count(module, computation, one);
      table.add({one.name, computation.name, count ? format_count(static_cast<double>(*count)) : "unknown",
                 format_bytes(bytes_of(one.shape))});
    }
  }
  return table.empty() ? "" : table.text() + "\n";
}

int run(const std::string& file, const std::string& plugin, bool stats) {
  const hlo::Module module = load_module(file, plugin.empty() ? std::nullopt : std::optional(plugin));
  if (!stats) {
    fmt::print("{}", hlo::to_text(module));
    return 0;
  }
  fmt::print("{}: module {}\n\n{}{}{}", file, module.name, sizes_table(module), loops_table(module),
             opcodes_table(module));
  return 0;
}

}  // namespace

Command add_show(CLI::App& root) {
  CLI::App* app = root.add_subcommand("show", "Prints a program as text, or what it consists of");
  auto file = std::make_shared<std::string>();
  auto plugin = std::make_shared<std::string>();
  auto stats = std::make_shared<bool>(false);
  app->footer(kExamples);
  app->add_option("FILE", *file, "HloModuleProto, HloProto, StableHLO text or portable artifact; plain or .xz")
      ->required();
  app->add_flag("--stats", *stats, "Parameters, FLOPs, bytes, loops and instructions by opcode instead of the text");
  app->add_option("--plugin", *plugin,
                  "PJRT plug-in that reads StableHLO. Default: ALPA_PJRT_PLUGIN, else the installed wheels");
  return {app, [file, plugin, stats] { return run(*file, *plugin, *stats); }};
}

}  // namespace alpa::tool
