#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "alpa/api/executable.h"
#include "alpa/frontend/pytree.h"

/// What `parallelize` needs to know of arguments before their types are gone.
namespace alpa {

namespace api {

/// By argument.
struct ArgumentKinds {
  std::vector<bool> is_static, is_donated, is_batch;
};

/// Which argument numbers are named. Errors: InvalidArgumentError that names the option and the number.
std::vector<bool> numbered(const char* option, const std::vector<int>& numbers, size_t count);

/// Appends what distinguishes arrays of one step from those of another.
void append_shape(std::string& key, const Array& array);

/// How an argument is held during a call: by reference, unless it decays (functions, C strings).
template <typename T>
using Held = std::conditional_t<std::is_same_v<std::decay_t<T>, std::remove_cvref_t<T>>, const std::remove_cvref_t<T>&,
                                std::decay_t<T>>;

[[noreturn]] void raise_not_hashable(size_t argument, const char* type);
[[noreturn]] void raise_address(size_t argument, const char* type);
/// Errors: InvalidArgumentError if a static argument has arrays, at these paths.
void require_no_arrays(size_t argument, const std::vector<std::string>& paths);
/// Errors: InvalidArgumentError inside a traced function.
void require_outside_traces();
[[noreturn]] void raise_not_dynamic(size_t argument, const char* type);

/// What messages and plans call an argument.
inline std::string name_of(size_t argument) { return "args[" + std::to_string(argument) + "]"; }

template <typename T>
concept Hashable = requires(const T& value) {
  { std::hash<T>{}(value) } -> std::convertible_to<size_t>;
  { value == value } -> std::convertible_to<bool>;
};

/// Told apart by what they say.
template <typename T>
concept Text = std::convertible_to<const T&, std::string_view>;

/// Pointers to objects, clever ones too: what lies there may change under the same address.
template <typename T>
concept Address = (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) || requires(const T& value) {
  typename T::element_type;
  { value.get() } -> std::convertible_to<typename T::element_type*>;
};

template <typename T>
constexpr bool is_state() {
  if constexpr (requires { T::alpa_is_state; })
    return T::alpa_is_state;
  else
    return false;
}

/// Calls with arguments that are given up, or kept where the function takes them by reference.
template <typename Function, typename... Values>
decltype(auto) call(Function& function, std::tuple<Values...>& arguments) {
  if constexpr (std::is_invocable_v<Function&, Values...>)
    return std::apply(function, std::move(arguments));
  else
    return std::apply(function, arguments);
}

/// The arguments of a call, flat. The lists of a call that ended serve the thread's next one: large allocations between
/// the small ones of a step's arrays are slow.
class FlatCall {
 public:
  FlatCall();
  ~FlatCall();
  FlatCall(const FlatCall&) = delete;
  FlatCall& operator=(const FlatCall&) = delete;

  std::vector<const Array*> arrays;
  std::string key;  ///< Structure, shapes and element types, static values.
  ArgumentKinds kinds;
};

/// Collects arrays and the text of their structure.
struct Flattener {
  FlatCall& call;
  void leaf(const KeyPath&, const Array& array) {
    append_shape(call.key, array);
    call.arrays.push_back(&array);
  }
  void mark(std::string_view text) {
    call.key += text;
    call.key += ' ';
  }
};

/// The inputs of a step, flat.
struct StepInputs {
  std::span<const Array* const> arrays;
  std::vector<std::string> names;
  std::vector<bool> donated, batch;
};

/// Traces a function of flat inputs on one of `micro_batches` parts of the batch; it sets `output_names` to the names
/// of its results. Errors: as micro_batch_shapes.
Step trace_step(StepInputs inputs, int64_t micro_batches,
                const std::function<std::vector<Array>(const std::vector<Array>&)>& function,
                std::vector<std::string>& output_names);

}  // namespace api

}  // namespace alpa
