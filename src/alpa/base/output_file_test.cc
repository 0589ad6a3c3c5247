#include "alpa/base/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "alpa/base/error.h"
#include "alpa/base/file.h"

namespace alpa {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  void put(const std::string& name, const std::string& content) const { std::ofstream(at(name)) << content; }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

 private:
  TemporaryDirectory folder_;
};

TEST_F(OutputFiles, WriteThenReadIsIdentity) {
  const std::string bytes("a\0b\n", 4);
  write_file(at("a"), bytes);
  EXPECT_EQ(read_file(at("a")), bytes);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputFiles, FailedWriteLeavesNothing) {
  EXPECT_THROW(write_file("/no/such/folder/x", "y"), InvalidArgumentError);
}

TEST_F(OutputFiles, OneThatCannotBeWrittenLeavesTheOthersAsTheyWere) {
  put("kept", "old");
  for (const std::string& bad : {at(std::string(256, 'n')), at("none/x"), std::string("/dev/full")}) {
    EXPECT_THROW(write_files({{at("kept"), "new"}, {at("fresh"), "new"}, {bad, "new"}}), InvalidArgumentError) << bad;
    EXPECT_EQ(read_file(at("kept")), "old") << bad;
    EXPECT_EQ(entries(), 1u) << bad;
  }
}

// A place that turns into a folder between check and write: the renames before it are undone.
TEST_F(OutputFiles, AFailedRenameGivesTheFormerContentBack) {
  put("kept", "old");
  const std::string more_than_a_pipe_holds(1 << 21, 'x');  // so that the writer waits for the reader
  const std::vector<OutputFile> files{
      {at("kept"), "new"}, {at("fresh"), "new"}, {at("pipe"), more_than_a_pipe_holds}, {at("last"), "new"}};
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  std::thread reader([&] {
    std::ifstream in(at("pipe"));  // all temporaries are written by now
    fs::create_directory(at("last"));
    std::string(std::istreambuf_iterator<char>(in), {});
  });
  EXPECT_THROW(write_files(files), InvalidArgumentError);
  reader.join();
  EXPECT_EQ(read_file(at("kept")), "old");
  EXPECT_FALSE(fs::exists(at("fresh")));
  EXPECT_EQ(entries(), 3u);
}

TEST_F(OutputFiles, TheLongestNamesAreWritten) {
  for (const size_t size : {245u, 255u}) {
    const std::string path = at(std::string(size, 'n'));
    EXPECT_NO_THROW(check_writable(path));
    write_file(path, "x");
    EXPECT_EQ(read_file(path), "x");
  }
  EXPECT_THROW(check_writable(at(std::string(256, 'n'))), InvalidArgumentError);
}

TEST_F(OutputFiles, LinksAreFollowed) {
  put("file", "old");
  fs::create_symlink("file", at("link"));
  fs::create_symlink("link", at("second"));
  fs::create_symlink("fresh", at("dangling"));
  write_file(at("second"), "new");
  write_file(at("dangling"), "new");
  EXPECT_TRUE(fs::is_symlink(at("second")) && fs::is_symlink(at("link")) && fs::is_symlink(at("dangling")));
  EXPECT_EQ(read_file(at("file")), "new");
  EXPECT_EQ(read_file(at("fresh")), "new");
  fs::create_symlink("loop", at("loop"));
  EXPECT_THROW(check_writable(at("loop")), InvalidArgumentError);
}

TEST_F(OutputFiles, PipesStayPipes) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = read_file(at("pipe")); });
  write_file(at("pipe"), "through");
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
  EXPECT_NO_THROW(write_file("/dev/null", "x"));
}

TEST_F(OutputFiles, PermissionsStay) {
  put("secret", "old");
  chmod(at("secret").c_str(), 0600);
  write_file(at("secret"), "new");
  EXPECT_EQ(fs::status(at("secret")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFiles, OnePlaceByTwoNamesIsSeen) {
  put("file", "old");
  fs::create_symlink("file", at("link"));
  EXPECT_TRUE(same_output(at("file"), at("./file")));
  EXPECT_TRUE(same_output(at("link"), at("file")));
  EXPECT_TRUE(same_output(at("fresh"), at("./fresh")));
  EXPECT_FALSE(same_output(at("file"), at("fresh")));
  EXPECT_FALSE(same_output("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace alpa
