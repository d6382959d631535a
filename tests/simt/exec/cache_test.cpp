// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

namespace strata::simt {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
protected:
  CacheTest() {
    folder =
        (fs::temp_directory_path() / ("strata_cache_test." + std::to_string(getpid()) + "." + std::to_string(seed)))
            .string();
  }
  ~CacheTest() override { fs::remove_all(folder); }
  std::vector<std::uint8_t> bytes(std::size_t size) {
    std::vector<std::uint8_t> v(size);
    for (auto &b : v) b = static_cast<std::uint8_t>(random());
    return v;
  }
  std::vector<fs::path> files() {
    std::vector<fs::path> found;
    for (auto &entry : fs::directory_iterator(folder)) found.push_back(entry.path());
    return found;
  }
  static CacheKey key(std::uint64_t n) { return KeyBuilder().add("test").add(n).key(); }

  const unsigned seed = std::random_device{}();
  std::mt19937 random{seed};
  testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
  std::string folder;
};

TEST_F(CacheTest, KeysTellPartsApart) {
  EXPECT_NE(KeyBuilder().add("ab").add("c").key(), KeyBuilder().add("a").add("bc").key());
  EXPECT_EQ(KeyBuilder().add("ab").add(1u).key(), KeyBuilder().add("ab").add(1u).key());
}

TEST_F(CacheTest, KeepsAndFinds) {
  DiskCache cache(folder, 1 << 20);
  EXPECT_FALSE(cache.get(key(1)));
  const auto value = bytes(5000);
  cache.put(key(1), value);
  EXPECT_EQ(cache.get(key(1)), value);
  EXPECT_EQ(DiskCache(folder, 1 << 20).get(key(1)), value);
  EXPECT_FALSE(cache.get(key(2)));
  cache.put(key(1), {});
  EXPECT_EQ(cache.get(key(1)), std::vector<std::uint8_t>{});
  struct stat status{};
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(CacheTest, AnyDamageIsAMissAndTheEntryGoes) {
  DiskCache cache(folder, 1 << 20);
  const auto value = bytes(100);
  for (int i = 0; i < 200; ++i) {
    cache.put(key(1), value);
    ASSERT_EQ(files().size(), 1u);
    const fs::path path = files()[0];
    const auto size = fs::file_size(path);
    if (i % 2) {
      fs::resize_file(path, random() % size);
    } else {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      const auto at = static_cast<std::streamoff>(random() % size);
      file.seekg(at);
      const int old = file.get();
      file.seekp(at);
      file.put(static_cast<char>(old ^ 1 << random() % 8));
    }
    EXPECT_FALSE(cache.get(key(1)));
    EXPECT_TRUE(files().empty());
  }
  // An entry under another's name.
  cache.put(key(1), value);
  const fs::path one = files()[0];
  cache.put(key(2), value);
  for (const fs::path &path : files())
    if (path != one) fs::copy_file(path, one, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.get(key(1)));
}

TEST_F(CacheTest, StaysWithinItsSizeAndLosesTheOldest) {
  DiskCache cache(folder, 100000);
  for (std::uint64_t i = 0; i < 60; ++i) {
    cache.put(key(i), bytes(5000));
    for (const fs::path &path : files())  // a second's difference in age each
      fs::last_write_time(path, fs::last_write_time(path) - std::chrono::seconds(1));
    std::uintmax_t total = 0;
    for (const fs::path &path : files()) total += fs::file_size(path);
    EXPECT_LE(total, 100000u);
  }
  EXPECT_TRUE(cache.get(key(59)));
  EXPECT_TRUE(cache.get(key(50)));
  EXPECT_FALSE(cache.get(key(0)));
  EXPECT_FALSE(cache.get(key(30)));
}

TEST_F(CacheTest, OffOrUnusableItIsOnlyAbsent) {
  DiskCache off(folder, 0);
  off.put(key(1), bytes(10));
  EXPECT_FALSE(off.get(key(1)));
  EXPECT_FALSE(fs::exists(folder));
  for (const std::string &place : {std::string(), std::string("/proc/strata"), std::string("/dev/null/strata")}) {
    DiskCache cache(place, 1 << 20);
    cache.put(key(1), bytes(10));
    EXPECT_FALSE(cache.get(key(1)));
  }
  fs::create_directory(folder);
  chmod(folder.c_str(), 0777);  // anybody could put code there
  DiskCache open(folder, 1 << 20);
  open.put(key(1), bytes(10));
  EXPECT_FALSE(open.get(key(1)));
}

// What is executed is a plain file of ours that nobody else can write; whatever else has its name is a miss.
TEST_F(CacheTest, OnlyOurOwnFilesAreEntries) {
  DiskCache cache(folder, 1 << 20);
  const auto value = bytes(100);
  cache.put(key(1), value);
  const fs::path path = files()[0], aside = folder + "/good";
  fs::copy_file(path, aside);
  const std::function<void()> replace[] = {
      [&] { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); },  // whose reader would wait for ever
      [&] { fs::create_symlink(aside, path); },
      [&] { fs::create_symlink("/dev/zero", path); },
      [&] { fs::create_directory(path); },
      [&] { fs::copy_file(aside, path), chmod(path.c_str(), 0620); },
      [&] { fs::copy_file(aside, path), chmod(path.c_str(), 0602); },
      [&] {
        fs::copy_file(aside, path);
        if (geteuid() == 0) ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
        else fs::resize_file(path, 5);
      },
  };
  for (const auto &put : replace) {
    fs::remove(path);
    put();
    EXPECT_FALSE(cache.get(key(1)));
    if (fs::is_directory(path)) continue;
    EXPECT_FALSE(fs::exists(fs::symlink_status(path)));
    cache.put(key(1), value);
    EXPECT_EQ(cache.get(key(1)), value);
  }
  EXPECT_EQ(fs::file_size(aside), fs::file_size(path));
}

// The folder is held: what is put in its place later changes nothing.
TEST_F(CacheTest, TheFolderCannotBeExchanged) {
  DiskCache cache(folder, 1 << 20);
  const auto value = bytes(100);
  cache.put(key(1), value);
  fs::rename(folder, folder + ".away");
  fs::create_directory(folder);
  EXPECT_EQ(cache.get(key(1)), value);
  cache.put(key(2), value);
  EXPECT_TRUE(files().empty());
  fs::remove_all(folder + ".away");
}

TEST_F(CacheTest, EveryFolderOnTheWayIsLookedAt) {
  const std::string deep = folder + "/a/b/cache";
  fs::create_directories(folder + "/a");
  for (const mode_t mode : {0777u, 0757u, 01777u, 0755u}) {
    chmod((folder + "/a").c_str(), mode);
    DiskCache cache(deep, 1 << 20);
    cache.put(key(1), bytes(10));
    EXPECT_EQ(cache.get(key(1)).has_value(), mode == 01777u || mode == 0755u) << std::oct << mode << cache.refusal();
    EXPECT_EQ(fs::exists(deep), mode == 01777u || mode == 0755u);
  }
  if (geteuid() != 0) return;
  ASSERT_EQ(chown((folder + "/a").c_str(), 65534, 65534), 0);
  EXPECT_EQ(DiskCache(deep, 1 << 20).refusal(), folder + "/a belongs to user 65534");
  ASSERT_EQ(chown((folder + "/a").c_str(), 0, 0), 0);
  fs::create_symlink(deep, folder + "/link");
  EXPECT_EQ(DiskCache(folder + "/link", 1 << 20).refusal(), "");
  ASSERT_EQ(lchown((folder + "/link").c_str(), 65534, 65534), 0);
  EXPECT_EQ(DiskCache(folder + "/link", 1 << 20).refusal(), folder + "/link belongs to user 65534");
}

TEST_F(CacheTest, AnyUmaskWillDo) {
  for (const mode_t mask : {0002u, 0000u, 0077u, 0777u}) {
    const mode_t before = umask(mask);
    DiskCache cache(folder + "/a/b", 1 << 20);
    cache.put(key(1), bytes(10));
    EXPECT_TRUE(cache.get(key(1))) << cache.refusal();
    umask(before);
    struct stat status{};
    for (const auto &entry : fs::recursive_directory_iterator(folder)) {
      ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 07777, entry.is_directory() ? 0700u : 0600u) << entry.path();
    }
    fs::remove_all(folder);
  }
}

TEST_F(CacheTest, AFullDiskLosesTheEntryAlone) {
  DiskCache cache(folder, 1 << 20);
  const auto small = bytes(100), large = bytes(100000);
  cache.put(key(1), small);
  signal(SIGXFSZ, SIG_IGN);
  rlimit old{}, tight{};
  getrlimit(RLIMIT_FSIZE, &old);
  tight = old;
  tight.rlim_cur = 50000;
  setrlimit(RLIMIT_FSIZE, &tight);
  cache.put(key(2), large);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_FALSE(cache.get(key(2)));
  EXPECT_EQ(cache.get(key(1)), small);
  EXPECT_EQ(files().size(), 1u);  // nothing half-written is left
}

TEST_F(CacheTest, SeveralProcessesAtOnce) {
  std::vector<std::vector<std::uint8_t>> values;
  for (int i = 0; i < 8; ++i) values.push_back(bytes(3000 + static_cast<std::size_t>(i)));
  std::vector<pid_t> children;
  for (unsigned c = 0; c < 4; ++c) {
    const pid_t child = fork();
    if (child == 0) {
      DiskCache cache(folder, 15000);  // less than all: they evict from one another
      std::mt19937 choose(seed + c);
      for (int i = 0; i < 400; ++i) {
        const std::size_t n = choose() % values.size();
        if (choose() % 2) cache.put(key(n), values[n]);
        else if (auto got = cache.get(key(n)); got && *got != values[n]) _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path &path : files()) EXPECT_EQ(path.extension(), ".image");
}

}  // namespace
}  // namespace strata::simt
