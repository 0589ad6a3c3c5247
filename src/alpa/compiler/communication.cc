#include "alpa/compiler/communication.h"

#include <algorithm>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/trip_count.h"

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

class SiteFinder {
 public:
  SiteFinder(const hlo::Module& module, const cost::CollectiveModel& model) : module_(module), model_(model) {}

  std::vector<CommunicationSite> run() {
    visit(module_.entry, 1);
    return std::move(sites_);
  }

 private:
  void visit(hlo::ComputationId id, double executions) {
    const hlo::Computation& computation = module_.computation(id);
    for (const hlo::Instruction& one : computation.instructions) {
      if (hlo::is_collective(one.opcode)) add(computation, one, executions);
      switch (one.opcode) {
        case hlo::Opcode::kWhile: {
          const double trips = static_cast<double>(hlo::trip_count(module_, computation, one).value_or(1));
          for (const hlo::ComputationId callee : one.called) visit(callee, executions * trips);
          break;
        }
        case hlo::Opcode::kConditional:
        case hlo::Opcode::kCall:
        case hlo::Opcode::kFusion:
          for (const hlo::ComputationId callee : one.called) visit(callee, executions);
          break;
        default: break;
      }
    }
  }

  void add(const hlo::Computation& computation, const hlo::Instruction& one, double executions) {
    int64_t operands = 0;
    for (const hlo::InstructionId operand : one.operands) operands += tensor::byte_size(computation[operand].shape);
    const int64_t bytes = std::max(operands, tensor::byte_size(one.shape));
    const auto opcode = priced_opcode(one.opcode);
    CommunicationSite site;
    site.kind = std::string(hlo::name(opcode.value_or(one.opcode)));
    site.where = hlo::op_name(one);
    site.executions = executions;
    site.bytes = executions * static_cast<double>(bytes);
    if (opcode) {
      const mesh::LogicalMesh& mesh = model_.logical_mesh();
      const auto axes = axes_of_group(mesh, hlo::group_size(one, mesh.num_devices()));
      site.seconds = executions * model_.seconds(*opcode, bytes, axes);
    }
    sites_.push_back(std::move(site));
  }

  const hlo::Module& module_;
  const cost::CollectiveModel& model_;
  std::vector<CommunicationSite> sites_;
};

}  // namespace

std::vector<CommunicationSite> communication_sites(const hlo::Module& partitioned, const cost::CollectiveModel& model) {
  return SiteFinder(partitioned, model).run();
}

}  // namespace alpa::compiler
