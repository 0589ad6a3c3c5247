#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "alpa/api/parallelize.h"

namespace alpa {

/// Takes arguments where another step has them: an evaluation of the parameters that a training step trains, without
/// moving them. The batch is divided as the other's is; its size may differ.
///
///     auto evaluate = parallelize(loss_of, {.method = FollowParallel(train)});  // loss_of(params, batch)
///
/// The other step is the one last compiled or run when this one is compiled.
class FollowParallel : public ShardParallel {
 public:
  /// From the key path of an array of this step, as "args[0].w[1]", to that of the array of the other which it follows.
  using PathOf = std::function<std::string(const std::string& path)>;

  /// By default an array follows the one of the same key path, or of the same within `params` ("args[0].w[1]" follows
  /// "args[0].params.w[1]"); the planner places those that find none.
  template <typename Function>
  explicit FollowParallel(ParallelizedFunction<Function> source, PathOf path_of = {})
      : last_executable_([source = std::move(source)] { return source.get_last_executable(); }),
        path_of_(std::move(path_of)) {}

  /// Errors: InvalidArgumentError if the other step was never compiled, no array follows one, or one has not the rank
  /// of the one that it follows.
  api::FixedPlacements fixed_placements(const api::Step& step) const override;

 private:
  std::function<std::shared_ptr<Executable>()> last_executable_;
  PathOf path_of_;
};

}  // namespace alpa
