#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "alpa/alpa.h"
#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/bodies.h"
#include "alpa/frontend/trace.h"
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

Array rnn(const Array& w, const Array& u, const Array& b, const Array& xs, const Array& h,
          const ScanOptions& options = {}) {
  const auto [last, ys] = scan(
      [&](const Array& state, const Array& x) {
        const Array next = cell(w, u, b, state, x);
        return std::pair(next, next * 2);
      },
      h, xs, options);
  return sum(square(ys)) + sum(power(last, 3));
}

// In groups that divide the six iterations, that do not, and that are longer.
TEST_F(ControlFlow, UnrolledScanGivesTheSame) {
  for (const int64_t unroll : {2, 4, 9}) {
    for (const bool reverse : {false, true}) {
      const auto run = [&](const Array& w, const Array& u, const Array& b, const Array& xs, const Array& h) {
        return rnn(w, u, b, xs, h, {.reverse = reverse, .unroll = unroll});
      };
      expect_as_jax(reverse ? "rnn_reverse" : "rnn", run, at("w"), at("u"), at("b"), at("xs"), at("h"));
    }
  }
  const auto count = [](const Array& c, const Nothing&) { return std::pair(c + 1, c * c); };
  const auto [last, squares] = scan(count, Array(0), Nothing(), {.length = 5, .unroll = 3});
  EXPECT_EQ(last.item<int>(), 5);
  EXPECT_EQ(squares.to_vector<int>(), (std::vector<int>{0, 1, 4, 9, 16}));
  EXPECT_THROW(scan(count, Array(0), Nothing(), {.length = 5, .unroll = 0}), InvalidArgumentError);
}

TEST_F(ControlFlow, RecurrentNetworkByScan) {
  const auto run = [](const Array& w, const Array& u, const Array& b, const Array& xs, const Array& h) {
    return rnn(w, u, b, xs, h);
  };
  expect_as_jax("rnn", run, at("w"), at("u"), at("b"), at("xs"), at("h"));
  expect_as_jax(
      "rnn_reverse",
      [](const Array& w, const Array& u, const Array& b, const Array& xs, const Array& h) {
        return rnn(w, u, b, xs, h, {.reverse = true});
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
  const Array change = reshape(slice_in_dim(at("v"), 0, 0, 1), {4});
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
      const auto simple = [&](const Array& first) { return first * reshape(slice_in_dim(x, 0, 0, 1), {}) + sum(x); };
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

TEST_F(ControlFlow, BranchesWithoutOperands) {
  const auto choose = [](const Array& x) {
    return cond(sum(x) > 0, [] { return Array(1.0); }, [] { return zeros({}, DType::kF64); });
  };
  EXPECT_EQ(choose(ones({4})).item<double>(), 1);
  EXPECT_EQ(choose(zeros({4})).item<double>(), 0);
  EXPECT_EQ(parallelize(choose)(ones({4})).item<double>(), 1);
  expect_near(grad([&](const Array& x) { return sum(x) * choose(x).astype(DType::kF64); })(at("h")),
              zeros({4}, DType::kF64) + choose(at("h")), "gradient", 1e-12);
}

TEST_F(ControlFlow, ArraysNeverAssignedAreErrors) {
  EXPECT_THROW(checkpoint([](const Array&) { return Array(); })(at("h")), InvalidArgumentError);
  EXPECT_THROW(cond(Array(true), [] { return Array(); }, [] { return Array(); }), InvalidArgumentError);
  EXPECT_THROW(scan([](const Array& c, const Array&) { return std::pair(c, Array()); }, at("h"), at("xs")),
               InvalidArgumentError);
  EXPECT_THROW(scan([](const Array& c, const Array&) { return std::pair(c, c); }, Array(), at("xs")),
               InvalidArgumentError);
  EXPECT_THROW(while_loop([](const Array&) { return Array(); }, [](const Array& c) { return c; }, at("h")),
               InvalidArgumentError);
  EXPECT_THROW(optimization_barrier(Array()), InvalidArgumentError);
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

// A stack of L blocks by scan, as gpt_scan has it, and its cost in dots.
struct Blocks {
  Array in, out;  // [L, 8, 16], [L, 16, 8]
  ALPA_PYTREE(in, out)
};

template <typename Wrap>
Array stack_of_blocks(const Blocks& blocks, const Array& x, const Wrap& wrap) {
  const auto block = wrap([](const Array& h, const Blocks& p) { return h + matmul(tanh(matmul(h, p.in)), p.out); });
  return sum(square(
      scan([&](const Array& h, const Blocks& p) { return std::pair(block(h, p), Nothing()); }, x, blocks).first));
}

hlo::Module program_of(const std::vector<Array>& inputs,
                       const std::function<std::vector<Array>(const std::vector<Array>&)>& function) {
  const frontend::Closure closure = frontend::trace("test", frontend::shapes_of(inputs), function);
  return hlo::inline_calls(frontend::lower(*closure.function, "test", {}));
}

TEST_F(ControlFlow, CheckpointedScanCostsOneMoreForward) {
  const int64_t layers = 3;
  const auto ramp = [](Dims dims) {
    const Array flat =
        sin(arange(0, static_cast<double>(tensor::num_elements(Shape(DType::kF64, dims))), 1, DType::kF64));
    return reshape(flat * 0.3, dims);
  };
  const Blocks blocks{ramp({layers, 8, 16}), ramp({layers, 16, 8})};
  const Array x = ramp({4, 8});
  const auto plain = [](auto block) { return block; };
  const auto wrapped = [](auto block) { return checkpoint(block); };
  const auto gradient = [&](const auto& wrap) {
    return [&](const std::vector<Array>& in) {
      return tree_leaves(grad([&](const Blocks& b) { return stack_of_blocks(b, in[2], wrap); })(Blocks{in[0], in[1]}));
    };
  };
  const std::vector<Array> inputs = {blocks.in, blocks.out, x};
  const int64_t block_flops = 2 * (2 * 4 * 8 * 16);
  const hlo::Module kept = program_of(inputs, gradient(plain)), again = program_of(inputs, gradient(wrapped));
  EXPECT_EQ(hlo::contraction_flops(kept), layers * 3 * block_flops) << hlo::to_text(kept);
  // The block's last dot gives a value that no derivative needs, so that it is not recomputed.
  EXPECT_EQ(hlo::contraction_flops(again), layers * (3 * block_flops + block_flops / 2)) << hlo::to_text(again);
  EXPECT_NE(hlo::to_text(again).find("opt-barrier"), std::string::npos);
  // Only the inputs of the body are kept: of the carry one stack, the weights are there.
  const std::string text = hlo::to_text(again);
  EXPECT_EQ(text.find("f64[3,4,16]"), std::string::npos) << text;
  EXPECT_NE(text.find("f64[3,4,8]"), std::string::npos) << text;
  const std::vector<Array> a = gradient(plain)(inputs), b = gradient(wrapped)(inputs);
  for (size_t k = 0; k < a.size(); ++k) expect_near(a[k], b[k], "gradient", 1e-12);
  const auto twice = [&](const auto& wrap) {
    return grad([&](const Blocks& p) {
      return sum(square(tree_leaves(grad([&](const Blocks& q) { return stack_of_blocks(q, x, wrap); })(p))[0]));
    })(blocks);
  };
  expect_near(twice(wrapped).out, twice(plain).out, "second", 1e-10);
  const auto pushed = [&](const auto& wrap) {
    return jvp([&](const Blocks& p) { return stack_of_blocks(p, x, wrap); }, std::tuple(blocks), std::tuple(blocks))
        .second;
  };
  expect_near(pushed(wrapped), pushed(plain), "pushed", 1e-12);
}

TEST_F(ControlFlow, WhatNothingUsesIsNotComputed) {
  // The ys are not used, and so neither is the dot that makes them, in value and in derivative.
  const auto run = [&](const Array& w, const Array& h) {
    return sum(scan([&](const Array& c, const Array&) { return std::pair(sin(c), matmul(c, w)); }, h, at("xs")).first);
  };
  const auto program = program_of({at("w"), at("h")}, [&](const std::vector<Array>& in) {
    const auto [value, gradient] = value_and_grad([&](const Array& h) { return run(in[0], h); })(in[1]);
    return std::vector<Array>{value, gradient};
  });
  EXPECT_EQ(hlo::contraction_flops(program), 0) << hlo::to_text(program);
  EXPECT_EQ(hlo::to_text(program).find("f64[6,3]{1,0} get-tuple-element"), std::string::npos);
}

TEST_F(ControlFlow, WhatNoIterationChangesIsNotStacked) {
  const auto run = [&](const Array& w) {
    const auto step = [&](const Array& c, const Array& x) {
      return std::pair(sin(matmul(c, tanh(matmul(w, w)))) * reshape(slice_in_dim(x, 0, 0, 1), {}), Nothing());
    };
    return sum(scan(step, at("h"), at("xs")).first);
  };
  const hlo::Module program =
      program_of({at("w")}, [&](const std::vector<Array>& in) { return std::vector<Array>{grad(run)(in[0])}; });
  EXPECT_EQ(hlo::to_text(program).find("f64[6,4,4]"), std::string::npos) << hlo::to_text(program);
  const std::vector<double> found = grad(run)(at("w")).to_vector<double>();
  for (const size_t k : {0u, 6u, 15u}) {
    std::vector<double> bump(16, 0.0);
    bump[k] = 1e-6;
    const Array change = Array::from(bump, {4, 4});
    const double slope = (run(at("w") + change).item<double>() - run(at("w") - change).item<double>()) / 2e-6;
    EXPECT_NEAR(found[k], slope, 1e-6 * (1 + std::abs(slope)));
  }
}

TEST_F(ControlFlow, CustomVjp) {
  const auto clipped =
      custom_vjp([](const Array& x, const Array& limit) { return x * 1.0 + 0.0 * limit; },
                 [](const Array& x, const Array& limit) { return std::pair(x + 0.0 * limit, limit); },
                 [](const Array& limit, const Array& ct) { return std::tuple(clip(ct, -limit, limit), Array()); });
  const Array limit = full({}, 0.5, DType::kF64);
  const auto loss = [&](const Array& x) { return sum(square(clipped(x, limit))); };
  expect_near(loss(at("h")), sum(square(at("h"))), "value", 1e-12);
  expect_near(grad(loss)(at("h")), clip(at("h") * 2, -0.5, 0.5), "gradient", 1e-12);
  const auto twice = [&](const Array& x) {
    return sum(
        scan([&](const Array& c, const Array&) { return std::pair(clipped(clipped(c, limit), limit), Nothing()); }, x,
             at("xs"))
            .first);
  };
  expect_near(grad(twice)(at("h")), full({4}, 0.5, DType::kF64), "scan", 1e-12);
  EXPECT_THROW(grad([&](const Array& x) {
                 const auto bad = custom_vjp([&](const Array& y) { return y * x; },
                                             [&](const Array& y) { return std::pair(y * x, Nothing()); },
                                             [](const Nothing&, const Array& ct) { return ct; });
                 return sum(bad(x));
               })(at("h")),
               UnsupportedError);
}

TEST_F(ControlFlow, CustomJvpInBothModes) {
  using One = std::tuple<Array>;
  const auto sine = custom_jvp([](const Array& x) { return sin(x); },
                               [](const One& primal, const One& tangent) {
                                 const Array& x = std::get<0>(primal);
                                 return std::pair(sin(x), 3 * cos(x) * std::get<0>(tangent));
                               });
  const auto loss = [&](const Array& x) { return sum(sine(x)); };
  expect_near(loss(at("h")), sum(sin(at("h"))), "value", 1e-12);
  expect_near(grad(loss)(at("h")), 3 * cos(at("h")), "reverse", 1e-12);
  const auto pushed = jvp(sine, std::tuple(at("h")), std::tuple(at("b")));
  expect_near(pushed.second, 3 * cos(at("h")) * at("b"), "forward", 1e-12);
  const auto second = [&](const Array& x) { return sum(grad(loss)(x)); };
  expect_near(grad(second)(at("h")), -3 * sin(at("h")), "second", 1e-12);
}

TEST_F(ControlFlow, BarriersAreIdentities) {
  const auto loss = [](const Array& x) {
    const auto [a, b] = optimization_barrier(std::pair<Array, Array>(x * 2, sin(x)));
    return sum(a * b);
  };
  const Array& h = at("h");
  expect_near(grad(loss)(h), 2 * sin(h) + 2 * h * cos(h), "gradient", 1e-12);
  expect_near(jvp(loss, std::tuple(h), std::tuple(h)).second, sum((2 * sin(h) + 2 * h * cos(h)) * h), "jvp", 1e-12);
}

TEST_F(ControlFlow, FiniteDifferences) {
  const auto through_all = [&](const Array& x) {
    const auto body = checkpoint([&](const Array& c, const Array& slice) {
      return cond(sum(c) > 0.3, [&] { return cos(c) * sum(slice); }, [&] { return c * c + x; });
    });
    const auto [last, ys] = scan(
        [&](const Array& c, const Array& slice) {
          const Array next = fori_loop(0, 2, [&](const Array&, const Array& d) { return body(d, slice) + 0.1 * x; }, c);
          return std::pair(next, sum(next * x));
        },
        x, at("xs"));
    return sum(last) + sum(ys);
  };
  const Array x = at("h") * 0.3;
  const std::vector<double> found = grad(through_all)(x).to_vector<double>();
  for (size_t k = 0; k < 4; ++k) {
    std::vector<double> bump(4, 0.0);
    bump[k] = 1e-6;
    const double up = through_all(x + Array::from(bump)).item<double>();
    const double down = through_all(x - Array::from(bump)).item<double>();
    EXPECT_NEAR(found[k], (up - down) / 2e-6, 1e-5 * (1 + std::abs(found[k])));
  }
}

TEST_F(ControlFlow, GradientStepsInALoopAreDifferentiable) {
  const auto after_training = [&](const Array& rate) {
    const auto loss = [&](const Array& w) { return sum(square(tanh(matmul(at("xs"), matmul(at("u"), w))))); };
    const Array trained =
        fori_loop(0, 3, [&](const Array&, const Array& w) { return w - rate * grad(loss)(w); }, at("w"));
    return loss(trained);
  };
  const Array rate = full({}, 0.01, DType::kF64);
  const double found = grad(after_training)(rate).item<double>();
  const double slope = (after_training(rate + 1e-6).item<double>() - after_training(rate - 1e-6).item<double>()) / 2e-6;
  EXPECT_NEAR(found, slope, 1e-6 * std::abs(slope));
  const double pushed = jvp(after_training, std::tuple(rate), std::tuple(ones({}, DType::kF64))).second.item<double>();
  EXPECT_NEAR(found, pushed, 1e-9 * std::abs(found));
}

TEST_F(ControlFlow, NamesOfScopesStayInLoops) {
  const hlo::Module program = program_of({at("w"), at("h")}, [&](const std::vector<Array>& in) {
    const auto run = [&](const Array& w) {
      const auto step = [&](const Array& c, const Array&) {
        const name_scope scope("cell");
        return std::pair(tanh(matmul(c, w)), Nothing());
      };
      return sum(scan(step, in[1], at("xs")).first);
    };
    return std::vector<Array>{grad(run)(in[0])};
  });
  EXPECT_NE(hlo::to_text(program).find("cell/dot_general"), std::string::npos) << hlo::to_text(program);
}

struct Weights {
  Array w, u;
  ALPA_STATE(w, u)
};

TEST(ControlFlowOnEightDevices, TrainsARecurrentNetwork) {
  init("local", {.num_devices = 8});
  const auto ramp = [](Dims dims, double scale) {
    const Array flat =
        sin(arange(0, static_cast<double>(tensor::num_elements(Shape(DType::kF32, dims))), 1, DType::kF32));
    return reshape(flat * scale, dims);
  };
  const auto first = [&] { return Weights{ramp({32, 32}, 0.1), ramp({16, 32}, 0.3)}; };
  const Array xs = ramp({5, 16, 16}, 1.0);
  const Array scale = ramp({32}, 1.0);  // known, and so part of the program
  const auto step = [&](const Weights& weights, const Array& batch) {
    const auto loss_of = [&](const Weights& p) {
      const auto cell = checkpoint([&](const Array& h, const Array& x) {
        const Array next = tanh(matmul(h, p.w) + matmul(x, p.u)) * scale;
        return cond(mean(x) > 0, [&] { return next; }, [&] { return matmul(next, p.w); });
      });
      const auto [last, ys] = scan(
          [&](const Array& h, const Array& x) {
            const Array next = cell(h, x);
            return std::pair(next, sum(next, {1}));
          },
          zeros({16, 32}), batch);
      return mean(square(last)) + mean(square(ys));
    };
    const auto [loss, gradients] = value_and_grad(loss_of)(weights);
    const auto next = tree_map2(weights, gradients, [](const Array& w, const Array& g) { return w - 0.05 * g; });
    return std::pair(next, loss);
  };
  const auto parallel = parallelize(step, {.batch_argnums = {}});
  Weights one = first(), eight = first();
  for (int k = 0; k < 3; ++k) {
    Array expected, loss;
    std::tie(one, expected) = step(one, xs);
    std::tie(eight, loss) = parallel(eight, xs);
    EXPECT_NEAR(loss.item<float>(), expected.item<float>(), 1e-5 * std::abs(expected.item<float>()));
  }
  const std::vector<float> a = one.w.to_vector<float>(), b = eight.w.to_vector<float>();
  for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-5);
  shutdown();
}

}  // namespace
}  // namespace alpa
