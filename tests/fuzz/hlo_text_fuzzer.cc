#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/text.h"
#include "one_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return alpa::fuzz::one_input(bytes, size, [](std::string_view text) {
    const alpa::hlo::Module module = alpa::hlo::parse_text(text);
    ALPA_CHECK(alpa::hlo::write_module(alpa::hlo::parse_text(alpa::hlo::to_text(module))) ==
               alpa::hlo::write_module(module));
  });
}
