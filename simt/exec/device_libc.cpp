// SPDX-License-Identifier: Apache-2.0
// printf, assert, malloc and free of device code. A kernel may be thrown out of these functions by a signal
// while they read its memory (a wild format pointer, say), so they take no lock until they have read all.
#include "simt/exec/device_libc.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/held_signal.h"
#include "simt/exec/device_heap.h"
#include "simt/exec/faults.h"
#include "simt/exec/unit.h"

namespace strata::simt {
namespace {

constexpr std::size_t kLongestOutput = 8192;  // bytes of one printf; the rest is cut, as a GPU's buffer would
constexpr int kMostArguments = 32;            // of one printf

// The argument buffer of vprintf: each argument at its natural alignment.
class Arguments {
public:
  explicit Arguments(const void *buffer) : base_(static_cast<const char *>(buffer)) {}
  template <class T>
  T next() {
    if (!base_) return T();
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
  void put(const char *from, const char *to) {
    while (from < to) put(*from++);
  }
  void flush() const { std::fwrite(text_, 1, size_, stdout); }

private:
  char text_[kLongestOutput];
  std::size_t size_ = 0;
};

// One conversion, "%{flags}{width}{.precision}{length}letter", as C has it. `*` stands for an argument.
class Conversion {
public:
  // Reads what follows a '%'. False where no letter of a conversion comes.
  bool read(const char *at, Arguments &arguments);
  void print(Arguments &arguments, Output &out) const;
  const char *end() const { return end_; }
  int arguments() const { return arguments_; }

private:
  static constexpr int kLongestField = 4 * kLongestOutput;  // what is wider is cut anyway
  int number(const char *&at, Arguments &arguments);
  template <class T>
  void print(Arguments &arguments, Output &out, const char *length) const;

  char flags_[8] = "";
  int width_ = 0, precision_ = -1;  // negative: to the left; none
  char length_ = 0;                 // h, H (hh), l for all of 64 bits
  char letter_ = 0;
  int arguments_ = 0;
  const char *end_ = nullptr;
};

int Conversion::number(const char *&at, Arguments &arguments) {
  if (*at == '*') {
    ++at, ++arguments_;
    return std::clamp(arguments.next<int>(), -kLongestField, kLongestField);
  }
  int value = 0;
  for (; *at >= '0' && *at <= '9'; ++at) value = std::min(kLongestField, value * 10 + (*at - '0'));
  return value;
}

bool Conversion::read(const char *at, Arguments &arguments) {
  for (std::size_t size = 0; *at && std::strchr("-+ #0'", *at); ++at)
    if (!std::strchr(flags_, *at)) flags_[size++] = *at;
  width_ = number(at, arguments);
  if (*at == '.') precision_ = number(++at, arguments);
  for (; *at && std::strchr("hlLqjzt", *at); ++at) length_ = *at != 'h' ? 'l' : length_ == 'h' ? 'H' : 'h';
  letter_ = *at;
  end_ = *at ? at + 1 : at;
  if (!letter_ || !std::strchr("diouxXeEfFgGaAcspn%", letter_)) return false;
  arguments_ += letter_ != '%';
  return true;
}

// Width and precision are always given to snprintf, as arguments: 0 and -1 are none.
template <class T>
void Conversion::print(Arguments &arguments, Output &out, const char *length) const {
  char spec[24];
  std::snprintf(spec, sizeof spec, "%%%s*.*%s%c", flags_, length, letter_);
  out.print(spec, width_, precision_, arguments.next<T>());
}

void Conversion::print(Arguments &arguments, Output &out) const {
  switch (letter_) {
    case '%': return out.put('%');                                 // whatever stands between
    case 'n': return static_cast<void>(arguments.next<void *>());  // nothing is written through it
    case 'p': return print<void *>(arguments, out, "");
    case 's': return print<const char *>(arguments, out, length_ == 'l' ? "l" : "");
    case 'c': return print<int>(arguments, out, length_ == 'l' ? "l" : "");
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (length_ == 'l') return print<long long>(arguments, out, "ll");
      return print<int>(arguments, out, length_ == 'H' ? "hh" : length_ == 'h' ? "h" : "");
    default: return print<double>(arguments, out, "");  // long double is double on the device
  }
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

// Returns the number of arguments, as CUDA has it, -1 without a format. What is no conversion, or needs more than
// kMostArguments, is printed as it stands.
std::int32_t deviceVprintf(Warp *, std::uint32_t, const char *format, const void *buffer) {
  if (!format) return -1;
  Arguments arguments(buffer);
  Output out;
  std::int32_t count = 0;
  while (*format) {
    if (*format != '%') {
      out.put(*format++);
      continue;
    }
    Conversion c;
    const Arguments before = arguments;
    const bool complete = c.read(format + 1, arguments);
    if (complete && count + c.arguments() <= kMostArguments && (buffer || !c.arguments())) {
      c.print(arguments, out);
      count += c.arguments();
    } else {
      out.put(format, c.end());
      arguments = before;
    }
    format = c.end();
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
    HeldSignal held(SIGPIPE);  // nobody may be reading
    std::fwrite(text, 1, static_cast<std::size_t>(std::clamp(size, 0, 2047)), stderr);
  }
  raiseFault(FaultKind::assertion, 1u << lane, 0, 0);
}

void *deviceMalloc(Warp *, std::uint64_t bytes) {
  Uninterrupted guard;
  return DeviceHeap::get().take(bytes);
}

void deviceFree(Warp *warp, void *pointer) {
  if (!pointer) return;
  bool known = false;
  {
    Uninterrupted guard;
    known = DeviceHeap::get().give(pointer);
  }
  if (!known)
    raiseFault(FaultKind::illegalAddress, 1, reinterpret_cast<std::uint64_t>(pointer), 0,
               "free of what malloc did not give");
}

void setDeviceHeapLimit(std::uint64_t bytes) { DeviceHeap::get().setLimit(bytes); }

void setDeviceStackLimit(std::uint64_t bytesPerThread) {
  stackLimit = std::min<std::uint64_t>(bytesPerThread, 1u << 20);
}
std::uint64_t deviceStackLimit() { return stackLimit; }

}  // namespace strata::simt
