#include "alpa/mesh/logical_mesh.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/mesh/cluster.h"

namespace alpa::mesh {
namespace {

TEST(LogicalMesh, ParsesWhatItPrints) {
  for (const char* text : {"8", "2x4", "2x2x2", "1", "1x8"}) EXPECT_EQ(LogicalMesh::parse(text).to_string(), text);
  EXPECT_EQ(LogicalMesh::parse("2x4").num_devices(), 8);
  EXPECT_EQ(LogicalMesh::parse("2x4").stride(0), 4);
  EXPECT_EQ(LogicalMesh::parse("2x4").stride(1), 1);
}

TEST(LogicalMesh, RejectsWhatIsNoMesh) {
  for (const char* text :
       {"", "x", "2x", "x2", "0", "-1", "2x0", "2 x 4", "2x4x", "1x2x3x4", "99999999999999999999", "2y4", "1048577"}) {
    EXPECT_THROW(LogicalMesh::parse(text), InvalidArgumentError) << text;
  }
}

TEST(LogicalMesh, FactorizationsOfEightAreAllSeven) {
  std::vector<std::string> texts;
  for (const LogicalMesh& mesh : factorizations(8)) texts.push_back(mesh.to_string());
  EXPECT_EQ(texts, (std::vector<std::string>{"8", "2x4", "4x2", "2x2x2"}));
  EXPECT_EQ(factorizations(1).size(), 1u);
  EXPECT_EQ(factorizations(7).size(), 1u);
  for (const LogicalMesh& mesh : factorizations(24)) EXPECT_EQ(mesh.num_devices(), 24);
}

TEST(Cluster, DescriptionsSurviveJson) {
  for (const std::string& name : ready_clusters()) {
    const ClusterSpec cluster = load_cluster(name);
    const ClusterSpec again = cluster_from_json(to_json(cluster), name);
    EXPECT_EQ(to_json(again), to_json(cluster));
    EXPECT_GT(again.device.flops_for("f32"), 0);
    EXPECT_GE(again.device.flops_for("bf16"), again.device.flops_for("f32"));
  }
}

TEST(Cluster, BadDescriptionsNameTheField) {
  const std::string good = to_json(load_cluster("h100-dgx"));
  const auto message = [](const std::string& text) -> std::string {
    try {
      cluster_from_json(text, "c.json");
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return "";
  };
  std::string text = good;
  text.replace(text.find("memory_bytes"), 12, "memory_bites");
  EXPECT_NE(message(text).find("memory_bites"), std::string::npos);
  text = good;
  text.replace(text.find("\"hosts\": 1"), 10, "\"hosts\": 0");
  EXPECT_NE(message(text).find("hosts"), std::string::npos);
  EXPECT_NE(message("[]"), "");
  EXPECT_NE(message(good.substr(0, good.size() / 2)), "");
  EXPECT_THROW(load_cluster("no-such"), InvalidArgumentError);
  EXPECT_THROW(load_cluster("./no-such.json"), InvalidArgumentError);
}

TEST(Cluster, GroupsThatLeaveAHostTakeTheLinkBetweenHosts) {
  ClusterSpec cluster = load_cluster("h100-dgx");
  cluster.hosts = 8;
  const LogicalMesh mesh({8, 8});
  EXPECT_EQ(link_of(cluster, mesh, {1}).bandwidth, cluster.intra_host.bandwidth);
  EXPECT_EQ(link_of(cluster, mesh, {0}).bandwidth, cluster.inter_host.bandwidth);
  EXPECT_EQ(link_of(cluster, mesh, {0, 1}).bandwidth, cluster.inter_host.bandwidth);
  const LogicalMesh narrow(
      {16, 4});  // the first axis steps over 4 devices: two of its neighbours share a host, the group does not
  EXPECT_EQ(link_of(cluster, narrow, {0}).bandwidth, cluster.inter_host.bandwidth);
}

}  // namespace
}  // namespace alpa::mesh
