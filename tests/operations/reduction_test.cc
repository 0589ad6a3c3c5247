#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::Expected;
using testing::FiniteDifferences;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;
using Reduce = std::function<Array(const Array&, const std::vector<int>&, bool)>;

const std::vector<std::pair<std::string, Reduce>> kFloats = {
    {"sum", [](const Array& x, const std::vector<int>& dims, bool keep) { return sum(x, dims, keep); }},
    {"product", [](const Array& x, const std::vector<int>& dims, bool keep) { return prod(x, dims, keep); }},
    {"mean", [](const Array& x, const std::vector<int>& dims, bool keep) { return mean(x, dims, keep); }},
    {"variance", [](const Array& x, const std::vector<int>& dims, bool keep) { return var(x, dims, keep); }},
    {"standard_deviation",
     [](const Array& x, const std::vector<int>& dims, bool keep) { return stddev(x, dims, keep); }},
    {"max", [](const Array& x, const std::vector<int>& dims, bool keep) { return max(x, dims, keep); }},
    {"min", [](const Array& x, const std::vector<int>& dims, bool keep) { return min(x, dims, keep); }},
    {"logsumexp", [](const Array& x, const std::vector<int>& dims, bool keep) { return logsumexp(x, dims, keep); }}};

Array whole(const std::string& name, const Array& x) {
  if (name == "sum") return sum(x);
  if (name == "product") return prod(x);
  if (name == "mean") return mean(x);
  if (name == "variance") return var(x);
  if (name == "standard_deviation") return stddev(x);
  if (name == "max") return max(x);
  return name == "min" ? min(x) : logsumexp(x);
}

class Reductions : public testing::OneDevice {
 protected:
  void collect(const std::string& name, const std::function<Array(const Array&)>& function) {
    testing::Tolerance tolerance;
    if (name.find("/bfloat16") != std::string::npos || name.find("_bfloat16") != std::string::npos)
      tolerance = {2e-2, 0.1};
    if (name.find("/float16") != std::string::npos || name.find("_float16") != std::string::npos)
      tolerance = {2e-3, 0.1};
    expected.collect(name, single([&](const Arrays& x) { return function(x[0]); }), tolerance);
  }
  void collect_numbers();
  void collect_truth_and_places();
  Expected expected{"reduction"};
};

void Reductions::collect_numbers() {
  for (const auto& [name, function] : kFloats) {
    for (const std::string& one : expected.cases()) {
      if (one.rfind(name + "/", 0) != 0) continue;
      const std::string variant = one.substr(name.size() + 1);
      collect(one, [&, name = name, function = function](const Array& x) {
        if (variant == "all" || variant == "scalar" || variant == "ties_all" || variant.rfind("long", 0) == 0)
          return whole(name, x);
        if (variant == "last") return function(x, {-1}, false);
        if (variant == "two") return function(x, {-1, 0}, false);
        if (variant == "none") return function(x, {}, false);
        if (variant == "sample") return name == "variance" ? var(x, {1}, false, 1) : stddev(x, {0, 1}, true, 1);
        return function(x, {1}, variant == "kept");
      });
    }
  }
}

void Reductions::collect_truth_and_places() {
  collect("any/all", [](const Array& x) { return any(x); });
  collect("any/rows", [](const Array& x) { return any(x, {-1}, true); });
  collect("any/floats", [](const Array& x) { return any(x, {0}); });
  collect("any/empty", [](const Array& x) { return any(x, {1}); });
  collect("all/all", [](const Array& x) { return all(x); });
  collect("all/rows", [](const Array& x) { return all(x, {-1}, true); });
  collect("all/floats", [](const Array& x) { return all(x, {0}); });
  collect("all/empty", [](const Array& x) { return all(x, {1}); });
  const auto collect_places = [&](const std::string& name, Array (*of_dim)(const ArrayLike&, int, bool),
                                  Array (*of_all)(const ArrayLike&)) {
    for (const char* variant : {"rows", "odd", "ties", "integers", "bytes", "bools", "float16"})
      collect(name + "/" + variant, [&](const Array& x) { return of_dim(x, 1, false); });
    collect(name + "/kept", [&](const Array& x) { return of_dim(x, -2, true); });
    collect(name + "/all", [&](const Array& x) { return of_all(x); });
  };
  collect_places("argmax", argmax, argmax);
  collect_places("argmin", argmin, argmin);
}

TEST_F(Reductions, AreThoseOfJax) {
  collect_numbers();
  collect_truth_and_places();
  expected.check();
  expected.expect_all_used();
}

TEST_F(Reductions, DerivativesAreThoseOfFiniteDifferences) {
  FiniteDifferences differences;
  for (const auto& [name, function] : kFloats) {
    const Reduce reduce = function;
    differences.add(name, single([reduce](const Arrays& x) { return square(reduce(x[0], {-1, 0}, false)); }),
                    {numbers({2, 3, 2})});
    differences.add(name + " kept", single([reduce](const Arrays& x) { return square(reduce(x[0], {1}, true)); }),
                    {numbers({2, 3})}, 1);
    differences.add(name + " of all", single([name = name](const Arrays& x) { return whole(name, x[0]); }),
                    {numbers({4})}, 1);
  }
  differences.add("sample", single([](const Arrays& x) { return var(x[0], {0}, false, 1); }), {numbers({4})});
  differences.check();
}

TEST_F(Reductions, ErrorsAreTyped) {
  EXPECT_THROW(sum(ones({2}), {1}), InvalidArgumentError);
  EXPECT_THROW(sum(ones({2, 3}), {0, -2}), InvalidArgumentError);
  EXPECT_THROW(argmax(ones({2, 0}), 1), InvalidArgumentError);
  EXPECT_THROW(max(ones({2, 0}), {1}), InvalidArgumentError);
  EXPECT_THROW(min(ones({0})), InvalidArgumentError);
  EXPECT_EQ(max(ones({0, 2}), {1}).dims(), (Dims{0}));
  const Array z = complex(ones({2}), ones({2}));
  EXPECT_THROW(max(z), InvalidArgumentError);
  EXPECT_THROW(argmin(z, 0), InvalidArgumentError);
  EXPECT_THROW(logsumexp(z), InvalidArgumentError);
}

TEST_F(Reductions, VarianceWithoutDegreesOfFreedomIsNoNumber) {
  for (const int64_t ddof : {2, 3}) EXPECT_TRUE(std::isnan(var(ones({2}), {0}, false, ddof).item<float>()));
}

}  // namespace
}  // namespace alpa
