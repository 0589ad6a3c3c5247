#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "alpa/hlo/proto/hlo.pb.h"

/// Seeded damage to files.
namespace alpa::fuzz {

using Random = std::mt19937_64;

/// A number in [0, bound).
inline size_t below(Random& random, size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(random() % bound); }

/// One to four changes of bytes: flips, interesting bytes, cuts, repeats and pieces of `other`.
std::string mutate_bytes(std::string bytes, std::string_view other, Random& random);

/// One to three changes of a JSON text: numbers, brackets, deleted or repeated entries, bytes.
std::string mutate_json(std::string text, Random& random);

/// One to three changes of fields of a module that is a valid message: numbers become interesting ones, entries of
/// lists are dropped, repeated or swapped, opcodes and shapes exchanged.
void mutate_module(pb::HloModuleProto& module, Random& random);

}  // namespace alpa::fuzz
