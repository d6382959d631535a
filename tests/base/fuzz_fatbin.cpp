// SPDX-License-Identifier: Apache-2.0
// The fat binary reader on arbitrary bytes: no access outside them, and what it accepts survives a round
// trip.
#include <cstdlib>

#include "base/fatbin.h"

using namespace strata;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  auto entries = fatbin::read({data, size});
  if (!entries) return 0;
  auto again = fatbin::read(fatbin::write(*entries, size % 2));
  if (!again || again->size() != entries->size()) std::abort();
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const fatbin::Entry &a = (*entries)[i], &b = (*again)[i];
    if (a.kind != b.kind || a.arch != b.arch || a.relocatable != b.relocatable || a.name != b.name) std::abort();
    // Other images than PTX keep the padding that an uncompressed entry adds.
    if (b.payload.size() < a.payload.size()) std::abort();
    if (!std::equal(a.payload.begin(), a.payload.end(), b.payload.begin())) std::abort();
  }
  return 0;
}
