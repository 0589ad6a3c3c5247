#include "alpa/tensor/safetensors.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "alpa/base/error.h"
#include "alpa/base/json.h"

namespace alpa::tensor {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string_view text;
  DType dtype;
};

constexpr std::array kTypes = {
    Row{"BOOL", DType::kPred},        Row{"U8", DType::kU8},     Row{"I8", DType::kS8},
    Row{"U16", DType::kU16},          Row{"I16", DType::kS16},   Row{"U32", DType::kU32},
    Row{"I32", DType::kS32},          Row{"U64", DType::kU64},   Row{"I64", DType::kS64},
    Row{"F16", DType::kF16},          Row{"BF16", DType::kBF16}, Row{"F32", DType::kF32},
    Row{"F64", DType::kF64},          Row{"C64", DType::kC64},   Row{"F8_E5M2", DType::kF8E5M2},
    Row{"F8_E4M3", DType::kF8E4M3FN},
};

// An array and where its bytes lie in the data.
struct Entry {
  Shape shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

Entry read_one(const std::string& name, const Json& entry, uint64_t data_size, std::string_view source) {
  const auto fail = [&](std::string_view reason) {
    raise<InvalidArgumentError>("safetensors", "{}: entry \"{}\" {}", source, name, reason);
  };
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets")) {
    fail("lacks dtype, shape or data_offsets");
  }
  Shape shape;
  for (const Row& row : kTypes) {
    if (entry["dtype"] == row.text) shape.dtype = row.dtype;
  }
  if (shape.dtype == DType::kInvalid) fail("has an unknown dtype");
  if (!entry["shape"].is_array()) fail("has no list as its shape");
  int64_t count = 1;
  for (const Json& dim : entry["shape"]) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > uint64_t{1} << 48 ||
        __builtin_mul_overflow(count, dim.get<int64_t>(), &count) || count > int64_t{1} << 48) {
      fail("has a bad shape");
    }
    shape.dims.push_back(dim.get<int64_t>());
  }
  const Json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    fail("has bad data_offsets");
  }
  const auto begin = offsets[0].get<uint64_t>();
  const auto end = offsets[1].get<uint64_t>();
  if (begin > end || end > data_size) fail("reaches past the end of the file: is it cut short?");
  if (static_cast<int64_t>(end - begin) != byte_size(shape)) fail("has a shape that does not fit its bytes");
  return {std::move(shape), begin, end};
}

// The entries share no byte of the data and leave none out.
void check_ranges(const std::map<std::string, Entry>& entries, uint64_t data_size, std::string_view source) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [name, entry] : entries) {
    if (entry.begin < entry.end) ranges.emplace_back(entry.begin, entry.end);
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t end = 0;
  ranges.emplace_back(data_size, data_size);
  for (const auto& [first, last] : ranges) {
    require<InvalidArgumentError>(end <= first, "safetensors", "{}: two entries overlap at byte {} of its data", source,
                                  first);
    require<InvalidArgumentError>(end == first, "safetensors",
                                  "{}: bytes {} to {} of its data belong to no entry: is it damaged?", source, end,
                                  first);
    end = last;
  }
}

// Length of the header, which the first 8 bytes of the file say.
uint64_t header_size(std::string_view start, uint64_t file_size, std::string_view source) {
  require<InvalidArgumentError>(start.size() >= 8, "safetensors", "{} has {} bytes: no safetensors file", source,
                                file_size);
  uint64_t size = 0;
  std::memcpy(&size, start.data(), 8);
  require<InvalidArgumentError>(size <= file_size - 8, "safetensors",
                                "{}: its header is cut short, or it is no safetensors file", source);
  return size;
}

std::map<std::string, Entry> read_entries(std::string_view header_text, uint64_t data_size, std::string_view source) {
  const Json header = parse_json(header_text, "safetensors", source);
  require<InvalidArgumentError>(header.is_object(), "safetensors", "{}: its header is no JSON object", source);
  std::map<std::string, Entry> entries;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    entries.emplace(name, read_one(name, entry, data_size, source));
  }
  check_ranges(entries, data_size, source);
  return entries;
}

}  // namespace

std::map<std::string, Literal> read_safetensors(std::string_view bytes, std::string_view source) {
  const uint64_t size = header_size(bytes, bytes.size(), source);
  const std::string_view data = bytes.substr(8 + size);
  std::map<std::string, Literal> result;
  for (const auto& [name, entry] : read_entries(bytes.substr(8, size), data.size(), source)) {
    const auto* begin = reinterpret_cast<const std::byte*>(data.data()) + entry.begin;
    result.emplace(name, Literal(entry.shape, {begin, entry.end - entry.begin}));
  }
  return result;
}

std::map<std::string, Shape> read_safetensors_shapes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const int error = errno;
  require<InvalidArgumentError>(in.is_open(), "safetensors", "cannot read {}: {}", path, std::strerror(error));
  std::error_code code;
  const uint64_t file_size = std::filesystem::file_size(path, code);
  require<InvalidArgumentError>(!code, "safetensors", "cannot read {}: {}", path, code.message());
  std::string start(static_cast<size_t>(std::min<uint64_t>(8, file_size)), '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  std::string header(header_size(start, file_size, path), '\0');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  require<InvalidArgumentError>(static_cast<bool>(in), "safetensors", "cannot read {}: its header is cut short", path);
  std::map<std::string, Shape> result;
  for (auto& [name, entry] : read_entries(header, file_size - 8 - header.size(), path)) {
    result.emplace(name, entry.shape);
  }
  return result;
}

std::string write_safetensors(const std::map<std::string, Literal>& arrays) {
  Json header = Json::object();
  std::string data;
  for (const auto& [name, literal] : arrays) {
    std::string_view type;
    for (const Row& row : kTypes) {
      if (row.dtype == literal.shape().dtype) type = row.text;
    }
    require<UnsupportedError>(!type.empty(), "safetensors", "\"{}\" has element type {}, which the format lacks", name,
                              tensor::name(literal.shape().dtype));
    const auto bytes = literal.bytes();
    header[name] = {
        {"dtype", type}, {"shape", literal.shape().dims}, {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t size = text.size();
  std::string result(8, '\0');
  std::memcpy(result.data(), &size, 8);
  return result + text + data;
}

}  // namespace alpa::tensor
