#include "alpa/api/micro_batches.h"

#include <optional>

#include "alpa/base/error.h"

namespace alpa::api {

int64_t checked_micro_batches(int64_t num_micro_batches) {
  require<InvalidArgumentError>(num_micro_batches >= 1, "parallelize",
                                "num_micro_batches is {}: a batch is run in 1 part or more", num_micro_batches);
  return num_micro_batches;
}

std::vector<Shape> micro_batch_shapes(std::span<const Array* const> inputs, const std::vector<std::string>& names,
                                      const std::vector<bool>& batch, int64_t count) {
  std::vector<Shape> shapes;
  std::optional<size_t> first;
  for (size_t k = 0; k < inputs.size(); ++k) {
    shapes.push_back(inputs[k]->shape());
    if (count == 1 || !batch[k] || shapes[k].rank() == 0) continue;
    int64_t& rows = shapes[k].dims[0];
    if (first) {
      const int64_t others = inputs[*first]->shape().dims[0];
      require<InvalidArgumentError>(rows == others, "parallelize",
                                    "the batch has {} rows in {} and {} in {}: with num_micro_batches = {} all its "
                                    "arrays are cut along their first dim; give them the same number of rows, and what "
                                    "is no part of the batch in another argument",
                                    others, names[*first], rows, names[k], count);
    }
    if (!first) first = k;
    require<InvalidArgumentError>(rows % count == 0, "parallelize",
                                  "{} has {} rows, which num_micro_batches = {} does not divide: use a number of "
                                  "micro-batches that does, or pad the batch",
                                  names[k], rows, count);
    require<InvalidArgumentError>(rows > 0, "parallelize", "{} has no rows to cut into {} micro-batches", names[k],
                                  count);
    rows /= count;
  }
  require<InvalidArgumentError>(count == 1 || first.has_value(), "parallelize",
                                "num_micro_batches = {} cuts a batch, and no argument is one: name it in batch_argnums",
                                count);
  return shapes;
}

}  // namespace alpa::api
