#include "alpa/frontend/random.h"

#include <array>
#include <cmath>
#include <limits>

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa::random {
namespace {

using frontend::Lowering;
using frontend::Node;
using Ids = std::vector<int32_t>;

// Twenty rounds on two words, with the key mixed in after every four. Source: Salmon et al., SC 2011, section 3.3.
Ids lower_threefry(Lowering& lowering, const Node& node, const Ids& operands) {
  constexpr std::array<std::array<int, 4>, 2> kRotations = {{{13, 15, 26, 6}, {17, 29, 16, 24}}};
  hlo::ComputationBuilder& b = lowering.builder();
  const Shape& shape = node.shapes[0];
  const auto op = [&](hlo::Opcode opcode, int32_t x, int32_t y) { return b.op(opcode, shape, {x, y}); };
  const auto constant = [&](uint32_t value) {
    return b.with_dimensions(hlo::Opcode::kBroadcast, shape, {b.scalar(DType::kU32, value)}, {});
  };
  const auto rotated = [&](int32_t x, int distance) {
    return op(hlo::Opcode::kOr, op(hlo::Opcode::kShiftLeft, x, constant(static_cast<uint32_t>(distance))),
              op(hlo::Opcode::kShiftRightLogical, x, constant(static_cast<uint32_t>(32 - distance))));
  };
  std::array<int32_t, 3> keys = {operands[0], operands[1], 0};
  keys[2] = op(hlo::Opcode::kXor, op(hlo::Opcode::kXor, keys[0], keys[1]), constant(0x1BD11BDAu));
  int32_t x = op(hlo::Opcode::kAdd, operands[2], keys[0]);
  int32_t y = op(hlo::Opcode::kAdd, operands[3], keys[1]);
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int distance : kRotations[group % 2]) {
      x = op(hlo::Opcode::kAdd, x, y);
      y = op(hlo::Opcode::kXor, x, rotated(y, distance));
    }
    x = op(hlo::Opcode::kAdd, x, keys[(group + 1) % 3]);
    y = op(hlo::Opcode::kAdd, op(hlo::Opcode::kAdd, y, keys[(group + 2) % 3]), constant(group + 1));
  }
  // Fused into each of its users, a chain of draws would be compiled over and over.
  const int32_t both = b.tuple({x, y});
  const int32_t held = b.op(hlo::Opcode::kOptimizationBarrier, b.shape(both), {both});
  return {b.get_tuple_element(held, 0), b.get_tuple_element(held, 1)};
}

// Both words of the generator for counters of any shape.
std::vector<Array> threefry(const ArrayLike& key, const Array& high, const Array& low) {
  static const auto primitive =
      std::make_shared<const frontend::Primitive>(frontend::Primitive{.name = "threefry2x32", .lower = lower_threefry});
  require<InvalidArgumentError>(key.array.shape() == Shape(DType::kU32, {2}), "random",
                                "{} at {} is no key: make one with random::key, or split one",
                                tensor::to_string(key.array.shape()), frontend::to_string(key.where));
  std::vector<Array> inputs;
  for (int64_t word = 0; word < 2; ++word)
    inputs.push_back(broadcast_to(squeeze(slice_in_dim(key, 0, word, word + 1)), high.dims(), key.where));
  inputs.push_back(high);
  inputs.push_back(low);
  return frontend::emit(primitive, inputs, {high.shape(), high.shape()}, key.where);
}

// The place of each element in row-major order, as two words. Made of one iota a dim, so that it divides as the array.
std::vector<Array> places(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  const bool wide = count > std::numeric_limits<uint32_t>::max();
  const DType dtype = wide ? DType::kU64 : DType::kU32;
  Array place = zeros(dims, dtype);
  int64_t stride = 1;
  for (size_t k = dims.size(); k-- > 0;) {
    Array step = iota(dims, static_cast<int>(k), dtype);
    if (stride != 1) step = multiply(step, full({}, static_cast<double>(stride), dtype));
    place = k + 1 == dims.size() ? step : add(place, step);
    stride *= dims[k];
  }
  if (!wide) return {zeros(dims, DType::kU32), place};
  return {shift_right(place, full({}, 32, dtype)).astype(DType::kU32), place.astype(DType::kU32)};
}

int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::kF32: return 23;
    case DType::kF64: return 52;
    case DType::kF16: return 10;
    case DType::kBF16: return 7;
    default:
      raise<InvalidArgumentError>("random", "{} is no floating type of random numbers: use f64, f32, f16 or bf16",
                                  tensor::name(dtype));
  }
}

DType unsigned_of(int width) {
  switch (width) {
    case 8: return DType::kU8;
    case 16: return DType::kU16;
    case 32: return DType::kU32;
    default: return DType::kU64;
  }
}

double least_normal(DType dtype) {
  switch (dtype) {
    case DType::kF16: return std::ldexp(1.0, -14);
    case DType::kF64: return std::numeric_limits<double>::min();
    default: return std::numeric_limits<float>::min();
  }
}

// The number before `value` towards `to`, in the type's own precision; `value` must not be 0.
Array next_after(const ArrayLike& value, bool up) {
  const Array x = value.array;
  const int width = tensor::bit_width(x.dtype());
  const Array raw = bitcast(x, unsigned_of(width));
  const Array away = equal(greater(x, 0), full({}, up ? 1 : 0, DType::kPred));
  const Array one = full({}, 1, raw.dtype());
  return bitcast(where(away, add(raw, one), subtract(raw, one)), x.dtype());
}

}  // namespace

Array key(uint64_t seed) {
  tensor::Literal words(Shape(DType::kU32, {2}));
  words.set(0, static_cast<double>(seed >> 32));
  words.set(1, static_cast<double>(seed & 0xffffffffu));
  return Array(std::move(words));
}

Array split(const ArrayLike& key, int64_t count) {
  const std::vector<Array> counters = places({count});
  return stack(threefry(key, counters[0], counters[1]), 1, key.where);
}

Array fold_in(const ArrayLike& key, const ArrayLike& data) {
  frontend::require_dtype(data.array.rank() == 0 && !tensor::is_floating(data.array.dtype()), "fold_in", data,
                          "an integer scalar");
  return stack(threefry(key, zeros({}, DType::kU32), data.array.astype(DType::kU32)), 0, key.where);
}

Array bits(const ArrayLike& key, const Dims& dims, DType dtype) {
  frontend::require_dtype(dtype == DType::kU8 || dtype == DType::kU16 || dtype == DType::kU32 || dtype == DType::kU64,
                          "random::bits", key, "an unsigned type of the result");
  const std::vector<Array> counters = places(dims);
  const std::vector<Array> words = threefry(key, counters[0], counters[1]);
  if (dtype != DType::kU64) return bitwise_xor(words[0], words[1]).astype(dtype);
  return bitwise_or(shift_left(words[0].astype(dtype), full({}, 32, dtype)), words[1].astype(dtype));
}

Array uniform(const ArrayLike& key, const Dims& dims, DType dtype, const ArrayLike& low, const ArrayLike& high) {
  const int mantissa = mantissa_bits(dtype);
  const DType word = unsigned_of(tensor::bit_width(dtype));
  // A number in [1, 2) by its mantissa, less 1.
  const DType drawn = mantissa < 8 ? DType::kU8 : word;
  const Array raw = bits(key, dims, drawn).astype(word);
  const Array one = bitcast(full({}, 1, dtype), word);
  const Array filled = bitwise_or(shift_right(raw, full({}, tensor::bit_width(drawn) - mantissa, word)), one);
  const Array unit = subtract(bitcast(filled, dtype), 1);
  const Array least = low.array.astype(dtype), most = high.array.astype(dtype);
  return maximum(least, add(multiply(unit, subtract(most, least)), least));
}

Array normal(const ArrayLike& key, const Dims& dims, DType dtype) {
  const Array low = next_after(full({}, -1, dtype), true);
  return multiply(erf_inv(uniform(key, dims, dtype, low, 1)), std::sqrt(2.0));
}

Array truncated_normal(const ArrayLike& key, const ArrayLike& lower, const ArrayLike& upper, const Dims& dims,
                       DType dtype) {
  const Array low = lower.array.astype(dtype), high = upper.array.astype(dtype);
  const Array a = erf(divide(low, std::sqrt(2.0))), b = erf(divide(high, std::sqrt(2.0)));
  const Array drawn = multiply(erf_inv(uniform(key, dims, dtype, a, b)), std::sqrt(2.0));
  return clip(drawn, next_after(low, true), next_after(high, false));
}

Array bernoulli(const ArrayLike& key, const ArrayLike& probability, const Dims& dims) {
  return less(uniform(key, dims, frontend::as_floating(probability.array).dtype()), probability);
}

Array randint(const ArrayLike& key, const Dims& dims, const ArrayLike& low, const ArrayLike& high, DType dtype) {
  frontend::require_dtype(tensor::is_integral(dtype), "randint", key, "an integer type of the result");
  if (tensor::bit_width(dtype) < 32) return randint(key, dims, low, high).astype(dtype);
  const DType word = unsigned_of(tensor::bit_width(dtype));
  const Array first = low.array.astype(dtype), last = high.array.astype(dtype);
  // Twice as many bits as the type has, modulo the span: its bias is then negligible.
  const Array keys = random::split(key, 2);
  const Array upper = random::bits(squeeze(slice_in_dim(keys, 0, 0, 1), {0}), dims, word);
  const Array under = random::bits(squeeze(slice_in_dim(keys, 0, 1, 2), {0}), dims, word);
  const Array span = where(less_equal(last, first), full({}, 1, word), subtract(last, first).astype(word));
  const Array half = remainder(full({}, std::ldexp(1.0, tensor::bit_width(word) / 2), word), span);
  const Array factor = remainder(multiply(half, half), span);
  const Array offset = remainder(add(multiply(remainder(upper, span), factor), remainder(under, span)), span);
  return add(first, offset.astype(dtype));
}

Array gumbel(const ArrayLike& key, const Dims& dims, DType dtype) {
  return negate(log(negate(log(uniform(key, dims, dtype, least_normal(dtype), 1)))));
}

Array exponential(const ArrayLike& key, const Dims& dims, DType dtype) {
  return negate(log1p(negate(uniform(key, dims, dtype))));
}

Array categorical(const ArrayLike& key, const ArrayLike& logits, int dim) {
  const Array f = frontend::as_floating(logits.array);
  return argmax(add(gumbel(key, f.dims(), f.dtype()), ArrayLike(f, logits.where)), dim);
}

}  // namespace alpa::random
