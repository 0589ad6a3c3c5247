#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "alpa/pjrt/client.h"
#include "alpa/pjrt/event.h"
#include "alpa/pjrt/handles.h"
#include "alpa/tensor/literal.h"
#include "alpa/tensor/shape.h"

namespace alpa::pjrt {

/// A copy to the host under way; moves only. Its end waits for the copy: memory is never freed under the plug-in.
class HostCopy {
 public:
  HostCopy(tensor::Literal literal, Event event) : literal_(std::move(literal)), event_(std::move(event)) {}
  ~HostCopy();
  HostCopy(HostCopy&&) noexcept = default;
  HostCopy& operator=(HostCopy&&) = delete;

  /// Becomes ready with the copy, or with the error of the work that should have made the value.
  const Event& event() const { return event_; }
  /// Blocks until the copy is there and hands it out.
  /// Errors: as Event::await.
  tensor::Literal take();

 private:
  tensor::Literal literal_;
  Event event_;
};

/// Host memory to read from, row-major.
struct HostData {
  tensor::Shape shape;
  std::span<const std::byte> bytes;
  /// Keeps `bytes` alive, unchanged, for as long as the plug-in uses them; if null they are copied during the call. It
  /// may be dropped on a thread of the plug-in.
  std::shared_ptr<const void> owner = nullptr;
};

/// An array in the memory of one device; the value may still be under way. Moves only; its end frees the memory.
class Buffer {
 public:
  Buffer() = default;
  /// Takes over a handle of the plug-in.
  Buffer(std::shared_ptr<const ClientState> client, BufferHandle* buffer, bool zero_copy = false)
      : client_(std::move(client)), buffer_(buffer), zero_copy_(zero_copy) {}
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  /// Moves an array to `device`. On a CPU, owned memory at an address that is a multiple of 64 is used as it is (a
  /// donation then leaves it unchanged); else it is copied.
  /// Errors: InvalidArgumentError if the number of bytes is not that of the shape; UnsupportedError for elements below
  /// 8 bits and for shapes that are no arrays; OutOfMemoryError.
  static Buffer from_host(const Client& client, const Device& device, const HostData& data);
  static Buffer from_host(const Client& client, const Device& device, const tensor::Literal& literal);

  bool valid() const { return buffer_ != nullptr; }
  /// Element type and sizes, also after a deletion.
  tensor::Shape shape() const;
  /// Bytes that it takes on its device.
  int64_t size_on_device() const;
  const Device& device() const;
  /// True if it uses the host memory that it was made from.
  bool zero_copy() const { return zero_copy_; }

  /// Frees the device memory once all work enqueued on it is done. The handle stays.
  void delete_memory();
  /// True after `delete_memory` and after a donation.
  bool is_deleted() const;

  /// Ready with the value.
  Event ready_event() const;
  /// Copies to the host, row-major.
  /// Errors: InvalidArgumentError if deleted; UnsupportedError for elements below 8 bits; the error of the work that
  /// should have made the value.
  tensor::Literal to_host() const;
  HostCopy to_host_async() const;
  /// Copies to `destination`, which must have room for the array and live until the event is ready.
  Event copy_to_host(std::span<std::byte> destination) const;
  /// A copy on another device of the client; asynchronous.
  Buffer copy_to_device(const Device& device) const;

  BufferHandle* handle() const { return buffer_; }

 private:
  void reset() noexcept;

  std::shared_ptr<const ClientState> client_;
  BufferHandle* buffer_ = nullptr;
  bool zero_copy_ = false;
};

}  // namespace alpa::pjrt
