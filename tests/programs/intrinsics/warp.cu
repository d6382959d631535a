// SPDX-License-Identifier: Apache-2.0
// Warp functions (shuffles of each type and width, votes, matches, reductions, under full and partial masks) and atomics of each scope, one
// thread an address.
#include <algorithm>

#include "rows.h"

#define U(x) static_cast<unsigned>(x)
#define S(x) static_cast<int>(x)
#define LL(x) static_cast<long long>(x)

// ---- Atomics: old and new value, as one word -----------------------------------------------------------
constexpr unsigned kSlots = 1 << 14;
__device__ Word slots[kSlots];

template <class T>
__host__ __device__ Word both(T old, T now) {
  const Word x = word(now);
  return word(old) ^ (x << 13 | x >> 51);
}
template <class T, class F>
__device__ Word onSlot(Word value, F f) {
  T *slot = reinterpret_cast<T *>(&slots[blockIdx.x * blockDim.x + threadIdx.x]);
  *slot = as<T>(value);
  const T old = f(slot);
  return both(old, *slot);
}
#define ATOMIC_SCOPE(name, Type, label, next)                                                              \
  ROW(name##_##label, (onSlot<Type>(a, [=](Type *at) { return name(at, as<Type>(b)); })),                   \
      both(as<Type>(a), [](Type x, Type y) -> Type { (void)x; return next; }(as<Type>(a), as<Type>(b))))
#define ATOMIC(name, Type, label, next)             \
  ATOMIC_SCOPE(name, Type, label, next)             \
  ATOMIC_SCOPE(name##_block, Type, label, next)     \
  ATOMIC_SCOPE(name##_system, Type, label, next)
ATOMIC(atomicAdd, int, int, S(U(x) + U(y)))
ATOMIC(atomicAdd, unsigned, unsigned, x + y)
ATOMIC(atomicAdd, Word, wide, x + y)
ATOMIC(atomicSub, int, int, S(U(x) - U(y)))
ATOMIC(atomicSub, unsigned, unsigned, x - y)
ATOMIC(atomicExch, int, int, y)
ATOMIC(atomicExch, unsigned, unsigned, y)
ATOMIC(atomicExch, Word, wide, y)
ATOMIC(atomicMin, int, int, std::min(x, y))
ATOMIC(atomicMin, unsigned, unsigned, std::min(x, y))
ATOMIC(atomicMin, long long, long, std::min(x, y))
ATOMIC(atomicMin, Word, wide, std::min(x, y))
ATOMIC(atomicMax, int, int, std::max(x, y))
ATOMIC(atomicMax, unsigned, unsigned, std::max(x, y))
ATOMIC(atomicMax, long long, long, std::max(x, y))
ATOMIC(atomicMax, Word, wide, std::max(x, y))
ATOMIC(atomicInc, unsigned, unsigned, x >= y ? 0 : x + 1)
ATOMIC(atomicDec, unsigned, unsigned, x == 0 || x > y ? y : x - 1)
ATOMIC(atomicAnd, int, int, x & y)
ATOMIC(atomicAnd, unsigned, unsigned, x & y)
ATOMIC(atomicAnd, Word, wide, x & y)
ATOMIC(atomicOr, unsigned, unsigned, x | y)
ATOMIC(atomicOr, Word, wide, x | y)
ATOMIC(atomicXor, unsigned, unsigned, x ^ y)
ATOMIC(atomicXor, Word, wide, x ^ y)
#define CAS(name, Type, label)                                                                                              \
  ROW(name##_##label, (onSlot<Type>(a, [=](Type *at) { return name(at, as<Type>(c & 1 ? a : b), as<Type>(c)); })),           \
      both(as<Type>(a), as<Type>(c & 1 ? a : b) == as<Type>(a) ? as<Type>(c) : as<Type>(a)))
CAS(atomicCAS, int, int)
CAS(atomicCAS, unsigned, unsigned)
CAS(atomicCAS, Word, wide)
CAS(atomicCAS, unsigned short, half)
CAS(atomicCAS_block, unsigned, unsigned)
CAS(atomicCAS_system, Word, wide)

// ---- Warps ---------------------------------------------------------------------------------------------
constexpr int kLanes = 32, kResults = 24;
struct Warp {
  Word value[kLanes];
  int operand[kLanes];  // source lane, delta or mask of a shuffle
  unsigned mask;
  int width;
};

template <class T>
__device__ void shuffles(Word *to, const Warp &w, unsigned lane, T value) {
  to[0] = word(__shfl_sync(w.mask, value, w.operand[lane], w.width));
  to[1] = word(__shfl_up_sync(w.mask, value, w.operand[0] & 31, w.width));
  to[2] = word(__shfl_down_sync(w.mask, value, w.operand[0] & 31, w.width));
  to[3] = word(__shfl_xor_sync(w.mask, value, w.operand[0] & 31, w.width));
}

__global__ void runWarps(const Warp *warps, Word *results) {
  const Warp &w = warps[blockIdx.x];
  const unsigned lane = threadIdx.x;
  if (!(w.mask >> lane & 1)) return;
  Word *to = results + (blockIdx.x * kLanes + lane) * kResults;
  const Word v = w.value[lane];
  shuffles(to, w, lane, S(v));
  shuffles(to + 4, w, lane, v);
  shuffles(to + 8, w, lane, as<float>(v & 0x7f7fffff));
  to[12] = __all_sync(w.mask, v & 3) != 0;
  to[13] = __any_sync(w.mask, (v & 15) == 15) != 0;
  to[14] = __ballot_sync(w.mask, v & 1);
  to[15] = __match_any_sync(w.mask, U(v) & 3);
  int all = -1;
  to[16] = __match_all_sync(w.mask, v & 1, &all);
  to[17] = all != 0;
  to[18] = word(__reduce_add_sync(w.mask, S(v)));
  to[19] = word(__reduce_min_sync(w.mask, S(v)));
  to[20] = word(__reduce_max_sync(w.mask, U(v)));
  to[21] = __reduce_and_sync(w.mask, U(v)) ^ Word(__reduce_or_sync(w.mask, U(v))) << 32;
  to[22] = __reduce_xor_sync(w.mask, U(v));
  to[23] = __match_any_sync(w.mask, v & 0x100000001);
}

// The guide's words. Where a shuffle's source does not take part its result is not defined: false.
static bool wanted(const Warp &w, unsigned lane, int which, Word &want) {
  auto in = [&](unsigned l) { return w.mask >> l & 1; };
  auto over = [&](auto start, auto f) {
    for (unsigned l = 0; l < kLanes; ++l)
      if (in(l)) start = f(start, w.value[l], l);
    return start;
  };
  const Word v = w.value[lane];
  if (which < 12) {
    const int width = w.width, base = int(lane) / width * width, at = int(lane) % width, delta = w.operand[0] & 31;
    int source = int(lane);
    switch (which % 4) {
      case 0: source = base + ((w.operand[lane] % width) + width) % width; break;
      case 1: source = at - delta < 0 ? int(lane) : int(lane) - delta; break;
      case 2: source = at + delta >= width ? int(lane) : int(lane) + delta; break;
      case 3: source = (int(lane) ^ delta) >= base + width ? int(lane) : int(lane) ^ delta; break;
    }
    if (!in(source)) return false;
    const Word x = w.value[source];
    want = which < 4 ? word(S(x)) : which < 8 ? x : word(as<float>(x & 0x7f7fffff));
    return true;
  }
  const bool first = v & 1;
  switch (which) {
    case 12: want = over(true, [](bool r, Word x, unsigned) { return r && (x & 3); }); break;
    case 13: want = over(false, [](bool r, Word x, unsigned) { return r || (x & 15) == 15; }); break;
    case 14: want = over(0u, [](unsigned r, Word x, unsigned l) { return r | U(x & 1) << l; }); break;
    case 15: want = over(0u, [&](unsigned r, Word x, unsigned l) { return r | unsigned((x & 3) == (v & 3)) << l; }); break;
    case 16:
    case 17: {
      const bool same = over(true, [&](bool r, Word x, unsigned) { return r && (x & 1) == first; });
      want = which == 17 ? same : same ? w.mask : 0;
      break;
    }
    case 18: want = over(0u, [](unsigned r, Word x, unsigned) { return r + U(x); }); break;
    case 19: want = word(over(2147483647, [](int r, Word x, unsigned) { return std::min(r, S(x)); })); break;
    case 20: want = over(0u, [](unsigned r, Word x, unsigned) { return std::max(r, U(x)); }); break;
    case 21:
      want = over(~0u, [](unsigned r, Word x, unsigned) { return r & U(x); }) ^
             Word(over(0u, [](unsigned r, Word x, unsigned) { return r | U(x); })) << 32;
      break;
    case 22: want = over(0u, [](unsigned r, Word x, unsigned) { return r ^ U(x); }); break;
    case 23:
      want = over(0u, [&](unsigned r, Word x, unsigned l) { return r | unsigned((x & 0x100000001) == (v & 0x100000001)) << l; });
      break;
  }
  return true;
}

static int checkWarps() {
  std::vector<Warp> warps(600);
  for (Warp &w : warps) {
    const bool few = engine() % 3 == 0;
    for (Word &v : w.value) v = few ? engine() % 4 * 0x100000001 | 1 : anyInteger();
    for (int &o : w.operand) o = static_cast<int>(engine() % 3 ? engine() % 32 : engine());
    w.mask = engine() % 2 ? ~0u : static_cast<unsigned>(engine() | 1u << engine() % 32);
    w.width = 1 << engine() % 6;
  }
  Warp *deviceWarps;
  Word *deviceResults;
  std::vector<Word> results(warps.size() * kLanes * kResults);
  CHECK_CUDA(cudaMalloc(&deviceWarps, warps.size() * sizeof(Warp)));
  CHECK_CUDA(cudaMalloc(&deviceResults, results.size() * sizeof(Word)));
  CHECK_CUDA(cudaMemcpy(deviceWarps, warps.data(), warps.size() * sizeof(Warp), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(deviceResults, 0xa5, results.size() * sizeof(Word)));
  runWarps<<<static_cast<unsigned>(warps.size()), kLanes>>>(deviceWarps, deviceResults);
  CHECK_CUDA(cudaMemcpy(results.data(), deviceResults, results.size() * sizeof(Word), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (std::size_t n = 0; n < warps.size(); ++n)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (int which = 0; which < kResults; ++which) {
        const Word got = results[(n * kLanes + lane) * kResults + which];
        Word want = 0xa5a5a5a5a5a5a5a5;
        if (warps[n].mask >> lane & 1 && !wanted(warps[n], lane, which, want)) continue;
        if (got != want && ++wrong <= 10)
          std::printf("result %d, mask %x, width %d, lane %u: %llx, want %llx\n", which, warps[n].mask, warps[n].width, lane, got, want);
      }
  CHECK_CUDA(cudaFree(deviceWarps));
  CHECK_CUDA(cudaFree(deviceResults));
  return wrong;
}

int main() {
  const std::vector<Input> in = integerInputs(2000);
  CHECK(in.size() <= kSlots);
  return finish(CHECK_ROWS(in) + checkWarps());
}
