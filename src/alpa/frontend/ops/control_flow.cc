#include "alpa/frontend/ops/control_flow.h"

#include <fmt/format.h>

#include "alpa/base/error.h"
#include "alpa/frontend/liveness.h"
#include "alpa/frontend/ops/scan.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/ops/while.h"
#include "alpa/frontend/promotion.h"

namespace alpa::frontend {
namespace {

using frontend::to_string;
using tensor::to_string;

// The element type of both where one is weak and may become the other; else that of `a`.
DType common(const Array& a, const Array& b) {
  if (a.dtype() == b.dtype() || (!a.is_weak() && !b.is_weak())) return a.dtype();
  return promote({a.dtype(), a.is_weak()}, {b.dtype(), b.is_weak()}).dtype;
}

// The results of a body; weak ones take the element type of the carry where it holds them.
std::vector<Array> with_types_of(const LoopRequest& request, const std::vector<Array>& carry,
                                 std::vector<Array> after) {
  require_defined(request.op, after, request.paths, request.where);
  for (size_t k = 0; k < carry.size(); ++k) {
    if (after[k].is_weak()) after[k] = after[k].astype(common(carry[k], after[k]), request.where);
  }
  return after;
}

// The body on a carry that is all strong. Weak arrays of it take the element type that the body gives them, which may
// change what the body computes: it is then recorded anew.
Closure settled(const LoopRequest& request, std::vector<Array>& carry, const std::vector<Shape>& slices,
                const FlatBody& body) {
  require_defined(request.op, request.init, request.paths, request.where);
  carry = request.init;
  for (;;) {
    std::vector<Shape> shapes = shapes_of(carry);
    shapes.insert(shapes.end(), slices.begin(), slices.end());
    Closure closure = trace_body(std::string(request.op) + "'s body", shapes, [&](const std::vector<Array>& arguments) {
      return with_types_of(request, carry, body(arguments));
    });
    bool changed = false;
    for (size_t k = 0; k < carry.size(); ++k) {
      const Array& after = closure.function->results[k];
      if (!carry[k].is_weak() || after.dtype() == carry[k].dtype()) continue;
      const DType dtype = common(carry[k], after);
      if (dtype != after.dtype()) continue;
      carry[k] = carry[k].astype(dtype, request.where);
      changed = true;
    }
    if (changed) continue;
    for (size_t k = 0; k < carry.size(); ++k) {
      const Shape& after = closure.function->results[k].shape();
      require<InvalidArgumentError>(after == carry[k].shape(), request.op,
                                    "{} enters the body as {} and leaves it as {}, at {}: both must be the same",
                                    request.paths[k], to_string(carry[k].shape()), to_string(after),
                                    to_string(request.where));
      carry[k] = carry[k].astype(carry[k].dtype(), request.where);
    }
    return closure;
  }
}

int64_t length_of(const LoopRequest& request, const std::vector<Array>& xs, const ScanOptions& options) {
  int64_t length = options.length;
  for (const Array& array : xs) {
    require<InvalidArgumentError>(array.defined() && array.rank() > 0, request.op,
                                  "xs at {} need a first dim to run along, one is {}", to_string(request.where),
                                  array.defined() ? to_string(array.shape()) : "an Array that was never assigned");
    require<InvalidArgumentError>(length < 0 || array.dim(0) == length, request.op, "xs {} at {} do not have length {}",
                                  to_string(array.shape()), to_string(request.where), length);
    length = array.dim(0);
  }
  require<InvalidArgumentError>(length >= 0, request.op, "without xs, at {}, the options must give the length",
                                to_string(request.where));
  require<InvalidArgumentError>(length <= INT32_MAX, request.op, "length {} at {} is more than an s32 counts", length,
                                to_string(request.where));
  return length;
}

// Slices [begin, end) of each array.
std::vector<Array> slices_between(const std::vector<Array>& arrays, int64_t begin, int64_t end) {
  std::vector<Array> result;
  for (const Array& array : arrays) result.push_back(slice_in_dim(array, 0, begin, end));
  return result;
}

// The first dim as two, or two as one.
std::vector<Array> grouped(const std::vector<Array>& arrays, int64_t groups, int64_t size) {
  std::vector<Array> result;
  for (const Array& array : arrays) {
    Dims dims = array.dims();
    dims[0] = size;
    dims.insert(dims.begin(), groups);
    result.push_back(reshape(array, dims));
  }
  return result;
}
std::vector<Array> flattened(const std::vector<Array>& arrays) {
  std::vector<Array> result;
  for (const Array& array : arrays) {
    Dims dims(array.dims().begin() + 1, array.dims().end());
    dims[0] *= array.dim(0);
    result.push_back(reshape(array, dims));
  }
  return result;
}

// The iterations one after the other, without a loop.
CarryAndOutputs straight(const FlatStep& step, CarryAndOutputs result, const std::vector<Array>& xs, int64_t length,
                         bool reverse) {
  std::vector<std::vector<Array>> ys;
  for (int64_t k = 0; k < length; ++k) {
    const int64_t at = reverse ? length - 1 - k : k;
    std::vector<Array> slices;
    for (const Array& whole : slices_between(xs, at, at + 1)) slices.push_back(squeeze(whole, {0}));
    CarryAndOutputs next = step(result.carry, slices);
    result.carry = std::move(next.carry);
    ys.resize(next.outputs.size());
    for (size_t y = 0; y < ys.size(); ++y) ys[y].insert(reverse ? ys[y].begin() : ys[y].end(), next.outputs[y]);
  }
  for (const std::vector<Array>& one : ys) result.outputs.push_back(stack(one));
  return result;
}

// Iterations in groups of `unroll`, then what is left over of the length.
CarryAndOutputs unrolled_scan(const LoopRequest& request, const std::vector<Array>& xs, const ScanOptions& options,
                              int64_t length, const FlatStep& step) {
  const int64_t size = std::min(options.unroll, length), groups = length / size, left = length - groups * size;
  const int64_t begin = options.reverse ? left : 0, end = begin + groups * size;
  const auto group = [&](const std::vector<Array>& carry, const std::vector<Array>& slices) {
    return straight(step, {carry, {}}, slices, size, options.reverse);
  };
  CarryAndOutputs result = scan(request, grouped(slices_between(xs, begin, end), groups, size),
                                {.length = groups, .reverse = options.reverse}, group);
  result.outputs = flattened(result.outputs);
  if (left == 0) return result;
  const std::vector<Array> rest = slices_between(xs, options.reverse ? 0 : end, options.reverse ? left : length);
  const CarryAndOutputs last = straight(step, {result.carry, {}}, rest, left, options.reverse);
  for (size_t k = 0; k < result.outputs.size(); ++k) {
    const Array &ours = result.outputs[k], &theirs = last.outputs[k];
    result.outputs[k] = options.reverse ? concatenate({theirs, ours}) : concatenate({ours, theirs});
  }
  return {last.carry, result.outputs};
}

}  // namespace

CarryAndOutputs scan(const LoopRequest& request, const std::vector<Array>& xs, const ScanOptions& options,
                     const FlatStep& step) {
  const int64_t length = length_of(request, xs, options);
  require<InvalidArgumentError>(options.unroll >= 1, request.op, "unroll {} at {}: at least 1", options.unroll,
                                to_string(request.where));
  if (options.unroll > 1 && length > 0) return unrolled_scan(request, xs, options, length, step);
  std::vector<Shape> slices;
  for (const Array& array : xs) slices.push_back(slice_of(array.shape()));
  const size_t num_carry = request.init.size();
  const auto flat = [&](const std::vector<Array>& arguments) {
    CarryAndOutputs result = step(part(arguments, 0, num_carry), part(arguments, num_carry, xs.size()));
    std::vector<std::string> paths;
    for (size_t k = 0; k < result.outputs.size(); ++k) paths.push_back(fmt::format("y {}", k));
    require_defined(request.op, result.outputs, paths, request.where);
    return joined(std::move(result.carry), result.outputs);
  };
  std::vector<Array> carry;
  const Closure closure = settled(request, carry, slices, flat);
  const ScanLoop loop{closure.function, num_carry, xs.size(), length, options.reverse};
  const std::vector<Array> outputs = emit_scan(loop, joined(joined(carry, xs), closure.captured), request.where);
  return {part(outputs, 0, num_carry), part(outputs, num_carry, outputs.size() - num_carry)};
}

std::vector<Array> while_loop(const LoopRequest& request, const FlatLoopBody& condition, const FlatLoopBody& body) {
  std::vector<Array> carry;
  const Closure step = settled(request, carry, {}, body);
  const Closure holds = trace_body("a while_loop's condition", shapes_of(carry), condition);
  const Shape& shape = holds.function->results.at(0).shape();
  require<InvalidArgumentError>(shape == Shape(DType::kPred, {}), request.op,
                                "the condition at {} gives {}: it must give a bool scalar", to_string(request.where),
                                to_string(shape));
  return emit_while(holds, step, carry, request.where);
}

Array first_index(int64_t lower, int64_t upper, const Where& where) {
  const bool fits = lower >= INT32_MIN && lower <= INT32_MAX && upper >= INT32_MIN && upper <= INT32_MAX;
  require<InvalidArgumentError>(fits, "fori_loop", "bounds {} and {} at {} do not fit the s32 that counts", lower,
                                upper, to_string(where));
  return Array(static_cast<int32_t>(lower)).astype(DType::kS32, where);
}

ArrayLike index_of(const ArrayLike& predicate) {
  require<InvalidArgumentError>(
      predicate.array.defined() && predicate.array.rank() == 0, "cond",
      "the predicate at {} is {}: it must be a bool scalar", to_string(predicate.where),
      predicate.array.defined() ? to_string(predicate.array.shape()) : "an Array that was never assigned");
  return {predicate.array.astype(DType::kPred).astype(DType::kS32), predicate.where};
}

ArrayLike clamped_index(const ArrayLike& index, size_t count) {
  require<InvalidArgumentError>(count > 0, "switch_branch", "no functions to choose from at {}",
                                to_string(index.where));
  require<InvalidArgumentError>(
      index.array.defined() && index.array.rank() == 0 && tensor::is_integral(index.array.dtype()), "switch_branch",
      "the index at {} is {}: it must be an integer scalar", to_string(index.where),
      index.array.defined() ? to_string(index.array.shape()) : "an Array that was never assigned");
  const Array last = Array(static_cast<int32_t>(count - 1));
  return {clip(index.array, 0, last).astype(DType::kS32), index.where};
}

void require_same_structure(const char* op, const std::string& what, const std::string& before,
                            const std::string& after, const Where& where) {
  require<InvalidArgumentError>(before == after, op, "{} at {} changes its structure from {} to {}", what,
                                to_string(where), before, after);
}

std::vector<Array> branches(const char* op, const ArrayLike& index,
                            std::vector<std::function<std::vector<Array>()>> all,
                            const std::function<std::vector<std::string>()>& paths) {
  std::vector<Closure> traced;
  for (const auto& function : all)
    traced.push_back(trace_body("a branch", {}, [&](const std::vector<Array>&) {
      std::vector<Array> results = function();
      require_defined(op, results, paths(), index.where);
      return results;
    }));
  // Weak results take the element type of the others.
  std::vector<Array> like = traced[0].function->results;
  for (const Closure& branch : traced) {
    const std::vector<Array>& results = branch.function->results;
    require<InvalidArgumentError>(results.size() == like.size(), op, "branches at {} give {} and {} arrays",
                                  to_string(index.where), like.size(), results.size());
    for (size_t k = 0; k < results.size(); ++k) {
      if (like[k].is_weak() && (!results[k].is_weak() || common(like[k], results[k]) != like[k].dtype()))
        like[k] = results[k];
    }
  }
  std::vector<Closure> typed;
  for (const Closure& branch : traced) {
    typed.push_back(trace_body("a branch", {}, [&](const std::vector<Array>&) {
      std::vector<Array> results = inline_call(*branch.function, branch.captured);
      for (size_t k = 0; k < results.size(); ++k) {
        if (results[k].is_weak()) results[k] = results[k].astype(common(like[k], results[k]));
        require<InvalidArgumentError>(results[k].shape() == like[k].shape(), op,
                                      "{} is {} in one branch and {} in another, at {}: all must be the same",
                                      paths()[k], to_string(like[k].shape()), to_string(results[k].shape()),
                                      to_string(index.where));
      }
      return results;
    }));
  }
  return emit_branches(index.array, typed, index.where);
}

}  // namespace alpa::frontend
