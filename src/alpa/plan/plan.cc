#include "alpa/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "alpa/base/error.h"
#include "alpa/base/json.h"
#include "alpa/base/name_source.h"
#include "alpa/plan/checksum.h"

namespace alpa::plan {
namespace {

using Json = nlohmann::ordered_json;
using sharding::ShardingSpec;

// The time that planning took is no part of it: the same plan has the same checksum.
std::string checksum_of(Json json) {
  json.erase("checksum");
  json.erase("planning_seconds");
  return program_hash(json.dump());
}

Json spec_to_json(const ShardingSpec& spec, const mesh::LogicalMesh& mesh) {
  Json result = Json::array();
  for (const sharding::Tile& tile : spec.dims) {
    if (tile.empty()) {
      result.push_back(nullptr);
      continue;
    }
    Json axes = Json::array();
    for (int k = 0; k < tile.size(); ++k) axes.push_back(mesh.axis(tile[k]).name);
    result.push_back(axes);
  }
  return result;
}

class Reader {
 public:
  Reader(std::string_view source) : source_(source) {}

  std::string_view source() const { return source_; }

  template <typename... Args>
  void check(bool condition, fmt::format_string<Args...> text, Args&&... args) const {
    if (!condition)
      raise<InvalidArgumentError>("plan", "{}: {}", source_, fmt::format(text, std::forward<Args>(args)...));
  }

  const Json& field(const Json& object, const char* key) const {
    check(object.is_object() && object.contains(key), "field \"{}\" is missing; is it a plan.json?", key);
    return object[key];
  }

  std::string text(const Json& object, const char* key) const {
    check(field(object, key).is_string(), "\"{}\" must be a string", key);
    return object[key].get<std::string>();
  }

  std::vector<std::string> texts(const Json& object, const char* key) const {
    check(field(object, key).is_array(), "\"{}\" must be a list", key);
    std::vector<std::string> result;
    for (const Json& one : object[key]) {
      check(one.is_string(), "\"{}\" must be a list of strings", key);
      result.push_back(one.get<std::string>());
    }
    return result;
  }

  double number(const Json& object, const char* key) const {
    check(field(object, key).is_number(), "\"{}\" must be a number", key);
    return object[key].get<double>();
  }

  double seconds(const Json& object, const char* key) const {
    const double value = number(object, key);
    check(value >= 0 && std::isfinite(value), "\"{}\" is {}: no number of seconds", key, value);
    return value;
  }

  // What was written follows from the others; one that does not was changed.
  void check_gap(const Json& object, double gap) const {
    if (!object.contains("gap")) return;
    const double value = number(object, "gap");
    check(std::abs(value - gap) <= 1e-9, "\"gap\" is {}, objective and bound say {}", value, gap);
  }

  int64_t whole(const Json& object, const char* key) const {
    const double value = number(object, key);
    check(value >= 0 && value <= 1e18, "\"{}\" is {}: it must be from 0 to 10^18", key, value);
    return static_cast<int64_t>(value);
  }

  mesh::ClusterSpec cluster(const Json& object, const mesh::LogicalMesh& mesh) const {
    const std::string name = text(object, "cluster");
    if (object.contains("cluster_description")) {
      mesh::ClusterSpec described = mesh::cluster_from_json(object["cluster_description"].dump(), source_);
      check(described.name == name, "it is for cluster {} and describes {}", name, described.name);
      return described;
    }
    if (name == "local-cpu") return mesh::local_cpu(mesh.num_devices());
    const std::vector<std::string> ready = mesh::ready_clusters();
    check(std::find(ready.begin(), ready.end(), name) != ready.end(),
          "field \"cluster_description\" is missing, and {} is no ready cluster: plan again", name);
    return mesh::load_cluster(name);
  }

  ShardingSpec spec(const Json& json, const mesh::LogicalMesh& mesh, std::string_view where) const {
    check(json.is_array(), "the spec of {} must be a list, one entry a dim", where);
    ShardingSpec result;
    std::vector<bool> used(static_cast<size_t>(mesh.num_axes()));
    for (const Json& dim : json) {
      sharding::Tile tile;
      check(dim.is_null() || dim.is_array(), "the spec of {} has an entry that is neither null nor a list of axes",
            where);
      for (const Json& name : dim.is_null() ? Json::array() : dim) {
        int axis = -1;
        for (int k = 0; k < mesh.num_axes(); ++k) axis = name == mesh.axis(k).name ? k : axis;
        check(axis >= 0 && !used[static_cast<size_t>(axis)],
              "the spec of {} names an axis that the mesh {} lacks, or one twice", where, mesh.to_string());
        used[static_cast<size_t>(axis)] = true;
        tile.push_back(axis);
      }
      result.dims.push_back(tile);
    }
    return result;
  }

  std::vector<TensorPlan> tensors(const Json& object, const char* key, const mesh::LogicalMesh& mesh) const {
    std::vector<TensorPlan> result;
    check(field(object, key).is_array(), "\"{}\" must be a list", key);
    for (const Json& one : object[key]) {
      TensorPlan tensor;
      tensor.name = text(one, "name");
      tensor.shape.dtype = tensor::parse_dtype(text(one, "dtype"));
      check(field(one, "shape").is_array(), "the shape of {} must be a list", tensor.name);
      for (const Json& dim : one["shape"]) {
        check(dim.is_number_integer() && dim.get<int64_t>() >= 0, "the shape of {} has a bad dim", tensor.name);
        tensor.shape.dims.push_back(dim.get<int64_t>());
      }
      tensor.spec = spec(field(one, "spec"), mesh, tensor.name);
      check(tensor.spec.rank() == tensor.shape.rank(), "the spec of {} does not have its rank", tensor.name);
      result.push_back(std::move(tensor));
    }
    return result;
  }

  std::vector<std::string> forbidden_collectives(const Json& object) const {
    std::vector<std::string> kinds;
    if (!object.contains("forbidden_collectives")) return kinds;
    check(object["forbidden_collectives"].is_array(), "\"forbidden_collectives\" must be a list");
    for (const Json& kind : object["forbidden_collectives"]) {
      check(kind == "all-gather" || kind == "all-to-all",
            "\"forbidden_collectives\" may name all-gather and all-to-all");
      kinds.push_back(kind.get<std::string>());
    }
    return kinds;
  }

  std::map<std::string, std::vector<ShardingSpec>> specs(const Json& object, const char* key,
                                                         const mesh::LogicalMesh& mesh, bool one_is_bare) const {
    std::map<std::string, std::vector<ShardingSpec>> result;
    check(field(object, key).is_object(), "\"{}\" must be an object", key);
    for (const auto& [name, value] : object[key].items()) {
      check(value.is_array() || value.is_object(), "{} of {} must be a spec or a tuple of specs", key, name);
      auto& list = result[name];
      const bool many = !one_is_bare || value.is_object();
      if (!many) {
        list.push_back(spec(value, mesh, name));
        continue;
      }
      const Json& elements = value.is_object() ? field(value, "tuple") : value;
      check(elements.is_array(), "{} of {} must be a list", key, name);
      for (const Json& element : elements) list.push_back(spec(element, mesh, name));
    }
    return result;
  }

 private:
  std::string_view source_;
};

// NumPy's name, or XLA's of what NumPy lacks; the reader takes both.
std::string_view dtype_name(tensor::DType dtype) {
  const std::string_view numpy = tensor::numpy_name(dtype);
  return numpy.empty() ? tensor::name(dtype) : numpy;
}

Json tensors_to_json(const std::vector<TensorPlan>& tensors, const mesh::LogicalMesh& mesh) {
  Json result = Json::array();
  for (const TensorPlan& tensor : tensors) {
    result.push_back({{"name", tensor.name},
                      {"shape", tensor.shape.dims},
                      {"dtype", std::string(dtype_name(tensor.shape.dtype))},
                      {"spec", spec_to_json(tensor.spec, mesh)}});
  }
  return result;
}

}  // namespace

double Plan::gap() const {
  return objective_seconds <= 0 ? 0 : (objective_seconds - bound_seconds) / objective_seconds;
}

std::string to_json(const Plan& plan) {
  std::vector<int64_t> sizes;
  for (const mesh::MeshAxis& axis : plan.mesh.axes()) sizes.push_back(axis.size);
  Json json;
  json["version"] = Plan::kVersion;
  json["program_hash"] = plan.program_hash;
  json["cluster"] = plan.cluster.name;
  json["cluster_description"] = Json::parse(mesh::to_json(plan.cluster));
  json["mesh"] = plan.mesh.to_string();
  json["method"] = plan.method;
  json["micro_batches"] = plan.micro_batches;
  json["objective_seconds"] = plan.objective_seconds;
  json["bound_seconds"] = plan.bound_seconds;
  json["gap"] = plan.gap();
  json["communication_seconds"] = plan.communication_seconds;
  json["planning_seconds"] = plan.planning_seconds;
  json["predicted_memory_per_device_bytes"] = plan.predicted_memory_per_device_bytes;
  json["collectives"] = Json::object();
  for (const auto& [kind, total] : plan.collectives)
    json["collectives"][kind] = {{"count", total.count}, {"bytes", total.bytes}};
  if (!plan.forbidden_collectives.empty()) json["forbidden_collectives"] = plan.forbidden_collectives;
  json["inputs"] = tensors_to_json(plan.inputs, plan.mesh);
  json["outputs"] = tensors_to_json(plan.outputs, plan.mesh);
  if (!plan.rematerialized.empty()) {
    json["rematerialized"] = plan.rematerialized;
    json["rematerialization"] = {{"saved_bytes_per_device", plan.rematerialization_saved_bytes},
                                 {"added_seconds", plan.rematerialization_added_seconds}};
  }
  json["ops"] = Json::object();
  for (const auto& [name, specs] : plan.ops) {
    if (specs.size() == 1) {
      json["ops"][name] = spec_to_json(specs[0], plan.mesh);
      continue;
    }
    Json tuple = Json::array();
    for (const ShardingSpec& spec : specs) tuple.push_back(spec_to_json(spec, plan.mesh));
    json["ops"][name] = {{"tuple", tuple}};
  }
  json["operands"] = Json::object();
  for (const auto& [name, specs] : plan.operands) {
    Json list = Json::array();
    for (const ShardingSpec& spec : specs) list.push_back(spec_to_json(spec, plan.mesh));
    json["operands"][name] = list;
  }
  if (!plan.deferred_sums.empty()) json["deferred_sums"] = plan.deferred_sums;
  json["checksum"] = checksum_of(json);
  return json.dump() + "\n";
}

bool is_changed(std::string_view text, std::string_view source) {
  const Json json = parse_json(text, "plan", source);
  return json.is_object() && json.contains("checksum") && json["checksum"] != checksum_of(json);
}

namespace {

Plan read_plan(std::string_view text, const Reader& read) {
  const Json json = parse_json(text, "plan", read.source());
  read.check(!json.is_discarded(), "not JSON, or cut short");
  const double version = read.number(json, "version");
  read.check(version == Plan::kVersion, "plan version {}: this program reads version {}", version, Plan::kVersion);
  Plan plan;
  plan.program_hash = read.text(json, "program_hash");
  plan.mesh = mesh::LogicalMesh::parse(read.text(json, "mesh"));
  plan.cluster = read.cluster(json, plan.mesh);
  plan.method = read.text(json, "method");
  constexpr std::array<std::string_view, 5> kMethods = {"none", "data", "shard", "zero2", "zero3"};
  const bool known = std::find(kMethods.begin(), kMethods.end(), plan.method) != kMethods.end();
  read.check(known, "unknown method \"{}\": none, data, shard, zero2 or zero3", plan.method);
  plan.micro_batches = read.whole(json, "micro_batches");
  plan.objective_seconds = read.seconds(json, "objective_seconds");
  plan.bound_seconds = read.seconds(json, "bound_seconds");
  if (json.contains("communication_seconds")) plan.communication_seconds = read.seconds(json, "communication_seconds");
  read.check(plan.bound_seconds <= plan.objective_seconds * (1 + 1e-9), "\"bound_seconds\" is above the objective");
  read.check_gap(json, plan.gap());
  plan.planning_seconds = read.seconds(json, "planning_seconds");
  plan.predicted_memory_per_device_bytes = read.whole(json, "predicted_memory_per_device_bytes");
  read.check(read.field(json, "collectives").is_object(), "\"collectives\" must be an object");
  for (const auto& [kind, total] : json["collectives"].items()) {
    plan.collectives[kind] = {read.number(total, "count"), read.number(total, "bytes")};
  }
  plan.forbidden_collectives = read.forbidden_collectives(json);
  plan.inputs = read.tensors(json, "inputs", plan.mesh);
  plan.outputs = read.tensors(json, "outputs", plan.mesh);
  if (json.contains("rematerialized")) plan.rematerialized = read.texts(json, "rematerialized");
  if (json.contains("rematerialization")) {
    const Json& estimate = json["rematerialization"];
    plan.rematerialization_saved_bytes = read.whole(estimate, "saved_bytes_per_device");
    plan.rematerialization_added_seconds = read.seconds(estimate, "added_seconds");
  }
  plan.ops = read.specs(json, "ops", plan.mesh, /*one_is_bare=*/true);
  if (json.contains("operands")) plan.operands = read.specs(json, "operands", plan.mesh, /*one_is_bare=*/false);
  if (json.contains("deferred_sums")) plan.deferred_sums = read.texts(json, "deferred_sums");
  return plan;
}

}  // namespace

Plan plan_from_json(std::string_view text, std::string_view source) {
  return name_source(source, [&] { return read_plan(text, Reader(source)); });
}

std::string program_hash(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3u;
  }
  return fmt::format("fnv1a64:{:016x}", hash);
}

}  // namespace alpa::plan
