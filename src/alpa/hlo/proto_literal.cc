#include "alpa/hlo/proto_literal.h"

#include <cstring>

#include "alpa/base/error.h"
#include "alpa/hlo/proto_shape.h"

namespace alpa::hlo {
namespace {

template <typename T, typename Field>
void copy_elements(std::span<const std::byte> bytes, Field* field) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    field->Add(value);
  }
}

template <typename Repeated>
std::span<const std::byte> raw(const Repeated& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(*values.data())};
}

std::span<const std::byte> raw(const std::string& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

pb::LiteralProto literal_to_proto(const tensor::Literal& literal) {
  pb::LiteralProto proto;
  *proto.mutable_shape() = shape_to_proto(literal.shape());
  const auto bytes = literal.bytes();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  switch (literal.shape().dtype) {
    case tensor::DType::kPred: copy_elements<bool>(bytes, proto.mutable_preds()); break;
    case tensor::DType::kS8: proto.set_s8s(text); break;
    case tensor::DType::kU8: proto.set_u8s(text); break;
    case tensor::DType::kS16: proto.set_s16s(text); break;
    case tensor::DType::kU16: proto.set_u16s(text); break;
    case tensor::DType::kF16: proto.set_f16s(text); break;
    case tensor::DType::kBF16: proto.set_bf16s(text); break;
    case tensor::DType::kS32: copy_elements<int32_t>(bytes, proto.mutable_s32s()); break;
    case tensor::DType::kU32: copy_elements<uint32_t>(bytes, proto.mutable_u32s()); break;
    case tensor::DType::kS64: copy_elements<int64_t>(bytes, proto.mutable_s64s()); break;
    case tensor::DType::kU64: copy_elements<uint64_t>(bytes, proto.mutable_u64s()); break;
    case tensor::DType::kF32: copy_elements<float>(bytes, proto.mutable_f32s()); break;
    case tensor::DType::kF64: copy_elements<double>(bytes, proto.mutable_f64s()); break;
    case tensor::DType::kC64: copy_elements<float>(bytes, proto.mutable_c64s()); break;
    case tensor::DType::kC128: copy_elements<double>(bytes, proto.mutable_c128s()); break;
    default:
      raise<UnsupportedError>("hlo", "a constant of element type {} cannot be written",
                              tensor::name(literal.shape().dtype));
  }
  return proto;
}

std::optional<tensor::Literal> literal_from_proto(const pb::LiteralProto& literal, const tensor::Shape& shape) {
  if (!shape.is_array()) return std::nullopt;
  std::span<const std::byte> bytes;
  switch (shape.dtype) {
    case tensor::DType::kPred: bytes = raw(literal.preds()); break;
    case tensor::DType::kS8: bytes = raw(literal.s8s()); break;
    case tensor::DType::kU8: bytes = raw(literal.u8s()); break;
    case tensor::DType::kS16: bytes = raw(literal.s16s()); break;
    case tensor::DType::kU16: bytes = raw(literal.u16s()); break;
    case tensor::DType::kS32: bytes = raw(literal.s32s()); break;
    case tensor::DType::kU32: bytes = raw(literal.u32s()); break;
    case tensor::DType::kS64: bytes = raw(literal.s64s()); break;
    case tensor::DType::kU64: bytes = raw(literal.u64s()); break;
    case tensor::DType::kF16: bytes = raw(literal.f16s()); break;
    case tensor::DType::kBF16: bytes = raw(literal.bf16s()); break;
    case tensor::DType::kF32: bytes = raw(literal.f32s()); break;
    case tensor::DType::kF64: bytes = raw(literal.f64s()); break;
    case tensor::DType::kC64: bytes = raw(literal.c64s()); break;
    case tensor::DType::kC128: bytes = raw(literal.c128s()); break;
    default: return std::nullopt;
  }
  if (static_cast<int64_t>(bytes.size()) != tensor::byte_size(shape)) return std::nullopt;
  return tensor::Literal(shape, bytes);
}

}  // namespace alpa::hlo
