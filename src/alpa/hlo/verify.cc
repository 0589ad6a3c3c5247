#include "alpa/hlo/verify.h"

#include <string_view>
#include <unordered_set>

#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/verify_check.h"

namespace alpa::hlo {
namespace {

using verifying::Context;
using verifying::Site;

// Computations can call each other so that the program doubles at each level; no real one comes near this.
constexpr int64_t kMaxExpanded = 5'000'000;
constexpr int kMaxDepth = 256;
// Of all results together: so no sum of bytes over a program overflows.
constexpr int64_t kMaxBytes = int64_t{1} << 61;
constexpr int kMaxRank = 64;

void check_edges(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  require<InvalidArgumentError>(computation.root >= 0 && computation.root < computation.size(), "hlo",
                                "computation {} has no root", computation.name);
  for (InstructionId at = 0; at < computation.size(); ++at) {
    const Instruction& instruction = computation[at];
    ALPA_CHECK(instruction.proto != nullptr);
    const auto comes_before = [&](InstructionId other, std::string_view what) {
      require<InvalidArgumentError>(other >= 0 && other < at, "hlo", "instruction {}: {} does not come before it",
                                    instruction.name, what);
    };
    for (const InstructionId operand : instruction.operands) comes_before(operand, "an operand");
    for (const InstructionId before : instruction.control_predecessors) comes_before(before, "a control predecessor");
    for (const ComputationId callee : instruction.called) {
      require<InvalidArgumentError>(callee >= 0 && callee < id, "hlo",
                                    "instruction {}: its callee does not come before it", instruction.name);
    }
  }
}

void check_names(const Module& module) {
  std::unordered_set<std::string_view> names;
  names.reserve(static_cast<size_t>(instruction_count(module)));
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      require<InvalidArgumentError>(!instruction.name.empty(), "hlo", "an instruction of computation {} has no name",
                                    computation.name);
      require<InvalidArgumentError>(names.insert(instruction.name).second, "hlo", "two instructions are named {}",
                                    instruction.name);
    }
  }
}

void check_parameters(const Computation& computation) {
  int64_t count = 0;
  for (const Instruction& instruction : computation.instructions) count += instruction.opcode == Opcode::kParameter;
  std::vector<bool> seen(static_cast<size_t>(count));
  for (const Instruction& instruction : computation.instructions) {
    if (instruction.opcode != Opcode::kParameter) continue;
    const int64_t number = parameter_number(instruction);
    require<InvalidArgumentError>(
        number >= 0 && number < count && !seen[static_cast<size_t>(number)], "hlo",
        "instruction {}: parameter number {} of {} in computation {} is out of range or used twice", instruction.name,
        number, count, computation.name);
    seen[static_cast<size_t>(number)] = true;
  }
}

// Depth of calls and instructions counted once a use: what walks over callees relies on both being bounded.
void check_size(const Module& module) {
  std::vector<int64_t> expanded;
  std::vector<int> depth;
  for (const Computation& computation : module.computations) {
    int64_t count = computation.size();
    int deepest = 0;
    for (const Instruction& instruction : computation.instructions) {
      for (const ComputationId callee : instruction.called) {
        count = std::min(count + expanded[static_cast<size_t>(callee)], kMaxExpanded + 1);
        deepest = std::max(deepest, depth[static_cast<size_t>(callee)] + 1);
      }
    }
    require<InvalidArgumentError>(count <= kMaxExpanded, "hlo",
                                  "computation {} has more than {} instructions once its callees are "
                                  "counted at each use",
                                  computation.name, kMaxExpanded);
    require<InvalidArgumentError>(deepest <= kMaxDepth, "hlo", "computation {} calls others deeper than {}",
                                  computation.name, kMaxDepth);
    expanded.push_back(count);
    depth.push_back(deepest);
  }
}

void check_bytes(const Module& module) {
  int64_t bytes = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      bytes += tensor::byte_size(instruction.shape);
      require<InvalidArgumentError>(bytes <= kMaxBytes, "hlo",
                                    "the results of all instructions have more than 2^61 bytes together");
    }
  }
}

const tensor::Shape* element_of(const tensor::Shape& shape, const google::protobuf::RepeatedField<int64_t>& index) {
  const tensor::Shape* at = &shape;
  for (const int64_t k : index) {
    if (k < 0 || k >= static_cast<int64_t>(at->elements.size())) return nullptr;
    at = &at->elements[static_cast<size_t>(k)];
  }
  return at;
}

void check_aliases(const Context& context) {
  const Module& module = context.module;
  if (module.proto == nullptr) return;
  const Computation& entry = module.entry_computation();
  const auto& params = context.parameters[static_cast<size_t>(module.entry)];
  std::unordered_set<std::string> outputs;
  std::unordered_set<std::string> inputs;
  for (const pb::AliasEntryProto& alias : module.proto->input_output_alias().entries()) {
    const int64_t number = alias.parameter_number();
    const tensor::Shape* output = element_of(entry[entry.root].shape, alias.output_shape_index());
    const tensor::Shape* input = nullptr;
    if (number >= 0 && number < static_cast<int64_t>(params.size())) {
      input = element_of(entry[params[static_cast<size_t>(number)]].shape, alias.parameter_shape_index());
    }
    require<InvalidArgumentError>(output != nullptr && input != nullptr, "hlo",
                                  "input_output_alias: output {{{}}} with parameter {} "
                                  "{{{}}}: the program lacks one of them",
                                  fmt::join(alias.output_shape_index(), ","), number,
                                  fmt::join(alias.parameter_shape_index(), ","));
    require<InvalidArgumentError>(tensor::byte_size(*output) == tensor::byte_size(*input), "hlo",
                                  "input_output_alias: output {{{}}} is {}, "
                                  "parameter {} is {}",
                                  fmt::join(alias.output_shape_index(), ","), tensor::to_string(*output), number,
                                  tensor::to_string(*input));
    const std::string from = fmt::format("{}:{}", number, fmt::join(alias.parameter_shape_index(), ","));
    require<InvalidArgumentError>(
        inputs.insert(from).second &&
            outputs.insert(fmt::format("{}", fmt::join(alias.output_shape_index(), ","))).second,
        "hlo", "input_output_alias: parameter {} or output {{{}}} is named twice", number,
        fmt::join(alias.output_shape_index(), ","));
  }
}

void check_instruction(const Site& site) {
  site.check(site.shape().rank() <= kMaxRank, "it has {} dims: at most {}", site.shape().rank(), kMaxRank);
  verifying::check_arity(site);
  verifying::check_elementwise(site);
  verifying::check_structure(site);
  verifying::check_movement(site);
  verifying::check_slices(site);
  verifying::check_contraction(site);
  verifying::check_reduction(site);
  verifying::check_indexing(site);
  verifying::check_control(site);
  verifying::check_others(site);
}

}  // namespace

void verify(const Module& module) {
  require<InvalidArgumentError>(module.entry >= 0 && static_cast<size_t>(module.entry) < module.computations.size(),
                                "hlo", "the module has no entry computation");
  Context context{module, {}};
  check_names(module);
  for (size_t id = 0; id < module.computations.size(); ++id) {
    check_edges(module, static_cast<ComputationId>(id));
    check_parameters(module.computations[id]);
    context.parameters.push_back(parameters(module.computations[id]));
  }
  check_size(module);
  check_bytes(module);
  for (size_t id = 0; id < module.computations.size(); ++id) {
    const Computation& computation = module.computations[id];
    for (InstructionId at = 0; at < computation.size(); ++at)
      check_instruction(Site(context, static_cast<ComputationId>(id), at));
  }
  check_aliases(context);
}

}  // namespace alpa::hlo
