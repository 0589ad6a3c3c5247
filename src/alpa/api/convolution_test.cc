#include "alpa/api/testing/derivatives.h"
#include "alpa/base/error.h"

namespace alpa {
namespace {

using testing::expect_derivatives;
using testing::Expected;
using testing::numbers;
using testing::single;
using Arrays = std::vector<Array>;

class Convolution : public testing::OneDevice {
 protected:
  Expected expected{"convolution"};
  void compare(const std::string& name, const ConvolutionOptions& options) {
    expected.compare(name, single([&](const Arrays& x) { return conv_general_dilated(x[0], x[1], options); }), 2e-5);
  }
  void compare_transpose(const std::string& name, const ConvTransposeOptions& options) {
    expected.compare(name, single([&](const Arrays& x) { return conv_transpose(x[0], x[1], options); }), 2e-5);
  }
};

TEST_F(Convolution, IsThatOfJax) {
  compare("same", {});
  compare("same_strided", {.strides = {2, 3}});
  compare("same_lower", {.strides = {1, 2}, .padding = "SAME_LOWER"});
  compare("valid", {.strides = {2, 1}, .padding = "VALID"});
  compare("patches", {.strides = {4, 4}, .padding = "VALID"});
  compare("explicit", {.strides = {2, 1}, .padding = {{1, 2}, {-1, 1}}});
  compare("dilated", {.strides = {2, 1}, .padding = {{2, 1}, {1, 3}}, .lhs_dilation = {2, 3}, .rhs_dilation = {3, 2}});
}

TEST_F(Convolution, InGroupsIsThatOfJax) {
  compare("grouped", {.strides = {2, 1}, .feature_group_count = 3});
  compare("depthwise", {.feature_group_count = 4});
  compare("batch_grouped", {.strides = {2, 1}, .batch_group_count = 3});
}

TEST_F(Convolution, InOtherLayoutsIsThatOfJax) {
  compare("nchw", {.strides = {2, 1}, .lhs_layout = "NCHW", .rhs_layout = "OIHW", .out_layout = "NCHW"});
  // JAX counts spatial dims in the kernel's order too.
  compare("mixed",
          {.strides = {2, 1}, .padding = "VALID", .lhs_layout = "CHNW", .rhs_layout = "WHOI", .out_layout = "NWHC"});
  compare("one_dim", {.strides = {2}});
  compare("three_dims", {.strides = {1, 2, 1}});
}

TEST_F(Convolution, TransposeIsThatOfJax) {
  compare_transpose("transpose_same", {.strides = {2, 2}});
  compare_transpose("transpose_valid", {.strides = {2, 1}, .padding = "VALID"});
  compare_transpose("transpose_sparse", {.strides = {3, 4}});
  compare_transpose("transpose_dilated", {.strides = {2, 2}, .rhs_dilation = {2, 3}});
  compare_transpose("transpose_explicit", {.strides = {2, 2}, .padding = {{1, 2}, {0, 1}}});
  compare_transpose("transpose_kernel", {.strides = {2, 2}, .padding = "VALID", .transpose_kernel = true});
}

TEST_F(Convolution, DerivativesAreThoseOfFiniteDifferences) {
  const auto check = [](const Dims& lhs, const Dims& rhs, const ConvolutionOptions& options) {
    expect_derivatives(single([&](const Arrays& x) { return conv_general_dilated(x[0], x[1], options); }),
                       {numbers(lhs), numbers(rhs, 2)});
  };
  check({2, 5, 4, 2}, {3, 2, 2, 3}, {.strides = {2, 1}});
  check({2, 5, 6, 2}, {2, 3, 2, 3},
        {.strides = {2, 3}, .padding = {{2, 1}, {-1, 3}}, .lhs_dilation = {2, 3}, .rhs_dilation = {3, 2}});
  check({2, 4, 4, 4}, {2, 3, 2, 6}, {.strides = {1, 2}, .feature_group_count = 2});
  check({4, 4, 4, 2}, {2, 3, 2, 6}, {.strides = {1, 2}, .batch_group_count = 2});
  check({2, 3, 7}, {4, 3, 3}, {.strides = {2}, .lhs_layout = "NCW", .rhs_layout = "OIW", .out_layout = "WNC"});
}

TEST_F(Convolution, ElementTypesArePromoted) {
  const Array found = conv_general_dilated(ones({1, 3, 3, 1}, DType::kBF16), ones({3, 3, 1, 1}));
  EXPECT_EQ(found.dtype(), DType::kF32);
  EXPECT_EQ(found(0, 1, 1, 0).item<float>(), 9);
}

TEST_F(Convolution, ErrorsNameShapesAndPlace) {
  const Array x = ones({1, 5, 5, 3}), k = ones({3, 3, 2, 4});
  try {
    conv_general_dilated(x, k);
    FAIL();
  } catch (const InvalidArgumentError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("f32[1,5,5,3] and f32[3,3,2,4] at convolution_test.cc:"), std::string::npos) << text;
    EXPECT_NE(text.find("3 features do not fit a kernel for 2"), std::string::npos) << text;
  }
  const Array good = ones({3, 3, 3, 4});
  EXPECT_THROW(conv_general_dilated(x, ones({3, 3, 4})), InvalidArgumentError);
  EXPECT_THROW(conv_general_dilated(x, good, {.strides = {1}}), InvalidArgumentError);
  EXPECT_THROW(conv_general_dilated(x, good, {.strides = {0, 1}}), InvalidArgumentError);
  EXPECT_THROW(conv_general_dilated(x, good, {.padding = "FULL"}), InvalidArgumentError);
  EXPECT_THROW(conv_general_dilated(x, good, {.padding = {{1, 1}}}), InvalidArgumentError);
  EXPECT_THROW(conv_general_dilated(x, good, {.lhs_layout = "NHHC"}), InvalidArgumentError);
  EXPECT_THROW(conv_general_dilated(x, good, {.batch_group_count = 2}), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
