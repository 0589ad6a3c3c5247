#include "alpa/api/arguments.h"

#include <cstring>

#include "alpa/api/micro_batches.h"
#include "alpa/api/type_name.h"
#include "alpa/base/error.h"
#include "alpa/frontend/trace.h"

namespace alpa::api {

std::vector<bool> numbered(const char* option, const std::vector<int>& numbers, size_t count) {
  std::vector<bool> named(count, false);
  for (const int number : numbers) {
    const int64_t index = number < 0 ? number + static_cast<int64_t>(count) : number;
    require<InvalidArgumentError>(index >= 0 && index < static_cast<int64_t>(count), "parallelize",
                                  "{} names argument {}, the function is called with {}", option, number, count);
    named[static_cast<size_t>(index)] = true;
  }
  return named;
}

void append_shape(std::string& key, const Array& array) {
  if (!array.defined()) {
    key += "empty ";
    return;
  }
  const Shape& shape = array.shape();
  const auto rank = static_cast<uint32_t>(shape.dims.size());
  char head[2 + sizeof(rank)] = {static_cast<char>(shape.dtype), array.is_weak() ? 'w' : 's'};
  std::memcpy(head + 2, &rank, sizeof(rank));
  key.append(head, sizeof(head));
  key.append(reinterpret_cast<const char*>(shape.dims.data()), rank * sizeof(int64_t));
}

namespace {

struct SpareLists {
  std::vector<const Array*> arrays;
  std::string key;
};

SpareLists& spare_lists() {
  thread_local SpareLists lists;
  return lists;
}

}  // namespace

FlatCall::FlatCall() : arrays(std::move(spare_lists().arrays)), key(std::move(spare_lists().key)) {
  arrays.clear();
  key.clear();
}

FlatCall::~FlatCall() { spare_lists() = {std::move(arrays), std::move(key)}; }

void raise_not_hashable(size_t argument, const char* type) {
  raise<InvalidArgumentError>("parallelize",
                              "static argument {} is a {}, which cannot be told apart by value: give it std::hash and "
                              "operator==, or list its fields with ALPA_PYTREE",
                              argument, readable_name(type));
}

void raise_address(size_t argument, const char* type) {
  raise<InvalidArgumentError>(
      "parallelize", "static argument {} is a {}: what lies at an address may change, so pass the value itself",
      argument, readable_name(type));
}

void require_no_arrays(size_t argument, const std::vector<std::string>& paths) {
  require<InvalidArgumentError>(paths.empty(), "parallelize",
                                "static argument {} holds an array, {}: arrays are given to the step, take {} out of "
                                "static_argnums",
                                argument, paths.empty() ? "" : paths[0], argument);
}

void require_outside_traces() {
  require<InvalidArgumentError>(
      frontend::TraceScope::current() == nullptr, "parallelize",
      "a parallelized function was called inside another traced function: call the plain one there");
}

void raise_not_dynamic(size_t argument, const char* type) {
  raise<InvalidArgumentError>("parallelize",
                              "argument {} is a {}, which holds no arrays: make it static (static_argnums) or an Array",
                              argument, readable_name(type));
}

Step trace_step(StepInputs inputs, int64_t micro_batches,
                const std::function<std::vector<Array>(const std::vector<Array>&)>& function,
                std::vector<std::string>& output_names) {
  for (size_t k = 0; k < inputs.arrays.size(); ++k) {
    require<InvalidArgumentError>(inputs.arrays[k]->defined(), "parallelize", "{} is an Array that was never assigned",
                                  inputs.names[k]);
  }
  const std::vector<Shape> shapes =
      micro_batch_shapes(inputs.arrays, inputs.names, inputs.batch, checked_micro_batches(micro_batches));
  frontend::TraceScope scope("parallelize");
  scope.trace()->is_step = true;
  std::vector<Array> parameters;
  for (size_t k = 0; k < shapes.size(); ++k)
    parameters.push_back(scope.parameter(shapes[k], inputs.arrays[k]->is_weak()));
  std::vector<Array> results = function(parameters);
  for (size_t k = 0; k < results.size(); ++k) {
    require<InvalidArgumentError>(results[k].defined(), "parallelize", "{} is an Array that was never assigned",
                                  output_names[k]);
  }
  frontend::Closure closure = std::move(scope).finish(std::move(results));
  return {std::move(closure.function),
          std::move(inputs.names),
          output_names,
          std::move(inputs.donated),
          std::move(inputs.batch),
          micro_batches,
          {}};
}

}  // namespace alpa::api
