#include "alpa/solver/cost.h"

#include <algorithm>

namespace alpa::solver {

std::string to_string(Cost cost) {
  if (cost == 0) return "0";
  const bool negative = cost < 0;
  std::string digits;
  while (cost != 0) {
    const int digit = static_cast<int>(cost % 10);
    digits.push_back(static_cast<char>('0' + (negative ? -digit : digit)));
    cost /= 10;
  }
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace alpa::solver
