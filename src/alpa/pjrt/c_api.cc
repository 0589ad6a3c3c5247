#include "alpa/pjrt/c_api.h"

#include <array>

#include "alpa/base/error.h"

namespace alpa::pjrt {
namespace {

using tensor::DType;

constexpr std::array<std::pair<DType, PJRT_Buffer_Type>, 28> kTypes = {{
    {DType::kPred, PJRT_Buffer_Type_PRED},
    {DType::kS8, PJRT_Buffer_Type_S8},
    {DType::kS16, PJRT_Buffer_Type_S16},
    {DType::kS32, PJRT_Buffer_Type_S32},
    {DType::kS64, PJRT_Buffer_Type_S64},
    {DType::kU8, PJRT_Buffer_Type_U8},
    {DType::kU16, PJRT_Buffer_Type_U16},
    {DType::kU32, PJRT_Buffer_Type_U32},
    {DType::kU64, PJRT_Buffer_Type_U64},
    {DType::kF16, PJRT_Buffer_Type_F16},
    {DType::kF32, PJRT_Buffer_Type_F32},
    {DType::kF64, PJRT_Buffer_Type_F64},
    {DType::kBF16, PJRT_Buffer_Type_BF16},
    {DType::kC64, PJRT_Buffer_Type_C64},
    {DType::kC128, PJRT_Buffer_Type_C128},
    {DType::kF8E5M2, PJRT_Buffer_Type_F8E5M2},
    {DType::kF8E4M3FN, PJRT_Buffer_Type_F8E4M3FN},
    {DType::kF8E4M3B11FNUZ, PJRT_Buffer_Type_F8E4M3B11FNUZ},
    {DType::kF8E5M2FNUZ, PJRT_Buffer_Type_F8E5M2FNUZ},
    {DType::kF8E4M3FNUZ, PJRT_Buffer_Type_F8E4M3FNUZ},
    {DType::kS4, PJRT_Buffer_Type_S4},
    {DType::kU4, PJRT_Buffer_Type_U4},
    {DType::kToken, PJRT_Buffer_Type_TOKEN},
    {DType::kS2, PJRT_Buffer_Type_S2},
    {DType::kU2, PJRT_Buffer_Type_U2},
    {DType::kF8E4M3, PJRT_Buffer_Type_F8E4M3},
    {DType::kF8E3M4, PJRT_Buffer_Type_F8E3M4},
    {DType::kF8E8M0FNU, PJRT_Buffer_Type_F8E8M0FNU},
}};

std::string value_text(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString: return std::string(text(value.string_value, value.value_size));
    case PJRT_NamedValue_kInt64: return fmt::format("{}", value.int64_value);
    case PJRT_NamedValue_kFloat: return fmt::format("{}", value.float_value);
    case PJRT_NamedValue_kBool: return value.bool_value ? "true" : "false";
    case PJRT_NamedValue_kInt64List: {
      std::string list;
      for (size_t i = 0; i < value.value_size; ++i) {
        if (i > 0) list += '.';
        list += std::to_string(value.int64_array_value[i]);
      }
      return list;
    }
  }
  return "";
}

/// The plug-in's text on one line, without spaces at its end.
std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    if (c != '\n' && c != '\r') {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

void raise_missing_function(const PJRT_Api* api, std::string_view function) {
  raise<PluginError>("pjrt", "the plug-in (PJRT API {}.{}) has no {}: install a newer plug-in",
                     api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version, function);
}

void raise_error(const PJRT_Api* api, std::string_view function, PJRT_Error* error) {
  ALPA_PJRT_ARGS(PJRT_Error_Message_Args, message);
  message.error = error;
  api->PJRT_Error_Message(&message);
  const std::string line = one_line(text(message.message, message.message_size));
  ALPA_PJRT_ARGS(PJRT_Error_GetCode_Args, code);
  code.error = error;
  if (PJRT_Error* second = api->PJRT_Error_GetCode(&code); second != nullptr) {
    ignore(api, second);
    code.code = PJRT_Error_Code_UNKNOWN;
  }
  ignore(api, error);
  // The plug-in of API 0.81 wraps what ended an asynchronous run into another code; the text stays.
  const bool out_of_memory = line.find("Out of memory allocating") != std::string::npos;
  if (out_of_memory || code.code == PJRT_Error_Code_RESOURCE_EXHAUSTED) {
    raise<OutOfMemoryError>("pjrt", "{}: {}", function, line);
  }
  if (code.code == PJRT_Error_Code_INVALID_ARGUMENT) raise<InvalidArgumentError>("pjrt", "{}: {}", function, line);
  raise<PluginError>("pjrt", "{}: {}", function, line);
}

void ignore(const PJRT_Api* api, PJRT_Error* error) {
  if (error == nullptr) return;
  ALPA_PJRT_ARGS(PJRT_Error_Destroy_Args, args);
  args.error = error;
  api->PJRT_Error_Destroy(&args);
}

std::map<std::string, std::string> named_values(const PJRT_NamedValue* values, size_t count) {
  std::map<std::string, std::string> result;
  for (size_t i = 0; i < count; ++i) {
    result[std::string(text(values[i].name, values[i].name_size))] = value_text(values[i]);
  }
  return result;
}

PJRT_Buffer_Type to_buffer_type(DType dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  raise<UnsupportedError>("pjrt", "no device buffer holds elements of type {}: convert them first", name(dtype));
}

DType from_buffer_type(PJRT_Buffer_Type type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  return DType::kInvalid;
}

}  // namespace alpa::pjrt
