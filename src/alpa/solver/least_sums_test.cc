#include "alpa/solver/least_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "alpa/solver/table.h"

namespace alpa::solver {
namespace {

TEST(LeastSums, AgreesWithSumsOneByOne) {
  std::mt19937_64 random(1);
  for (size_t domain = 1; domain <= 40; ++domain) {
    for (size_t row_count = 0; row_count <= 9; ++row_count) {
      const auto draw = [&] { return random() % 4 == 0 ? kInfinite : static_cast<int64_t>(random() % 5); };
      constexpr int32_t kCount = 7;
      std::vector<int64_t> base(domain);
      std::generate(base.begin(), base.end(), draw);
      std::vector<std::vector<int64_t>> tables(row_count, std::vector<int64_t>(domain * kCount));
      std::vector<CostRows> rows;
      for (auto& table : tables) {
        std::generate(table.begin(), table.end(), draw);
        rows.push_back({table.data(), static_cast<ptrdiff_t>(domain)});
      }
      std::vector<int64_t> costs(kCount);
      std::vector<uint16_t> best(kCount);
      least_sums(base, rows, kCount, costs.data(), best.data());
      for (int32_t c = 0; c < kCount; ++c) {
        std::vector<int64_t> sums = base;
        for (size_t s = 0; s < domain; ++s) {
          for (const auto& table : tables) sums[s] = add_costs(sums[s], table[size_t(c) * domain + s]);
        }
        const auto least = std::min_element(sums.begin(), sums.end());
        EXPECT_EQ(costs[c], *least) << domain << " " << row_count;
        if (is_infinite(*least)) continue;
        EXPECT_EQ(best[c], least - sums.begin()) << domain << " " << row_count;
      }
    }
  }
}

}  // namespace
}  // namespace alpa::solver
