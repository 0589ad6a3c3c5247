#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::Expected;
using testing::FiniteDifferences;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;

// Those of the generator, with shapes.
struct Sum {
  const char* name;
  const char* subscripts;
  std::vector<Dims> shapes;
};
const std::vector<Sum> kSums = {{"product", "ij,jk->ik", {{2, 3}, {3, 4}}},
                                {"implied", "ij,jk", {{2, 3}, {3, 4}}},
                                {"implied_sorted", "ba,cb", {{2, 3}, {4, 2}}},
                                {"implied_transpose", "ba", {{2, 3}}},
                                {"attention", "bqhd,bkhd->bhqk", {{2, 3, 2, 4}, {2, 5, 2, 4}}},
                                {"attention_back", "bhqk,bkhd->bqhd", {{2, 2, 3, 5}, {2, 5, 2, 4}}},
                                {"transpose", "ijk->kij", {{2, 3, 4}}},
                                {"sum", "ijk->j", {{2, 3, 4}}},
                                {"total", "ij->", {{2, 3}}},
                                {"trace", "ii->", {{3, 3}}},
                                {"trace_implied", "ii", {{3, 3}}},
                                {"diagonal", "ii->i", {{3, 3}}},
                                {"diagonals", "iji->ji", {{3, 2, 3}}},
                                {"diagonal_product", "ii,ij->j", {{3, 3}, {3, 2}}},
                                {"dots", "...ij,...jk->...ik", {{2, 1, 2, 3}, {5, 3, 4}}},
                                {"dots_one", "...i,i->...", {{2, 3, 4}, {4}}},
                                {"dots_implied", "...ij,jk", {{2, 2, 3}, {3, 4}}},
                                {"dots_middle", "i...k,k...->i...", {{2, 3, 4}, {4, 3}}},
                                {"three", "ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}},
                                {"three_shared", "bi,bj,bij->b", {{2, 3}, {2, 4}, {2, 3, 4}}},
                                {"outer", "i,j->ij", {{2}, {3}}},
                                {"elementwise", "ij,ij->ij", {{2, 3}, {2, 3}}},
                                {"inner_all", "ij,ij->", {{2, 3}, {2, 3}}},
                                {"broadcast_sum", "ij,k->i", {{2, 3}, {4}}},
                                {"spaces", " i j , j -> i ", {{2, 3}, {3}}}};

const std::vector<std::pair<std::string, DotDims>> kDots = {
    {"batch", {.lhs_contracting = {2}, .rhs_contracting = {1}, .lhs_batch = {0}, .rhs_batch = {2}}},
    {"two", {.lhs_contracting = {3, 1}, .rhs_contracting = {0, 2}, .lhs_batch = {0}, .rhs_batch = {1}}},
    {"outer", {}},
    {"only_batch", {.lhs_batch = {1, 0}, .rhs_batch = {0, 1}}}};
const std::map<std::string, int64_t> kOffsets = {{"main", 0}, {"above", 1}, {"below", -2}, {"outside", 4}};

class Contraction : public testing::OneDevice {
 protected:
  void collect(const std::string& name, const std::function<Array(const Arrays&)>& function) {
    const bool coarse = name.find("float16") != std::string::npos;
    const bool coarser = name.find("bfloat16") != std::string::npos;
    expected.collect(name, single(function), {coarser ? 2e-2 : coarse ? 2e-3 : 1e-5, 1});
  }
  // Every case that starts so.
  void collect_all(const std::string& start, const std::function<Array(const Arrays&)>& function) {
    for (const std::string& name : expected.cases()) {
      if (name == start || name.rfind(start + "/", 0) == 0) collect(name, function);
    }
  }
  Expected expected{"contraction"};
};

TEST_F(Contraction, IsThatOfJax) {
  collect_all("matmul", [](const Arrays& x) { return matmul(x[0], x[1]); });
  collect_all("dot", [](const Arrays& x) { return dot(x[0], x[1]); });
  collect_all("inner", [](const Arrays& x) { return inner(x[0], x[1]); });
  collect_all("outer", [](const Arrays& x) { return outer(x[0], x[1]); });
  collect_all("vdot", [](const Arrays& x) { return vdot(x[0], x[1]); });
  collect("tensordot/two", [](const Arrays& x) { return tensordot(x[0], x[1]); });
  collect("tensordot/one", [](const Arrays& x) { return tensordot(x[0], x[1], 1); });
  collect("tensordot/none", [](const Arrays& x) { return tensordot(x[0], x[1], 0); });
  collect("tensordot/named", [](const Arrays& x) { return tensordot(x[0], x[1], {0, -1}, {2, 0}); });
  for (const auto& [name, dims] : kDots)
    collect("general/" + name, [dims = dims](const Arrays& x) { return dot_general(x[0], x[1], dims); });
  for (const Sum& one : kSums)
    collect(std::string("einsum/") + one.name, [&](const Arrays& x) { return einsum(one.subscripts, x); });
  for (const char* dtype : {"float16", "bfloat16", "complex64"})
    collect(std::string("einsum/") + dtype, [](const Arrays& x) { return einsum("bij,bjk->bik", x); });
  collect("einsum/integers", [](const Arrays& x) { return einsum("ij,jk->ik", x); });
  collect("einsum/sum_bytes", [](const Arrays& x) { return einsum("ij->i", x); });
  for (const auto& [name, offset] : kOffsets) {
    const auto by = offset;
    collect("diagonal/" + name, [by](const Arrays& x) { return diagonal(x[0], by); });
    collect("trace/" + name, [by](const Arrays& x) { return trace(x[0], by); });
    collect("diag/" + name, [by](const Arrays& x) { return diag(x[0], by); });
    collect("diag/matrix_" + name, [by](const Arrays& x) { return diag(x[0], by); });
  }
  collect("diagonal/infinite", [](const Arrays& x) { return diagonal(x[0]); });
  collect("diagonal/bytes", [](const Arrays& x) { return diagonal(x[0]); });
  collect("trace/bytes", [](const Arrays& x) { return trace(x[0]); });
  collect("trace/float16", [](const Arrays& x) { return trace(x[0]); });
  expected.check();
  expected.expect_all_used();
}

TEST_F(Contraction, DerivativesAreThoseOfFiniteDifferences) {
  FiniteDifferences differences;
  for (const Sum& one : kSums) {
    Arrays operands;
    for (const Dims& dims : one.shapes) operands.push_back(numbers(dims, 1 + static_cast<double>(operands.size())));
    const bool few = operands.size() == 3 || std::string(one.name).rfind("dots", 0) == 0;
    differences.add(one.name, single([&](const Arrays& x) { return einsum(one.subscripts, x); }), operands,
                    few ? 2 : 1);
  }
  const std::vector<std::pair<Dims, Dims>> products = {
      {{4}, {4}}, {{4}, {4, 2}}, {{3, 4}, {4}}, {{2, 1, 3, 4}, {5, 4, 2}}, {{3, 4}, {2, 4, 5}}, {{3, 0}, {0, 2}}};
  for (const auto& [a, b] : products)
    differences.add("matmul", single([](const Arrays& x) { return matmul(x[0], x[1]); }), {numbers(a), numbers(b, 2)},
                    1);
  const std::vector<std::pair<Dims, Dims>> shapes = {
      {{2, 3, 4}, {5, 4, 2}}, {{2, 3, 2, 4}, {4, 2, 3, 5}}, {{2, 3}, {2}}, {{2, 3}, {3, 2}}};
  for (size_t k = 0; k < shapes.size(); ++k)
    differences.add(kDots[k].first,
                    single([dims = kDots[k].second](const Arrays& x) { return dot_general(x[0], x[1], dims); }),
                    {numbers(shapes[k].first), numbers(shapes[k].second, 2)});
  differences.add("diagonal", single([](const Arrays& x) { return square(diagonal(x[0], 1)); }), {numbers({2, 3, 4})});
  differences.add("diag", single([](const Arrays& x) { return square(diag(x[0], -1)); }), {numbers({3})});
  differences.check();
}

TEST_F(Contraction, ErrorsAreTyped) {
  const Array a = ones({2, 3}), b = ones({4, 5});
  EXPECT_THROW(matmul(a, b), InvalidArgumentError);
  EXPECT_THROW(matmul(a, 2), InvalidArgumentError);
  EXPECT_THROW(matmul(ones({2, 2, 3}), ones({3, 3, 1})), InvalidArgumentError);
  EXPECT_THROW(dot(a, b), InvalidArgumentError);
  EXPECT_THROW(tensordot(a, b, 1), InvalidArgumentError);
  EXPECT_THROW(tensordot(a, b, 3), InvalidArgumentError);
  EXPECT_THROW(vdot(a, b), InvalidArgumentError);
  EXPECT_THROW(inner(a, b), InvalidArgumentError);
  EXPECT_THROW(dot_general(a, a, {.lhs_contracting = {0, 0}, .rhs_contracting = {0, 0}}), InvalidArgumentError);
  EXPECT_THROW(dot_general(a, a, {.lhs_contracting = {2}, .rhs_contracting = {2}}), InvalidArgumentError);
  for (const char* wrong :
       {"ij,jk->ik", "i,jk", "ijk,jk", "ij", "ij,kl->iikl", "ij,kl->im", "i1,kl", "ij,kl->i1", "ii,kl"})
    EXPECT_THROW(einsum(wrong, a, b), InvalidArgumentError) << wrong;
  EXPECT_THROW(diagonal(ones({2})), InvalidArgumentError);
  EXPECT_THROW(trace(ones({2})), InvalidArgumentError);
  EXPECT_THROW(diag(ones({2, 2, 2})), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
