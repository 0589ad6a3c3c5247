#pragma once

#include <cstdint>
#include <string>

namespace alpa {

/// Bytes for messages: "123 bytes", "16 GiB (17179869184 bytes)".
std::string amount_of_memory(int64_t bytes);

/// The least number of four digits that is at least so many bytes, in GiB (2^30 bytes): "5.701".
std::string gib_at_least(int64_t bytes);

}  // namespace alpa
