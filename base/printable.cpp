// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <cstdio>

namespace strata {

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    const auto after = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool second = c == 0xc2 && after >= 0x80 && after < 0xa0;  // U+0080 to U+009F in UTF-8
    // The same characters, outside of UTF-8.
    const bool alone = c >= 0x80 && c < 0xa0 && (i == 0 || static_cast<unsigned char>(text[i - 1]) < 0x80);
    if (!control && !second && !alone) {
      result += static_cast<char>(c);
      continue;
    }
    for (std::size_t n = 0; n < (second ? 2u : 1u); ++n) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(text[i + n]));
      result += escaped;
    }
    i += second;
  }
  return result;
}

}  // namespace strata
