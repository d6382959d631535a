// SPDX-License-Identifier: Apache-2.0
// printf with arguments packed as clang packs them, and the device heap.
#include "kernel.h"

struct Params {
  const char *format;
  const void *arguments;
  std::int32_t *result;
  std::uint64_t *allocated;  // bytes got before malloc gave null
  std::uint64_t step;
};

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  if (p.format) *p.result = runtime(warp).vprintf(warp, 0, p.format, p.arguments);
  if (!p.step) return;
  void *blocks[256];
  std::uint32_t count = 0;
  while (count < 256) {
    void *block = runtime(warp).malloc(warp, p.step);
    if (!block) break;
    *static_cast<volatile std::uint64_t *>(block) = count;
    blocks[count++] = block;
  }
  *p.allocated = count * p.step;
  while (count) runtime(warp).free(warp, blocks[--count]);
  runtime(warp).free(warp, nullptr);
}
