#include "alpa/tensor/literal.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "alpa/base/error.h"

namespace alpa::tensor {
namespace {

std::shared_ptr<std::byte> allocate(int64_t size) {
  const size_t rounded = (static_cast<size_t>(size) + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, rounded == 0 ? 64 : rounded);
  if (memory == nullptr) raise<OutOfMemoryError>("literal", "no host memory for {} bytes", size);
  std::memset(memory, 0, rounded == 0 ? 64 : rounded);
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
}

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const int exponent = (half >> 10) & 0x1f;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -value : value;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  return std::bit_cast<float>(sign | static_cast<uint32_t>(exponent + 112) << 23 | mantissa << 13);
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00u;
  if (magnitude >= 65520.0f) return sign | 0x7c00u;
  if (magnitude < std::ldexp(1.0f, -14)) {
    return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
  }
  const uint32_t rounded = (bits & 0x7fffffffu) + 0xfffu + ((bits >> 13) & 1u);
  return sign | static_cast<uint16_t>((rounded - (112u << 23)) >> 13);
}

uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

template <typename T>
T load(const std::byte* base, int64_t index) {
  T value;
  std::memcpy(&value, base + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void store(std::byte* base, int64_t index, T value) {
  std::memcpy(base + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Halves to the even one, what is out of range to its end; 0 for NaN.
template <typename T>
T nearest(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

}  // namespace

Literal::Literal(Shape shape) : shape_(std::move(shape)) {
  require<InvalidArgumentError>(shape_.is_array(), "literal", "{} is not an array", to_string(shape_));
  require<InvalidArgumentError>(is_countable(shape_), "literal", "{} has a negative size or is too large",
                                to_string(shape_));
  size_ = byte_size(shape_);
  data_ = allocate(size_);
}

Literal::Literal(Shape shape, std::span<const std::byte> bytes) : Literal(std::move(shape)) {
  require<InvalidArgumentError>(static_cast<int64_t>(bytes.size()) == size_, "literal", "{} needs {} bytes, got {}",
                                to_string(shape_), size_, bytes.size());
  if (size_ > 0) std::memcpy(data_.get(), bytes.data(), bytes.size());
}

double Literal::at(int64_t index) const {
  ALPA_CHECK(index >= 0 && index < num_elements(shape_));
  const std::byte* base = data_.get();
  switch (shape_.dtype) {
    case DType::kPred:
    case DType::kU8: return load<uint8_t>(base, index);
    case DType::kS8: return load<int8_t>(base, index);
    case DType::kS16: return load<int16_t>(base, index);
    case DType::kU16: return load<uint16_t>(base, index);
    case DType::kS32: return load<int32_t>(base, index);
    case DType::kU32: return load<uint32_t>(base, index);
    case DType::kS64: return static_cast<double>(load<int64_t>(base, index));
    case DType::kU64: return static_cast<double>(load<uint64_t>(base, index));
    case DType::kF16: return half_to_float(load<uint16_t>(base, index));
    case DType::kBF16: return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(base, index)) << 16);
    case DType::kF32: return load<float>(base, index);
    case DType::kF64: return load<double>(base, index);
    case DType::kC64: return load<float>(base, 2 * index);
    case DType::kC128: return load<double>(base, 2 * index);
    default: raise<UnsupportedError>("literal", "cannot read elements of type {}", name(shape_.dtype));
  }
}

double Literal::imaginary_at(int64_t index) const {
  ALPA_CHECK(index >= 0 && index < num_elements(shape_));
  if (shape_.dtype == DType::kC64) return load<float>(data_.get(), 2 * index + 1);
  return shape_.dtype == DType::kC128 ? load<double>(data_.get(), 2 * index + 1) : 0;
}

void Literal::set_imaginary(int64_t index, double value) {
  ALPA_CHECK(index >= 0 && index < num_elements(shape_));
  if (shape_.dtype == DType::kC64) store(data_.get(), 2 * index + 1, static_cast<float>(value));
  if (shape_.dtype == DType::kC128) store(data_.get(), 2 * index + 1, value);
}

void Literal::set(int64_t index, double value) {
  ALPA_CHECK(index >= 0 && index < num_elements(shape_));
  std::byte* base = data_.get();
  switch (shape_.dtype) {
    case DType::kPred: return store<uint8_t>(base, index, value != 0);
    case DType::kU8: return store(base, index, nearest<uint8_t>(value));
    case DType::kS8: return store(base, index, nearest<int8_t>(value));
    case DType::kS16: return store(base, index, nearest<int16_t>(value));
    case DType::kU16: return store(base, index, nearest<uint16_t>(value));
    case DType::kS32: return store(base, index, nearest<int32_t>(value));
    case DType::kU32: return store(base, index, nearest<uint32_t>(value));
    case DType::kS64: return store(base, index, nearest<int64_t>(value));
    case DType::kU64: return store(base, index, nearest<uint64_t>(value));
    case DType::kF16: return store(base, index, float_to_half(static_cast<float>(value)));
    case DType::kBF16: return store(base, index, float_to_bfloat(static_cast<float>(value)));
    case DType::kF32: return store(base, index, static_cast<float>(value));
    case DType::kF64: return store(base, index, value);
    case DType::kC64: return store(base, 2 * index, static_cast<float>(value));
    case DType::kC128: return store(base, 2 * index, value);
    default: raise<UnsupportedError>("literal", "cannot write elements of type {}", name(shape_.dtype));
  }
}

}  // namespace alpa::tensor
