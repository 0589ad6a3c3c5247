#include "alpa/compiler/constraint.h"

#include "alpa/base/error.h"

namespace alpa::compiler {

std::string Constraint::to_string() const { return option + " '" + pattern + "=" + spec + "'"; }

Constraint parse_constraint(std::string_view text) {
  const size_t cut = text.rfind('=');
  require<InvalidArgumentError>(cut != std::string_view::npos && cut > 0, "plan",
                                "\"{}\" has no pattern and placement: write GLOB=(None,y)", text);
  Constraint constraint;
  constraint.pattern = text.substr(0, cut);
  constraint.spec = text.substr(cut + 1);
  return constraint;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace alpa::compiler
