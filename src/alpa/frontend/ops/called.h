#pragma once

#include "alpa/frontend/node.h"
#include "alpa/frontend/ops/bodies.h"

namespace alpa::frontend {

/// Makes the primitive's lowering a call of a computation of its own: the same function may be called often, with other
/// arguments. Unused results are left out.
void lower_as_call(Primitive& primitive, const std::shared_ptr<const Function>& function);

}  // namespace alpa::frontend
