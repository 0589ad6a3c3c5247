#include <gtest/gtest.h>

#include "alpa/alpa.h"
#include "alpa/frontend/lower.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/markers.h"

namespace alpa {
namespace {

/// Markers of a step over two vectors, in order.
std::vector<hlo::Instruction> markers_of(const std::function<std::vector<Array>(const std::vector<Array>&)>& function) {
  const std::vector<Array> inputs = {ones({4}), ones({4})};
  const std::vector<const Array*> pointers = {&inputs[0], &inputs[1]};
  std::vector<std::string> names;
  const api::Step step = api::trace_step({pointers, {"a", "b"}, {false, false}, {false, false}}, 1, function, names);
  const hlo::Module module = frontend::lower(*step.function, "step", {});
  std::vector<hlo::Instruction> found;
  for (const hlo::Instruction& instruction : module.entry_computation().instructions) {
    if (instruction.opcode == hlo::Opcode::kCustomCall) found.push_back(instruction);
  }
  return found;
}

Array loss_of(const Array& a, const Array& b) { return sum(square(a) * b); }

TEST(GradientMarker, IsOverLossAuxAndGradients) {
  const auto markers = markers_of([](const std::vector<Array>& x) {
    const auto loss = [](const Array& a, const Array& b) { return std::pair(loss_of(a, b), std::vector{a * 2, b}); };
    auto [value, gradients] = value_and_grad(loss, argnums<0, 1>)(x[0], x[1]);
    return tree_leaves(std::pair(value, gradients));
  });
  ASSERT_EQ(markers.size(), 1u);
  EXPECT_EQ(hlo::custom_call_target(markers[0]), hlo::kGradientMarker);
  EXPECT_EQ(hlo::backend_config(markers[0]), "{kind = \"grad\", num_values = 3 : i64}");
  EXPECT_EQ(markers[0].operands.size(), 5u);
}

TEST(GradientMarker, LeavesOutWhatNothingUses) {
  const auto markers = markers_of([](const std::vector<Array>& x) {
    const auto gradients = grad(loss_of, argnums<0, 1>)(x[0], x[1]);
    return std::vector<Array>{std::get<1>(gradients)};
  });
  ASSERT_EQ(markers.size(), 1u);
  EXPECT_EQ(hlo::backend_config(markers[0]), "{kind = \"grad\", num_values = 0 : i64}");
  EXPECT_EQ(markers[0].operands.size(), 1u);
}

TEST(GradientMarker, IsOfTheOutermostGradientAlone) {
  const auto markers = markers_of([](const std::vector<Array>& x) {
    const auto slope = [](const Array& a, const Array& b) { return sum(grad(loss_of)(a, b)); };
    return std::vector<Array>{grad(slope)(x[0], x[1]), x[1]};
  });
  ASSERT_EQ(markers.size(), 1u);
  EXPECT_EQ(hlo::backend_config(markers[0]), "{kind = \"grad\", num_values = 0 : i64}");
}

TEST(GradientMarker, IsNotInLoops) {
  const auto markers = markers_of([](const std::vector<Array>& x) {
    const auto body = [&](const Array&, const Array& a) { return a - 0.1 * grad(loss_of)(a, x[1]); };
    return std::vector<Array>{fori_loop(0, 3, body, x[0]), x[1]};
  });
  EXPECT_TRUE(markers.empty());
}

}  // namespace
}  // namespace alpa
