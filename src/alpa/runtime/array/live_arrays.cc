#include "alpa/runtime/array/live_arrays.h"

#include <mutex>

namespace alpa::runtime {
namespace {

// One for all lists: an array that ends while its list does must not ask the list for it.
std::mutex& mutex() {
  static std::mutex instance;
  return instance;
}

}  // namespace

void LiveArrays::add(std::span<const std::shared_ptr<DistributedArray>> arrays) {
  const std::lock_guard lock(mutex());
  if (ended_) {
    for (const std::shared_ptr<DistributedArray>& array : arrays) array->release();
    return;
  }
  count_ += static_cast<int64_t>(arrays.size());
  for (const std::shared_ptr<DistributedArray>& array : arrays) {
    DistributedArray::Link& link = array->link_;
    link.list = this;
    link.next = first_;
    if (first_ != nullptr) first_->link_.previous = array.get();
    first_ = array.get();
  }
}

void LiveArrays::remove(DistributedArray& array) {
  const std::lock_guard lock(mutex());
  DistributedArray::Link& link = array.link_;
  LiveArrays* const list = link.list;
  if (list == nullptr) return;  // released meanwhile
  --list->count_;
  if (link.previous != nullptr)
    link.previous->link_.next = link.next;
  else
    list->first_ = link.next;
  if (link.next != nullptr) link.next->link_.previous = link.previous;
}

void LiveArrays::release() {
  const std::lock_guard lock(mutex());
  while (first_ != nullptr) {
    DistributedArray& array = *first_;
    first_ = array.link_.next;
    array.release();
    array.link_.list = nullptr;  // from here on it may end on another thread
  }
  count_ = 0;
  ended_ = true;
}

int64_t LiveArrays::count() const {
  const std::lock_guard lock(mutex());
  return count_;
}

}  // namespace alpa::runtime
