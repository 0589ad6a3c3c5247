#include "alpa/frontend/save.h"

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/base/output_file.h"
#include "alpa/frontend/evaluate.h"
#include "alpa/tensor/safetensors.h"

namespace alpa::frontend {

void write_arrays(const std::string& path, const std::vector<std::string>& names, const std::vector<Array>& arrays) {
  evaluate(arrays);
  std::map<std::string, tensor::Literal> literals;
  for (size_t k = 0; k < arrays.size(); ++k) {
    require<InvalidArgumentError>(names[k] != "__metadata__", "save",
                                  "an array is named __metadata__, which the file format keeps for itself");
    const bool fresh = literals.emplace(names[k], arrays[k].to_host()).second;
    require<InvalidArgumentError>(fresh, "save", "two arrays are named {} (a map key with a dot?)", names[k]);
  }
  write_file(path, tensor::write_safetensors(literals));
}

std::vector<Array> read_arrays(const std::string& path, const std::vector<std::string>& names,
                               const std::vector<Array>& like) {
  const std::map<std::string, tensor::Literal> literals = tensor::read_safetensors(read_file(path, UINT64_MAX), path);
  std::vector<Array> arrays;
  for (size_t k = 0; k < names.size(); ++k) {
    const auto entry = literals.find(names[k]);
    require<InvalidArgumentError>(entry != literals.end(), "load", "{} has no array {}", path, names[k]);
    require<InvalidArgumentError>(entry->second.shape() == like[k].shape(), "load",
                                  "{}: {} is {} there, {} was expected", path, names[k],
                                  tensor::to_string(entry->second.shape()), tensor::to_string(like[k].shape()));
    arrays.emplace_back(entry->second);
  }
  return arrays;
}

}  // namespace alpa::frontend
