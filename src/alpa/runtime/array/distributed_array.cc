#include "alpa/runtime/array/distributed_array.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "alpa/base/error.h"
#include "alpa/runtime/array/live_arrays.h"

namespace alpa::runtime {
namespace {

// Copies between a whole array and one tile of it, row by row of the last dim.
void copy_tile(const tensor::Shape& shape, const Tile& tile, std::byte* whole, std::byte* part, bool to_whole) {
  const int64_t element = tensor::bit_width(shape.dtype) / 8;
  if (shape.rank() == 0) {
    std::memcpy(to_whole ? whole : part, to_whole ? part : whole, static_cast<size_t>(element));
    return;
  }
  std::vector<int64_t> strides(shape.dims.size(), element);
  for (size_t k = shape.dims.size(); k-- > 1;) strides[k - 1] = strides[k] * shape.dims[k];
  const auto last = shape.dims.size() - 1;
  const auto row = static_cast<size_t>(tile.size[last] * element);
  const std::function<void(size_t, int64_t)> visit = [&](size_t dim, int64_t offset) {
    if (dim == last) {
      std::byte* at = whole + offset + tile.start[last] * element;
      std::memcpy(to_whole ? at : part, to_whole ? part : at, row);
      part += row;
      return;
    }
    for (int64_t k = 0; k < tile.size[dim]; ++k) visit(dim + 1, offset + (tile.start[dim] + k) * strides[dim]);
  };
  visit(0, 0);
}

void require_whole_bytes(const tensor::Shape& shape) {
  require<UnsupportedError>(
      tensor::bit_width(shape.dtype) % 8 == 0, "array",
      "elements of type {} are smaller than a byte and cannot be cut into parts: let the program take and give a "
      "wider type and convert it",
      tensor::name(shape.dtype));
}

}  // namespace

std::vector<Tile> tiles(const tensor::Shape& shape, const sharding::ShardingSpec& spec, const mesh::LogicalMesh& mesh) {
  require<InvalidArgumentError>(spec.rank() == shape.rank() && sharding::divides(spec, shape, mesh), "array",
                                "{} cannot be placed as {}: the parts must divide its dims", tensor::to_string(shape),
                                sharding::to_string(spec, mesh));
  std::vector<Tile> result;
  for (int64_t device = 0; device < mesh.num_devices(); ++device) {
    Tile tile;
    for (size_t dim = 0; dim < spec.dims.size(); ++dim) {
      int64_t index = 0;
      for (int k = 0; k < spec.dims[dim].size(); ++k) {
        const int axis = spec.dims[dim][k];
        index = index * mesh.size(axis) + device / mesh.stride(axis) % mesh.size(axis);
      }
      tile.size.push_back(shape.dims[dim] / sharding::num_shards(spec.dims[dim], mesh));
      tile.start.push_back(index * tile.size.back());
    }
    result.push_back(std::move(tile));
  }
  return result;
}

DistributedArray::DistributedArray(std::shared_ptr<const Placement> placement, std::vector<pjrt::Buffer> buffers)
    : placement_(std::move(placement)), buffers_(std::move(buffers)) {
  ALPA_CHECK(static_cast<int64_t>(buffers_.size()) == placement_->mesh.num_devices());
}

DistributedArray::DistributedArray(DistributedArray&& other) noexcept
    : placement_(std::move(other.placement_)), buffers_(std::move(other.buffers_)), released_(other.released_.load()) {}

DistributedArray::~DistributedArray() {
  if (link_.list != nullptr) LiveArrays::remove(*this);
}

DistributedArray DistributedArray::place(const pjrt::Client& client, const tensor::Literal& value,
                                         const sharding::ShardingSpec& spec, const mesh::LogicalMesh& mesh) {
  require_whole_bytes(value.shape());
  require<InvalidArgumentError>(mesh.num_devices() <= static_cast<int64_t>(client.devices().size()), "array",
                                "the mesh {} needs {} devices, the client has {}", mesh.to_string(), mesh.num_devices(),
                                client.devices().size());
  const std::vector<Tile> parts = tiles(value.shape(), spec, mesh);
  std::vector<pjrt::Buffer> buffers;
  for (size_t device = 0; device < parts.size(); ++device) {
    tensor::Literal part(tensor::Shape(value.shape().dtype, parts[device].size));
    copy_tile(value.shape(), parts[device], const_cast<std::byte*>(value.bytes().data()), part.mutable_bytes().data(),
              /*to_whole=*/false);
    buffers.push_back(pjrt::Buffer::from_host(client, client.devices()[device], part));
  }
  return {std::make_shared<const Placement>(Placement{value.shape(), spec, mesh}), std::move(buffers)};
}

tensor::Literal gather_to_host(const tensor::Shape& shape, const sharding::ShardingSpec& spec,
                               const mesh::LogicalMesh& mesh, const std::vector<const pjrt::Buffer*>& buffers) {
  require_whole_bytes(shape);
  const std::vector<Tile> parts = tiles(shape, spec, mesh);
  tensor::Literal whole(shape);
  std::vector<std::vector<int64_t>> seen;
  for (size_t device = 0; device < parts.size(); ++device) {
    if (std::find(seen.begin(), seen.end(), parts[device].start) != seen.end()) continue;  // a copy of what is there
    seen.push_back(parts[device].start);
    tensor::Literal part = buffers[device]->to_host();
    require<InvalidArgumentError>(part.shape().dims == parts[device].size, "array",
                                  "device {} holds {}, not its tile of {}", device, tensor::to_string(part.shape()),
                                  tensor::to_string(shape));
    copy_tile(shape, parts[device], whole.mutable_bytes().data(), part.mutable_bytes().data(), /*to_whole=*/true);
  }
  return whole;
}

tensor::Literal DistributedArray::to_host() const {
  std::vector<const pjrt::Buffer*> pointers;
  for (const pjrt::Buffer& buffer : buffers_) pointers.push_back(&buffer);
  return gather_to_host(shape(), spec(), logical_mesh(), pointers);
}

void DistributedArray::release() {
  released_ = true;
  for (pjrt::Buffer& buffer : buffers_) {
    if (buffer.valid() && !buffer.is_deleted()) buffer.delete_memory();
  }
}

bool DistributedArray::is_deleted() const {
  if (released_) return true;
  for (const pjrt::Buffer& buffer : buffers_) {
    if (!buffer.valid() || buffer.is_deleted()) return true;
  }
  return false;
}

}  // namespace alpa::runtime
