#include "alpa/base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "alpa/base/error.h"

namespace alpa {
namespace {

TEST(Json, AKeyMayBeInTwoObjectsButNotTwiceInOne) {
  EXPECT_EQ(parse_json(R"({"a": {"b": 1}, "b": [{"b": 2}, {"b": 3}]})", "p", "s")["b"][1]["b"], 3);
  EXPECT_THROW(parse_json(R"({"a": 1, "b": 2, "a": 1})", "p", "s"), InvalidArgumentError);
  EXPECT_THROW(parse_json(R"([{"a": {"b": 1, "b": 2}}])", "p", "s"), InvalidArgumentError);
}

TEST(Json, WhatIsNoneIsDiscarded) {
  for (const char* text : {"", "{", "{\"a\": ", "{\"a\": 1}}", "nan"})
    EXPECT_TRUE(parse_json(text, "p", "s").is_discarded()) << text;
}

}  // namespace
}  // namespace alpa
