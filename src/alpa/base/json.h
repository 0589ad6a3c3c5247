#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace alpa {

/// The JSON in `text`; discarded (`is_discarded`) if it is none.
/// Errors: InvalidArgumentError that names `place`, `source` and the key if an object has a key twice: readers of JSON
/// differ in which of the two they take.
nlohmann::ordered_json parse_json(std::string_view text, std::string_view place, std::string_view source);

}  // namespace alpa
