#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::expect_derivatives;
using testing::Expected;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;

class Sorting : public testing::OneDevice {
 protected:
  Expected expected{"sorting"};
  void compare(const std::string& name, const std::function<Array(const Array&)>& function) {
    expected.compare(name, single([&](const Arrays& x) { return function(x[0]); }));
  }
};

Arrays both(const std::pair<Array, Array>& pair) { return {pair.first, pair.second}; }

// Outputs of one operation that are known already are told apart when another program uses them.
TEST_F(Sorting, ResultsAreUsedAfterOneWasRead) {
  const std::vector<Array> sorted =
      sort_together({Array::from(std::vector<float>{3, 1, 2}), Array::from(std::vector<float>{30, 10, 20}),
                     Array::from(std::vector<float>{7, 8, 9})});
  EXPECT_EQ(sorted[0].to_vector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ((sorted[0] * 2).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ((sorted[1] * 2).to_vector<float>(), (std::vector<float>{20, 40, 60}));
  EXPECT_EQ((sorted[2] - sorted[0]).to_vector<float>(), (std::vector<float>{7, 7, 4}));
}

TEST_F(Sorting, OfComplexNumbersIsAnError) {
  const Array z = complex(ones({3}), ones({3}));
  EXPECT_THROW(sort(z), InvalidArgumentError);
  EXPECT_THROW(argsort(z), InvalidArgumentError);
  EXPECT_THROW(sort_together({z, z}), InvalidArgumentError);
  EXPECT_THROW(top_k(z, 1), InvalidArgumentError);
  EXPECT_THROW(searchsorted(z, z), InvalidArgumentError);
  EXPECT_THROW(cummax(z, 0), InvalidArgumentError);
  EXPECT_THROW(cumlogsumexp(z, 0), InvalidArgumentError);
  EXPECT_THROW(reduce_window(z, WindowReduction::kMax, {.window = {2}}), InvalidArgumentError);
}

TEST_F(Sorting, IsThatOfJax) {
  compare("sort", [](const Array& x) { return sort(x, 1); });
  compare("sort_descending", [](const Array& x) { return sort(x, 0, true); });
  compare("sort_ties", [](const Array& x) { return sort(x); });
  compare("argsort", [](const Array& x) { return argsort(x); });
  compare("argsort_descending", [](const Array& x) { return argsort(x, -1, true); });
  compare("argsort_integers", [](const Array& x) { return argsort(x); });
}

TEST_F(Sorting, OfSeveralArraysIsThatOfJax) {
  expected.compare("together", [](const Arrays& x) { return sort_together(x, 0); });
  expected.compare("two_keys", [](const Arrays& x) { return sort_together(x, -1, {.num_keys = 2}); });
}

TEST_F(Sorting, GreatestElementsAreThoseOfJax) {
  expected.compare("top_k", [](const Arrays& x) { return both(top_k(x[0], 3)); });
  expected.compare("top_k_ties", [](const Arrays& x) { return both(top_k(x[0], 4)); });
  compare("top_k_values", [](const Array& x) { return top_k(x, 2).first; });
}

TEST_F(Sorting, SearchIsThatOfJax) {
  expected.compare("search", single([](const Arrays& x) { return searchsorted(x[0], x[1]); }));
  expected.compare("search_right", single([](const Arrays& x) { return searchsorted(x[0], x[1], true); }));
}

TEST_F(Sorting, DerivativesAreThoseOfFiniteDifferences) {
  expect_derivatives(single([](const Arrays& x) { return square(sort(x[0], 1)); }), {numbers({2, 5, 2})});
  expect_derivatives(
      [](const Arrays& x) {
        const Arrays sorted = sort_together(x, 0, {.descending = true});
        return Arrays{sorted[0] * sorted[1]};
      },
      {numbers({5, 2}), numbers({5, 2}, 2)});
  expect_derivatives(single([](const Arrays& x) { return square(top_k(x[0], 2).first); }), {numbers({3, 5})});
}

TEST_F(Sorting, PlacesHaveNoDerivative) {
  const auto loss = [](const Array& x) { return sum(x * argsort(x)); };
  EXPECT_EQ(grad(loss)(Array::from(std::vector<float>{3, 1, 2})).to_vector<float>(), (std::vector<float>{1, 2, 0}));
}

TEST_F(Sorting, ErrorsAreTyped) {
  EXPECT_THROW(sort(ones({3}), 1), InvalidArgumentError);
  EXPECT_THROW(sort(ones({3}, DType::kC64)), InvalidArgumentError);
  EXPECT_THROW(sort_together({}), InvalidArgumentError);
  EXPECT_THROW(sort_together({ones({3}), ones({4})}), InvalidArgumentError);
  EXPECT_THROW(top_k(ones({3}), 4), InvalidArgumentError);
  EXPECT_THROW(searchsorted(ones({3, 1}), ones({2})), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
