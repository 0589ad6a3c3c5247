#include "alpa/api/follow_parallel.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/frontend/trace.h"

namespace alpa {
namespace {

// "args[0].w[1]" -> "args[0].params.w[1]".
std::string within_params(std::string path) { return path.insert(path.find(']') + 1, ".params"); }

class Followed {
 public:
  explicit Followed(std::vector<PlacementSpec> specs) : specs_(std::move(specs)) {}

  const mesh::LogicalMesh& mesh() const { return specs_.at(0).mesh; }

  const PlacementSpec* find(const std::string& path) const {
    const auto found = std::find_if(specs_.begin(), specs_.end(), [&](const auto& spec) { return spec.name == path; });
    return found == specs_.end() ? nullptr : &*found;
  }

 private:
  std::vector<PlacementSpec> specs_;
};

}  // namespace

api::FixedPlacements FollowParallel::fixed_placements(const api::Step& step) const {
  const std::shared_ptr<Executable> source = last_executable_();
  require<InvalidArgumentError>(source != nullptr, "FollowParallel",
                                "the step to follow was not compiled yet: call it, or its get_executable, first");
  const Followed followed(source->get_input_placement_specs());
  api::FixedPlacements fixed;
  for (size_t k = 0; k < step.input_names.size(); ++k) {
    const std::string& path = step.input_names[k];
    const PlacementSpec* spec = followed.find(path_of_ ? path_of_(path) : path);
    if (spec == nullptr && !path_of_) spec = followed.find(within_params(path));
    fixed.inputs.push_back(spec == nullptr ? std::nullopt : std::optional(spec->spec));
    if (spec == nullptr) continue;
    fixed.mesh = followed.mesh();
    const Shape& shape = step.function->parameters[k].shape();
    require<InvalidArgumentError>(spec->shape.rank() == shape.rank(), "FollowParallel",
                                  "{} is {} and follows {}, which is {}: say by a function of key paths which follows "
                                  "which",
                                  path, tensor::to_string(shape), spec->name, tensor::to_string(spec->shape));
  }
  require<InvalidArgumentError>(
      fixed.mesh.has_value(), "FollowParallel",
      "none of the {} arrays of the step has a key path of the one to follow, as {}: say by a "
      "function of key paths which follows which",
      step.input_names.size(), step.input_names.empty() ? "args[0]" : step.input_names[0]);
  return fixed;
}

}  // namespace alpa
