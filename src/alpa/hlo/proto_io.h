#pragma once

#include <string>
#include <string_view>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// Reads a serialized HloModuleProto. Fields unknown to us are kept.
/// Errors: InvalidArgumentError that names what is wrong and where: not a proto, cut short, unknown opcode, an operand
/// that does not come before its use, a name used twice.
Module read_module(std::string_view bytes);

/// Serialized HloModuleProto; of a module that was read and not changed, the very bytes it was read from.
/// New instructions and computations get ids, changed shapes the default layout.
std::string write_module(const Module& module);

}  // namespace alpa::hlo
