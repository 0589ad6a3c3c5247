#pragma once

#include <concepts>
#include <functional>
#include <string>
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

[[noreturn]] void raise_not_hashable(size_t argument, const char* type);
[[noreturn]] void raise_not_dynamic(size_t argument, const char* type);

template <typename T>
concept Hashable = requires(const T& value) {
  { std::hash<T>{}(value) } -> std::convertible_to<size_t>;
  { value == value } -> std::convertible_to<bool>;
};

template <typename T>
constexpr bool is_state() {
  if constexpr (requires { T::alpa_is_state; })
    return T::alpa_is_state;
  else
    return false;
}

/// Collects arrays and the text of their structure.
struct Flattener {
  std::vector<Array>& arrays;
  std::string& key;
  void leaf(const KeyPath&, const Array& array) {
    append_shape(key, array);
    arrays.push_back(array);
  }
  void mark(const std::string& text) {
    key += text;
    key += ' ';
  }
};

/// Traces a function of flat inputs; `names` are those of the inputs. `outputs` gets the names of the results.
Step trace_step(const std::vector<Array>& inputs, std::vector<std::string> names, std::vector<bool> donated,
                std::vector<bool> batch, const std::function<std::vector<Array>(const std::vector<Array>&)>& function,
                std::vector<std::string>& output_names);

}  // namespace api

}  // namespace alpa
