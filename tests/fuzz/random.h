// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Where a line of a kernel is put together, its random parts are drawn from left to right, as Clang evaluates operands.
#ifndef __clang__
#error "another compiler would make other kernels of the recorded seeds"
#endif

namespace strata::fuzz {

// SplitMix64: small, and the same everywhere (the standard distributions are not).
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  std::uint32_t word() { return static_cast<std::uint32_t>(next() >> 32); }
  template <class T, std::size_t n>
  const T &pick(const T (&list)[n]) {
    return list[below(n)];
  }

private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  std::uint64_t state_;
};

}  // namespace strata::fuzz
