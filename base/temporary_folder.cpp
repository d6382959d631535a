// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "base/environment.h"
#include "base/log.h"
#include "base/trust.h"

namespace strata {
namespace {

constexpr const char *kUsual = "/tmp";

struct All {
  std::mutex mutex;
  std::set<std::string> paths;
  bool closed = false;
};
All &all() {
  static All &instance = *new All;  // outlives every folder
  return instance;
}

bool isFolder(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// Where temporary files go. A TMPDIR that names no folder counts for nothing, as with other compilers.
std::string parent() {
  const char *wanted = environment("TMPDIR");
  if (!wanted || !*wanted || !isFolder(wanted)) return kUsual;
  const Result<Descriptor> opened = Trust().open(wanted);
  if (opened) return wanted;
  log::once(log::Level::warn, "TMPDIR", "TMPDIR is not used: " + opened.error().message);
  return kUsual;
}

void removeTree(const std::string &path) {
  std::error_code ignored;
  // Another thread may still be adding to it.
  for (int attempt = 0; attempt < 3 && std::filesystem::exists(path, ignored); ++attempt)
    std::filesystem::remove_all(path, ignored);
}

}  // namespace

std::string TemporaryFolder::wouldBe(const std::string &purpose) { return parent() + "/" + purpose + "-XXXXXX"; }

Result<TemporaryFolder> TemporaryFolder::make(const std::string &purpose) {
  std::string path = wouldBe(purpose);
  std::lock_guard lock(all().mutex);
  if (all().closed) return resourceError("no temporary folders are made any more");
  if (!mkdtemp(path.data()) || chmod(path.c_str(), 0700) != 0)  // any umask
    return resourceError("cannot make folder '" + path + "': " + std::strerror(errno));
  all().paths.insert(path);
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  removeTree(path_);
  std::lock_guard lock(all().mutex);
  all().paths.erase(path_);
}

void TemporaryFolder::removeAll() {
  std::lock_guard lock(all().mutex);
  all().closed = true;
  for (const std::string &path : all().paths) removeTree(path);
}

}  // namespace strata
