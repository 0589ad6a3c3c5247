#include "alpa/base/json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "alpa/base/error.h"

namespace alpa {

nlohmann::ordered_json parse_json(std::string_view text, std::string_view place, std::string_view source) {
  using Json = nlohmann::ordered_json;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto check = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      require<InvalidArgumentError>(keys.back().insert(key).second, place, "{}: the key \"{}\" is there twice", source,
                                    key);
    }
    return true;
  };
  return Json::parse(text, check, /*allow_exceptions=*/false);
}

}  // namespace alpa
