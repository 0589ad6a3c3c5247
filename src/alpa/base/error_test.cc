#include "alpa/base/error.h"

#include <gtest/gtest.h>

#include "alpa/base/file.h"

namespace alpa {
namespace {

TEST(Error, MessageNamesPlaceAndValues) {
  try {
    raise<InvalidArgumentError>("mesh", "{} devices for {}", 7, "2x4");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[mesh] 7 devices for 2x4");
  }
}

TEST(File, MissingFileIsNamed) {
  try {
    read_file("/no/such/file");
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/file"), std::string::npos);
  }
}

}  // namespace
}  // namespace alpa
