#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "alpa/base/error.h"
#include "alpa/hlo/builder.h"

/// Small programs for tests.
namespace alpa::hlo {

using tensor::DType;
using tensor::Shape;

inline Shape f32(std::vector<int64_t> dims) { return Shape(DType::kF32, std::move(dims)); }
inline Shape s32(std::vector<int64_t> dims) { return Shape(DType::kS32, std::move(dims)); }
inline Shape pred(std::vector<int64_t> dims) { return Shape(DType::kPred, std::move(dims)); }

using BuildEntry = std::function<InstructionId(ModuleBuilder&, ComputationBuilder&)>;

/// A program whose entry `build` fills; it returns the root.
inline Module program(const BuildEntry& build) {
  ModuleBuilder module("test");
  ComputationBuilder entry("main");
  const InstructionId root = build(module, entry);
  return std::move(module).build(std::move(entry).build(root));
}

/// A computation of one parameter, `shape`, and what `build` makes of it.
inline ComputationId unary(ModuleBuilder& module, const std::string& name, const Shape& shape,
                           const std::function<InstructionId(ComputationBuilder&, InstructionId)>& build) {
  ComputationBuilder builder(name);
  const InstructionId parameter = builder.parameter(shape);
  const InstructionId root = build(builder, parameter);
  return module.add(std::move(builder).build(root));
}

/// A loop over (s32 counter, f32[4]) that counts from `start` by `step` while it is `direction` `limit` and calls
/// nothing else.
struct Loop {
  double start = 0;
  double step = 1;
  double limit = 10;
  std::string direction = "LT";
};
inline InstructionId add_loop(ModuleBuilder& module, ComputationBuilder& b, const Loop& loop,
                              const std::function<InstructionId(ComputationBuilder&, InstructionId)>& work) {
  static const Shape kCounter = s32({});
  const Shape value = f32({4});
  const Shape state = Shape::tuple({kCounter, value});
  const ComputationId body = unary(module, "body", state, [&](ComputationBuilder& c, InstructionId p) {
    const InstructionId next =
        c.op(Opcode::kAdd, kCounter, {c.get_tuple_element(p, 0), c.scalar(DType::kS32, loop.step)});
    const InstructionId result = work(c, c.get_tuple_element(p, 1));
    return c.tuple({next, result});
  });
  const ComputationId condition = unary(module, "condition", state, [&](ComputationBuilder& c, InstructionId p) {
    const InstructionId counter = c.get_tuple_element(p, 0);
    return c.compare(loop.direction, counter, c.scalar(DType::kS32, loop.limit));
  });
  const InstructionId start = b.scalar(DType::kS32, loop.start);
  const InstructionId init = b.tuple({start, b.parameter(value)});
  return b.calling(Opcode::kWhile, state, {init}, {body, condition});
}

}  // namespace alpa::hlo
