#pragma once

#include <memory>
#include <string>

#include "alpa/compiler/compile.h"

namespace alpa::tool {

/// What --dump-dir writes, as soon as it is made: it is for finding out why something went wrong. The program as read
/// and after each pass ("00_read.hlo.pb", "01_drop_markers.hlo.pb", ..., "07_partition.hlo.pb": the program that XLA
/// made for one device, and what the collective passes made of it), the passes with their seconds and instruction
/// counts (passes.txt) and the plan.
class Dump {
 public:
  /// Makes the folder; an empty path dumps nothing. Errors: InvalidArgumentError that names it.
  explicit Dump(std::string folder);

  /// Writes what it sees.
  passes::PassObserver observer() const;
  /// plan.json.
  void plan(const plan::Plan& plan) const;

 private:
  struct State {
    std::string folder;
    std::string passes;
    int files = 0;
  };

  std::shared_ptr<State> state_;  ///< Null: nothing is dumped. Shared with the observers.
};

}  // namespace alpa::tool
