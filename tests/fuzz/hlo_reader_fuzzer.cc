#include "alpa/hlo/collectives.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/inline_calls.h"
#include "alpa/hlo/liveness.h"
#include "alpa/hlo/load.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/text.h"
#include "alpa/hlo/value_graph.h"
#include "one_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return alpa::fuzz::one_input(bytes, size, [](std::string_view text) {
    alpa::hlo::recognize(text);
    const alpa::hlo::Module module = alpa::hlo::read_module(text);
    const std::string written = alpa::hlo::write_module(module);
    ALPA_CHECK(alpa::hlo::write_module(alpa::hlo::parse_text(alpa::hlo::to_text(module))) == written);
    alpa::hlo::flops(module);
    alpa::hlo::collectives(module);
    alpa::hlo::liveness(module, module.entry_computation());
    alpa::hlo::build_value_graph(alpa::hlo::inline_calls(module));
  });
}
