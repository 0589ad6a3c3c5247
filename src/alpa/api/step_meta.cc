#include "alpa/api/step_meta.h"

#include <deque>
#include <map>

namespace alpa::api {
namespace {

// The memory of a donated input, unless it is cut into parts, goes to the first output of its shape that is still free:
// for a state, its own successor.
std::vector<compiler::OutputMeta> outputs_of(const Step& step) {
  std::map<std::string, std::deque<int>> donated;  // inputs that are free, by shape
  for (size_t input = 0; input < step.donated.size(); ++input) {
    if (step.donated[input] && !(step.batch[input] && step.micro_batches > 1))
      donated[tensor::to_string(step.function->parameters[input].shape())].push_back(static_cast<int>(input));
  }
  std::vector<compiler::OutputMeta> outputs;
  for (size_t k = 0; k < step.function->results.size(); ++k) {
    compiler::OutputMeta output{step.output_names[k], compiler::Role::kUnknown, std::nullopt};
    std::deque<int>& free = donated[tensor::to_string(step.function->results[k].shape())];
    if (!free.empty()) {
      output.feeds_input = free.front();
      free.pop_front();
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace

compiler::Meta meta_of(const Step& step) {
  compiler::Meta meta;
  for (size_t k = 0; k < step.input_names.size(); ++k) {
    compiler::InputMeta input;
    input.name = step.input_names[k];
    input.shape = step.function->parameters[k].shape();
    input.donated = step.donated[k];
    if (step.batch[k] && input.shape.rank() > 0) {
      input.role = compiler::Role::kBatch;
      input.batch_dim = 0;
    }
    meta.inputs.push_back(std::move(input));
  }
  meta.outputs = outputs_of(step);
  return meta;
}

}  // namespace alpa::api
