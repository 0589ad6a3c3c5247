#pragma once

#include <atomic>
#include <memory>

namespace alpa::tool {

/// From its making on INT, TERM and HUP remove the temporary directories before they end the process; those that
/// whoever started it wants ignored stay so. Make it before a thread is started.
class SignalWatch {
 public:
  SignalWatch();

  /// Does not return if a signal is ending the process: what fails then fails for want of its files.
  void wait_if_ending() const;

 private:
  std::shared_ptr<std::atomic<bool>> ending_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace alpa::tool
