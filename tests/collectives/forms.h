#pragma once

#include <string>
#include <vector>

#include "alpa/hlo/collectives.h"
#include "alpa/hlo/testing/programs.h"
#include "run_spmd.h"

/// Parts of programs as the partitioner writes them, on meshes of eight devices.
namespace alpa::collectives {

using hlo::ComputationBuilder;
using hlo::ComputationId;
using hlo::f32;
using hlo::InstructionId;
using hlo::Module;
using hlo::ModuleBuilder;
using hlo::Opcode;
using hlo::ReplicaGroups;
using hlo::Shape;
using tensor::DType;

inline constexpr int64_t kDevices = 8;

/// Bit k of an axis set: axis k of a mesh of axes of these sizes, row-major over the devices.
using Axes = unsigned;
struct Mesh {
  std::vector<int64_t> sizes;

  int64_t coordinate(int64_t device, size_t axis) const {
    for (size_t k = sizes.size(); k-- > axis + 1;) device /= sizes[k];
    return device % sizes[axis];
  }
  // Row-major over the axes of the set, in the order of the mesh or, if `reversed`, the other way.
  int64_t place(int64_t device, Axes axes, bool reversed = false) const {
    int64_t result = 0;
    for (size_t k = 0; k < sizes.size(); ++k) {
      const size_t axis = reversed ? sizes.size() - 1 - k : k;
      if ((axes >> axis & 1u) != 0) result = result * sizes[axis] + coordinate(device, axis);
    }
    return result;
  }
  int64_t size(Axes axes) const {
    int64_t result = 1;
    for (size_t axis = 0; axis < sizes.size(); ++axis) result *= (axes >> axis & 1u) != 0 ? sizes[axis] : 1;
    return result;
  }
  Axes all() const { return (1u << sizes.size()) - 1; }
  ReplicaGroups groups(Axes axes) const {
    ReplicaGroups result(static_cast<size_t>(kDevices / size(axes)));
    for (auto& group : result) group.resize(static_cast<size_t>(size(axes)));
    for (int64_t device = 0; device < kDevices; ++device)
      result[static_cast<size_t>(place(device, all() & ~axes))][static_cast<size_t>(place(device, axes))] = device;
    return result;
  }
};

inline const std::vector<Mesh> kMeshes = {{{8}}, {{2, 4}}, {{2, 2, 2}}};

/// What the partitioner writes for the place of a device's part: a table of offsets by partition.
inline InstructionId offset(ComputationBuilder& b, const Mesh& mesh, Axes axes, int64_t size, bool reversed) {
  tensor::Literal table(Shape(DType::kS32, {kDevices}));
  for (int64_t device = 0; device < kDevices; ++device)
    table.set(device, static_cast<double>(mesh.place(device, axes, reversed) * size));
  const InstructionId partition = b.op(Opcode::kPartitionId, Shape(DType::kU32, {}), {});
  const InstructionId one = b.dynamic_slice(hlo::s32({1}), {b.constant(table), partition});
  return b.op(Opcode::kReshape, hlo::s32({}), {one});
}

inline InstructionId sliced(ComputationBuilder& b, const Mesh& mesh, InstructionId value, const std::vector<Axes>& axes,
                            bool reversed = false) {
  Shape part = b.shape(value);
  std::vector<InstructionId> operands{value};
  for (size_t dim = 0; dim < axes.size(); ++dim) {
    part.dims[dim] /= mesh.size(axes[dim]);
    operands.push_back(offset(b, mesh, axes[dim], part.dims[dim], reversed));
  }
  return b.dynamic_slice(part, operands);
}

inline double count(const Module& module, const std::string& kind) {
  const auto totals = hlo::collectives(module);
  const auto found = totals.find(kind);
  return found == totals.end() ? 0 : found->second.count;
}

inline double bytes(const Module& module, const std::string& kind) {
  const auto totals = hlo::collectives(module);
  const auto found = totals.find(kind);
  return found == totals.end() ? 0 : found->second.bytes;
}

}  // namespace alpa::collectives
