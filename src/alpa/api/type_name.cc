#include "alpa/api/type_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace alpa::api {

std::string readable_name(const char* type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? name.get() : type;
}

}  // namespace alpa::api
