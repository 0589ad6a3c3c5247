// What programs look like as text. When a change is meant, copy the file that a failure names over the one here.
#include <gtest/gtest.h>

#include "alpa/base/file.h"
#include "alpa/base/output_file.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/load.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/text.h"

namespace alpa::hlo {
namespace {

using tensor::DType;
using tensor::Shape;

void expect_golden(const std::string& file, const std::string& text) {
  const std::string actual = std::string(ALPA_GOLDEN_OUT "/") + file;
  write_file(actual, text);
  EXPECT_EQ(read_file(std::string(ALPA_GOLDEN "/") + file), text) << "the text is now that of " << actual;
}

Shape f32(std::vector<int64_t> dims) { return Shape(DType::kF32, std::move(dims)); }

// One of each form of attribute.
Module forms() {
  ModuleBuilder module("forms");
  const ComputationId add = module.reducer(Opcode::kAdd, DType::kF32);
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({2, 8, 8, 4}), "state['x']");
  const InstructionId kernel = b.parameter(f32({3, 3, 4, 6}));
  const InstructionId indices = b.parameter(Shape(DType::kS32, {5, 1}));
  const WindowDim same{3, 1, 1, 1, 1, 1, false};
  const InstructionId image = b.convolution(f32({2, 8, 8, 6}), x, kernel, {same, {3, 2, 1, 8, 1, 1, true}},
                                            {0, 3, 2, 3, 0, 3, {1, 2}, {0, 1}, {1, 2}, 1, 1});
  const InstructionId zero = b.scalar(DType::kF32, 0);
  const InstructionId sum = b.with_dimensions(Opcode::kReduce, f32({2, 6}), {image, zero}, {1, 2}, {add});
  const InstructionId rows = b.gather(f32({5, 6}), sum, indices, {{1}, {0}, {0}, {}, {}, {1, 6}, 1});
  const InstructionId product = b.dot(f32({5, 5}), rows, rows, {{1}, {1}, {}, {}});
  const InstructionId part = b.slice(f32({2, 3}), product, {{1, 3, 1}, {0, 5, 2}});
  const InstructionId padded = b.pad(f32({4, 5}), part, b.scalar(DType::kF32, -1.5), {{1, 1, 0}, {0, 0, 1}});
  const InstructionId large = b.compare("GT", padded, b.with_dimensions(Opcode::kBroadcast, f32({4, 5}), {zero}, {}));
  Computation entry = std::move(b).build(b.tuple({x, large}));
  sharding::OpSharding tiled;
  tiled.type = sharding::OpSharding::Type::kOther;
  tiled.tile_dims = {4, 1, 1, 1, 2};
  tiled.iota_reshape = {2, 4};
  tiled.iota_perm = {1, 0};
  tiled.replicate_on_last_tile_dim = true;
  set_sharding(entry[x], tiled);
  set_sharding(entry[kernel], sharding::OpSharding{});
  Module built = std::move(module).build(std::move(entry));
  set_input_output_aliases(built, {{0, 0}});
  return built;
}

TEST(Golden, FormsOfText) {
  const Module module = forms();
  const std::string text = to_text(module);
  expect_golden("forms.hlo.txt", text);
  EXPECT_TRUE(write_module(parse_text(text)) == write_module(module));
}

TEST(Golden, FirstLinesOfAModel) {
  const std::string text = to_text(read_module(unpack(read_file(ALPA_TEST_DATA "/models/mlp/train_step.hlo.pb.xz"))));
  size_t end = 0;
  for (int line = 0; line < 60; ++line) end = text.find('\n', end) + 1;
  expect_golden("mlp_head.txt", text.substr(0, end));
}

}  // namespace
}  // namespace alpa::hlo
