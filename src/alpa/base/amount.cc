#include "alpa/base/amount.h"

#include <fmt/format.h>

namespace alpa {

std::string amount_of_memory(int64_t bytes) {
  if (bytes < int64_t{1} << 20) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.4g} GiB ({} bytes)", static_cast<double>(bytes) / (1 << 30), bytes);
}

}  // namespace alpa
