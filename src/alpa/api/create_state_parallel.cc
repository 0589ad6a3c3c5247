#include "alpa/api/create_state_parallel.h"

#include "alpa/api/type_name.h"
#include "alpa/base/error.h"
#include "alpa/frontend/trace.h"

namespace alpa {

api::FixedPlacements CreateStateParallel::fixed_placements(const api::Step& step) const {
  const std::shared_ptr<Executable> train_step = compile_(step.result);
  const std::vector<PlacementSpec> wanted = train_step->get_input_placement_specs();  // the state's come first
  api::FixedPlacements fixed;
  for (size_t k = 0; k < step.function->results.size(); ++k) {
    fixed.mesh = wanted.at(k).mesh;
    fixed.outputs.emplace_back(wanted[k].spec);
  }
  return fixed;
}

void CreateStateParallel::raise_other_state(const std::type_info& made, const std::type_info& taken) {
  raise<InvalidArgumentError>("CreateStateParallel",
                              "the function returns a {}, the training step's first argument is a {}: let it return "
                              "the state alone",
                              api::readable_name(made.name()), api::readable_name(taken.name()));
}

}  // namespace alpa
