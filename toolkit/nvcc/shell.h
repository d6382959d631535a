// SPDX-License-Identifier: Apache-2.0
// Text of command lines: splitting values and quoting words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::nvcc {

// "a,b" -> {a, b}. A comma inside quotes, brackets or parentheses, or after a backslash, separates nothing.
std::vector<std::string> splitList(std::string_view text);

// Words as a POSIX shell would see them: blanks, quotes and backslashes; no expansion.
std::vector<std::string> shellWords(std::string_view text);

// The word as it must be typed into a shell; unchanged if it needs no quotes.
std::string shellQuote(const std::string &word);
std::string shellLine(const std::vector<std::string> &words);

}  // namespace strata::nvcc
