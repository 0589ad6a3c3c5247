#include "alpa/base/child_process.h"

#include <gtest/gtest.h>

#include <csignal>

#include "alpa/base/error.h"

namespace alpa {
namespace {

ChildResult shell(const std::string& line, double limit_seconds = 60) {
  return run_child({"/bin/sh", "-c", line}, limit_seconds);
}

TEST(ChildProcess, SaysHowItEndedAndWhatItPrinted) {
  const ChildResult result = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.printed, "out\nerr\n");
}

TEST(ChildProcess, ACrashIsASignal) {
  const ChildResult result = shell("kill -SEGV $$");
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_FALSE(result.timed_out);
}

TEST(ChildProcess, WhatDoesNotEndIsEndedAtTheLimit) {
  const ChildResult result = shell("echo before; exec sleep 1000", 0.5);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.printed, "before\n");
}

TEST(ChildProcess, WhatPrintsWithoutEndIsNotKept) {
  const ChildResult result = shell("head -c 1000000 /dev/zero; echo last");
  EXPECT_EQ(result.status, 0);
  EXPECT_LT(result.printed.size(), 200000u);
  EXPECT_TRUE(result.printed.ends_with("last\n"));
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnError) {
  EXPECT_THROW(run_child({"/no/such/program"}, 1), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
