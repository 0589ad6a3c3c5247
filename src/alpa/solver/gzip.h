#pragma once

#include <string>
#include <string_view>

namespace alpa::solver {

/// Whether the bytes begin like a gzip stream.
bool is_gzip(std::string_view bytes);

/// Errors: InvalidArgumentError on a damaged or cut stream, or one that grows past 4 GiB.
std::string gzip_decompress(std::string_view bytes, const std::string& place);

/// The same bytes give the same stream: no time or name is stored.
std::string gzip_compress(std::string_view bytes);

}  // namespace alpa::solver
