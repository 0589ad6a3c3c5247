#pragma once

#include <optional>

#include "alpa/base/error.h"
#include "alpa/tensor/placed_value.h"

namespace alpa::frontend {

/// An array that lies on the host only.
class HostValue : public tensor::PlacedValue {
 public:
  explicit HostValue(tensor::Literal literal) : shape_(literal.shape()), literal_(std::move(literal)) {}
  const tensor::Shape& shape() const override { return shape_; }
  tensor::Literal to_host() const override {
    require<InvalidArgumentError>(literal_.has_value(), "array", "{} was donated to a step", tensor::to_string(shape_));
    return *literal_;
  }
  bool is_deleted() const override { return !literal_.has_value(); }
  void release() override { literal_.reset(); }

 private:
  tensor::Shape shape_;
  std::optional<tensor::Literal> literal_;
};

}  // namespace alpa::frontend
