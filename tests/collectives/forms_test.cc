// Each form that the passes rewrite, in programs written by hand, run before and after on both plug-ins. Values are
// whole numbers, so that results are equal to the bit.

#include "forms.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "alpa/hlo/edit.h"
#include "alpa/mesh/logical_mesh.h"
#include "alpa/passes/combine_collectives.h"
#include "alpa/passes/drop_dead_collectives.h"
#include "alpa/passes/merge_all_gathers.h"
#include "alpa/passes/merge_all_reduces.h"
#include "alpa/passes/reduce_scatter_forming.h"

namespace alpa::collectives {
namespace {

void expect_same(const Module& before, const Module& after, double tolerance = 0) {
  const PerDevice inputs = whole_numbers(before);
  for (const int plugin : {0, 1})
    EXPECT_LE(difference(run(before, inputs, plugin), run(after, inputs, plugin)), tolerance) << "plug-in " << plugin;
}

Module formed(const Module& module) { return passes::reduce_scatter_forming(module, kDevices); }
Module combined(const Module& module) { return passes::combine_collectives(module, kDevices); }
Module merged(const Module& module) { return passes::merge_all_reduces(module, kDevices); }
Module gathered_once(const Module& module) { return passes::merge_all_gathers(module, kDevices); }
Module dropped(const Module& module) { return passes::drop_dead_collectives(module, kDevices); }

/// Ways from an all-reduce to its slice.
enum class Way { kStraight, kTransposed, kReshaped, kCopied };

/// [16, 24, 8], as `way` makes it.
InstructionId gone(ComputationBuilder& b, InstructionId value, Way way) {
  switch (way) {
    case Way::kStraight: return value;
    case Way::kTransposed: return b.with_dimensions(Opcode::kTranspose, f32({8, 16, 24}), {value}, {2, 0, 1});
    case Way::kReshaped: return b.op(Opcode::kReshape, f32({1, 16, 192}), {value});
    case Way::kCopied: return b.op(Opcode::kNegate, b.shape(value), {b.op(Opcode::kCopy, b.shape(value), {value})});
  }
  return value;
}

class ReduceScatterForming : public testing::TestWithParam<std::tuple<size_t, int, bool>> {};

// Every all-reduce over axes and every slice of its first two dims over axes, all in one program.
TEST_P(ReduceScatterForming, KeepsEveryNumber) {
  const Mesh& mesh = kMeshes[std::get<0>(GetParam())];
  const auto way = static_cast<Way>(std::get<1>(GetParam()));
  const bool reversed = std::get<2>(GetParam());
  int64_t all_reduces = 0;
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId x = b.parameter(f32({16, 24, 8}));
    std::vector<InstructionId> results;
    for (Axes over = 1; over <= mesh.all(); ++over) {
      for (Axes first = 0; first <= mesh.all(); ++first) {
        for (Axes second = 0; second <= mesh.all(); ++second) {
          if ((first & second) != 0 || (first | second) == 0) continue;
          const InstructionId scaled =
              b.op(Opcode::kAdd, f32({16, 24, 8}),
                   {x, b.with_dimensions(Opcode::kBroadcast, f32({16, 24, 8}),
                                         {b.scalar(DType::kF32, static_cast<double>(++all_reduces))}, {})});
          const InstructionId all =
              b.collective(Opcode::kAllReduce, f32({16, 24, 8}), {scaled}, mesh.groups(over), std::nullopt, sum);
          std::vector<Axes> axes{first, second, 0};
          if (way == Way::kReshaped) axes = {0, first, second};
          results.push_back(sliced(b, mesh, gone(b, all, way), axes, reversed));
        }
      }
    }
    return b.tuple(results);
  });
  const Module after = formed(before);
  EXPECT_LE(bytes(after, "all-reduce") + bytes(after, "reduce-scatter"), bytes(before, "all-reduce"));
  EXPECT_GT(count(after, "reduce-scatter"), 0);
  expect_same(before, after);
  expect_same(before, combined(after));
}

// Covering: every way on the smaller meshes, one on the largest, one in reverse; ALPA_FULL_MATRIX=1: all.
std::vector<std::tuple<size_t, int, bool>> form_cases() {
  std::vector<std::tuple<size_t, int, bool>> cases;
  const bool full = std::getenv("ALPA_FULL_MATRIX") != nullptr;
  for (size_t mesh = 0; mesh < kMeshes.size(); ++mesh) {
    for (int way = 0; way < 4; ++way) {
      for (const bool reversed : {false, true}) {
        const bool covering = reversed ? way == 0 && mesh == 1 : mesh < 2 || way == 1;
        if (full || covering) cases.emplace_back(mesh, way, reversed);
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, ReduceScatterForming, testing::ValuesIn(form_cases()));

struct Sliced {
  Axes over;                ///< Of the all-reduce, on mesh 2x4: 1 is x, 2 is y.
  std::vector<Axes> parts;  ///< Of each dim.
  double all_reduces;
  double all_reduce_bytes;
  double reduce_scatters;
  double reduce_scatter_bytes;
};

// Of f32[16,24,8], 12,288 bytes.
TEST(ReduceScatterForming, MakesOfEachFormWhatItSays) {
  const Mesh& mesh = kMeshes[1];
  const std::vector<Sliced> forms = {
      {3, {3, 0, 0}, 0, 0, 1, 12288},     // all divide one dim
      {2, {0, 2, 0}, 0, 0, 1, 12288},     // a group divides one dim
      {3, {0, 2, 0}, 1, 3072, 1, 12288},  // y divides, x keeps the same part
      {2, {1, 0, 0}, 1, 6144, 0, 0},      // the group keeps one part: cut first
      {2, {1, 2, 0}, 0, 0, 1, 6144},      // one dim cut first, one divided
      {1, {3, 0, 0}, 0, 0, 1, 3072},      // x divides runs of y's parts
      {2, {3, 0, 0}, 0, 0, 1, 6144},      // y divides the parts of one run
      {3, {1, 2, 0}, 1, 12288, 0, 0},     // two dims: left alone
  };
  for (size_t k = 0; k < forms.size(); ++k) {
    const Sliced& form = forms[k];
    const Module after = formed(hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
      const InstructionId all =
          b.collective(Opcode::kAllReduce, f32({16, 24, 8}), {b.parameter(f32({16, 24, 8}))}, mesh.groups(form.over),
                       std::nullopt, m.reducer(Opcode::kAdd, DType::kF32));
      return sliced(b, mesh, all, form.parts);
    }));
    EXPECT_EQ(count(after, "all-reduce"), form.all_reduces) << k;
    EXPECT_EQ(bytes(after, "all-reduce"), form.all_reduce_bytes) << k;
    EXPECT_EQ(count(after, "reduce-scatter"), form.reduce_scatters) << k;
    EXPECT_EQ(bytes(after, "reduce-scatter"), form.reduce_scatter_bytes) << k;
  }
}

TEST(ReduceScatterForming, LeavesAloneWhatElseUsesTheSum) {
  const Mesh& mesh = kMeshes[0];
  const auto uses = [&](int kind) {
    return formed(hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
      const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
      const InstructionId start = b.parameter(hlo::s32({}));
      const InstructionId all =
          b.collective(Opcode::kAllReduce, f32({16}), {b.parameter(f32({16}))}, mesh.groups(1), std::nullopt, sum);
      const InstructionId part = sliced(b, mesh, all, {1});
      switch (kind) {
        case 0: return b.tuple({part, all});                                      // the whole is a result
        case 1: return b.tuple({part, b.op(Opcode::kExp, f32({16}), {all})});     // and is used
        case 2: return b.tuple({part, b.dynamic_slice(f32({2}), {all, start})});  // an offset from outside
        case 3: return b.tuple({part, b.slice(f32({2}), all, {{0, 2, 1}})});      // another part
        default: return b.tuple({part, sliced(b, mesh, all, {1})});               // the same part
      }
    }));
  };
  for (const int kind : {0, 1, 2, 3}) EXPECT_EQ(count(uses(kind), "reduce-scatter"), 0) << kind;
  EXPECT_EQ(count(uses(4), "reduce-scatter"), 1);
}

TEST(CombineCollectives, CombinesWhatDoesNotWait) {
  const Mesh& mesh = kMeshes[1];
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const auto reduce = [&](InstructionId x, Axes axes) {
      return b.collective(Opcode::kAllReduce, b.shape(x), {x}, mesh.groups(axes), std::nullopt, sum);
    };
    const InstructionId x = b.parameter(f32({16, 8}));
    const InstructionId y = b.parameter(f32({}));
    const InstructionId a = reduce(x, 1);
    const InstructionId c = reduce(y, 1);                                         // with a
    const InstructionId d = reduce(b.op(Opcode::kNegate, f32({16, 8}), {a}), 1);  // waits for a
    const InstructionId e = reduce(b.op(Opcode::kNegate, f32({}), {c}), 1);       // waits for c, so for a: with d
    const InstructionId f = reduce(x, 2);                                         // other groups
    return b.tuple({a, c, d, e, f});
  });
  const Module after = combined(before);
  EXPECT_EQ(count(after, "all-reduce"), 3);
  EXPECT_EQ(bytes(after, "all-reduce"), bytes(before, "all-reduce"));
  expect_same(before, after);
}

// Two groups that would wait for each other, each through another member.
TEST(CombineCollectives, MakesNoCycle) {
  const Mesh& mesh = kMeshes[1];
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const auto reduce = [&](InstructionId x, Axes axes) {
      return b.collective(Opcode::kAllReduce, b.shape(x), {x}, mesh.groups(axes), std::nullopt, sum);
    };
    const InstructionId x = b.parameter(f32({16, 8}));
    const InstructionId y = b.parameter(f32({4}));
    const InstructionId a1 = reduce(x, 1);
    const InstructionId b1 = reduce(a1, 2);
    const InstructionId b2 = reduce(y, 2);
    const InstructionId a2 = reduce(b2, 1);
    return b.tuple({a1, b1, b2, a2});
  });
  const Module after = combined(before);
  EXPECT_EQ(count(after, "all-reduce"), 3);
  expect_same(before, after);
}

TEST(CombineCollectives, KeepsTheLimit) {
  const Mesh& mesh = kMeshes[0];
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    std::vector<InstructionId> results;
    for (int k = 0; k < 5; ++k)
      results.push_back(
          b.collective(Opcode::kAllReduce, f32({100}), {b.parameter(f32({100}))}, mesh.groups(1), std::nullopt, sum));
    return b.tuple(results);
  });
  EXPECT_EQ(count(passes::combine_collectives(before, kDevices, 2000), "all-reduce"), 1);
  EXPECT_EQ(count(passes::combine_collectives(before, kDevices, 1999), "all-reduce"), 2);
  EXPECT_EQ(count(passes::combine_collectives(before, kDevices, 399), "all-reduce"), 5);
}

// Along every dim, of shapes of every rank, and after transposes, by which layouts differ.
Module every_dim(Opcode opcode, const Mesh& mesh, Axes axes) {
  return hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const int64_t size = mesh.size(axes);
    std::vector<InstructionId> results;
    for (const std::vector<int64_t>& dims :
         std::vector<std::vector<int64_t>>{{16}, {8, 24}, {24, 16}, {16, 8, 24}, {8, 16, 8, 24}}) {
      for (int64_t dim = 0; dim < static_cast<int64_t>(dims.size()); ++dim) {
        const auto at = static_cast<size_t>(dim);
        InstructionId x = b.parameter(f32(dims));
        if (dims.size() == 2) x = b.with_dimensions(Opcode::kTranspose, f32({dims[1], dims[0]}), {x}, {1, 0});
        Shape result = b.shape(x);
        if (opcode == Opcode::kAllGather) result.dims[at] *= size;
        if (opcode == Opcode::kReduceScatter) result.dims[at] /= size;
        results.push_back(b.collective(opcode, result, {x}, mesh.groups(axes), dim,
                                       opcode == Opcode::kReduceScatter ? std::optional(sum) : std::nullopt));
        if (dims.size() == 3)
          results.back() = b.with_dimensions(Opcode::kTranspose, f32({result.dims[2], result.dims[0], result.dims[1]}),
                                             {results.back()}, {2, 0, 1});
      }
    }
    return b.tuple(results);
  });
}

TEST(CombineCollectives, CombinesEveryKindAlongEveryDim) {
  for (const Opcode opcode : {Opcode::kAllGather, Opcode::kReduceScatter, Opcode::kAllToAll}) {
    for (const Axes axes : {1u, 2u, 3u}) {
      const Module before = every_dim(opcode, kMeshes[1], axes);
      const Module after = passes::combine_collectives(before, kDevices, int64_t{1} << 40);
      EXPECT_EQ(count(after, std::string(hlo::name(opcode))), 1) << hlo::name(opcode);
      EXPECT_EQ(bytes(after, std::string(hlo::name(opcode))), bytes(before, std::string(hlo::name(opcode))));
      expect_same(before, after);
    }
  }
}

TEST(CombineCollectives, WorksInsideLoops) {
  const Mesh& mesh = kMeshes[0];
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    return add_loop(m, b, {.limit = 3}, [&](ComputationBuilder& c, InstructionId x) {
      const auto reduce = [&](InstructionId value) {
        return c.collective(Opcode::kAllReduce, f32({4}), {value}, mesh.groups(1), std::nullopt, sum);
      };
      const InstructionId minus = c.op(Opcode::kNegate, f32({4}), {x});
      return c.op(Opcode::kMultiply, f32({4}), {reduce(x), reduce(minus)});
    });
  });
  EXPECT_EQ(count(before, "all-reduce"), 6);
  EXPECT_EQ(count(combined(before), "all-reduce"), 3);
  expect_same(before, combined(before), 1e-6);
}

TEST(MergeAllReduces, AddsBeforeItSums) {
  const Mesh& mesh = kMeshes[1];
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const auto reduce = [&](InstructionId x, Axes axes) {
      return b.collective(Opcode::kAllReduce, b.shape(x), {x}, mesh.groups(axes), std::nullopt, sum);
    };
    const Shape shape = f32({6, 4});
    const InstructionId x = reduce(b.parameter(shape), 3);
    const InstructionId y = b.with_dimensions(Opcode::kTranspose, shape, {reduce(b.parameter(f32({4, 6})), 3)}, {1, 0});
    const InstructionId z = b.op(Opcode::kReshape, shape, {reduce(b.parameter(f32({24})), 3)});
    const InstructionId half = b.with_dimensions(Opcode::kBroadcast, shape, {b.scalar(DType::kF32, 0.5)}, {});
    const InstructionId scaled = b.op(Opcode::kMultiply, shape, {half, z});
    const InstructionId first = b.op(Opcode::kAdd, shape, {x, y});
    return b.op(Opcode::kSubtract, shape, {first, b.op(Opcode::kNegate, shape, {scaled})});
  });
  EXPECT_EQ(count(merged(before), "all-reduce"), 1);
  expect_same(before, merged(before));
}

/// A sum over the axes `over` of what the devices have, of which each keeps a part along a dim.
struct KeptSum {
  ModuleBuilder& m;
  ComputationBuilder& b;
  const Mesh& mesh;
  Axes over;
  Axes kept;

  InstructionId reduce(const Shape& shape) const {
    return b.collective(Opcode::kAllReduce, shape, {b.parameter(shape)}, mesh.groups(over), std::nullopt,
                        m.reducer(Opcode::kAdd, shape.dtype));
  }
  InstructionId at_once(InstructionId value) const { return sliced(b, mesh, value, {kept, 0}); }
  InstructionId axis_by_axis(InstructionId value, size_t dim) const {
    for (size_t axis = 0; axis < mesh.sizes.size(); ++axis) {
      std::vector<Axes> axes{0, 0};
      axes[dim] = kept & 1u << axis;
      if (axes[dim] != 0) value = sliced(b, mesh, value, axes);
    }
    return value;
  }
  InstructionId transpose(const Shape& shape, InstructionId value) const {
    return b.with_dimensions(Opcode::kTranspose, shape, {value}, {1, 0});
  }
};

// -(x - y) + y' / 2, of [24,16], where the first dim is kept in part, by ways of every kind.
InstructionId sum_of_parts(const KeptSum& of) {
  ComputationBuilder& b = of.b;
  const Shape part = f32({24 / of.mesh.size(of.kept), 16});
  const InstructionId x = b.op(Opcode::kCopy, part, {of.at_once(of.reduce(f32({24, 16})))});
  const InstructionId y = of.axis_by_axis(of.transpose(f32({24, 16}), of.reduce(f32({16, 24}))), 0);
  const InstructionId after_slice = of.transpose(part, of.axis_by_axis(of.reduce(f32({16, 24})), 1));
  const InstructionId half = b.with_dimensions(Opcode::kBroadcast, part, {b.scalar(DType::kF32, 0.5)}, {});
  const InstructionId scaled = b.op(Opcode::kMultiply, part, {half, after_slice});
  const InstructionId first = b.op(Opcode::kNegate, part, {b.op(Opcode::kSubtract, part, {x, y})});
  return b.op(Opcode::kAdd, part, {first, scaled});
}

TEST(MergeAllReduces, TakesOfTheSumWhatEachDeviceKeepsOfEach) {
  for (const Mesh& mesh : kMeshes) {
    double sums = 0;
    double scattered = 0;
    const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
      std::vector<InstructionId> results;
      for (Axes over = 1; over <= mesh.all(); ++over) {
        for (Axes kept = 1; kept <= mesh.all(); ++kept) {
          results.push_back(sum_of_parts({m, b, mesh, over, kept}));
          sums += 1;
          scattered += (over & kept) != 0 ? 1 : 0;
        }
      }
      return b.tuple(results);
    });
    const Module after = merged(before);
    EXPECT_EQ(count(before, "all-reduce"), 3 * sums);
    EXPECT_EQ(count(after, "all-reduce"), sums);
    EXPECT_EQ(bytes(after, "all-reduce"), sums * 24 * 16 * 4);
    EXPECT_GE(count(formed(after), "reduce-scatter"), scattered);
    expect_same(before, after);
    expect_same(before, formed(after));
  }
}

TEST(MergeAllReduces, LeavesAloneOtherParts) {
  const Mesh& mesh = kMeshes[1];
  const auto reduces_left = [&](int kind) {
    const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
      const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
      const auto reduce = [&](const Shape& shape) {
        return b.collective(Opcode::kAllReduce, shape, {b.parameter(shape)}, mesh.groups(3), std::nullopt, sum);
      };
      const Shape part = f32({2, 16});
      const InstructionId x = reduce(f32({16, 16}));
      const InstructionId y = reduce(kind == 4 ? f32({4, 16}) : f32({16, 16}));
      const InstructionId of_x = sliced(b, mesh, x, {3, 0});
      const auto with = [&](InstructionId other) { return b.op(Opcode::kAdd, part, {of_x, other}); };
      const InstructionId of_y = sliced(b, mesh, y, {kind == 4 ? 1u : 3u, 0}, kind == 1);
      switch (kind) {
        case 0: return with(of_y);
        case 1: return with(of_y);                                                      // in reverse: of another place
        case 2: return b.tuple({with(of_y), b.op(Opcode::kNegate, b.shape(x), {x})});   // the whole is wanted too
        case 3: return with(b.op(Opcode::kMultiply, part, {of_y, b.parameter(part)}));  // a factor for each device
        case 4: return with(of_y);                                                      // of another array
        case 5: return with(b.slice(part, y, {{0, 2, 1}, {0, 16, 1}}));                 // the same for all devices
        default: return with(b.dynamic_slice(part, {y, b.parameter(hlo::s32({})), b.scalar(DType::kS32, 0)}));
      }
    });
    const Module after = merged(before);
    expect_same(before, after);
    return count(after, "all-reduce");
  };
  EXPECT_EQ(reduces_left(0), 1);
  for (const int kind : {1, 2, 3, 4, 5, 6}) EXPECT_EQ(reduces_left(kind), 2) << kind;
}

TEST(MergeAllReduces, LeavesAloneWhatIsNoSumOfTheSame) {
  const Mesh& mesh = kMeshes[1];
  const Shape shape = f32({6});
  const auto reduces_left = [&](int kind) {
    return count(
        merged(hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
          const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
          const ComputationId most = m.reducer(Opcode::kMaximum, DType::kF32);
          const InstructionId here = b.parameter(shape);  // another value on each device
          const InstructionId x = b.collective(Opcode::kAllReduce, shape, {here}, mesh.groups(1), std::nullopt, sum);
          const InstructionId y = b.collective(Opcode::kAllReduce, shape, {b.parameter(shape)},
                                               mesh.groups(kind == 1 ? 2 : 1), std::nullopt, kind == 2 ? most : sum);
          switch (kind) {
            case 3: return b.tuple({b.op(Opcode::kAdd, shape, {x, y}), x});  // the sum alone is wanted too
            case 4: return b.op(Opcode::kAdd, shape, {b.op(Opcode::kMultiply, shape, {x, here}), y});
            case 5: return b.op(Opcode::kAdd, shape, {b.op(Opcode::kExp, shape, {x}), y});
            case 6: return b.op(Opcode::kMultiply, shape, {x, y});
            case 7: return b.op(Opcode::kAdd, shape, {b.op(Opcode::kConvert, shape, {x}), y});
            default: return b.op(Opcode::kAdd, shape, {x, y});
          }
        })),
        "all-reduce");
  };
  EXPECT_EQ(reduces_left(0), 1);
  for (const int kind : {1, 2, 3, 4, 5, 6, 7}) EXPECT_EQ(reduces_left(kind), 2) << kind;
}

InstructionId gather(ComputationBuilder& b, const Mesh& mesh, InstructionId value, Axes axes, int64_t dim) {
  Shape all = b.shape(value);
  all.dims[static_cast<size_t>(dim)] *= mesh.size(axes);
  return b.collective(Opcode::kAllGather, all, {value}, mesh.groups(axes), dim);
}

TEST(MergeAllGathers, GathersOnceWhatWasGatheredAxisByAxis) {
  const std::vector<std::vector<Axes>> orders = {{1}, {2, 1}, {4, 2, 1}};  // of the axes, by mesh: the minor-most first
  for (size_t m = 0; m < kMeshes.size(); ++m) {
    const Module before = hlo::program([&](ModuleBuilder&, ComputationBuilder& b) {
      std::vector<InstructionId> results;
      for (const int64_t dim : {0, 1, 2}) {
        for (const bool reversed : {false, true}) {  // reversed: another order of the tiles
          InstructionId value = b.parameter(f32({2, 3, 4}));
          std::vector<Axes> order = orders[m];
          if (reversed) std::reverse(order.begin(), order.end());
          for (const Axes axes : order) {
            const InstructionId all = gather(b, kMeshes[m], value, axes, dim);
            value = b.op(Opcode::kCopy, b.shape(all), {all});
          }
          results.push_back(value);
        }
      }
      return b.tuple(results);
    });
    const Module after = gathered_once(before);
    EXPECT_EQ(count(after, "all-gather"), 6) << m;
    EXPECT_EQ(bytes(after, "all-gather"), 6 * 8 * 24 * 4) << m;
    expect_same(before, after);
    expect_same(before, combined(after));
  }
}

TEST(MergeAllGathers, LeavesAloneWhatIsNotOne) {
  const Mesh& mesh = kMeshes[1];
  const auto gathers_left = [&](int kind) {
    const Module before = hlo::program([&](ModuleBuilder&, ComputationBuilder& b) {
      const InstructionId x = b.parameter(f32({2, 3}));
      const InstructionId first = gather(b, mesh, x, 2, 0);
      const auto more = [&](const ReplicaGroups& groups) {
        return b.collective(Opcode::kAllGather, f32({16, 3}), {first}, groups, 0);
      };
      switch (kind) {
        case 0: return more({{0, 5}, {1, 4}, {2, 6}, {3, 7}});  // all have the same tiles in the same order
        case 1: return more({{0, 4}, {5, 1}, {2, 6}, {3, 7}});  // in another order
        case 2: return more({{0, 1}, {2, 3}, {4, 5}, {6, 7}});  // the same tiles twice
        case 3: return gather(b, mesh, first, 1, 1);            // along another dim
        case 4: return b.tuple({gather(b, mesh, first, 1, 0), first});
        default: return gather(b, mesh, b.op(Opcode::kNegate, b.shape(first), {first}), 1, 0);
      }
    });
    const Module after = gathered_once(before);
    expect_same(before, after);
    return count(after, "all-gather");
  };
  EXPECT_EQ(gathers_left(0), 1);
  for (const int kind : {1, 2, 3, 4, 5}) EXPECT_EQ(gathers_left(kind), 2) << kind;
}

TEST(DropDeadCollectives, DropsWhatNeedNotRun) {
  const Mesh& mesh = kMeshes[1];
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId x = b.parameter(f32({4, 8}));
    const auto reduce = [&](InstructionId value, Axes axes) {
      return b.collective(Opcode::kAllReduce, b.shape(value), {value}, mesh.groups(axes), std::nullopt, sum);
    };
    const auto gather = [&](InstructionId value, int64_t dim) {
      Shape all = b.shape(value);
      all.dims[static_cast<size_t>(dim)] *= 4;
      return b.collective(Opcode::kAllGather, all, {value}, mesh.groups(2), dim);
    };
    reduce(x, 2);                              // nothing uses it
    const InstructionId alone = reduce(x, 0);  // groups of one
    const InstructionId first = reduce(x, 1);
    const InstructionId second = reduce(b.op(Opcode::kCopy, f32({4, 8}), {x}), 1);  // the same
    const InstructionId back = sliced(b, mesh, gather(x, 0), {2, 0});               // what was gathered
    const InstructionId other = sliced(b, mesh, gather(x, 1), {2, 0});              // another part: stays
    return b.tuple({alone, first, second, back, other});
  });
  const Module after = dropped(before);
  EXPECT_EQ(count(after, "all-reduce"), 1);
  EXPECT_EQ(count(after, "all-gather"), 1);
  expect_same(before, after);
}

}  // namespace
}  // namespace alpa::collectives
