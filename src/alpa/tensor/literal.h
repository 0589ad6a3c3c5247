#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "alpa/tensor/shape.h"

namespace alpa::tensor {

/// An array on the host: a shape and its elements, row-major, in memory aligned to 64 bytes (so that a plug-in may use
/// it without a copy). Copies share the memory; `mutable_bytes` is for whoever has just made it.
class Literal {
 public:
  Literal() = default;
  /// Zeros. Errors: InvalidArgumentError if `shape` is no array.
  explicit Literal(Shape shape);
  /// Copies `bytes`. Errors: InvalidArgumentError if their number is not that of `shape`.
  Literal(Shape shape, std::span<const std::byte> bytes);

  const Shape& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return {data_.get(), static_cast<size_t>(size_)}; }
  std::span<std::byte> mutable_bytes() { return {data_.get(), static_cast<size_t>(size_)}; }
  /// Keeps the memory alive independently of this literal.
  std::shared_ptr<const std::byte> owner() const { return data_; }

  /// Element `index` (row-major) as a double; a complex number's real part; floats below 16 bits are UnsupportedError.
  double at(int64_t index) const;
  /// The imaginary part of element `index`; 0 if the elements are not complex.
  double imaginary_at(int64_t index) const;
  /// Stores `value` at `index`, rounded to the nearest of the element type.
  void set(int64_t index, double value);
  /// Stores the imaginary part of a complex element; others have none to store.
  void set_imaginary(int64_t index, double value);

 private:
  Shape shape_;
  std::shared_ptr<std::byte> data_;
  int64_t size_ = 0;
};

}  // namespace alpa::tensor
