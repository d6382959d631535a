// SPDX-License-Identifier: Apache-2.0
// Layout, little endian, offsets in bytes:
//   header, 16:  magic u32, version u16 = 1, headerSize u16 = 16, size u64 of all entries
//   entry:       0 kind u16, 2 version u16 = 0x101, 4 headerSize u32, 8 paddedSize u64, 16 compressedSize
//   u32,
//                20 offset of the options block u32 (PTX), 24 minor u16, 26 major u16 (PTX ISA), 28 arch u32,
//                32 name offset u32, 36 name length u32, 40 flags u64, 48 zero u64, 56 uncompressedSize u64
//   then the name (padded to 8), for PTX the options block (offset u32 and length u32 of ptxas options, the
//   options padded to 8), and the payload, padded with zeros to 8. PTX ends with a NUL. compressedSize and
//   uncompressedSize are 0 in an entry that is not compressed.
#include "base/fatbin.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <string_view>

namespace strata::fatbin {
namespace {

constexpr std::uint16_t kVersion = 1, kEntryVersion = 0x101;
constexpr std::uint64_t kHeaderSize = 16, kEntrySize = 64, kOptionsSize = 16;
constexpr std::uint64_t kFlag64Bit = 0x1, kFlagLinux = 0x10, kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr std::uint64_t kFlagArchSpecific = 0x100000, kFlagFamilySpecific = 0x200000;  // sm_90a, sm_100f
constexpr std::uint64_t kFlagRelocatable = 1ull << 48;  // Strata's own: CUDA keeps relocatable PTX elsewhere
// What all entries unpack to, beside what is in proportion to the fat binary: PTX shrinks to a tenth or less, and
// claims beyond that must not become allocations.
constexpr std::uint64_t kUnpacked = 1ull << 26, kUnpackedPerByte = 256;

template <class T>
T load(const std::uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void store(std::vector<std::uint8_t> &out, std::size_t at, T value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

std::uint64_t padded(std::uint64_t size) { return (size + 7) & ~7ull; }

Error corrupt(std::size_t offset, const std::string &what) {
  return userError("fat binary: " + what + " at offset " + std::to_string(offset));
}

Result<std::uint64_t> checkHeader(const std::uint8_t *data) {
  if (load<std::uint32_t>(data) != kMagic) return corrupt(0, "bad magic number");
  if (load<std::uint16_t>(data + 4) != kVersion) return corrupt(4, "unknown version");
  if (load<std::uint16_t>(data + 6) != kHeaderSize) return corrupt(6, "unknown header size");
  std::uint64_t size = load<std::uint64_t>(data + 8);
  if (size > UINT64_MAX - kHeaderSize) return corrupt(8, "absurd size");
  return size;
}

// `left` is what the entries may still unpack to.
Result<std::vector<std::uint8_t>> decompress(std::span<const std::uint8_t> packed, std::uint64_t size,
                                             std::size_t offset, std::uint64_t &left) {
  if (size > left) return corrupt(offset, "absurd uncompressed size");
  left -= size;
  // The frame usually states its size; one that contradicts the entry is refused before anything is
  // allocated.
  unsigned long long stated = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR) return corrupt(offset, "bad zstd frame");
  if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != size) return corrupt(offset, "wrong uncompressed size");
  std::vector<std::uint8_t> out(size);
  std::size_t written = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_getErrorCode(written) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(written)) return corrupt(offset, std::string("corrupt zstd data: ") + ZSTD_getErrorName(written));
  if (written != size) return corrupt(offset, "wrong uncompressed size");
  return out;
}

// Reads the entry that starts at `offset`; `extent` receives the bytes up to the next one.
Result<Entry> readEntry(std::span<const std::uint8_t> bytes, std::size_t offset, std::uint64_t &extent,
                        std::uint64_t &left) {
  std::uint64_t room = bytes.size() - offset;
  if (room < kEntrySize) return corrupt(offset, "truncated entry header");
  const std::uint8_t *at = bytes.data() + offset;
  if (load<std::uint16_t>(at + 2) != kEntryVersion) return corrupt(offset + 2, "unknown entry version");
  std::uint64_t headerSize = load<std::uint32_t>(at + 4), payloadSize = load<std::uint64_t>(at + 8);
  if (headerSize < kEntrySize || headerSize > room) return corrupt(offset + 4, "entry header does not fit");
  if (payloadSize > room - headerSize) return corrupt(offset + 8, "entry data does not fit");

  Entry entry;
  entry.kind = static_cast<Kind>(load<std::uint16_t>(at));
  entry.arch = load<std::uint32_t>(at + 28);
  std::uint64_t nameOffset = load<std::uint32_t>(at + 32), nameSize = load<std::uint32_t>(at + 36);
  if (nameSize) {
    if (nameOffset < kEntrySize || nameOffset + nameSize > headerSize) return corrupt(offset + 32, "name does not fit");
    entry.name.assign(reinterpret_cast<const char *>(at + nameOffset), nameSize);
  }

  std::uint64_t flags = load<std::uint64_t>(at + 40);
  entry.relocatable = flags & kFlagRelocatable;
  std::span payload(at + headerSize, payloadSize);
  if (flags & (kFlagZstd | kFlagLz4)) {
    std::uint64_t packedSize = load<std::uint32_t>(at + 16);
    if (packedSize > payloadSize) return corrupt(offset + 16, "compressed size does not fit");
    if (flags & kFlagLz4) return unsupported("fat binary: LZ4 compression, entry at offset " + std::to_string(offset));
    auto unpacked = decompress(payload.first(packedSize), load<std::uint64_t>(at + 56), offset, left);
    if (!unpacked) return unpacked.error();
    entry.payload = std::move(*unpacked);
  } else {
    entry.payload.assign(payload.begin(), payload.end());
  }
  if (entry.kind == Kind::ptx) {
    auto end = std::find(entry.payload.begin(), entry.payload.end(), 0);
    entry.payload.erase(end, entry.payload.end());
  }
  extent = headerSize + payloadSize;
  return entry;
}

// The flag for the letter after the number in the PTX's .target line.
std::uint64_t archFlag(std::string_view ptx) {
  std::size_t at = ptx.find(".target");
  if (at == ptx.npos) return 0;
  at = ptx.find("sm_", at);
  if (at == ptx.npos) return 0;
  at = ptx.find_first_not_of("0123456789", at + 3);
  if (at == ptx.npos) return 0;
  return ptx[at] == 'a' ? kFlagArchSpecific : ptx[at] == 'f' ? kFlagFamilySpecific : 0;
}

// The PTX ISA version of the .version line, minor in the low half.
std::uint32_t isaVersion(std::string_view ptx) {
  std::size_t at = ptx.find(".version");
  if (at == ptx.npos) return 0;
  at = ptx.find_first_of("0123456789", at);
  if (at == ptx.npos) return 0;
  const char *last = ptx.data() + ptx.size();
  std::uint16_t major = 0, minor = 0;
  auto parsed = std::from_chars(ptx.data() + at, last, major);
  if (parsed.ptr != last && *parsed.ptr == '.') std::from_chars(parsed.ptr + 1, last, minor);
  return static_cast<std::uint32_t>(major) << 16 | minor;
}

void append(std::vector<std::uint8_t> &out, const Entry &entry, bool compress) {
  std::vector<std::uint8_t> payload = entry.payload;
  bool isPtx = entry.kind == Kind::ptx;
  std::string_view text(reinterpret_cast<const char *>(entry.payload.data()), entry.payload.size());
  if (isPtx) payload.push_back(0);
  std::uint64_t flags = kFlag64Bit | kFlagLinux, packedSize = 0, unpackedSize = 0;
  if (entry.relocatable) flags |= kFlagRelocatable;
  if (isPtx) flags |= archFlag(text);
  if (compress && entry.kind != Kind::native) {  // which is compressed kernel by kernel
    std::vector<std::uint8_t> packed(ZSTD_compressBound(payload.size()));
    std::size_t size = ZSTD_compress(packed.data(), packed.size(), payload.data(), payload.size(), 9);
    if (!ZSTD_isError(size) && size < payload.size()) {
      flags |= kFlagZstd;
      packedSize = size;
      unpackedSize = payload.size();
      packed.resize(size);
      payload = std::move(packed);
    }
  }

  std::uint64_t nameSize = padded(entry.name.size()), options = kEntrySize + nameSize;
  std::uint64_t headerSize = options + (isPtx ? kOptionsSize : 0);
  std::size_t at = out.size();
  out.resize(at + headerSize + padded(payload.size()));
  store(out, at, static_cast<std::uint16_t>(entry.kind));
  store(out, at + 2, kEntryVersion);
  store(out, at + 4, static_cast<std::uint32_t>(headerSize));
  store(out, at + 8, padded(payload.size()));
  store(out, at + 16, static_cast<std::uint32_t>(packedSize));
  store(out, at + 28, entry.arch);
  store(out, at + 40, flags);
  store(out, at + 56, unpackedSize);
  if (isPtx) {
    store(out, at + 20, static_cast<std::uint32_t>(options));
    store(out, at + 24, isaVersion(text));
    store(out, at + options, static_cast<std::uint32_t>(options + 8));
  }
  if (!entry.name.empty()) {
    store(out, at + 32, static_cast<std::uint32_t>(kEntrySize));
    store(out, at + 36, static_cast<std::uint32_t>(entry.name.size()));
    std::copy(entry.name.begin(), entry.name.end(), out.begin() + at + kEntrySize);
  }
  std::copy(payload.begin(), payload.end(), out.begin() + at + headerSize);
}

}  // namespace

Result<std::uint64_t> claimedSize(const void *data) {
  auto size = checkHeader(static_cast<const std::uint8_t *>(data));
  if (!size) return size.error();
  return *size + kHeaderSize;
}

Result<std::vector<Entry>> read(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kHeaderSize) return corrupt(0, "truncated header");
  auto size = checkHeader(bytes.data());
  if (!size) return size.error();
  if (*size > bytes.size() - kHeaderSize) return corrupt(8, "entries do not fit");
  bytes = bytes.first(kHeaderSize + *size);
  std::vector<Entry> entries;
  std::uint64_t left = kUnpacked + kUnpackedPerByte * bytes.size();
  for (std::size_t offset = kHeaderSize; offset < bytes.size();) {
    std::uint64_t extent = 0;
    auto entry = readEntry(bytes, offset, extent, left);
    if (!entry) return entry.error();
    entries.push_back(std::move(*entry));
    offset += extent;
  }
  return entries;
}

std::vector<std::uint8_t> write(const std::vector<Entry> &entries, bool compress) {
  std::vector<std::uint8_t> out(kHeaderSize);
  store(out, 0, kMagic);
  store(out, 4, kVersion);
  store(out, 6, static_cast<std::uint16_t>(kHeaderSize));
  for (const Entry &entry : entries) append(out, entry, compress);
  store(out, 8, static_cast<std::uint64_t>(out.size() - kHeaderSize));
  return out;
}

}  // namespace strata::fatbin
