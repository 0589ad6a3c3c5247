#include "alpa/passes/scatter_form.h"

#include <iterator>
#include <map>

namespace alpa::passes {
namespace {

using Offsets = std::vector<int64_t>;  // by device

bool same_in_groups(const Offsets& offsets, const hlo::ReplicaGroups& groups) {
  for (const auto& group : groups) {
    for (const int64_t device : group) {
      if (offsets[static_cast<size_t>(device)] != offsets[static_cast<size_t>(group.front())]) return false;
    }
  }
  return true;
}

/// The members of one group by the offset of their part.
using Members = std::map<int64_t, std::vector<int64_t>>;

Members members_by_offset(const std::vector<int64_t>& group, const Offsets& offsets) {
  Members members;
  for (const int64_t device : group) members[offsets[static_cast<size_t>(device)]].push_back(device);
  return members;
}

// The distance of the offsets, which must be even, and as many members at each; nothing otherwise.
std::optional<int64_t> even_distance(const Members& members) {
  if (members.size() < 2) return std::nullopt;
  const int64_t first = members.begin()->first;
  const int64_t distance = std::next(members.begin())->first - first;
  int64_t expected = first;
  for (const auto& [offset, devices] : members) {
    if (offset != expected || devices.size() != members.begin()->second.size()) return std::nullopt;
    expected += distance;
  }
  return distance;
}

void add_groups(const Members& members, ScatterForm& form) {
  const size_t copies = members.begin()->second.size();
  for (size_t copy = 0; copy < copies; ++copy) {
    form.scatter.emplace_back();
    for (const auto& [offset, devices] : members) form.scatter.back().push_back(devices[copy]);
  }
  if (copies == 1) return;
  for (const auto& [offset, devices] : members) form.reduce.push_back(devices);
}

bool divide(const std::vector<int64_t>& whole, const Part& part, size_t dim, const hlo::ReplicaGroups& groups,
            ScatterForm& form) {
  const Offsets& offsets = part.offsets[dim];
  const int64_t size = part.sizes[dim];
  std::optional<int64_t> distance;
  std::optional<size_t> count;
  for (const auto& group : groups) {
    const Members members = members_by_offset(group, offsets);
    const auto apart = even_distance(members);
    if (!apart || *apart % size != 0 || (distance && *distance != *apart) || (count && *count != members.size()))
      return false;
    distance = apart;
    count = members.size();
    const int64_t first = members.begin()->first;
    // Apart from each other, the parts must be one of each of equal runs of parts.
    if (*apart != size && (first >= *apart || first % size != 0)) return false;
    for (const int64_t device : group) form.before.offsets[dim][static_cast<size_t>(device)] = first;
    add_groups(members, form);
  }
  form.dim = static_cast<int64_t>(dim);
  form.stride = *distance / size;
  const int64_t parts = static_cast<int64_t>(*count);
  if (form.stride > 1 && parts * *distance != whole[dim]) return false;
  form.before.sizes[dim] = parts * size;
  return true;
}

}  // namespace

std::optional<ScatterForm> scatter_form(const std::vector<int64_t>& whole, const Part& part,
                                        const hlo::ReplicaGroups& groups) {
  ScatterForm form;
  form.before = part;
  for (size_t dim = 0; dim < whole.size(); ++dim) {
    if (part.sizes[dim] == whole[dim] || same_in_groups(part.offsets[dim], groups)) continue;
    if (form.dim || !divide(whole, part, dim, groups, form)) return std::nullopt;
  }
  if (!form.dim && part.sizes == whole) return std::nullopt;
  return form;
}

}  // namespace alpa::passes
