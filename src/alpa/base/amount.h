#pragma once

#include <cstdint>
#include <string>

namespace alpa {

/// Bytes for messages: "123 bytes", "16 GiB (17179869184 bytes)".
std::string amount_of_memory(int64_t bytes);

}  // namespace alpa
