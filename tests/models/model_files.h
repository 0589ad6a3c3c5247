#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "alpa/base/file.h"
#include "alpa/compiler/meta.h"
#include "alpa/tensor/safetensors.h"

// What the tests of the models share.

namespace alpa {

inline const std::vector<std::string> kModels = {"bert", "bert_rbg", "dlrm", "gpt", "gpt_scan",   "lstm",
                                                 "mlp",  "moe",      "unet", "vit", "wide_resnet"};

inline bool full_matrix() { return std::getenv("ALPA_FULL_MATRIX") != nullptr; }

inline std::string model_folder(const std::string& model) {
  return std::string(ALPA_TEST_DATA) + "/models/" + model + "/";
}

/// A model's inputs, in order, and the numbers that one device makes of them, by name.
struct ModelFiles {
  compiler::Meta meta;
  std::vector<tensor::Literal> inputs;
  std::map<std::string, tensor::Literal> expected;
};

inline ModelFiles model_files(const std::string& model) {
  const std::string folder = model_folder(model);
  ModelFiles files;
  files.meta = compiler::parse_meta(read_file(folder + "meta.json"), "meta.json");
  const auto given = tensor::read_safetensors(read_file(folder + "inputs.safetensors"), "inputs");
  for (const compiler::InputMeta& input : files.meta.inputs)
    files.inputs.push_back(input.zeros ? tensor::Literal(input.shape) : given.at(input.name));
  files.expected = tensor::read_safetensors(read_file(folder + "expected.safetensors"), "expected");
  return files;
}

/// Rows that are printed when all tests are done.
inline std::vector<std::string>& table() {
  static std::vector<std::string> rows;
  return rows;
}

class PrintTable : public testing::Environment {
 public:
  void TearDown() override {
    for (const std::string& row : table()) fmt::print("{}\n", row);
  }
};

inline const testing::Environment* const kPrintTable = testing::AddGlobalTestEnvironment(new PrintTable);

}  // namespace alpa
