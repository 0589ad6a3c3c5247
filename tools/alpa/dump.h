#pragma once

#include <string>

#include "alpa/compiler/compile.h"

namespace alpa::tool {

/// What --dump-dir writes, as soon as it is made: it is for finding out why something went wrong.
class Dump {
 public:
  /// Makes the folder; an empty path dumps nothing. Errors: InvalidArgumentError that names it.
  explicit Dump(std::string folder);

  /// 00_program.hlo.pb, 01_annotated.hlo.pb, plan.json.
  void plan(const compiler::Program& program, const plan::Plan& plan) const;
  /// 02_partitioned.hlo.pb, if there is more than one device.
  void partitioned(const compiler::Compiled& compiled) const;

 private:
  std::string folder_;
};

}  // namespace alpa::tool
