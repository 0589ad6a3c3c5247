#include "alpa/pjrt/event.h"

#include <memory>

#include "alpa/pjrt/c_api.h"

namespace alpa::pjrt {
namespace {

struct Pending {
  const PJRT_Api* api;
  Event::Callback callback;
};

std::exception_ptr to_exception(const PJRT_Api* api, PJRT_Error* error) {
  try {
    check(api, "asynchronous work", error);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void call_back(PJRT_Error* error, void* argument) noexcept {
  const std::unique_ptr<Pending> pending(static_cast<Pending*>(argument));
  pending->callback(to_exception(pending->api, error));
}

}  // namespace

Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    reset();
    api_ = other.api_;
    event_ = other.event_;
    other.event_ = nullptr;
  }
  return *this;
}

void Event::reset() noexcept {
  if (event_ == nullptr) return;
  ALPA_PJRT_ARGS(PJRT_Event_Destroy_Args, args);
  args.event = raw(event_);
  ignore(raw(api_), raw(api_)->PJRT_Event_Destroy(&args));
  event_ = nullptr;
}

void Event::await() const {
  if (event_ == nullptr) return;
  ALPA_PJRT_ARGS(PJRT_Event_Await_Args, args);
  args.event = raw(event_);
  check(raw(api_), "asynchronous work", raw(api_)->PJRT_Event_Await(&args));
}

bool Event::ready() const {
  if (event_ == nullptr) return true;
  ALPA_PJRT_ARGS(PJRT_Event_IsReady_Args, args);
  args.event = raw(event_);
  ALPA_PJRT_CALL(raw(api_), PJRT_Event_IsReady, &args);
  return args.is_ready;
}

void Event::on_ready(Callback callback) const {
  if (event_ == nullptr) return callback(nullptr);
  auto pending = std::make_unique<Pending>(Pending{raw(api_), std::move(callback)});
  ALPA_PJRT_ARGS(PJRT_Event_OnReady_Args, args);
  args.event = raw(event_);
  args.callback = call_back;
  args.user_arg = pending.get();
  PJRT_Error* error = raw(api_)->PJRT_Event_OnReady(&args);
  if (error == nullptr) pending.release();
  check(raw(api_), "PJRT_Event_OnReady", error);
}

}  // namespace alpa::pjrt
