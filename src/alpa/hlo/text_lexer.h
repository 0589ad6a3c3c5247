#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

/// Words, strings and marks of the text form; inside this room.
namespace alpa::hlo {

/// True if it can stand in text without quotes.
bool is_word(std::string_view text);
/// As it is if it is a word, else in quotes.
std::string quoted_unless_word(std::string_view text);
/// In quotes; bytes that are not printable become \xNN, those of UTF-8 beyond ASCII stay.
std::string quoted(std::string_view text);
std::string to_base64(std::string_view bytes);
bool is_valid_utf8(std::string_view text);

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  bool at_end();
  /// The next mark, first character of a word, or '"'; '\0' at the end.
  char peek();
  std::string_view peek_word();
  bool accept(char mark);
  bool accept_word(std::string_view word);
  void expect(char mark);
  void expect_word(std::string_view word);
  std::string_view word(std::string_view what);
  /// A word, or a string in quotes.
  std::string name(std::string_view what);
  std::string string();
  /// A string in quotes, of base64.
  std::string base64();
  int64_t integer();
  uint64_t unsigned_integer();
  /// Numbers, "inf", or the bits as 0x7fc00000.
  double number();
  float short_number();
  bool boolean();

  /// Raises InvalidArgumentError with line and column of the word read last.
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  void skip();
  template <typename T>
  T parse(std::string_view what);
  template <typename T, typename Bits>
  T parse_float();

  std::string_view text_;
  size_t at_ = 0;
  size_t start_ = 0;  ///< Of the word read last.
};

}  // namespace alpa::hlo
