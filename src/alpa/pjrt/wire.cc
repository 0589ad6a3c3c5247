#include "alpa/pjrt/wire.h"

#include <bit>

#include "alpa/base/error.h"

namespace alpa::pjrt {
namespace {

enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

uint64_t tag(int field, WireType type) { return static_cast<uint64_t>(field) << 3 | type; }

[[noreturn]] void malformed() {
  raise<InvalidArgumentError>("wire", "malformed message: its bytes are cut or no protobuf");
}

/// Takes a varint off the front of `rest`.
uint64_t take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (size_t i = 0; i < rest.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(rest[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest.remove_prefix(i + 1);
      return value;
    }
  }
  malformed();
}

}  // namespace

void WireWriter::packed(uint64_t value) {
  for (; value >= 0x80; value >>= 7) data_ += static_cast<char>(value | 0x80);
  data_ += static_cast<char>(value);
}

void WireWriter::varint(int field, uint64_t value) {
  packed(tag(field, kVarint));
  packed(value);
}

void WireWriter::number(int field, double value) {
  packed(tag(field, kFixed64));
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i) data_ += static_cast<char>(bits >> (8 * i));
}

void WireWriter::bytes(int field, std::string_view value) {
  packed(tag(field, kBytes));
  packed(value.size());
  data_ += value;
}

std::vector<std::string_view> bytes_fields(std::string_view message, int field) {
  std::vector<std::string_view> found;
  while (!message.empty()) {
    const uint64_t key = take_varint(message);
    uint64_t size = 0;
    switch (key & 7) {
      case kVarint: take_varint(message); break;
      case kFixed64: size = 8; break;
      case kFixed32: size = 4; break;
      case kBytes: size = take_varint(message); break;
      default: malformed();
    }
    if (size > message.size()) malformed();
    if (key == tag(field, kBytes)) found.push_back(message.substr(0, size));
    message.remove_prefix(size);
  }
  return found;
}

}  // namespace alpa::pjrt
