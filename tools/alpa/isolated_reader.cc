#include "isolated_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "alpa/base/child_process.h"
#include "alpa/base/environment.h"
#include "alpa/base/file.h"
#include "alpa/base/output_file.h"
#include "alpa/pjrt/read_back.h"
#include "client_source.h"
#include "command.h"

namespace alpa::tool {
namespace {

constexpr const char* kPlace = "StableHLO";
constexpr const char* kCommand = "read-stablehlo";
constexpr const char* kProgram = "/program";
constexpr const char* kModule = "/module";
constexpr std::string_view kErrorStart = "alpa: ";

/// Plug-ins read some MiB a second; this is for the slowest of machines.
double limit_seconds(std::string_view program) { return 20 + static_cast<double>(program.size()) / 100e3; }

/// The line of our own error, the last one of what was printed; empty if there is none.
std::string own_error(const std::string& printed) {
  const size_t line = printed.rfind("\n" + std::string(kErrorStart));
  size_t start = line == std::string::npos ? 0 : line + 1;
  if (printed.compare(start, kErrorStart.size(), kErrorStart) != 0) return "";
  start += kErrorStart.size();
  return printed.substr(start, printed.find('\n', start) - start);
}

std::string read_apart(std::string_view program, const std::optional<std::string>& plugin) {
  const TemporaryDirectory folder;
  try {
    write_file(folder.path() + kProgram, program);
  } catch (const InvalidArgumentError& error) {
    throw InvalidArgumentError(std::string(error.what()) + "; free space there, or set TMPDIR");
  }
  std::vector<std::string> command{"/proc/self/exe", kCommand, folder.path()};
  if (plugin) command.push_back("--plugin=" + *plugin);
  const double limit = limit_seconds(program);
  const ChildResult result = run_child(command, limit);
  require<PluginError>(!result.timed_out, kPlace,
                       "the plug-in did not read it within {:.0f} s: the file is damaged, or give another --plugin",
                       limit);
  require<PluginError>(result.signal == 0, kPlace,
                       "the plug-in's reader crashed ({}): the file is damaged, or give another --plugin",
                       strsignal(result.signal));
  if (result.status == 0) return read_file(folder.path() + kModule);
  const std::string error = own_error(result.printed);
  if (!error.empty()) throw PluginError(error);
  raise<PluginError>(kPlace, "the plug-in ended its reader with status {}: give another --plugin", result.status);
}

int read(const std::string& folder, const std::string& plugin) {
  end_with_parent();
  set_temporary_folder(folder);
  ClientSource source(plugin.empty() ? std::nullopt : std::optional(plugin), 1);
  write_file(folder + kModule, pjrt::stablehlo_to_hlo(source.get(), read_file(folder + kProgram)));
  return 0;
}

}  // namespace

compiler::StableHloReader isolated_reader(std::optional<std::string> plugin) {
  return [plugin = std::move(plugin)](std::string_view program) { return read_apart(program, plugin); };
}

Command add_read_stablehlo(CLI::App& root) {
  CLI::App* app = root.add_subcommand(kCommand, "Reads the StableHLO in a folder, for the other commands");
  app->group("");  // not shown
  auto folder = std::make_shared<std::string>();
  auto plugin = std::make_shared<std::string>();
  app->add_option("FOLDER", *folder)->required();
  app->add_option("--plugin", *plugin);
  return {app, [folder, plugin] { return read(*folder, *plugin); }};
}

}  // namespace alpa::tool
