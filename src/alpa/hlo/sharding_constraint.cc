#include "alpa/hlo/sharding_constraint.h"

#include <fmt/format.h>

#include <charconv>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"

namespace alpa::hlo {
namespace {

constexpr const char* kAttribute = "alpa.sharding_constraint";
constexpr std::string_view kTiles =
    "tiles:";  // Then the open dims, each followed by a comma; the tiles are the sharding.

std::vector<int64_t> open_dims_of(std::string_view text, const Instruction& instruction) {
  std::vector<int64_t> dims;
  while (!text.empty()) {
    int64_t dim = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    const bool fits = error == std::errc() && dim >= 0 && dim < instruction.shape.rank();
    require<InvalidArgumentError>(fits && end != text.data() + text.size() && *end == ',', "hlo",
                                  "the placement that instruction {} asks for is damaged: export the program again",
                                  instruction.name);
    dims.push_back(dim);
    text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  }
  return dims;
}

}  // namespace

Instruction make_sharding_constraint(std::string name, tensor::Shape shape, InstructionId operand,
                                     const ShardingConstraint& constraint) {
  Instruction copy = make_instruction(Opcode::kCopy, std::move(name), std::move(shape), {operand});
  std::string text = constraint.spec;
  if (constraint.tiles) {
    text = kTiles;
    for (const int64_t dim : constraint.open_dims) text += fmt::format("{},", dim);
    set_sharding(copy, constraint.tiles);
  }
  set_frontend_attribute(copy, kAttribute, text);
  return copy;
}

std::optional<ShardingConstraint> sharding_constraint(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kCopy) return std::nullopt;
  const std::string text = frontend_attribute(instruction, kAttribute);
  if (text.empty()) return std::nullopt;
  if (!text.starts_with(kTiles)) return ShardingConstraint{text, std::nullopt, {}};
  return ShardingConstraint{
      {}, sharding(instruction), open_dims_of(std::string_view(text).substr(kTiles.size()), instruction)};
}

}  // namespace alpa::hlo
