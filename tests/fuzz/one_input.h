#pragma once

#include <cstdint>
#include <string_view>

#include "alpa/base/error.h"

/// What the fuzzers share: an input may be taken or refused by a typed error that is not a fault of ours.
namespace alpa::fuzz {

template <typename Read>
int one_input(const uint8_t* bytes, size_t size, Read read) {
  try {
    read(std::string_view(reinterpret_cast<const char*>(bytes), size));
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return 0;
  }
  return 0;
}

}  // namespace alpa::fuzz
