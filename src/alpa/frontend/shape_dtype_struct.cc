#include "alpa/frontend/shape_dtype_struct.h"

#include <memory>
#include <utility>

#include "alpa/base/error.h"

namespace alpa {
namespace {

class ShapeAlone final : public tensor::PlacedValue {
 public:
  explicit ShapeAlone(Shape shape) : shape_(std::move(shape)) {}
  const Shape& shape() const override { return shape_; }
  tensor::Literal to_host() const override {
    raise<InvalidArgumentError>("array", "{} of which only the shape is known has no value: give the step an array",
                                tensor::to_string(shape_));
  }
  bool is_deleted() const override { return false; }
  void release() override {}

 private:
  Shape shape_;
};

}  // namespace

Array shape_dtype_struct(Shape shape) { return Array(std::make_shared<ShapeAlone>(std::move(shape))); }

}  // namespace alpa
