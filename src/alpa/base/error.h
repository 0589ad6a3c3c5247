#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace alpa {

/// What every failure of the library derives from; `what()` is one line that names place, values and remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's input is wrong: a file, an option, a shape.
class InvalidArgumentError : public Error {
 public:
  using Error::Error;
};

/// The input is valid, but the library cannot do this with it.
class UnsupportedError : public Error {
 public:
  using Error::Error;
};

/// No plan satisfies what was asked for, a memory cap for instance.
class InfeasibleError : public Error {
 public:
  using Error::Error;
  InfeasibleError(const std::string& text, int64_t least_memory_bytes, bool proved)
      : Error(text), least_memory_bytes_(least_memory_bytes), proved_(proved) {}

  /// Bytes a device, if memory was the reason; else -1. Of plan_program: of a plan, if its message says that one was
  /// found, else a guess; so it is of what plan_program calls.
  int64_t least_memory_bytes() const { return least_memory_bytes_; }
  /// False if the search ended without a plan and without a proof that there is none.
  bool proved() const { return proved_; }

 private:
  int64_t least_memory_bytes_ = -1;
  bool proved_ = true;
};

/// A PJRT plug-in is missing, too old, or returned an error (its own text is part of the message).
class PluginError : public Error {
 public:
  using Error::Error;
};

/// Device or host memory ran out.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// A fault of ours; please report it.
class InternalError : public Error {
 public:
  using Error::Error;
};

/// Throws `E` with a message formatted as `[place] text`.
template <typename E, typename... Args>
[[noreturn]] void raise(std::string_view place, fmt::format_string<Args...> text, Args&&... args) {
  throw E("[" + std::string(place) + "] " + fmt::format(text, std::forward<Args>(args)...));
}

/// Throws `E` unless `condition` holds.
template <typename E, typename... Args>
void require(bool condition, std::string_view place, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) raise<E>(place, text, std::forward<Args>(args)...);
}

namespace internal {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace internal

}  // namespace alpa

/// For our own faults only; user input never reaches one. Throws InternalError.
#define ALPA_CHECK(condition)                                                         \
  do {                                                                                \
    if (!(condition)) ::alpa::internal::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
