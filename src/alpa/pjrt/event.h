#pragma once

#include <exception>
#include <functional>

#include "alpa/pjrt/handles.h"

namespace alpa::pjrt {

/// Becomes ready when some asynchronous work of a plug-in has ended, well or in error. Moves only.
class Event {
 public:
  /// An event that was always ready.
  Event() = default;
  /// Takes over `event`, a handle of the plug-in `api`; null is always ready.
  Event(const ApiTable* api, EventHandle* event) : api_(api), event_(event) {}
  ~Event() { reset(); }
  Event(Event&& other) noexcept : api_(other.api_), event_(other.event_) { other.event_ = nullptr; }
  Event& operator=(Event&& other) noexcept;

  /// Blocks until ready.
  /// Errors: what the work ended with (PluginError, OutOfMemoryError, InvalidArgumentError).
  void await() const;
  /// True once the work has ended, also in error.
  bool ready() const;

  /// Called once with null or the error that `await` would throw.
  using Callback = std::function<void(std::exception_ptr)>;
  /// Calls `callback` once ready: at once if it is, else on a thread of the plug-in, even if this object is gone by
  /// then. The callback must not throw, block, or drop the last handle of a client.
  void on_ready(Callback callback) const;

 private:
  void reset() noexcept;

  const ApiTable* api_ = nullptr;
  EventHandle* event_ = nullptr;
};

}  // namespace alpa::pjrt
