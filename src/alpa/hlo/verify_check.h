#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/module.h"

/// What the parts of `verify` share; inside this room.
namespace alpa::hlo::verifying {

/// A module and what is asked of it again and again.
struct Context {
  const Module& module;
  std::vector<std::vector<InstructionId>> parameters;  ///< By computation and number.
};

/// One instruction in its place. Every check of a part raises through it, so every message names the instruction.
class Site {
 public:
  Site(const Context& context, ComputationId computation, InstructionId id)
      : context_(context), computation_(context.module.computation(computation)), instruction_(computation_[id]) {}

  const Instruction& instruction() const { return instruction_; }
  Opcode opcode() const { return instruction_.opcode; }
  const tensor::Shape& shape() const { return instruction_.shape; }
  size_t operand_count() const { return instruction_.operands.size(); }
  const tensor::Shape& operand(size_t index) const { return computation_[instruction_.operands[index]].shape; }
  size_t called_count() const { return instruction_.called.size(); }
  const Computation& called(size_t index) const { return context_.module.computation(instruction_.called[index]); }
  const std::vector<InstructionId>& parameters_of_called(size_t index) const {
    return context_.parameters[static_cast<size_t>(instruction_.called[index])];
  }

  template <typename... Args>
  void check(bool condition, fmt::format_string<Args...> text, Args&&... args) const {
    if (!condition) {
      raise<InvalidArgumentError>("hlo", "instruction {} ({}): {}", instruction_.name, name(instruction_.opcode),
                                  fmt::format(text, std::forward<Args>(args)...));
    }
  }

  /// The operand is an array (not a tuple, token or opaque value).
  void check_array(size_t operand) const;
  /// All operands and the result are arrays.
  void check_arrays() const;
  /// The result has these dims and, floats of other widths apart, this element type.
  void check_result(const tensor::Shape& expected) const;
  /// Dims that exist in an array of `rank`, none twice.
  void check_dims(const std::vector<int64_t>& dims, int64_t rank, std::string_view what) const;
  /// As above, and ascending.
  void check_sorted_dims(const std::vector<int64_t>& dims, int64_t rank, std::string_view what) const;
  void check_dim(int64_t dim, int64_t rank, std::string_view what) const;

 private:
  const Context& context_;
  const Computation& computation_;
  const Instruction& instruction_;
};

/// Equal, or both floats: XLA mixes precisions.
bool same_type(tensor::DType a, tensor::DType b);
/// Same dims and `same_type`; tuples element by element.
bool compatible(const tensor::Shape& a, const tensor::Shape& b);
/// Size of a windowed dim: padding and dilations counted, 0 if the window does not fit in.
int64_t windowed_size(int64_t size, const WindowDim& window);

/// Numbers of operands and of called computations.
void check_arity(const Site& site);
/// Window dims: `count` of them, sizes, strides and dilations at least 1.
std::vector<WindowDim> checked_window(const Site& site, size_t count);

// Each checks the opcodes of its family and lets the others pass.
void check_elementwise(const Site& site);
void check_structure(const Site& site);
void check_movement(const Site& site);
void check_slices(const Site& site);
void check_contraction(const Site& site);
void check_reduction(const Site& site);
void check_indexing(const Site& site);
void check_control(const Site& site);
void check_others(const Site& site);

}  // namespace alpa::hlo::verifying
