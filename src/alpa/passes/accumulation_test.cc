#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/markers.h"
#include "alpa/hlo/verify.h"
#include "alpa/passes/split_accumulation.h"
#include "alpa/passes/write_accumulation.h"

namespace alpa::passes {
namespace {

using hlo::ComputationBuilder;
using hlo::InstructionId;
using hlo::Module;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;
using testing::ElementsAre;
using testing::HasSubstr;

const Shape kScalar(DType::kF32, {});
const Shape kVector(DType::kF32, {4});
const Shape kNarrow(DType::kBF16, {4});
const Shape kCount(DType::kS32, {});
constexpr const char* kTwoValues = "{kind = \"grad\", num_values = 2 : i64}";

// (w, state, x) -> (w - gradient * decay, momentum, loss, count); x is the batch. The marker is over loss, count, a
// gradient, and a narrow one that nothing uses; state is donated to momentum, which takes no part of it.
Module step(const std::string& config, bool uses_narrow = false) {
  hlo::ModuleBuilder module("step");
  ComputationBuilder b("main");
  const InstructionId w = b.parameter(kVector), state = b.parameter(kVector), x = b.parameter(kVector);
  const hlo::ComputationId add = module.reducer(Opcode::kAdd, DType::kF32);
  const InstructionId decay = b.op(Opcode::kExp, kVector, {w});
  const InstructionId product = b.op(Opcode::kMultiply, kVector, {b.op(Opcode::kMultiply, kVector, {x, decay}), w});
  const InstructionId loss =
      b.with_dimensions(Opcode::kReduce, kScalar, {product, b.scalar(DType::kF32, 0)}, {0}, {add});
  const InstructionId count = b.op(Opcode::kConvert, kCount, {loss});
  const InstructionId narrow = b.op(Opcode::kConvert, kNarrow, {product});
  const InstructionId marker = b.custom_call(Shape::tuple({kScalar, kCount, kVector, kNarrow}),
                                             {loss, count, product, narrow}, hlo::kGradientMarker, config);
  InstructionId gradient = b.get_tuple_element(marker, 2);
  if (uses_narrow) gradient = b.op(Opcode::kConvert, kVector, {b.get_tuple_element(marker, 3)});
  const InstructionId moved =
      b.op(Opcode::kSubtract, kVector, {w, b.op(Opcode::kMultiply, kVector, {gradient, decay})});
  const InstructionId root = b.tuple({moved, gradient, b.get_tuple_element(marker, 0), b.get_tuple_element(marker, 1)});
  static_cast<void>(state);
  Module result = std::move(module).build(std::move(b).build(root));
  hlo::set_input_output_aliases(result, {{.output = 0, .parameter = 0}, {.output = 1, .parameter = 1}});
  return result;
}

AccumulationRequest request(int64_t count = 4) {
  return {count, {false, false, true}, {"w", "momentum", "loss", "count"}, std::nullopt};
}

std::vector<std::string> parameter_names(const Module& module) {
  std::vector<std::string> names;
  const hlo::Computation& entry = module.entry_computation();
  for (const InstructionId id : hlo::parameters(entry)) names.push_back(entry[id].name);
  return names;
}

int count_of(const Module& module, Opcode opcode) {
  int count = 0;
  for (const hlo::Instruction& one : module.entry_computation().instructions) count += one.opcode == opcode;
  return count;
}

template <typename Error = InvalidArgumentError>
std::string refusal(const Module& module, const AccumulationRequest& how) {
  try {
    write_accumulation(module, how);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(WriteAccumulation, AddsAccumulatorsOfWhatIsUsed) {
  const WrittenAccumulation written = write_accumulation(step(kTwoValues), request());
  hlo::verify(written.module);
  EXPECT_EQ(written.layout.num_inputs, 3);
  EXPECT_EQ(written.layout.num_outputs, 4);
  EXPECT_EQ(written.layout.num_accumulators, 2);  // loss and gradient
  EXPECT_EQ(written.layout.num_latest, 1);        // count
  EXPECT_EQ(hlo::parameters(written.module.entry_computation()).size(), 3u + 1 + 2);
  const hlo::Computation& entry = written.module.entry_computation();
  EXPECT_EQ(entry[entry.root].shape.elements.size(), 4u + 2 + 1);
  EXPECT_EQ(count_of(written.module, Opcode::kCustomCall), 0);
  const auto aliases = hlo::input_output_aliases(written.module);
  ASSERT_EQ(aliases.size(), 4u);
  EXPECT_EQ(aliases[2].output, written.layout.accumulated(0));
  EXPECT_EQ(aliases[2].parameter, written.layout.accumulator(0));
}

TEST(WriteAccumulation, SumsOfNarrowFloatsAreInF32) {
  const WrittenAccumulation written = write_accumulation(step(kTwoValues, true), request());
  hlo::verify(written.module);
  const hlo::Computation& entry = written.module.entry_computation();
  for (int64_t k = 0; k < written.layout.num_accumulators; ++k) {
    const InstructionId id = hlo::parameters(entry)[static_cast<size_t>(written.layout.accumulator(k))];
    EXPECT_EQ(entry[id].shape.dtype, DType::kF32);
  }
}

TEST(WriteAccumulation, TheMarkerMustSayWhatItIsOver) {
  EXPECT_THAT(refusal(step("{kind = \"grad\"}"), request()), HasSubstr("num_values"));
  AccumulationRequest described = request();
  described.marked_operands = 4;
  EXPECT_EQ(refusal(step("{kind = \"grad\"}"), described), "no error");
  described.marked_operands = 3;
  EXPECT_THAT(refusal(step("{kind = \"grad\"}"), described), HasSubstr("has 4 operands, --meta lists 3"));
}

// A step (w, x) -> what `tail` makes of w, x and the gradient's value.
Module with_tail(
    const Shape& marked,
    const std::function<InstructionId(ComputationBuilder&, InstructionId, InstructionId, InstructionId)>& tail) {
  hlo::ModuleBuilder module("step");
  ComputationBuilder b("main");
  const InstructionId w = b.parameter(kVector), x = b.parameter(kVector);
  const InstructionId marker =
      b.custom_call(marked, {b.op(Opcode::kMultiply, kVector, {w, x})}, hlo::kGradientMarker, kTwoValues);
  const InstructionId root = tail(b, w, x, marker);
  return std::move(module).build(std::move(b).build(root));
}

TEST(WriteAccumulation, TakesRootsOfEveryForm) {
  const AccumulationRequest how{2, {false, true}, {"a", "b", "c"}, std::nullopt};
  const Shape tuple = Shape::tuple({kVector});
  const auto first = [](ComputationBuilder& b, InstructionId marker) { return b.get_tuple_element(marker, 0); };
  const std::vector<std::pair<Module, int64_t>> cases = {
      {with_tail(tuple, [&](auto& b, auto, auto, auto marker) { return first(b, marker); }), 1},
      {with_tail(tuple, [](auto&, auto, auto, auto marker) { return marker; }), 1},
      {with_tail(kVector, [](auto&, auto, auto, auto marker) { return marker; }), 1},
      {with_tail(kVector, [](auto& b, auto w, auto, auto marker) { return b.tuple({b.tuple({marker, w}), w}); }), 3},
      {with_tail(tuple, [&](auto& b, auto w, auto, auto marker) { return b.tuple({marker, b.tuple({w, w})}); }), 3},
  };
  for (const auto& [module, outputs] : cases) {
    const WrittenAccumulation written = write_accumulation(module, how);
    hlo::verify(written.module);
    EXPECT_EQ(written.layout.num_outputs, outputs);
    EXPECT_EQ(written.layout.num_accumulators, 1);
    const SplitAccumulation split = split_accumulation(written.module, written.layout);
    hlo::verify(split.accumulate.module);
    hlo::verify(split.apply.module);
  }
}

TEST(WriteAccumulation, RefusesWhatWouldBeTheLastMicroBatchsAlone) {
  const AccumulationRequest how{2, {false, true}, {"out"}, std::nullopt};
  const auto both = [](auto& b, auto, auto x, auto marker) { return b.op(Opcode::kAdd, kVector, {x, marker}); };
  EXPECT_THAT(refusal(with_tail(kVector, both), how), HasSubstr("output out depends on the batch"));
  const auto alone = [](auto& b, auto, auto x, auto) { return b.op(Opcode::kNegate, kVector, {x}); };
  EXPECT_THAT(refusal(with_tail(kVector, alone), how), HasSubstr("output out depends on the batch"));
  const auto twice = [](auto& b, auto, auto, auto marker) {
    return b.custom_call(kVector, {marker}, hlo::kGradientMarker, kTwoValues);
  };
  EXPECT_THAT(refusal<UnsupportedError>(with_tail(kVector, twice), how), HasSubstr("comes after another one"));
}

TEST(WriteAccumulation, AnIntegerOfTheBatchIsTheLastMicroBatchs) {
  const AccumulationRequest how{2, {false, true}, {"count", "gradient"}, std::nullopt};
  const Module module = with_tail(kVector, [](auto& b, auto, auto x, auto marker) {
    return b.tuple({b.op(Opcode::kConvert, Shape(DType::kS32, {4}), {x}), marker});
  });
  const WrittenAccumulation written = write_accumulation(module, how);
  EXPECT_EQ(written.layout.num_latest, 1);
  const SplitAccumulation split = split_accumulation(written.module, written.layout);
  EXPECT_EQ(count_of(split.apply.module, Opcode::kConvert), 0);
  EXPECT_THAT(parameter_names(split.apply.module), ElementsAre("accumulator.0", "latest.0"));
}

TEST(SplitAccumulation, EachPartTakesWhatItNeeds) {
  const WrittenAccumulation written = write_accumulation(step(kTwoValues), request());
  const SplitAccumulation split = split_accumulation(written.module, written.layout);
  hlo::verify(split.accumulate.module);
  hlo::verify(split.apply.module);
  EXPECT_THAT(split.accumulate.step_inputs, ElementsAre(0, 2));  // w, x
  EXPECT_THAT(split.apply.step_inputs, ElementsAre(0, 1));       // w, and the state whose memory it takes
  EXPECT_THAT(
      parameter_names(split.accumulate.module),
      ElementsAre("parameter.main.0", "parameter.main.2", "first_micro_batch", "accumulator.0", "accumulator.1"));
  EXPECT_THAT(parameter_names(split.apply.module),
              ElementsAre("parameter.main.0", "parameter.main.1", "accumulator.0", "accumulator.1", "latest.0"));
  EXPECT_EQ(count_of(split.accumulate.module, Opcode::kExp), 1);  // of neither batch nor gradients
  EXPECT_EQ(count_of(split.apply.module, Opcode::kExp), 1);
  EXPECT_EQ(count_of(split.apply.module, Opcode::kReduce), 0);
  EXPECT_TRUE(split.apply.module.computations.size() < written.module.computations.size());
  const auto sums = hlo::input_output_aliases(split.accumulate.module);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[1].output, 1);
  EXPECT_EQ(sums[1].parameter, 4);
  const auto states = hlo::input_output_aliases(split.apply.module);
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[1].output, 1);
  EXPECT_EQ(states[1].parameter, 1);
}

TEST(SplitAccumulation, CountsExecutionsOfAStep) {
  const WrittenAccumulation written = write_accumulation(step(kTwoValues), request(4));
  const std::vector<double> times = executions_in_parts(written.module, written.layout);
  const hlo::Computation& entry = written.module.entry_computation();
  for (InstructionId id = 0; id < entry.size(); ++id) {
    const double count = times[static_cast<size_t>(id)];
    switch (entry[id].opcode) {
      case Opcode::kReduce:
      case Opcode::kAdd:
      case Opcode::kSelect: EXPECT_EQ(count, 4) << entry[id].name; break;
      case Opcode::kSubtract:
      case Opcode::kDivide: EXPECT_EQ(count, 1) << entry[id].name; break;
      case Opcode::kExp: EXPECT_EQ(count, 5) << entry[id].name; break;
      default: break;
    }
  }
}

}  // namespace
}  // namespace alpa::passes
