// Small programs with loops, branches, barriers and nested tuples: planned automatically on several meshes, they give
// the values of one device and move the bytes predicted.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

#include "alpa/base/error.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/proto_io.h"
#include "op_harness.h"
#include "random_programs.h"

namespace alpa::property {
namespace {

using hlo::ComputationBuilder;
using hlo::ComputationId;
using hlo::InstructionId;
using hlo::Module;
using hlo::ModuleBuilder;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

Shape f32(std::vector<int64_t> dims) { return Shape(DType::kF32, std::move(dims)); }
const Shape kCount(DType::kS32, {});

InstructionId matmul(ComputationBuilder& b, InstructionId x, InstructionId w) {
  return b.dot(f32({b.shape(x).dims[0], b.shape(w).dims[1]}), x, w, {{1}, {0}, {}, {}});
}

// for (i = 0; i < limit; ++i) h = tanh(h @ w), the limit a constant or, if negative, the third parameter.
Module loop(int64_t limit) {
  ModuleBuilder module("loop");
  const Shape carry = Shape::tuple({kCount, f32({16, 16}), f32({16, 16}), kCount});
  ComputationBuilder body("body");
  {
    const InstructionId state = body.parameter(carry);
    const InstructionId next =
        body.op(Opcode::kAdd, kCount, {body.get_tuple_element(state, 0), body.scalar(DType::kS32, 1)});
    const InstructionId w = body.get_tuple_element(state, 2);
    const InstructionId h = body.op(Opcode::kTanh, f32({16, 16}), {matmul(body, body.get_tuple_element(state, 1), w)});
    const InstructionId last = body.get_tuple_element(state, 3);
    const InstructionId root = body.tuple({next, h, w, last});
    const ComputationId body_id = module.add(std::move(body).build(root));
    ComputationBuilder condition("condition");
    const InstructionId inside = condition.parameter(carry);
    const InstructionId at = condition.get_tuple_element(inside, 0);
    const InstructionId bound =
        limit >= 0 ? condition.scalar(DType::kS32, static_cast<double>(limit)) : condition.get_tuple_element(inside, 3);
    const InstructionId test = condition.compare("LT", at, bound);
    const ComputationId condition_id = module.add(std::move(condition).build(test));
    ComputationBuilder main("main");
    const InstructionId h0 = main.parameter(f32({16, 16}));
    const InstructionId w0 = main.parameter(f32({16, 16}));
    const InstructionId n = main.parameter(kCount);
    const InstructionId init = main.tuple({main.scalar(DType::kS32, 0), h0, w0, n});
    const InstructionId result = main.calling(Opcode::kWhile, carry, {init}, {body_id, condition_id});
    const InstructionId out = main.tuple({main.get_tuple_element(result, 1), main.get_tuple_element(result, 0)});
    return std::move(module).build(std::move(main).build(out));
  }
}

// The loop's whole tuple is the program's result, without get-tuple-elements.
Module loop_as_root() {
  ModuleBuilder module("loop_as_root");
  const Shape carry = Shape::tuple({kCount, f32({8, 16})});
  ComputationBuilder body("body");
  const InstructionId state = body.parameter(carry);
  const InstructionId next =
      body.op(Opcode::kAdd, kCount, {body.get_tuple_element(state, 0), body.scalar(DType::kS32, 1)});
  const InstructionId x = body.get_tuple_element(state, 1);
  const InstructionId twice = body.op(Opcode::kAdd, f32({8, 16}), {x, x});
  const InstructionId root = body.tuple({next, twice});
  const ComputationId body_id = module.add(std::move(body).build(root));
  ComputationBuilder condition("condition");
  const InstructionId inside = condition.parameter(carry);
  const InstructionId test =
      condition.compare("LT", condition.get_tuple_element(inside, 0), condition.scalar(DType::kS32, 3));
  const ComputationId condition_id = module.add(std::move(condition).build(test));
  ComputationBuilder main("main");
  const InstructionId x0 = main.parameter(f32({8, 16}));
  const InstructionId init = main.tuple({main.scalar(DType::kS32, 0), x0});
  const InstructionId out = main.calling(Opcode::kWhile, carry, {init}, {body_id, condition_id});
  return std::move(module).build(std::move(main).build(out));
}

// if (n > 2) h = x @ w else h = x + 1, branches with a tuple and with an array as parameter.
Module branch() {
  ModuleBuilder module("branch");
  const Shape pair = Shape::tuple({f32({16, 16}), f32({16, 16})});
  ComputationBuilder yes("yes");
  const InstructionId both = yes.parameter(pair);
  const InstructionId product = matmul(yes, yes.get_tuple_element(both, 0), yes.get_tuple_element(both, 1));
  const ComputationId yes_id = module.add(std::move(yes).build(product));
  ComputationBuilder no("no");
  const InstructionId one = no.with_dimensions(Opcode::kBroadcast, f32({16, 16}), {no.scalar(DType::kF32, 1)}, {});
  const InstructionId sum = no.op(Opcode::kAdd, f32({16, 16}), {no.parameter(f32({16, 16})), one});
  const ComputationId no_id = module.add(std::move(no).build(sum));
  ComputationBuilder main("main");
  const InstructionId x = main.parameter(f32({16, 16}));
  const InstructionId w = main.parameter(f32({16, 16}));
  const InstructionId n = main.parameter(kCount);
  const InstructionId test = main.compare("GT", n, main.scalar(DType::kS32, 2));
  const InstructionId h =
      main.calling(Opcode::kConditional, f32({16, 16}), {test, main.tuple({x, w}), x}, {yes_id, no_id});
  const InstructionId out = matmul(main, h, w);
  return std::move(module).build(std::move(main).build(out));
}

// Both branches take and give a bare array, placed differently inside.
Module bare_branches() {
  ModuleBuilder module("bare_branches");
  ComputationBuilder yes("yes");
  const InstructionId x0 = yes.parameter(f32({16, 32}));
  const InstructionId turned = yes.with_dimensions(Opcode::kTranspose, f32({32, 16}), {x0}, {1, 0});
  const InstructionId root_of_yes = matmul(yes, x0, turned);
  const ComputationId yes_id = module.add(std::move(yes).build(root_of_yes));
  ComputationBuilder no("no");
  const InstructionId x1 = no.parameter(f32({16, 32}));
  const InstructionId root_of_no = no.slice(f32({16, 16}), x1, {{0, 16, 1}, {8, 24, 1}});
  const ComputationId no_id = module.add(std::move(no).build(root_of_no));
  ComputationBuilder main("main");
  const InstructionId x = main.parameter(f32({16, 32}));
  const InstructionId n = main.parameter(kCount);
  const InstructionId test = main.compare("GT", n, main.scalar(DType::kS32, 2));
  const InstructionId out = main.calling(Opcode::kConditional, f32({16, 16}), {test, x, x}, {yes_id, no_id});
  return std::move(module).build(std::move(main).build(out));
}

// A barrier over a nested tuple, taken apart again.
Module barrier() {
  ModuleBuilder module("barrier");
  ComputationBuilder main("main");
  const InstructionId x = main.parameter(f32({16, 16}));
  const InstructionId w = main.parameter(f32({16, 16}));
  const InstructionId inner = main.tuple({matmul(main, x, w), x});
  const InstructionId outer = main.tuple({inner, w});
  const InstructionId held = main.op(Opcode::kOptimizationBarrier, main.shape(outer), {outer});
  const InstructionId h = main.get_tuple_element(main.get_tuple_element(held, 0), 0);
  const InstructionId out = matmul(main, h, main.get_tuple_element(held, 1));
  return std::move(module).build(std::move(main).build(out));
}

// One value as two outputs, an input handed through, a constant and an iota as outputs.
Module odd_outputs() {
  ModuleBuilder module("odd_outputs");
  ComputationBuilder main("main");
  const InstructionId x = main.parameter(f32({16, 16}));
  const InstructionId w = main.parameter(f32({16, 16}));
  const InstructionId h = matmul(main, x, w);
  const InstructionId ramp = main.iota(f32({8, 4}), 0);
  return std::move(module).build(std::move(main).build(main.tuple({h, h, x, main.scalar(DType::kF32, 7), ramp})));
}

// Dims that no mesh of eight divides.
Module odd_shapes() {
  ModuleBuilder module("odd_shapes");
  ComputationBuilder main("main");
  const InstructionId x = main.parameter(f32({5, 7}));
  const InstructionId w = main.parameter(f32({7, 3}));
  const InstructionId empty = main.parameter(f32({0, 7}));
  const InstructionId h = matmul(main, x, w);
  return std::move(module).build(std::move(main).build(main.tuple({h, matmul(main, empty, w)})));
}

std::vector<tensor::Literal> run(const compiler::Program& program, const plan::Plan& plan, int64_t n,
                                 double* byte_error) {
  compiler::Compiled compiled = compiler::compile(program, plan, pjrt::eight_devices(0));
  std::mt19937 random(5);
  std::uniform_real_distribution<double> real(-1, 1);
  std::vector<tensor::Literal> inputs;
  for (const plan::TensorPlan& input : plan.inputs) {
    tensor::Literal literal(input.shape);
    for (int64_t k = 0; k < tensor::num_elements(input.shape); ++k)
      literal.set(k, tensor::is_integral(input.shape.dtype) ? static_cast<double>(n) : real(random));
    inputs.push_back(std::move(literal));
  }
  compiled.executable.set_inputs(inputs);
  compiled.executable.step();
  compiled.executable.sync();
  double found = 0;
  double predicted = 0;
  for (const auto& [kind, total] : compiled.found) found += total.bytes;
  for (const auto& [kind, total] : plan.collectives) predicted += total.bytes;
  *byte_error = std::abs(found - predicted);
  std::vector<tensor::Literal> outputs;
  for (size_t k = 0; k < plan.outputs.size(); ++k) outputs.push_back(compiled.executable.output(static_cast<int>(k)));
  return outputs;
}

struct ProgramCase {
  std::string name;
  std::function<Module()> build;
};

class Programs : public testing::TestWithParam<ProgramCase> {};

TEST_P(Programs, GiveTheValuesOfOneDeviceOnEveryMesh) {
  const compiler::Program program =
      compiler::load_program(hlo::write_module(GetParam().build()), GetParam().name, std::nullopt, {});
  compiler::PlanOptions options;
  options.cluster = mesh::local_cpu(8);
  options.method = compiler::Method::kNone;
  const plan::Plan single = compiler::plan_program(program, options);
  options.method = compiler::Method::kShard;
  for (const int64_t n : {1, 5}) {
    double ignored = 0;
    const auto expected = run(program, single, n, &ignored);
    for (const char* mesh : {"8", "2x4", "2x2x2"}) {
      SCOPED_TRACE(mesh);
      options.mesh = mesh::LogicalMesh::parse(mesh);
      double byte_error = 0;
      const auto got = run(program, compiler::plan_program(program, options), n, &byte_error);
      EXPECT_EQ(byte_error, 0);
      for (size_t k = 0; k < expected.size(); ++k) {
        for (int64_t at = 0; at < tensor::num_elements(expected[k].shape()); ++at) {
          ASSERT_NEAR(expected[k].at(at), got[k].at(at), 1e-4 * std::max(1.0, std::abs(expected[k].at(at))))
              << "output " << k;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Programs,
                         testing::Values(ProgramCase{"loop", [] { return loop(4); }},
                                         ProgramCase{"loop_of_no_turn", [] { return loop(0); }},
                                         ProgramCase{"loop_of_unknown_count", [] { return loop(-1); }},
                                         ProgramCase{"loop_as_root", loop_as_root}, ProgramCase{"branch", branch},
                                         ProgramCase{"bare_branches", bare_branches}, ProgramCase{"barrier", barrier},
                                         ProgramCase{"odd_outputs", odd_outputs},
                                         ProgramCase{"odd_shapes", odd_shapes}),
                         [](const auto& info) { return info.param.name; });

int64_t number(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

// ALPA_RANDOM_PROGRAMS programs from seed ALPA_RANDOM_SEED on; each one on a mesh of its own.
TEST(RandomPrograms, GiveTheValuesOfOneDeviceWhereNothingIsMerged) {
  const int64_t first = number("ALPA_RANDOM_SEED", 0);
  const int64_t count = number("ALPA_RANDOM_PROGRAMS", 30);
  const mesh::LogicalMesh one({1});
  const char* meshes[] = {"8", "2x4", "4x2", "2x2x2"};
  for (int64_t k = first; k < first + count; ++k) {
    const auto seed = static_cast<uint32_t>(k);
    const int plugin = k % 5 == 4 ? 1 : 0;
    const auto load = [&](bool held) {
      return compiler::load_program(hlo::write_module(random_program(seed, held)), "random", std::nullopt, {});
    };
    const compiler::Program held = load(true);
    const compiler::Program program = load(false);
    const auto inputs = edge_inputs(program, seed);
    const char* mesh = meshes[(k / 5) % 4];
    SCOPED_TRACE("seed " + std::to_string(k) + ", plug-in " + std::to_string(plugin) + ", mesh " + mesh);
    try {
      const auto expected = property::run(held, random_plan(held, one, seed), inputs, plugin).outputs;
      const auto single = property::run(program, random_plan(program, one, seed), inputs, plugin).outputs;
      for (uint32_t way = 0; way < 3; ++way) {
        const auto plan = random_plan(program, mesh::LogicalMesh::parse(mesh), 3 * seed + way);
        const auto divided = property::run(program, plan, inputs, plugin).outputs;
        for (size_t output = 0; output < expected.size(); ++output) {
          EXPECT_LE(difference(expected[output], single[output]), 1e-4) << "output " << output << " on one device";
          EXPECT_LE(difference(expected[output], divided[output]), 1e-4) << "output " << output << ", way " << way;
        }
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace alpa::property
