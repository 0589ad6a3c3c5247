#pragma once

#include <string>
#include <string_view>

namespace alpa::compiler {

/// Placement demanded of the inputs or outputs whose names match a glob ("*": any characters). The placement is text as
/// sharding::parse_pattern reads it: "(None,y)" has the second dim divided over axis y and the first whole,
/// "(None,None)" has the array whole on each device, "(?,y)" leaves the first dim to the planner.
struct Constraint {
  std::string pattern;
  std::string spec;
  std::string option = "--constraint";  ///< What messages call it.

  /// "--constraint 'GLOB=(None,y)'".
  std::string to_string() const;
};

/// From "GLOB=(None,y)". Errors: InvalidArgumentError that names `text`.
Constraint parse_constraint(std::string_view text);

/// True if `text` matches a glob pattern of "*" and plain characters.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace alpa::compiler
