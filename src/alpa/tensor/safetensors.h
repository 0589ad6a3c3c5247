#pragma once

#include <map>
#include <string>
#include <string_view>

#include "alpa/tensor/literal.h"

namespace alpa::tensor {

/// Arrays by name, from the bytes of a safetensors file.
/// Errors: InvalidArgumentError that names `source` and what is wrong: cut short, overlapping or out-of-range data, an
/// element type or shape that does not fit its bytes. Source: the format's public description (8 bytes header length,
/// JSON header, data).
std::map<std::string, Literal> read_safetensors(std::string_view bytes, std::string_view source);

/// Shapes by name, from a file of which only the header is read. Errors: as read_safetensors, but for damaged data.
std::map<std::string, Shape> read_safetensors_shapes(const std::string& path);

/// Errors: UnsupportedError for element types that the format lacks.
std::string write_safetensors(const std::map<std::string, Literal>& arrays);

}  // namespace alpa::tensor
