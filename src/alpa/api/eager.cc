#include "alpa/api/eager.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>

#include "alpa/api/cluster_state.h"
#include "alpa/base/error.h"
#include "alpa/hlo/inline_calls.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/passes/explicit_bounds.h"
#include "alpa/passes/sharding_constraints.h"
#include "alpa/pjrt/executable.h"

namespace alpa::api {
namespace {

constexpr size_t kPrograms = 512;  ///< Kept; the least recently used goes.

// On one device placements mean nothing.
hlo::Module unplaced(const hlo::Module& module) {
  return passes::without_sharding_constraints(passes::sharding_constraints(hlo::inline_calls(module)));
}

class FirstDevice : public frontend::Evaluator {
 public:
  explicit FirstDevice(std::weak_ptr<ClusterState> cluster) : cluster_(std::move(cluster)) {}

  std::vector<std::shared_ptr<tensor::PlacedValue>> run(
      const hlo::Module& module, const std::vector<std::shared_ptr<tensor::PlacedValue>>& inputs) override {
    const auto cluster = cluster_.lock();
    require<InvalidArgumentError>(cluster != nullptr, "array", "the cluster was shut down: call alpa::init first");
    const std::lock_guard lock(mutex_);
    pjrt::Executable& executable =
        compiled(cluster->client, hlo::write_module(passes::explicit_bounds(unplaced(module), 1)));
    std::vector<pjrt::Buffer> placed;  // of inputs that lie elsewhere
    placed.reserve(inputs.size());
    std::vector<std::vector<pjrt::Buffer*>> arguments(1);
    for (const auto& input : inputs) arguments[0].push_back(on_first_device(*cluster, *input, placed));
    pjrt::ExecuteResult result;
    cluster->run([&] {
      result = executable.execute(arguments);
      result.events.at(0).await();
      return std::vector<pjrt::Event>();
    });
    std::vector<std::shared_ptr<tensor::PlacedValue>> values;
    const mesh::LogicalMesh one({1});
    for (pjrt::Buffer& buffer : result.outputs.at(0)) {
      const tensor::Shape shape = buffer.shape();
      std::vector<pjrt::Buffer> parts;
      parts.push_back(std::move(buffer));
      const runtime::Placement placement{shape, sharding::ShardingSpec::replicated(shape.rank()), one};
      auto array = std::make_shared<runtime::DistributedArray>(std::make_shared<const runtime::Placement>(placement),
                                                               std::move(parts));
      cluster->arrays.add({&array, 1});
      values.push_back(std::move(array));
    }
    return values;
  }

 private:
  pjrt::Executable& compiled(const pjrt::Client& client, std::string program) {
    const auto known = index_.find(program);
    if (known != index_.end()) {
      programs_.splice(programs_.begin(), programs_, known->second);
      return programs_.front().second;
    }
    pjrt::CompileOptions options;
    options.device_ids = {client.devices()[0].id()};
    programs_.emplace_front(program, pjrt::Executable::compile(client, program, pjrt::Format::kHlo, options));
    index_[std::move(program)] = programs_.begin();
    if (programs_.size() > kPrograms) {
      index_.erase(programs_.back().first);
      programs_.pop_back();
    }
    return programs_.front().second;
  }

  static pjrt::Buffer* on_first_device(const ClusterState& cluster, tensor::PlacedValue& value,
                                       std::vector<pjrt::Buffer>& placed) {
    auto* const array = dynamic_cast<runtime::DistributedArray*>(&value);
    const bool whole = array != nullptr && std::all_of(array->spec().dims.begin(), array->spec().dims.end(),
                                                       [](const sharding::Tile& tile) { return tile.empty(); });
    if (whole) return &array->buffers()[0];  // which lies on the first device
    placed.push_back(pjrt::Buffer::from_host(cluster.client, cluster.client.devices()[0], value.to_host()));
    return &placed.back();
  }

  std::weak_ptr<ClusterState> cluster_;
  std::mutex mutex_;
  std::list<std::pair<std::string, pjrt::Executable>> programs_;
  std::unordered_map<std::string, std::list<std::pair<std::string, pjrt::Executable>>::iterator> index_;
};

}  // namespace

std::shared_ptr<frontend::Evaluator> make_evaluator(std::weak_ptr<ClusterState> cluster) {
  return std::make_shared<FirstDevice>(std::move(cluster));
}

}  // namespace alpa::api
