#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

/// The programs that tests run over.
namespace alpa::hlo {

inline std::vector<std::string> module_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ALPA_TEST_DATA "/models")) {
    const std::string path = entry.path().string();
    if (path.ends_with(".hlo.pb.xz")) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string name_of_file(const testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path(info.param);
  const std::string name = path.parent_path().filename().string() + "_" + path.filename().string();
  return name.substr(0, name.find(".hlo"));
}

}  // namespace alpa::hlo
