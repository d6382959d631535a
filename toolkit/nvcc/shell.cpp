// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/shell.h"

#include <cctype>

namespace strata::nvcc {

std::vector<std::string> splitList(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != ',') parts.back() += c;
      parts.back() += text[++i];
      continue;
    }
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == ']') && depth > 0) {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
  }
  return parts;
}

std::vector<std::string> shellWords(std::string_view text) {
  std::vector<std::string> words;
  bool inWord = false;
  char quote = 0;
  auto add = [&](char c) {
    if (!inWord) words.emplace_back();
    inWord = true;
    words.back() += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      add(text[++i]);
    } else if (quote) {
      if (c == quote) quote = 0;
      else add(c);
    } else if (c == '"' || c == '\'') {
      quote = c;
      if (!inWord) words.emplace_back();
      inWord = true;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      inWord = false;
    } else {
      add(c);
    }
  }
  return words;
}

std::string shellQuote(const std::string &word) {
  static const std::string_view kPlain = "+-./_=:,@%^";
  bool plain = !word.empty();
  for (char c : word) plain &= std::isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != kPlain.npos;
  if (plain) return word;
  std::string quoted = "\"";
  for (char c : word) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string shellLine(const std::vector<std::string> &words) {
  std::string line;
  for (const std::string &word : words) line += (line.empty() ? "" : " ") + shellQuote(word);
  return line;
}

}  // namespace strata::nvcc
