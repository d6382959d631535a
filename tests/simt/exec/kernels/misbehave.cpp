// SPDX-License-Identifier: Apache-2.0
// One block and warp of the grid does what it should not; what, the parameter says.
#include "kernel.h"

struct Params {
  std::uint32_t what;
  std::uint32_t block, warp;
  std::uint32_t *address;
  std::uint32_t *started;
};

// Not inlined and not turned into a loop: it has to use up the stack.
[[gnu::noinline]] static std::uint32_t recurse(volatile std::uint32_t *p, std::uint32_t depth) {
  volatile std::uint32_t frame[256];
  frame[depth % 256] = depth;
  return recurse(frame, depth + 1) + frame[depth % 256] + p[0];
}

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  __atomic_fetch_add(p.started, 1, __ATOMIC_RELAXED);
  if (blockNumber(warp->block) != p.block || warp->index != p.warp) {
    if (p.what == 9)  // the others wait for the one that faults
      for (;;) __atomic_load_n(p.started, __ATOMIC_RELAXED);
    return;
  }
  switch (p.what) {
    case 0: *p.address = 1; return;
    case 1: recurse(p.address, 0); return;
    case 2: __builtin_trap();
    case 3: runtime(warp).fault(warp, static_cast<std::uint32_t>(FaultKind::trap), 0x10, 0); return;
    case 4: runtime(warp).assertFail(warp, 5, "x > 0", "file.cu", 12, "void f(int)", 1); return;
    case 5:
      for (;;) __atomic_load_n(p.started, __ATOMIC_RELAXED);
    case 6: runtime(warp).barrier(warp, 1, 4096, warp->lanes); return;
    case 7:
      for (;;) runtime(warp).yield(warp);
    case 8: runtime(warp).free(warp, p.address); return;
    case 9: *p.address = 1; return;
    case 10: {
      volatile std::uint8_t *end = warp->block->shared + 128;
      *end = 1;
      return;
    }
    case 11:
      for (std::uint32_t i = 0;; ++i) {
        __builtin_memset(p.address, static_cast<int>(i), 1 << 16);
        asm volatile("" ::: "memory");
      }
  }
}
