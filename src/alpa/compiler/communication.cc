#include "alpa/compiler/communication.h"

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/collectives.h"

namespace alpa::compiler {
namespace {

/// The first set of axes whose sizes multiply to `size`; all axes if there is none.
std::vector<int> axes_of_group(const mesh::LogicalMesh& mesh, int64_t size) {
  std::vector<int> all;
  for (int axis = 0; axis < mesh.num_axes(); ++axis) all.push_back(axis);
  for (unsigned set = 1; set < 1u << mesh.num_axes(); ++set) {
    std::vector<int> axes;
    int64_t product = 1;
    for (const int axis : all) {
      if ((set >> axis & 1u) == 0) continue;
      axes.push_back(axis);
      product *= mesh.size(axis);
    }
    if (product == size) return axes;
  }
  return all;
}

/// The synchronous opcode of a start; nothing for collectives that the model does not price.
std::optional<hlo::Opcode> priced_opcode(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::Opcode::kAllReduce:
    case hlo::Opcode::kAllReduceStart: return hlo::Opcode::kAllReduce;
    case hlo::Opcode::kAllGather:
    case hlo::Opcode::kAllGatherStart: return hlo::Opcode::kAllGather;
    case hlo::Opcode::kCollectivePermute:
    case hlo::Opcode::kCollectivePermuteStart: return hlo::Opcode::kCollectivePermute;
    case hlo::Opcode::kReduceScatter:
    case hlo::Opcode::kAllToAll: return opcode;
    default: return std::nullopt;
  }
}

CommunicationSite site_of(const hlo::Computation& computation, const hlo::Instruction& one, double executions,
                          const cost::CollectiveModel& model) {
  const int64_t bytes = hlo::collective_bytes(computation, one);
  const auto opcode = priced_opcode(one.opcode);
  CommunicationSite site;
  site.kind = std::string(hlo::name(opcode.value_or(one.opcode)));
  site.where = hlo::op_name(one);
  site.executions = executions;
  site.bytes = executions * static_cast<double>(bytes);
  if (opcode) {
    const mesh::LogicalMesh& mesh = model.logical_mesh();
    const auto axes = axes_of_group(mesh, hlo::group_size(one, mesh.num_devices()));
    site.seconds = executions * model.seconds(*opcode, bytes, axes);
  }
  return site;
}

}  // namespace

std::vector<CommunicationSite> communication_sites(const hlo::Module& partitioned, const cost::CollectiveModel& model) {
  const std::vector<double> executions = hlo::executions(partitioned);
  std::vector<CommunicationSite> sites;
  for (size_t id = 0; id < executions.size(); ++id) {
    const hlo::Computation& computation = partitioned.computations[id];
    for (const hlo::Instruction& one : computation.instructions) {
      if (executions[id] > 0 && hlo::is_collective(one.opcode))
        sites.push_back(site_of(computation, one, executions[id], model));
    }
  }
  return sites;
}

}  // namespace alpa::compiler
