#include "alpa/api/testing/derivatives.h"
#include "elementwise_functions.h"

namespace alpa {
namespace {

using testing::Binary;
using testing::FiniteDifferences;
using testing::numbers;
using testing::single;
using testing::Unary;
using Arrays = std::vector<Array>;

class ElementwiseDerivatives : public testing::OneDevice {};

TEST_F(ElementwiseDerivatives, OfOneOperandAreThoseOfFiniteDifferences) {
  FiniteDifferences differences;
  const auto add_all = [&](const auto& functions, const Array& x) {
    for (const auto& [name, function] : functions) {
      const Unary call = function;
      differences.add(name, single([call](const Arrays& at) { return call(at[0]); }), {x});
    }
  };
  add_all(testing::kEverywhere, numbers({2, 3}));
  add_all(testing::kPositive, numbers({2, 3}) + 1.25);
  add_all(testing::kInside, numbers({2, 3}) * 0.9);
  add_all(testing::kAbove, numbers({2, 3}) + 2.25);
  // Far out, and where formulas change.
  add_all(std::vector<std::pair<const char*, Unary>>{{"sinh", sinh}, {"cosh", cosh}, {"asinh", asinh}, {"tanh", tanh}},
          numbers({4}) * 3);
  add_all(std::vector<std::pair<const char*, Unary>>{{"asinh at 0", asinh}, {"sinh at 0", sinh}, {"tan at 0", tan}},
          zeros({2}, DType::kF64));
  differences.check();
}

TEST_F(ElementwiseDerivatives, OfTwoOperandsAreThoseOfFiniteDifferences) {
  FiniteDifferences differences;
  for (const auto& [name, function] : testing::kArithmetic) {
    const Binary call = function;
    const auto both = single([call](const Arrays& x) { return call(x[0], x[1]); });
    const Array shift = full({}, call == power ? 1.25 : 0.0, DType::kF64);
    differences.add(name, both, {numbers({2, 3}) + shift, numbers({2, 3}, 2)}, 1);
    differences.add(std::string(name) + ", broadcast", both, {numbers({2, 1, 1}) + shift, numbers({1, 3}, 2)});
  }
  const Array same = numbers({3});
  differences.add("logaddexp of equals", single([](const Arrays& x) { return logaddexp(x[0], x[1]); }), {same, same});
  differences.add("hypot of equals", single([](const Arrays& x) { return hypot(x[0], x[1]); }), {same, same});
  differences.add("where", single([](const Arrays& x) { return where(x[0], square(x[1]), x[2]); }),
                  {greater(same, 0), numbers({2, 1}), numbers({3})});
  differences.add("clip", single([](const Arrays& x) { return square(clip(x[0], x[1], x[2])); }),
                  {numbers({4, 3}), numbers({4, 1}, 2) - 0.5, numbers({3}, 3) + 0.8});
  differences.check();
}

TEST_F(ElementwiseDerivatives, ThroughComplexNumbersAreThoseOfFiniteDifferences) {
  FiniteDifferences differences;
  const auto through = [&](const char* what, const std::function<Array(const Array&)>& function) {
    differences.add(what, single([function](const Arrays& x) {
                      const Array z = function(complex(x[0], x[1]));
                      return concatenate({real(z), imag(z)}, 0);
                    }),
                    {numbers({3}), numbers({3}, 2)});
  };
  through("product", [](const Array& z) { return z * z; });
  through("exp", [](const Array& z) { return exp(z); });
  through("sin", [](const Array& z) { return sin(z); });
  through("conj", [](const Array& z) { return conj(z) * z; });
  through("abs", [](const Array& z) { return complex(abs(z), real(z)); });
  through("quotient", [](const Array& z) { return 1 / (z + 2); });
  through("sinh", [](const Array& z) { return sinh(z) + tanh(z); });
  differences.check();
}

}  // namespace
}  // namespace alpa
