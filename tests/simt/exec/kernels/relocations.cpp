// SPDX-License-Identifier: Apache-2.0
// Needs every kind of section and relocation that the loader knows.
#include "kernel.h"

static const std::uint32_t table[4] = {11, 22, 33, 44};
static std::uint32_t counter = 5;
static std::uint32_t zeros[1000];
const volatile std::uint32_t *const pointers[2] = {&table[2], &table[3]};
extern "C" void *memcpy(void *, const void *, std::size_t);
extern "C" void *memset(void *, int, std::size_t);

struct Params {
  std::uint32_t *out;
  std::size_t bytes;
};

extern "C" void strata_entry(Block *block, Warp *warp) {
  warp->block = block;
  const auto &p = params<Params>(warp);
  void *(*volatile copy)(void *, const void *, std::size_t) = memcpy;
  zeros[999] += 7;
  p.out[0] = *pointers[0] + *pointers[1] + zeros[999] + ++counter;
  memset(p.out + 1, 0x11, p.bytes);
  copy(p.out + 2, table, 4);
}
