#include "alpa/hlo/flops.h"

#include <algorithm>
#include <cstdint>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/trip_count.h"

namespace alpa::hlo {
namespace {

// More taps than this are all counted as valid: padding is a small part of them.
constexpr int64_t kMaxExactTaps = int64_t{1} << 24;

int64_t sum(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

int64_t product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (const int64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return INT64_MAX;
  }
  return result;
}

int64_t dot_flops(const Computation& computation, const Instruction& instruction) {
  const tensor::Shape& lhs = computation[instruction.operands.at(0)].shape;
  int64_t contracted = 1;
  for (const int64_t dim : dot_dims(instruction).lhs_contracting)
    contracted = product({contracted, lhs.dims.at(static_cast<size_t>(dim))});
  return product({2, tensor::num_elements(instruction.shape), contracted});
}

// Pairs (output position, kernel position) of one spatial dim that meet an element of the input.
int64_t valid_taps(int64_t input, int64_t output, const WindowDim& window) {
  if (product({window.size, output}) > kMaxExactTaps) return product({window.size, output});
  int64_t taps = 0;
  const int64_t dilated = input == 0 ? 0 : sum(product({input - 1, window.base_dilation}), 1);
  for (int64_t kernel = 0; kernel < window.size; ++kernel) {
    for (int64_t out = 0; out < output; ++out) {
      const __int128 at = static_cast<__int128>(out) * window.stride - window.padding_low +
                          static_cast<__int128>(kernel) * window.window_dilation;
      taps += at >= 0 && at < dilated && at % window.base_dilation == 0;
    }
  }
  return taps;
}

int64_t convolution_flops(const Computation& computation, const Instruction& instruction) {
  const ConvolutionDims dims = convolution_dims(instruction);
  const std::vector<WindowDim> windows = window(instruction);
  const tensor::Shape& input = computation[instruction.operands.at(0)].shape;
  const tensor::Shape& kernel = computation[instruction.operands.at(1)].shape;
  const auto size = [](const tensor::Shape& shape, int64_t dim) { return shape.dims.at(static_cast<size_t>(dim)); };
  int64_t count = product({2, size(instruction.shape, dims.output_batch), size(instruction.shape, dims.output_feature),
                           size(kernel, dims.kernel_input_feature)});
  for (size_t k = 0; k < windows.size(); ++k) {
    count = product({count, valid_taps(size(input, dims.input_spatial[k]),
                                       size(instruction.shape, dims.output_spatial[k]), windows[k])});
  }
  return count;
}

// Callees come before their callers, so each computation is counted once.
int64_t total(const Module& module, bool contractions_only) {
  std::vector<int64_t> totals;
  for (const Computation& computation : module.computations) {
    int64_t count = 0;
    for (const Instruction& instruction : computation.instructions) {
      if (!contractions_only || is_contraction(instruction.opcode)) count = sum(count, flops(computation, instruction));
      if (instruction.opcode == Opcode::kWhile) {
        const int64_t trips = trip_count(module, computation, instruction).value_or(1);
        count = sum(count, product({trips, totals[static_cast<size_t>(instruction.called.at(0))]}));
      } else if (instruction.opcode == Opcode::kCall || instruction.opcode == Opcode::kFusion) {
        count = sum(count, totals[static_cast<size_t>(instruction.called.at(0))]);
      } else if (instruction.opcode == Opcode::kConditional) {
        int64_t largest = 0;
        for (const ComputationId branch : instruction.called)
          largest = std::max(largest, totals[static_cast<size_t>(branch)]);
        count = sum(count, largest);
      }
    }
    totals.push_back(count);
  }
  return totals[static_cast<size_t>(module.entry)];
}

}  // namespace

bool is_contraction(Opcode opcode) {
  return opcode == Opcode::kDot || opcode == Opcode::kRaggedDot || opcode == Opcode::kConvolution;
}

int64_t flops(const Computation& computation, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kDot:
    case Opcode::kRaggedDot: return dot_flops(computation, instruction);
    case Opcode::kConvolution: return convolution_flops(computation, instruction);
    case Opcode::kReduce:
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter: return tensor::num_elements(computation[instruction.operands.at(0)].shape);
    case Opcode::kReduceWindow: {
      int64_t count = tensor::num_elements(instruction.shape);
      for (const WindowDim& dim : window(instruction)) count = product({count, dim.size});
      return count;
    }
    case Opcode::kCopy:
    case Opcode::kConvert:
    case Opcode::kReal:
    case Opcode::kImag: return 0;
    default: return is_elementwise(instruction.opcode) ? tensor::num_elements(instruction.shape) : 0;
  }
}

int64_t flops(const Module& module) { return total(module, false); }

int64_t contraction_flops(const Module& module) { return total(module, true); }

}  // namespace alpa::hlo
