#pragma once

#include <any>
#include <functional>
#include <memory>
#include <tuple>
#include <typeinfo>
#include <utility>

#include "alpa/api/first_argument.h"
#include "alpa/api/parallelize.h"

namespace alpa {

/// Makes a training state where the training step wants it: what the function returns lies as the step's first argument
/// does. The values are those of one device.
///
///     auto train = parallelize(train_step, {.method = Zero2Parallel()});
///     auto create = parallelize(create_state, {.method = CreateStateParallel(train, batch)});
///     State state = create();
class CreateStateParallel : public ShardParallel {
 public:
  /// `others`: what the step takes after the state; shapes are enough (`shape_dtype_struct`).
  template <api::HasFirstArgument Function, typename... Others>
  explicit CreateStateParallel(ParallelizedFunction<Function> train_step, const Others&... others)
      : CreateStateParallel(of<api::FirstArgument<Function>>(std::move(train_step), others...)) {}

  /// For a step that is a template, of which the type of the state cannot be told.
  template <typename State, typename Function, typename... Others>
  static CreateStateParallel of(ParallelizedFunction<Function> train_step, const Others&... others) {
    CreateStateParallel method;
    method.compile_ = [train_step = std::move(train_step),
                       rest = std::tuple(shapes_of(others)...)](const std::any& any) {
      const State* state = std::any_cast<State>(&any);
      if (state == nullptr) raise_other_state(any.type(), typeid(State));
      return std::apply([&](const auto&... all) { return train_step.get_executable(*state, all...); }, rest);
    };
    return method;
  }

  api::FixedPlacements fixed_placements(const api::Step& step) const override;

 private:
  CreateStateParallel() = default;
  [[noreturn]] static void raise_other_state(const std::type_info& made, const std::type_info& taken);

  // Arrays are not kept alive. Numbers stay, whose type is weak.
  template <typename T>
  static T shapes_of(const T& argument) {
    if constexpr (frontend::is_pytree<T>()) {
      return tree_map(argument, [](const Array& array) {
        return array.defined() && !array.is_weak() ? shape_dtype_struct(array.shape()) : array;
      });
    } else {
      return argument;
    }
  }

  std::function<std::shared_ptr<Executable>(const std::any& state)> compile_;  ///< The training step, for a state.
};

}  // namespace alpa
