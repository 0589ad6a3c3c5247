#pragma once

#include <functional>
#include <map>
#include <vector>

#include "alpa/frontend/ops/bodies.h"

namespace alpa::frontend {

/// Which values of a body are kept for its pullback. Parameters that are at hand later are not; moves of elements
/// (broadcast, reshape, transpose, conversion) are made anew from their smaller operand; what no iteration changes is
/// computed once outside.
class Residuals {
 public:
  /// By parameter of the body: whether the pullback has it at hand, and whether it is the same in all iterations.
  Residuals(const LinearizedBody& body, std::vector<bool> at_hand, std::vector<bool> invariant);

  void need(const Array& array);
  /// Arrays of the body's trace to keep, and to compute outside.
  const std::vector<Array>& kept() const { return kept_; }
  const std::vector<Array>& hoisted() const { return hoisted_; }
  /// True if the array can be had from what was needed so far.
  bool covers(const Array& array) const;

  /// What stands for parameters, kept and hoisted arrays in the trace of the pullback, by number.
  struct Sources {
    std::function<Array(size_t)> parameter, kept, hoisted;
  };
  /// The array in the trace of the pullback.
  Array value(const Array& array, const Sources& sources) const;

  /// Looks through identities.
  static Array resolved(Array array);

 private:
  using Key = std::pair<const Node*, int>;
  enum class Way { kLeaf, kParameter, kAnew, kHoisted, kKept };
  Way way_of(const Array& array) const;
  void spread(const std::vector<Array>& to);
  static Key key_of(const Array& array) { return {array.node().get(), array.output()}; }

  std::map<Key, size_t> parameters_, kept_index_, hoisted_index_;
  std::vector<bool> at_hand_;
  std::vector<Array> kept_, hoisted_;
  std::map<const Node*, bool> varying_;  ///< Nodes that depend on a parameter which is not the same in all iterations.
};

}  // namespace alpa::frontend
