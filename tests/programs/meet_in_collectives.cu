// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp that come to one collective by different ways: branches, rounds of a loop, calls, cases of a switch.
// It is complete when all lanes of its mask that have not ended have come to one of its kind, wherever that stands.
#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <vector>

#include "check.h"

constexpr unsigned kAll = ~0u;
constexpr int kKinds = 12;
using Lanes = std::array<unsigned, 32>;

template <int kind>
__device__ unsigned meet(unsigned mask, unsigned v) {
  switch (kind) {
    case 0: return __shfl_xor_sync(mask, v, 16);
    case 1: return __shfl_sync(mask, v, v % 32);
    case 2: return __shfl_up_sync(mask, v, 3);
    case 3: return __shfl_down_sync(mask, v, 5, 16);
    case 4: return __ballot_sync(mask, v & 1);
    case 5: return __any_sync(mask, v == 7);
    case 6: return __all_sync(mask, v > 2);
    case 7: return __match_any_sync(mask, v % 4);
    case 8: return __reduce_add_sync(mask, v);
    case 9: return __reduce_max_sync(mask, v);
    case 10: return __reduce_xor_sync(mask, v);
    default: {
      int same;
      const unsigned lanes = __match_all_sync(mask, static_cast<unsigned long long>(v / 50), &same);
      return lanes + static_cast<unsigned>(same);
    }
  }
}

// What lane `l` gets; nothing is defined if that lies in a lane that the mask does not name.
std::optional<unsigned> met(int kind, unsigned mask, const Lanes &v, unsigned l) {
  std::vector<unsigned> members;
  for (unsigned m = 0; m < 32; ++m)
    if (mask >> m & 1) members.push_back(m);
  const auto named = [&](unsigned from) { return mask >> from & 1 ? std::optional(v[from]) : std::nullopt; };
  const auto lanes = [&](auto which) {
    unsigned bits = 0;
    for (unsigned m : members) bits |= static_cast<unsigned>(which(v[m])) << m;
    return bits;
  };
  unsigned sum = 0, most = 0, parity = 0;
  for (unsigned m : members) sum += v[m], most = std::max(most, v[m]), parity ^= v[m];
  switch (kind) {
    case 0: return named(l ^ 16);
    case 1: return named(v[l] % 32);
    case 2: return l < 3 ? v[l] : named(l - 3);
    case 3: return l % 16 + 5 > 15 ? v[l] : named(l + 5);
    case 4: return lanes([](unsigned x) { return x & 1; });
    case 5: return lanes([](unsigned x) { return x == 7; }) != 0;
    case 6: return lanes([](unsigned x) { return x > 2; }) == mask;
    case 7: return lanes([&](unsigned x) { return x % 4 == v[l] % 4; });
    case 8: return sum;
    case 9: return most;
    case 10: return parity;
    default: {
      const bool same = lanes([&](unsigned x) { return x / 50 == v[members[0]] / 50; }) == mask;
      return (same ? mask : 0) + same;
    }
  }
}

// By two branches, in one of them with a store ahead.
template <int kind>
__global__ void branches(const unsigned *side, const unsigned *in, unsigned *out) {
  const unsigned t = threadIdx.x;
  unsigned r;
  if (side[t] % 2) {
    r = meet<kind>(kAll, in[t]) * 3 + 1;
  } else {
    out[32 + t] = in[t] + 1;
    r = meet<kind>(kAll, in[t]) * 5 + 2;
  }
  out[t] = r;
}

// Each in a round of its own.
template <int kind>
__global__ void rounds(const unsigned *side, const unsigned *in, unsigned *out) {
  const unsigned t = threadIdx.x;
  for (unsigned r = 0; r < 4; ++r)
    if (side[t] == r) out[t] = meet<kind>(kAll, in[t]) + r;
}

// Those with one key by ways of their own, at the same time as those with the other.
template <int kind>
__global__ void groups(const unsigned *side, const unsigned *in, unsigned *out) {
  const unsigned t = threadIdx.x, mask = __match_any_sync(kAll, in[t] % 2);
  switch (side[t]) {
    case 0: out[t] = meet<kind>(mask, in[t]); break;
    case 1: out[t] = meet<kind>(mask, in[t]) + 1; break;
    case 2:
      for (unsigned i = 0; i < in[t] % 3; ++i) out[32 + t] += i;
      out[t] = meet<kind>(mask, in[t]) + 2;
      break;
    default: out[t] = meet<kind>(mask, in[t]) + 3;
  }
}

__device__ __noinline__ unsigned neighbour(unsigned v) { return __shfl_xor_sync(kAll, v, 1); }

__global__ void calls(const unsigned *side, const unsigned *in, unsigned *out) {
  const unsigned t = threadIdx.x;
  out[t] = side[t] % 2 ? neighbour(in[t] * 10) + 1 : neighbour(in[t] * 20) + 2;
}

// One half writes, the other reads, in loops of their own.
__global__ void handOver(const unsigned *in, unsigned *out, unsigned n) {
  __shared__ unsigned board[16];
  const unsigned t = threadIdx.x;
  unsigned sum = 0;
  if (t < 16) {
    for (unsigned i = 0; i < n; ++i) {
      board[t] = in[t] + i;
      __syncwarp();
      __syncwarp();
    }
  } else {
    for (unsigned i = 0; i < n; ++i) {
      __syncwarp();
      sum += board[(t * 5 + i) % 16];
      __syncwarp();
    }
  }
  out[t] = sum;
}

// Some lanes end; the others' collective is complete without them, wherever these were.
__global__ void ending(const unsigned *side, const unsigned *in, unsigned *out) {
  const unsigned t = threadIdx.x;
  if (side[t] == 0) return;
  if (side[t] == 1) {
    out[t] = __reduce_add_sync(kAll, in[t]);
    return;
  }
  out[t] = __reduce_add_sync(kAll, in[t]) + 1;
}

struct Data {
  Lanes side, in;
  unsigned *deviceSide, *deviceIn, *out;
};

std::vector<unsigned> result(const Data &d, void (*kernel)(const unsigned *, const unsigned *, unsigned *)) {
  CHECK_CUDA(cudaMemset(d.out, 0xCD, 256));
  kernel<<<1, 32>>>(d.deviceSide, d.deviceIn, d.out);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<unsigned> words(64);
  CHECK_CUDA(cudaMemcpy(words.data(), d.out, 256, cudaMemcpyDeviceToHost));
  return words;
}

template <int kind>
void checkKind(const Data &d) {
  std::vector<unsigned> got = result(d, branches<kind>);
  for (unsigned l = 0; l < 32; ++l) {
    const unsigned r = *met(kind, kAll, d.in, l);
    CHECK(got[l] == (d.side[l] % 2 ? r * 3 + 1 : r * 5 + 2));
    CHECK(got[32 + l] == (d.side[l] % 2 ? 0xCDCDCDCD : d.in[l] + 1));
  }
  if constexpr (kind % 4 == 1) {  // some kinds: each kernel takes its time to compile
    got = result(d, rounds<kind>);
    for (unsigned l = 0; l < 32; ++l) CHECK(got[l] == *met(kind, kAll, d.in, l) + d.side[l]);
  }
  if constexpr (kind % 3 == 1) {
    got = result(d, groups<kind>);
    for (unsigned l = 0; l < 32; ++l) {
      unsigned mask = 0;
      for (unsigned m = 0; m < 32; ++m) mask |= static_cast<unsigned>(d.in[m] % 2 == d.in[l] % 2) << m;
      const std::optional<unsigned> want = met(kind, mask, d.in, l);
      CHECK(!want || got[l] == *want + d.side[l]);
    }
  }
  if constexpr (kind + 1 < kKinds) checkKind<kind + 1>(d);
}

void checkOthers(const Data &d, unsigned n) {
  std::vector<unsigned> got = result(d, calls);
  for (unsigned l = 0; l < 32; ++l)
    CHECK(got[l] == d.in[l ^ 1] * (d.side[l ^ 1] % 2 ? 10 : 20) + (d.side[l] % 2 ? 1 : 2));
  got = result(d, ending);
  unsigned sum = 0;
  for (unsigned l = 0; l < 32; ++l) sum += d.side[l] ? d.in[l] : 0;
  for (unsigned l = 0; l < 32; ++l) CHECK(got[l] == (d.side[l] ? sum + (d.side[l] > 1) : 0xCDCDCDCD));
  handOver<<<1, 32>>>(d.deviceIn, d.out, n);
  CHECK_CUDA(cudaMemcpy(got.data(), d.out, 256, cudaMemcpyDeviceToHost));
  for (unsigned l = 0; l < 32; ++l) {
    sum = 0;
    for (unsigned i = 0; l >= 16 && i < n; ++i) sum += d.in[(l * 5 + i) % 16] + i;
    CHECK(got[l] == sum);
  }
}

int main() {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::printf("seed %u\n", seed);
  Data d;
  CHECK_CUDA(cudaMalloc(&d.deviceSide, 128));
  CHECK_CUDA(cudaMalloc(&d.deviceIn, 128));
  CHECK_CUDA(cudaMalloc(&d.out, 256));
  for (int n = 0; n < 4; ++n) {
    for (unsigned l = 0; l < 32; ++l) d.side[l] = random() % 4, d.in[l] = n == 1 ? 40 + random() % 9 : random() % 100;
    CHECK_CUDA(cudaMemcpy(d.deviceSide, d.side.data(), 128, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d.deviceIn, d.in.data(), 128, cudaMemcpyHostToDevice));
    checkKind<0>(d);
    checkOthers(d, random() % 7);
  }
  CHECK_CUDA(cudaFree(d.deviceSide));
  CHECK_CUDA(cudaFree(d.deviceIn));
  CHECK_CUDA(cudaFree(d.out));
  return 0;
}
