#include "alpa/compiler/meta.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "alpa/base/error.h"
#include "alpa/base/json.h"
#include "alpa/base/name_source.h"

namespace alpa::compiler {
namespace {

using Json = nlohmann::ordered_json;

Role parse_role(const std::string& text) {
  if (text == "params") return Role::kParams;
  if (text == "opt_state") return Role::kOptState;
  if (text == "extra") return Role::kExtra;
  if (text == "batch") return Role::kBatch;
  if (text == "loss") return Role::kLoss;
  return Role::kUnknown;
}

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  Meta run(const Json& json) const {
    Meta meta;
    meta.source = source_;
    std::set<std::string> names;
    for (const Json& entry : list(json, "inputs")) {
      meta.inputs.push_back(input(entry, meta.inputs.size()));
      if (!names.insert(meta.inputs.back().name).second) fail("two inputs are named " + meta.inputs.back().name);
    }
    for (const Json& entry : list(json, "outputs")) meta.outputs.push_back(output(entry, meta));
    if (json.contains("marker") && !json["marker"].is_null()) meta.marked = marked(json["marker"]);
    return meta;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    raise<InvalidArgumentError>("meta", "{}: {}", source_, reason);
  }

  const Json& list(const Json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key) || !object[key].is_array())
      fail(std::string("\"") + key + "\" must be a list");
    return object[key];
  }

  std::string text(const Json& object, const char* key, const std::string& where) const {
    if (!object.is_object() || !object.contains(key) || !object[key].is_string())
      fail(where + ": \"" + key + "\" must be a string");
    return object[key].get<std::string>();
  }

  tensor::Shape shape(const Json& entry, const std::string& name) const {
    tensor::Shape result;
    result.dtype = tensor::parse_dtype(text(entry, "dtype", name));
    for (const Json& dim : list(entry, "shape")) {
      if (!dim.is_number_unsigned()) fail(name + ": its shape has a bad dim");
      result.dims.push_back(dim.get<int64_t>());
    }
    return result;
  }

  // Lists are in the program's order.
  void check_index(const Json& entry, size_t index, const std::string& name) const {
    if (entry.contains("index") && entry["index"] != index)
      fail(fmt::format("{} has \"index\" {}, but its place is {}", name, entry["index"].dump(), index));
  }

  InputMeta input(const Json& entry, size_t index) const {
    InputMeta result;
    result.name = text(entry, "name", "input " + std::to_string(index));
    check_index(entry, index, result.name);
    if (entry.contains("role")) result.role = parse_role(text(entry, "role", result.name));
    result.shape = shape(entry, result.name);
    if (entry.contains("donated")) {
      if (!entry["donated"].is_boolean()) fail(result.name + ": \"donated\" must be true or false");
      result.donated = entry["donated"].get<bool>();
    }
    if (entry.contains("init")) result.zeros = entry["init"] == "zeros";
    if (entry.contains("batch_dim") && !entry["batch_dim"].is_null()) {
      const Json& dim = entry["batch_dim"];
      if (!dim.is_number_unsigned() || dim.get<uint64_t>() >= result.shape.dims.size())
        fail(result.name + ": \"batch_dim\" is no dim of it");
      result.batch_dim = dim.get<int>();
    }
    return result;
  }

  OutputMeta output(const Json& entry, const Meta& meta) const {
    OutputMeta result;
    result.name = text(entry, "name", "output " + std::to_string(meta.outputs.size()));
    check_index(entry, meta.outputs.size(), result.name);
    if (entry.contains("shape") && entry.contains("dtype")) result.shape = shape(entry, result.name);
    if (entry.contains("role")) result.role = parse_role(text(entry, "role", result.name));
    if (entry.contains("feeds_input") && !entry["feeds_input"].is_null()) {
      const Json& input = entry["feeds_input"];
      if (!input.is_number_unsigned() || input.get<size_t>() >= meta.inputs.size())
        fail(result.name + ": \"feeds_input\" is no input");
      result.feeds_input = input.get<int>();
    }
    return result;
  }

  std::vector<std::string> marked(const Json& marker) const {
    std::vector<std::string> names;
    for (const Json& name : list(marker, "operands")) {
      if (!name.is_string()) fail("\"marker\": \"operands\" must be a list of names");
      names.push_back(name.get<std::string>());
    }
    return names;
  }

  std::string_view source_;
};

}  // namespace

Meta parse_meta(std::string_view text, std::string_view source) {
  const Json json = parse_json(text, "meta", source);
  require<InvalidArgumentError>(!json.is_discarded(), "meta", "{} is no JSON, or cut short", source);
  return name_source(source, [&] { return Reader(source).run(json); });
}

}  // namespace alpa::compiler
