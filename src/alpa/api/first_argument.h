#pragma once

#include <type_traits>

namespace alpa::api {

namespace first_argument {

template <typename Result, typename First, typename... Rest>
std::remove_cvref_t<First> of(Result (*)(First, Rest...));
template <typename Class, typename Result, typename First, typename... Rest>
std::remove_cvref_t<First> of(Result (Class::*)(First, Rest...));
template <typename Class, typename Result, typename First, typename... Rest>
std::remove_cvref_t<First> of(Result (Class::*)(First, Rest...) const);

template <typename T>
constexpr bool kIsPointerToFunction = std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>;

/// A pointer to what is called.
template <typename Function>
constexpr auto callee() {
  if constexpr (kIsPointerToFunction<Function>)
    return Function{};
  else
    return &Function::operator();
}

}  // namespace first_argument

/// Functions, functors and lambdas that are no templates: their first argument's type can be told.
template <typename Function>
concept HasFirstArgument = first_argument::kIsPointerToFunction<Function> || requires { &Function::operator(); };

/// Type of the first argument, without reference and const.
template <HasFirstArgument Function>
using FirstArgument = decltype(first_argument::of(first_argument::callee<Function>()));

}  // namespace alpa::api
