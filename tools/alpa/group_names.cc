#include "group_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace alpa::tool {
namespace {

constexpr size_t kRunsShown = 6;

/// A name cut at its numbers: texts[0] numbers[0] texts[1] … numbers[n-1] texts[n].
struct CutName {
  std::vector<std::string> texts{""};
  std::vector<std::string> numbers;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

CutName cut(const std::string& name) {
  CutName result;
  for (size_t k = 0; k < name.size(); ++k) {
    if (!is_digit(name[k])) {
      result.texts.back() += name[k];
      continue;
    }
    if (k == 0 || !is_digit(name[k - 1])) {
      result.numbers.emplace_back();
      result.texts.emplace_back();
    }
    result.numbers.back() += name[k];
  }
  return result;
}

/// "{0..3,5,9}", or the number itself if there is but one; of many runs the first and the last.
std::string numbers_text(const std::vector<std::string>& numbers) {
  if (numbers.size() == 1) return numbers[0];
  const auto follows = [&](size_t k) {
    return numbers[k].size() < 10 && std::stoll(numbers[k]) == std::stoll(numbers[k - 1]) + 1;
  };
  std::vector<std::string> runs;
  for (size_t k = 0; k < numbers.size();) {
    size_t end = k + 1;
    while (end < numbers.size() && follows(end)) ++end;
    if (end - k < 3) end = k + 1;
    runs.push_back(end - k == 1 ? numbers[k] : numbers[k] + ".." + numbers[end - 1]);
    k = end;
  }
  if (runs.size() > kRunsShown) return fmt::format("{{{},{},…,{}}}", runs[0], runs[1], runs.back());
  return fmt::format("{{{}}}", fmt::join(runs, ","));
}

bool number_less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// Adds the groups of names that share their texts and key: one if they fill all combinations, else those of each
/// number at the place with the fewest numbers.
void add_groups(const std::vector<CutName>& cuts, const std::vector<size_t>& members, std::vector<NameGroup>& result) {
  const CutName& first = cuts[members.front()];
  std::vector<std::vector<std::string>> numbers(first.numbers.size());
  size_t combinations = 1;
  for (size_t place = 0; place < numbers.size(); ++place) {
    for (const size_t member : members) numbers[place].push_back(cuts[member].numbers[place]);
    std::sort(numbers[place].begin(), numbers[place].end(), number_less);
    numbers[place].erase(std::unique(numbers[place].begin(), numbers[place].end()), numbers[place].end());
    combinations *= numbers[place].size();
  }
  if (combinations != members.size() && members.size() > 1) {
    size_t place = 0;
    for (size_t other = 1; other < numbers.size(); ++other) {
      const size_t best = numbers[place].size();
      if (best == 1 || (numbers[other].size() > 1 && numbers[other].size() < best)) place = other;
    }
    for (const std::string& number : numbers[place]) {
      std::vector<size_t> part;
      std::copy_if(members.begin(), members.end(), std::back_inserter(part),
                   [&](size_t member) { return cuts[member].numbers[place] == number; });
      if (part.size() == members.size()) {  // equal names: nothing tells them apart
        for (const size_t member : members) add_groups(cuts, {member}, result);
        return;
      }
      add_groups(cuts, part, result);
    }
    return;
  }
  NameGroup group;
  for (size_t place = 0; place < numbers.size(); ++place)
    group.text += first.texts[place] + numbers_text(numbers[place]);
  group.text += first.texts.back();
  group.members = members;
  result.push_back(std::move(group));
}

/// Sets of indices of names that share their texts and key.
std::vector<std::vector<size_t>> alike_sets(const std::vector<CutName>& cuts, const std::vector<std::string>& keys) {
  std::map<std::pair<std::vector<std::string>, std::string>, std::vector<size_t>> alike;
  for (size_t k = 0; k < cuts.size(); ++k) alike[{cuts[k].texts, keys[k]}].push_back(k);
  std::vector<std::vector<size_t>> sets;
  for (auto& [texts, members] : alike) sets.push_back(std::move(members));
  return sets;
}

std::vector<CutName> cut_all(const std::vector<std::string>& names) {
  std::vector<CutName> cuts;
  for (const std::string& name : names) cuts.push_back(cut(name));
  return cuts;
}

void sort_by_first(std::vector<NameGroup>& groups) {
  std::sort(groups.begin(), groups.end(),
            [](const NameGroup& a, const NameGroup& b) { return a.members[0] < b.members[0]; });
}

}  // namespace

std::vector<NameGroup> group_names(const std::vector<std::string>& names, const std::vector<std::string>& keys) {
  const std::vector<CutName> cuts = cut_all(names);
  std::vector<NameGroup> result;
  for (const auto& members : alike_sets(cuts, keys)) add_groups(cuts, members, result);
  sort_by_first(result);
  return result;
}

std::vector<NameGroup> group_alike(const std::vector<std::string>& names, const std::vector<std::string>& keys) {
  const std::vector<CutName> cuts = cut_all(names);
  std::vector<NameGroup> result;
  for (const auto& members : alike_sets(cuts, keys)) {
    const CutName& first = cuts[members[0]];
    NameGroup group{"", members};
    for (size_t place = 0; place < first.numbers.size(); ++place) {
      const bool same = std::all_of(members.begin(), members.end(),
                                    [&](size_t member) { return cuts[member].numbers[place] == first.numbers[place]; });
      group.text += first.texts[place] + (same ? first.numbers[place] : "*");
    }
    group.text += first.texts.back();
    result.push_back(std::move(group));
  }
  sort_by_first(result);
  return result;
}

}  // namespace alpa::tool
