#include "alpa/hlo/text_fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "alpa/base/error.h"
#include "alpa/hlo/proto_parse.h"

namespace alpa::hlo {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kMaxDepth = 48;

template <typename T, typename Bits>
std::string print_float(T value) {
  return std::isnan(value) ? fmt::format("0x{:x}", std::bit_cast<Bits>(value)) : fmt::format("{}", value);
}

bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; });
}

std::string print_string(const FieldDescriptor& field, const std::string& text) {
  return field.type() == FieldDescriptor::TYPE_STRING || is_plain(text) ? quoted(text)
                                                                        : "base64" + quoted(to_base64(text));
}

// One value of a field; `index` -1 if it is not repeated.
std::string print_value(const Message& message, const FieldDescriptor& field, int index) {
  const auto& reflection = *message.GetReflection();
  const auto get = [&](auto single, auto repeated) {
    return index < 0 ? (reflection.*single)(message, &field) : (reflection.*repeated)(message, &field, index);
  };
  using Reflection = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return fmt::format("{}", get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format("{}", get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT32:
      return fmt::format("{}", get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_UINT64:
      return fmt::format("{}", get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_BOOL:
      return get(&Reflection::GetBool, &Reflection::GetRepeatedBool) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_FLOAT:
      return print_float<float, uint32_t>(get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return print_float<double, uint64_t>(get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_STRING:
      return print_string(field, get(&Reflection::GetString, &Reflection::GetRepeatedString));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return print_message(index < 0 ? reflection.GetMessage(message, &field)
                                     : reflection.GetRepeatedMessage(message, &field, index));
    case FieldDescriptor::CPPTYPE_ENUM: break;
  }
  raise<InternalError>("hlo", "field {} has a type without text", field.name());
}

std::string print_field(const Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated()) return print_value(message, field, -1);
  std::vector<std::string> values;
  for (int k = 0; k < message.GetReflection()->FieldSize(message, &field); ++k)
    values.push_back(print_value(message, field, k));
  return fmt::format("{{{}}}", fmt::join(values, field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ? ", " : ","));
}

std::string parse_string(Lexer& lexer, const FieldDescriptor& field) {
  if (field.type() == FieldDescriptor::TYPE_STRING) {
    if (lexer.peek() != '"') lexer.expect('"');
    return lexer.name("a string");
  }
  return lexer.accept_word("base64") ? lexer.base64() : lexer.string();
}

void parse_value(Lexer& lexer, Message& message, const FieldDescriptor& field, int depth) {
  const auto& reflection = *message.GetReflection();
  using Reflection = google::protobuf::Reflection;
  const auto set = [&](auto single, auto repeated, auto value) {
    if (field.is_repeated()) {
      (reflection.*repeated)(&message, &field, std::move(value));
    } else {
      (reflection.*single)(&message, &field, std::move(value));
    }
  };
  const auto in_range = [&](auto value, auto low, auto high) {
    if (value < low || value > high) lexer.fail(fmt::format("{} is out of range for {}", value, field.name()));
    return value;
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return set(&Reflection::SetInt32, &Reflection::AddInt32,
                 static_cast<int32_t>(in_range(lexer.integer(), INT32_MIN, INT32_MAX)));
    case FieldDescriptor::CPPTYPE_UINT32:
      return set(&Reflection::SetUInt32, &Reflection::AddUInt32,
                 static_cast<uint32_t>(in_range(lexer.unsigned_integer(), 0u, UINT32_MAX)));
    case FieldDescriptor::CPPTYPE_INT64: return set(&Reflection::SetInt64, &Reflection::AddInt64, lexer.integer());
    case FieldDescriptor::CPPTYPE_UINT64:
      return set(&Reflection::SetUInt64, &Reflection::AddUInt64, lexer.unsigned_integer());
    case FieldDescriptor::CPPTYPE_BOOL: return set(&Reflection::SetBool, &Reflection::AddBool, lexer.boolean());
    case FieldDescriptor::CPPTYPE_FLOAT: return set(&Reflection::SetFloat, &Reflection::AddFloat, lexer.short_number());
    case FieldDescriptor::CPPTYPE_DOUBLE: return set(&Reflection::SetDouble, &Reflection::AddDouble, lexer.number());
    case FieldDescriptor::CPPTYPE_STRING:
      return set(&Reflection::SetString, &Reflection::AddString, parse_string(lexer, field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return parse_message(
          lexer,
          field.is_repeated() ? *reflection.AddMessage(&message, &field) : *reflection.MutableMessage(&message, &field),
          depth + 1);
    case FieldDescriptor::CPPTYPE_ENUM: break;
  }
  raise<InternalError>("hlo", "field {} has a type without text", field.name());
}

void parse_field(Lexer& lexer, Message& message, std::string_view name, int depth) {
  if (name == "proto") {
    const std::string bytes = lexer.base64();
    if (!merge_proto(bytes, message)) lexer.fail("the string is no serialized message");
    return;
  }
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(std::string(name));
  if (field == nullptr) lexer.fail(fmt::format("unknown field \"{}\"", name));
  if (has_field(message, *field)) lexer.fail(fmt::format("\"{}\" is given twice", name));
  if (!field->is_repeated()) return parse_value(lexer, message, *field, depth);
  lexer.expect('{');
  while (!lexer.accept('}')) {
    parse_value(lexer, message, *field, depth);
    lexer.accept(',');
  }
}

}  // namespace

bool has_field(const Message& message, const FieldDescriptor& field) {
  if (field.is_repeated()) return message.GetReflection()->FieldSize(message, &field) > 0;
  return message.GetReflection()->HasField(message, &field);
}

bool is_present_and_empty(const Message& message, const FieldDescriptor& field) {
  if (field.is_repeated() || !has_field(message, field)) return false;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
    return message.GetReflection()->GetMessage(message, &field).ByteSizeLong() == 0;
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
         message.GetReflection()->GetString(message, &field).empty();
}

bool has_unknown_fields(const Message& message) { return !message.GetReflection()->GetUnknownFields(message).empty(); }

void print_fields(const Message& message, const std::set<int>& skip, std::vector<std::string>& out) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (!skip.contains(field->number())) out.push_back(field->name() + "=" + print_field(message, *field));
  }
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return;
  std::string bytes;
  ALPA_CHECK(unknown.SerializeToString(&bytes));
  out.push_back("proto=" + quoted(to_base64(bytes)));
}

std::string print_message(const Message& message) {
  if (const auto* shape = dynamic_cast<const pb::ShapeProto*>(&message)) return print_shape(*shape);
  if (const auto* window = dynamic_cast<const pb::Window*>(&message)) {
    if (const auto text = print_window(*window)) return *text;
  }
  if (const auto* sharding = dynamic_cast<const pb::OpSharding*>(&message)) {
    if (const auto text = print_sharding(*sharding)) return *text;
  }
  std::vector<std::string> fields;
  print_fields(message, {}, fields);
  return fmt::format("{{{}}}", fmt::join(fields, ", "));
}

void parse_field(Lexer& lexer, Message& message, std::string_view name) { parse_field(lexer, message, name, 0); }

void parse_message(Lexer& lexer, Message& message, int depth) {
  if (depth > kMaxDepth) lexer.fail("nested too deep");
  if (auto* shape = dynamic_cast<pb::ShapeProto*>(&message); shape != nullptr && !lexer.accept_word("raw"))
    return parse_shape(lexer, *shape, depth);
  lexer.expect('{');
  const auto is_field = [&] {
    const std::string word(lexer.peek_word());
    return word == "proto" || message.GetDescriptor()->FindFieldByName(word) != nullptr;
  };
  if (auto* window = dynamic_cast<pb::Window*>(&message); window != nullptr && !is_field())
    return parse_window(lexer, *window);
  if (auto* sharding = dynamic_cast<pb::OpSharding*>(&message); sharding != nullptr && !is_field())
    return parse_sharding(lexer, *sharding, depth);
  while (!lexer.accept('}')) {
    const std::string name(lexer.word("a field"));
    lexer.expect('=');
    parse_field(lexer, message, name, depth);
    lexer.accept(',');
  }
}

std::vector<int64_t> parse_integers(Lexer& lexer, char open, char close) {
  std::vector<int64_t> values;
  lexer.expect(open);
  while (!lexer.accept(close)) {
    values.push_back(lexer.integer());
    lexer.accept(',');
  }
  return values;
}

}  // namespace alpa::hlo
