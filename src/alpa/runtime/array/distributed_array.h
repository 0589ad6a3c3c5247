#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "alpa/mesh/logical_mesh.h"
#include "alpa/pjrt/buffer.h"
#include "alpa/pjrt/client.h"
#include "alpa/sharding/spec.h"
#include "alpa/tensor/placed_value.h"

namespace alpa::runtime {

/// The part of an array that a device holds: first index and size of each dim.
struct Tile {
  std::vector<int64_t> start;
  std::vector<int64_t> size;
};

/// Tile of each device of a mesh, by device. Errors: InvalidArgumentError if the spec pads the shape.
std::vector<Tile> tiles(const tensor::Shape& shape, const sharding::ShardingSpec& spec, const mesh::LogicalMesh& mesh);

/// What an array is and where it lies.
struct Placement {
  tensor::Shape shape;
  sharding::ShardingSpec spec;
  mesh::LogicalMesh mesh;

  bool operator==(const Placement&) const = default;
};

class LiveArrays;

/// An array on a mesh: one buffer a device, placed as a spec says. Moves only; its end frees the memory.
class DistributedArray final : public tensor::PlacedValue {
 public:
  /// Arrays share descriptions: a step makes hundreds.
  DistributedArray(std::shared_ptr<const Placement> placement, std::vector<pjrt::Buffer> buffers);
  DistributedArray(DistributedArray&& other) noexcept;
  ~DistributedArray() override;

  /// Cuts `value` and moves the parts to the first devices of the client. Errors: InvalidArgumentError if the spec pads
  /// it.
  static DistributedArray place(const pjrt::Client& client, const tensor::Literal& value,
                                const sharding::ShardingSpec& spec, const mesh::LogicalMesh& mesh);

  const tensor::Shape& shape() const override { return placement_->shape; }
  const sharding::ShardingSpec& spec() const { return placement_->spec; }
  const mesh::LogicalMesh& logical_mesh() const { return placement_->mesh; }
  const std::shared_ptr<const Placement>& placement() const { return placement_; }
  std::vector<pjrt::Buffer>& buffers() { return buffers_; }
  tensor::Literal to_host() const override;
  bool is_deleted() const override;
  void release() override;
  /// True after `release` and `mark_released`: what the caller knows without asking the plug-in.
  bool is_released() const { return released_; }
  /// Its memory was donated.
  void mark_released() { released_ = true; }

 private:
  friend class LiveArrays;
  /// Place in a list; a moved array is in none.
  struct Link {
    std::atomic<LiveArrays*> list{nullptr};
    DistributedArray* previous = nullptr;
    DistributedArray* next = nullptr;
    Link() = default;
    Link(Link&&) noexcept {}
  };

  std::shared_ptr<const Placement> placement_;
  std::vector<pjrt::Buffer> buffers_;
  std::atomic<bool> released_{false};
  Link link_;
};

/// Puts the parts of an array that devices hold together on the host.
tensor::Literal gather_to_host(const tensor::Shape& shape, const sharding::ShardingSpec& spec,
                               const mesh::LogicalMesh& mesh, const std::vector<const pjrt::Buffer*>& buffers);

}  // namespace alpa::runtime
