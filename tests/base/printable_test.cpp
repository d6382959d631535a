// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Printable, NoControlCharacterIsLeft) {
  EXPECT_EQ(printable("plain: _Z1kPi at a.cu:3\n\tnext"), "plain: _Z1kPi at a.cu:3\n\tnext");
  EXPECT_EQ(printable("\x1b]0;title\x07\x1b[2J"), "\\x1b]0;title\\x07\\x1b[2J");
  EXPECT_EQ(printable(std::string_view("a\0b\rc\x7f", 6)), "a\\x00b\\x0dc\\x7f");
  EXPECT_EQ(printable("gr\u00fc\u00dfe \u4e2d\u6587 \U0001f600"), "gr\u00fc\u00dfe \u4e2d\u6587 \U0001f600");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b"
            "2J");  // U+009B is ESC [
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b"
            "2J");
  for (int c = 0; c < 256; ++c) {
    const std::string text = printable(std::string("a") + static_cast<char>(c) + "b");
    EXPECT_EQ(text.find('\x1b'), text.npos);
    EXPECT_EQ(text.find('\x9b'), text.npos);
  }
}

}  // namespace
}  // namespace strata
