#pragma once

#include "alpa/frontend/array.h"

namespace alpa {

/// An array of which only the shape is known, as JAX's ShapeDtypeStruct: enough to trace, plan and compile for, as in
/// `step.get_executable(...)`. Errors: reading it is an InvalidArgumentError.
Array shape_dtype_struct(Shape shape);

}  // namespace alpa
