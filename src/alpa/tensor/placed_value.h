#pragma once

#include <atomic>
#include <memory>

#include "alpa/tensor/literal.h"
#include "alpa/tensor/shape.h"

namespace alpa::tensor {

/// An array that lies on devices, or on the host beside them.
class PlacedValue {
 public:
  /// What a room above keeps with a value, for as long as it lives.
  struct Attachment {
    virtual ~Attachment() = default;
  };

  PlacedValue() = default;
  /// An attachment stays behind.
  PlacedValue(PlacedValue&&) noexcept {}
  PlacedValue& operator=(PlacedValue&&) = delete;
  virtual ~PlacedValue() { delete attachment_.load(); }

  virtual const Shape& shape() const = 0;
  /// Copies the whole array to the host. Errors: InvalidArgumentError if deleted; what went wrong in making the value.
  virtual Literal to_host() const = 0;
  /// True once its memory was freed or donated.
  virtual bool is_deleted() const = 0;
  /// Frees the memory; `is_deleted` holds from then on.
  virtual void release() = 0;

  /// The attachment, which `make` (-> std::unique_ptr<Attachment>) makes at the first call. Threads get the same one.
  template <typename Make>
  Attachment& attachment(Make&& make) {
    Attachment* there = attachment_.load(std::memory_order_acquire);
    if (there != nullptr) return *there;
    std::unique_ptr<Attachment> made = make();
    if (attachment_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) return *made.release();
    return *there;
  }

 private:
  std::atomic<Attachment*> attachment_{nullptr};
};

}  // namespace alpa::tensor
