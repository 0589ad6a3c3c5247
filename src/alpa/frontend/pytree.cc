#include "alpa/frontend/pytree.h"

#include <fmt/format.h>

#include "alpa/base/error.h"

namespace alpa {

std::string KeyPath::to_string() const {
  if (parent_ == nullptr) return name_;
  const std::string before = parent_->to_string();
  if (name_ == nullptr) return fmt::format("{}[{}]", before, index_);
  return before.empty() ? std::string(name_) : before + "." + name_;
}

namespace frontend {

std::string structure_of(double value) { return fmt::format("{:a}", value); }
std::string structure_of(int64_t value) { return std::to_string(value); }

void require_same_structure(const std::string& a, const std::string& b) {
  require<InvalidArgumentError>(a == b, "pytree", "two trees differ in structure: {} and {}", a, b);
}

}  // namespace frontend
}  // namespace alpa
