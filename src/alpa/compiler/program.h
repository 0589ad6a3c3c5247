#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "alpa/compiler/meta.h"
#include "alpa/hlo/value_graph.h"
#include "alpa/passes/run_pass.h"

namespace alpa::compiler {

/// A training step for one device, ready to be planned.
struct Program {
  std::string hash;    ///< Of the file's unpacked bytes.
  hlo::Module module;  ///< Markers dropped, calls inlined.
  hlo::ValueGraph graph;
  Meta meta;  ///< As given, or made up from the module; fits it.
};

/// Turns StableHLO into a serialized HloModuleProto: what a plug-in does.
using StableHloReader = std::function<std::string(std::string_view)>;

/// The serialized HloModuleProto that the bytes of a file hold, whatever its form. Errors: as load_program.
std::string module_bytes(std::string bytes, std::string_view source, const StableHloReader& stablehlo);

/// Reads a step from the bytes of its file (plain or xz; HloModuleProto, HloProto, StableHLO). Without `meta`, names
/// come from each parameter's op_name, and state from the donation entries. `observer` sees each pass. Errors:
/// InvalidArgumentError that names `source` and what is wrong with it; UnsupportedError for XLA's HLO text.
Program load_program(std::string bytes, std::string_view source, const std::optional<Meta>& meta,
                     const StableHloReader& stablehlo, const passes::PassObserver& observer = {});

}  // namespace alpa::compiler
