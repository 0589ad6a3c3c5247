#include "alpa/sharding/spec.h"
#include "one_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return alpa::fuzz::one_input(bytes, size, [](std::string_view text) {
    const alpa::mesh::LogicalMesh mesh({2, 2, 2});
    const alpa::sharding::ShardingSpec spec = alpa::sharding::parse_spec(text, mesh, -1);
    ALPA_CHECK(alpa::sharding::parse_spec(alpa::sharding::to_string(spec, mesh), mesh, spec.rank()) == spec);
  });
}
