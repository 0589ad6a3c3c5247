#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::Expected;
using testing::FiniteDifferences;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;
using Function = std::function<Array(const Array&)>;

const std::vector<std::pair<std::string, Function>> kFunctions = {
    {"relu", [](const Array& x) { return relu(x); }},
    {"relu6", [](const Array& x) { return relu6(x); }},
    {"hard_tanh", [](const Array& x) { return hard_tanh(x); }},
    {"silu", [](const Array& x) { return silu(x); }},
    {"gelu", [](const Array& x) { return gelu(x); }},
    {"gelu_exact", [](const Array& x) { return gelu(x, false); }},
    {"elu", [](const Array& x) { return elu(x); }},
    {"elu_slope", [](const Array& x) { return elu(x, 0.3); }},
    {"selu", [](const Array& x) { return selu(x); }},
    {"mish", [](const Array& x) { return mish(x); }},
    {"leaky_relu", [](const Array& x) { return leaky_relu(x); }},
    {"leaky_relu_slope", [](const Array& x) { return leaky_relu(x, 0.2); }},
    {"softplus", [](const Array& x) { return softplus(x); }},
    {"log_sigmoid", [](const Array& x) { return log_sigmoid(x); }},
    {"softmax", [](const Array& x) { return softmax(x); }},
    {"log_softmax", [](const Array& x) { return log_softmax(x); }},
    {"erf_inv", [](const Array& x) { return erf_inv(x); }}};

class Activation : public testing::OneDevice {
 protected:
  void collect(const std::string& name, const testing::FlatFunction& function) {
    testing::Tolerance tolerance{1e-5, 1};
    if (name.find("/float16") != std::string::npos) tolerance = {4e-3, 0.3};
    if (name.find("bfloat16") != std::string::npos) tolerance = {3e-2, 0.3};
    if (name.find("/wild") != std::string::npos) tolerance = {2e-5, name.rfind("gelu", 0) == 0 ? 1 : 1e-32};
    expected.collect(name, function, tolerance);
  }
  Expected expected{"activation"};
};

TEST_F(Activation, IsThatOfJax) {
  for (const auto& [name, function] : kFunctions) {
    for (const std::string& one : expected.cases()) {
      if (one != name && one.rfind(name + "/", 0) != 0) continue;
      if (one.find("/rows") != std::string::npos || one.find("/middle") != std::string::npos) continue;
      collect(one, single([function = function](const Arrays& x) { return function(x[0]); }));
    }
  }
  collect("softmax/rows", single([](const Arrays& x) { return softmax(x[0], 0); }));
  collect("softmax/middle", single([](const Arrays& x) { return softmax(x[0], -2); }));
  collect("log_softmax/rows", single([](const Arrays& x) { return log_softmax(x[0], 0); }));
  collect("log_softmax/middle", single([](const Arrays& x) { return log_softmax(x[0], -2); }));
  for (const char* name : {"layer_norm", "layer_norm/bfloat16"})
    collect(name, single([](const Arrays& x) { return layer_norm(x[0], x[1], x[2]); }));
  for (const char* name : {"cross_entropy", "cross_entropy/masked"})
    collect(name, single([](const Arrays& x) { return softmax_cross_entropy(x[0], x[1]); }));
  expected.check();
  expected.expect_all_used();
}

TEST_F(Activation, DerivativesAreThoseOfFiniteDifferences) {
  FiniteDifferences differences;
  for (const auto& [name, function] : kFunctions)
    differences.add(name, single([function = function](const Arrays& x) { return function(x[0]); }),
                    {numbers({2, 3}) * (name == "erf_inv" ? 0.9 : 1.5)});
  differences.add("softplus at 0", single([](const Arrays& x) { return softplus(x[0]); }), {zeros({2}, DType::kF64)});
  differences.add("softmax of rows", single([](const Arrays& x) { return softmax(x[0], 0); }), {numbers({3, 2})});
  differences.add("layer_norm", single([](const Arrays& x) { return layer_norm(x[0], x[1], x[2]); }),
                  {numbers({2, 4}), numbers({4}, 2), numbers({4}, 3)});
  differences.add("cross entropy", single([](const Arrays& x) { return softmax_cross_entropy(x[0], x[1]); }),
                  {numbers({3, 4}), Array::from(std::vector<int>{0, 3, 1})});
  differences.check();
}

TEST_F(Activation, ErrorsAreTyped) {
  EXPECT_THROW(softmax(ones({2}), 1), InvalidArgumentError);
  EXPECT_THROW(softmax_cross_entropy(ones({2, 3}), zeros({3}, DType::kS32)), InvalidArgumentError);
  EXPECT_THROW(layer_norm(ones({2, 3}), ones({2}), ones({3})), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
