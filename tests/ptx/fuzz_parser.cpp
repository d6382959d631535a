// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any text either fails with a message or gives a module that prints to a text which parses
// to the same print.
#include <cstdio>
#include <cstdlib>

#include "ptx/ptx.h"

using namespace strata::ptx;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  auto module = parse({reinterpret_cast<const char *>(data), size});
  if (!module) {
    if (module.error().message.empty() || module.error().blame == strata::Blame::internal) std::abort();
    return 0;
  }
  std::string text = print(*module);
  auto again = parse(text);
  if (!again || print(*again) != text) {
    std::fprintf(stderr, "%s\n%s\n", again ? "not a fixed point" : again.error().message.c_str(), text.c_str());
    std::abort();
  }
  return 0;
}
