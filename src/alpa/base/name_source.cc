#include "alpa/base/name_source.h"

namespace alpa::internal {

std::string with_source(std::string_view text, std::string_view source) {
  if (text.find(source) != std::string_view::npos) return std::string(text);
  const size_t end = text.starts_with('[') ? text.find("] ") : std::string_view::npos;
  const size_t cut = end == std::string_view::npos ? 0 : end + 2;
  return std::string(text.substr(0, cut)) + std::string(source) + ": " + std::string(text.substr(cut));
}

}  // namespace alpa::internal
