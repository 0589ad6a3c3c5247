#pragma once

#include <functional>
#include <vector>

#include "alpa/frontend/node.h"

/// Derivatives of recorded graphs. Arrays handed in as `inputs` are the variables; make them by `alias`, so that other
/// uses of the same value are constants.
namespace alpa::frontend {

/// True for element types that have derivatives: floats and complex numbers.
bool is_differentiable(DType dtype);

/// Reverse mode. The outputs come back because operations that keep values for the pullback are recorded anew; whoever
/// uses these and not those handed in computes nothing twice. The pullback gives one cotangent an input, empty where
/// it is zero; empty cotangents stand for zeros.
/// Errors: UnsupportedError that names an operation without a derivative in reverse mode.
Linearized linearize(const std::vector<Array>& outputs, const std::vector<Array>& inputs);

/// Forward mode. Errors: UnsupportedError that names an operation without a derivative.
Forward push_forward(const std::vector<Array>& outputs, const std::vector<Array>& inputs,
                     const std::vector<Array>& tangents);

/// Sum of what is there; empty if neither is.
Array add_tangents(const Array& a, const Array& b);
/// Zeros in place of an empty Array.
Array instantiate(const Array& tangent, const Shape& shape);

}  // namespace alpa::frontend
