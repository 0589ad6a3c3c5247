#include "alpa/plan/plan.h"
#include "one_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return alpa::fuzz::one_input(bytes, size, [](std::string_view text) {
    const std::string json = alpa::plan::to_json(alpa::plan::plan_from_json(text, "input"));
    ALPA_CHECK(alpa::plan::to_json(alpa::plan::plan_from_json(json, "again")) == json);
  });
}
