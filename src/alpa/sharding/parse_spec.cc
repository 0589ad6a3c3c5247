#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/sharding/spec_pattern.h"

namespace alpa::sharding {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(compact_), [](char c) { return c != ' ' && c != '\t'; });
    if (compact_.size() >= 2 && compact_.front() == '(' && closing(0) == compact_.size() - 1) {
      const bool one_group = compact_.find('+') != std::string::npos && compact_.find(',') == std::string::npos &&
                             compact_.find('(', 1) == std::string::npos;
      if (!one_group) compact_ = compact_.substr(1, compact_.size() - 2);
    }
    if (!compact_.empty() && compact_.back() == ',') compact_.pop_back();
  }

  AxisNames run() {
    AxisNames dims;
    if (compact_.empty()) return dims;
    size_t at = 0;
    while (true) {
      const size_t end = std::min(compact_.find(',', at), compact_.size());
      dims.push_back(dim(compact_.substr(at, end - at)));
      if (end == compact_.size()) return dims;
      at = end + 1;
    }
  }

 private:
  size_t closing(size_t open) const {
    int depth = 0;
    for (size_t at = open; at < compact_.size(); ++at) {
      depth += compact_[at] == '(' ? 1 : compact_[at] == ')' ? -1 : 0;
      if (depth == 0) return at;
    }
    fail("its parentheses do not match");
  }

  std::optional<std::vector<std::string>> dim(std::string part) {
    std::vector<std::string> result;
    if (part == "?") return std::nullopt;
    if (part == "None" || part == "-") return result;
    if (part.size() >= 2 && part.front() == '(' && part.back() == ')') part = part.substr(1, part.size() - 2);
    size_t at = 0;
    while (true) {
      const size_t end = std::min(part.find('+', at), part.size());
      result.push_back(axis(part.substr(at, end - at)));
      if (end == part.size()) return result;
      at = end + 1;
    }
  }

  std::string axis(std::string name) {
    const bool is_name = !name.empty() && name.find_first_of("()?") == std::string::npos && name != "None";
    if (!is_name) fail("\"" + name + "\" is neither None nor an axis");
    if (std::find(used_.begin(), used_.end(), name) != used_.end()) fail("axis " + name + " is used twice");
    used_.push_back(name);
    return name;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    raise<InvalidArgumentError>("sharding", "\"{}\": {}; write one entry a dim, like (None,x) or ((x+y),None)", text_,
                                reason);
  }

  std::string_view text_;
  std::string compact_;
  std::vector<std::string> used_;
};

}  // namespace

AxisNames parse_axis_names(std::string_view text) { return Parser(text).run(); }

ShardingSpec parse_spec(std::string_view text, const mesh::LogicalMesh& mesh, int rank) {
  const std::optional<ShardingSpec> spec = parse_pattern(text, mesh, rank).exact();
  require<InvalidArgumentError>(spec.has_value(), "sharding", "\"{}\" leaves a dim open: write None for a whole dim",
                                text);
  return *spec;
}

}  // namespace alpa::sharding
