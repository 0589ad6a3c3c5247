#include "alpa/runtime/array/cut_array.h"

#include <algorithm>
#include <cstring>

#include "alpa/base/error.h"

namespace alpa::runtime {

CutArray::CutArray(std::vector<std::shared_ptr<DistributedArray>> parts) : parts_(std::move(parts)) {
  ALPA_CHECK(!parts_.empty());
  shape_ = parts_[0]->shape();
  shape_.dims.at(0) *= static_cast<int64_t>(parts_.size());
}

tensor::Literal CutArray::to_host() const {
  tensor::Literal whole(shape_);
  std::byte* next = whole.mutable_bytes().data();
  for (const auto& part : parts_) {
    const tensor::Literal rows = part->to_host();
    std::memcpy(next, rows.bytes().data(), rows.bytes().size());
    next += rows.bytes().size();
  }
  return whole;
}

bool CutArray::is_deleted() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->is_deleted(); });
}

void CutArray::release() {
  for (const auto& part : parts_) part->release();
}

}  // namespace alpa::runtime
