#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "alpa/frontend/trace.h"

namespace alpa::frontend {

/// What some results need. Operations that know it (loops, branches) do without what their unused outputs alone need.
class Liveness {
 public:
  explicit Liveness(const std::vector<Array>& results);

  /// Operations and leaves of which something is used, inputs before uses.
  const std::vector<std::shared_ptr<Node>>& nodes() const { return nodes_; }
  /// By output; of a node that is not needed all false.
  std::vector<bool> used(const Node& node) const;
  bool needs(const Array& array) const { return used(*array.node())[static_cast<size_t>(array.output())]; }

 private:
  std::vector<std::shared_ptr<Node>> nodes_;
  std::unordered_map<const Node*, std::vector<bool>> used_;
};

/// Which parameters of the function the results marked in `used` need.
std::vector<bool> needed_parameters(const Function& function, const std::vector<bool>& used);

/// The marked elements.
template <typename T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<bool>& mask) {
  std::vector<T> result;
  for (size_t k = 0; k < all.size(); ++k) {
    if (mask[k]) result.push_back(all[k]);
  }
  return result;
}

}  // namespace alpa::frontend
