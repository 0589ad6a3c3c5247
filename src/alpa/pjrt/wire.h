#pragma once

// Private to this room: just enough of the protobuf wire format to write compile options and to open a dumped HloProto.
// Source: protobuf.dev/programming-guides/encoding.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace alpa::pjrt {

/// Appends fields to a message; fields are written in the order of the calls.
class WireWriter {
 public:
  /// An integer, enum or bool; a zero is written too.
  void varint(int field, uint64_t value);
  void number(int field, double value);
  /// A string, a message or packed numbers.
  void bytes(int field, std::string_view value);

  /// A number as an element of a packed field.
  void packed(uint64_t value);

  const std::string& data() const { return data_; }

 private:
  std::string data_;
};

/// The values of the length-delimited `field` of `message`, in their order; views into `message`.
/// Errors: InvalidArgumentError if the message is malformed.
std::vector<std::string_view> bytes_fields(std::string_view message, int field);

}  // namespace alpa::pjrt
