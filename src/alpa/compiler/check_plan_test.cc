#include "alpa/compiler/check_plan.h"

#include "alpa/compiler/plan_program.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/testing/programs.h"

namespace alpa::compiler {
namespace {

Program loaded(const hlo::BuildEntry& build) {
  return load_program(hlo::write_module(hlo::program(build)), "test", std::nullopt, {});
}

plan::Plan planned(const Program& program, const char* mesh) {
  PlanOptions options;
  options.mesh = mesh::LogicalMesh::parse(mesh);
  options.cluster = mesh::local_cpu(options.mesh->num_devices());
  return plan_program(program, options);
}

// The plan with other placements of the program's last operation.
void place(plan::Plan& plan, const std::string& name, const std::vector<std::string>& operands,
           const std::string& result) {
  plan.operands[name].clear();
  for (const std::string& text : operands) plan.operands[name].push_back(sharding::parse_spec(text, plan.mesh, -1));
  plan.ops.at(name) = {sharding::parse_spec(result, plan.mesh, -1)};
  plan.outputs.at(0).spec = plan.ops.at(name)[0];
}

Program depthwise() {
  return loaded([](hlo::ModuleBuilder&, hlo::ComputationBuilder& b) {
    const hlo::WindowDim same{3, 1, 1, 1, 1, 1, false};
    hlo::ConvolutionDims dims{0, 3, 2, 3, 0, 3, {1, 2}, {0, 1}, {1, 2}, 8, 1};
    const hlo::InstructionId x = b.parameter(hlo::f32({8, 8, 8, 8}));
    return b.convolution(hlo::f32({8, 8, 8, 8}), x, b.parameter(hlo::f32({3, 3, 1, 8})), {same, same}, dims);
  });
}

TEST(CheckStrategies, TakesWhatThePlannerGives) {
  const Program program = depthwise();
  for (const char* mesh : {"8", "2x2", "2x2x2"}) EXPECT_NO_THROW(check_strategies(program, planned(program, mesh)));
}

TEST(CheckStrategies, TakesEveryWayOfTheRuleAndNoOtherOfAGroupedConvolution) {
  const Program program = depthwise();
  plan::Plan plan = planned(program, "2x2");
  const std::string name = program.module.entry_computation()[program.module.entry_computation().root].name;
  const auto refused = [&](const std::vector<std::string>& operands, const std::string& result) {
    place(plan, name, operands, result);
    try {
      check_strategies(program, plan);
      return false;
    } catch (const InvalidArgumentError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
      return true;
    }
  };
  const std::string whole = "(None,None,None,None)";
  EXPECT_FALSE(refused({"(x,None,None,None)", whole}, "(x,None,None,None)"));
  EXPECT_FALSE(refused({"(None,None,None,y)", "(None,None,None,y)"}, "(None,None,None,y)"));
  EXPECT_TRUE(refused({"(x,None,None,None)", whole}, "(y,None,None,None)"));
  EXPECT_TRUE(refused({"(None,y,None,None)", whole}, "(None,y,None,None)"));
  EXPECT_TRUE(refused({whole, "(None,None,None,x)"}, "(None,None,None,x)"));
  EXPECT_TRUE(refused({"(x,None,None,None)", whole}, whole));
}

// Placements that stock XLA is known to compute wrongly.
TEST(CheckStrategies, RefusesADynamicSliceOfADividedDim) {
  const Program program = loaded([](hlo::ModuleBuilder&, hlo::ComputationBuilder& b) {
    const hlo::InstructionId x = b.parameter(hlo::f32({16, 32}));
    const hlo::InstructionId row = b.parameter(hlo::s32({}));
    return b.dynamic_slice(hlo::f32({16, 8}), {x, row, b.parameter(hlo::s32({}))});
  });
  plan::Plan plan = planned(program, "4");
  const std::string name = program.module.entry_computation()[program.module.entry_computation().root].name;
  place(plan, name, {"(x,None)", "()", "()"}, "(x,None)");
  EXPECT_NO_THROW(check_strategies(program, plan));
  place(plan, name, {"(None,x)", "()", "()"}, "(None,x)");
  EXPECT_THROW(check_strategies(program, plan), InvalidArgumentError);
}

TEST(CheckStrategies, RefusesAnAxisOfOne) {
  const Program program = depthwise();
  plan::Plan plan = planned(program, "4x1");
  const std::string name = program.module.entry_computation()[program.module.entry_computation().root].name;
  place(plan, name, {"(y,None,None,None)", "(None,None,None,None)"}, "(y,None,None,None)");
  EXPECT_THROW(check_strategies(program, plan), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa::compiler
