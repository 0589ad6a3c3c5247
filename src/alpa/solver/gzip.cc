#include "alpa/solver/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "alpa/base/error.h"

namespace alpa::solver {
namespace {

constexpr size_t kMaxBytes = size_t(4) << 30;
constexpr size_t kChunk = size_t(1) << 20;
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, plus 16 for a gzip header.

/// Owns zlib's state.
struct Stream {
  using End = int (*)(z_streamp);
  explicit Stream(End end_function) : end(end_function) {}
  ~Stream() { end(&state); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  z_stream state = {};
  End end;
};

/// Hands zlib the next part of the input; its counters have 32 bits.
void feed(std::string_view& rest, z_stream& state) {
  if (state.avail_in != 0 || rest.empty()) return;
  const size_t part = std::min(rest.size(), kChunk);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
  state.avail_in = static_cast<uInt>(part);
  rest.remove_prefix(part);
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

std::string gzip_decompress(std::string_view bytes, const std::string& place) {
  Stream stream(inflateEnd);
  if (inflateInit2(&stream.state, kGzipWindow) != Z_OK) raise<OutOfMemoryError>(place, "zlib could not start");
  std::string result;
  for (;;) {
    feed(bytes, stream.state);
    const size_t old = result.size();
    result.resize(old + kChunk);
    stream.state.next_out = reinterpret_cast<Bytef*>(result.data() + old);
    stream.state.avail_out = static_cast<uInt>(kChunk);
    const int status = inflate(&stream.state, Z_NO_FLUSH);
    result.resize(old + kChunk - stream.state.avail_out);
    require<InvalidArgumentError>(result.size() <= kMaxBytes, place, "the gzip stream grows past 4 GiB");
    if (status == Z_STREAM_END) {
      if (bytes.empty() && stream.state.avail_in == 0) return result;
      require<InvalidArgumentError>(inflateReset(&stream.state) == Z_OK, place, "the gzip stream is damaged");
      continue;
    }
    const bool starved = status == Z_BUF_ERROR && bytes.empty() && stream.state.avail_in == 0;
    require<InvalidArgumentError>(!starved, place, "the gzip stream is cut short after {} bytes", result.size());
    require<InvalidArgumentError>(status == Z_OK || status == Z_BUF_ERROR, place, "the gzip stream is damaged: {}",
                                  stream.state.msg ? stream.state.msg : "unknown reason");
  }
}

std::string gzip_compress(std::string_view bytes) {
  Stream stream(deflateEnd);
  if (deflateInit2(&stream.state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    raise<OutOfMemoryError>("gzip", "zlib could not start");
  }
  std::string result;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    feed(bytes, stream.state);
    const size_t old = result.size();
    result.resize(old + kChunk);
    stream.state.next_out = reinterpret_cast<Bytef*>(result.data() + old);
    stream.state.avail_out = static_cast<uInt>(kChunk);
    status = deflate(&stream.state, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    ALPA_CHECK(status != Z_STREAM_ERROR);
    result.resize(old + kChunk - stream.state.avail_out);
  }
  return result;
}

}  // namespace alpa::solver
