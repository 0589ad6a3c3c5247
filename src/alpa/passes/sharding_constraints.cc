#include "alpa/passes/sharding_constraints.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/markers.h"
#include "alpa/hlo/sharding_constraint.h"
#include "alpa/passes/drop_markers.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using sharding::OpSharding;

constexpr std::string_view kXlaConstraint = "Sharding";

bool is_constraint_call(const Instruction& instruction) {
  if (instruction.opcode != hlo::Opcode::kCustomCall) return false;
  const std::string target = hlo::custom_call_target(instruction);
  return target == hlo::kShardingConstraint || target == kXlaConstraint;
}

// "unspecified_dims=[0,2]".
std::vector<int64_t> unspecified_dims(const std::string& config) {
  constexpr std::string_view kBegin = "unspecified_dims=[";
  std::vector<int64_t> dims;
  const size_t begin = config.find(kBegin);
  if (begin == std::string::npos) return dims;
  int64_t dim = -1;
  for (size_t at = begin + kBegin.size(); at < config.size(); ++at) {
    const char c = config[at];
    if (c >= '0' && c <= '9') dim = std::min<int64_t>(std::max<int64_t>(dim, 0) * 10 + (c - '0'), 1 << 20);
    if (c != ',' && c != ']') continue;
    if (dim >= 0) dims.push_back(dim);
    dim = -1;
    if (c == ']') break;
  }
  return dims;
}

// Shardy's text beside the tiles, "<@mesh, [{"a"}, {?}]>": a dim in braces each, those of a question mark alone are
// open.
std::vector<int64_t> open_shardy_dims(const std::string& text) {
  std::vector<int64_t> dims;
  int64_t dim = 0;
  for (size_t at = text.find('['); at != std::string::npos; ++dim) {
    at = text.find_first_of("{]", at);
    if (at == std::string::npos || text[at] == ']') break;
    if (text.compare(at, 3, "{?}") == 0) dims.push_back(dim);
    at = text.find('}', at);
  }
  return dims;
}

bool says_something(const OpSharding& tiles) {
  return tiles.type == OpSharding::Type::kReplicated || tiles.type == OpSharding::Type::kOther;
}

std::optional<hlo::ShardingConstraint> read(const Instruction& call) {
  if (hlo::custom_call_target(call) == hlo::kShardingConstraint)
    return hlo::ShardingConstraint{hlo::backend_config(call), std::nullopt, {}};
  std::optional<OpSharding> tiles = hlo::sharding(call);
  if (!tiles || !says_something(*tiles)) return std::nullopt;
  std::vector<int64_t> open = unspecified_dims(hlo::backend_config(call));
  const std::string shardy = hlo::frontend_attribute(call, "xla.sdy.sharding");
  if (!shardy.empty()) open = open_shardy_dims(shardy);
  for (const int64_t dim : open) {
    require<InvalidArgumentError>(dim < call.shape.rank(), "markers",
                                  "the call {} leaves dim {} of {} open, which is not there", call.name, dim,
                                  tensor::to_string(call.shape));
  }
  return hlo::ShardingConstraint{{}, std::move(tiles), std::move(open)};
}

hlo::Computation rewritten(const hlo::Computation& computation) {
  hlo::Computation result = hlo::without_instructions(computation);
  std::vector<hlo::InstructionId> map(computation.instructions.size());
  for (hlo::InstructionId id = 0; id < computation.size(); ++id) {
    Instruction instruction = hlo::remapped(computation[id], map);
    if (is_constraint_call(instruction)) {
      require_identity(computation, computation[id]);
      require<UnsupportedError>(instruction.operands.size() == 1 && instruction.shape.is_array(), "markers",
                                "the call {} asks for the placement of {}: ask for that of one array each",
                                instruction.name, tensor::to_string(instruction.shape));
      const std::optional<hlo::ShardingConstraint> constraint = read(instruction);
      if (!constraint) {
        map[static_cast<size_t>(id)] = instruction.operands[0];
        continue;
      }
      Instruction copy =
          hlo::make_sharding_constraint(instruction.name, instruction.shape, instruction.operands[0], *constraint);
      copy.proto_id = instruction.proto_id;
      hlo::set_op_name(copy, hlo::op_name(instruction));
      instruction = std::move(copy);
    }
    map[static_cast<size_t>(id)] = result.size();
    result.instructions.push_back(std::move(instruction));
  }
  result.root = map[static_cast<size_t>(computation.root)];
  return result;
}

bool is_constraint(const Instruction& instruction) { return hlo::sharding_constraint(instruction).has_value(); }

hlo::Computation unconstrained(const hlo::Computation& computation) {
  hlo::Computation result = hlo::without_instructions(computation);
  std::vector<hlo::InstructionId> map(computation.instructions.size());
  for (hlo::InstructionId id = 0; id < computation.size(); ++id) {
    Instruction instruction = hlo::remapped(computation[id], map);
    if (is_constraint(instruction)) {
      map[static_cast<size_t>(id)] = instruction.operands[0];
      continue;
    }
    map[static_cast<size_t>(id)] = result.size();
    result.instructions.push_back(std::move(instruction));
  }
  result.root = map[static_cast<size_t>(computation.root)];
  return result;
}

template <typename Wanted, typename Rewrite>
hlo::Module with_each(const hlo::Module& module, const Wanted& wanted, const Rewrite& rewrite) {
  hlo::Module result = module;
  for (hlo::Computation& computation : result.computations) {
    const auto& all = computation.instructions;
    if (std::any_of(all.begin(), all.end(), wanted)) computation = rewrite(computation);
  }
  return result;
}

}  // namespace

hlo::Module sharding_constraints(const hlo::Module& module) { return with_each(module, is_constraint_call, rewritten); }

hlo::Module without_sharding_constraints(const hlo::Module& module) {
  return with_each(module, is_constraint, unconstrained);
}

}  // namespace alpa::passes
