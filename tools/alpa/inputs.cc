#include "inputs.h"

#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/tensor/safetensors.h"

namespace alpa::tool {
namespace {

using compiler::InputMeta;
using compiler::Role;

constexpr size_t kNamesShown = 4;

/// "a, b, c, d and 7 more"
std::string list_names(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamesShown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// SplitMix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }

  /// In (0, 1).
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }

  /// Box and Muller's transform.
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  uint64_t state_;
};

tensor::Literal synthetic(const InputMeta& input, Random& random) {
  tensor::Literal literal(input.shape);
  const bool floating = tensor::is_floating(input.shape.dtype);
  if (input.zeros || input.role == Role::kOptState || tensor::bit_width(input.shape.dtype) < 8) return literal;
  if (floating && tensor::bit_width(input.shape.dtype) < 16) return literal;  // zeros: no rounding to 8 bits here
  const int64_t count = tensor::num_elements(input.shape);
  for (int64_t index = 0; index < count; ++index) {
    if (!floating && !tensor::is_complex(input.shape.dtype)) {
      literal.set(index, static_cast<double>(random.next() >> 63));
    } else if (input.role == Role::kParams) {
      literal.set(index, 0.02 * random.normal());
    } else {
      literal.set(index, random.uniform() * (input.role == Role::kBatch ? 1.0 : 0.1));
    }
  }
  return literal;
}

using Shapes = std::map<std::string, tensor::Shape>;

void check_names(const compiler::Program& program, const Shapes& given, const std::string& path) {
  std::set<std::string> known;
  std::vector<std::string> missing;
  std::vector<std::string> unknown;
  for (const InputMeta& input : program.meta.inputs) {
    known.insert(input.name);
    if (!input.zeros && !given.contains(input.name)) missing.push_back(input.name);
  }
  for (const compiler::OutputMeta& output : program.meta.outputs) known.insert(output.name);
  for (const auto& [name, shape] : given) {
    if (!known.contains(name)) unknown.push_back(name);
  }
  require<InvalidArgumentError>(unknown.empty(), "inputs",
                                "{} holds {}, no input of the program{}: take it out, or give the "
                                "--meta that names the inputs",
                                path, list_names(unknown), missing.empty() ? "" : "; it lacks " + list_names(missing));
  require<InvalidArgumentError>(missing.empty(), "inputs", "{} lacks {} of {} inputs: {}; add them by name", path,
                                missing.size(), program.meta.inputs.size(), list_names(missing));
}

/// What an input may be when all micro-batches are given.
tensor::Shape whole_batch(const compiler::Program& program, const InputMeta& input) {
  tensor::Shape shape = input.shape;
  if (input.batch_dim) shape.dims[static_cast<size_t>(*input.batch_dim)] *= program.micro_batches();
  return shape;
}

std::string or_whole_batch(const compiler::Program& program, const InputMeta& input) {
  if (!program.accumulation || !input.batch_dim) return "";
  return fmt::format(" for each micro-batch, or {} for all {}", tensor::to_string(whole_batch(program, input)),
                     program.micro_batches());
}

void check_given(const compiler::Program& program, const Shapes& given, const std::string& path) {
  check_names(program, given, path);
  const InputMeta* whole = nullptr;  // batch inputs with the rows of all micro-batches, of one
  const InputMeta* part = nullptr;
  for (const InputMeta& input : program.meta.inputs) {
    const auto found = given.find(input.name);
    if (found == given.end()) continue;
    const bool is_whole = found->second == whole_batch(program, input);
    require<InvalidArgumentError>(
        is_whole || found->second == input.shape, "inputs", "input {} is {} in {}, the program takes {}{}", input.name,
        tensor::to_string(found->second), path, tensor::to_string(input.shape), or_whole_batch(program, input));
    if (input.batch_dim && program.accumulation) (found->second == input.shape ? part : whole) = &input;
  }
  require<InvalidArgumentError>(whole == nullptr || part == nullptr, "inputs",
                                "in {} input {} has the rows of {} micro-batches and input {} those of one: give all "
                                "batch inputs in one of the two sizes",
                                path, whole == nullptr ? "" : whole->name, program.micro_batches(),
                                part == nullptr ? "" : part->name);
}

}  // namespace

void check_inputs(const compiler::Program& program, const std::string& path) {
  for (const InputMeta& input : program.meta.inputs) {
    require<UnsupportedError>(
        input.shape.is_array() && tensor::bit_width(input.shape.dtype) % 8 == 0, "inputs",
        "input {} is {}: only arrays of whole bytes an element can be placed on devices; let the program take another "
        "type, s8 for s4 say, and convert it",
        input.name, tensor::to_string(input.shape));
  }
  std::error_code code;
  const bool seekable = std::filesystem::is_regular_file(path, code);  // a pipe is read once, by read_inputs
  if (!path.empty() && (seekable || !std::filesystem::exists(path, code)))
    check_given(program, tensor::read_safetensors_shapes(path), path);
}

std::vector<tensor::Literal> read_inputs(const compiler::Program& program, const std::string& path) {
  const auto given = tensor::read_safetensors(read_file(path, UINT64_MAX), path);
  Shapes shapes;
  for (const auto& [name, literal] : given) shapes.emplace(name, literal.shape());
  check_given(program, shapes, path);
  std::vector<tensor::Literal> result;
  for (const InputMeta& input : program.meta.inputs) {
    const auto found = given.find(input.name);
    if (found == given.end()) {
      result.emplace_back(input.shape);
      continue;
    }
    result.push_back(found->second);
  }
  return result;
}

std::vector<tensor::Literal> synthetic_inputs(const compiler::Program& program, uint64_t seed) {
  Random random(seed);
  std::vector<tensor::Literal> result;
  for (const InputMeta& input : program.meta.inputs) result.push_back(synthetic(input, random));
  return result;
}

}  // namespace alpa::tool
