#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "alpa/frontend/array.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/pytree.h"

/// Loops and branches that stay such in the program. Their functions take and give pytrees and may use any array of
/// their surroundings. Arrays inside are traced: a C++ `if` on one is an error, `cond` is its form.
namespace alpa {

/// No arrays: the xs, ys or carry of a scan that has none.
using Nothing = std::tuple<>;

struct ScanOptions {
  int64_t length = -1;   ///< Of the xs, unless there are none.
  bool reverse = false;  ///< From the last slice to the first; slice k of the ys belongs to slice k of the xs.
  int64_t unroll = 1;    ///< So many iterations in one of the loop; what is left over is done outside of it.
};

namespace frontend {

/// What a loop is given: arrays, and the paths that messages call them by.
struct LoopRequest {
  const char* op;
  std::vector<Array> init;
  std::vector<std::string> paths;
  Where where;
};

struct CarryAndOutputs {
  std::vector<Array> carry, outputs;
};
using FlatStep = std::function<CarryAndOutputs(const std::vector<Array>& carry, const std::vector<Array>& slices)>;
using FlatLoopBody = std::function<std::vector<Array>(const std::vector<Array>& carry)>;

CarryAndOutputs scan(const LoopRequest& request, const std::vector<Array>& xs, const ScanOptions& options,
                     const FlatStep& step);
std::vector<Array> while_loop(const LoopRequest& request, const FlatLoopBody& condition, const FlatLoopBody& body);
/// Outputs of the chosen branch; `paths` name them.
std::vector<Array> branches(const char* op, const ArrayLike& index,
                            std::vector<std::function<std::vector<Array>()>> all,
                            const std::function<std::vector<std::string>()>& paths);
/// `lower` as an s32 scalar. Errors: InvalidArgumentError if s32 does not hold both.
Array first_index(int64_t lower, int64_t upper, const Where& where);
/// A bool scalar as the index of a branch; any integer scalar, clamped.
ArrayLike index_of(const ArrayLike& predicate);
ArrayLike clamped_index(const ArrayLike& index, size_t count);
/// Errors: InvalidArgumentError that names the operation, the place and both structures.
void require_same_structure(const char* op, const std::string& what, const std::string& before,
                            const std::string& after, const Where& where);

/// Numbers as arrays, so that `fori_loop(0, n, body, 1.0)` works.
template <typename T>
auto as_tree(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return Array(value);
  else
    return value;
}

template <typename T>
using TreeOf = decltype(as_tree(std::declval<const T&>()));

template <typename Tree>
LoopRequest loop_request(const char* op, const Tree& init, const Where& where) {
  return {op, tree_leaves(init), tree_paths(init, "carry"), where};
}

/// Arrays of a result that must have the structure of the carry.
template <typename Tree>
std::vector<Array> leaves_like(const Tree& carry, const Tree& result, const char* op, const Where& where) {
  require_same_structure(op, "the carry", tree_structure(carry), tree_structure(result), where);
  return tree_leaves(result);
}

}  // namespace frontend

/// `body(carry, x)` -> pair of the next carry and y, for every slice x of the xs along their first dim; the last carry
/// and the ys, stacked. **Cost**: reverse mode keeps what the backward pass uses of every iteration (`checkpoint` the
/// body to keep its inputs alone).
/// Errors: InvalidArgumentError if the carry changes its shape or element type, or the xs differ in length.
template <typename Body, typename Init, typename Xs>
auto scan(const Body& body, const Init& init, const Xs& xs, const ScanOptions& options = {},
          Where where = Where::current()) {
  using Carry = frontend::TreeOf<Init>;
  using Step = std::remove_cvref_t<decltype(body(std::declval<Carry>(), std::declval<Xs>()))>;
  using Ys = frontend::TreeOf<std::remove_cvref_t<typename Step::second_type>>;
  const Carry carry = frontend::as_tree(init);
  std::optional<Ys> ys;
  const auto step = [&](const std::vector<Array>& now, const std::vector<Array>& slices) {
    const auto result = body(tree_rebuild(carry, now), tree_rebuild(xs, slices));
    const Carry next = frontend::as_tree(result.first);
    ys = frontend::as_tree(result.second);
    return frontend::CarryAndOutputs{frontend::leaves_like(carry, next, "scan", where), tree_leaves(*ys)};
  };
  const frontend::CarryAndOutputs found =
      frontend::scan(frontend::loop_request("scan", carry, where), tree_leaves(xs), options, step);
  return std::pair<Carry, Ys>(tree_rebuild(carry, found.carry), tree_rebuild(*ys, found.outputs));
}

/// `carry = body(carry)` while `condition(carry)`. Has a derivative in forward mode alone.
/// Errors: InvalidArgumentError if the carry changes its shape or element type or the condition is no bool scalar.
template <typename Condition, typename Body, typename Init>
auto while_loop(const Condition& condition, const Body& body, const Init& init, Where where = Where::current()) {
  using Carry = frontend::TreeOf<Init>;
  const Carry carry = frontend::as_tree(init);
  const auto holds = [&](const std::vector<Array>& now) {
    return std::vector<Array>{Array(condition(tree_rebuild(carry, now)))};
  };
  const auto step = [&](const std::vector<Array>& now) {
    const Carry next = frontend::as_tree(body(tree_rebuild(carry, now)));
    return frontend::leaves_like(carry, next, "while_loop", where);
  };
  return tree_rebuild(carry, frontend::while_loop(frontend::loop_request("while_loop", carry, where), holds, step));
}

/// `carry = body(i, carry)` for i from `lower` to `upper`, without it; i is an s32 scalar.
template <typename Body, typename Init>
auto fori_loop(int64_t lower, int64_t upper, const Body& body, const Init& init, Where where = Where::current()) {
  using Carry = frontend::TreeOf<Init>;
  const auto step = [&](const std::pair<Array, Carry>& now, const Nothing&) {
    return std::pair(std::pair<Array, Carry>(add(now.first, 1), body(now.first, now.second)), Nothing());
  };
  const std::pair<Array, Carry> first(frontend::first_index(lower, upper, where), frontend::as_tree(init));
  return scan(step, first, Nothing(), {.length = upper > lower ? upper - lower : 0}, where).first.second;
}

/// With bounds that are known only when it runs: no derivative in reverse mode.
template <typename Body, typename Init>
auto fori_loop(const ArrayLike& lower, const ArrayLike& upper, const Body& body, const Init& init,
               Where where = Where::current()) {
  using Carry = frontend::TreeOf<Init>;
  const Array end = upper.array.astype(DType::kS32);
  const std::pair<Array, Carry> first(lower.array.astype(DType::kS32), frontend::as_tree(init));
  return while_loop([&](const std::pair<Array, Carry>& now) { return less(now.first, end); },
                    [&](const std::pair<Array, Carry>& now) {
                      return std::pair<Array, Carry>(add(now.first, 1), body(now.first, now.second));
                    },
                    first, where)
      .second;
}

/// The function `index` chooses (below 0: the first; above the last: the last), of these arguments. Both in value and
/// in derivative only that one is computed.
/// Errors: InvalidArgumentError if results differ in structure, shape or element type.
template <typename Function, typename... Args>
auto switch_branch(const ArrayLike& index, const std::vector<Function>& functions, const Args&... arguments) {
  using Result = frontend::TreeOf<std::remove_cvref_t<decltype(functions[0](arguments...))>>;
  std::optional<Result> result;
  std::vector<std::function<std::vector<Array>()>> all;
  for (const Function& function : functions) {
    all.push_back([&] {
      const Result own = frontend::as_tree(function(arguments...));
      if (result)
        frontend::require_same_structure("switch_branch", "the result", tree_structure(*result), tree_structure(own),
                                         index.where);
      result = own;
      return tree_leaves(own);
    });
  }
  const std::vector<Array> found = frontend::branches("switch_branch", frontend::clamped_index(index, functions.size()),
                                                      std::move(all), [&] { return tree_paths(*result, "result"); });
  return tree_rebuild(*result, found);
}

/// `true_function(operands...)` if the bool scalar holds, else `false_function(operands...)`.
/// Errors: InvalidArgumentError if results differ in structure, shape or element type.
template <typename TrueFunction, typename FalseFunction, typename... Args>
auto cond(const ArrayLike& predicate, const TrueFunction& true_function, const FalseFunction& false_function,
          const Args&... operands) {
  using Result = frontend::TreeOf<std::remove_cvref_t<decltype(true_function(operands...))>>;
  std::optional<Result> result;
  const auto leaves = [&](const auto& function) {
    const Result own = frontend::as_tree(function(operands...));
    if (result)
      frontend::require_same_structure("cond", "the result", tree_structure(*result), tree_structure(own),
                                       predicate.where);
    result = own;
    return tree_leaves(own);
  };
  const std::vector<Array> found =
      frontend::branches("cond", frontend::index_of(predicate),
                         {[&] { return leaves(false_function); }, [&] { return leaves(true_function); }},
                         [&] { return tree_paths(*result, "result"); });
  return tree_rebuild(*result, found);
}

}  // namespace alpa
