#include "alpa/api/testing/derivatives.h"

namespace alpa {
namespace {

using testing::Expected;
using Arrays = std::vector<Array>;

class ElementTypes : public testing::OneDevice {
 protected:
  using Function = std::function<Array(const Arrays&)>;
  void collect(const std::string& family, const Function& function) { collect_all(family, testing::single(function)); }
  // For each element type that the file has.
  void collect_all(const std::string& family, const testing::FlatFunction& function) {
    for (const std::string& name : expected.cases()) {
      if (name.rfind(family + "/", 0) != 0) continue;
      const std::string type = name.substr(family.size() + 1);
      expected.collect(name, function, {type == "bfloat16" ? 3e-2 : type == "float16" ? 4e-3 : 1e-5, 1});
    }
  }
  Expected expected{"element_types"};
};

const WindowOptions kWindow = {.window = {1, 3, 2, 1}, .strides = {1, 2, 1, 1}, .padding = "SAME"};

TEST_F(ElementTypes, AreThoseOfJax) {
  collect("convolution", [](const Arrays& x) { return conv_general_dilated(x[0], x[1], {.strides = {2, 1}}); });
  collect_all("scan", [](const Arrays& x) {
    const auto [last, rows] =
        scan([](const Array& carry, const Array& row) { return std::pair(carry * 0.5 + row, carry); },
             zeros_like(x[0](0)), x[0]);
    return Arrays{last, rows};
  });
  collect("cumsum", [](const Arrays& x) { return cumsum(x[0], 1); });
  collect("cumprod", [](const Arrays& x) { return cumprod(x[0], 1); });
  collect("cummax", [](const Arrays& x) { return cummax(x[0], 1); });
  collect("sum_window", [](const Arrays& x) { return reduce_window(x[0], WindowReduction::kSum, kWindow); });
  collect("max_window", [](const Arrays& x) { return reduce_window(x[0], WindowReduction::kMax, kWindow); });
  collect("take", [](const Arrays& x) { return take(x[0], x[1], 1); });
  collect("scatter_add", [](const Arrays& x) { return scatter_add(x[0], x[1], x[2], 1); });
  collect("scatter_set", [](const Arrays& x) { return scatter_set(x[0], x[1], x[2], 1); });
  collect("dynamic_slice", [](const Arrays& x) { return dynamic_slice_in_dim(x[0], x[1], 2, 1); });
  collect("subscript", [](const Arrays& x) { return x[0](all, x[1], range({}, {}, -1)); });
  collect("sort", [](const Arrays& x) { return sort(x[0], 1, true); });
  collect("argsort", [](const Arrays& x) { return argsort(x[0], 1); });
  collect_all("top_k", [](const Arrays& x) {
    const auto [values, places] = top_k(x[0], 2);
    return Arrays{values, places};
  });
  collect("searchsorted", [](const Arrays& x) { return searchsorted(sort(x[0]), x[1]); });
  const std::map<std::string, DType> types = {
      {"bool", DType::kPred},   {"uint8", DType::kU8},    {"uint16", DType::kU16},   {"uint32", DType::kU32},
      {"int8", DType::kS8},     {"int16", DType::kS16},   {"int32", DType::kS32},    {"bfloat16", DType::kBF16},
      {"float16", DType::kF16}, {"float32", DType::kF32}, {"complex64", DType::kC64}};
  for (const auto& [from, a] : types) {
    for (const auto& [to, b] : types)
      expected.collect("astype/" + from + "_" + to,
                       testing::single([b = b](const Arrays& x) { return x[0].astype(b); }));
  }
  expected.check();
  expected.expect_all_used();
}

TEST_F(ElementTypes, OfNumbersAreThoseOfArrays) {
  const Array i = complex(zeros({2}), ones({2}));
  EXPECT_EQ(i.astype(DType::kPred).to_vector<int>(), (std::vector<int>{1, 1}));
  EXPECT_TRUE(all(i).item<bool>());
  EXPECT_EQ(where(i, 1, 2).to_vector<int>(), (std::vector<int>{1, 1}));
  EXPECT_EQ((i + 1.5).to_string(), "Array([1.5+1i, 1.5+1i], c64[2])");
  EXPECT_EQ(Array::from(std::vector<int32_t>{1234567, -7}).to_string(), "Array([1234567, -7], s32[2])");
  EXPECT_EQ(Array::from(std::vector<uint64_t>{UINT64_MAX}).to_string(), "Array([18446744073709551615], u64[1])");
  EXPECT_EQ(Array::from(std::vector<int8_t>{-128}).to_string(), "Array([-128], s8[1])");
  EXPECT_EQ(::testing::PrintToString(i), "Array([0+1i, 0+1i], c64[2])");  // by operator<<
  EXPECT_EQ(Array(2.5).astype(DType::kPred).item<int>(), 1);
  EXPECT_EQ(Array(-2.5).astype(DType::kS8).item<int>(), -2);
}

TEST_F(ElementTypes, ComplexNumbersOnTheHost) {
  const std::vector<std::complex<float>> values = {{1, 2}, {-3, 0.5F}};
  const Array z = Array::from(values);
  EXPECT_EQ(z.dtype(), DType::kC64);
  EXPECT_EQ(z.to_vector<std::complex<float>>(), values);
  EXPECT_EQ(imag(z).to_vector<float>(), (std::vector<float>{2, 0.5F}));
  EXPECT_EQ(sum(z).item<std::complex<double>>(), std::complex<double>(-2, 2.5));
  EXPECT_EQ(ones({}).item<std::complex<float>>(), std::complex<float>(1, 0));
  EXPECT_THROW(z.to_vector<float>(), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
