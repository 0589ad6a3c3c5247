#include "alpa/hlo/load.h"

#include <lzma.h>

#include <algorithm>
#include <array>

#include "alpa/base/error.h"
#include "alpa/hlo/opcode.h"
#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/proto_parse.h"

namespace alpa::hlo {
namespace {

constexpr std::string_view kXzMagic(
    "\xfd"
    "7zXZ\0",
    6);
constexpr std::string_view kMlirMagic("ML\xefR", 4);
constexpr int kMaxNesting = 1000;
constexpr size_t kMaxUnpacked = size_t{1} << 31;

std::string_view first_word(std::string_view text) {
  while (!text.empty()) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    if (text.substr(0, 2) != "//") break;
    const size_t line = text.find('\n');
    if (line == std::string_view::npos) return {};
    text.remove_prefix(line);
  }
  return text.substr(0, text.find_first_of(" \t\r\n,({@"));
}

bool parses_as_module(const pb::HloModuleProto& module) {
  if (module.computations_size() == 0) return false;
  for (const auto& computation : module.computations()) {
    if (computation.instructions_size() == 0) return false;
  }
  return true;
}

}  // namespace

std::string unpack(std::string bytes) {
  if (std::string_view(bytes).substr(0, kXzMagic.size()) != kXzMagic) return bytes;
  lzma_stream stream = LZMA_STREAM_INIT;
  require<OutOfMemoryError>(lzma_stream_decoder(&stream, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK, "hlo",
                            "no memory to unpack xz");
  std::string result;
  std::array<char, 1 << 16> chunk;
  stream.next_in = reinterpret_cast<const uint8_t*>(bytes.data());
  stream.avail_in = bytes.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK && result.size() < kMaxUnpacked) {
    stream.next_out = reinterpret_cast<uint8_t*>(chunk.data());
    stream.avail_out = chunk.size();
    status = lzma_code(&stream, LZMA_FINISH);
    result.append(chunk.data(), chunk.size() - stream.avail_out);
  }
  lzma_end(&stream);
  require<InvalidArgumentError>(result.size() < kMaxUnpacked, "hlo", "the xz file unpacks to more than 2 GiB");
  require<InvalidArgumentError>(status == LZMA_STREAM_END, "hlo", "the xz file is damaged or cut short");
  return result;
}

FileKind recognize(std::string_view bytes) {
  require<InvalidArgumentError>(!bytes.empty(), "hlo", "the file is empty");
  if (bytes.substr(0, kMlirMagic.size()) == kMlirMagic) return FileKind::kStableHloArtifact;
  const std::string_view word = first_word(bytes.substr(0, 1 << 16));
  if (word == "HloModule") return FileKind::kHloText;
  if (word == "module" || word == "#loc" || word == "func.func" || word.substr(0, 4) == "#loc")
    return FileKind::kStableHloText;
  pb::HloModuleProto module;
  if (parse_proto(bytes, module) && parses_as_module(module)) return FileKind::kHloModuleProto;
  pb::HloProto wrapper;
  if (parse_proto(bytes, wrapper) && parses_as_module(wrapper.hlo_module())) return FileKind::kHloProto;
  raise<InvalidArgumentError>("hlo",
                              "neither HloModuleProto, HloProto nor StableHLO (text or portable artifact), or a file "
                              "that was cut short ({} bytes)",
                              bytes.size());
}

void check_nesting(std::string_view text) {
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        while (++at < text.size() && text[at] != '"') at += text[at] == '\\' ? 1 : 0;
        break;
      case '/':
        if (text.substr(at, 2) == "//") at = std::min(text.find('\n', at), text.size());
        break;
      case '(':
      case '[':
      case '{': ++depth; break;
      case ')':
      case ']':
      case '}': --depth; break;
      default: break;
    }
    require<InvalidArgumentError>(depth <= kMaxNesting, "hlo", "brackets are nested deeper than {} in the text",
                                  kMaxNesting);
  }
}

std::string module_of_hlo_proto(std::string_view bytes) {
  pb::HloProto wrapper;
  require<InvalidArgumentError>(parse_proto(bytes, wrapper), "hlo",
                                "not a serialized HloProto, or one that was cut short");
  return wrapper.hlo_module().SerializeAsString();
}

}  // namespace alpa::hlo
