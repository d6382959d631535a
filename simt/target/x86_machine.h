// SPDX-License-Identifier: Apache-2.0
// simt/target/machine.h of x86-64.
#pragma once

#include <ucontext.h>
#include <x86intrin.h>

#include <cstddef>
#include <cstdint>

namespace strata::simt::machine {

inline void pause() { _mm_pause(); }
inline std::uint64_t timeCounter() { return __rdtsc(); }
inline void storesBefore() { _mm_sfence(); }

inline void useDefaultRounding() {
  constexpr unsigned kDefaultMxcsr = 0x1F80;
  _mm_setcsr(kDefaultMxcsr);
  asm volatile("fninit");
}

inline void storePastCaches(void *to, const void *from, std::size_t lines) {
  auto *out = static_cast<__m128i *>(to);
  const auto *in = static_cast<const __m128i *>(from);
  for (; lines; --lines, in += 4, out += 4) {
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
}

inline std::uintptr_t programCounter(const ucontext_t &context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

inline void redirect(ucontext_t &context, void *stackTop, void (*function)()) {
  constexpr std::uint64_t kDirectionFlag = 0x400;
  auto &registers = context.uc_mcontext.gregs;
  // As behind a call: 16-byte aligned less the return address.
  const std::uint64_t top = reinterpret_cast<std::uint64_t>(stackTop) & ~std::uint64_t{15};
  registers[REG_RSP] = static_cast<greg_t>(top - 128 - 8);
  registers[REG_RIP] = reinterpret_cast<greg_t>(function);
  registers[REG_EFL] &= ~static_cast<greg_t>(kDirectionFlag);
}

}  // namespace strata::simt::machine
