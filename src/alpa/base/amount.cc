#include "alpa/base/amount.h"

#include <fmt/format.h>

#include <cmath>

namespace alpa {

std::string amount_of_memory(int64_t bytes) {
  if (bytes < int64_t{1} << 20) return fmt::format("{} bytes", bytes);
  return fmt::format("{} GiB ({} bytes)", gib_at_least(bytes), bytes);
}

std::string gib_at_least(int64_t bytes) {
  if (bytes <= 0) return "0";
  const double gib = (static_cast<double>(bytes) - 0.5) / (1 << 30);   // what rounds to so many bytes
  const double digit = std::pow(10, std::floor(std::log10(gib)) - 3);  // what the fourth digit counts
  return fmt::format("{:.4g}", std::ceil(gib / digit) * digit);
}

}  // namespace alpa
