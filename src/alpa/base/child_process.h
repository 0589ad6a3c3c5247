#pragma once

#include <string>
#include <vector>

namespace alpa {

struct ChildResult {
  int status = 0;          ///< Of its exit; of one that a signal ended, 0.
  int signal = 0;          ///< That ended it; 0 if none did.
  bool timed_out = false;  ///< It was ended at the limit.
  std::string printed;     ///< What it wrote to standard output and error; the end of it if it is long.
};

/// Runs `command` (the path of a program and its arguments) with nothing to read and waits for its end, at most
/// `limit_seconds`. Errors: InvalidArgumentError if it cannot be started.
ChildResult run_child(const std::vector<std::string>& command, double limit_seconds);

/// For what `run_child` started: it ends with its parent, and leaves no core file if it crashes.
void end_with_parent();

}  // namespace alpa
