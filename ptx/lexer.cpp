// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.h"

#include <array>
#include <bit>
#include <charconv>

namespace strata::ptx {
namespace {

enum : std::uint8_t { kSpace = 1, kWord = 2, kDigit = 4, kHex = 8 };
constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> c{};
  for (unsigned char s : {' ', '\t', '\r', '\n', '\f', '\v'}) c[s] = kSpace;
  for (int i = 'a'; i <= 'z'; ++i) c[i] = kWord;
  for (int i = 'A'; i <= 'Z'; ++i) c[i] = kWord;
  for (int i = '0'; i <= '9'; ++i) c[i] = kWord | kDigit | kHex;
  for (int i = 'a'; i <= 'f'; ++i) c[i] |= kHex;
  for (int i = 'A'; i <= 'F'; ++i) c[i] |= kHex;
  c['_'] = c['$'] = kWord;
  return c;
}();
bool is(char ch, std::uint8_t mask) { return kClasses[static_cast<unsigned char>(ch)] & mask; }

}  // namespace

void Lexer::skipSpace() {
  while (at_ < end_) {
    if (is(*at_, kSpace)) {
      if (*at_ == '\n') {
        ++line_;
        lineStart_ = at_ + 1;
      }
      ++at_;
    } else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '/') {
      while (at_ < end_ && *at_ != '\n') ++at_;
    } else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '*') {
      at_ += 2;
      while (at_ < end_ && !(*at_ == '*' && at_ + 1 < end_ && at_[1] == '/')) {
        if (*at_ == '\n') {
          ++line_;
          lineStart_ = at_ + 1;
        }
        ++at_;
      }
      at_ = at_ < end_ ? at_ + 2 : end_;
    } else {
      return;
    }
  }
}

TextPlace Lexer::place() {
  skipSpace();
  return {line_, static_cast<std::uint32_t>(at_ - lineStart_) + 1};
}

char Lexer::peekChar() {
  skipSpace();
  return at_ < end_ ? *at_ : '\0';
}

std::string_view Lexer::suffixes() {
  skipSpace();
  if (at_ == end_ || *at_ != '.') return {};
  const char *begin = ++at_;
  while (at_ < end_) {
    if (is(*at_, kWord) || *at_ == '.') ++at_;
    else if (*at_ == ':' && at_ + 1 < end_ && at_[1] == ':') at_ += 2;
    else break;
  }
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

std::string_view Lexer::bracedText() {
  const char *begin = at_;
  int depth = 0;
  while (at_ < end_) {
    skipSpace();
    if (at_ == end_) break;
    if (*at_ == '"') {
      quoted();
      continue;
    }
    char c = *at_++;
    if (c == '{') ++depth;
    if (c == '}' && --depth <= 0) return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  return {};
}

Token Lexer::fail(Token token, std::string_view what) {
  token.kind = Token::Kind::bad;
  token.text = what;
  stop();
  return token;
}

Token Lexer::next() {
  skipSpace();
  Token token;
  token.place = {line_, static_cast<std::uint32_t>(at_ - lineStart_) + 1};
  if (at_ == end_) return token;
  const char *begin = at_;
  char c = *at_;
  if (is(c, kDigit)) return number();
  if (c == '"') return quoted();
  bool dot = c == '.', percent = c == '%';
  if (is(c, kWord) || ((dot || percent) && at_ + 1 < end_ && is(at_[1], kWord))) {
    if (dot || percent) ++at_;
    while (at_ < end_ && is(*at_, kWord)) ++at_;
    // %tid.x, and the components of vector registers; not the first suffix of shf.r.wrap
    bool component =
        !dot && at_ + 1 < end_ && *at_ == '.' && std::string_view("xyzwrgba").find(at_[1]) != std::string_view::npos;
    if (component && (at_ + 2 == end_ || !(is(at_[2], kWord) || at_[2] == '.'))) at_ += 2;
    token.kind = dot ? Token::Kind::directive : Token::Kind::identifier;
    if (dot) ++begin;
    token.text = {begin, static_cast<std::size_t>(at_ - begin)};
    return token;
  }
  return punctuation();
}

Token Lexer::punctuation() {
  Token token;
  token.place = {line_, static_cast<std::uint32_t>(at_ - lineStart_) + 1};
  token.kind = Token::Kind::punctuation;
  std::size_t length = 1;
  if (at_ + 1 < end_) {
    std::string_view two(at_, 2);
    for (std::string_view known : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "::"})
      if (two == known) length = 2;
  }
  token.text = {at_, length};
  at_ += length;
  return token;
}

Token Lexer::quoted() {
  Token token;
  token.place = {line_, static_cast<std::uint32_t>(at_ - lineStart_) + 1};
  const char *begin = ++at_;
  while (at_ < end_ && *at_ != '"' && *at_ != '\n') at_ += *at_ == '\\' && at_ + 1 < end_ ? 2 : 1;
  if (at_ >= end_ || *at_ != '"') return fail(token, "a string is not closed on its line");
  token.kind = Token::Kind::string;
  token.text = {begin, static_cast<std::size_t>(at_ - begin)};
  ++at_;
  return token;
}

Token Lexer::hexFloat(unsigned digits, Token token) {
  at_ += 2;
  auto [stopped, error] = std::from_chars(at_, end_, token.bits, 16);
  if (error != std::errc() || stopped - at_ != digits)
    return fail(token, digits == 8 ? "0f needs 8 hexadecimal digits" : "0d needs 16 hexadecimal digits");
  at_ = stopped;
  token.kind = digits == 8 ? Token::Kind::float32 : Token::Kind::float64;
  return token;
}

Token Lexer::decimalFloat(Token token) {
  double value = 0;
  auto [stopped, error] = std::from_chars(at_, end_, value);
  if (error != std::errc() || (stopped < end_ && is(*stopped, kWord)))
    return fail(token, "not a floating-point constant that fits f64");
  at_ = stopped;
  token.kind = Token::Kind::float64;
  token.bits = std::bit_cast<std::uint64_t>(value);
  return token;
}

Token Lexer::number() {
  Token token;
  token.place = {line_, static_cast<std::uint32_t>(at_ - lineStart_) + 1};
  char second = at_ + 1 < end_ ? at_[1] : '\0';
  int base = 10;
  if (*at_ == '0') {
    switch (second) {
      case 'f':
      case 'F': return hexFloat(8, token);
      case 'd':
      case 'D': return hexFloat(16, token);
      case 'x':
      case 'X': base = 16; break;
      case 'b':
      case 'B': base = 2; break;
      default:
        if (is(second, kDigit)) base = 8;
    }
  }
  const char *digits = at_ + (base == 16 || base == 2 ? 2 : 0);
  if (base == 10 || base == 8) {
    const char *scan = at_;
    while (scan < end_ && is(*scan, kDigit)) ++scan;
    token.text = {at_, static_cast<std::size_t>(scan - at_)};
    bool fraction = scan + 1 < end_ && *scan == '.' && is(scan[1], kDigit);
    bool dotEnd = scan < end_ && *scan == '.' && !fraction;
    if (fraction || dotEnd || (scan < end_ && (*scan == 'e' || *scan == 'E'))) return decimalFloat(token);
  }
  auto [stopped, error] = std::from_chars(digits, end_, token.bits, base);
  if (error == std::errc::result_out_of_range) return fail(token, "an integer constant does not fit 64 bits");
  if (error != std::errc() || stopped == digits) return fail(token, "not a number");
  at_ = stopped;
  if (at_ < end_ && (*at_ == 'U' || *at_ == 'u')) {
    token.isUnsigned = true;
    ++at_;
  }
  if (at_ < end_ && is(*at_, kWord)) return fail(token, "not a number");
  token.kind = Token::Kind::integer;
  return token;
}

}  // namespace strata::ptx
