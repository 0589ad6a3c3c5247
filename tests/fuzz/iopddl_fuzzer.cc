#include "alpa/solver/iopddl.h"
#include "one_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return alpa::fuzz::one_input(bytes, size, [](std::string_view text) {
    const std::string json = alpa::solver::print_problem(alpa::solver::parse_problem(text));
    ALPA_CHECK(alpa::solver::print_problem(alpa::solver::parse_problem(json)) == json);
  });
}
