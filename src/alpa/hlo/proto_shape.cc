#include "alpa/hlo/proto_shape.h"

#include <algorithm>

#include "alpa/base/error.h"

namespace alpa::hlo {
namespace {

// Deeper nesting than this is no program of anyone's, and would exhaust the stack.
constexpr int kMaxTupleDepth = 64;
// 16 TB of f32.
constexpr int64_t kMaxElements = int64_t{1} << 42;
// Of a tuple's arrays together. With the limit of `verify` on a whole program, sums of bytes stay below 2^63.
constexpr int64_t kMaxTupleBytes = int64_t{1} << 60;

tensor::Shape convert(const pb::ShapeProto& proto, int depth) {
  require<InvalidArgumentError>(depth < kMaxTupleDepth, "hlo", "a tuple shape is nested deeper than {}",
                                kMaxTupleDepth);
  require<InvalidArgumentError>(proto.element_type() >= 1 && proto.element_type() <= 36, "hlo",
                                "unknown element type number {}; is the file from a newer XLA?", proto.element_type());
  tensor::Shape shape;
  shape.dtype = static_cast<tensor::DType>(proto.element_type());
  if (shape.is_tuple()) {
    int64_t bytes = 0;
    for (const pb::ShapeProto& element : proto.tuple_shapes()) {
      shape.elements.push_back(convert(element, depth + 1));
      bytes += tensor::byte_size(shape.elements.back());
      require<InvalidArgumentError>(bytes <= kMaxTupleBytes, "hlo", "a tuple shape has more than 2^60 bytes");
    }
    return shape;
  }
  int64_t count = 1;
  const auto& dynamic = proto.is_dynamic_dimension();
  require<UnsupportedError>(std::find(dynamic.begin(), dynamic.end(), true) == dynamic.end(), "hlo",
                            "a shape has a dim whose size is known only when it runs: export the program for fixed "
                            "sizes");
  for (const int64_t dim : proto.dimensions()) {
    require<InvalidArgumentError>(dim >= 0, "hlo", "a shape has the negative dim {}", dim);
    require<InvalidArgumentError>(!__builtin_mul_overflow(count, dim == 0 ? 1 : dim, &count) && count <= kMaxElements,
                                  "hlo", "a shape has more than 2^42 elements");
    shape.dims.push_back(dim);
  }
  return shape;
}

}  // namespace

tensor::Shape shape_from_proto(const pb::ShapeProto& proto) { return convert(proto, 0); }

pb::ShapeProto shape_to_proto(const tensor::Shape& shape) {
  pb::ShapeProto proto;
  proto.set_element_type(static_cast<int>(shape.dtype));
  if (shape.is_tuple()) {
    for (const tensor::Shape& element : shape.elements) *proto.add_tuple_shapes() = shape_to_proto(element);
    return proto;
  }
  for (const int64_t dim : shape.dims) {
    proto.add_dimensions(dim);
    proto.add_is_dynamic_dimension(false);
  }
  if (!shape.is_array()) return proto;
  pb::LayoutProto* layout = proto.mutable_layout();
  for (int dim = shape.rank() - 1; dim >= 0; --dim) layout->add_minor_to_major(dim);
  return proto;
}

}  // namespace alpa::hlo
