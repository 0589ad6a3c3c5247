#pragma once

#include <memory>
#include <vector>

#include "alpa/runtime/array/distributed_array.h"

namespace alpa::runtime {

/// A batch whose micro-batches, equal parts along its first dim, lie on a mesh one by one, so that a step that runs
/// them in turn moves nothing.
class CutArray final : public tensor::PlacedValue {
 public:
  /// At least one part; all are placed alike.
  explicit CutArray(std::vector<std::shared_ptr<DistributedArray>> parts);

  const std::vector<std::shared_ptr<DistributedArray>>& parts() const { return parts_; }

  const tensor::Shape& shape() const override { return shape_; }
  tensor::Literal to_host() const override;
  bool is_deleted() const override;
  void release() override;

 private:
  std::vector<std::shared_ptr<DistributedArray>> parts_;
  tensor::Shape shape_;
};

}  // namespace alpa::runtime
