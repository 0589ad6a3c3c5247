#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "alpa/alpa.h"

/// Programs drawn at random from the operations: on all devices and on one they give the same numbers, and their
/// gradients are those of finite differences.
namespace library_test {
namespace {

using alpa::Array;
using alpa::Dims;

/// A function of two matrices, drawn from a seed: the same seed gives the same program.
class Program {
 public:
  explicit Program(uint32_t seed) : seed_(seed) {
    Draw draw(seed);
    const std::vector<int64_t> sizes = {1, 2, 3, 4, 6, 8, 16};
    rows = sizes[draw.below(sizes.size())];
    columns = sizes[draw.below(sizes.size())];
    num_operations = 5 + draw.below(11);
  }

  /// A real scalar. All parts are smooth, so that differences tell the derivative.
  Array operator()(const Array& x, const Array& w) const {
    Draw draw(seed_ + 1);
    Array value = x;
    for (size_t k = 0; k < num_operations; ++k) value = step(draw, value, w, x);
    return alpa::mean(alpa::tanh(value)) + 0.1 * alpa::mean(alpa::square(w));
  }

  int64_t rows = 0, columns = 0;
  size_t num_operations = 0;

 private:
  struct Draw {
    explicit Draw(uint32_t seed) : engine(seed) {}
    size_t below(size_t count) { return engine() % count; }
    std::minstd_rand engine;
  };

  static Array step(Draw& draw, const Array& v, const Array& w, const Array& x) {
    const size_t kind = draw.below(20);
    return kind < 10 ? plain(kind, draw, v, w) : structural(kind, draw, v, w, x);
  }

  // Matrices to matrices with the rows of x; the columns may change.
  static Array plain(size_t kind, Draw& draw, const Array& v, const Array& w) {
    switch (kind) {
      case 0: return alpa::tanh(v);
      case 1: return alpa::softmax(v, static_cast<int>(draw.below(2)));
      case 2: return v * alpa::sigmoid(v) + 0.5;
      case 3: return v - alpa::mean(v, {static_cast<int>(draw.below(2))}, true);
      case 4: return v / (1.5 + alpa::sigmoid(v));
      case 5: return alpa::logsumexp(v, {1}, true) * 0.5 + v;
      case 6: return alpa::cumsum(v, static_cast<int>(draw.below(2))) * 0.3;
      case 7: return alpa::matmul(v, alpa::matmul(v.transposed(), v)) * 0.05;
      case 8: return v * alpa::mean(w) + alpa::sum(w) * 0.01;
      default: return alpa::roll(v, static_cast<int64_t>(draw.below(5)), static_cast<int>(draw.below(2)));
    }
  }

  static Array structural(size_t kind, Draw& draw, const Array& v, const Array& w, const Array& x) {
    switch (kind) {
      case 10: return through(v, w);
      case 11: return alpa::concatenate({v, 2 * x}, 1)(alpa::all, alpa::range({}, v.dim(1)));
      case 12: return alpa::reverse(v, {static_cast<int>(draw.below(2))}) + 0.25 * v;
      case 13: return alpa::take(v, alpa::arange(v.dim(0)) * 3 % static_cast<int>(v.dim(0)), 0);
      case 14: return alpa::pad(v, {{1, 0}, {0, 0}})(alpa::range({}, -1)) + v;
      case 15: return scanned(v);
      case 16:
        return alpa::checkpoint([](const Array& a, const Array& b) { return alpa::tanh(a) * alpa::mean(b); })(v, w);
      case 17: return branch(v, w);
      case 18:
        return alpa::where(alpa::iota(v.dims(), 1) < static_cast<int>(1 + draw.below(4)), v, alpa::square(v) * 0.2);
      default: return alpa::einsum("ij,kj->ik", v, v).reshape({-1})(alpa::range({}, v.dim(0))).reshape({-1, 1}) + v;
    }
  }

  // By the weights and back, whatever the columns are.
  static Array through(const Array& v, const Array& w) {
    const Array square = alpa::matmul(w.transposed(), w);  // [columns, columns] of x
    return v.dim(1) == square.dim(0) ? alpa::matmul(v, square) * 0.2 : v;
  }

  static Array scanned(const Array& v) {
    const auto body = [&](const Array& carry, const Array& row) {
      const Array next = alpa::tanh(carry + row);
      return std::pair(next, next * row);
    };
    const auto [last, rows] = alpa::scan(body, alpa::zeros({v.dim(1)}, v.dtype()), v);
    return rows + last;
  }

  static Array branch(const Array& v, const Array& w) {
    return alpa::cond(alpa::sum(alpa::stop_gradient(w)) > 0, [&] { return v * 0.7; }, [&] { return v * v + w(0, 0); });
  }

  uint32_t seed_;
};

Array drawn(uint64_t seed, const Dims& dims, alpa::DType dtype) {
  return alpa::random::normal(alpa::random::key(seed), dims, dtype) * 0.8;
}

class RandomPrograms : public testing::Test {
 protected:
  void SetUp() override { alpa::init("local", {.num_devices = 8}); }
  void TearDown() override { alpa::shutdown(); }
};

TEST_F(RandomPrograms, DerivativesAreThoseOfFiniteDifferences) {
  for (uint32_t seed = 0; seed < ALPA_RANDOM_PROGRAMS; ++seed) {
    const Program program(seed);
    const Array x = drawn(2 * seed, {program.rows, program.columns}, alpa::DType::kF64);
    const Array w = drawn(2 * seed + 1, {4, program.columns}, alpa::DType::kF64);
    const auto [dx, dw] = alpa::grad(program, alpa::argnums<0, 1>)(x, w);
    const Array ux = drawn(5000 + seed, x.dims(), x.dtype()), uw = drawn(9000 + seed, w.dims(), w.dtype());
    // Of the fourth order, so that the step need not be small.
    constexpr double kStep = 1e-3;
    const auto at = [&](double far) { return program(x + far * kStep * ux, w + far * kStep * uw); };
    const Array differences = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * kStep);
    const auto both = alpa::stack({alpa::sum(dx * ux) + alpa::sum(dw * uw), differences}).to_vector<double>();
    const double found = both[0], slope = both[1];
    EXPECT_NEAR(found, slope, 1e-5 * (1 + std::fabs(slope))) << "seed " << seed;
  }
}

TEST_F(RandomPrograms, AllDevicesGiveTheNumbersOfOne) {
  const std::vector<alpa::AnyMethod> methods = {alpa::ShardParallel({8}), alpa::ShardParallel({2, 4}),
                                                alpa::ShardParallel({2, 2, 2}), alpa::DataParallel()};
  for (uint32_t seed = 0; seed < ALPA_RANDOM_PROGRAMS; ++seed) {
    const Program program(seed);
    const bool divides = program.rows % 8 == 0;  // what data parallelism asks for
    const alpa::AnyMethod& method = divides ? methods[3] : methods[seed % 3];
    const Array x = drawn(2 * seed, {program.rows, program.columns}, alpa::DType::kF64);
    const Array w = drawn(2 * seed + 1, {4, program.columns}, alpa::DType::kF64);
    const auto both = [&](const Array& a, const Array& b) {
      return alpa::value_and_grad(program, alpa::argnums<0, 1>)(a, b);
    };
    const auto expected = alpa::tree_leaves(both(x, w));
    const auto found = alpa::tree_leaves(alpa::parallelize(both, {.batch_argnums = {0}, .method = method})(x, w));
    ASSERT_EQ(found.size(), expected.size());
    for (size_t k = 0; k < found.size(); ++k) {
      const auto a = expected[k].to_vector<double>(), b = found[k].to_vector<double>();
      for (size_t n = 0; n < a.size(); ++n)
        ASSERT_NEAR(a[n], b[n], 1e-10 * (1 + std::fabs(a[n]))) << "seed " << seed << ", result " << k;
    }
  }
}

}  // namespace
}  // namespace library_test
