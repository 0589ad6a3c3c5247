#pragma once

#include <string>
#include <string_view>

namespace alpa::hlo {

/// What a program file holds, told by its content.
enum class FileKind { kHloModuleProto, kHloProto, kStableHloText, kStableHloArtifact, kHloText };

/// Undoes xz compression if there is any, else returns the bytes.
/// Errors: InvalidArgumentError for a damaged or cut-short archive, or one that unpacks to more than 2 GiB.
std::string unpack(std::string bytes);

/// Errors: InvalidArgumentError if it is none of them.
FileKind recognize(std::string_view bytes);

/// Errors: InvalidArgumentError if brackets in the text of a StableHLO program are nested deeper than any program's:
/// parsers recurse, and the stack ends.
void check_nesting(std::string_view text);

/// The HloModuleProto inside an HloProto (what XLA dumps). Errors: InvalidArgumentError.
std::string module_of_hlo_proto(std::string_view bytes);

}  // namespace alpa::hlo
