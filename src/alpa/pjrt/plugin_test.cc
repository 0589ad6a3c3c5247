#include "alpa/pjrt/plugin.h"

#include "alpa/base/error.h"
#include "alpa/pjrt/testing/plugins.h"

namespace alpa::pjrt {
namespace {

class PluginOn : public OnPlugin {};
ALPA_ON_BOTH_PLUGINS(PluginOn);

TEST_P(PluginOn, SaysItsVersionAndAttributes) {
  const Plugin loaded = plugin();
  EXPECT_EQ(loaded.api_version(), GetParam() == "lammps" ? "0.115" : "0.81");
  EXPECT_EQ(loaded.path(), plugin_path(GetParam()));
  EXPECT_TRUE(loaded.attributes().contains("stablehlo_current_version"));
}

TEST_P(PluginOn, ClientHasTheDevicesAskedFor) {
  const Client eight = client(8);
  ASSERT_EQ(eight.devices().size(), 8u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(eight.devices()[i].index(), i);
    EXPECT_EQ(eight.devices()[i].id(), i);
    EXPECT_EQ(eight.devices()[i].kind(), "cpu");
    EXPECT_FALSE(eight.devices()[i].debug_string().empty());
  }
  EXPECT_TRUE(eight.is_cpu());
}

TEST_P(PluginOn, TwoClientsLiveSideBySide) {
  const Client one = client(1);
  const Client two = client(2);
  EXPECT_EQ(one.devices().size(), 1u);
  EXPECT_EQ(two.devices().size(), 2u);
}

TEST_P(PluginOn, RejectsNoDevices) { EXPECT_THROW(client(0), InvalidArgumentError); }

TEST(Plugin, MissingFileIsNamed) { ALPA_EXPECT_ERROR(Plugin::load("/no/such.so"), PluginError, "/no/such.so"); }

TEST(Plugin, RejectsWhatIsNoSharedObject) {
  const std::string path = std::string(ALPA_TEST_DATA) + "/models/mlp/train_step.hlo.pb";
  ALPA_EXPECT_ERROR(Plugin::load(path), PluginError, "cannot be loaded as a shared object");
}

TEST(Plugin, RejectsASharedObjectWithoutEntryPoint) {
  ALPA_EXPECT_ERROR(Plugin::load(ALPA_NO_ENTRY_POINT), PluginError, "GetPjrtApi");
}

TEST(Plugin, RejectsAnOldVersionAndSaysWhichIsNeeded) {
  ALPA_EXPECT_ERROR(Plugin::load(ALPA_OLD_PLUGIN), PluginError, "has PJRT API 0.12, at least 0.54 is needed");
}

TEST(FindPlugin, OptionComesBeforeTheVariableBeforeTheWheels) {
  Environment environment;
  EXPECT_EQ(find_plugin(std::nullopt, environment, ALPA_VENV), plugin_path("lammps"));
  environment.pjrt_plugin = "/from/variable.so";
  EXPECT_EQ(find_plugin(std::nullopt, environment, ALPA_VENV), "/from/variable.so");
  EXPECT_EQ(find_plugin("/from/option.so", environment, ALPA_VENV), "/from/option.so");
}

TEST(FindPlugin, LooksIntoTheShellsEnvironmentLast) {
  Environment environment;
  environment.virtual_env = ALPA_VENV;
  EXPECT_EQ(find_plugin(std::nullopt, environment, "/no/venv"), plugin_path("lammps"));
}

TEST(FindPlugin, ErrorListsThePlaces) {
  Environment environment;
  environment.venv = "/first";
  environment.virtual_env = "/third";
  ALPA_EXPECT_ERROR(find_plugin(std::nullopt, environment, "/second"), PluginError, "/first, /second, /third");
  ALPA_EXPECT_ERROR(find_plugin(std::nullopt, environment, "/second"), PluginError, "make setup");
}

}  // namespace
}  // namespace alpa::pjrt
