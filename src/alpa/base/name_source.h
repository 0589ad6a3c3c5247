#pragma once

#include <string>
#include <string_view>

#include "alpa/base/error.h"

namespace alpa {

namespace internal {
/// "[place] text" -> "[place] source: text", unless the text names the source.
std::string with_source(std::string_view text, std::string_view source);
}  // namespace internal

/// Runs `body`, which reads what `source` (a file) holds; errors that do not name it get its name, but those that are
/// no fault of the file.
template <typename Body>
auto name_source(std::string_view source, Body body) {
  try {
    return body();
  } catch (const InvalidArgumentError& error) {
    throw InvalidArgumentError(internal::with_source(error.what(), source));
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(internal::with_source(error.what(), source));
  } catch (const PluginError& error) {
    throw PluginError(internal::with_source(error.what(), source));
  }
}

}  // namespace alpa
