#pragma once

#include <alpa/alpa.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/tensor/safetensors.h"

/// The examples' data.
namespace examples {

/// "shard", "data", "zero2" or "zero3".
inline alpa::AnyMethod method(const std::string& name) {
  if (name == "data") return alpa::DataParallel();
  if (name == "zero2") return alpa::Zero2Parallel();
  if (name == "zero3") return alpa::Zero3Parallel();
  return alpa::ShardParallel();
}

/// Rows drawn with replacement.
inline std::vector<int64_t> draw(std::mt19937_64& random, int64_t count, int64_t batch) {
  std::vector<int64_t> rows;
  for (int64_t k = 0; k < batch; ++k) rows.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(count)));
  return rows;
}

/// Handwritten digits of 8x8 pixels from 0 to 16, with their classes.
/// Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository,
/// 1998 (CC BY 4.0), its test part.
class Digits {
 public:
  explicit Digits(std::map<std::string, alpa::tensor::Literal> arrays)
      : images_(arrays.at("images")), labels_(arrays.at("labels")) {}

  int64_t count() const { return labels_.shape().dims[0]; }
  int64_t train_count() const { return count() - count() / 5; }
  /// Rows that are not for training: a multiple of 8 of them.
  std::vector<int64_t> test_rows() const {
    std::vector<int64_t> rows;
    for (int64_t row = train_count(); row < count(); ++row) rows.push_back(row);
    rows.resize(rows.size() / 8 * 8);
    return rows;
  }

  /// f32 [rows, 64], from 0 to 1.
  alpa::Array images(const std::vector<int64_t>& rows) const {
    std::vector<float> values;
    for (const int64_t row : rows) {
      for (int64_t pixel = 0; pixel < 64; ++pixel)
        values.push_back(static_cast<float>(images_.at(row * 64 + pixel) / 16));
    }
    return alpa::Array::from(values, {static_cast<int64_t>(rows.size()), 64});
  }

  /// s32 [rows].
  alpa::Array labels(const std::vector<int64_t>& rows) const {
    std::vector<int32_t> values;
    for (const int64_t row : rows) values.push_back(static_cast<int32_t>(labels_.at(row)));
    return alpa::Array::from(values);
  }

 private:
  alpa::tensor::Literal images_, labels_;
};

inline Digits load_digits() {
  const std::string path = std::string(ALPA_EXAMPLES_DATA) + "/digits.safetensors";
  return Digits(alpa::tensor::read_safetensors(alpa::read_file(path), path));
}

/// A text that every Debian machine has; elsewhere the project's own licence.
inline std::string default_text() {
  const std::string debians = "/usr/share/common-licenses/GPL-3";
  return std::filesystem::exists(debians) ? debians : std::string(ALPA_EXAMPLES_DATA) + "/../../LICENSE";
}

/// A text as bytes.
class Text {
 public:
  explicit Text(const std::string& path) : bytes_(alpa::read_file(path)), path_(path) {}

  /// Tokens and the next tokens of sequences drawn at random. s32 [batch, length] each.
  std::pair<alpa::Array, alpa::Array> batch(std::mt19937_64& random, int64_t batch, int64_t length) const {
    const auto size = static_cast<int64_t>(bytes_.size());
    alpa::require<alpa::InvalidArgumentError>(size > length, "gpt", "{} has {} bytes, a sequence needs {}", path_, size,
                                              length + 1);
    std::vector<int32_t> tokens, labels;
    for (int64_t start : draw(random, size - length, batch)) {
      for (int64_t k = 0; k < length; ++k) {
        tokens.push_back(static_cast<unsigned char>(bytes_[static_cast<size_t>(start + k)]));
        labels.push_back(static_cast<unsigned char>(bytes_[static_cast<size_t>(start + k + 1)]));
      }
    }
    return {alpa::Array::from(tokens, {batch, length}), alpa::Array::from(labels, {batch, length})};
  }

 private:
  std::string bytes_;
  std::string path_;
};

}  // namespace examples
