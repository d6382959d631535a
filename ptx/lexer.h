// SPDX-License-Identifier: Apache-2.0
// PTX text to tokens, one at a time; tokens are views into the text, which must outlive them.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/ptx.h"

namespace strata::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,   // foo, $L1, %r1, %tid.x, v.x, _
    directive,    // .reg: text without the dot
    integer,      // bits; isUnsigned
    float32,      // bits (0f…)
    float64,      // bits (0d… or decimal)
    string,       // text between the quotes, escapes untouched
    punctuation,  // one character, or << >> <= >= == != && || ::
    bad,          // text says what is wrong
  };
  Kind kind = Kind::end;
  bool isUnsigned = false;
  std::string_view text;
  std::uint64_t bits = 0;
  TextPlace place;

  bool is(char c) const { return kind == Kind::punctuation && text.size() == 1 && text[0] == c; }
  bool is(std::string_view t) const { return kind == Kind::punctuation && text == t; }
  bool isDirective(std::string_view t) const { return kind == Kind::directive && text == t; }
};

class Lexer {
public:
  explicit Lexer(std::string_view text) : at_(text.data()), end_(text.data() + text.size()), lineStart_(text.data()) {}

  Token next();
  // The next character that is neither space nor comment, not consumed; 0 at the end.
  char peekChar();
  // The suffixes that follow an opcode, ".rn.f32", without the first dot; empty if none follow.
  std::string_view suffixes();
  // Raw text from here through the brace that closes the next one opened: the body of a
  // .section. Empty if it is not closed.
  std::string_view bracedText();
  TextPlace place();
  void stop() { at_ = end_; }

private:
  void skipSpace();
  Token number();
  Token hexFloat(unsigned digits, Token token);
  Token decimalFloat(Token token);
  Token quoted();
  Token punctuation();
  Token fail(Token token, std::string_view what);

  const char *at_;
  const char *end_;
  const char *lineStart_;
  std::uint32_t line_ = 1;
};

}  // namespace strata::ptx
