// SPDX-License-Identifier: Apache-2.0
// Text of others in messages: names of kernels, paths, lines of files may hold what steers a terminal.
#pragma once

#include <string>
#include <string_view>

namespace strata {

// The text with each control character but newline and tab as \xNN: nothing that a terminal would act on is left. What
// is not ASCII stays, except the control characters of that part (U+0080 to U+009F).
std::string printable(std::string_view text);

}  // namespace strata
