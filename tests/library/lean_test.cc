#include "alpa/frontend/lower.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/inline_calls.h"
#include "alpa/hlo/load.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/simplify.h"
#include "fixture.h"
#include "models/gpt.h"

namespace library_test {
namespace {

namespace hlo = alpa::hlo;

struct Text {
  Array tokens, labels;
  ALPA_PYTREE(tokens, labels)
};

hlo::Module lowered_gpt_step(const models::GptConfig& config, int64_t batch) {
  const auto optimizer =
      alpa::optim::chain(alpa::optim::clip_by_global_norm(1.0),
                         alpa::optim::adamw({.learning_rate = 1e-3, .eps = 1e-6, .weight_decay = 0.01}));
  const auto state = alpa::optim::create_train_state(optimizer, models::init_gpt(alpa::random::key(0), config));
  const Text text{alpa::zeros({batch, config.sequence}, alpa::DType::kS32),
                  alpa::zeros({batch, config.sequence}, alpa::DType::kS32)};
  const auto arguments = std::tuple(state, text);
  std::vector<alpa::Shape> shapes;
  for (const Array& array : alpa::tree_leaves(arguments)) shapes.push_back(array.shape());
  const auto closure = alpa::frontend::trace("step", shapes, [&](const std::vector<Array>& inputs) {
    const auto [before, data] = alpa::tree_rebuild(arguments, inputs);
    const auto [loss, gradients] =
        alpa::value_and_grad([&, tokens = data.tokens, labels = data.labels](const models::Gpt& gpt) {
          return models::gpt_loss(gpt, tokens, labels);
        })(before.params);
    return alpa::tree_leaves(std::pair(before.apply_gradients(optimizer, gradients), loss));
  });
  return alpa::frontend::lower(*closure.function, "step", {});
}

TEST(Lean, GptStepIsNoLargerThanJaxs) {
  const std::string path = std::string(ALPA_TEST_DATA) + "/models/gpt/train_step.hlo.pb.xz";
  const hlo::Module theirs =
      hlo::simplify_entry(hlo::inline_calls(hlo::read_module(hlo::unpack(alpa::read_file(path)))));
  const hlo::Module ours = hlo::simplify_entry(hlo::inline_calls(lowered_gpt_step({}, 8)));
  const double flops = static_cast<double>(hlo::flops(ours)) / static_cast<double>(hlo::flops(theirs));
  const double count = static_cast<double>(ours.entry_computation().size()) / theirs.entry_computation().size();
  RecordProperty("flops_ratio", std::to_string(flops));
  RecordProperty("instruction_ratio", std::to_string(count));
  EXPECT_NEAR(flops, 1.0, 0.03);
  EXPECT_LE(count, 1.2);
}

}  // namespace
}  // namespace library_test
