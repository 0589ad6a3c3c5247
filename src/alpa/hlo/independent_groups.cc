#include "alpa/hlo/independent_groups.h"

#include <map>

namespace alpa::hlo {
namespace {

class Bits {
 public:
  explicit Bits(size_t count) : words_((count + 63) / 64, 0) {}
  void set(size_t k) { words_[k / 64] |= uint64_t{1} << (k % 64); }
  bool has(size_t k) const { return (words_[k / 64] >> (k % 64) & 1) != 0; }
  void add(const Bits& other) {
    for (size_t k = 0; k < words_.size(); ++k) words_[k] |= other.words_[k];
  }

 private:
  std::vector<uint64_t> words_;
};

// By candidate: the candidates that it waits for.
std::vector<Bits> waits(const std::vector<std::vector<int32_t>>& operands, const std::vector<Candidate>& candidates) {
  const Bits none(candidates.size());
  std::vector<Bits> before(operands.size(), none);
  std::vector<Bits> result;
  for (size_t node = 0; node < operands.size(); ++node) {
    for (const int32_t operand : operands[node]) before[node].add(before[static_cast<size_t>(operand)]);
    const size_t next = result.size();
    if (next < candidates.size() && candidates[next].node == static_cast<int64_t>(node)) {
      result.push_back(before[node]);
      before[node].set(next);
    }
  }
  return result;
}

struct Group {
  std::vector<int64_t> members;
  int64_t weight = 0;
};

}  // namespace

// Which candidates wait for which is kept closed under joins: whoever waits for one of a group waits for all of it, and
// for all that any of it waits for. A candidate may join if neither waits for the other.
std::vector<std::vector<int64_t>> independent_groups(const std::vector<std::vector<int32_t>>& operands,
                                                     const std::vector<Candidate>& candidates, int64_t limit) {
  std::vector<Bits> before = waits(operands, candidates);
  std::vector<Group> groups;
  std::map<std::string, std::vector<size_t>> of_key;
  const auto fits = [&](const Group& group, size_t one) {
    if (group.weight + candidates[one].weight > limit) return false;
    const auto first = static_cast<size_t>(group.members.front());
    return !before[one].has(first) && !before[first].has(one);
  };
  const auto join = [&](Group& group, size_t one) {
    const auto first = static_cast<size_t>(group.members.front());
    Bits all = before[first];
    all.add(before[one]);
    Bits beyond = all;
    for (const int64_t member : group.members) beyond.set(static_cast<size_t>(member));
    beyond.set(one);
    for (Bits& other : before) {
      if (other.has(first) || other.has(one)) other.add(beyond);
    }
    group.members.push_back(static_cast<int64_t>(one));
    group.weight += candidates[one].weight;
    for (const int64_t member : group.members) before[static_cast<size_t>(member)] = all;
  };
  for (size_t one = 0; one < candidates.size(); ++one) {
    std::vector<size_t>& open = of_key[candidates[one].key];
    bool joined = false;
    for (size_t k = 0; k < open.size() && !joined; ++k) {
      joined = fits(groups[open[k]], one);
      if (joined) join(groups[open[k]], one);
    }
    if (joined) continue;
    open.push_back(groups.size());
    groups.push_back({{static_cast<int64_t>(one)}, candidates[one].weight});
  }
  std::vector<std::vector<int64_t>> result;
  for (Group& group : groups) result.push_back(std::move(group.members));
  return result;
}

}  // namespace alpa::hlo
