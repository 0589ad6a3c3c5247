#include "alpa/mesh/cluster.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"

namespace alpa::mesh {
namespace {

std::string with(const std::string& key, const std::string& value) {
  std::string text = to_json(load_cluster("h100-dgx"));
  const size_t at = text.find("\"" + key + "\":") + key.size() + 3;
  return text.replace(at, text.find_first_of(",\n}", at) - at, " " + value);
}

TEST(ClusterDescription, EveryReadyOneSurvivesJson) {
  for (const std::string& name : ready_clusters()) {
    const std::string text = to_json(load_cluster(name));
    EXPECT_EQ(to_json(cluster_from_json(text, name)), text);
  }
  const std::string many = to_json(local_cpu(1 << 20));
  EXPECT_EQ(to_json(cluster_from_json(many, "many")), many);
}

TEST(ClusterDescription, RejectsNumbersThatCannotBeCounted) {
  for (const std::string key : {"memory_bytes", "memory_bytes_per_second", "bytes_per_second", "latency_seconds",
                                "default", "hosts", "devices_per_host"}) {
    for (const std::string value : {"1e30", "-1", "0", "1e-300", "null", "\"8\""}) {
      try {
        cluster_from_json(with(key, value), "mine.json");
        ADD_FAILURE() << key << " " << value;
      } catch (const InvalidArgumentError& error) {
        EXPECT_NE(std::string(error.what()).find("mine.json: \"" + key + "\""), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace alpa::mesh
