#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/solver/problem.h"
#include "alpa/solver/solve.h"

namespace alpa::solver {

// The public IOPDDL form (**Source**: the contest of ASPLOS/EuroSys 2025, repository google/iopddl): `problem.nodes`
// with `intervals`, `costs` and `usages`, `problem.edges` with `nodes` and `costs`, an optional `problem.usage_limit`.
// All errors are InvalidArgumentError and name the place in the file.

/// Parses an instance from its bytes, gzip or plain JSON; equal cost tables are stored once.
Problem parse_problem(std::string_view bytes, const std::string& place = "iopddl");

/// Reads an instance from a file. Errors: as parse_problem, or the system's reason.
Problem read_problem(const std::string& path);

/// The instance as plain JSON.
std::string print_problem(const Problem& problem);

/// The bytes of an instance's file: gzip where its path ends in ".gz", else plain JSON.
std::string problem_file(const std::string& path, const Problem& problem);

/// Writes them.
void write_problem(const std::string& path, const Problem& problem);

/// Parses `{"solution": [strategy of each node, ...]}`; other members are ignored.
std::vector<int32_t> parse_choice(std::string_view bytes, const std::string& place = "solution");

std::vector<int32_t> read_choice(const std::string& path);

/// `{"solution": [...]}`.
std::string print_choice(std::span<const int32_t> choice);

/// Writes a choice as JSON.
void write_choice(const std::string& path, std::span<const int32_t> choice);

}  // namespace alpa::solver
