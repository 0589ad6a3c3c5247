#include "alpa/hlo/independent_groups.h"

#include <gtest/gtest.h>

#include <random>

namespace alpa::hlo {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

TEST(IndependentGroups, JoinsWhatDoesNotWait) {
  const std::vector<std::vector<int32_t>> operands = {{}, {}, {0}, {1}};
  EXPECT_EQ(independent_groups(operands, {{0, "a", 1}, {1, "a", 1}, {2, "a", 1}, {3, "a", 1}}, 10),
            (Groups{{0, 1}, {2, 3}}));
  // 2 waits for 0 and 3 for 1: with 1 and 2 together, 3 waits for 0.
  EXPECT_EQ(independent_groups(operands, {{0, "a", 1}, {1, "b", 1}, {2, "b", 1}, {3, "a", 1}}, 10),
            (Groups{{0}, {1, 2}, {3}}));
}

TEST(IndependentGroups, KeepTheLimit) {
  const std::vector<std::vector<int32_t>> operands(4);
  EXPECT_EQ(independent_groups(operands, {{0, "a", 9}, {1, "a", 2}, {2, "a", 1}, {3, "a", 20}}, 10),
            (Groups{{0, 2}, {1}, {3}}));
}

bool has_cycle(const std::vector<std::vector<int32_t>>& operands, const std::vector<Candidate>& candidates,
               const Groups& groups) {
  std::vector<int64_t> name(operands.size());
  for (size_t node = 0; node < name.size(); ++node) name[node] = static_cast<int64_t>(node);
  for (const auto& group : groups) {
    for (const int64_t member : group)
      name[static_cast<size_t>(candidates[static_cast<size_t>(member)].node)] =
          candidates[static_cast<size_t>(group[0])].node;
  }
  std::vector<std::vector<bool>> before(operands.size(), std::vector<bool>(operands.size(), false));
  for (size_t node = 0; node < operands.size(); ++node) {
    for (const int32_t operand : operands[node])
      before[static_cast<size_t>(name[node])][static_cast<size_t>(name[static_cast<size_t>(operand)])] = true;
  }
  for (size_t via = 0; via < before.size(); ++via) {
    for (auto& row : before) {
      if (!row[via]) continue;
      for (size_t to = 0; to < row.size(); ++to) row[to] = row[to] || before[via][to];
    }
  }
  for (size_t node = 0; node < before.size(); ++node) {
    if (before[node][node]) return true;
  }
  return false;
}

TEST(IndependentGroups, NeverMakeACycle) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<int32_t>> operands(24);
    std::vector<Candidate> candidates;
    for (size_t node = 0; node < operands.size(); ++node) {
      for (unsigned k = 0; node > 0 && k < random() % 3; ++k)
        operands[node].push_back(static_cast<int32_t>(random() % node));
      if (random() % 2 == 0)
        candidates.push_back({static_cast<int64_t>(node), std::string(1, static_cast<char>('a' + random() % 3)), 1});
    }
    const Groups groups = independent_groups(operands, candidates, 100);
    size_t members = 0;
    for (const auto& group : groups) members += group.size();
    EXPECT_EQ(members, candidates.size());
    EXPECT_FALSE(has_cycle(operands, candidates, groups)) << round;
  }
}

}  // namespace
}  // namespace alpa::hlo
