#pragma once

#include <string>
#include <vector>

namespace alpa::tool {

struct Curve {
  std::string name;
  std::vector<double> values;  ///< One a step; what is not finite is left out.
};

/// Curves over steps as text, 64 columns by 12 lines: the first is drawn with "●", the second with "○", points of both
/// with "◉".
std::string plot(const std::vector<Curve>& curves);

}  // namespace alpa::tool
