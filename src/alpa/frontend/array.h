#pragma once

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "alpa/tensor/literal.h"
#include "alpa/tensor/placed_value.h"
#include "alpa/tensor/shape.h"

namespace alpa {

using tensor::DType;
using tensor::Shape;

namespace frontend {
struct Node;
}
struct Index;

/// Dims of an array: {2, 3}.
using Dims = std::vector<int64_t>;
/// Place in the caller's source, for messages.
using Where = std::source_location;

template <typename T>
concept Arithmetic = std::is_arithmetic_v<T>;
/// What the elements of an array can be on the host.
template <typename T>
concept Element = Arithmetic<T> || std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// The element type that holds a C++ number: float f32, int s32, bool pred, ...
template <Element T>
constexpr DType dtype_of() {
  if constexpr (!Arithmetic<T>) return sizeof(T) == 8 ? DType::kC64 : DType::kC128;
  if constexpr (std::is_same_v<T, bool>) return DType::kPred;
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? DType::kF32 : DType::kF64;
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return is_signed ? DType::kS8 : DType::kU8;
  if constexpr (sizeof(T) == 2) return is_signed ? DType::kS16 : DType::kU16;
  if constexpr (sizeof(T) == 4) return is_signed ? DType::kS32 : DType::kU32;
  return is_signed ? DType::kS64 : DType::kU64;
}

/// An array: inside a transformed function a traced value, outside it a value on devices or on the host, made when it
/// is first read. A cheap handle; copies share the value, which never changes.
class Array {
 public:
  /// Holds nothing; only assignment and `defined` make sense.
  Array() = default;
  /// A scalar of weak type: beside an array it takes that array's element type (see `promote`). A floating number alone
  /// is f32, an integer s32.
  template <Arithmetic T>
  Array(T value) : Array(weak_scalar(value)) {}  // NOLINT(google-explicit-constructor): x * 2.0 reads as it should
  explicit Array(tensor::Literal value);
  explicit Array(std::shared_ptr<tensor::PlacedValue> value) : value_(std::move(value)), shape_(&value_->shape()) {}
  Array(std::shared_ptr<frontend::Node> node, int output);

  /// Copies host numbers, row-major. Errors: InvalidArgumentError if their number is not that of `dims`.
  template <Element T>
  static Array from(std::span<const T> values, Dims dims) {
    return Array(tensor::Literal(Shape(dtype_of<T>(), std::move(dims)), std::as_bytes(values)));
  }
  template <Element T>
    requires(!std::is_same_v<T, bool>)
  static Array from(const std::vector<T>& values, Dims dims) {
    return from(std::span<const T>(values), std::move(dims));
  }
  /// A vector: dims {n}.
  template <Element T>
    requires(!std::is_same_v<T, bool>)
  static Array from(const std::vector<T>& values) {
    return from(values, {static_cast<int64_t>(values.size())});
  }

  bool defined() const { return node_ != nullptr || value_ != nullptr; }
  /// Errors: InvalidArgumentError if never assigned.
  const Shape& shape() const { return defined() ? *shape_ : raise_undefined(); }
  DType dtype() const { return shape().dtype; }
  const Dims& dims() const { return shape().dims; }
  int rank() const { return shape().rank(); }
  /// Size of a dim; negative counts from the last. Errors: InvalidArgumentError.
  int64_t dim(int index) const;
  /// Number of elements.
  int64_t size() const;
  /// True for scalars made from C++ numbers and for what comes of them alone.
  bool is_weak() const;
  /// True inside a transformed function, where the value is not known.
  bool is_traced() const;
  /// True once its memory was donated or its cluster shut down.
  bool is_deleted() const;

  /// The whole value on the host; waits for it. Errors: InvalidArgumentError if traced or deleted.
  tensor::Literal to_host() const;
  /// Elements, row-major, as numbers of type T. Errors: InvalidArgumentError for complex ones as real numbers.
  template <Element T>
  std::vector<T> to_vector() const {
    const tensor::Literal literal = to_host_as(dtype_of<T>());
    std::vector<T> values(static_cast<size_t>(size()));
    const auto* begin = reinterpret_cast<const T*>(literal.bytes().data());
    std::copy(begin, begin + values.size(), values.begin());
    return values;
  }
  /// The only element. Errors: InvalidArgumentError if there are more or none.
  template <Element T>
  T item() const {
    require_scalar();
    return to_vector<T>()[0];
  }
  /// Shape and values, long ones abbreviated, as NumPy prints; of a traced array the shape alone.
  std::string to_string() const;

  Array astype(DType dtype, Where where = Where::current()) const;
  /// One size may be -1: what remains.
  Array reshape(const Dims& dims, Where where = Where::current()) const;
  /// Dims reversed.
  Array transposed(Where where = Where::current()) const;

  /// NumPy's subscripts: `x(all, range(1, 4), -1, newaxis, ellipsis)`; see Index. Of more than six: `subscript`.
  Array operator()(const Index& a) const;
  Array operator()(const Index& a, const Index& b) const;
  Array operator()(const Index& a, const Index& b, const Index& c) const;
  Array operator()(const Index& a, const Index& b, const Index& c, const Index& d) const;
  Array operator()(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e) const;
  Array operator()(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e,
                   const Index& f) const;

  /// The place in a graph. A value gets a leaf of its own when it is first asked, the same for all arrays that hold it.
  std::shared_ptr<frontend::Node> node() const { return node_ != nullptr || value_ == nullptr ? node_ : leaf(); }
  /// The node of what was recorded; null for a value.
  const std::shared_ptr<frontend::Node>& recorded() const { return node_; }
  int output() const { return output_; }
  /// The value; null while it is not known.
  std::shared_ptr<tensor::PlacedValue> value() const;
  tensor::PlacedValue* known_value() const { return value_ != nullptr || !defined() ? value_.get() : computed(); }

 private:
  static Array weak_scalar(long double value, DType dtype);
  template <Arithmetic T>
  static Array weak_scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) return weak_scalar(value ? 1 : 0, DType::kPred);
    if constexpr (std::is_floating_point_v<T>) return weak_scalar(static_cast<long double>(value), DType::kF32);
    return weak_scalar(static_cast<long double>(value), DType::kS32);
  }
  tensor::Literal to_host_as(DType dtype) const;
  void require_scalar() const;
  static const Shape& raise_undefined();
  std::shared_ptr<frontend::Node> leaf() const;
  tensor::PlacedValue* computed() const;

  // One of them: a value needs no node, of which a step's results would be many.
  std::shared_ptr<frontend::Node> node_;
  std::shared_ptr<tensor::PlacedValue> value_;
  const Shape* shape_ = nullptr;  // the node's or the value's: whoever asks need not touch them
  int output_ = 0;
};

/// As `to_string`.
std::ostream& operator<<(std::ostream& out, const Array& array);

/// What an operation takes: an array or a C++ number, and the place where the caller wrote it.
struct ArrayLike {
  Array array;
  Where where;

  ArrayLike(const Array& value, Where place = Where::current()) : array(value), where(place) {}  // NOLINT
  template <Arithmetic T>
  ArrayLike(T value, Where place = Where::current()) : array(value), where(place) {}  // NOLINT
};

}  // namespace alpa
