#pragma once

#include <array>
#include <functional>
#include <tuple>
#include <utility>

#include "alpa/frontend/node.h"
#include "alpa/frontend/pytree.h"

/// grad, value_and_grad, vjp, jvp over pytrees.
namespace alpa {

/// Which arguments are differentiated: `grad(f, argnums<0, 2>)`.
template <size_t... Index>
struct ArgNums {};
template <size_t... Index>
inline constexpr ArgNums<Index...> argnums{};

namespace frontend {

/// Loss and auxiliary outputs of a function, and the gradients.
struct GradResult {
  std::vector<Array> outputs;    ///< The loss first.
  std::vector<Array> gradients;  ///< One a variable.
};

/// Value and gradient of the first output with respect to the variables; `paths` name them in messages.
/// Errors: InvalidArgumentError if the first output is no real scalar or a variable is no float.
GradResult value_and_grad(const char* what, const std::vector<Array>& variables, const std::vector<std::string>& paths,
                          const FlatFunction& function);

/// Pullback and pushforward of flat functions.
Linearized vjp(const std::vector<Array>& variables, const FlatFunction& function);
Forward jvp(const std::vector<Array>& variables, const std::vector<Array>& tangents, const FlatFunction& function);

template <typename T>
struct LossAndAux {
  static constexpr bool kHasAux = false;
};
template <typename Aux>
struct LossAndAux<std::pair<Array, Aux>> {
  static constexpr bool kHasAux = true;
};

template <size_t... Index>
constexpr bool distinct() {
  constexpr std::array<size_t, sizeof...(Index)> all{Index...};
  for (size_t a = 0; a < all.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (all[a] == all[b]) return false;
    }
  }
  return true;
}

/// Puts the differentiated arguments, by index, in place of those of a call.
template <size_t... Index, typename Function, typename Arguments>
auto call_with_gradients(const char* what, const Function& function, Arguments arguments) {
  using Result = std::remove_cvref_t<decltype(std::apply(function, arguments))>;
  constexpr bool has_aux = LossAndAux<Result>::kHasAux;
  static_assert(has_aux || std::is_same_v<Result, Array>,
                "grad: the function must return a scalar Array, or a pair of that and auxiliary outputs");
  static_assert(((Index < std::tuple_size_v<Arguments>) && ...), "grad: argnums names an argument that is not there");
  static_assert(distinct<Index...>(), "grad: argnums names an argument twice");
  auto chosen = std::make_tuple(std::get<Index>(arguments)...);
  std::vector<std::string> paths;
  ((paths =
        [&] {
          auto more = tree_paths(std::get<Index>(arguments), ("argument " + std::to_string(Index)).c_str());
          paths.insert(paths.end(), more.begin(), more.end());
          return std::move(paths);
        }()),
   ...);
  std::optional<Result> result;
  const auto flat = [&](const std::vector<Array>& variables) {
    const auto replaced = tree_rebuild(chosen, variables);
    Arguments call = arguments;
    [&]<size_t... Place>(std::index_sequence<Place...>) {
      ((std::get<Index>(call) = std::get<Place>(replaced)), ...);
    }(std::make_index_sequence<sizeof...(Index)>());
    result = std::apply(function, std::move(call));
    return tree_leaves(*result);
  };
  GradResult found = value_and_grad(what, tree_leaves(chosen), paths, flat);
  auto gradients = tree_rebuild(chosen, found.gradients);
  Result value = tree_rebuild(*result, found.outputs);
  if constexpr (sizeof...(Index) == 1)
    return std::pair(std::move(value), std::get<0>(std::move(gradients)));
  else
    return std::pair(std::move(value), std::move(gradients));
}

}  // namespace frontend

/// The function that returns the value of `function` and its gradient with respect to the first argument, or to those
/// that `argnums` names (then a tuple). `function` returns a real scalar, or a pair of that and any tree of auxiliary
/// outputs. Under `parallelize` with micro-batches, floating (and complex) values, auxiliary outputs and gradients are
/// the means over the micro-batches, whatever the function reduces by: the gradient of a sum over 4 micro-batches is a
/// quarter of that over the batch. Sums of floats below 32 bits are kept in f32. Auxiliary integers, booleans and keys
/// are the last micro-batch's.
template <typename Function, size_t... Index>
auto value_and_grad(Function function, ArgNums<Index...> = {}) {
  return [function = std::move(function)]<typename... Args>(const Args&... arguments) {
    if constexpr (sizeof...(Index) == 0) {
      return frontend::call_with_gradients<0>("value_and_grad", function, std::tuple<Args...>(arguments...));
    } else {
      return frontend::call_with_gradients<Index...>("value_and_grad", function, std::tuple<Args...>(arguments...));
    }
  };
}

/// As value_and_grad, without the value. With auxiliary outputs: a pair of the gradient and these, as JAX.
template <typename Function, size_t... Index>
auto grad(Function function, ArgNums<Index...> which = {}) {
  return [both = value_and_grad(std::move(function), which)]<typename... Args>(const Args&... arguments) {
    auto [value, gradient] = both(arguments...);
    if constexpr (std::is_same_v<decltype(value), Array>)
      return gradient;
    else
      return std::pair(std::move(gradient), std::move(value.second));
  };
}

/// Value of `function(arguments...)` and the pullback: from a cotangent of the value (a tree like it) a tuple of
/// cotangents of the arguments. Errors: InvalidArgumentError for a cotangent of another shape or element type.
template <typename Function, typename... Args>
auto vjp(const Function& function, const Args&... arguments) {
  using Result = std::remove_cvref_t<decltype(function(arguments...))>;
  const std::tuple<Args...> all(arguments...);
  std::optional<Result> result;
  frontend::Linearized linear = frontend::vjp(tree_leaves(all), [&](const std::vector<Array>& variables) {
    result = std::apply(function, tree_rebuild(all, variables));
    return tree_leaves(*result);
  });
  Result value = tree_rebuild(*result, linear.outputs);
  auto pullback = [all, pull = linear.pullback, structure = tree_structure(value)](const Result& cotangent) {
    frontend::require_same_structure(structure, tree_structure(cotangent));
    return tree_rebuild(all, pull(tree_leaves(cotangent)));
  };
  return std::pair(std::move(value), std::move(pullback));
}

/// Value of `function` at the primals and how it changes along the tangents (tuples of the arguments).
/// Errors: InvalidArgumentError for a tangent of another shape or element type.
template <typename Function, typename... Args>
auto jvp(const Function& function, const std::tuple<Args...>& primals, const std::tuple<Args...>& tangents) {
  using Result = std::remove_cvref_t<decltype(std::apply(function, primals))>;
  std::optional<Result> result;
  const frontend::Forward forward =
      frontend::jvp(tree_leaves(primals), tree_leaves(tangents), [&](const std::vector<Array>& variables) {
        result = std::apply(function, tree_rebuild(primals, variables));
        return tree_leaves(*result);
      });
  return std::pair(tree_rebuild(*result, forward.outputs), tree_rebuild(*result, forward.tangents));
}

}  // namespace alpa
