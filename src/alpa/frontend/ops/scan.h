#pragma once

#include "alpa/frontend/ops/bodies.h"

namespace alpa::frontend {

/// A loop of known length. The body's parameters: carry, one slice of each xs, constants; its results: carry, then one
/// slice of each ys. The operation's inputs and outputs are the same with whole xs and ys.
struct ScanLoop {
  std::shared_ptr<const Function> body;
  size_t num_carry = 0;
  size_t num_xs = 0;
  int64_t length = 0;
  bool reverse = false;

  size_t num_ys() const { return body->results.size() - num_carry; }
};

std::vector<Array> emit_scan(const ScanLoop& loop, const std::vector<Array>& inputs, const Where& where);

/// Derivatives.
Linearized linearize_scan(const ScanLoop& loop, const Node& node, const std::vector<Array>& inputs,
                          const std::vector<bool>& wanted);
Forward push_scan(const ScanLoop& loop, const Node& node, const std::vector<Array>& inputs,
                  const std::vector<Array>& tangents);

/// Carries that depend on the active inputs become active too; by parameter of a body whose first parameters are its
/// carry.
std::vector<bool> with_active_carry(const Function& body, size_t num_carry, std::vector<bool> active);
/// Carries that are used, or that results which are used need.
std::vector<bool> with_needed_carry(const Function& body, size_t num_carry, std::vector<bool> used);

/// With a dim in front.
Shape stacked(const Shape& shape, int64_t length);
/// Without the first.
Shape slice_of(const Shape& shape);

}  // namespace alpa::frontend
