// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/cache.h"

#define XXH_INLINE_ALL
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/environment.h"
#include "base/held_signal.h"
#include "base/knobs.h"
#include "base/log.h"
#include "base/trust.h"

namespace strata::simt {
namespace {

constexpr char kMagic[8] = {'S', 't', 'r', 'a', 't', 'a', 'C', '1'};
constexpr std::string_view kSuffix = ".image", kAside = ".aside";
constexpr std::time_t kStaleSeconds = 3600;  // a file aside of this age has lost its writer
constexpr std::uint64_t kMaxEntry = 1ull << 29;

struct Head {
  char magic[8];
  std::uint64_t keyHigh, keyLow;
  std::uint64_t size;
  std::uint64_t checksumHigh, checksumLow;
};

bool readAll(const Descriptor &file, void *data, std::size_t size) {
  for (auto *p = static_cast<char *>(data); size;) {
    ssize_t n = read(file.number(), p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool writeAll(const Descriptor &file, const void *data, std::size_t size) {
  for (auto *p = static_cast<const char *>(data); size;) {
    ssize_t n = write(file.number(), p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Opens an entry, never a link, and never waiting, as for the writer of a FIFO.
Descriptor openEntry(const Descriptor &folder, const std::string &name, int flags) {
  return Descriptor(openat(folder.number(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
}

bool isOurFile(const struct stat &status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

Head makeHead(const CacheKey &key, std::span<const std::uint8_t> payload) {
  Head head{};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.keyHigh = key.high, head.keyLow = key.low;
  head.size = payload.size();
  XXH128_hash_t sum = XXH3_128bits(payload.data(), payload.size());
  head.checksumHigh = sum.high64, head.checksumLow = sum.low64;
  return head;
}

std::string nameOf(const CacheKey &key) {
  char name[33];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return name + std::string(kSuffix);
}

}  // namespace

DiskCache::DiskCache(std::string folder, std::int64_t limit)
    : folder_(std::move(folder)), limit_(limit), start_(std::time(nullptr)) {}

std::string DiskCache::processFolder() {
  const std::string &wanted = knobs::get().STRATA_CACHE_DIR;
  if (!wanted.empty()) return wanted;
  if (const char *cache = environment("XDG_CACHE_HOME"); cache && *cache == '/') return std::string(cache) + "/strata";
  if (const char *home = environment("HOME"); home && *home == '/') return std::string(home) + "/.cache/strata";
  return {};
}

DiskCache &DiskCache::process() {
  // Kept to the end: threads may still compile while the process ends.
  static auto &cache = *new DiskCache(processFolder(), knobs::get().STRATA_CACHE_SIZE);
  return cache;
}

std::string DiskCache::refusal() {
  std::lock_guard lock(mutex_);
  if (!refusal_) {
    refusal_ = findRefusal();
    if (!refusal_->empty() && limit_ > 0)
      log::once(log::Level::warn, "cache.usable", "no machine-code cache: " + *refusal_);
  }
  return *refusal_;
}

// Opens the folder.
std::string DiskCache::findRefusal() {
  if (limit_ <= 0) return "STRATA_CACHE_SIZE turns it off";
  if (folder_.empty()) return "neither STRATA_CACHE_DIR nor XDG_CACHE_HOME nor HOME is set";
  Result<Descriptor> folder = Trust::openOwnFolder(folder_);
  if (!folder) return folder.error().message;
  descriptor_ = std::move(*folder);
  return {};
}

std::optional<std::vector<std::uint8_t>> DiskCache::get(const CacheKey &key) {
  if (!usable()) return std::nullopt;
  const std::string name = nameOf(key);
  const Descriptor file = openEntry(descriptor_, name, O_RDONLY);
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat status{};
  Head head;
  bool whole = file && fstat(file.number(), &status) == 0 && isOurFile(status) && readAll(file, &head, sizeof head) &&
               std::memcmp(head.magic, kMagic, sizeof kMagic) == 0 && head.size <= kMaxEntry &&
               static_cast<std::uint64_t>(status.st_size) == sizeof head + head.size;
  std::vector<std::uint8_t> payload(whole ? head.size : 0);
  whole = whole && readAll(file, payload.data(), payload.size());
  if (whole) {
    Head expected = makeHead(key, payload);
    whole = std::memcmp(&expected, &head, sizeof head) == 0;
  }
  if (!whole) {
    log::once(log::Level::info, "cache.damaged",
              "machine-code cache: " + folder_ + "/" + name + " is damaged and was removed");
    unlink(name);
    return std::nullopt;
  }
  // Eviction goes by this time. A day's precision does, and saves a write at each start.
  if (status.st_mtime + 86400 < std::time(nullptr)) futimens(file.number(), nullptr);
  return payload;
}

void DiskCache::put(const CacheKey &key, std::span<const std::uint8_t> payload) {
  if (!usable()) return;
  if (payload.size() > kMaxEntry || static_cast<std::int64_t>(payload.size()) > limit_) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::string name = nameOf(key);
  std::uint64_t unlike = 0;  // processes of other containers have the same numbers
  (void)!getrandom(&unlike, sizeof unlike, 0);
  const std::string aside = name + "." + std::to_string(unlike) + std::string(kAside);
  const int folder = descriptor_.number();
  if (!writeFile(aside, key, payload) || renameat(folder, aside.c_str(), folder, name.c_str()) != 0) {
    log::once(log::Level::warn, "cache.write",
              "machine-code cache: cannot write " + folder_ + "/" + name + ": " + std::strerror(errno));
    unlink(aside);
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::lock_guard lock(mutex_);
  if (size_ >= 0) size_ += static_cast<std::int64_t>(sizeof(Head) + payload.size());
  if (size_ < 0 || size_ > limit_) evict();
}

bool DiskCache::writeFile(const std::string &name, const CacheKey &key, std::span<const std::uint8_t> payload) {
  HeldSignal held(SIGXFSZ);  // a process that may write no more (RLIMIT_FSIZE)
  const Descriptor file = openEntry(descriptor_, name, O_WRONLY | O_CREAT | O_EXCL);
  Head head = makeHead(key, payload);
  return file && fchmod(file.number(), 0600) == 0 &&  // any umask
         writeAll(file, &head, sizeof head) && writeAll(file, payload.data(), payload.size());
}

void DiskCache::remove(const CacheKey &key) {
  if (usable()) unlink(nameOf(key));
}

// Measures the folder; over the limit, removes the oldest entries until nine tenths of it are left. Several
// processes may do so at once: each removes the same oldest files.
void DiskCache::evict() {
  struct Entry {
    std::string name;
    std::int64_t size;
    timespec time;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  // The descriptor is another one, since reading moves on in it.
  const int own = openat(descriptor_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *const folder = own < 0 ? nullptr : fdopendir(own);
  while (const dirent *found = folder ? readdir(folder) : nullptr) {
    std::string name = found->d_name;
    struct stat status{};
    if (fstatat(descriptor_.number(), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
      continue;
    if (name.ends_with(kAside) && status.st_mtime + kStaleSeconds < std::time(nullptr)) unlink(name);
    if (!name.ends_with(kSuffix)) continue;  // nothing of ours
    entries.push_back({std::move(name), status.st_size, status.st_mtim});
    total += status.st_size;
  }
  if (folder) closedir(folder);
  if (total > limit_) {
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
      return a.time.tv_sec != b.time.tv_sec ? a.time.tv_sec < b.time.tv_sec : a.time.tv_nsec < b.time.tv_nsec;
    });
    for (const Entry &entry : entries) {
      if (total <= limit_ / 10 * 9) break;
      if (unlinkat(descriptor_.number(), entry.name.c_str(), 0) != 0) continue;
      total -= entry.size;
      if (entry.time.tv_sec >= start_) lost_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  size_ = total;
}

}  // namespace strata::simt
