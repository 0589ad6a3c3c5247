#include "mutate.h"

#include <array>
#include <memory>
#include <vector>

#include "alpa/hlo/opcode.h"

namespace alpa::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::array<int64_t, 14> kNumbers = {0,         1,        2, 3, 4, 7, 8, -1, -2, 64, 1 << 20, int64_t{1} << 40,
                                              INT64_MAX, INT64_MIN};

int64_t interesting(Random& random, int64_t old) {
  switch (below(random, 4)) {
    case 0: return static_cast<int64_t>(static_cast<uint64_t>(old) + 1);
    case 1: return static_cast<int64_t>(static_cast<uint64_t>(old) - 1);
    default: return kNumbers[below(random, kNumbers.size())];
  }
}

void change_list(Message& message, const FieldDescriptor& field, Random& random) {
  const auto& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  switch (below(random, 3)) {
    case 0:
      if (size > 1)
        reflection.SwapElements(&message, &field, static_cast<int>(below(random, static_cast<size_t>(size))), size - 1);
      reflection.RemoveLast(&message, &field);
      break;
    case 1:
      reflection.SwapElements(&message, &field, static_cast<int>(below(random, static_cast<size_t>(size))),
                              static_cast<int>(below(random, static_cast<size_t>(size))));
      break;
    default:
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64)
        reflection.AddInt64(&message, &field, interesting(random, 1));
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        const auto copy = std::unique_ptr<Message>(
            reflection.GetRepeatedMessage(message, &field, static_cast<int>(below(random, static_cast<size_t>(size))))
                .New());
        copy->CopyFrom(
            reflection.GetRepeatedMessage(message, &field, static_cast<int>(below(random, static_cast<size_t>(size)))));
        reflection.AddMessage(&message, &field)->CopyFrom(*copy);
      }
  }
}

void change_value(Message& message, const FieldDescriptor& field, Random& random) {
  const auto& reflection = *message.GetReflection();
  const int at = field.is_repeated()
                     ? static_cast<int>(below(random, static_cast<size_t>(reflection.FieldSize(message, &field))))
                     : 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64: {
      if (field.is_repeated())
        return reflection.SetRepeatedInt64(&message, &field, at,
                                           interesting(random, reflection.GetRepeatedInt64(message, &field, at)));
      return reflection.SetInt64(&message, &field, interesting(random, reflection.GetInt64(message, &field)));
    }
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto value = [&](int32_t old) { return static_cast<int32_t>(interesting(random, old)); };
      if (field.is_repeated())
        return reflection.SetRepeatedInt32(&message, &field, at,
                                           value(reflection.GetRepeatedInt32(message, &field, at)));
      return reflection.SetInt32(&message, &field, value(reflection.GetInt32(message, &field)));
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      if (!field.is_repeated()) reflection.SetBool(&message, &field, !reflection.GetBool(message, &field));
      return;
    default:
      if (field.is_repeated() || field.name() == "name") return;
      return reflection.ClearField(&message, &field);
  }
}

// Walks down from `message` to a random field and changes it.
void change_message(Message& message, Random& random) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  if (fields.empty()) return;
  const FieldDescriptor& field = *fields[below(random, fields.size())];
  if (field.is_repeated() && below(random, 3) == 0) return change_list(message, field, random);
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return change_value(message, field, random);
  const auto& reflection = *message.GetReflection();
  if (!field.is_repeated()) {
    if (below(random, 12) == 0) return reflection.ClearField(&message, &field);
    return change_message(*reflection.MutableMessage(&message, &field), random);
  }
  const auto size = static_cast<size_t>(reflection.FieldSize(message, &field));
  change_message(*reflection.MutableRepeatedMessage(&message, &field, static_cast<int>(below(random, size))), random);
}

pb::HloInstructionProto& any_instruction(pb::HloModuleProto& module, Random& random) {
  // Computations by their sizes, so that each instruction is as likely.
  size_t total = 0;
  for (const auto& computation : module.computations()) total += static_cast<size_t>(computation.instructions_size());
  size_t index = below(random, total);
  for (auto& computation : *module.mutable_computations()) {
    if (index < static_cast<size_t>(computation.instructions_size()))
      return *computation.mutable_instructions(static_cast<int>(index));
    index -= static_cast<size_t>(computation.instructions_size());
  }
  return *module.mutable_computations(0)->mutable_instructions(0);
}

std::string_view any_opcode(Random& random) {
  constexpr size_t kCount = static_cast<size_t>(hlo::Opcode::kXor) + 1;  // the last one
  return hlo::name(static_cast<hlo::Opcode>(below(random, kCount)));
}

}  // namespace

std::string mutate_bytes(std::string bytes, std::string_view other, Random& random) {
  for (size_t changes = 1 + below(random, 4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(random, bytes.size());
    switch (below(random, 6)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8))); break;
      case 1: bytes[at] = static_cast<char>(random()); break;
      case 2: bytes[at] = below(random, 2) == 0 ? '\x7f' : '\xff'; break;
      case 3: bytes.resize(at); break;
      case 4: bytes.insert(at, bytes.substr(below(random, bytes.size()), below(random, 64))); break;
      default: bytes.insert(at, other.substr(below(random, other.size()), below(random, 64))); break;
    }
  }
  return bytes;
}

std::string mutate_json(std::string text, Random& random) {
  constexpr std::array<std::string_view, 14> kTokens = {"-1",
                                                        "0",
                                                        "1e999",
                                                        "18446744073709551615",
                                                        "99999999999999999999",
                                                        "null",
                                                        "true",
                                                        "\"\"",
                                                        "[]",
                                                        "{}",
                                                        "1.5",
                                                        "\"x\"",
                                                        "-9223372036854775808",
                                                        "4294967296"};
  for (size_t changes = 1 + below(random, 3); changes > 0 && !text.empty(); --changes) {
    const size_t at = below(random, text.size());
    if (below(random, 4) == 0) {
      text = mutate_bytes(std::move(text), "{}[],:\"", random);
      continue;
    }
    // The value after the next colon or comma, up to the next mark.
    const size_t start = text.find_first_of(":,[", at);
    if (start == std::string::npos) continue;
    const size_t end = text.find_first_of(",]}", start + 1);
    if (end == std::string::npos) continue;
    text.replace(start + 1, end - start - 1, kTokens[below(random, kTokens.size())]);
  }
  return text;
}

void mutate_module(pb::HloModuleProto& module, Random& random) {
  for (size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    pb::HloInstructionProto& one = any_instruction(module, random);
    switch (below(random, 13)) {
      case 0: *one.mutable_shape() = any_instruction(module, random).shape(); break;
      case 1: one.set_opcode(any_instruction(module, random).opcode()); break;
      case 2: *one.mutable_operand_ids() = any_instruction(module, random).operand_ids(); break;
      case 3: *one.mutable_called_computation_ids() = any_instruction(module, random).called_computation_ids(); break;
      case 4: change_message(module, random); break;
      case 5: one.set_opcode(std::string(any_opcode(random))); break;
      default: change_message(one, random); break;
    }
  }
}

}  // namespace alpa::fuzz
