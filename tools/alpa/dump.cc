#include "dump.h"

#include <fmt/format.h>

#include <filesystem>

#include "alpa/base/error.h"
#include "alpa/base/output_file.h"
#include "alpa/hlo/proto_io.h"

namespace alpa::tool {

Dump::Dump(std::string folder) {
  if (folder.empty()) return;
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  require<InvalidArgumentError>(!code && std::filesystem::is_directory(folder, code), "file",
                                "cannot make the folder {}: {}", folder,
                                code ? code.message() : "there is a file of that name");
  state_ = std::make_shared<State>(State{std::move(folder), "", 0});
}

passes::PassObserver Dump::observer() const {
  if (!state_) return {};
  return [state = state_](const passes::PassRecord& record, const hlo::Module& after) {
    const std::string file = fmt::format("{:02}_{}.hlo.pb", state->files++, record.name);
    write_file(state->folder + "/" + file, hlo::write_module(after));
    state->passes += fmt::format("{:<16} {:9.6f} s  {} -> {} instructions\n", record.name, record.seconds,
                                 record.instructions_before, record.instructions_after);
    write_file(state->folder + "/passes.txt", state->passes);
  };
}

void Dump::plan(const plan::Plan& plan) const {
  if (state_) write_file(state_->folder + "/plan.json", plan::to_json(plan));
}

void Dump::partitioned(const compiler::Compiled& compiled) const {
  if (!state_) return;
  const auto write = [&](const char* name, const std::string& module) {
    if (module.empty()) return;
    write_file(fmt::format("{}/{:02}_{}.hlo.pb", state_->folder, state_->files++, name), module);
  };
  write("partitioned_accumulate", compiled.accumulate_module);
  write(compiled.accumulate_module.empty() ? "partitioned" : "partitioned_apply", compiled.partitioned_module);
}

}  // namespace alpa::tool
