#include "alpa/solver/iopddl.h"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/base/output_file.h"
#include "alpa/solver/gzip.h"

namespace alpa::solver {
namespace {

using Json = nlohmann::json;

/// Stores equal tables once.
class TableStore {
 public:
  explicit TableStore(std::vector<CostTable>& tables) : tables_(tables) {}

  int32_t add(CostTable table) {
    const size_t hash = hash_of(table);
    auto [first, last] = by_hash_.equal_range(hash);
    for (; first != last; ++first) {
      const CostTable& other = tables_[first->second];
      if (other.rows == table.rows && other.cols == table.cols && other.costs == table.costs) return first->second;
    }
    const auto id = static_cast<int32_t>(tables_.size());
    tables_.push_back(std::move(table));
    by_hash_.emplace(hash, id);
    return id;
  }

 private:
  static size_t hash_of(const CostTable& table) {
    uint64_t hash = 1469598103934665603ull + uint64_t(table.rows) * 31 + uint64_t(table.cols);
    for (int64_t cost : table.costs) hash = (hash ^ uint64_t(cost)) * 1099511628211ull;
    return hash;
  }

  std::vector<CostTable>& tables_;
  std::unordered_multimap<size_t, int32_t> by_hash_;
};

/// Reads typed values out of JSON; every complaint names where.
class Reader {
 public:
  explicit Reader(const std::string& place) : place_(place) {}

  Json parse(std::string_view bytes) const {
    const std::string text = is_gzip(bytes) ? gzip_decompress(bytes, place_) : std::string();
    const std::string_view view = is_gzip(bytes) ? std::string_view(text) : bytes;
    try {
      return Json::parse(view.begin(), view.end());
    } catch (const Json::exception& error) {
      raise<InvalidArgumentError>(place_, "not JSON: {}", error.what());
    }
  }

  const Json& member(const Json& object, const char* name, const char* of) const {
    require<InvalidArgumentError>(object.is_object() && object.contains(name), place_, "{} has no member \"{}\"", of,
                                  name);
    return object.at(name);
  }

  const Json& array(const Json& value, const std::string& what) const {
    require<InvalidArgumentError>(value.is_array(), place_, "{} is {}, not an array", what, value.type_name());
    return value;
  }

  int64_t integer(const Json& value, const std::string& what) const {
    if (value.is_number_unsigned()) {
      // Whatever lies above "forbidden" means forbidden.
      const auto number = value.get<uint64_t>();
      const auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
      return static_cast<int64_t>(std::min(number, most));
    }
    if (value.is_number_integer()) return value.get<int64_t>();
    require<InvalidArgumentError>(value.is_number_float(), place_, "{} is {}, not a number", what, value.type_name());
    const double number = value.get<double>();
    if (number >= double(kForbidden)) return kForbidden;
    require<InvalidArgumentError>(number > -1e18 && number == double(int64_t(number)), place_,
                                  "{} is {}, not a whole number", what, number);
    return static_cast<int64_t>(number);
  }

  std::vector<int64_t> integers(const Json& value, const std::string& what) const {
    array(value, what);
    std::vector<int64_t> result;
    result.reserve(value.size());
    for (const Json& element : value) {
      result.push_back(element.is_number_unsigned() || element.is_number_integer() || element.is_number_float()
                           ? integer(element, what)
                           : integer(element, what + " element " + std::to_string(result.size())));
    }
    return result;
  }

  std::pair<int64_t, int64_t> pair(const Json& value, const std::string& what) const {
    require<InvalidArgumentError>(array(value, what).size() == 2, place_, "{} has {} elements, not 2", what,
                                  value.size());
    return {integer(value[0], what), integer(value[1], what)};
  }

  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

void read_nodes(const Reader& reader, const Json& nodes, Problem& problem) {
  const Json& intervals = reader.array(reader.member(nodes, "intervals", "\"nodes\""), "nodes.intervals");
  const Json& costs = reader.array(reader.member(nodes, "costs", "\"nodes\""), "nodes.costs");
  const Json& usages = reader.array(reader.member(nodes, "usages", "\"nodes\""), "nodes.usages");
  require<InvalidArgumentError>(intervals.size() == costs.size() && costs.size() == usages.size(), reader.place(),
                                "nodes has {} intervals, {} costs and {} usages: their counts must agree",
                                intervals.size(), costs.size(), usages.size());
  problem.nodes.resize(costs.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    const std::string name = "node " + std::to_string(i);
    Node& node = problem.nodes[i];
    std::tie(node.begin, node.end) = reader.pair(intervals[i], name + " interval");
    node.costs = reader.integers(costs[i], name + " costs");
    node.usages = reader.integers(usages[i], name + " usages");
  }
}

void read_edges(const Reader& reader, const Json& edges, Problem& problem) {
  const Json& ends = reader.array(reader.member(edges, "nodes", "\"edges\""), "edges.nodes");
  const Json& costs = reader.array(reader.member(edges, "costs", "\"edges\""), "edges.costs");
  require<InvalidArgumentError>(ends.size() == costs.size(), reader.place(),
                                "edges has {} node pairs and {} cost tables: their counts must agree", ends.size(),
                                costs.size());
  TableStore store(problem.tables);
  const auto count = static_cast<int64_t>(problem.nodes.size());
  for (size_t e = 0; e < ends.size(); ++e) {
    const std::string name = "edge " + std::to_string(e);
    const auto [first, second] = reader.pair(ends[e], name);
    require<InvalidArgumentError>(first >= 0 && first < count && second >= 0 && second < count, reader.place(),
                                  "{} joins {} and {} of {} nodes", name, first, second, count);
    CostTable table;
    table.rows = static_cast<int32_t>(problem.nodes[first].costs.size());
    table.cols = static_cast<int32_t>(problem.nodes[second].costs.size());
    table.costs = reader.integers(costs[e], name + " costs");
    require<InvalidArgumentError>(table.costs.size() == size_t(table.rows) * size_t(table.cols), reader.place(),
                                  "{} has {} costs for {} x {} strategies", name, table.costs.size(), table.rows,
                                  table.cols);
    problem.edges.push_back({static_cast<int32_t>(first), static_cast<int32_t>(second), store.add(std::move(table))});
  }
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Problem parse_problem(std::string_view bytes, const std::string& place) {
  const Reader reader(place);
  const Json root = reader.parse(bytes);
  const Json& body = reader.member(root, "problem", "the file");
  Problem problem;
  if (body.is_object() && body.contains("name") && body["name"].is_string()) problem.name = body["name"];
  read_nodes(reader, reader.member(body, "nodes", "\"problem\""), problem);
  read_edges(reader, reader.member(body, "edges", "\"problem\""), problem);
  if (body.contains("usage_limit") && !body["usage_limit"].is_null()) {
    problem.usage_limit = reader.integer(body["usage_limit"], "usage_limit");
  }
  check(problem);
  return problem;
}

Problem read_problem(const std::string& path) { return parse_problem(read_file(path), path); }

std::string print_problem(const Problem& problem) {
  Json nodes = {{"intervals", Json::array()}, {"costs", Json::array()}, {"usages", Json::array()}};
  for (const Node& node : problem.nodes) {
    nodes["intervals"].push_back({node.begin, node.end});
    nodes["costs"].push_back(node.costs);
    nodes["usages"].push_back(node.usages);
  }
  Json edges = {{"nodes", Json::array()}, {"costs", Json::array()}};
  for (const Edge& edge : problem.edges) {
    edges["nodes"].push_back({edge.first, edge.second});
    edges["costs"].push_back(problem.tables[edge.table].costs);
  }
  Json body = {{"name", problem.name}, {"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
  if (problem.usage_limit) body["usage_limit"] = *problem.usage_limit;
  return Json({{"problem", std::move(body)}}).dump() + "\n";
}

std::string problem_file(const std::string& path, const Problem& problem) {
  std::string text = print_problem(problem);
  return ends_with(path, ".gz") ? gzip_compress(text) : text;
}

void write_problem(const std::string& path, const Problem& problem) { write_file(path, problem_file(path, problem)); }

std::vector<int32_t> parse_choice(std::string_view bytes, const std::string& place) {
  const Reader reader(place);
  const Json root = reader.parse(bytes);
  std::vector<int32_t> choice;
  for (int64_t strategy : reader.integers(reader.member(root, "solution", "the file"), "solution")) {
    require<InvalidArgumentError>(strategy >= 0 && strategy <= std::numeric_limits<int32_t>::max(), place,
                                  "node {} has the strategy {}", choice.size(), strategy);
    choice.push_back(static_cast<int32_t>(strategy));
  }
  return choice;
}

std::vector<int32_t> read_choice(const std::string& path) { return parse_choice(read_file(path), path); }

std::string print_choice(std::span<const int32_t> choice) {
  return Json({{"solution", std::vector<int32_t>(choice.begin(), choice.end())}}).dump() + "\n";
}

void write_choice(const std::string& path, std::span<const int32_t> choice) { write_file(path, print_choice(choice)); }

}  // namespace alpa::solver
