#pragma once

#include "alpa/tensor/literal.h"
#include "alpa/tensor/shape.h"

namespace alpa::tensor {

/// An array that lies on devices.
class PlacedValue {
 public:
  virtual ~PlacedValue() = default;
  virtual const Shape& shape() const = 0;
  /// Copies the whole array to the host. Errors: InvalidArgumentError if deleted; what went wrong in making the value.
  virtual Literal to_host() const = 0;
  /// True once its memory was freed or donated.
  virtual bool is_deleted() const = 0;
  /// Frees the memory; `is_deleted` holds from then on.
  virtual void release() = 0;
};

}  // namespace alpa::tensor
