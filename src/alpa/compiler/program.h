#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/compiler/meta.h"
#include "alpa/hlo/value_graph.h"
#include "alpa/passes/accumulation.h"
#include "alpa/passes/run_pass.h"

namespace alpa::compiler {

/// A training step for one device, ready to be planned.
struct Program {
  std::string hash;    ///< Of the file's unpacked bytes.
  hlo::Module module;  ///< Markers dropped, calls inlined; donates what outputs feed and nothing else.
  hlo::ValueGraph graph;
  Meta meta;  ///< As given, or made up from the module; fits it.
  /// Of a step that runs its batch in parts: where the module, which is the step of one part, has flag and accumulators
  /// after the inputs and outputs that `meta` lists. What runs once a part is executed so often in `graph`.
  std::optional<passes::Accumulation> accumulation = std::nullopt;
  /// Inputs that the file's program gives up (donates) in a step though no output feeds them: the module keeps them.
  std::vector<int> unfed_donations = {};

  int64_t micro_batches() const { return accumulation ? accumulation->micro_batches : 1; }
};

/// Turns StableHLO into a serialized HloModuleProto: what a plug-in does.
using StableHloReader = std::function<std::string(std::string_view)>;

/// The serialized HloModuleProto that the bytes of a file hold, whatever its form. Errors: as load_program.
std::string module_bytes(std::string bytes, std::string_view source, const StableHloReader& stablehlo);

/// Reads a step from the bytes of its file (plain or xz; HloModuleProto, HloProto, StableHLO). Without `meta`, names
/// come from each parameter's op_name, and state from the donation entries; what is not donated is the batch, unless
/// nothing is: then it is not known. `observer` sees each pass. With `micro_batches` above 1 the step is that of one of
/// so many parts of a batch, with its gradients accumulated. Errors: InvalidArgumentError that names `source` and what
/// is wrong with it; UnsupportedError for XLA's HLO text; those of passes::write_accumulation.
Program load_program(std::string bytes, std::string_view source, const std::optional<Meta>& meta,
                     const StableHloReader& stablehlo, const passes::PassObserver& observer = {},
                     int64_t micro_batches = 1);

/// A step that a front end built, whose inputs and outputs `meta` describes. Donation follows it: each output that
/// feeds a donated input takes its memory. Errors: as load_program.
Program program_from_module(hlo::Module module, Meta meta, int64_t micro_batches = 1);

/// Errors: InvalidArgumentError if the program cannot be run `steps` times in a row: an input of its state is given up
/// in the first step and nothing feeds it. Batch inputs are the same in each step.
void check_steps(const Program& program, int64_t steps);

}  // namespace alpa::compiler
