#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "alpa/alpa.h"
#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/frontend/lower.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/inline_calls.h"
#include "alpa/hlo/text.h"
#include "alpa/tensor/safetensors.h"

namespace alpa {
namespace {

class ControlFlow : public testing::Test {
 protected:
  void SetUp() override {
    init("local", {.num_devices = 1});
    const std::string path = std::string(ALPA_TEST_DATA) + "/frontend/control_flow.safetensors";
    for (auto& [name, value] : tensor::read_safetensors(read_file(path), path)) data_[name] = Array(std::move(value));
  }
  void TearDown() override {
    data_.clear();
    shutdown();
  }

  const Array& at(const std::string& name) const { return data_.at(name); }

  void expect_near(const Array& found, const std::string& name, double tolerance = 1e-9) const {
    expect_near(found, at(name), name, tolerance);
  }

  static void expect_near(const Array& found, const Array& expected, const std::string& name, double tolerance) {
    ASSERT_EQ(found.shape(), expected.shape()) << name;
    const std::vector<double> a = found.to_vector<double>(), b = expected.to_vector<double>();
    for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], tolerance * (1 + std::abs(b[k]))) << name << " " << k;
  }

  // Value and gradients by all arguments.
  template <typename Function, typename... Args>
  void expect_as_jax(const std::string& name, const Function& function, const Args&... arguments) const {
    [&]<size_t... Index>(std::index_sequence<Index...>) {
      const auto [value, gradients] = value_and_grad(
          [&](const std::tuple<Args...>& all) { return std::apply(function, all); })(std::tuple<Args...>(arguments...));
      expect_near(value, name + ".value");
      (expect_near(std::get<Index>(gradients), name + ".grad" + std::to_string(Index)), ...);
    }(std::make_index_sequence<sizeof...(Args)>());
  }

  std::map<std::string, Array> data_;
};

Array cell(const Array& w, const Array& u, const Array& b, const Array& h, const Array& x) {
  return tanh(matmul(h, w) + matmul(x, u) + b);
}

Array rnn(const Array& w, const Array& u, const Array& b, const Array& xs, const Array& h, bool reverse = false) {
  const auto [last, ys] = scan(
      [&](const Array& state, const Array& x) {
        const Array next = cell(w, u, b, state, x);
        return std::pair(next, next * 2);
      },
      h, xs, {.reverse = reverse});
  return sum(square(ys)) + sum(power(last, 3));
}

TEST_F(ControlFlow, RecurrentNetworkByScan) {
  const auto run = [](const Array& w, const Array& u, const Array& b, const Array& xs, const Array& h) {
    return rnn(w, u, b, xs, h);
  };
  expect_as_jax("rnn", run, at("w"), at("u"), at("b"), at("xs"), at("h"));
  expect_as_jax(
      "rnn_reverse",
      [](const Array& w, const Array& u, const Array& b, const Array& xs, const Array& h) {
        return rnn(w, u, b, xs, h, true);
      },
      at("w"), at("u"), at("b"), at("xs"), at("h"));
}

TEST_F(ControlFlow, ScanInForwardModeAndTwice) {
  const auto of_w = [&](const Array& w) { return rnn(w, at("u"), at("b"), at("xs"), at("h")); };
  const Array second = grad([&](const Array& w) { return sum(grad(of_w)(w) * at("v")); })(at("w"));
  expect_near(second, "rnn.hvp");
  const auto forward_of_reverse =
      jvp([&](const Array& w) { return grad(of_w)(w); }, std::tuple(at("w")), std::tuple(at("v")));
  expect_near(forward_of_reverse.second, "rnn.hvp");
  const auto reverse_of_forward =
      grad([&](const Array& w) { return jvp(of_w, std::tuple(w), std::tuple(at("v"))).second; })(at("w"));
  expect_near(reverse_of_forward, "rnn.hvp");
  const auto pushed = jvp([&](const Array& w, const Array& h) { return rnn(w, at("u"), at("b"), at("xs"), h); },
                          std::tuple(at("w"), at("h")), std::tuple(at("v"), at("h")));
  expect_near(pushed.second, "rnn.jvp");
}

TEST_F(ControlFlow, EagerVjpSeesCapturedArrays) {
  const auto [value, pullback] =
      vjp([&](const Array& w) { return rnn(w, at("u"), at("b"), at("xs"), at("h")); }, at("w"));
  expect_near(std::get<0>(pullback(full({}, 1, DType::kF64))), "rnn.grad0");
}

TEST_F(ControlFlow, PolynomialByForiLoop) {
  const auto polynomial = [](const Array& x) {
    return sum(fori_loop(0, 5, [&](const Array& i, const Array& c) { return c * x + i; }, ones_like(x)));
  };
  expect_as_jax("polynomial", polynomial, at("h"));
  const Array second = grad([&](const Array& x) { return sum(square(grad(polynomial)(x))); })(at("h"));
  expect_near(second, "polynomial.second");
  const Array none = fori_loop(3, 3, [](const Array&, const Array& c) { return c * 2; }, at("h"));
  expect_near(none, "h");
}

TEST_F(ControlFlow, WhileInForwardModeAlone) {
  const auto growth = [](const Array& x, const Array& rate) {
    return while_loop([](const std::pair<Array, Array>& c) { return sum(square(c.first)) < 1000; },
                      [&](const std::pair<Array, Array>& c) {
                        return std::pair<Array, Array>(c.first * rate + sin(c.first), c.second + 1);
                      },
                      std::pair<Array, Array>(x, 0));
  };
  const Array rate = full({}, 1.3, DType::kF64);
  const auto [value, steps] = growth(at("h"), rate);
  expect_near(value, "while.value");
  EXPECT_EQ(steps.dtype(), DType::kS32);
  expect_near(steps, "while.steps");
  const Array change = reshape(slice_dim(at("v"), 0, 0, 1), {4});
  const auto pushed = jvp([&](const Array& x, const Array& r) { return growth(x, r).first; }, std::tuple(at("h"), rate),
                          std::tuple(change, full({}, 0.7, DType::kF64)));
  expect_near(pushed.second, "while.jvp");
  try {
    grad([&](const Array& x) { return sum(growth(x, rate).first); })(at("h"));
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("use scan, or fori_loop"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("control_flow_test.cc:"), std::string::npos) << error.what();
  }
}

TEST_F(ControlFlow, NestedScans) {
  const auto nested = [](const Array& w, const Array& xs, const Array& h) {
    const auto [last, ys] = scan(
        [&](const Array& state, const Array& x) {
          const auto [inner, parts] = scan(
              [&](const Array& c, const Array& y) {
                const Array next = sin(matmul(c, w) + y);
                return std::pair(next, sum(next) * x);
              },
              state, x);
          return std::pair(inner, sum(parts, {0}));
        },
        h, xs);
    const Array corner = reshape(slice(ys, {0, 0}, {1, 1}), {});
    return sum(last * corner) + sum(square(ys));
  };
  expect_as_jax("nested", nested, at("w"), at("xs"), at("h"));
}

TEST_F(ControlFlow, ScanInCondInScan) {
  const auto mixed = [](const Array& w, const Array& xs, const Array& h) {
    const auto step = [&](const Array& state, const Array& x) {
      const auto through = [&](const Array& first) {
        return scan([&](const Array& c, const Array& y) { return std::pair(tanh(matmul(c, w) + y), Nothing()); }, first,
                    x)
            .first;
      };
      const auto simple = [&](const Array& first) { return first * reshape(slice_dim(x, 0, 0, 1), {}) + sum(x); };
      const Array next = cond(sum(state) > 0, through, simple, state);
      return std::pair(next, sum(next));
    };
    const auto [last, ys] = scan(step, h, xs);
    return sum(square(last)) + sum(square(ys));
  };
  expect_as_jax("mixed", mixed, at("w"), at("xs"), at("h"));
  const auto run = [&](const Array& h) { return mixed(at("w"), at("xs"), h); };
  const auto pushed = jvp(run, std::tuple(at("h")), std::tuple(at("b")));
  expect_near(pushed.second, sum(at("mixed.grad2") * at("b")), "jvp", 1e-9);
}

TEST_F(ControlFlow, SwitchClampsItsIndex) {
  for (const int index : {-1, 0, 1, 2, 5}) {
    const auto switched = [&](const Array& w, const Array& h) {
      const std::vector<std::function<Array(const Array&)>> functions = {
          [&](const Array& x) { return matmul(x, w); }, [](const Array& x) { return sin(x) * 3; },
          [&](const Array& x) { return exp(matmul(x, w)) + x; }};
      return sum(square(switch_branch(full({}, index, DType::kS32), functions, h)));
    };
    expect_as_jax("switch" + std::to_string(index), switched, at("w"), at("h"));
  }
}

TEST_F(ControlFlow, CarriesWithoutDerivativeOrNoneAtAll) {
  const auto with_counter = [&](const Array& x) {
    const auto [last, ys] = scan(
        [&](const std::pair<Array, Array>& c, const Array& slice) {
          return std::pair(std::pair<Array, Array>(c.first + 1, c.second * slice + c.first), c.first);
        },
        std::pair<Array, Array>(full({}, 0, DType::kS32), zeros({3}, DType::kF64)), x);
    EXPECT_EQ(ys.dtype(), DType::kS32);
    return sum(last.second);
  };
  const Array gradient = grad(with_counter)(at("xs"));
  EXPECT_EQ(gradient.dims(), at("xs").dims());
  const auto no_carry = [](const Array& x) {
    return sum(
        scan([](const Nothing&, const Array& slice) { return std::pair(Nothing(), square(slice)); }, Nothing(), x)
            .second);
  };
  expect_near(grad(no_carry)(at("xs")), at("xs") * 2, "no carry", 1e-12);
}

TEST_F(ControlFlow, ScanOfLengthZero) {
  const Array none = zeros({0, 3}, DType::kF64);
  const auto [value, gradients] = value_and_grad([&](const std::pair<Array, Array>& p) {
    return rnn(p.first, at("u"), at("b"), none, p.second);
  })(std::pair(at("w"), at("h")));
  expect_near(value, sum(power(at("h"), 3)), "value", 1e-12);
  expect_near(gradients.first, zeros({4, 4}, DType::kF64), "w", 1e-12);
  expect_near(gradients.second, square(at("h")) * 3, "h", 1e-12);
}

TEST_F(ControlFlow, WeakCarriesTakeTheTypeOfTheBody) {
  const auto [last, ys] =
      scan([](const Array& c, const Array& x) { return std::pair(c + sum(x), 1.0); }, 0.0, at("xs"));
  EXPECT_EQ(last.dtype(), DType::kF64);
  expect_near(last, sum(at("xs")), "sum", 1e-12);
  EXPECT_EQ(ys.dims(), Dims{6});
  EXPECT_EQ(fori_loop(0, 4, [](const Array& i, const Array& c) { return c + i; }, 1).item<int>(), 7);
  EXPECT_EQ(fori_loop(
                full({}, 1, DType::kS32), 4, [](const Array& i, const Array& c) { return c + i; }, 1.5)
                .item<double>(),
            7.5);
  EXPECT_EQ(cond(Array(true), [] { return Array(1.0); }, [] { return zeros({}, DType::kF64); }).dtype(), DType::kF64);
}

TEST_F(ControlFlow, ErrorsNamePathShapesAndPlace) {
  const std::map<std::string, Array> init = {{"h", at("h")}};
  try {
    scan([](const std::map<std::string, Array>& c,
            const Array&) { return std::pair(std::map<std::string, Array>{{"h", sum(c.at("h"))}}, Nothing()); },
         init, at("xs"));
    FAIL();
  } catch (const InvalidArgumentError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("carry.h enters the body as f64[4] and leaves it as f64[], at control_flow_test.cc:"),
              std::string::npos)
        << text;
  }
  EXPECT_THROW(scan([](const Array& c, const Nothing&) { return std::pair(c, c); }, at("h"), Nothing()),
               InvalidArgumentError);
  EXPECT_THROW(cond(at("h"), [] { return Array(1.0); }, [] { return Array(2.0); }), InvalidArgumentError);
  EXPECT_THROW(cond(Array(true), [&] { return at("h"); }, [&] { return at("w"); }), InvalidArgumentError);
  EXPECT_THROW(while_loop([](const Array& c) { return c; }, [](const Array& c) { return c; }, at("h")),
               InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
