#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/tensor/shape.h"

namespace alpa::compiler {

/// What an input or output of a training step is for.
enum class Role { kUnknown, kParams, kOptState, kExtra, kBatch, kLoss };

struct InputMeta {
  std::string name;
  Role role = Role::kUnknown;
  tensor::Shape shape;
  bool donated = false;
  bool zeros = false;            ///< Starts as zeros and is left out of the inputs' file.
  std::optional<int> batch_dim;  ///< Dim of the batch, of batch inputs.
};

struct OutputMeta {
  std::string name;
  Role role = Role::kUnknown;
  std::optional<int> feeds_input;
  std::optional<tensor::Shape> shape = std::nullopt;  ///< As the file says, if it does.
};

/// Names and roles of a program's inputs and outputs, in order.
struct Meta {
  std::string source;  ///< The file it was read from; empty if it was made up.
  std::vector<InputMeta> inputs;
  std::vector<OutputMeta> outputs;
  /// What the gradient marker is over: values and gradients, by name. Empty: the file does not say.
  std::vector<std::string> marked = {};
};

/// Reads meta.json. Errors: InvalidArgumentError that names `source` and the field.
Meta parse_meta(std::string_view text, std::string_view source);

}  // namespace alpa::compiler
