#include "alpa/frontend/ops/contraction.h"

#include <algorithm>
#include <numeric>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/promotion.h"

namespace alpa {
namespace {

using frontend::Lowering;
using frontend::Node;
using frontend::Primitive;
using frontend::VjpArguments;
using Wide = std::vector<int64_t>;

bool has(const Wide& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

// Dims that are neither batch nor contracting, ascending.
Wide free_dims(int rank, const Wide& batch, const Wide& contracting) {
  Wide result;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!has(batch, dim) && !has(contracting, dim)) result.push_back(dim);
  }
  return result;
}

void check_side(const ArrayLike& x, const Wide& batch, const Wide& contracting) {
  Wide named = batch;
  named.insert(named.end(), contracting.begin(), contracting.end());
  std::sort(named.begin(), named.end());
  const bool once = std::adjacent_find(named.begin(), named.end()) == named.end();
  const bool there = named.empty() || (named.front() >= 0 && named.back() < x.array.rank());
  require<InvalidArgumentError>(once && there, "dot_general", "dims of {} at {} are named twice or do not exist",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
}

void check_pairs(const ArrayLike& lhs, const ArrayLike& rhs, const Wide& of_lhs, const Wide& of_rhs) {
  bool fits = of_lhs.size() == of_rhs.size();
  for (size_t k = 0; fits && k < of_lhs.size(); ++k)
    fits = lhs.array.dim(static_cast<int>(of_lhs[k])) == rhs.array.dim(static_cast<int>(of_rhs[k]));
  require<InvalidArgumentError>(fits, "dot_general", "{} and {} at {} differ in dims that go together",
                                tensor::to_string(lhs.array.shape()), tensor::to_string(rhs.array.shape()),
                                frontend::to_string(lhs.where));
}

// Cotangent of one operand: the result's cotangent times the other operand, contracted over the other's free dims, its
// dims then put in the operand's order.
Array transposed_dot(const Array& ct, const Array& other, int own_rank, const DotDims& dims, bool of_lhs) {
  const Wide& own_batch = of_lhs ? dims.lhs_batch : dims.rhs_batch;
  const Wide& own_contracting = of_lhs ? dims.lhs_contracting : dims.rhs_contracting;
  const Wide& other_batch = of_lhs ? dims.rhs_batch : dims.lhs_batch;
  const Wide& other_contracting = of_lhs ? dims.rhs_contracting : dims.lhs_contracting;
  const Wide own_free = free_dims(own_rank, own_batch, own_contracting);
  const Wide other_free = free_dims(other.rank(), other_batch, other_contracting);
  const auto batches = static_cast<int64_t>(own_batch.size());
  // In the result: batches, the lhs's free dims, the rhs's free dims.
  const int64_t other_at = of_lhs ? batches + static_cast<int64_t>(own_free.size()) : batches;
  DotDims back;
  for (int64_t k = 0; k < batches; ++k) back.lhs_batch.push_back(k);
  back.rhs_batch = other_batch;
  for (size_t k = 0; k < other_free.size(); ++k) back.lhs_contracting.push_back(other_at + static_cast<int64_t>(k));
  back.rhs_contracting = other_free;
  const Array product = dot_general(ct, other, back);
  // Its dims: batches, own free dims, the other's contracting dims in ascending order.
  Wide sorted = other_contracting;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> place(static_cast<size_t>(own_rank));
  int at = 0;
  for (const int64_t dim : own_batch) place[static_cast<size_t>(dim)] = at++;
  for (const int64_t dim : own_free) place[static_cast<size_t>(dim)] = at++;
  for (const int64_t dim : sorted) {
    const auto pair = static_cast<size_t>(std::find(other_contracting.begin(), other_contracting.end(), dim) -
                                          other_contracting.begin());
    place[static_cast<size_t>(own_contracting[pair])] = at++;
  }
  return transpose(product, place);
}

}  // namespace

Array dot_general(const ArrayLike& lhs, const ArrayLike& rhs, const DotDims& dims) {
  check_side(lhs, dims.lhs_batch, dims.lhs_contracting);
  check_side(rhs, dims.rhs_batch, dims.rhs_contracting);
  check_pairs(lhs, rhs, dims.lhs_batch, dims.rhs_batch);
  check_pairs(lhs, rhs, dims.lhs_contracting, dims.rhs_contracting);
  const std::vector<Array> operands = frontend::promoted({lhs.array, rhs.array}, lhs.where);
  Dims sizes;
  for (const int64_t dim : dims.lhs_batch) sizes.push_back(operands[0].dim(static_cast<int>(dim)));
  for (const int64_t dim : free_dims(operands[0].rank(), dims.lhs_batch, dims.lhs_contracting))
    sizes.push_back(operands[0].dim(static_cast<int>(dim)));
  for (const int64_t dim : free_dims(operands[1].rank(), dims.rhs_batch, dims.rhs_contracting))
    sizes.push_back(operands[1].dim(static_cast<int>(dim)));
  return frontend::emit_one(
      Primitive{.name = "dot_general",
                .lower =
                    [dims](Lowering& lowering, const Node& node, const std::vector<int32_t>& ids) {
                      return std::vector<int32_t>{lowering.builder().dot(
                          node.shapes[0], ids[0], ids[1],
                          {dims.lhs_contracting, dims.rhs_contracting, dims.lhs_batch, dims.rhs_batch})};
                    },
                .vjp =
                    [dims](const VjpArguments& a) {
                      return std::vector<Array>{
                          a.wanted[0] ? transposed_dot(a.cotangent(), a.inputs[1], a.inputs[0].rank(), dims, true)
                                      : Array(),
                          a.wanted[1] ? transposed_dot(a.cotangent(), a.inputs[0], a.inputs[1].rank(), dims, false)
                                      : Array()};
                    },
                .jvp =
                    [dims](const frontend::JvpArguments& a) {
                      const auto part = [&](size_t k) {
                        if (!a.tangents[k].defined()) return Array();
                        return k == 0 ? dot_general(a.tangents[0], a.inputs[1], dims)
                                      : dot_general(a.inputs[0], a.tangents[1], dims);
                      };
                      return std::vector<Array>{frontend::add_tangents(part(0), part(1))};
                    }},
      operands, Shape(operands[0].dtype(), sizes), lhs.where);
}

Array matmul(const ArrayLike& lhs, const ArrayLike& rhs) {
  const int a = lhs.array.rank(), b = rhs.array.rank();
  const auto problem = [&](bool holds, const char* text) {
    require<InvalidArgumentError>(holds, "matmul", "{} times {} at {}: {}", tensor::to_string(lhs.array.shape()),
                                  tensor::to_string(rhs.array.shape()), frontend::to_string(lhs.where), text);
  };
  problem(a > 0 && b > 0, "a scalar has no matrix product: multiply");
  problem(lhs.array.dim(-1) == rhs.array.dim(b == 1 ? 0 : -2), "the inner sizes differ");
  if (b == 1) return dot_general(lhs, rhs, {.lhs_contracting = {a - 1}, .rhs_contracting = {0}});
  if (b == 2) return dot_general(lhs, rhs, {.lhs_contracting = {a - 1}, .rhs_contracting = {0}});
  if (a == 1) return squeeze(matmul(expand_dims(lhs, {0}), rhs), {-2});
  const Dims left(lhs.array.dims().begin(), lhs.array.dims().end() - 2);
  const Dims right(rhs.array.dims().begin(), rhs.array.dims().end() - 2);
  Dims batch(std::max(left.size(), right.size()), 1);
  for (const Dims& one : {left, right}) {
    for (size_t k = 0; k < one.size(); ++k) {
      int64_t& size = batch[batch.size() - one.size() + k];
      problem(size == 1 || one[k] == 1 || size == one[k], "the leading dims do not broadcast");
      if (one[k] != 1) size = one[k];
    }
  }
  const auto widened = [&](const ArrayLike& x) {
    Dims dims = batch;
    dims.insert(dims.end(), x.array.dims().end() - 2, x.array.dims().end());
    return broadcast_to(x, dims, x.where);
  };
  DotDims dims;
  for (size_t k = 0; k < batch.size(); ++k) {
    dims.lhs_batch.push_back(static_cast<int64_t>(k));
    dims.rhs_batch.push_back(static_cast<int64_t>(k));
  }
  dims.lhs_contracting = {static_cast<int64_t>(batch.size()) + 1};
  dims.rhs_contracting = {static_cast<int64_t>(batch.size())};
  return dot_general({widened(lhs), lhs.where}, {widened(rhs), rhs.where}, dims);
}

Array dot(const ArrayLike& lhs, const ArrayLike& rhs) {
  if (lhs.array.rank() == 0 || rhs.array.rank() == 0) return multiply(lhs, rhs);
  const int64_t inner = rhs.array.rank() == 1 ? 0 : rhs.array.rank() - 2;
  return dot_general(lhs, rhs, {.lhs_contracting = {lhs.array.rank() - 1}, .rhs_contracting = {inner}});
}

Array inner(const ArrayLike& lhs, const ArrayLike& rhs) {
  if (lhs.array.rank() == 0 || rhs.array.rank() == 0) return multiply(lhs, rhs);
  return tensordot(lhs, rhs, {-1}, {-1});
}

Array vdot(const ArrayLike& lhs, const ArrayLike& rhs) {
  return dot({flatten({conj(lhs), lhs.where}), lhs.where}, {flatten(rhs), rhs.where});
}

Array tensordot(const ArrayLike& lhs, const ArrayLike& rhs, int count) {
  require<InvalidArgumentError>(count >= 0 && count <= std::min(lhs.array.rank(), rhs.array.rank()), "tensordot",
                                "{} dims of {} and {} at {}", count, tensor::to_string(lhs.array.shape()),
                                tensor::to_string(rhs.array.shape()), frontend::to_string(lhs.where));
  std::vector<int> left, right;
  for (int k = 0; k < count; ++k) {
    left.push_back(k - count);
    right.push_back(k);
  }
  return tensordot(lhs, rhs, left, right);
}

Array tensordot(const ArrayLike& lhs, const ArrayLike& rhs, const std::vector<int>& lhs_dims,
                const std::vector<int>& rhs_dims) {
  DotDims dims;
  for (const int dim : lhs_dims)
    dims.lhs_contracting.push_back(frontend::normal_dim("tensordot", dim, lhs.array.shape(), lhs.where));
  for (const int dim : rhs_dims)
    dims.rhs_contracting.push_back(frontend::normal_dim("tensordot", dim, rhs.array.shape(), rhs.where));
  return dot_general(lhs, rhs, dims);
}

Array outer(const ArrayLike& lhs, const ArrayLike& rhs) {
  return multiply(expand_dims(flatten(lhs), {1}), expand_dims(flatten(rhs), {0}));
}

}  // namespace alpa
