#include "alpa/mesh/cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/base/json.h"

namespace alpa::mesh {
namespace {

using Json = nlohmann::ordered_json;

// Sources: the vendors' data sheets (dense FLOP/s, memory, NVLink or ICI a direction) and the networks of the named
// instances: p3.16xlarge 25 Gbit/s a host; DGX A100 8 x 200 Gbit/s; DGX H100 8 x 400 Gbit/s; TPU v5e: a 2-D torus, 45
// GB/s a link.
const std::vector<ClusterSpec>& library() {
  static const std::vector<ClusterSpec> clusters = {
      {.name = "p3.16xlarge",
       .hosts = 1,
       .devices_per_host = 8,
       .device = {{{"default", 14e12}, {"f16", 112e12}, {"bf16", 112e12}, {"f64", 7e12}}, 16.0 * (1 << 30), 900e9},
       .intra_host = {5e-6, 130e9},
       .inter_host = {20e-6, 0.39e9}},
      {.name = "a100-dgx",
       .hosts = 1,
       .devices_per_host = 8,
       .device = {{{"default", 19.5e12}, {"f16", 312e12}, {"bf16", 312e12}, {"f64", 9.7e12}}, 80.0 * (1 << 30), 2.0e12},
       .intra_host = {5e-6, 235e9},
       .inter_host = {12e-6, 23e9}},
      {.name = "h100-dgx",
       .hosts = 1,
       .devices_per_host = 8,
       .device = {{{"default", 67e12},
                   {"f16", 989e12},
                   {"bf16", 989e12},
                   {"f8e4m3fn", 1979e12},
                   {"f8e5m2", 1979e12},
                   {"f64", 34e12}},
                  80.0 * (1 << 30),
                  3.35e12},
       .intra_host = {5e-6, 370e9},
       .inter_host = {12e-6, 45e9}},
      {.name = "tpu-v5e",
       .hosts = 1,
       .devices_per_host = 8,
       .device = {{{"default", 49e12}, {"bf16", 197e12}, {"s8", 394e12}}, 16.0 * (1 << 30), 819e9},
       .intra_host = {2e-6, 90e9},
       .inter_host = {2e-6, 90e9}},
  };
  return clusters;
}

// Wider than anything that will be built, and narrow enough that seconds and bytes made from them can be counted.
struct Range {
  double lowest;
  double highest;
};
constexpr Range kSeconds = {1e-12, 1e3};
constexpr Range kBytes = {1, 0x1p60};
constexpr Range kPerSecond = {1, 1e24};

double number(const Json& object, const char* key, Range range, std::string_view source) {
  const bool given = object.contains(key) && object[key].is_number();
  const double value = given ? object[key].get<double>() : 0;
  require<InvalidArgumentError>(given && value >= range.lowest && value <= range.highest, "cluster",
                                "{}: \"{}\" must be a number from {:.4g} to {:.4g}{}", source, key, range.lowest,
                                range.highest, given ? fmt::format(", it is {:.4g}", value) : "");
  return value;
}

int64_t count(const Json& object, const char* key, std::string_view source) {
  require<InvalidArgumentError>(object.contains(key) && object[key].is_number_integer() &&
                                    object[key].get<int64_t>() > 0 && object[key].get<int64_t>() <= 1 << 20,
                                "cluster", "{}: \"{}\" must be a whole number above zero", source, key);
  return object[key].get<int64_t>();
}

const Json& section(const Json& object, const char* key, std::string_view source) {
  require<InvalidArgumentError>(object.contains(key) && object[key].is_object(), "cluster",
                                "{}: section \"{}\" is missing", source, key);
  return object[key];
}

LinkSpec read_link(const Json& object, const char* key, std::string_view source) {
  const Json& link = section(object, key, source);
  return {number(link, "latency_seconds", kSeconds, source), number(link, "bytes_per_second", kPerSecond, source)};
}

void reject_unknown_keys(const Json& object, const std::vector<std::string>& known, std::string_view source) {
  for (const auto& [key, value] : object.items()) {
    require<InvalidArgumentError>(std::find(known.begin(), known.end(), key) != known.end(), "cluster",
                                  "{}: unknown field \"{}\"", source, key);
  }
}

}  // namespace

double DeviceSpec::flops_for(std::string_view dtype) const {
  const auto found = flops_per_second.find(std::string(dtype));
  return found != flops_per_second.end() ? found->second : flops_per_second.at("default");
}

std::vector<std::string> ready_clusters() {
  std::vector<std::string> names{"local-cpu"};
  for (const ClusterSpec& cluster : library()) names.push_back(cluster.name);
  return names;
}

ClusterSpec local_cpu(int64_t num_devices) {
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const auto devices = static_cast<double>(num_devices);
  // 50 GFLOP/s and 10 GB/s a core are what XLA's CPU back end reaches on current server cores, within a factor of two;
  // an exchange between virtual devices costs a rendezvous of threads (20 us) and copies through memory.
  return {.name = "local-cpu",
          .hosts = 1,
          .devices_per_host = num_devices,
          .device = {{{"default", 50e9 * cores / devices}, {"f64", 25e9 * cores / devices}},
                     memory / devices,
                     10e9 * cores / devices},
          .intra_host = {20e-6, 5e9 * cores / devices},
          .inter_host = {20e-6, 5e9 * cores / devices}};
}

ClusterSpec load_cluster(const std::string& name_or_file) {
  if (name_or_file == "local-cpu") return local_cpu(8);
  for (const ClusterSpec& cluster : library()) {
    if (cluster.name == name_or_file) return cluster;
  }
  if (name_or_file.find_first_of("/.") != std::string::npos)
    return cluster_from_json(read_file(name_or_file), name_or_file);
  std::string names;
  for (const std::string& name : ready_clusters()) names += (names.empty() ? "" : ", ") + name;
  raise<InvalidArgumentError>("cluster", "no cluster \"{}\": the ready ones are {}; or give the path of a description",
                              name_or_file, names);
}

std::string to_json(const ClusterSpec& cluster) {
  const auto link = [](const LinkSpec& spec) {
    return Json{{"latency_seconds", spec.latency}, {"bytes_per_second", spec.bandwidth}};
  };
  Json flops = Json::object();
  for (const auto& [dtype, value] : cluster.device.flops_per_second) flops[dtype] = value;
  const Json json = {{"name", cluster.name},
                     {"hosts", cluster.hosts},
                     {"devices_per_host", cluster.devices_per_host},
                     {"device",
                      {{"flops_per_second", flops},
                       {"memory_bytes", cluster.device.memory_bytes},
                       {"memory_bytes_per_second", cluster.device.memory_bandwidth}}},
                     {"intra_host", link(cluster.intra_host)},
                     {"inter_host", link(cluster.inter_host)}};
  return json.dump(2) + "\n";
}

ClusterSpec cluster_from_json(std::string_view text, std::string_view source) {
  const Json json = parse_json(text, "cluster", source);
  require<InvalidArgumentError>(json.is_object(), "cluster",
                                "{} is no JSON object; `alpa devices --cluster h100-dgx` prints "
                                "one to copy and edit",
                                source);
  reject_unknown_keys(json, {"name", "hosts", "devices_per_host", "device", "intra_host", "inter_host"}, source);
  ClusterSpec cluster;
  require<InvalidArgumentError>(json.contains("name") && json["name"].is_string(), "cluster", "{}: \"name\" is missing",
                                source);
  cluster.name = json["name"].get<std::string>();
  cluster.hosts = count(json, "hosts", source);
  cluster.devices_per_host = count(json, "devices_per_host", source);
  const Json& device = section(json, "device", source);
  reject_unknown_keys(device, {"flops_per_second", "memory_bytes", "memory_bytes_per_second"}, source);
  const Json& flops = section(device, "flops_per_second", source);
  number(flops, "default", kPerSecond, source);
  for (const auto& [dtype, value] : flops.items()) {
    cluster.device.flops_per_second[dtype] = number(flops, dtype.c_str(), kPerSecond, source);
  }
  cluster.device.memory_bytes = number(device, "memory_bytes", kBytes, source);
  cluster.device.memory_bandwidth = number(device, "memory_bytes_per_second", kPerSecond, source);
  cluster.intra_host = read_link(json, "intra_host", source);
  cluster.inter_host = read_link(json, "inter_host", source);
  return cluster;
}

LinkSpec link_of(const ClusterSpec& cluster, const LogicalMesh& mesh, const std::vector<int>& axes) {
  for (const int axis : axes) {
    // Neighbours along the axis are `stride` apart; the farthest pair of a group spans this many devices.
    if (mesh.stride(axis) * mesh.size(axis) > cluster.devices_per_host && mesh.size(axis) > 1)
      return cluster.inter_host;
  }
  return cluster.intra_host;
}

}  // namespace alpa::mesh
