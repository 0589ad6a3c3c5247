#include "alpa/frontend/array.h"

#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <ostream>

#include "alpa/base/error.h"
#include "alpa/frontend/evaluate.h"
#include "alpa/frontend/host_value.h"
#include "alpa/frontend/node.h"
#include "alpa/frontend/ops/elementwise_rules.h"

namespace alpa {
namespace {

constexpr int64_t kPrintedInFull = 1000;
constexpr int64_t kPrintedAtEnds = 3;

// All digits: a double holds those of 53 bits.
std::string print_integer(const tensor::Literal& literal, int64_t index) {
  const DType dtype = literal.shape().dtype;
  const size_t size = static_cast<size_t>(tensor::bit_width(dtype)) / 8;
  uint64_t bits = 0;
  std::memcpy(&bits, literal.bytes().data() + static_cast<size_t>(index) * size, size);
  if (!frontend::is_signed(dtype)) return std::to_string(bits);
  const size_t unused = 64 - 8 * size;
  return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

// Elements of one dim in brackets, inner dims on lines of their own; long dims by their ends.
std::string print(const tensor::Literal& literal, size_t dim, int64_t offset, bool whole) {
  const Dims& dims = literal.shape().dims;
  if (dim == dims.size()) {
    const DType dtype = literal.shape().dtype;
    if (tensor::is_integral(dtype) && tensor::bit_width(dtype) >= 8) return print_integer(literal, offset);
    const double value = literal.at(offset);
    if (dtype == DType::kPred) return value != 0 ? "true" : "false";
    if (tensor::is_complex(dtype)) return fmt::format("{:.6g}{:+.6g}i", value, literal.imaginary_at(offset));
    return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);
  }
  int64_t stride = 1;
  for (size_t k = dim + 1; k < dims.size(); ++k) stride *= dims[k];
  const bool last = dim + 1 == dims.size();
  std::string text = "[";
  for (int64_t k = 0; k < dims[dim]; ++k) {
    if (k > 0) text += last ? ", " : ",\n" + std::string(dim + 1, ' ');
    if (!whole && dims[dim] > 2 * kPrintedAtEnds && k == kPrintedAtEnds) {
      text += "...";
      k = dims[dim] - kPrintedAtEnds - 1;
      continue;
    }
    text += print(literal, dim + 1, offset + k * stride, whole);
  }
  return text + "]";
}

}  // namespace

Array::Array(tensor::Literal value) : Array(std::make_shared<frontend::HostValue>(std::move(value))) {}

Array Array::weak_scalar(long double value, DType dtype) { return Array(frontend::number_node(value, dtype), 0); }

std::shared_ptr<frontend::Node> Array::leaf() const {
  struct Leaf : tensor::PlacedValue::Attachment {
    frontend::Node node;
  };
  const auto make = [this] {
    auto leaf = std::make_unique<Leaf>();
    leaf->node.shapes = {value_->shape()};
    leaf->node.owner = value_.get();
    return leaf;
  };
  return {value_, &static_cast<Leaf&>(value_->attachment(make)).node};  // lives as long as the value
}

std::shared_ptr<tensor::PlacedValue> Array::value() const {
  if (value_ != nullptr || !defined()) return value_;
  if (node_->owner != nullptr) return {node_, node_->owner};
  return node_->values.empty() ? nullptr : node_->values[static_cast<size_t>(output_)];
}

tensor::PlacedValue* Array::computed() const {
  return node_->owner != nullptr || node_->values.empty() ? node_->owner
                                                          : node_->values[static_cast<size_t>(output_)].get();
}

Array::Array(std::shared_ptr<frontend::Node> node, int output)
    : node_(std::move(node)), shape_(&node_->shapes[static_cast<size_t>(output)]), output_(output) {}

const Shape& Array::raise_undefined() {
  raise<InvalidArgumentError>("array", "an Array that was never assigned has no shape");
}

int64_t Array::dim(int index) const {
  const int normal = index < 0 ? index + rank() : index;
  require<InvalidArgumentError>(normal >= 0 && normal < rank(), "array", "{} has no dim {}", tensor::to_string(shape()),
                                index);
  return dims()[static_cast<size_t>(normal)];
}

int64_t Array::size() const { return tensor::num_elements(shape()); }

bool Array::is_weak() const { return node_ != nullptr && node_->weak; }

bool Array::is_traced() const { return node_ != nullptr && node_->trace != nullptr; }

bool Array::is_deleted() const {
  const tensor::PlacedValue* const known = known_value();
  return known != nullptr && known->is_deleted();
}

tensor::Literal Array::to_host() const {
  const auto value = frontend::value_of(*this);
  require<InvalidArgumentError>(!value->is_deleted(), "array", "{} was donated to a step or its cluster shut down",
                                tensor::to_string(shape()));
  return value->to_host();
}

tensor::Literal Array::to_host_as(DType dtype) const {
  tensor::Literal literal = to_host();
  if (literal.shape().dtype == dtype) return literal;
  require<InvalidArgumentError>(!tensor::is_complex(this->dtype()) || tensor::is_complex(dtype), "array",
                                "{} read as real numbers: take real(x), imag(x) or abs(x)", tensor::to_string(shape()));
  tensor::Literal converted(Shape(dtype, literal.shape().dims));
  for (int64_t k = 0; k < size(); ++k) {
    converted.set(k, literal.at(k));
    converted.set_imaginary(k, literal.imaginary_at(k));
  }
  return converted;
}

void Array::require_scalar() const {
  require<InvalidArgumentError>(size() == 1, "array", "item() of {}, which has {} elements", tensor::to_string(shape()),
                                size());
}

std::string Array::to_string() const {
  if (!defined()) return "Array()";
  if (is_traced()) return fmt::format("Traced<{}>", tensor::to_string(shape()));
  const bool whole = size() <= kPrintedInFull;
  return fmt::format("Array({}, {})", print(to_host(), 0, 0, whole), tensor::to_string(shape()));
}

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << array.to_string(); }

}  // namespace alpa
