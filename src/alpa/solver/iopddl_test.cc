#include "alpa/solver/iopddl.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/solver/brute_force.h"
#include "alpa/solver/gzip.h"

namespace alpa::solver {
namespace {

/// An instance whose parts a test can replace.
struct Text {
  std::string intervals = "[[0, 2], [1, 3]]";
  std::string costs = "[[1, 2], [3, 4]]";
  std::string usages = "[[5, 6], [7, 8]]";
  std::string ends = "[[0, 1], [1, 0]]";
  std::string tables = "[[1, 2, 3, 4], [1, 2, 3, 4]]";
  std::string limit = "20";

  std::string str() const {
    return R"({"problem": {"name": "n", "nodes": {"intervals": )" + intervals + R"(, "costs": )" + costs +
           R"(, "usages": )" + usages + R"(}, "edges": {"nodes": )" + ends + R"(, "costs": )" + tables +
           R"(}, "usage_limit": )" + limit + "}}";
  }
};

TEST(Iopddl, ReadsAllParts) {
  const Problem problem = parse_problem(Text().str());
  EXPECT_EQ(problem.name, "n");
  ASSERT_EQ(problem.nodes.size(), 2u);
  EXPECT_EQ(problem.nodes[1].begin, 1);
  EXPECT_EQ(problem.nodes[1].end, 3);
  EXPECT_EQ(problem.nodes[1].costs, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(problem.nodes[1].usages, (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(problem.usage_limit, 20);
}

TEST(Iopddl, StoresEqualTablesOnce) {
  const Problem problem = parse_problem(Text().str());
  ASSERT_EQ(problem.edges.size(), 2u);
  EXPECT_EQ(problem.tables.size(), 1u);
  EXPECT_EQ(problem.edges[0].table, problem.edges[1].table);
}

TEST(Iopddl, TakesForbiddenInEveryForm) {
  Text text;
  text.tables = "[[1e18, 1000000000000000000, 18446744073709551615, 1e300], [1, 2, 3.0, 4]]";
  const Problem problem = parse_problem(text.str());
  for (int64_t cost : problem.tables[0].costs) EXPECT_GE(cost, kForbidden);
  EXPECT_EQ(problem.tables[1].costs[2], 3);
}

TEST(Iopddl, TakesNoLimit) {
  Text text;
  text.limit = "null";
  EXPECT_FALSE(parse_problem(text.str()).usage_limit.has_value());
}

TEST(Iopddl, RejectsMalformedInput) {
  const std::vector<Text> malformed = {
      {.intervals = "[[0, 2]]"},
      {.intervals = "[[0, 2], [3, 1]]"},
      {.intervals = "[[0], [1, 3]]"},
      {.intervals = "[[0, 2], \"x\"]"},
      {.intervals = "7"},
      {.costs = "[[1, 2], []]"},
      {.costs = "[[1, 2], [3, -4]]"},
      {.costs = "[[1, 2], [3, 4.5]]"},
      {.costs = "[[1, 2], [3, \"4\"]]"},
      {.costs = "[[1, 2], [3, null]]"},
      {.costs = "{}"},
      {.usages = "[[5, 6], [7]]"},
      {.usages = "[[5, 6], [-7, 8]]"},
      {.ends = "[[0, 1], [1, 2]]"},
      {.ends = "[[0, 1], [-1, 0]]"},
      {.ends = "[[0, 1], [1, 1]]"},
      {.ends = "[[0, 1]]"},
      {.ends = "[[0, 1], [1, 0, 0]]"},
      {.ends = "[[0, 1], [1, 1e30]]"},
      {.tables = "[[1, 2, 3], [1, 2, 3, 4]]"},
      {.tables = "[[1, 2, 3, -1], [1, 2, 3, 4]]"},
      {.tables = "[1, 2]"},
      {.limit = "-1"},
      {.limit = "\"big\""},
      {.limit = "[]"},
  };
  for (const Text& text : malformed) EXPECT_THROW(parse_problem(text.str()), InvalidArgumentError) << text.str();
  for (const char* bytes : {"", "{", "[]", "null", "{\"problem\": 3}", "{\"problem\": {}}", "\xff\xfe", "\x1f\x8b",
                            "\x1f\x8b garbage", "{\"problem\": {\"nodes\": {}, \"edges\": {}}}"}) {
    EXPECT_THROW(parse_problem(bytes), InvalidArgumentError) << bytes;
  }
}

TEST(Iopddl, RejectsEveryCutOfAFile) {
  const std::string text = Text().str();
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(parse_problem(std::string_view(text).substr(0, size)), InvalidArgumentError) << size;
  }
  const std::string packed = gzip_compress(text);
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_THROW(parse_problem(std::string_view(packed).substr(0, size)), InvalidArgumentError) << size;
  }
}

TEST(Iopddl, NamesThePlace) {
  Text text;
  text.ends = "[[0, 1], [1, 9]]";
  try {
    parse_problem(text.str(), "file.json");
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_STREQ(error.what(), "[file.json] edge 1 joins 1 and 9 of 2 nodes");
  }
}

void expect_same(const Problem& a, const Problem& b) {
  EXPECT_EQ(print_problem(a), print_problem(b));
  EXPECT_EQ(a.usage_limit, b.usage_limit);
}

TEST(Iopddl, WritesWhatItReads) {
  const TemporaryDirectory folder;
  const Problem problem = testing::random_problem({8, 4, 0.6, 0.3, 100, 0.5}, 3);
  for (const char* name : {"/p.json", "/p.json.gz"}) {
    const std::string path = folder.path() + name;
    write_problem(path, problem);
    expect_same(problem, read_problem(path));
    EXPECT_EQ(is_gzip(read_file(path)), std::string(name) == "/p.json.gz");
  }
}

TEST(Iopddl, WritesAndReadsChoices) {
  const TemporaryDirectory folder;
  const std::vector<int32_t> choice = {3, 0, 12};
  write_choice(folder.path() + "/s.json", choice);
  EXPECT_EQ(read_choice(folder.path() + "/s.json"), choice);
  EXPECT_EQ(print_choice(choice), "{\"solution\":[3,0,12]}\n");
  for (const char* bytes : {"", "{}", "{\"solution\": 3}", "{\"solution\": [-1]}", "{\"solution\": [\"a\"]}",
                            "{\"solution\": [3000000000]}"}) {
    EXPECT_THROW(parse_choice(bytes), InvalidArgumentError) << bytes;
  }
}

}  // namespace
}  // namespace alpa::solver
