#pragma once

#include <type_traits>

namespace alpa::api {

namespace first_argument {

template <typename Function>
struct Of : Of<decltype(&Function::operator())> {};

template <typename Result, typename First, typename... Rest>
struct Of<Result (*)(First, Rest...)> {
  using type = std::remove_cvref_t<First>;
};
template <typename Result, typename First, typename... Rest>
struct Of<Result (*)(First, Rest...) noexcept> : Of<Result (*)(First, Rest...)> {};
template <typename Class, typename Result, typename First, typename... Rest>
struct Of<Result (Class::*)(First, Rest...)> : Of<Result (*)(First, Rest...)> {};
template <typename Class, typename Result, typename First, typename... Rest>
struct Of<Result (Class::*)(First, Rest...) const> : Of<Result (*)(First, Rest...)> {};
template <typename Class, typename Result, typename First, typename... Rest>
struct Of<Result (Class::*)(First, Rest...) noexcept> : Of<Result (*)(First, Rest...)> {};
template <typename Class, typename Result, typename First, typename... Rest>
struct Of<Result (Class::*)(First, Rest...) const noexcept> : Of<Result (*)(First, Rest...)> {};

template <typename T>
struct IsPointerToFunction : std::bool_constant<std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>> {
};

}  // namespace first_argument

/// Functions, functors and lambdas that are no templates: their first argument's type can be told.
template <typename Function>
concept HasFirstArgument = first_argument::IsPointerToFunction<Function>::value || requires { &Function::operator(); };

/// Type of the first argument, without reference and const.
template <HasFirstArgument Function>
using FirstArgument = typename first_argument::Of<Function>::type;

}  // namespace alpa::api
