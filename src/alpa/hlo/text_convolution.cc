#include <optional>
#include <string>

#include "alpa/hlo/text_fields.h"

/// The dims of a convolution as XLA writes them: one letter a dim of input, kernel and output, "b01f_01io->b01f".
namespace alpa::hlo {
namespace {

using Dims = google::protobuf::RepeatedField<int64_t>;

// Letters of the two special dims at their places, digits of the spatial ones at theirs.
std::optional<std::string> letters(int64_t first, char first_letter, int64_t second, char second_letter,
                                   const Dims& spatial) {
  std::string text(static_cast<size_t>(spatial.size() + 2), '\0');
  const auto put = [&](int64_t dim, char letter) {
    if (dim < 0 || dim >= static_cast<int64_t>(text.size()) || text[static_cast<size_t>(dim)] != '\0') return false;
    text[static_cast<size_t>(dim)] = letter;
    return true;
  };
  bool fits = spatial.size() <= 10 && put(first, first_letter) && put(second, second_letter);
  for (int k = 0; fits && k < spatial.size(); ++k) fits = put(spatial[k], static_cast<char>('0' + k));
  if (!fits) return std::nullopt;
  return text;
}

// The place of a letter, each of which must be there once.
int64_t place(Lexer& lexer, std::string_view text, char letter) {
  const size_t at = text.find(letter);
  if (at == std::string_view::npos || text.find(letter, at + 1) != std::string_view::npos) {
    lexer.fail(fmt::format("\"{}\" does not have one '{}'", text, letter));
  }
  return static_cast<int64_t>(at);
}

void add_places(Lexer& lexer, std::string_view text, Dims& spatial) {
  if (text.size() < 2 || text.size() > 12) lexer.fail(fmt::format("\"{}\" names {} dims: 2 to 12", text, text.size()));
  for (size_t k = 0; k + 2 < text.size(); ++k) spatial.Add(place(lexer, text, static_cast<char>('0' + k)));
}

}  // namespace

std::optional<std::string> print_convolution(const pb::ConvolutionDimensionNumbers& dims) {
  if (has_unknown_fields(dims)) return std::nullopt;
  const auto input =
      letters(dims.input_batch_dimension(), 'b', dims.input_feature_dimension(), 'f', dims.input_spatial_dimensions());
  const auto kernel = letters(dims.kernel_input_feature_dimension(), 'i', dims.kernel_output_feature_dimension(), 'o',
                              dims.kernel_spatial_dimensions());
  const auto output = letters(dims.output_batch_dimension(), 'b', dims.output_feature_dimension(), 'f',
                              dims.output_spatial_dimensions());
  if (!input || !kernel || !output) return std::nullopt;
  return fmt::format("{}_{}->{}", *input, *kernel, *output);
}

void parse_convolution(Lexer& lexer, pb::ConvolutionDimensionNumbers& dims) {
  const std::string_view from = lexer.word("dims like b01f_01io->b01f");
  const size_t cut = from.find('_');
  if (cut == std::string_view::npos || from.back() != '-') lexer.fail("expected dims like b01f_01io->b01f");
  const std::string_view input = from.substr(0, cut);
  const std::string_view kernel = from.substr(cut + 1, from.size() - cut - 2);
  add_places(lexer, input, *dims.mutable_input_spatial_dimensions());
  dims.set_input_batch_dimension(place(lexer, input, 'b'));
  dims.set_input_feature_dimension(place(lexer, input, 'f'));
  add_places(lexer, kernel, *dims.mutable_kernel_spatial_dimensions());
  dims.set_kernel_input_feature_dimension(place(lexer, kernel, 'i'));
  dims.set_kernel_output_feature_dimension(place(lexer, kernel, 'o'));
  lexer.expect('>');
  const std::string_view output = lexer.word("the output's dims");
  add_places(lexer, output, *dims.mutable_output_spatial_dimensions());
  dims.set_output_batch_dimension(place(lexer, output, 'b'));
  dims.set_output_feature_dimension(place(lexer, output, 'f'));
}

}  // namespace alpa::hlo
