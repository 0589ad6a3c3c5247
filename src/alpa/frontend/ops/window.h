#pragma once

#include <string>
#include <utility>

#include "alpa/frontend/array.h"

namespace alpa {

/// How far a window moves over the ends of each dim: "VALID" not at all; "SAME" so that the result has ceil(size /
/// stride) elements, half on each side and an odd one at the end; "SAME_LOWER" with the odd one at the start; or
/// {low, high} a dim.
struct WindowPadding {
  std::string scheme;
  std::vector<std::pair<int64_t, int64_t>> amounts;  ///< Where there is no scheme.

  WindowPadding(const char* name) : scheme(name) {}                                           // NOLINT
  WindowPadding(std::string name) : scheme(std::move(name)) {}                                // NOLINT
  WindowPadding(std::vector<std::pair<int64_t, int64_t>> each) : amounts(std::move(each)) {}  // NOLINT
  WindowPadding(std::initializer_list<std::pair<int64_t, int64_t>> each) : amounts(each) {}   // NOLINT
};

namespace frontend {

/// A window along one dim, all numbers known. `operand` is the size of what it moves over.
struct WindowExtent {
  int64_t operand = 1, size = 1, stride = 1, low = 0, high = 0, base_dilation = 1, window_dilation = 1;

  int64_t dilated_operand() const { return operand == 0 ? 0 : (operand - 1) * base_dilation + 1; }
  int64_t dilated_size() const { return (size - 1) * window_dilation + 1; }
  /// Number of places, 0 if the window is too long.
  int64_t result() const;
  int64_t dilated_result() const { return result() == 0 ? 0 : (result() - 1) * stride + 1; }
};

/// Fills in low and high. Errors: InvalidArgumentError that names `op` and the place for a scheme there is not, or
/// another number of amounts than of dims, and for sizes, strides and dilations below 1.
void resolve_padding(const char* op, const WindowPadding& padding, std::vector<WindowExtent>& dims, Where where);

/// The entry for a dim of one number a dim, or 1 if none are given.
inline int64_t or_one(const std::vector<int64_t>& each, size_t dim) { return each.empty() ? 1 : each.at(dim); }
/// Errors: InvalidArgumentError if there are neither none nor `count`.
void require_one_each(const char* op, const char* what, const std::vector<int64_t>& each, size_t count, Where where);

}  // namespace frontend
}  // namespace alpa
