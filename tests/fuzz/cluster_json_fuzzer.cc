#include "alpa/mesh/cluster.h"
#include "one_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return alpa::fuzz::one_input(
      bytes, size, [](std::string_view text) { alpa::mesh::to_json(alpa::mesh::cluster_from_json(text, "input")); });
}
