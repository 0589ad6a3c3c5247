#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alpa/base/environment.h"
#include "alpa/base/file.h"
#include "alpa/pjrt/client.h"
#include "alpa/pjrt/executable.h"
#include "alpa/pjrt/testing/plugin_path.h"

// For the tests of this room: each runs on both plug-ins.

namespace alpa::pjrt {

/// The parameter names the wheel.
class OnPlugin : public testing::TestWithParam<std::string> {
 protected:
  Plugin plugin() const { return Plugin::load(plugin_path(GetParam())); }
  Client client(int devices = 1) const { return Client::create(plugin(), {.cpu_device_count = devices}); }
};

inline std::string model_file(const std::string& name) {
  return read_file(std::string(ALPA_TEST_DATA) + "/models/mlp/" + name);
}

inline std::vector<Buffer*> pointers(std::vector<Buffer>& buffers) {
  std::vector<Buffer*> result;
  for (Buffer& buffer : buffers) result.push_back(&buffer);
  return result;
}

#define ALPA_ON_BOTH_PLUGINS(suite)                                         \
  INSTANTIATE_TEST_SUITE_P(Wheels, suite, testing::Values("lammps", "xla"), \
                           [](const testing::TestParamInfo<std::string>& info) { return info.param; })

/// Expects that `statement` throws a `type` whose message has `part`.
#define ALPA_EXPECT_ERROR(statement, type, part)                                        \
  try {                                                                                 \
    statement;                                                                          \
    ADD_FAILURE() << "no error";                                                        \
  } catch (const type& error) {                                                         \
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what(); \
  }

}  // namespace alpa::pjrt
