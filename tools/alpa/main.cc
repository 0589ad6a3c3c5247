#include <fmt/core.h>
#include <google/protobuf/stubs/logging.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "command.h"
#include "signals.h"

namespace alpa::tool {
namespace {

constexpr const char* kAbout =
    "Runs a training step that was written for one device on many: chooses a sharding for every tensor and operator, "
    "compiles the step with a stock XLA plug-in and runs it.";

constexpr const char* kExamples =
    "Examples:\n"
    "  alpa run step.hlo.pb --meta meta.json --inputs inputs.safetensors --steps 10\n"
    "  alpa plan step.hlo.pb --cluster h100-dgx --hosts 2 --json plan.json\n"
    "  alpa show step.hlo.pb --stats\n"
    "  alpa devices\n"
    "\n"
    "Each command has its own --help. Exit status: 0 done, 1 failed, 2 the command line is wrong.";

/// Errors are one line, whatever a plug-in says.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = (c >= 0 && c <= ' ') || c == '\x7f';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

int fail(int status, std::string_view text) {
  std::fflush(stdout);
  fmt::print(stderr, "alpa: {}\n", one_line(text));
  return status;
}

std::string command_name(const CLI::App& root) {
  const auto chosen = root.get_subcommands();
  return chosen.empty() ? "alpa" : "alpa " + chosen.front()->get_name();
}

/// An option with an empty text is a variable that a script did not set: not the same as none.
void refuse_empty_texts(const Command& command) {
  const CLI::Validator given([](std::string& text) { return text.empty() ? "its value is empty: leave it out" : ""; },
                             "");
  for (CLI::Option* option : command.app->get_options()) {
    if (option->get_items_expected_max() > 0) option->check(given);
  }
}

int run(int argc, char** argv) {
  CLI::App root(kAbout, "alpa");
  root.footer(kExamples);
  root.require_subcommand(1);
  root.get_formatter()->column_width(36);
  root.set_help_flag("-h,--help", "Prints this help and ends");
  const std::string version = "alpa " ALPA_VERSION;
  const std::vector<Command> commands{add_run(root),     add_plan(root),  add_show(root),
                                      add_devices(root), add_solve(root), add_read_stablehlo(root)};
  root.set_version_flag("--version", version, "Prints the version and ends");
  for (const Command& command : commands) {
    refuse_empty_texts(command);
    command.app->set_version_flag("--version", version, "Prints the version and ends");
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    if (wrong.get_exit_code() == 0) return root.exit(wrong);  // --help and --version
    if (root.get_subcommands().empty()) {
      const std::string what = argc > 1 && argv[1][0] != '-' ? fmt::format("no command \"{}\"", argv[1]) : wrong.what();
      throw UsageError(what + ": use run, plan, show, devices or solve; see `alpa --help`");
    }
    throw UsageError(fmt::format("{}; see `{} --help`", wrong.what(), command_name(root)));
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return 2;
}

/// What was printed may be lost only now: on a full disk, for instance.
void flush_output() {
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (lost) throw Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

/// The exit status; what went wrong is put into `error`.
int run_and_explain(int argc, char** argv, std::string& error) {
  try {
    const int status = run(argc, argv);
    flush_output();
    return status;
  } catch (const UsageError& wrong) {
    error = wrong.what();
    return 2;
  } catch (const std::bad_alloc&) {
    error = "this machine's memory is used up: use a smaller program or a larger machine";
  } catch (const std::system_error& wrong) {  // of what prints
    error = std::string("cannot write to standard output: ") + wrong.code().message();
  } catch (const std::exception& wrong) {
    error = wrong.what();
  }
  return 1;
}

}  // namespace
}  // namespace alpa::tool

int main(int argc, char** argv) {
  google::protobuf::SetLogHandler(nullptr);  // what is wrong with a file is said by our own error, once
  const alpa::tool::SignalWatch signals;
  std::string error;
  const int status = alpa::tool::run_and_explain(argc, argv, error);
  signals.wait_if_ending();
  return error.empty() ? status : alpa::tool::fail(status, error);
}
