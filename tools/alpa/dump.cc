#include "dump.h"

#include <filesystem>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/hlo/proto_io.h"

namespace alpa::tool {

Dump::Dump(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code code;
  std::filesystem::create_directories(folder_, code);
  require<InvalidArgumentError>(!code && std::filesystem::is_directory(folder_, code), "file",
                                "cannot make the folder {}: {}", folder_,
                                code ? code.message() : "there is a file of that name");
}

void Dump::plan(const compiler::Program& program, const plan::Plan& plan) const {
  if (folder_.empty()) return;
  write_file(folder_ + "/00_program.hlo.pb", hlo::write_module(program.module));
  write_file(folder_ + "/plan.json", plan::to_json(plan));
  write_file(folder_ + "/01_annotated.hlo.pb", hlo::write_module(compiler::annotated_module(program, plan)));
}

void Dump::partitioned(const compiler::Compiled& compiled) const {
  if (folder_.empty() || compiled.partitioned_module.empty()) return;
  write_file(folder_ + "/02_partitioned.hlo.pb", compiled.partitioned_module);
}

}  // namespace alpa::tool
