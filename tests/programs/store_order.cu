// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp that store to one address in one instruction: which of them wins is recorded on an H200, and here as
// there. PTX leaves it open; programs rely on it without knowing (all lanes of a shuffle reduction store their sum,
// only lane 0 has the whole).
//
//   store_order record FILE    on a GPU: what wins, in all forms and cases, and in which order atomics come
//   store_order compare FILE   equal to the record, and patterns that the compiler knows equal to the rule
//
// A line of the record is a form and, case by case, for each element that is touched the lane that wins; of vectors for
// each component. For atomics: the lane that each lane finds before it, by exchanges, and the bits of a sum of floats.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"

constexpr unsigned kLanes = 32, kBytes = 16;  // of an element, at most
constexpr unsigned char kPoison = 0x7f;

struct Case {
  std::uint32_t mask;
  unsigned char slot[kLanes];
};

// --- the stores ---------------------------------------------------------------------------------------------------

__device__ std::uint32_t word(unsigned lane) { return lane * 0x01010101u; }
__device__ std::uint64_t doubleWord(unsigned lane) { return lane * 0x0101010101010101ull; }

// name, bytes, components, instruction, operands
#define STORES(X, space)                                                                                   \
  X(b8, 1, 1, "st." space ".b8 [%0], %1;", "r"(word(lane)))                                                \
  X(b16, 2, 1, "st." space ".b16 [%0], %1;", "h"(static_cast<std::uint16_t>(word(lane))))                  \
  X(b32, 4, 1, "st." space ".b32 [%0], %1;", "r"(word(lane)))                                              \
  X(b64, 8, 1, "st." space ".b64 [%0], %1;", "l"(doubleWord(lane)))                                        \
  X(v2_b8, 2, 2, "st." space ".v2.b8 [%0], {%1, %1};", "r"(word(lane)))                                    \
  X(v4_b8, 4, 4, "st." space ".v4.b8 [%0], {%1, %1, %1, %1};", "r"(word(lane)))                            \
  X(v2_b16, 4, 2, "st." space ".v2.b16 [%0], {%1, %1};", "h"(static_cast<std::uint16_t>(word(lane))))      \
  X(v4_b16, 8, 4, "st." space ".v4.b16 [%0], {%1, %1, %1, %1};", "h"(static_cast<std::uint16_t>(word(lane)))) \
  X(v2_b32, 8, 2, "st." space ".v2.b32 [%0], {%1, %1};", "r"(word(lane)))                                  \
  X(v4_b32, 16, 4, "st." space ".v4.b32 [%0], {%1, %1, %1, %1};", "r"(word(lane)))                         \
  X(v2_b64, 16, 2, "st." space ".v2.b64 [%0], {%1, %1};", "l"(doubleWord(lane)))                           \
  X(volatile_b8, 1, 1, "st.volatile." space ".b8 [%0], %1;", "r"(word(lane)))                              \
  X(volatile_b32, 4, 1, "st.volatile." space ".b32 [%0], %1;", "r"(word(lane)))                            \
  X(volatile_b64, 8, 1, "st.volatile." space ".b64 [%0], %1;", "l"(doubleWord(lane)))                      \
  X(relaxed_b32, 4, 1, "st.relaxed.gpu." space ".b32 [%0], %1;", "r"(word(lane)))                          \
  X(relaxed_b64, 8, 1, "st.relaxed.gpu." space ".b64 [%0], %1;", "l"(doubleWord(lane)))

#define GLOBAL_STORE(form, bytes, components, instruction, value)                                          \
  __global__ void global_##form(const Case *cases, unsigned char *out) {                                   \
    const unsigned lane = threadIdx.x;                                                                     \
    const Case &c = cases[blockIdx.x];                                                                     \
    unsigned char *to = out + blockIdx.x * kLanes * kBytes + c.slot[lane] * bytes;                         \
    if (c.mask >> lane & 1) asm volatile(instruction ::"l"(__cvta_generic_to_global(to)), value : "memory"); \
  }
#define SHARED_STORE(form, bytes, components, instruction, value)                                          \
  __global__ void shared_##form(const Case *cases, unsigned char *out) {                                   \
    __shared__ __align__(16) unsigned char memory[kLanes * kBytes];                                        \
    const unsigned lane = threadIdx.x;                                                                     \
    const Case &c = cases[blockIdx.x];                                                                     \
    for (unsigned i = lane; i < kLanes * kBytes; i += kLanes) memory[i] = kPoison;                         \
    __syncthreads();                                                                                       \
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory + c.slot[lane] * bytes));   \
    if (c.mask >> lane & 1) asm volatile(instruction ::"r"(to), value : "memory");                         \
    __syncthreads();                                                                                       \
    for (unsigned i = lane; i < kLanes * kBytes; i += kLanes) out[blockIdx.x * kLanes * kBytes + i] = memory[i]; \
  }
STORES(GLOBAL_STORE, "global")
STORES(SHARED_STORE, "shared")

// --- atomics ------------------------------------------------------------------------------------------------------

template <class T>
__global__ void exchanged(const Case *cases, T *memory, unsigned char *found) {
  const unsigned lane = threadIdx.x;
  const Case &c = cases[blockIdx.x];
  if (c.mask >> lane & 1)
    found[blockIdx.x * kLanes + lane] =
        static_cast<unsigned char>(atomicExch(memory + blockIdx.x * kLanes + c.slot[lane], static_cast<T>(lane)));
}

template <class T>
__global__ void exchangedShared(const Case *cases, T *, unsigned char *found) {
  __shared__ T memory[kLanes];
  const unsigned lane = threadIdx.x;
  const Case &c = cases[blockIdx.x];
  memory[lane] = static_cast<T>(0x7f7f7f7f7f7f7f7full);
  __syncthreads();
  if (c.mask >> lane & 1)
    found[blockIdx.x * kLanes + lane] =
        static_cast<unsigned char>(atomicExch(memory + c.slot[lane], static_cast<T>(lane)));
}

__device__ float addend(unsigned lane) {  // sums depend on their order
  const float sign = lane * 0x9e3779b9u & 0x100 ? 1.0f : -1.0f;
  return sign * static_cast<float>(1u << (lane * 7 % 29)) * (1.0f + static_cast<float>(lane) / 64.0f);
}

__global__ void summed(const Case *cases, float *sums) {
  const unsigned lane = threadIdx.x;
  const Case &c = cases[blockIdx.x];
  const float value = addend(lane);
  if (c.mask >> lane & 1)
    asm volatile(
        "red.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(sums + blockIdx.x * kLanes + c.slot[lane])),
        "f"(value)
        : "memory");
}

// --- patterns that the compiler knows ---------------------------------------------------------------------------

constexpr unsigned kKnown = 8;

template <unsigned pattern>
__host__ __device__ unsigned knownSlot(unsigned l) {
  switch (pattern) {
    case 0: return 0;
    case 1: return l / 4;
    case 2: return l % 8;
    case 3: return l % 3;
    case 4: return l / 16;
    case 5: return l % 16;
    case 6: return 31 - l / 2;
    default: return l * 7 % 32;
  }
}

template <class T>
__device__ T filled(unsigned lane) {
  return static_cast<T>(doubleWord(lane));
}
template <>
__device__ uint2 filled(unsigned lane) {
  return make_uint2(word(lane), word(lane));
}
template <>
__device__ uint4 filled(unsigned lane) {
  return make_uint4(word(lane), word(lane), word(lane), word(lane));
}

// In one instruction, whatever the compiler makes of a branch.
template <class T>
__device__ void store(T *to, T value) {
  *to = value;
}
__device__ void store(uint4 *to, uint4 value) {
  asm volatile("st.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(__cvta_generic_to_global(to)), "r"(value.x) : "memory");
}

template <class T, unsigned pattern>
__device__ void storeKnown(std::uint32_t mask, T *out) {
  const unsigned lane = threadIdx.x;
  T *to = out + (blockIdx.x * (kKnown + 1) + pattern) * kLanes;
  const T value = filled<T>(lane);
  if (mask == ~0u) store(to + knownSlot<pattern>(lane), value);  // by the whole warp
  else if (mask >> lane & 1) store(to + knownSlot<pattern>(lane), value);
}

template <class T>
__global__ void known(const Case *cases, T *out) {
  const std::uint32_t mask = cases[blockIdx.x].mask;
  storeKnown<T, 0>(mask, out), storeKnown<T, 1>(mask, out), storeKnown<T, 2>(mask, out), storeKnown<T, 3>(mask, out);
  storeKnown<T, 4>(mask, out), storeKnown<T, 5>(mask, out), storeKnown<T, 6>(mask, out), storeKnown<T, 7>(mask, out);
  if (!(mask >> threadIdx.x & 1)) return;
  T *to = out + (blockIdx.x * (kKnown + 1) + kKnown) * kLanes + threadIdx.x / 2 * 2;  // two stores, one pattern
  store(to, filled<T>(threadIdx.x));
  store(to + 1, filled<T>(threadIdx.x));
}

// Rows of a block, which may lie over each other.
template <class T>
__global__ void rows(const Case *cases, unsigned pitch, T *out) {
  const unsigned lane = threadIdx.y * blockDim.x + threadIdx.x;
  if (cases[blockIdx.x].mask >> lane & 1)
    store(out + blockIdx.x * kLanes + threadIdx.y * pitch + threadIdx.x, filled<T>(lane));
}

// --- cases --------------------------------------------------------------------------------------------------------

std::vector<Case> makeCases() {
  std::uint32_t state = 20261201;
  const auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  std::vector<std::uint32_t> masks = {~0u, 0x55555555u, 0x0ff0u,     0x80000001u,
                                      6u,  0xffff0000u, 0x0000ffffu, 0x00ffff00u};
  masks.push_back(random() ^ random() << 9);
  masks.push_back(random() & random() << 5 & 0xffffff);
  const std::vector<std::function<unsigned(unsigned)>> patterns = {knownSlot<0>,
                                                                   knownSlot<1>,
                                                                   knownSlot<2>,
                                                                   knownSlot<3>,
                                                                   knownSlot<4>,
                                                                   knownSlot<5>,
                                                                   knownSlot<6>,
                                                                   knownSlot<7>,
                                                                   [&](unsigned) { return random() % 4; },
                                                                   [&](unsigned) { return random() % 12; }};
  std::vector<Case> cases;
  for (const auto &pattern : patterns)
    for (std::uint32_t mask : masks) {
      Case c = {mask, {}};
      for (unsigned l = 0; l < kLanes; ++l) c.slot[l] = static_cast<unsigned char>(pattern(l));
      cases.push_back(c);
    }
  return cases;
}

// --- runs ---------------------------------------------------------------------------------------------------------

template <class T>
struct Managed {
  explicit Managed(std::size_t count) : count(count) { CHECK_CUDA(cudaMallocManaged(&data, count * sizeof(T))); }
  ~Managed() { cudaFree(data); }
  T *data;
  std::size_t count;
};

char letter(unsigned lane) {
  return lane < 10         ? static_cast<char>('0' + lane)
         : lane < 32       ? static_cast<char>('a' + lane - 10)
         : lane == kPoison ? '*'
                           : '!';
}

using Lines = std::map<std::string, std::vector<std::string>>;  // of a form, case by case

// The winners of touched elements, by components; '!' where a component is made of several lanes' bytes.
std::string winners(const Case &c, const unsigned char *memory, unsigned bytes, unsigned components) {
  std::string text;
  for (unsigned s = 0; s < kLanes; ++s) {
    bool touched = false;
    for (unsigned l = 0; l < kLanes; ++l) touched |= c.mask >> l & 1 && c.slot[l] == s;
    for (unsigned k = 0; k < components; ++k) {
      const unsigned size = bytes / components;
      const unsigned char *part = memory + s * bytes + k * size;
      bool one = true;
      for (unsigned b = 1; b < size; ++b) one &= part[b] == part[0];
      if (touched) text += one ? letter(part[0]) : '!';
      else CHECK(one && part[0] == kPoison);
    }
  }
  return text;
}

// The lane of one address that wins, of a form's bytes: the lowest one of the last half warp (of 8 bytes) or quarter
// (of 16 bytes) that has an active lane.
unsigned ruled(std::uint32_t lanes, unsigned bytes) {
  const unsigned group = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  for (unsigned first = kLanes; first; first -= group) {
    const std::uint32_t own = lanes >> (first - group) & (group == 32 ? ~0u : (1u << group) - 1);
    if (own) return first - group + static_cast<unsigned>(__builtin_ctz(own));
  }
  return kPoison;
}

std::string ruledWinners(const Case &c, unsigned bytes, unsigned components) {
  std::string text;
  for (unsigned s = 0; s < kLanes; ++s) {
    std::uint32_t lanes = 0;
    for (unsigned l = 0; l < kLanes; ++l) lanes |= c.slot[l] == s ? c.mask & 1u << l : 0;
    if (lanes) text += std::string(components, letter(ruled(lanes, bytes)));
  }
  return text;
}

using Store = void (*)(const Case *, unsigned char *);
struct StoreForm {
  std::string name;
  Store kernel;
  unsigned bytes, components;
};

const std::vector<StoreForm> &storeForms() {
  static const std::vector<StoreForm> forms = {
#define GLOBAL_ROW(form, bytes, components, instruction, value) {"st.global." #form, global_##form, bytes, components},
#define SHARED_ROW(form, bytes, components, instruction, value) {"st.shared." #form, shared_##form, bytes, components},
      STORES(GLOBAL_ROW, "global") STORES(SHARED_ROW, "shared")};
  return forms;
}

void runStores(const Managed<Case> &cases, Lines &lines) {
  Managed<unsigned char> out(cases.count * kLanes * kBytes);
  for (const StoreForm &form : storeForms()) {
    std::memset(out.data, kPoison, out.count);
    form.kernel<<<static_cast<unsigned>(cases.count), kLanes>>>(cases.data, out.data);
    CHECK_CUDA(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < cases.count; ++i)
      lines[form.name].push_back(winners(cases.data[i], out.data + i * kLanes * kBytes, form.bytes, form.components));
  }
}

template <class T>
void runExchange(const char *form, void (*kernel)(const Case *, T *, unsigned char *), const Managed<Case> &cases,
                 Lines &lines) {
  Managed<T> memory(cases.count * kLanes);
  Managed<unsigned char> found(cases.count * kLanes);
  std::memset(memory.data, kPoison, memory.count * sizeof(T));
  std::memset(found.data, 0xff, found.count);
  kernel<<<static_cast<unsigned>(cases.count), kLanes>>>(cases.data, memory.data, found.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < cases.count; ++i) {
    std::string text;
    for (unsigned l = 0; l < kLanes; ++l)
      if (cases.data[i].mask >> l & 1) text += letter(found.data[i * kLanes + l]);
    lines[form].push_back(text);
  }
}

void runSums(const Managed<Case> &cases, Lines &lines) {
  Managed<float> sums(cases.count * kLanes);
  std::memset(sums.data, 0, sums.count * sizeof(float));
  summed<<<static_cast<unsigned>(cases.count), kLanes>>>(cases.data, sums.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < cases.count; ++i) {
    std::uint32_t bits;  // of the first element that is touched
    std::memcpy(&bits, sums.data + i * kLanes + cases.data[i].slot[__builtin_ctz(cases.data[i].mask)], sizeof bits);
    char text[16];
    std::snprintf(text, sizeof text, "%08x", bits);
    lines["red.global.add.f32"].push_back(text);
  }
}

Lines run(const Managed<Case> &cases) {
  Lines lines;
  runStores(cases, lines);
  runExchange<unsigned>("atom.global.exch.b32", exchanged, cases, lines);
  runExchange<unsigned long long>("atom.global.exch.b64", exchanged, cases, lines);
  runExchange<unsigned>("atom.shared.exch.b32", exchangedShared, cases, lines);
  runExchange<unsigned long long>("atom.shared.exch.b64", exchangedShared, cases, lines);
  runSums(cases, lines);
  return lines;
}

// --- record, compare ----------------------------------------------------------------------------------------------

int record(const Managed<Case> &cases, const char *path) {
  const Lines lines = run(cases);
  for (int again = 0; again < 3; ++again)
    for (const auto &[form, texts] : run(cases)) {
      std::size_t other = 0;
      for (std::size_t i = 0; i < texts.size(); ++i) other += texts[i] != lines.at(form)[i];
      if (other) std::printf("%s: %zu cases are not the same in each run\n", form.c_str(), other);
    }
  std::ofstream file(path);
  for (const auto &[form, texts] : lines) {
    file << form;
    for (const std::string &text : texts) file << ' ' << text;
    file << '\n';
  }
  for (const StoreForm &form : storeForms()) {
    std::size_t other = 0;
    for (std::size_t i = 0; i < cases.count; ++i)
      other += lines.at(form.name)[i] != ruledWinners(cases.data[i], form.bytes, form.components);
    std::printf("%s: %zu of %zu cases are not as the rule says\n", form.name.c_str(), other, cases.count);
  }
  return 0;
}

// How many of the elements of `cases` differ from the rule; of each, `slot` is where its lanes store.
template <class T>
unsigned wrongElements(const char *form, const Case &c, const unsigned char *memory) {
  const std::string got = winners(c, memory, sizeof(T), 1), want = ruledWinners(c, sizeof(T), 1);
  static unsigned told = 0;
  if (got != want && ++told < 20)
    std::printf("%s of %zu bytes, mask %08x: %s in place of %s\n", form, sizeof(T), c.mask, got.c_str(), want.c_str());
  return got != want;
}

template <class T>
unsigned wrongKnown(const Managed<Case> &cases) {
  Managed<T> out(cases.count * (kKnown + 1) * kLanes);
  std::memset(static_cast<void *>(out.data), kPoison, out.count * sizeof(T));
  known<<<static_cast<unsigned>(cases.count), kLanes>>>(cases.data, out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  const auto wrong = [&](std::size_t block, unsigned pattern, auto slot) {
    Case c = {cases.data[block].mask, {}};
    for (unsigned l = 0; l < kLanes; ++l) c.slot[l] = static_cast<unsigned char>(slot(l));
    const T *memory = out.data + (block * (kKnown + 1) + pattern) * kLanes;
    return wrongElements<T>("known", c, reinterpret_cast<const unsigned char *>(memory));
  };
  unsigned bad = 0;
  for (std::size_t i = 0; i < cases.count; ++i) {
    bad +=
        wrong(i, 0, knownSlot<0>) + wrong(i, 1, knownSlot<1>) + wrong(i, 2, knownSlot<2>) + wrong(i, 3, knownSlot<3>);
    bad +=
        wrong(i, 4, knownSlot<4>) + wrong(i, 5, knownSlot<5>) + wrong(i, 6, knownSlot<6>) + wrong(i, 7, knownSlot<7>);
    const T *pairs = out.data + (i * (kKnown + 1) + kKnown) * kLanes;
    for (unsigned element = 0; element < kLanes; ++element) {
      const unsigned lanes = cases.data[i].mask >> element / 2 * 2 & 3, first = element / 2 * 2;
      unsigned char want = kPoison;
      if (lanes) want = static_cast<unsigned char>(first + ruled(lanes, 4));  // both are of one half and quarter
      bad += reinterpret_cast<const unsigned char *>(pairs + element)[0] != want;
    }
  }
  return bad;
}

template <class T>
unsigned wrongRows(const Managed<Case> &cases) {
  unsigned bad = 0;
  for (unsigned width : {8u, 16u})
    for (unsigned pitch : {0u, 1u, width / 2, width}) {
      Managed<T> out(cases.count * kLanes);
      std::memset(static_cast<void *>(out.data), kPoison, out.count * sizeof(T));
      rows<<<static_cast<unsigned>(cases.count), dim3(width, kLanes / width)>>>(cases.data, pitch, out.data);
      CHECK_CUDA(cudaDeviceSynchronize());
      for (std::size_t i = 0; i < cases.count; ++i) {
        Case c = {cases.data[i].mask, {}};
        for (unsigned l = 0; l < kLanes; ++l) c.slot[l] = static_cast<unsigned char>(l / width * pitch + l % width);
        bad += wrongElements<T>("rows", c, reinterpret_cast<const unsigned char *>(out.data + i * kLanes));
      }
    }
  return bad;
}

template <class... T>
unsigned wrongTypes(const Managed<Case> &cases) {
  return ((wrongKnown<T>(cases) + wrongRows<T>(cases)) + ...);
}

Lines read(const char *path) {
  Lines lines;
  std::ifstream file(path);
  for (std::string line, form, text; std::getline(file, line);) {
    std::istringstream words(line);
    words >> form;
    while (words >> text) lines[form].push_back(text);
  }
  return lines;
}

int compare(const Managed<Case> &cases, const char *path) {
  const Lines recorded = read(path), ours = run(cases);
  CHECK(recorded.size() == ours.size());
  unsigned bad = 0;
  for (const auto &[form, texts] : ours) {
    const std::vector<std::string> &want = recorded.at(form);
    CHECK(want.size() == texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i] == want[i]) continue;
      if (++bad < 20)
        std::printf("%s, case %zu: %s in place of %s\n", form.c_str(), i, texts[i].c_str(), want[i].c_str());
    }
  }
  bad += wrongTypes<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, uint2, uint4>(cases);
  std::printf("%u wrong\n", bad);
  return bad != 0;
}

int main(int argc, char **argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: store_order record|compare FILE\n"), 2;
  const std::vector<Case> made = makeCases();
  Managed<Case> cases(made.size());
  std::copy(made.begin(), made.end(), cases.data);
  return std::string(argv[1]) == "record" ? record(cases, argv[2]) : compare(cases, argv[2]);
}
