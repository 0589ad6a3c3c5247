#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "command.h"
#include "format.h"
#include "step_options.h"

namespace alpa::tool {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  alpa devices\n"
    "  alpa devices --plugin /path/of/plugin.so\n"
    "  alpa devices --cluster h100-dgx > mine.json     (edit it, then: alpa plan STEP --cluster mine.json)";

int print_devices(const std::string& plugin, int64_t count) {
  ClientSource source(plugin.empty() ? std::nullopt : std::optional(plugin), count);
  const pjrt::Client& client = source.get();
  fmt::print("plug-in   {}\n", client.plugin().path());
  fmt::print("PJRT API  {}\n", client.plugin().api_version());
  fmt::print("platform  {}, {}\n", client.platform_name(), client.platform_version());
  for (const auto& [key, value] : client.plugin().attributes()) fmt::print("  {} = {}\n", key, value);
  Table table({{"device", true}, {"kind"}, {"description"}, {"memory in use", true}, {"memory", true}});
  for (const pjrt::Device& device : client.devices()) {
    const auto memory = device.memory_stats();
    const std::string limit =
        memory && memory->bytes_limit ? format_bytes(static_cast<double>(*memory->bytes_limit)) : "not counted";
    table.add({std::to_string(device.id()), device.kind(), device.debug_string(),
               memory ? format_bytes(static_cast<double>(memory->bytes_in_use)) : "not counted", limit});
  }
  fmt::print("\n{}", table.text());
  if (client.is_cpu()) {
    const mesh::ClusterSpec cluster = mesh::local_cpu(count);
    fmt::print("\n  planned with: {}/s and {} of memory a device (cluster local-cpu)\n",
               format_flops(cluster.device.flops_for("f32")), format_bytes(cluster.device.memory_bytes));
  }
  return 0;
}

}  // namespace

Command add_devices(CLI::App& root) {
  CLI::App* app = root.add_subcommand("devices", "Prints the plug-in and its devices, or a cluster's description");
  auto plugin = std::make_shared<std::string>();
  auto cluster = std::make_shared<std::string>();
  auto count = std::make_shared<int64_t>(8);
  app->footer(kExamples);
  app->add_option(
      "--cluster", *cluster,
      "Prints this ready description, to copy and edit: " + fmt::format("{}", fmt::join(mesh::ready_clusters(), ", ")));
  app->add_option("--devices", *count, "Virtual devices of a CPU plug-in")
      ->default_str("8")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}));
  app->add_option("--plugin", *plugin, "PJRT plug-in (.so). Default: ALPA_PJRT_PLUGIN, else the installed wheels");
  return {app, [plugin, cluster, count] {
            if (cluster->empty()) return print_devices(*plugin, *count);
            fmt::print("{}", mesh::to_json(cluster_for(*cluster, *count)));
            return 0;
          }};
}

}  // namespace alpa::tool
