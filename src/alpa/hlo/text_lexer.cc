#include "alpa/hlo/text_lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "alpa/base/error.h"

namespace alpa::hlo {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-' || c == '+' || c == '@';
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_word_character);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string quoted_unless_word(std::string_view text) { return is_word(text) ? std::string(text) : quoted(text); }

std::string to_base64(std::string_view bytes) {
  std::string result;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (at + k < bytes.size() ? static_cast<unsigned char>(bytes[at + k]) : 0u);
    const size_t digits = std::min<size_t>(bytes.size() - at, 3) + 1;
    for (size_t k = 0; k < 4; ++k) result += k < digits ? kBase64[bits >> (18 - 6 * k) & 63] : '=';
  }
  return result;
}

bool is_valid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const int length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (length == 0 || at + static_cast<size_t>(length) > text.size()) return false;
    uint32_t point = length == 1 ? first : first & (0x7fu >> length);
    for (int k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[at + static_cast<size_t>(k)]);
      if (next >> 6 != 2) return false;
      point = point << 6 | (next & 63u);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kLeast[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
    at += static_cast<size_t>(length);
  }
  return true;
}

void Lexer::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      break;
    }
  }
}

bool Lexer::at_end() {
  skip();
  return at_ == text_.size();
}

char Lexer::peek() { return at_end() ? '\0' : text_[at_]; }

std::string_view Lexer::peek_word() {
  skip();
  size_t end = at_;
  while (end < text_.size() && is_word_character(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

bool Lexer::accept(char mark) {
  if (peek() != mark || mark == '\0') return false;
  ++at_;
  return true;
}

bool Lexer::accept_word(std::string_view wanted) {
  if (peek_word() != wanted) return false;
  start_ = at_;
  at_ += wanted.size();
  return true;
}

void Lexer::expect(char mark) {
  if (accept(mark)) return;
  start_ = at_;
  fail(fmt::format("expected '{}'", mark));
}

void Lexer::expect_word(std::string_view wanted) {
  if (accept_word(wanted)) return;
  start_ = at_;
  fail(fmt::format("expected \"{}\"", wanted));
}

std::string_view Lexer::word(std::string_view what) {
  const std::string_view result = peek_word();
  start_ = at_;
  if (result.empty()) fail(fmt::format("expected {}", what));
  at_ += result.size();
  return result;
}

std::string Lexer::name(std::string_view what) {
  if (peek() != '"') return std::string(word(what));
  const size_t start = at_;
  std::string result = string();
  start_ = start;
  if (!is_valid_utf8(result)) fail("the string is no UTF-8");
  return result;
}

std::string Lexer::string() {
  expect('"');
  const size_t opened = at_ - 1;
  std::string result;
  while (at_ < text_.size() && text_[at_] != '"') {
    char c = text_[at_++];
    if (c == '\\') {
      start_ = at_ - 1;
      if (at_ == text_.size()) break;
      c = text_[at_++];
      if (c == 'n') {
        c = '\n';
      } else if (c == 'x') {
        const int high = at_ + 1 < text_.size() ? hex_digit(text_[at_]) : -1;
        const int low = at_ + 1 < text_.size() ? hex_digit(text_[at_ + 1]) : -1;
        if (high < 0 || low < 0) fail("expected two hex digits after \\x");
        c = static_cast<char>(high * 16 + low);
        at_ += 2;
      } else if (c != '"' && c != '\\') {
        fail("unknown escape in a string");
      }
    }
    result += c;
  }
  start_ = opened;
  if (at_ == text_.size()) fail("the string has no end");
  ++at_;
  return result;
}

std::string Lexer::base64() {
  const std::string digits = string();
  std::string result;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : std::string_view(digits).substr(0, digits.find('='))) {
    const size_t digit = kBase64.find(c);
    if (digit == std::string_view::npos) fail("the string is not base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    result += static_cast<char>(bits >> count & 0xff);
  }
  return result;
}

template <typename T>
T Lexer::parse(std::string_view what) {
  const std::string_view text = word(what);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail(fmt::format("\"{}\" is not {}", text, what));
  return value;
}

int64_t Lexer::integer() { return parse<int64_t>("a whole number"); }

uint64_t Lexer::unsigned_integer() { return parse<uint64_t>("a whole number of at least 0"); }

template <typename T, typename Bits>
T Lexer::parse_float() {
  const std::string_view text = peek_word();
  if (text.substr(0, 2) != "0x") return parse<T>("a number");
  word("a number");
  Bits bits{};
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (error != std::errc() || end != text.data() + text.size())
    fail(fmt::format("\"{}\" are not the bits of a number", text));
  return std::bit_cast<T>(bits);
}

double Lexer::number() { return parse_float<double, uint64_t>(); }

float Lexer::short_number() { return parse_float<float, uint32_t>(); }

bool Lexer::boolean() {
  if (accept_word("true")) return true;
  if (accept_word("false")) return false;
  start_ = at_;
  fail("expected true or false");
}

void Lexer::fail(const std::string& reason) const {
  const std::string_view before = text_.substr(0, start_);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  raise<InvalidArgumentError>("hlo", "line {}, column {}: {}", line, start_ - line_start + 1, reason);
}

}  // namespace alpa::hlo
