#pragma once

#include <string>

#include "alpa/base/error.h"

namespace alpa {

/// What the error of a call says; "no error" where there is none.
template <typename Error = InvalidArgumentError, typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace alpa
