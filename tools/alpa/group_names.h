#pragma once

#include <string>
#include <vector>

namespace alpa::tool {

/// Names that are equal but for their numbers, as one text.
struct NameGroup {
  std::string text;             ///< "params.h{00..03}_mlp.fc1.kernel"
  std::vector<size_t> members;  ///< Indices into the names, ascending.
};

/// Groups names of equal `keys` (one a name) whose digits alone differ, in the order of the first members. A group
/// stands for every combination of the numbers in its braces; names that do not fill one stay alone.
std::vector<NameGroup> group_names(const std::vector<std::string>& names, const std::vector<std::string>& keys);

/// Groups names of equal `keys` whose digits alone differ, whether they fill the combinations or not, equal names too.
/// The text has the numbers of the first member where all agree, "*" elsewhere.
std::vector<NameGroup> group_alike(const std::vector<std::string>& names, const std::vector<std::string>& keys);

}  // namespace alpa::tool
