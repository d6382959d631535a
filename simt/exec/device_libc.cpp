// SPDX-License-Identifier: Apache-2.0
// printf, assert, malloc and free of device code. A kernel may be thrown out of these functions by a signal
// while they read its memory (a wild format pointer, say), so they take no lock until they have read all.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "simt/exec/launch_run.h"

namespace strata::simt {
namespace {

constexpr std::size_t kLongestOutput = 8192;  // bytes of one printf; the rest is cut, as a GPU's buffer would

// The argument buffer of vprintf: each argument at its natural alignment.
class Arguments {
public:
  explicit Arguments(const void *buffer) : base_(static_cast<const char *>(buffer)) {}
  template <class T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, base_ + offset_, sizeof value);
    offset_ += sizeof(T);
    return value;
  }

private:
  const char *base_;
  std::size_t offset_ = 0;
};

// A fixed buffer: no heap while a signal may still take us away.
class Output {
public:
  template <class... T>
  void print(const char *spec, T... values) {
    const int wanted = std::snprintf(text_ + size_, kLongestOutput - size_, spec, values...);
    if (wanted > 0) size_ = std::min(kLongestOutput - 1, size_ + static_cast<std::size_t>(wanted));
  }
  void put(char c) {
    if (size_ + 1 < kLongestOutput) text_[size_++] = c;
  }
  void flush() const { std::fwrite(text_, 1, size_, stdout); }

private:
  char text_[kLongestOutput];
  std::size_t size_ = 0;
};

// One conversion, "%…X", copied for snprintf with `*` filled in and the length modifiers left out.
struct Conversion {
  char spec[64];
  char letter = 0;
  bool wide = false;          // ll, l, z, j, t: 64 bits
  const char *end = nullptr;  // behind it in the format
};

Conversion readConversion(const char *format, Arguments &arguments) {
  Conversion c;
  std::size_t size = 0;
  auto add = [&](char ch) {
    if (size + 8 < sizeof c.spec) c.spec[size++] = ch;
  };
  add('%');
  const char *at = format + 1;
  for (; *at && !std::strchr("diouxXeEfFgGaAcspn%", *at); ++at) {
    if (std::strchr("lzjt", *at)) c.wide = true;
    else if (*at == '*')
      size += static_cast<std::size_t>(std::snprintf(c.spec + size, 16, "%d", arguments.next<int>()));
    else if (*at != 'h' && *at != 'L') add(*at);
    if (size + 24 > sizeof c.spec) break;
  }
  c.letter = *at;
  c.end = *at ? at + 1 : at;
  if (c.wide && std::strchr("diouxX", c.letter)) {
    add('l');
    add('l');
  }
  add(c.letter);
  c.spec[size] = 0;
  return c;
}

void printOne(const Conversion &c, Arguments &arguments, Output &out) {
  switch (c.letter) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (c.wide) out.print(c.spec, arguments.next<long long>());
      else out.print(c.spec, arguments.next<int>());
      break;
    case 'c': out.print(c.spec, arguments.next<int>()); break;
    case 's': {
      const char *text = arguments.next<const char *>();
      out.print(c.spec, text ? text : "(null)");
      break;
    }
    case 'p': out.print(c.spec, arguments.next<void *>()); break;
    default: out.print(c.spec, arguments.next<double>());
  }
}

struct Heap {
  std::mutex mutex;
  std::unordered_map<void *, std::uint64_t> sizes;
  std::uint64_t used = 0, limit = 8u << 20;  // cudaLimitMallocHeapSize
};

Heap &heap() {
  static Heap *heap = new Heap;  // kernels may outlive static destructors
  return *heap;
}

std::atomic<std::uint64_t> stackLimit{1024};  // cudaLimitStackSize

// The kernel must not be interrupted while a lock is held.
class Uninterrupted {
public:
  Uninterrupted() : unit_(*currentUnit()) { unit_.uninterrupted = true; }
  ~Uninterrupted() { unit_.uninterrupted = false; }

private:
  UnitRun &unit_;
};

}  // namespace

std::int32_t deviceVprintf(Warp *, std::uint32_t, const char *format, const void *buffer) {
  Arguments arguments(buffer);
  Output out;
  std::int32_t count = 0;
  while (*format) {
    if (*format != '%') {
      out.put(*format++);
      continue;
    }
    if (format[1] == '%') {
      out.put('%');
      format += 2;
      continue;
    }
    const Conversion c = readConversion(format, arguments);
    if (!c.letter || c.letter == 'n') return -1;
    printOne(c, arguments, out);
    format = c.end;
    ++count;
  }
  if (currentUnit()->launch->quiet) return count;
  Uninterrupted guard;
  out.flush();
  return count;
}

void deviceAssertFail(Warp *warp, std::uint32_t lane, const char *message, const char *file, std::uint32_t line,
                      const char *function, std::uint64_t) {
  if (currentUnit()->lanes) lane = warp->lane;
  const Block &block = *warp->block;
  const std::uint32_t linear = warp->index * kWarpSize + lane, *extent = block.launch->blockDim;
  char text[2048];  // not thread-local: the driver is loaded late, when little static TLS is left
  const int size =
      std::snprintf(text, sizeof text, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                    file, line, function, block.blockIdx[0], block.blockIdx[1], block.blockIdx[2], linear % extent[0],
                    linear / extent[0] % extent[1], linear / extent[0] / extent[1], message);
  if (!currentUnit()->launch->quiet) {
    Uninterrupted guard;
    std::fwrite(text, 1, static_cast<std::size_t>(std::clamp(size, 0, 2047)), stderr);
  }
  raiseFault(FaultKind::assertion, 1u << lane, 0, 0);
}

void *deviceMalloc(Warp *, std::uint64_t bytes) {
  Uninterrupted guard;
  Heap &h = heap();
  std::lock_guard lock(h.mutex);
  const std::uint64_t size = std::max<std::uint64_t>((bytes + 15) / 16 * 16, 16);
  if (bytes > h.limit || h.used + size > h.limit) return nullptr;
  void *pointer = std::malloc(size);
  if (!pointer) return nullptr;
  h.sizes[pointer] = size;
  h.used += size;
  return pointer;
}

void deviceFree(Warp *warp, void *pointer) {
  if (!pointer) return;
  bool known = false;
  {
    Uninterrupted guard;
    Heap &h = heap();
    std::lock_guard lock(h.mutex);
    if (auto it = h.sizes.find(pointer); it != h.sizes.end()) {
      h.used -= it->second;
      h.sizes.erase(it);
      std::free(pointer);
      known = true;
    }
  }
  if (!known)
    raiseFault(FaultKind::illegalAddress, 1, reinterpret_cast<std::uint64_t>(pointer), 0,
               "free of what malloc did not give");
}

void setDeviceHeapLimit(std::uint64_t bytes) {
  Heap &h = heap();
  std::lock_guard lock(h.mutex);
  h.limit = bytes;
}

void setDeviceStackLimit(std::uint64_t bytesPerThread) {
  stackLimit = std::min<std::uint64_t>(bytesPerThread, 1u << 20);
}
std::uint64_t deviceStackLimit() { return stackLimit; }

}  // namespace strata::simt
