#include "alpa/pjrt/read_back.h"

#include <filesystem>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/pjrt/wire.h"

namespace alpa::pjrt {
namespace {

constexpr const char* kPlace = "read back";
constexpr std::string_view kBeforeOptimizations = ".before_optimizations.";
constexpr std::string_view kAfterPartitioning = ".after_spmd-partitioning.";

CompileOptions with_dump(CompileOptions options, const TemporaryDirectory& folder) {
  options.overrides["xla_dump_to"] = folder.path();
  options.overrides["xla_dump_hlo_as_proto"] = true;
  return options;
}

/// Also dumps after the partitioning pass. The name is a regular expression that other passes' names do not match.
CompileOptions with_partitioning_dump(const CompileOptions& options, const TemporaryDirectory& folder) {
  require<InvalidArgumentError>(options.use_spmd_partitioning, kPlace,
                                "the options turn partitioning off: set use_spmd_partitioning");
  CompileOptions dumping = with_dump(options, folder);
  dumping.overrides["xla_dump_hlo_pass_re"] = std::string("^spmd-partitioning$");
  return dumping;
}

/// The path of the dumped module whose name holds `stage`; the last one in order of name; empty if there is none.
std::string find_dump(const TemporaryDirectory& folder, std::string_view stage) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    if (name.find(stage) == std::string::npos || !name.ends_with(".hlo.pb")) continue;
    if (entry.path().string() > found) found = entry.path().string();
  }
  return found;
}

/// The module (field 1) of the HloProto in the file at `path`.
std::string read_module(const TemporaryDirectory& folder, const std::string& path) {
  folder.check_space();  // on a full disk the file may be cut short
  const std::string proto = read_file(path);
  const auto modules = bytes_fields(proto, 1);
  require<PluginError>(!modules.empty(), kPlace, "the plug-in wrote no module into {}", path);
  return std::string(modules.back());
}

/// `count` ids for a compile that stops before it uses a device: the client's own, the first one repeated if too few.
std::vector<int> placeholder_ids(const Client& client, int count) {
  std::vector<int> ids;
  const auto devices = client.devices();
  const bool enough = static_cast<size_t>(count) <= devices.size();
  for (int i = 0; i < count; ++i) ids.push_back(devices[enough ? i : 0].id());
  return ids;
}

}  // namespace

std::string stablehlo_to_hlo(const Client& client, std::string_view program) {
  const TemporaryDirectory folder;
  CompileOptions options = with_dump({}, folder);
  options.num_partitions = 2;
  options.device_ids = placeholder_ids(client, 2);
  try {
    Executable::compile(client, program, Format::kMlir, options);
  } catch (const Error&) {
    if (find_dump(folder, kBeforeOptimizations).empty()) throw;
  }
  const std::string path = find_dump(folder, kBeforeOptimizations);
  if (path.empty()) folder.check_space();
  require<PluginError>(!path.empty(), kPlace, "the plug-in {} wrote no module before optimization: use another one",
                       client.plugin().path());
  return read_module(folder, path);
}

PartitionedCompile compile_and_read_partitioned(const Client& client, std::string_view hlo,
                                                const CompileOptions& options) {
  const TemporaryDirectory folder;
  Executable executable = Executable::compile(client, hlo, Format::kHlo, with_partitioning_dump(options, folder));
  const std::string path = find_dump(folder, kAfterPartitioning);
  if (path.empty()) folder.check_space();
  require<PluginError>(!path.empty(), kPlace, "the plug-in {} wrote no module after spmd-partitioning: use another one",
                       client.plugin().path());
  return {std::move(executable), read_module(folder, path)};
}

std::string partition_only(const Client& client, std::string_view hlo, const CompileOptions& options) {
  // Without it the plug-in would generate code, and for repeated device ids end the process.
  require<InvalidArgumentError>(hlo.find(kStopTarget) != std::string_view::npos, kPlace,
                                "the module has no custom call {}: add one to its entry computation", kStopTarget);
  const TemporaryDirectory folder;
  CompileOptions stopping = with_partitioning_dump(options, folder);
  stopping.device_ids = placeholder_ids(client, options.num_devices());
  std::string path;
  try {
    Executable::compile(client, hlo, Format::kHlo, stopping);
  } catch (const Error& error) {
    const bool stopped = std::string_view(error.what()).find(kStopTarget) != std::string_view::npos;
    path = find_dump(folder, kAfterPartitioning);
    if (!stopped || path.empty()) throw;
    return read_module(folder, path);
  }
  raise<PluginError>(kPlace, "the plug-in {} compiled the custom call {}: unregister its handler",
                     client.plugin().path(), kStopTarget);
}

}  // namespace alpa::pjrt
