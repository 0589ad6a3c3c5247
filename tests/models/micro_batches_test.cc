// The marked step of every model, its gradients accumulated over micro-batches on eight devices:
// - each micro-batch the fixture's batch: losses and parameters are those of expected.safetensors;
// - each another batch: as the mean of the gradients that one device finds for each and the update that it makes of it,
//   by a split of the program that this file makes itself.
// Bytes found are those predicted, and no more gradients are communicated than with one micro-batch. A covering subset
// by default; ALPA_FULL_MATRIX=1: every model, method, number of micro-batches and plug-in, with a table at the end.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/inline_calls.h"
#include "alpa/hlo/load.h"
#include "alpa/hlo/markers.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/pjrt/testing/eight_devices.h"
#include "model_files.h"

namespace alpa {
namespace {

using compiler::Method;
using tensor::Literal;
using Parameter = std::tuple<std::string, Method, int, int>;  // model, method, micro-batches, plug-in
using Plans = std::tuple<std::string, Method, std::string>;   // model, method, mesh

constexpr double kLossTolerance = 1e-4;
// Of the largest value in a tensor; as the fixtures' own.
constexpr double kParameterTolerance = 1e-2;
// Of the largest change of a tensor: a gradient that is left out or counted twice changes more.
constexpr double kChangeTolerance = 0.05;
// After the second step of other batches tensors may be so much further off: a ReLU at its kink goes one way or the
// other by rounding. In wide_resnet with 4 micro-batches one device's numbers by the two plug-ins are 0.035 apart then,
// after the first step less than 0.001. Sums that were not begun anew would be off by 1.
constexpr double kSlackOfSecondStep = 10;

struct Fixture : ModelFiles {
  std::string bytes;  ///< Of the marked program.
};

const Fixture& fixture(const std::string& model) {
  static std::map<std::string, Fixture> known;
  const auto found = known.find(model);
  if (found != known.end()) return found->second;
  Fixture fixture{model_files(model), hlo::unpack(read_file(model_folder(model) + "train_step_marked.hlo.pb.xz"))};
  return known.emplace(model, std::move(fixture)).first->second;
}

double element_error(const Literal& a, const Literal& b, int64_t k) {
  const double delta = std::hypot(a.at(k) - b.at(k), a.imaginary_at(k) - b.imaginary_at(k));
  return std::isnan(delta) ? std::numeric_limits<double>::infinity() : delta;
}

double largest_difference(const Literal& a, const Literal& b) {
  double largest = 0;
  for (int64_t k = 0; k < tensor::num_elements(a.shape()); ++k) largest = std::max(largest, element_error(a, b, k));
  return largest;
}

double relative_error(const Literal& expected, const Literal& got) {
  return largest_difference(expected, got) / std::max(largest_difference(expected, Literal(expected.shape())), 1e-12);
}

// --- one device, by a split of its own --------------------------------------------------------------------------

/// The program before its marker (outputs: the marker's operands), or after it (parameters: its operands come last).
hlo::Module part_of(const hlo::Module& module, bool before) {
  const hlo::Computation& old = module.entry_computation();
  hlo::Module result = module;
  hlo::Computation& entry = result.entry_computation();
  entry = hlo::without_instructions(old);
  entry.proto = nullptr;
  std::vector<hlo::InstructionId> map;
  auto number = static_cast<int64_t>(hlo::parameters(old).size());
  for (const hlo::Instruction& one : old.instructions) {
    hlo::Instruction copy = hlo::remapped(one, map);
    if (hlo::is_gradient_marker(one)) {
      std::vector<hlo::InstructionId> values = copy.operands;
      for (size_t k = 0; !before && k < values.size(); ++k) {
        const tensor::Shape& shape = one.shape.elements[k];
        entry.instructions.push_back(hlo::make_parameter(fmt::format("marked.{}", k), shape, number++));
        values[k] = entry.size() - 1;
      }
      copy = hlo::make_instruction(hlo::Opcode::kTuple, one.name, one.shape, values);
      if (before) entry.root = entry.size();
    }
    map.push_back(entry.size());
    entry.instructions.push_back(std::move(copy));
  }
  if (!before) entry.root = map[static_cast<size_t>(old.root)];
  hlo::set_input_output_aliases(result, {});
  return result;
}

class OneDevice {
 public:
  OneDevice(const hlo::Module& module, const pjrt::Client& client)
      : executable_(pjrt::Executable::compile(client, hlo::write_module(module), pjrt::Format::kHlo,
                                              {.device_ids = {client.devices()[0].id()}})) {}

  std::vector<Literal> run(const std::vector<Literal>& inputs) {
    std::vector<pjrt::Buffer> buffers;
    for (const Literal& input : inputs)
      buffers.push_back(pjrt::Buffer::from_host(executable_.client(), executable_.client().devices()[0], input));
    std::vector<std::vector<pjrt::Buffer*>> arguments(1);
    for (pjrt::Buffer& buffer : buffers) arguments[0].push_back(&buffer);
    const pjrt::ExecuteResult result = executable_.execute(arguments);
    std::vector<Literal> outputs;
    for (const pjrt::Buffer& buffer : result.outputs.at(0)) outputs.push_back(buffer.to_host());
    return outputs;
  }

 private:
  pjrt::Executable executable_;
};

/// The mean of floats; of others the last.
Literal mean(const std::vector<Literal>& values) {
  Literal result(values[0].shape(), values.back().bytes());
  if (!tensor::is_floating(result.shape().dtype)) return result;
  for (int64_t k = 0; k < tensor::num_elements(result.shape()); ++k) {
    double sum = 0;
    for (const Literal& value : values) sum += value.at(k);
    result.set(k, sum / static_cast<double>(values.size()));
  }
  return result;
}

/// Outputs of each of two steps.
std::vector<std::vector<Literal>> reference(const Fixture& data, const std::vector<std::vector<Literal>>& batches,
                                            const pjrt::Client& client) {
  const hlo::Module module = hlo::inline_calls(hlo::read_module(data.bytes));
  OneDevice gradients(part_of(module, true), client);
  OneDevice apply(part_of(module, false), client);
  std::vector<std::vector<Literal>> steps;
  std::vector<Literal> state = data.inputs;
  for (int step = 0; step < 2; ++step) {
    std::vector<std::vector<Literal>> marked;  // by operand and micro-batch
    for (const std::vector<Literal>& batch : batches) {
      std::vector<Literal> inputs = state;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (data.meta.inputs[k].batch_dim) inputs[k] = batch[k];
      }
      const std::vector<Literal> found = gradients.run(inputs);
      marked.resize(found.size());
      for (size_t k = 0; k < found.size(); ++k) marked[k].push_back(found[k]);
    }
    std::vector<Literal> inputs = state;
    for (const std::vector<Literal>& values : marked) inputs.push_back(mean(values));
    steps.push_back(apply.run(inputs));
    for (size_t k = 0; k < data.meta.outputs.size(); ++k) {
      if (data.meta.outputs[k].feeds_input)
        state[static_cast<size_t>(*data.meta.outputs[k].feeds_input)] = steps.back()[k];
    }
  }
  return steps;
}

// --- batches ------------------------------------------------------------------------------------------------------

/// The rows of a batch input moved down; those that fall out come in above. Each input by another number.
Literal rolled(const Literal& input, int64_t rows) {
  const int64_t count = input.shape().dims[0];
  const size_t row = input.bytes().size() / static_cast<size_t>(count);
  Literal result(input.shape());
  for (int64_t k = 0; k < count; ++k)
    std::memcpy(result.mutable_bytes().data() + static_cast<size_t>((k + rows) % count) * row,
                input.bytes().data() + static_cast<size_t>(k) * row, row);
  return result;
}

/// Other batches than the fixture's: rows of labels are not those of what they label.
std::vector<std::vector<Literal>> other_batches(const Fixture& data, int count) {
  std::vector<std::vector<Literal>> batches(static_cast<size_t>(count), data.inputs);
  for (size_t part = 0; part < batches.size(); ++part) {
    for (size_t k = 0; k < data.inputs.size(); ++k) {
      if (data.meta.inputs[k].batch_dim)
        batches[part][k] = rolled(data.inputs[k], static_cast<int64_t>(part * (k + 1)));
    }
  }
  return batches;
}

std::vector<Literal> together(const Fixture& data, const std::vector<std::vector<Literal>>& batches) {
  std::vector<Literal> inputs = data.inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!data.meta.inputs[k].batch_dim) continue;
    tensor::Shape shape = inputs[k].shape();
    shape.dims[0] *= static_cast<int64_t>(batches.size());
    inputs[k] = Literal(shape);
    std::byte* next = inputs[k].mutable_bytes().data();
    for (const auto& batch : batches) next = std::copy(batch[k].bytes().begin(), batch[k].bytes().end(), next);
  }
  return inputs;
}

// --- the test -----------------------------------------------------------------------------------------------------

struct Errors {
  double loss = 0;
  double value = 0;   ///< Of the largest value of a tensor.
  double change = 0;  ///< Of its largest change.
};

Errors of_same_batches(const Fixture& data, runtime::MeshExecutable& executable) {
  Errors errors;
  executable.set_inputs(data.inputs);
  const Literal& losses = data.expected.at("loss");
  const auto loss = static_cast<int>(data.meta.outputs.size()) - 1;
  for (int64_t step = 0; step < tensor::num_elements(losses.shape()); ++step) {
    executable.step();
    executable.sync();
    errors.loss = std::max(errors.loss, std::abs(executable.output(loss).at(0) - losses.at(step)) / losses.at(step));
  }
  for (size_t k = 0; k < data.meta.outputs.size(); ++k) {
    const auto expected = data.expected.find(data.meta.outputs[k].name);
    if (!data.meta.outputs[k].feeds_input || expected == data.expected.end()) continue;
    errors.value = std::max(errors.value, relative_error(expected->second, executable.output(static_cast<int>(k))));
  }
  return errors;
}

Errors of_other_batches(const Fixture& data, int count, int plugin, runtime::MeshExecutable& executable) {
  Errors errors;
  const auto batches = other_batches(data, count);
  executable.set_inputs(together(data, batches));
  static std::map<std::tuple<const Fixture*, int, int>, std::vector<std::vector<Literal>>> known;
  const auto [found, added] = known.try_emplace({&data, count, plugin});
  if (added) found->second = reference(data, batches, pjrt::eight_devices(plugin));
  for (size_t step = 0; step < found->second.size(); ++step) {
    const std::vector<Literal>& expected = found->second[step];
    const double slack = step == 0 ? 1 : kSlackOfSecondStep;
    executable.step();
    executable.sync();
    for (size_t k = 0; k < expected.size(); ++k) {
      const compiler::OutputMeta& output = data.meta.outputs[k];
      const Literal got = executable.output(static_cast<int>(k));
      if (!output.feeds_input) {
        errors.loss = std::max(errors.loss, relative_error(expected[k], got));
        continue;
      }
      errors.value = std::max(errors.value, relative_error(expected[k], got) / slack);
      const double change = largest_difference(expected[k], data.inputs[static_cast<size_t>(*output.feeds_input)]);
      // What Adam makes of rounding noise is no change: gradients that are zero but for it.
      if (output.role == compiler::Role::kParams && change > 0)
        errors.change = std::max(errors.change, largest_difference(expected[k], got) / change / slack);
    }
  }
  return errors;
}

class MicroBatches : public testing::TestWithParam<Parameter> {};

TEST_P(MicroBatches, GiveTheNumbersOfOneDevice) {
  const auto& [model, method, count, plugin] = GetParam();
  const Fixture& data = fixture(model);
  const auto program = compiler::load_program(data.bytes, model, data.meta, {}, {}, count);
  compiler::PlanOptions options;
  options.method = method;
  options.mesh = mesh::LogicalMesh::parse("8");
  options.cluster = mesh::local_cpu(8);
  const plan::Plan plan = compiler::plan_program(program, options);
  EXPECT_EQ(plan.micro_batches, count);
  compiler::Compiled compiled = compiler::compile(program, plan, pjrt::eight_devices(plugin));
  const Errors same = of_same_batches(data, compiled.executable);
  const Errors other = of_other_batches(data, count, plugin, compiled.executable);
  EXPECT_LE(same.loss, kLossTolerance);
  EXPECT_LE(same.value, kParameterTolerance);
  EXPECT_LE(other.loss, kLossTolerance);
  EXPECT_LE(other.value, kParameterTolerance);
  EXPECT_LE(other.change, kChangeTolerance);
  std::string kinds;
  for (const auto& [kind, total] : compiled.found) {
    // Equal sums of a program are made once by the passes, which the plan does not foresee.
    const double predicted = plan.collectives.contains(kind) ? plan.collectives.at(kind).bytes : 0;
    EXPECT_NEAR(total.bytes, predicted, 0.01 * predicted) << kind;
    kinds += fmt::format(" {} {:.0f}x {:.0f}", kind, total.count, total.bytes);
  }
  const double memory = static_cast<double>(compiled.memory_per_device_bytes) /
                        static_cast<double>(plan.predicted_memory_per_device_bytes);
  EXPECT_LE(memory, 1.5);
  table().push_back(fmt::format(
      "{:<12} {:<6} {} {:<5} same batches: loss {:.1e} param {:.1e}, others: loss {:.1e} param {:.1e} change {:.1e}, "
      "memory {:.3f} |{}",
      model, compiler::name(method), count, plugin == 0 ? "0.115" : "0.81", same.loss, same.value, other.loss,
      other.value, other.change, memory, kinds));
}

// As when the optimizer's state is divided: each micro-batch leaves its sums divided, and the step takes them so.
TEST(MicroBatchPlans, AccumulatorsMayLieOtherwiseThanTheGradients) {
  const Fixture& data = fixture("mlp");
  const auto program = compiler::load_program(data.bytes, "mlp", data.meta, {}, {}, 2);
  compiler::PlanOptions options;
  options.method = Method::kData;
  options.mesh = mesh::LogicalMesh::parse("8");
  options.cluster = mesh::local_cpu(8);
  plan::Plan plan = compiler::plan_program(program, options);
  for (int k = 1; k < 9; ++k) {  // 0 is the loss
    const sharding::ShardingSpec whole = plan.ops.at(fmt::format("accumulator.{}", k)).at(0);
    for (const char* kept : {"accumulator.{}", "before.{}"})
      plan.ops.at(fmt::format(fmt::runtime(kept), k)).at(0).dims.at(0).push_back(0);
    plan.operands[fmt::format("accumulated.{}", k)] = {whole, whole};
  }
  compiler::Compiled compiled = compiler::compile(program, plan, pjrt::eight_devices(0));
  const Errors errors = of_other_batches(data, 2, 0, compiled.executable);
  EXPECT_LE(errors.loss, kLossTolerance);
  EXPECT_LE(errors.change, kChangeTolerance);
}

TEST(MicroBatchPlans, AreOfTheirNumberOfMicroBatches) {
  const Fixture& data = fixture("mlp");
  const auto four = compiler::load_program(data.bytes, "mlp", data.meta, {}, {}, 4);
  const auto two = compiler::load_program(data.bytes, "mlp", data.meta, {}, {}, 2);
  compiler::PlanOptions options;
  options.mesh = mesh::LogicalMesh::parse("8");
  options.cluster = mesh::local_cpu(8);
  const plan::Plan plan = compiler::plan_program(four, options);
  EXPECT_THROW(compiler::compile(two, plan, pjrt::eight_devices(0)), InvalidArgumentError);
}

// --- communication ------------------------------------------------------------------------------------------------

compiler::Compiled compiled_step(const Fixture& data, const std::string& model, Method method, const std::string& mesh,
                                 int micro_batches) {
  const auto program = compiler::load_program(data.bytes, model, data.meta, {}, {}, micro_batches);
  compiler::PlanOptions options;
  options.method = method;
  options.mesh = mesh::LogicalMesh::parse(mesh);
  options.cluster = mesh::local_cpu(8);
  const plan::Plan plan = compiler::plan_program(program, options);
  compiler::Compiled compiled = compiler::compile(program, plan, pjrt::eight_devices(0));
  for (const auto& [kind, total] : compiled.found) {
    const double predicted = plan.collectives.contains(kind) ? plan.collectives.at(kind).bytes : 0;
    EXPECT_LE(total.bytes, predicted) << kind << ", " << micro_batches << " micro-batches";
    // Equal gathers are made once, which the plan does not foresee.
    if (kind == "all-reduce" || kind == "reduce-scatter") {
      EXPECT_NEAR(total.bytes, predicted, 0.01 * predicted) << kind << ", " << micro_batches << " micro-batches";
    }
  }
  return compiled;
}

double bytes_of(const std::map<std::string, hlo::CollectiveTotal>& totals, const std::vector<std::string>& kinds) {
  double bytes = 0;
  for (const std::string& kind : kinds) bytes += totals.contains(kind) ? totals.at(kind).bytes : 0;
  return bytes;
}

// Values that an instruction does no more with than moving, scaling and adding them.
bool is_move(hlo::Opcode opcode) {
  using hlo::Opcode;
  const auto moves = {Opcode::kReshape,     Opcode::kTranspose,     Opcode::kCopy,     Opcode::kNegate,
                      Opcode::kSlice,       Opcode::kDynamicSlice,  Opcode::kAdd,      Opcode::kConvert,
                      Opcode::kConcatenate, Opcode::kSubtract,      Opcode::kTuple,    Opcode::kGetTupleElement,
                      Opcode::kAllReduce,   Opcode::kReduceScatter, Opcode::kAllGather};
  return std::find(moves.begin(), moves.end(), opcode) != moves.end();
}

/// Bytes of all-reduces and reduce-scatters of a micro-batch's program that nothing needs but its outputs.
double bytes_of_sums_for_outputs(const std::string& bytes) {
  const hlo::Module module = hlo::read_module(bytes);
  const hlo::Computation& entry = module.entry_computation();
  std::vector<bool> needed(entry.instructions.size(), false);
  double result = 0;
  for (hlo::InstructionId id = entry.size(); id-- > 0;) {
    const hlo::Instruction& one = entry[id];
    const bool sums = one.opcode == hlo::Opcode::kAllReduce || one.opcode == hlo::Opcode::kReduceScatter;
    if (sums && !needed[static_cast<size_t>(id)]) result += static_cast<double>(hlo::collective_bytes(entry, one));
    for (const hlo::InstructionId operand : one.operands) {
      if (needed[static_cast<size_t>(id)] || !is_move(one.opcode)) needed[static_cast<size_t>(operand)] = true;
    }
  }
  return result;
}

/// Models whose layers or time steps are a loop.
const std::set<std::string> kLoops = {"gpt_scan", "lstm"};

/// Bytes of all-reduces and reduce-scatters of a micro-batch's program, those in loops too.
double bytes_of_sums(const std::string& bytes) {
  return bytes_of(hlo::collectives(hlo::read_module(bytes)), {"all-reduce", "reduce-scatter"});
}

class GradientBytes : public testing::TestWithParam<Plans> {};

// By data parallelism and its kin a step of these models communicates gradients and losses alone, but for what ZeRO-3
// gathers for each micro-batch.
TEST_P(GradientBytes, OfFourMicroBatchesAreThoseOfOne) {
  const auto& [model, method, mesh] = GetParam();
  const Fixture& data = fixture(model);
  const compiler::Compiled four = compiled_step(data, model, method, mesh, 4);
  EXPECT_EQ(bytes_of_sums_for_outputs(four.accumulate_module), 0);
  if (method != Method::kShard && kLoops.contains(model)) {
    EXPECT_EQ(bytes_of_sums(four.accumulate_module), 0);
  }
  const std::set<std::string> sums_alone = {"mlp", "gpt", "gpt_scan", "lstm", "bert", "bert_rbg", "dlrm", "vit"};
  if (method == Method::kShard || !sums_alone.contains(model)) return;
  const compiler::Compiled one = compiled_step(data, model, method, mesh, 1);
  const std::vector<std::string> sums = {"all-reduce", "reduce-scatter"};
  // A few bytes are summed by the one or the other.
  EXPECT_NEAR(bytes_of(four.found, sums), bytes_of(one.found, sums), 1e-3 * bytes_of(one.found, sums));
}

std::vector<Plans> plans() {
  std::vector<Plans> result;
  for (size_t m = 0; m < kModels.size(); ++m) {
    int turn = static_cast<int>(m);
    for (const Method method : {Method::kData, Method::kZero2, Method::kZero3, Method::kShard}) {
      for (const char* mesh : {"8", "2x4"}) {
        const bool covered = turn++ % 8 == 0 && kModels[m] != "unet";
        const bool sums_in_loops = kLoops.contains(kModels[m]) && (method == Method::kData || method == Method::kZero2);
        if (full_matrix() || covered || sums_in_loops || kModels[m] == "mlp")
          result.emplace_back(kModels[m], method, mesh);
      }
    }
  }
  return result;
}

std::string plan_name(const testing::TestParamInfo<Plans>& info) {
  const auto& [model, method, mesh] = info.param;
  return fmt::format("{}_{}_{}", model, compiler::name(method), mesh);
}

INSTANTIATE_TEST_SUITE_P(All, GradientBytes, testing::ValuesIn(plans()), plan_name);

// A cap that the accumulators would pass: the largest stay as they are, their sums made for each micro-batch.
TEST(MicroBatchPlans, SumsWaitWhereThereIsMemory) {
  const Fixture& data = fixture("mlp");
  const auto program = compiler::load_program(data.bytes, "mlp", data.meta, {}, {}, 4);
  compiler::PlanOptions options;
  options.method = Method::kZero2;
  options.mesh = mesh::LogicalMesh::parse("8");
  options.cluster = mesh::local_cpu(8);
  const plan::Plan free = compiler::plan_program(program, options);
  EXPECT_EQ(free.deferred_sums.size(), 9u);  // eight gradients and the loss
  const double gradients = 609344;
  EXPECT_EQ(free.collectives.at("reduce-scatter").bytes, gradients);
  options.memory_cap_bytes = free.predicted_memory_per_device_bytes - 100'000;
  const plan::Plan capped = compiler::plan_program(program, options);
  EXPECT_LE(capped.predicted_memory_per_device_bytes, *options.memory_cap_bytes);
  EXPECT_LT(capped.deferred_sums.size(), 9u);
  EXPECT_GT(capped.deferred_sums.size(), 1u);
  EXPECT_GT(capped.collectives.at("reduce-scatter").bytes, gradients);
  EXPECT_LT(capped.collectives.at("reduce-scatter").bytes, 4 * gradients);
  compiler::Compiled compiled = compiler::compile(program, capped, pjrt::eight_devices(0));
  for (const auto& [kind, total] : capped.collectives) EXPECT_EQ(compiled.found.at(kind).bytes, total.bytes) << kind;
  const Errors errors = of_other_batches(data, 4, 0, compiled.executable);
  EXPECT_LE(errors.loss, kLossTolerance);
  EXPECT_LE(errors.change, kChangeTolerance);
}

TEST(MicroBatchPlans, DeferredSumsAreNamedByAccumulators) {
  const Fixture& data = fixture("mlp");
  const auto program = compiler::load_program(data.bytes, "mlp", data.meta, {}, {}, 2);
  compiler::PlanOptions options;
  options.mesh = mesh::LogicalMesh::parse("8");
  options.cluster = mesh::local_cpu(8);
  plan::Plan plan = compiler::plan_program(program, options);
  EXPECT_EQ(plan::plan_from_json(plan::to_json(plan), "plan").deferred_sums, plan.deferred_sums);
  plan.deferred_sums.push_back("accumulator.99");
  EXPECT_THROW(compiler::compile(program, plan, pjrt::eight_devices(0)), InvalidArgumentError);
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> result;
  for (size_t m = 0; m < kModels.size(); ++m) {
    for (const Method method : {Method::kShard, Method::kData, Method::kZero2, Method::kZero3}) {
      for (const int count : {1, 2, 4}) {
        for (const int plugin : {0, 1}) {
          // Covering: each model once, numbers and plug-ins in turn; unet, which is long to compile, left to the
          // matrix.
          const bool in_turn = method == (m % 4 == 2 ? Method::kData : Method::kShard) &&
                               count == (m % 2 == 0 ? 2 : 4) && plugin == static_cast<int>(m / 2 % 2) &&
                               kModels[m] != "unet";
          // By data the experts' gradients end divided: their accumulators must follow.
          const bool divided = kModels[m] == "moe" && method == Method::kData && count == 2 && plugin == 0;
          const bool covered = in_turn || divided;
          if (full_matrix() || covered) result.emplace_back(kModels[m], method, count, plugin);
        }
      }
    }
  }
  return result;
}

std::string parameter_name(const testing::TestParamInfo<Parameter>& info) {
  const auto& [model, method, count, plugin] = info.param;
  return fmt::format("{}_{}_{}{}", model, compiler::name(method), count, plugin == 0 ? "_new_xla" : "_old_xla");
}

INSTANTIATE_TEST_SUITE_P(All, MicroBatches, testing::ValuesIn(parameters()), parameter_name);

}  // namespace
}  // namespace alpa
