#include "alpa/frontend/promotion.h"

#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

// In the order of the generator.
const std::vector<DType> kTypes = {DType::kPred, DType::kU8,  DType::kU16, DType::kU32, DType::kU64,
                                   DType::kS8,   DType::kS16, DType::kS32, DType::kS64, DType::kBF16,
                                   DType::kF16,  DType::kF32, DType::kF64, DType::kC64, DType::kC128};

std::string text(DType dtype, bool weak) { return std::string(weak ? "weak " : "") + std::string(tensor::name(dtype)); }

std::string text(double place) {
  const bool weak = place >= 100;
  return text(kTypes.at(static_cast<size_t>(place) - (weak ? 100 : 0)), weak);
}

std::string text(const Array& array) { return text(array.dtype(), array.is_weak()); }

class Promotion : public ::testing::Test {
 protected:
  std::map<std::string, tensor::Literal> expected = testing::read_numbers("promotion");
};

TEST_F(Promotion, OfTwoArraysIsThatOfJax) {
  const auto count = static_cast<int64_t>(kTypes.size());
  for (int64_t a = 0; a < count; ++a) {
    for (int64_t b = 0; b < count; ++b) {
      const DType left = kTypes[static_cast<size_t>(a)], right = kTypes[static_cast<size_t>(b)];
      const std::string jax = text(expected.at("pairs").at(a * count + b));
      EXPECT_EQ(text(multiply(zeros({2}, left), zeros({2}, right))), jax)
          << text(left, false) << " " << text(right, false);
      EXPECT_EQ(text(where(true, zeros({2}, left), zeros({2}, right))), jax) << "where";
      const Promoted both = promote(Promoted{left, false}, Promoted{right, false});
      EXPECT_EQ(text(both.dtype, both.weak), jax);
    }
  }
}

TEST_F(Promotion, WithNumbersIsThatOfJax) {
  const Promoted numbers[] = {{DType::kS32, true}, {DType::kF32, true}, {DType::kC64, true}};
  for (int64_t a = 0; a < static_cast<int64_t>(kTypes.size()); ++a) {
    const DType dtype = kTypes[static_cast<size_t>(a)];
    for (int64_t n = 0; n < 3; ++n) {
      const Promoted both = promote(Promoted{dtype, false}, numbers[n]);
      EXPECT_EQ(text(both.dtype, both.weak), text(expected.at("weak").at(3 * a + n))) << text(dtype, false) << " " << n;
    }
    EXPECT_EQ(text(zeros({2}, dtype) * 1), text(expected.at("weak").at(3 * a))) << text(dtype, false);
    EXPECT_EQ(text(1.5 * zeros({2}, dtype)), text(expected.at("weak").at(3 * a + 1))) << text(dtype, false);
  }
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = 0; b < 3; ++b) {
      const Promoted both = promote(numbers[a], numbers[b]);
      EXPECT_EQ(text(both.dtype, both.weak), text(expected.at("numbers").at(3 * a + b)));
    }
  }
}

// Cells of a row of the table in docs/arrays.md.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::string cell;
  for (std::istringstream words(line.substr(1)); std::getline(words, cell, '|');) {
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    result.push_back(cell);
  }
  return result;
}

Promoted named(std::string name) {
  if (name == "weak int") return {DType::kS32, true};
  if (name == "weak float") return {DType::kF32, true};
  const bool weak = name.back() == '*';
  if (weak) name.pop_back();
  for (const DType dtype : kTypes) {
    if (tensor::name(dtype) == (name == "bool" ? "pred" : name)) return {dtype, weak};
  }
  ADD_FAILURE() << name << " is no element type";
  return {};
}

TEST_F(Promotion, IsThatOfTheTableInTheDocumentation) {
  std::ifstream file(std::string(ALPA_TEST_DATA) + "/../../docs/arrays.md");
  std::vector<std::string> head;
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| with |", 0) == 0) head = cells(line);
    if (head.empty() || line.rfind("| -", 0) == 0 || line.rfind("| with", 0) == 0) continue;
    if (line.empty()) break;
    const std::vector<std::string> row = cells(line);
    ASSERT_EQ(row.size(), head.size()) << line;
    for (size_t k = 1; k < row.size(); ++k)
      EXPECT_EQ(promote(named(row[0]), named(head[k])), named(row[k])) << row[0] << " with " << head[k];
    ++rows;
  }
  EXPECT_EQ(rows, 12);
}

// A number beside an array leaves its element type, by whatever operations the number came about.
TEST_F(Promotion, NumbersStayWeak) {
  const Array half = zeros({2}, DType::kF16);
  for (const Array& number :
       {Array(2) * 3, sqrt(2), 1 / Array(3), exp(Array(1)), where(true, 1, 2.5), -Array(1.5), maximum(1, 2.5),
        power(2, 0.5), sinh(1), logaddexp(0, 1), sum(Array(2.0)), reciprocal(2)}) {
    EXPECT_TRUE(number.is_weak()) << text(number);
    EXPECT_EQ(text(half + number), "f16");
  }
  EXPECT_EQ(text(half * (arange(2) * 0.5)), "f16");
  EXPECT_EQ(text(1 / half), "f16");
  EXPECT_EQ(text(zeros({2}, DType::kU8) + true), "u8");
  EXPECT_THROW(promote(Promoted{DType::kF8E5M2, false}, Promoted{DType::kF32, false}), UnsupportedError);
}

TEST_F(Promotion, BroadcastsAsNumPy) {
  const auto dims = [](const Dims& a, const Dims& b) { return add(zeros(a), zeros(b)).dims(); };
  EXPECT_EQ(dims({}, {2, 3}), (Dims{2, 3}));
  EXPECT_EQ(dims({3}, {2, 1}), (Dims{2, 3}));
  EXPECT_EQ(dims({4, 1, 3}, {2, 1}), (Dims{4, 2, 3}));
  EXPECT_EQ(dims({0}, {1}), (Dims{0}));
  EXPECT_EQ(dims({2, 0}, {1}), (Dims{2, 0}));
  EXPECT_THROW(dims({2, 3}, {2}), InvalidArgumentError);
  EXPECT_THROW(dims({0}, {2}), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
