#pragma once

#include <string>

namespace alpa::api {

/// The name of a type as its author wrote it, from `typeid(T).name()`.
std::string readable_name(const char* type);

}  // namespace alpa::api
