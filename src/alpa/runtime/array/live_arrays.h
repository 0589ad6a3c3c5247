#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "alpa/runtime/array/distributed_array.h"

namespace alpa::runtime {

/// The arrays of a cluster that are alive, so that its end can free them. Does not keep them alive. All calls may come
/// from several threads.
class LiveArrays {
 public:
  LiveArrays() = default;
  LiveArrays(const LiveArrays&) = delete;
  LiveArrays& operator=(const LiveArrays&) = delete;
  ~LiveArrays() { release(); }

  /// Arrays that are in no list yet. After `release` they are freed at once: a step that was under way when the cluster
  /// ended has made them.
  void add(std::span<const std::shared_ptr<DistributedArray>> arrays);
  /// Frees the memory of all and forgets them; nothing is kept from then on.
  void release();
  int64_t count() const;

 private:
  friend class DistributedArray;
  static void remove(DistributedArray& array);

  DistributedArray* first_ = nullptr;
  int64_t count_ = 0;
  bool ended_ = false;
};

}  // namespace alpa::runtime
