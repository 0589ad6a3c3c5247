#include "alpa/frontend/pytree.h"

#include <fmt/format.h>

#include <iterator>

#include "alpa/base/error.h"

namespace alpa {

std::string KeyPath::to_string() const {
  std::vector<const KeyPath*> way;
  for (const KeyPath* part = this; part->parent_ != nullptr; part = part->parent_) way.push_back(part);
  const KeyPath& root = way.empty() ? *this : *way.back()->parent_;
  std::string text = root.name_;
  for (; !way.empty(); way.pop_back()) {
    const KeyPath& part = *way.back();
    if (part.name_ == nullptr) {
      fmt::format_to(std::back_inserter(text), "[{}]", part.index_);
    } else {
      if (!text.empty()) text += '.';
      text += part.name_;
    }
  }
  return text;
}

namespace frontend {

std::string structure_of(long double value) { return fmt::format("{:a}", value); }
std::string structure_of(int64_t value) { return std::to_string(value); }

void require_same_structure(const std::string& a, const std::string& b) {
  require<InvalidArgumentError>(a == b, "pytree", "two trees differ in structure: {} and {}", a, b);
}

}  // namespace frontend
}  // namespace alpa
