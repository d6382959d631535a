// SPDX-License-Identifier: Apache-2.0
// Each type lists its fields once, in visit(); the writer and the reader are two visitors. Integers are
// little-endian as in memory, strings and arrays are preceded by their count (64 bits).
#include "simt/exec/serialize.h"

#include <cstring>
#include <string>
#include <type_traits>

#include "simt/exec/native_image.h"

namespace strata::simt {
namespace {

template <class V, class T>
void visit(V &v, T &t);

class Writer {
public:
  template <class T>
  void field(const T &t) {
    if constexpr (std::is_same_v<T, bool>) raw(static_cast<std::uint8_t>(t));
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) raw(t);
    else visit(*this, t);
  }
  void field(const std::string &s) { array(s.data(), s.size()); }
  void field(const std::vector<std::uint8_t> &v) { array(v.data(), v.size()); }
  template <class T>
  void field(const std::vector<T> &v) {
    raw(static_cast<std::uint64_t>(v.size()));
    for (const T &t : v) field(t);
  }
  template <class T, std::size_t n>
  void field(const T (&a)[n]) {
    for (const T &t : a) field(t);
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
  template <class T>
  void raw(T t) {
    append(&t, sizeof t);
  }
  void array(const void *data, std::size_t size) {
    raw(static_cast<std::uint64_t>(size));
    append(data, size);
  }
  void append(const void *data, std::size_t size) {
    const auto *p = static_cast<const std::uint8_t *>(data);
    bytes_.insert(bytes_.end(), p, p + size);
  }
  std::vector<std::uint8_t> bytes_;
};

class Reader {
public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  template <class T>
  void field(T &t) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      raw(byte);
      if (byte > 1) good_ = false;
      t = byte == 1;
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      raw(t);
    } else {
      visit(*this, t);
    }
  }
  void field(std::string &s) {
    auto data = array();
    s.assign(data.begin(), data.end());
  }
  void field(std::vector<std::uint8_t> &v) {
    auto data = array();
    v.assign(data.begin(), data.end());
  }
  template <class T>
  void field(std::vector<T> &v) {
    std::uint64_t count = 0;
    raw(count);
    // Every element takes at least a byte, so a damaged count cannot make us allocate more than the input.
    if (count > bytes_.size()) good_ = false;
    for (std::uint64_t i = 0; good_ && i < count; ++i) field(v.emplace_back());
  }
  template <class T, std::size_t n>
  void field(T (&a)[n]) {
    for (T &t : a) field(t);
  }
  bool finished() const { return good_ && bytes_.empty(); }

private:
  template <class T>
  void raw(T &t) {
    if (!good_ || bytes_.size() < sizeof t) {
      good_ = false;
      return;
    }
    std::memcpy(&t, bytes_.data(), sizeof t);
    bytes_ = bytes_.subspan(sizeof t);
  }
  std::span<const std::uint8_t> array() {
    std::uint64_t size = 0;
    raw(size);
    if (!good_ || size > bytes_.size()) {
      good_ = false;
      return {};
    }
    auto data = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return data;
  }
  std::span<const std::uint8_t> bytes_;
  bool good_ = true;
};

template <class V, class T>
void visit(V &v, T &t) {
  using Plain = std::remove_const_t<T>;
  auto all = [&v](auto &...fields) { (v.field(fields), ...); };
  if constexpr (std::is_same_v<Plain, ParamInfo>) {
    all(t.offset, t.size, t.alignment);
  } else if constexpr (std::is_same_v<Plain, KernelInfo>) {
    all(t.name, t.params, t.paramBytes, t.staticShared, t.localBytes, t.registers, t.maxThreads, t.reqntid,
        t.clusterDim, t.usesBarrier, t.usesThreadY);
  } else if constexpr (std::is_same_v<Plain, GlobalInfo>) {
    all(t.name, t.offset, t.size, t.constant, t.managed);
  } else if constexpr (std::is_same_v<Plain, GlobalRelocation>) {
    all(t.offset, t.target);
  } else if constexpr (std::is_same_v<Plain, ModuleInfo>) {
    all(t.kernels, t.globals, t.globalsSize, t.globalsImage, t.relocations);
  } else if constexpr (std::is_same_v<Plain, CacheKey>) {
    all(t.high, t.low);
  } else if constexpr (std::is_same_v<Plain, NativeKernel>) {
    all(t.name, t.blockDim, t.blockMultipleOf32, t.offset, t.packedSize, t.size, t.checksum);
  } else if constexpr (std::is_same_v<Plain, NativeTable>) {
    all(t.engine, t.source, t.simd, t.cpu, t.info, t.kernels);
  } else {
    static_assert(std::is_same_v<Plain, KernelImage>);
    all(t.entryKind, t.takesTurns, t.stackBytes, t.object, t.report);
  }
}

template <class T>
std::vector<std::uint8_t> write(const T &t) {
  Writer writer;
  visit(writer, t);
  return writer.take();
}

template <class T>
std::optional<T> read(std::span<const std::uint8_t> bytes) {
  T t;
  Reader reader(bytes);
  visit(reader, t);
  if (!reader.finished()) return std::nullopt;
  return t;
}

bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

bool consistent(const ModuleInfo &info) {
  if (info.globalsImage.size() > info.globalsSize) return false;
  for (const GlobalInfo &global : info.globals)
    if (!within(global.offset, global.size, info.globalsSize)) return false;
  for (const GlobalRelocation &relocation : info.relocations)
    if (!within(relocation.offset, 8, info.globalsSize)) return false;
  return true;
}

}  // namespace

std::vector<std::uint8_t> serialize(const ModuleInfo &info) { return write(info); }
std::vector<std::uint8_t> serialize(const KernelImage &image) { return write(image); }
std::vector<std::uint8_t> serialize(const NativeTable &table) { return write(table); }

std::optional<ModuleInfo> deserializeModule(std::span<const std::uint8_t> bytes) {
  auto info = read<ModuleInfo>(bytes);
  if (!info || !consistent(*info)) return std::nullopt;
  return info;
}

std::optional<NativeTable> deserializeNative(std::span<const std::uint8_t> bytes) {
  auto table = read<NativeTable>(bytes);
  if (!table || table->simd > kMostSimd || !consistent(table->info)) return std::nullopt;
  return table;
}

std::optional<KernelImage> deserializeKernel(std::span<const std::uint8_t> bytes) {
  auto image = read<KernelImage>(bytes);
  if (!image || image->entryKind > EntryKind::lane) return std::nullopt;
  return image;
}

}  // namespace strata::simt
