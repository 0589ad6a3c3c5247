#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "alpa/frontend/array.h"
#include "alpa/frontend/pytree.h"

/// Functions whose derivative is said by hand, or how it is computed.
namespace alpa {

namespace frontend {

using FlatArrays = std::vector<Array>;

FlatArrays checkpoint(const FlatFunction& function, const FlatArrays& arguments, const Where& where);
FlatArrays optimization_barrier(const FlatArrays& arrays, const Where& where);

/// Outputs and residuals of the forward function of a custom_vjp.
struct OutputsAndResiduals {
  FlatArrays outputs, residuals;
};
struct CustomVjp {
  FlatFunction function;
  std::function<OutputsAndResiduals(const FlatArrays& arguments)> forward;
  std::function<FlatArrays(const FlatArrays& residuals, const FlatArrays& cotangents)> backward;
  Where where;
};
FlatArrays custom_vjp(const CustomVjp& rule, const FlatArrays& arguments, const std::vector<std::string>& paths);

struct CustomJvp {
  FlatFunction function;
  /// Outputs, then their tangents.
  std::function<FlatArrays(const FlatArrays& primals, const FlatArrays& tangents)> rule;
  Where where;
};
FlatArrays custom_jvp(const CustomJvp& rule, const FlatArrays& arguments);

/// Flat form of a call: results keep their tree in `result`.
template <typename Function, typename Arguments, typename Result>
FlatArrays flat_call(const Function& function, const Arguments& like, const FlatArrays& leaves,
                     std::optional<Result>& result) {
  result = std::apply(function, tree_rebuild(like, leaves));
  return tree_leaves(*result);
}

}  // namespace frontend

/// The function, recomputed in the backward pass from its arguments and what it captures instead of its intermediate
/// values being kept.
template <typename Function>
auto checkpoint(Function function, Where where = Where::current()) {
  return [function = std::move(function), where]<typename... Args>(const Args&... arguments) {
    const std::tuple<Args...> all(arguments...);
    std::optional<std::remove_cvref_t<decltype(function(arguments...))>> result;
    const auto flat = [&](const std::vector<Array>& leaves) {
      return frontend::flat_call(function, all, leaves, result);
    };
    const std::vector<Array> found = frontend::checkpoint(flat, tree_leaves(all), where);
    return tree_rebuild(*result, found);
  };
}

/// The tree, of which the compiler computes all before it computes anything that uses it, and which it moves nothing
/// across.
template <typename Tree>
Tree optimization_barrier(const Tree& tree, Where where = Where::current()) {
  return tree_rebuild(tree, frontend::optimization_barrier(tree_leaves(tree), where));
}

/// `function` with a pullback of its own: `forward(arguments...)` -> pair of the value and residuals (any tree),
/// `backward(residuals, cotangent)` -> tuple of cotangents of the arguments (of one argument: that alone will do). A
/// cotangent that is an Array never assigned stands for zeros. Nothing else that `function` uses may be differentiated.
/// **Source**: JAX, jax.custom_vjp.
template <typename Function, typename ForwardFunction, typename Backward>
auto custom_vjp(Function function, ForwardFunction forward, Backward backward, Where where = Where::current()) {
  return [=]<typename... Args>(const Args&... arguments) {
    using Result = std::remove_cvref_t<decltype(function(arguments...))>;
    using Residuals = std::remove_cvref_t<typename decltype(forward(arguments...))::second_type>;
    const std::tuple<Args...> all(arguments...);
    std::optional<Result> result;
    std::optional<Residuals> residuals;
    frontend::CustomVjp rule;
    rule.where = where;
    rule.function = [&](const std::vector<Array>& leaves) {
      return frontend::flat_call(function, all, leaves, result);
    };
    rule.forward = [&](const std::vector<Array>& leaves) {
      auto [value, kept] = std::apply(forward, tree_rebuild(all, leaves));
      residuals = kept;
      return frontend::OutputsAndResiduals{tree_leaves(static_cast<const Result&>(value)), tree_leaves(*residuals)};
    };
    rule.backward = [&](const std::vector<Array>& kept, const std::vector<Array>& cotangents) {
      const auto found = backward(tree_rebuild(*residuals, kept), tree_rebuild(*result, cotangents));
      return tree_leaves(found);
    };
    const std::vector<Array> found =
        frontend::custom_vjp(rule, tree_leaves(all), tree_paths(all, "cotangents of arguments"));
    return tree_rebuild(*result, found);
  };
}

/// `function` with a pushforward of its own: `rule(primals, tangents)`, tuples of the arguments, -> pair of the value
/// and its tangent, which is linear in the tangents. Reverse mode transposes it.
/// **Source**: JAX, jax.custom_jvp.
template <typename Function, typename Rule>
auto custom_jvp(Function function, Rule rule, Where where = Where::current()) {
  return [=]<typename... Args>(const Args&... arguments) {
    using Result = std::remove_cvref_t<decltype(function(arguments...))>;
    const std::tuple<Args...> all(arguments...);
    std::optional<Result> result;
    frontend::CustomJvp flat;
    flat.where = where;
    flat.function = [&](const std::vector<Array>& leaves) {
      return frontend::flat_call(function, all, leaves, result);
    };
    flat.rule = [&](const std::vector<Array>& primals, const std::vector<Array>& tangents) {
      const auto [value, tangent] = rule(tree_rebuild(all, primals), tree_rebuild(all, tangents));
      std::vector<Array> leaves = tree_leaves(static_cast<const Result&>(value));
      for (const Array& leaf : tree_leaves(static_cast<const Result&>(tangent))) leaves.push_back(leaf);
      return leaves;
    };
    const std::vector<Array> found = frontend::custom_jvp(flat, tree_leaves(all));
    return tree_rebuild(*result, found);
  };
}

}  // namespace alpa
