#include "result_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "alpa/base/error.h"

namespace alpa::tool {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Whole numbers without ".0".
Json whole(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<int64_t>(value);
  return number(value);
}

Json collectives_json(const compiler::Compiled& compiled, const plan::Plan& plan) {
  std::map<std::string, std::pair<hlo::CollectiveTotal, plan::CollectiveCount>> kinds;
  for (const auto& [kind, total] : compiled.found) kinds[kind].first = total;
  for (const auto& [kind, total] : plan.collectives) kinds[kind].second = total;
  Json json = Json::object();
  for (const auto& [kind, totals] : kinds) {
    json[kind] = {{"count", whole(totals.first.count)},
                  {"bytes", whole(totals.first.bytes)},
                  {"predicted_count", whole(totals.second.count)},
                  {"predicted_bytes", whole(totals.second.bytes)}};
  }
  return json;
}

std::vector<double> read_numbers(const Json& json, const char* key, const std::string& source) {
  require<InvalidArgumentError>(json.is_object() && json.contains(key) && json[key].is_array(), "result",
                                "{} lacks \"{}\": is it a file that `alpa run --out` wrote?", source, key);
  std::vector<double> numbers;
  for (const Json& one : json[key]) {
    require<InvalidArgumentError>(one.is_number() || one.is_null(), "result", "{}: \"{}\" holds what is no number",
                                  source, key);
    numbers.push_back(one.is_null() ? std::numeric_limits<double>::quiet_NaN() : one.get<double>());
  }
  return numbers;
}

}  // namespace

std::string result_json(const RunResult& result, const compiler::Compiled& compiled, const plan::Plan& plan) {
  Json json;
  json["losses"] = Json::array();
  for (const double loss : result.losses) json["losses"].push_back(number(loss));
  json["step_seconds"] = result.step_seconds;
  json["planning_seconds"] = plan.planning_seconds;
  json["compile_seconds"] = compiled.compile_seconds;
  json["collectives"] = collectives_json(compiled, plan);
  json["memory_per_device_bytes"] = compiled.memory_per_device_bytes;
  json["predicted_memory_per_device_bytes"] = plan.predicted_memory_per_device_bytes;
  json["objective"] = plan.objective_seconds;
  json["bound"] = plan.bound_seconds;
  json["gap"] = plan.gap();
  json["plan"] = Json::parse(plan::to_json(plan));
  return json.dump() + "\n";
}

RunResult result_from_json(const std::string& text, const std::string& source) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  require<InvalidArgumentError>(!json.is_discarded(), "result", "{} is no JSON, or cut short", source);
  return {read_numbers(json, "losses", source), read_numbers(json, "step_seconds", source)};
}

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(numbers.begin(), middle)) / 2;
}

}  // namespace alpa::tool
