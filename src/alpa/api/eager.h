#pragma once

#include <memory>

#include "alpa/frontend/evaluate.h"

namespace alpa::api {

struct ClusterState;

/// Runs what is read outside of any trace on the first device; compiled programs are kept by their content.
std::shared_ptr<frontend::Evaluator> make_evaluator(std::weak_ptr<ClusterState> cluster);

}  // namespace alpa::api
