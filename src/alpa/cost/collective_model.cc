#include "alpa/cost/collective_model.h"

#include "alpa/base/error.h"

namespace alpa::cost {

CollectiveModel::CollectiveModel(mesh::ClusterSpec cluster, mesh::LogicalMesh mesh)
    : cluster_(std::move(cluster)), mesh_(std::move(mesh)) {}

CollectiveModel CollectiveModel::without_latency() const {
  mesh::ClusterSpec cluster = cluster_;
  for (mesh::LinkSpec* link : {&cluster.intra_host, &cluster.inter_host}) link->latency = 0;
  return CollectiveModel(std::move(cluster), mesh_);
}

double CollectiveModel::seconds(hlo::Opcode kind, int64_t bytes, const std::vector<int>& axes) const {
  double n = 1;
  for (const int axis : axes) n *= static_cast<double>(mesh_.size(axis));
  if (n == 1) return 0;
  const mesh::LinkSpec link = mesh::link_of(cluster_, mesh_, axes);
  const double hop = link.latency + static_cast<double>(bytes) / (n * link.bandwidth);
  switch (kind) {
    case hlo::Opcode::kAllReduce: return 2 * (n - 1) * hop;
    case hlo::Opcode::kAllGather:
    case hlo::Opcode::kReduceScatter:
    case hlo::Opcode::kAllToAll: return (n - 1) * hop;
    case hlo::Opcode::kCollectivePermute: return link.latency + static_cast<double>(bytes) / link.bandwidth;
    default: raise<UnsupportedError>("cost", "{} is no collective with a cost", hlo::name(kind));
  }
}

}  // namespace alpa::cost
