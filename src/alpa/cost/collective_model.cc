#include "alpa/cost/collective_model.h"

#include <algorithm>
#include <limits>

#include "alpa/base/error.h"

namespace alpa::cost {
namespace {

// Less than a dozen bytes take on any link, more than the planner rounds to.
constexpr double kCallSeconds = 1e-11;

}  // namespace

CollectiveModel::CollectiveModel(mesh::ClusterSpec cluster, mesh::LogicalMesh mesh)
    : cluster_(std::move(cluster)), mesh_(std::move(mesh)) {}

CollectiveModel CollectiveModel::by_bytes() const {
  CollectiveModel model = *this;
  model.call_seconds_ = kCallSeconds;
  for (mesh::LinkSpec* link : {&model.cluster_.intra_host, &model.cluster_.inter_host}) link->latency = 0;
  return model;
}

CollectiveModel CollectiveModel::without(std::vector<hlo::Opcode> kinds) const {
  CollectiveModel model = *this;
  model.forbidden_ = std::move(kinds);
  return model;
}

double CollectiveModel::seconds(hlo::Opcode kind, int64_t bytes, const std::vector<int>& axes) const {
  double n = 1;
  for (const int axis : axes) n *= static_cast<double>(mesh_.size(axis));
  if (n == 1) return 0;
  if (std::find(forbidden_.begin(), forbidden_.end(), kind) != forbidden_.end())
    return std::numeric_limits<double>::infinity();
  const mesh::LinkSpec link = mesh::link_of(cluster_, mesh_, axes);
  const double hop = link.latency + static_cast<double>(bytes) / (n * link.bandwidth);
  switch (kind) {
    case hlo::Opcode::kAllReduce: return 2 * (n - 1) * hop + call_seconds_;
    case hlo::Opcode::kAllGather:
    case hlo::Opcode::kReduceScatter:
    case hlo::Opcode::kAllToAll: return (n - 1) * hop + call_seconds_;
    case hlo::Opcode::kCollectivePermute:
      return link.latency + static_cast<double>(bytes) / link.bandwidth + call_seconds_;
    default: raise<UnsupportedError>("cost", "{} is no collective with a cost", hlo::name(kind));
  }
}

}  // namespace alpa::cost
