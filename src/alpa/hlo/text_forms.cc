#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "alpa/hlo/text_fields.h"
#include "alpa/tensor/dtype.h"

/// Shapes, windows and shardings as text. Each is printed in its own form only if that form gives the same message
/// again.
namespace alpa::hlo {
namespace {

constexpr int kMaxDepth = 48;

bool same(const google::protobuf::MessageLite& a, const google::protobuf::MessageLite& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

// "f32[2,<=3]" and what it says.
std::string print_dims(const pb::ShapeProto& shape) {
  std::vector<std::string> dims;
  for (int k = 0; k < shape.dimensions_size(); ++k) {
    const bool dynamic = k < shape.is_dynamic_dimension_size() && shape.is_dynamic_dimension(k);
    dims.push_back(fmt::format("{}{}", dynamic ? "<=" : "", shape.dimensions(k)));
  }
  return fmt::format("{}[{}]", tensor::name(static_cast<tensor::DType>(shape.element_type())), fmt::join(dims, ","));
}

std::string print_layout(const pb::ShapeProto& shape) {
  if (!shape.has_layout()) return "{none}";
  const int64_t alignment = shape.layout().tail_padding_alignment_in_elements();
  const std::string padding = alignment == 1 ? "" : fmt::format(":P{}", alignment);
  if (shape.dimensions_size() == 0 && padding.empty()) return "";
  return fmt::format("{{{}{}}}", fmt::join(shape.layout().minor_to_major(), ","), padding);
}

// The plain shape with the same dims, layout order and alignment.
pb::ShapeProto plain(const pb::ShapeProto& shape) {
  pb::ShapeProto result;
  result.set_element_type(shape.element_type());
  if (shape.element_type() == static_cast<int>(tensor::DType::kTuple)) {
    *result.mutable_tuple_shapes() = shape.tuple_shapes();
    return result;
  }
  *result.mutable_dimensions() = shape.dimensions();
  for (int k = 0; k < shape.dimensions_size(); ++k) {
    result.add_is_dynamic_dimension(k < shape.is_dynamic_dimension_size() && shape.is_dynamic_dimension(k));
  }
  if (!shape.has_layout()) return result;
  *result.mutable_layout()->mutable_minor_to_major() = shape.layout().minor_to_major();
  result.mutable_layout()->set_tail_padding_alignment_in_elements(shape.layout().tail_padding_alignment_in_elements());
  return result;
}

void parse_layout(Lexer& lexer, pb::ShapeProto& shape) {
  shape.mutable_layout()->set_tail_padding_alignment_in_elements(1);
  if (!lexer.accept('{')) {
    for (int dim = shape.dimensions_size() - 1; dim >= 0; --dim) shape.mutable_layout()->add_minor_to_major(dim);
    return;
  }
  if (lexer.accept_word("none")) {
    shape.clear_layout();
    return lexer.expect('}');
  }
  while (!lexer.accept('}')) {
    if (lexer.accept(':')) {
      const std::string_view word = lexer.word("a padding alignment like P1");
      int64_t alignment = 0;
      const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), alignment);
      if (word[0] != 'P' || error != std::errc() || end != word.data() + word.size())
        lexer.fail("expected a padding alignment like P1");
      shape.mutable_layout()->set_tail_padding_alignment_in_elements(alignment);
    } else {
      shape.mutable_layout()->add_minor_to_major(lexer.integer());
      lexer.accept(',');
    }
  }
}

// "3x3" of one number a dim; empty if all are `usual`.
template <typename Get>
std::string print_each(const pb::Window& window, std::string_view name, const std::string& usual, Get get) {
  std::vector<std::string> values;
  for (const pb::WindowDimension& dim : window.dimensions()) values.push_back(get(dim));
  if (std::all_of(values.begin(), values.end(), [&](const std::string& value) { return value == usual; })) return "";
  return fmt::format(" {}={}", name, fmt::join(values, "x"));
}

// The numbers of "1_1x-2_0": the dims apart by x, a dim's numbers by _.
std::vector<std::vector<int64_t>> parse_each(Lexer& lexer) {
  std::vector<std::vector<int64_t>> result(1);
  const std::string_view word = lexer.word("numbers");
  const char* at = word.data();
  const char* const end = at + word.size();
  while (true) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != 'x' && *next != '_'))
      lexer.fail(fmt::format("\"{}\" are no numbers joined by x and _", word));
    result.back().push_back(value);
    if (next == end) return result;
    if (*next == 'x') result.emplace_back();
    at = next + 1;
  }
}

void set_window_numbers(Lexer& lexer, std::string_view name, pb::WindowDimension& dim,
                        const std::vector<int64_t>& numbers) {
  if (numbers.size() != (name == "pad" ? 2u : 1u)) lexer.fail(fmt::format("wrong number of numbers for \"{}\"", name));
  if (name == "size") return dim.set_size(numbers[0]);
  if (name == "stride") return dim.set_stride(numbers[0]);
  if (name == "lhs_dilate") return dim.set_base_dilation(numbers[0]);
  if (name == "rhs_dilate") return dim.set_window_dilation(numbers[0]);
  if (name == "rhs_reversal") return dim.set_window_reversal(numbers[0] != 0);
  if (name != "pad") lexer.fail(fmt::format("unknown part \"{}\" of a window", name));
  dim.set_padding_low(numbers[0]);
  dim.set_padding_high(numbers[1]);
}

std::string print_devices(const pb::OpSharding& sharding) {
  std::string text = fmt::format("{{devices=[{}]", fmt::join(sharding.tile_assignment_dimensions(), ","));
  if (sharding.tile_assignment_devices_size() > 0) {
    text += fmt::format("[{}]", fmt::join(sharding.tile_assignment_devices(), ","));
  } else {
    text += fmt::format("<=[{}]", fmt::join(sharding.iota_reshape_dims(), ","));
    if (sharding.iota_reshape_dims_size() != 1 || sharding.iota_transpose_perm_size() != 1 ||
        sharding.iota_transpose_perm(0) != 0) {
      text += fmt::format("T({})", fmt::join(sharding.iota_transpose_perm(), ","));
    }
  }
  return text + (sharding.replicate_on_last_tile_dim() ? " last_tile_dim_replicate}" : "}");
}

void parse_devices(Lexer& lexer, pb::OpSharding& sharding) {
  sharding.set_type(3);
  lexer.expect('=');
  for (const int64_t dim : parse_integers(lexer, '[', ']')) sharding.add_tile_assignment_dimensions(dim);
  if (lexer.accept('<')) {
    lexer.expect('=');
    for (const int64_t dim : parse_integers(lexer, '[', ']')) sharding.add_iota_reshape_dims(dim);
    if (lexer.accept_word("T")) {
      for (const int64_t dim : parse_integers(lexer, '(', ')'))
        sharding.add_iota_transpose_perm(static_cast<int32_t>(dim));
    } else {
      sharding.add_iota_transpose_perm(0);
    }
  } else {
    for (const int64_t device : parse_integers(lexer, '[', ']')) sharding.add_tile_assignment_devices(device);
  }
  if (lexer.accept_word("last_tile_dim_replicate")) sharding.set_replicate_on_last_tile_dim(true);
}

template <typename Message, typename Parse>
std::optional<std::string> checked(const Message& message, std::string text, Parse parse) {
  Message again;
  Lexer lexer(text);
  lexer.expect('{');
  parse(lexer, again);
  if (!same(message, again)) return std::nullopt;
  return text;
}

}  // namespace

std::string print_shape(const pb::ShapeProto& shape) {
  const bool known = shape.element_type() >= 1 && shape.element_type() <= 36;
  const bool order = !shape.has_layout() || shape.layout().minor_to_major_size() == shape.dimensions_size();
  if (!known || !order || !same(shape, plain(shape))) {
    std::vector<std::string> fields;
    print_fields(shape, {}, fields);
    return fmt::format("raw{{{}}}", fmt::join(fields, ", "));
  }
  if (shape.element_type() != static_cast<int>(tensor::DType::kTuple)) return print_dims(shape) + print_layout(shape);
  std::vector<std::string> elements;
  for (const pb::ShapeProto& element : shape.tuple_shapes()) elements.push_back(print_shape(element));
  return fmt::format("({})", fmt::join(elements, ", "));
}

void parse_shape(Lexer& lexer, pb::ShapeProto& shape, int depth) {
  if (depth > kMaxDepth) lexer.fail("nested too deep");
  if (lexer.peek_word() == "raw") return parse_message(lexer, shape, depth);
  if (lexer.accept('(')) {
    shape.set_element_type(static_cast<int>(tensor::DType::kTuple));
    while (!lexer.accept(')')) {
      parse_shape(lexer, *shape.add_tuple_shapes(), depth + 1);
      lexer.accept(',');
    }
    return;
  }
  const std::string_view type = lexer.word("a shape");
  for (int number = 1; number <= 36; ++number) {
    if (tensor::name(static_cast<tensor::DType>(number)) == type) shape.set_element_type(number);
  }
  if (shape.element_type() == 0) lexer.fail(fmt::format("unknown element type \"{}\"", type));
  lexer.expect('[');
  while (!lexer.accept(']')) {
    const bool dynamic = lexer.accept('<');
    if (dynamic) lexer.expect('=');
    shape.add_dimensions(lexer.integer());
    shape.add_is_dynamic_dimension(dynamic);
    lexer.accept(',');
  }
  parse_layout(lexer, shape);
}

std::optional<std::string> print_window(const pb::Window& window) {
  const auto number = [](int64_t value) { return fmt::format("{}", value); };
  std::string text = print_each(window, "size", "", [&](const auto& dim) { return number(dim.size()); });
  text += print_each(window, "stride", "1", [&](const auto& dim) { return number(dim.stride()); });
  text += print_each(window, "pad", "0_0",
                     [&](const auto& dim) { return fmt::format("{}_{}", dim.padding_low(), dim.padding_high()); });
  text += print_each(window, "lhs_dilate", "1", [&](const auto& dim) { return number(dim.base_dilation()); });
  text += print_each(window, "rhs_dilate", "1", [&](const auto& dim) { return number(dim.window_dilation()); });
  text += print_each(window, "rhs_reversal", "0", [&](const auto& dim) { return number(dim.window_reversal()); });
  return checked(window, "{" + (text.empty() ? text : text.substr(1)) + "}", parse_window);
}

void parse_window(Lexer& lexer, pb::Window& window) {
  while (!lexer.accept('}')) {
    const std::string name(lexer.word("a part of a window"));
    lexer.expect('=');
    const auto numbers = parse_each(lexer);
    if (window.dimensions_size() == 0) {
      for (size_t k = 0; k < numbers.size(); ++k) {
        pb::WindowDimension* dim = window.add_dimensions();
        dim->set_stride(1);
        dim->set_base_dilation(1);
        dim->set_window_dilation(1);
      }
    }
    if (static_cast<int>(numbers.size()) != window.dimensions_size())
      lexer.fail(fmt::format("\"{}\" has another number of dims", name));
    for (size_t k = 0; k < numbers.size(); ++k)
      set_window_numbers(lexer, name, *window.mutable_dimensions(static_cast<int>(k)), numbers[k]);
  }
}

std::optional<std::string> print_sharding(const pb::OpSharding& sharding) {
  std::string text;
  switch (sharding.type()) {
    case 0: text = "{replicated}"; break;
    case 1:
      if (sharding.tile_assignment_devices_size() != 1) return std::nullopt;
      text = fmt::format("{{maximal device={}}}", sharding.tile_assignment_devices(0));
      break;
    case 2: {
      std::vector<std::string> elements;
      for (const pb::OpSharding& element : sharding.tuple_shardings()) elements.push_back(print_message(element));
      text = fmt::format("{{tuple {}}}", fmt::join(elements, ", "));
      break;
    }
    case 3: text = print_devices(sharding); break;
    case 4: text = "{manual}"; break;
    default: return std::nullopt;
  }
  return checked(sharding, std::move(text),
                 [](Lexer& lexer, pb::OpSharding& again) { parse_sharding(lexer, again, 0); });
}

void parse_sharding(Lexer& lexer, pb::OpSharding& sharding, int depth) {
  if (lexer.accept_word("tuple")) {
    sharding.set_type(2);
    while (!lexer.accept('}')) {
      parse_message(lexer, *sharding.add_tuple_shardings(), depth + 1);
      lexer.accept(',');
    }
    return;
  }
  if (lexer.accept_word("maximal")) {
    lexer.expect_word("device");
    lexer.expect('=');
    sharding.set_type(1);
    sharding.add_tile_assignment_dimensions(1);
    sharding.add_tile_assignment_devices(lexer.integer());
  } else if (lexer.accept_word("manual")) {
    sharding.set_type(4);
  } else if (lexer.accept_word("devices")) {
    parse_devices(lexer, sharding);
  } else {
    lexer.expect_word("replicated");
  }
  lexer.expect('}');
}

}  // namespace alpa::hlo
