#include "alpa/frontend/ops/convolution.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/promotion.h"

// With N the batch, C and O features, and along each spatial dim L elements of the operand (b apart), K of the kernel
// (w apart) and T of the result (s apart), low and high the padding:
//   out[n, o, t] = sum over c, k of lhs[n, c, l] rhs[c, o, k]   where l b = t s + k w - low.
// Both derivatives are convolutions again. For the operand's, t s = l b + low - k w: the results' cotangent, s apart,
// with the kernel reversed, which moves b at a time. For the kernel's, the sum runs over n and t: the operand with its
// batch as features, with the cotangent as a kernel whose elements are s apart, which moves w at a time.
// Groups: parts of features and parts of the batch change roles.
namespace alpa {
namespace {

using frontend::Lowering;
using frontend::Node;
using frontend::Primitive;
using frontend::VjpArguments;
using frontend::WindowExtent;
using Wide = std::vector<int64_t>;

struct Convolution {
  hlo::ConvolutionDims dims;
  std::vector<WindowExtent> window;

  Dims result(const Dims& lhs, const Dims& rhs) const {
    Dims out(lhs.size());
    out[static_cast<size_t>(dims.output_batch)] = lhs[static_cast<size_t>(dims.input_batch)] / dims.batch_groups;
    out[static_cast<size_t>(dims.output_feature)] = rhs[static_cast<size_t>(dims.kernel_output_feature)];
    for (size_t k = 0; k < window.size(); ++k) out[static_cast<size_t>(dims.output_spatial[k])] = window[k].result();
    return out;
  }
};

Array record(const Array& lhs, const Array& rhs, const Convolution& convolution, Where where);

// Cuts `parts` out of dim `from` and puts them in front of the elements of dim `to`; dims keep their places.
Array move_parts(const Array& x, int64_t parts, int64_t from, int64_t to) {
  if (parts == 1) return x;
  Dims cut = x.dims();
  cut[static_cast<size_t>(from)] /= parts;
  cut.insert(cut.begin() + from, parts);
  Array moved = reshape(x, cut);
  // Without the parts the dims have their old numbers; in front of dim `to` the parts belong.
  moved = moveaxis(moved, static_cast<int>(from), static_cast<int>(to));
  Dims joined = x.dims();
  joined[static_cast<size_t>(from)] /= parts;
  joined[static_cast<size_t>(to)] *= parts;
  return reshape(moved, joined);
}

Array of_operand(const Array& ct, const Array& rhs, const Dims& lhs, const Convolution& forward) {
  const hlo::ConvolutionDims& d = forward.dims;
  Convolution back;
  back.dims = {.input_batch = d.output_batch,
               .input_feature = d.output_feature,
               .kernel_input_feature = d.kernel_output_feature,
               .kernel_output_feature = d.kernel_input_feature,
               .output_batch = d.input_batch,
               .output_feature = d.input_feature,
               .input_spatial = d.output_spatial,
               .kernel_spatial = d.kernel_spatial,
               .output_spatial = d.input_spatial,
               .feature_groups = std::max(d.feature_groups, d.batch_groups)};
  for (const WindowExtent& w : forward.window) {
    const int64_t low = w.dilated_size() - 1 - w.low;
    const int64_t high = w.dilated_operand() + w.dilated_size() - 1 - w.dilated_result() - low;
    back.window.push_back({w.result(), w.size, w.base_dilation, low, high, w.stride, w.window_dilation});
  }
  const Array grouped = move_parts(rhs, back.dims.feature_groups, d.kernel_output_feature, d.kernel_input_feature);
  const Array kernel = reverse(grouped, std::vector<int>(d.kernel_spatial.begin(), d.kernel_spatial.end()));
  const Array found = record(ct, kernel, back, Where::current());
  return reshape(move_parts(found, d.batch_groups, d.input_feature, d.input_batch), lhs);
}

Array of_kernel(const Array& lhs, const Array& ct, const Convolution& forward) {
  const hlo::ConvolutionDims& d = forward.dims;
  Convolution back;
  back.dims = {.input_batch = d.input_feature,
               .input_feature = d.input_batch,
               .kernel_input_feature = d.output_batch,
               .kernel_output_feature = d.output_feature,
               .output_batch = d.kernel_input_feature,
               .output_feature = d.kernel_output_feature,
               .input_spatial = d.input_spatial,
               .kernel_spatial = d.output_spatial,
               .output_spatial = d.kernel_spatial,
               .feature_groups = d.batch_groups,
               .batch_groups = d.feature_groups};
  for (const WindowExtent& w : forward.window) {
    const int64_t high = w.dilated_result() + w.dilated_size() - 1 - w.dilated_operand() - w.low;
    back.window.push_back({w.operand, w.result(), w.window_dilation, w.low, high, w.base_dilation, w.stride});
  }
  return record(lhs, ct, back, Where::current());
}

Array record(const Array& lhs, const Array& rhs, const Convolution& convolution, Where where) {
  Primitive primitive;
  primitive.name = "conv_general_dilated";
  primitive.lower = [convolution](Lowering& lowering, const Node& node, const std::vector<int32_t>& ids) {
    std::vector<hlo::WindowDim> window;
    for (const WindowExtent& w : convolution.window)
      window.push_back({w.size, w.stride, w.low, w.high, w.window_dilation, w.base_dilation});
    return std::vector<int32_t>{
        lowering.builder().convolution(node.shapes[0], ids[0], ids[1], window, convolution.dims)};
  };
  primitive.vjp = [convolution](const VjpArguments& a) {
    return std::vector<Array>{
        a.wanted[0] ? of_operand(a.cotangent(), a.inputs[1], a.inputs[0].dims(), convolution) : Array(),
        a.wanted[1] ? of_kernel(a.inputs[0], a.cotangent(), convolution) : Array()};
  };
  primitive.jvp = [convolution](const frontend::JvpArguments& a) {
    const auto part = [&](size_t k) {
      if (!a.tangents[k].defined()) return Array();
      return k == 0 ? record(a.tangents[0], a.inputs[1], convolution, Where::current())
                    : record(a.inputs[0], a.tangents[1], convolution, Where::current());
    };
    return std::vector<Array>{frontend::add_tangents(part(0), part(1))};
  };
  return frontend::emit_one(std::move(primitive), {lhs, rhs},
                            Shape(lhs.dtype(), convolution.result(lhs.dims(), rhs.dims())), where);
}

struct Layouts {
  std::string lhs, rhs, out;
};

Layouts or_default(const Layouts& given, int rank) {
  const std::string spatial = rank <= 5 ? std::string("DHW").substr(static_cast<size_t>(5 - std::max(rank, 2))) : "";
  return {given.lhs.empty() ? "N" + spatial + "C" : given.lhs, given.rhs.empty() ? spatial + "IO" : given.rhs,
          given.out.empty() ? "N" + spatial + "C" : given.out};
}

hlo::ConvolutionDims dims_of(const Layouts& given, const ArrayLike& lhs, const ArrayLike& rhs) {
  const int rank = lhs.array.rank();
  const Layouts layouts = or_default(given, rank);
  std::string letters;
  for (const char letter : layouts.rhs) {
    if (letter != 'I' && letter != 'O') letters += letter;
  }
  const auto sorted = [](std::string text) {
    std::sort(text.begin(), text.end());
    return text;
  };
  const std::string expected = sorted("NC" + letters);
  const bool fits = rank >= 2 && rhs.array.rank() == rank && static_cast<int>(layouts.rhs.size()) == rank &&
                    sorted(layouts.rhs) == sorted("IO" + letters) && sorted(layouts.lhs) == expected &&
                    sorted(layouts.out) == expected &&
                    std::adjacent_find(expected.begin(), expected.end()) == expected.end();
  require<InvalidArgumentError>(fits, "conv_general_dilated", "{} and {} at {} do not have the dims {}, {} and {}",
                                tensor::to_string(lhs.array.shape()), tensor::to_string(rhs.array.shape()),
                                frontend::to_string(lhs.where), layouts.lhs, layouts.rhs, layouts.out);
  const auto place = [](const std::string& layout, char letter) { return static_cast<int64_t>(layout.find(letter)); };
  hlo::ConvolutionDims dims{.input_batch = place(layouts.lhs, 'N'),
                            .input_feature = place(layouts.lhs, 'C'),
                            .kernel_input_feature = place(layouts.rhs, 'I'),
                            .kernel_output_feature = place(layouts.rhs, 'O'),
                            .output_batch = place(layouts.out, 'N'),
                            .output_feature = place(layouts.out, 'C'),
                            .input_spatial = {},
                            .kernel_spatial = {},
                            .output_spatial = {}};
  for (const char letter : letters) {
    dims.input_spatial.push_back(place(layouts.lhs, letter));
    dims.kernel_spatial.push_back(place(layouts.rhs, letter));
    dims.output_spatial.push_back(place(layouts.out, letter));
  }
  return dims;
}

void require_features(const ArrayLike& lhs, const ArrayLike& rhs, const hlo::ConvolutionDims& dims) {
  const int64_t batch = lhs.array.dim(static_cast<int>(dims.input_batch));
  const int64_t features = lhs.array.dim(static_cast<int>(dims.input_feature));
  const int64_t kernel_features = rhs.array.dim(static_cast<int>(dims.kernel_input_feature));
  const int64_t outputs = rhs.array.dim(static_cast<int>(dims.kernel_output_feature));
  const int64_t f = dims.feature_groups, b = dims.batch_groups;
  const bool groups = f >= 1 && b >= 1 && (f == 1 || b == 1) && outputs % f == 0 && outputs % b == 0 && batch % b == 0;
  require<InvalidArgumentError>(groups && features == kernel_features * f, "conv_general_dilated",
                                "{} and {} at {}: {} features do not fit a kernel for {} in {} feature and {} batch "
                                "groups with {} results",
                                tensor::to_string(lhs.array.shape()), tensor::to_string(rhs.array.shape()),
                                frontend::to_string(lhs.where), features, kernel_features, f, b, outputs);
}

// Padding of the convolution over a spread operand that is the transpose of one with this scheme.
std::pair<int64_t, int64_t> transposed_padding(int64_t kernel, int64_t stride, bool same) {
  const int64_t total = kernel + stride - 2 + (same ? 0 : std::max<int64_t>(kernel - stride, 0));
  const int64_t low = same && stride <= kernel - 1 ? (total + 1) / 2 : kernel - 1;
  return {low, total - low};
}

}  // namespace

Array conv_general_dilated(const ArrayLike& lhs, const ArrayLike& rhs, const ConvolutionOptions& options) {
  const char* const op = "conv_general_dilated";
  Convolution convolution;
  convolution.dims = dims_of({options.lhs_layout, options.rhs_layout, options.out_layout}, lhs, rhs);
  convolution.dims.feature_groups = options.feature_group_count;
  convolution.dims.batch_groups = options.batch_group_count;
  require_features(lhs, rhs, convolution.dims);
  const size_t spatial = convolution.dims.input_spatial.size();
  frontend::require_one_each(op, "strides", options.strides, spatial, lhs.where);
  frontend::require_one_each(op, "dilations of the operand", options.lhs_dilation, spatial, lhs.where);
  frontend::require_one_each(op, "dilations of the kernel", options.rhs_dilation, spatial, lhs.where);
  for (size_t k = 0; k < spatial; ++k) {
    convolution.window.push_back({.operand = lhs.array.dim(static_cast<int>(convolution.dims.input_spatial[k])),
                                  .size = rhs.array.dim(static_cast<int>(convolution.dims.kernel_spatial[k])),
                                  .stride = frontend::or_one(options.strides, k),
                                  .base_dilation = frontend::or_one(options.lhs_dilation, k),
                                  .window_dilation = frontend::or_one(options.rhs_dilation, k)});
  }
  frontend::resolve_padding(op, options.padding, convolution.window, lhs.where);
  const std::vector<Array> operands = frontend::promoted({lhs.array, rhs.array}, lhs.where);
  return record(operands[0], operands[1], convolution, lhs.where);
}

Array conv_transpose(const ArrayLike& lhs, const ArrayLike& rhs, const ConvTransposeOptions& options) {
  const Layouts layouts = or_default({options.lhs_layout, options.rhs_layout, options.out_layout}, rhs.array.rank());
  const hlo::ConvolutionDims dims = dims_of(layouts, lhs, rhs);
  const size_t spatial = dims.kernel_spatial.size();
  frontend::require_one_each("conv_transpose", "strides", options.strides, spatial, lhs.where);
  frontend::require_one_each("conv_transpose", "dilations of the kernel", options.rhs_dilation, spatial, lhs.where);
  WindowPadding padding = options.padding;
  if (padding.scheme == "SAME" || padding.scheme == "VALID") {
    padding.amounts.clear();
    for (size_t k = 0; k < spatial; ++k) {
      const int64_t size = rhs.array.dim(static_cast<int>(dims.kernel_spatial[k]));
      const int64_t dilated = (size - 1) * frontend::or_one(options.rhs_dilation, k) + 1;
      padding.amounts.push_back(
          transposed_padding(dilated, frontend::or_one(options.strides, k), padding.scheme == "SAME"));
    }
    padding.scheme.clear();
  }
  Array kernel = rhs.array;
  std::string kernel_layout = layouts.rhs;
  if (options.transpose_kernel) {
    kernel = reverse(rhs, std::vector<int>(dims.kernel_spatial.begin(), dims.kernel_spatial.end()));
    std::swap(kernel_layout[kernel_layout.find('I')], kernel_layout[kernel_layout.find('O')]);
  }
  return conv_general_dilated(lhs, {kernel, rhs.where},
                              {.padding = padding,
                               .lhs_dilation = options.strides,
                               .rhs_dilation = options.rhs_dilation,
                               .lhs_layout = layouts.lhs,
                               .rhs_layout = kernel_layout,
                               .out_layout = layouts.out});
}

}  // namespace alpa
