#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/sharding/spec.h"

namespace alpa::sharding {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const mesh::LogicalMesh& mesh) : text_(text), mesh_(mesh) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(compact_), [](char c) { return c != ' ' && c != '\t'; });
    if (compact_.size() >= 2 && compact_.front() == '(' && closing(0) == compact_.size() - 1) {
      const bool one_group = compact_.find('+') != std::string::npos && compact_.find(',') == std::string::npos &&
                             compact_.find('(', 1) == std::string::npos;
      if (!one_group) compact_ = compact_.substr(1, compact_.size() - 2);
    }
    if (!compact_.empty() && compact_.back() == ',') compact_.pop_back();
  }

  ShardingSpec run() {
    ShardingSpec spec;
    if (compact_.empty()) return spec;
    size_t at = 0;
    while (true) {
      const size_t end = std::min(compact_.find(',', at), compact_.size());
      spec.dims.push_back(tile(compact_.substr(at, end - at)));
      if (end == compact_.size()) return spec;
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

  Tile tile(std::string part) {
    if (part == "None" || part == "-") return {};
    if (part.size() >= 2 && part.front() == '(' && part.back() == ')') part = part.substr(1, part.size() - 2);
    Tile result;
    size_t at = 0;
    while (true) {
      const size_t end = std::min(part.find('+', at), part.size());
      result.push_back(axis(part.substr(at, end - at)));
      if (end == part.size()) return result;
      at = end + 1;
    }
  }

  int axis(const std::string& name) {
    for (int k = 0; k < mesh_.num_axes(); ++k) {
      if (mesh_.axis(k).name != name) continue;
      if (std::find(used_.begin(), used_.end(), k) != used_.end()) fail("axis " + name + " is used twice");
      used_.push_back(k);
      return k;
    }
    std::string axes;
    for (const mesh::MeshAxis& one : mesh_.axes()) axes += " " + one.name;
    fail("\"" + name + "\" is neither None nor an axis; the axes are" + axes);
  }

  [[noreturn]] void fail(const std::string& reason) const {
    raise<InvalidArgumentError>("sharding", "\"{}\": {}; write one entry a dim, like (None,x) or ((x+y),None)", text_,
                                reason);
  }

  std::string_view text_;
  const mesh::LogicalMesh& mesh_;
  std::string compact_;
  std::vector<int> used_;
};

}  // namespace

ShardingSpec parse_spec(std::string_view text, const mesh::LogicalMesh& mesh, int rank) {
  ShardingSpec spec = Parser(text, mesh).run();
  require<InvalidArgumentError>(rank < 0 || spec.rank() == rank, "sharding", "\"{}\" has {} dims for an array of {}",
                                text, spec.rank(), rank);
  return spec;
}

}  // namespace alpa::sharding
