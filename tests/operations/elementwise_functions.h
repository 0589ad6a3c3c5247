#pragma once

#include <utility>
#include <vector>

#include "alpa/frontend/ops/elementwise.h"

/// The functions of elementwise.h by name.
namespace alpa::testing {

using Unary = Array (*)(const ArrayLike&);
using Binary = Array (*)(const ArrayLike&, const ArrayLike&);

// Where each is defined: everywhere, for positive numbers, in (-1, 1), above 1.
inline const std::vector<std::pair<const char*, Unary>> kEverywhere = {{"negate", negate},
                                                                       {"abs", abs},
                                                                       {"sign", sign},
                                                                       {"floor", floor},
                                                                       {"ceil", ceil},
                                                                       {"round", round},
                                                                       {"trunc", trunc},
                                                                       {"exp", exp},
                                                                       {"exp2", exp2},
                                                                       {"expm1", expm1},
                                                                       {"cbrt", cbrt},
                                                                       {"square", square},
                                                                       {"reciprocal", reciprocal},
                                                                       {"sin", sin},
                                                                       {"cos", cos},
                                                                       {"tan", tan},
                                                                       {"atan", atan},
                                                                       {"sinh", sinh},
                                                                       {"cosh", cosh},
                                                                       {"tanh", tanh},
                                                                       {"asinh", asinh},
                                                                       {"erf", erf},
                                                                       {"sigmoid", sigmoid}};
inline const std::vector<std::pair<const char*, Unary>> kPositive = {
    {"log", log}, {"log2", log2}, {"log10", log10}, {"sqrt", sqrt}, {"rsqrt", rsqrt}};
inline const std::vector<std::pair<const char*, Unary>> kInside = {
    {"log1p", log1p}, {"asin", asin}, {"acos", acos}, {"atanh", atanh}};
inline const std::vector<std::pair<const char*, Unary>> kAbove = {{"acosh", acosh}};

inline const std::vector<std::pair<const char*, Binary>> kArithmetic = {{"add", add},
                                                                        {"subtract", subtract},
                                                                        {"multiply", multiply},
                                                                        {"divide", divide},
                                                                        {"floor_divide", floor_divide},
                                                                        {"mod", mod},
                                                                        {"remainder", remainder},
                                                                        {"power", power},
                                                                        {"maximum", maximum},
                                                                        {"minimum", minimum},
                                                                        {"atan2", atan2},
                                                                        {"logaddexp", logaddexp},
                                                                        {"hypot", hypot}};
inline const std::vector<std::pair<const char*, Binary>> kComparisons = {
    {"equal", equal},           {"not_equal", not_equal}, {"less", less},
    {"less_equal", less_equal}, {"greater", greater},     {"greater_equal", greater_equal}};
inline const std::vector<std::pair<const char*, Binary>> kBits = {
    {"bitwise_and", bitwise_and}, {"bitwise_or", bitwise_or},   {"bitwise_xor", bitwise_xor},
    {"shift_left", shift_left},   {"shift_right", shift_right}, {"logical_and", logical_and},
    {"logical_or", logical_or},   {"logical_xor", logical_xor}};
inline const std::vector<std::pair<const char*, Unary>> kOther = {{"real", real},
                                                                  {"imag", imag},
                                                                  {"conj", conj},
                                                                  {"bitwise_not", bitwise_not},
                                                                  {"population_count", population_count},
                                                                  {"count_leading_zeros", count_leading_zeros},
                                                                  {"logical_not", logical_not},
                                                                  {"is_finite", isfinite},
                                                                  {"is_nan", isnan},
                                                                  {"is_inf", isinf},
                                                                  {"nan_to_num", nan_to_num}};

}  // namespace alpa::testing
