#include "alpa/api/placement_spec.h"

#include <fmt/format.h>

namespace alpa {

std::string PlacementSpec::to_string() const {
  const std::string parts = micro_batches > 1 ? fmt::format("{} x ", micro_batches) : "";
  return fmt::format("{}{} {}", parts, tensor::to_string(shape), sharding::to_string(spec, mesh));
}

}  // namespace alpa
