#pragma once

#include <algorithm>
#include <any>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "alpa/api/arguments.h"
#include "alpa/api/cluster.h"
#include "alpa/api/executable.h"
#include "alpa/api/method.h"
#include "alpa/frontend/pytree.h"
#include "alpa/frontend/shape_dtype_struct.h"
#include "alpa/frontend/transforms.h"

namespace alpa {

/// Arguments by number, negative from the last; empty optional: the auto rule.
using ArgumentNumbers = std::optional<std::vector<int>>;

struct ParallelizeOptions {
  /// Part of the compiled step, not given to it. Auto: what holds no array. Must be numbers, strings, enums, trees of
  /// such, or types with std::hash and ==; no pointers to objects, whose values may change.
  ArgumentNumbers static_argnums = std::nullopt;
  /// Their arrays are deleted by the call, which reuses the memory. Auto: types declared with ALPA_STATE.
  ArgumentNumbers donate_argnums = std::nullopt;
  /// Arguments whose arrays have the batch as first dim.
  std::vector<int> batch_argnums = {1};
  AnyMethod method = {};
};

/// A function that runs on all devices of the cluster; made by `parallelize`. It is traced and compiled anew for each
/// structure, shapes and element types of its arguments and values of static ones. Copies share the compiled steps.
/// Several threads may call it; arrays that are still to be evaluated belong to one thread.
template <typename Function>
class ParallelizedFunction {
 public:
  ParallelizedFunction(Function function, ParallelizeOptions options)
      : shared_(std::make_shared<Shared>(std::move(function), std::move(options))) {}

  /// Runs one step. Errors: InvalidArgumentError for arguments that do not fit; those of tracing, planning, compiling.
  template <typename... Args>
  auto operator()(Args&&... arguments) const {
    using Result = ResultOf<Args...>;
    const std::tuple<api::Held<Args>...> all(arguments...);
    api::FlatCall call;
    flatten<Values<Args...>>(all, call);
    const std::shared_ptr<Entry> entry = compiled<Values<Args...>>(all, call);
    std::vector<std::shared_ptr<tensor::PlacedValue>> outputs = entry->executable->launch(call.arrays);
    if constexpr (!std::is_void_v<Result>) {
      size_t next = 0;
      return tree_map(*std::any_cast<Result>(&entry->result),
                      [&](const Array&) { return Array(std::move(outputs[next++])); });
    }
  }

  /// Compiles without running.
  template <typename... Args>
  std::shared_ptr<Executable> get_executable(const Args&... arguments) const {
    const std::tuple<api::Held<Args>...> all(arguments...);
    api::FlatCall call;
    flatten<Values<Args...>>(all, call);
    return compiled<Values<Args...>>(all, call)->executable;
  }

  /// The arguments, their arrays placed where the step wants them; static ones as they are.
  template <typename... Args>
  std::tuple<std::decay_t<Args>...> preshard_dynamic_args(const Args&... arguments) const {
    Values<Args...> all(arguments...);
    api::FlatCall call;
    flatten<Values<Args...>>(all, call);
    const std::vector<Array> placed = compiled<Values<Args...>>(all, call)->executable->preshard(call.arrays);
    size_t next = 0;
    for_each_dynamic(all, call.kinds, [&](size_t, auto& argument) {
      argument = tree_map(argument, [&](const Array&) { return placed[next++]; });
    });
    return all;
  }

  /// Of the last arguments that the function was called with or compiled for; null before.
  std::shared_ptr<Executable> get_last_executable() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->last == nullptr ? nullptr : shared_->last->executable;
  }

 private:
  template <typename... Args>
  using Values = std::tuple<std::decay_t<Args>...>;
  template <typename... Args>
  using ResultOf =
      std::remove_cvref_t<decltype(api::call(std::declval<Function&>(), std::declval<Values<Args...>&>()))>;

  struct Entry {
    std::string key;
    std::shared_ptr<Executable> executable;
    std::any result;   ///< What the function returned while it was traced, of its arrays the shapes alone.
    std::any statics;  ///< The static arguments, to compare what is told apart by its hash.
  };
  struct Shared {
    Shared(Function f, ParallelizeOptions o) : function(std::move(f)), options(std::move(o)) {}
    Function function;
    ParallelizeOptions options;
    std::recursive_mutex mutex;  // held while the function is traced, which may ask for the last executable
    uint64_t generation = 0;     ///< Of the cache; entries of another are stale.
    std::unordered_map<std::string, std::vector<std::shared_ptr<Entry>>> entries;
    std::shared_ptr<Entry> last;
  };

  // `Tuple` holds the values of the arguments, `All` them or references.
  template <typename Tuple, typename All>
  void flatten(const All& all, api::FlatCall& call) const {
    api::require_outside_traces();
    call.kinds = kinds_of<Tuple>();
    [&]<size_t... Index>(std::index_sequence<Index...>) {
      (flatten_one(std::get<Index>(all), Index, call), ...);
    }(std::make_index_sequence<std::tuple_size_v<Tuple>>());
  }

  template <typename T>
  static void flatten_one(const T& argument, size_t index, api::FlatCall& call) {
    call.key += '|';
    if (call.kinds.is_static[index]) {
      if constexpr (frontend::is_pytree<T>())
        api::require_no_arrays(index, tree_paths(argument, api::name_of(index).c_str()));
      if constexpr (frontend::StaticLeaf<T>)
        call.key += frontend::static_text(argument);
      else if constexpr (api::Text<T>)
        call.key += frontend::static_text(std::string(std::string_view(argument)));
      else if constexpr (api::Address<T>)
        api::raise_address(index, typeid(T).name());
      else if constexpr (api::Hashable<T>)
        call.key += std::to_string(std::hash<T>{}(argument));
      else if constexpr (frontend::is_pytree<T>())
        call.key += tree_structure(argument);
      else if constexpr (std::is_empty_v<T>)
        call.key += typeid(T).name();
      else
        api::raise_not_hashable(index, typeid(T).name());
      return;
    }
    if constexpr (frontend::is_pytree<T>()) {
      api::Flattener flattener{call};
      frontend::walk(argument, flattener, KeyPath(""));
    } else {
      api::raise_not_dynamic(index, typeid(T).name());
    }
  }

  template <typename Tuple>
  api::ArgumentKinds kinds_of() const {
    constexpr size_t count = std::tuple_size_v<Tuple>;
    const ParallelizeOptions& options = shared_->options;
    api::ArgumentKinds kinds;
    kinds.is_static = options.static_argnums ? api::numbered("static_argnums", *options.static_argnums, count)
                                             : automatic<Tuple>([]<typename T>() { return !frontend::is_pytree<T>(); });
    kinds.is_donated = options.donate_argnums ? api::numbered("donate_argnums", *options.donate_argnums, count)
                                              : automatic<Tuple>([]<typename T>() { return api::is_state<T>(); });
    std::vector<int> batch = options.batch_argnums;
    if (batch == std::vector<int>{1} && count < 2) batch.clear();  // the default, of a function without a batch
    kinds.is_batch = api::numbered("batch_argnums", batch, count);
    return kinds;
  }

  template <typename Tuple, typename Rule>
  static std::vector<bool> automatic(Rule rule) {
    return [&]<size_t... Index>(std::index_sequence<Index...>) {
      return std::vector<bool> { rule.template operator()<std::tuple_element_t<Index, Tuple>>()... };
    }(std::make_index_sequence<std::tuple_size_v<Tuple>>());
  }

  template <typename Tuple, typename Do>
  static void for_each_dynamic(Tuple& all, const api::ArgumentKinds& kinds, Do&& action) {
    const auto one = [&]<size_t Index>(std::integral_constant<size_t, Index>) {
      using T = std::tuple_element_t<Index, std::remove_const_t<Tuple>>;
      if constexpr (frontend::is_pytree<T>()) {
        if (!kinds.is_static[Index]) action(Index, std::get<Index>(all));
      }
    };
    [&]<size_t... Index>(std::index_sequence<Index...>) {
      (one(std::integral_constant<size_t, Index>{}), ...);
    }(std::make_index_sequence<std::tuple_size_v<std::remove_const_t<Tuple>>>());
  }

  template <typename T>
  static bool same_static(const T& a, const T& b) {
    if constexpr (api::Hashable<T> && !frontend::StaticLeaf<T> && !api::Text<T>)
      return a == b;
    else
      return true;  // the key says it all
  }

  template <typename Tuple, typename All>
  static bool same_statics(const Tuple& a, const All& b, const api::ArgumentKinds& kinds) {
    return [&]<size_t... Index>(std::index_sequence<Index...>) {
      return ((!kinds.is_static[Index] || same_static(std::get<Index>(a), std::get<Index>(b))) && ...);
    }(std::make_index_sequence<std::tuple_size_v<Tuple>>());
  }

  template <typename Tuple, typename All>
  static bool fits(const Entry& entry, const All& all, const api::FlatCall& call) {
    if (entry.key != call.key) return false;
    const auto* statics = std::any_cast<Tuple>(&entry.statics);
    return statics != nullptr && same_statics(*statics, all, call.kinds);
  }

  template <typename Tuple, typename All>
  std::shared_ptr<Entry> compiled(const All& all, const api::FlatCall& call) const {
    const std::lock_guard lock(shared_->mutex);
    if (const uint64_t generation = api::cache_generation(); shared_->generation != generation) {
      shared_->entries.clear();
      shared_->last.reset();
      shared_->generation = generation;
    }
    // Mostly it is the same step again, whose key need not be hashed.
    if (shared_->last != nullptr && fits<Tuple>(*shared_->last, all, call)) return shared_->last;
    std::vector<std::shared_ptr<Entry>>& entries = shared_->entries[call.key];
    auto known =
        std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return fits<Tuple>(*entry, all, call); });
    if (known == entries.end()) {
      entries.push_back(compile<Tuple>(all, call));
      known = entries.end() - 1;
    }
    shared_->last = *known;
    return *known;
  }

  template <typename Tuple, typename All>
  std::shared_ptr<Entry> compile(const All& arguments, const api::FlatCall& call) const {
    const Tuple all(arguments);
    auto entry = std::make_shared<Entry>();
    entry->key = call.key;
    std::vector<std::string> output_names;
    api::StepInputs inputs{call.arrays, {}, {}, {}};
    for_each_dynamic(all, call.kinds, [&](size_t index, const auto& argument) {
      for (std::string& path : tree_paths(argument, api::name_of(index).c_str())) {
        inputs.names.push_back(std::move(path));
        inputs.donated.push_back(call.kinds.is_donated[index]);
        inputs.batch.push_back(call.kinds.is_batch[index]);
      }
    });
    const auto flat = [&](const std::vector<Array>& parameters) {
      Tuple traced = all;
      size_t next = 0;
      for_each_dynamic(traced, call.kinds, [&](size_t, auto& argument) {
        argument = tree_map(argument, [&](const Array&) { return parameters[next++]; });
      });
      using Result = std::remove_cvref_t<decltype(api::call(shared_->function, traced))>;
      if constexpr (std::is_void_v<Result>) {
        api::call(shared_->function, traced);
        return std::vector<Array>();
      } else {
        const Result result = api::call(shared_->function, traced);
        output_names = tree_paths(result, "result");
        entry->result = tree_map(
            result, [](const Array& array) { return array.defined() ? shape_dtype_struct(array.shape()) : Array(); });
        return tree_leaves(result);
      }
    };
    api::Step step = api::trace_step(std::move(inputs), shared_->options.method->num_micro_batches, flat, output_names);
    step.result = entry->result;
    entry->executable = api::compile_step(step, *shared_->options.method);
    Tuple statics = all;  // without the arrays, which would otherwise live as long as the compiled step
    for_each_dynamic(statics, call.kinds, [](size_t, auto& argument) {
      argument = tree_map(argument, [](const Array&) { return Array(); });
    });
    entry->statics = std::move(statics);
    return entry;
  }

  std::shared_ptr<Shared> shared_;
};

/// `function` on all devices: a training step written for one device. Arguments and results are pytrees.
template <typename Function>
ParallelizedFunction<std::decay_t<Function>> parallelize(Function&& function, ParallelizeOptions options = {}) {
  return {std::forward<Function>(function), std::move(options)};
}

}  // namespace alpa
