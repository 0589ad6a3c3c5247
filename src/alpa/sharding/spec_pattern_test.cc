#include "alpa/sharding/spec_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/base/error.h"

namespace alpa::sharding {
namespace {

using mesh::LogicalMesh;
using tensor::DType;
using tensor::Shape;

const LogicalMesh kMesh({2, 4});

TEST(SpecPattern, AnOpenDimMatchesEveryPlacementOfItAndTheOthersOneEach) {
  const SpecPattern pattern = parse_pattern("(x, ?)", kMesh, 2);
  EXPECT_TRUE(pattern.matches(parse_spec("(x,None)", kMesh, 2)));
  EXPECT_TRUE(pattern.matches(parse_spec("(x,y)", kMesh, 2)));
  EXPECT_FALSE(pattern.matches(parse_spec("(None,y)", kMesh, 2)));
  EXPECT_FALSE(pattern.matches(parse_spec("((x+y),None)", kMesh, 2)));
  EXPECT_FALSE(pattern.matches(parse_spec("(x)", kMesh, 1)));
  EXPECT_EQ(pattern.exact(), std::nullopt);
  EXPECT_EQ(pattern.least(), parse_spec("(x,None)", kMesh, 2));
}

TEST(SpecPattern, WithoutOpenDimsItIsASpec) {
  for (const ShardingSpec& spec : enumerate_specs(Shape(DType::kF32, {8, 8}), kMesh)) {
    EXPECT_EQ(SpecPattern(spec).exact(), spec);
    EXPECT_EQ(parse_pattern(to_string(spec, kMesh), kMesh, 2), SpecPattern(spec));
    for (const ShardingSpec& other : enumerate_specs(Shape(DType::kF32, {8, 8}), kMesh))
      EXPECT_EQ(SpecPattern(spec).matches(other), spec == other);
  }
}

TEST(SpecPattern, PrintsWhatItReads) {
  for (const char* text : {"(x, ?)", "(?, None)", "((x+y), ?, ?)", "(?)", "()"})
    EXPECT_EQ(to_string(parse_pattern(text, kMesh, -1), kMesh), text);
}

TEST(SpecPattern, AxesMayHaveNamesOfTheirOwn) {
  const std::vector<std::string> names = {"data", "model"};
  EXPECT_EQ(parse_pattern("(None,model)", kMesh, 2, names), parse_pattern("(None,y)", kMesh, 2));
  EXPECT_EQ(parse_pattern("((data+model))", kMesh, 1, names), parse_pattern("((x+y))", kMesh, 1));
  EXPECT_THROW(parse_pattern("(x)", kMesh, 1, names), InvalidArgumentError);
  EXPECT_THROW(parse_pattern("(data)", kMesh, 1, {"data"}), InvalidArgumentError);
}

TEST(SpecPattern, RejectsWhatIsNone) {
  for (const char* text : {"??", "(?x)", "(x+?)", "(x,?,", "(None+x)"})
    EXPECT_THROW(parse_pattern(text, kMesh, -1), InvalidArgumentError) << text;
  EXPECT_THROW(parse_spec("(x,?)", kMesh, 2), InvalidArgumentError);
}

TEST(SpecPattern, RejectsWhatDoesNotDivideAnArray) {
  const auto check = [](const char* text, const Shape& shape, const LogicalMesh& mesh) {
    check_pattern(parse_pattern(text, mesh, shape.rank()), shape, mesh);
  };
  const Shape matrix(DType::kF32, {6, 8});
  EXPECT_NO_THROW(check("(x,y)", matrix, kMesh));
  EXPECT_NO_THROW(check("(?,(x+y))", matrix, kMesh));
  EXPECT_THROW(check("(y,None)", matrix, kMesh), InvalidArgumentError);
  EXPECT_THROW(check("(None,(y+x))", matrix, kMesh), InvalidArgumentError);
  EXPECT_THROW(check("(None,x)", matrix, LogicalMesh({1, 8})), InvalidArgumentError);
  EXPECT_THROW(check("(x,None)", Shape(DType::kF32, {0, 8}), kMesh), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa::sharding
