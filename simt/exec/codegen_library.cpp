// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/codegen_library.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/log.h"
#include "base/trust.h"
#include "simt/exec/cache_key.h"

namespace strata::simt {
namespace {

// "strata_codegen_source_line": writes a string of at most `capacity` bytes, terminated; false if unknown.
using CodegenSourceLine = bool (*)(const std::uint8_t *object, std::size_t size, std::uint32_t section,
                                   std::uint64_t offset, char *line, std::size_t capacity);

struct State {
  std::mutex mutex;
  std::optional<std::string> path;  // empty string: not found
  std::optional<Error> failure;
  bool loaded = false;
  CodegenLibrary library;
  CodegenSourceLine sourceLine = nullptr;
};

State &state() {
  static State *s = new State;  // kept to the end: kernels may still be loaded while statics are destroyed
  return *s;
}

// Of the library or program that contains us; of a program the loader knows only argv[0], which need not be a path.
std::string ownPath() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void *>(&codegenLibrary), &info) || !info.dli_fname) return {};
  if (std::strchr(info.dli_fname, '/')) return info.dli_fname;
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string{};
}

// The file lies where an install prefix or the build tree has it, seen from lib64/strata/ or bin/. It is executed: only
// who could replace what contains us may have put it there.
std::string findLibrary() {
  const std::string own = ownPath();
  if (own.empty()) return {};
  Trust trust;
  trust.includeReplacersOf(own);
  const std::string folder = own.substr(0, own.rfind('/'));
  for (const char *place : {"/..", "/../lib64"}) {
    std::string path = folder + place + "/libstrata_codegen.so";
    struct stat status{};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const Result<Descriptor> found = trust.open(path);
    if (found) return path;
    log::once(log::Level::error, path, "the code generator is not used: " + found.error().message);
  }
  return {};
}

const std::string &libraryPath(State &s) {
  if (!s.path) s.path = findLibrary();
  return *s.path;
}

std::optional<Error> loadLibrary(State &s) {
  const std::string &path = libraryPath(s);
  if (path.empty())
    return resourceError("libstrata_codegen.so was not found beside Strata's libraries: PTX cannot be compiled");
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return resourceError("cannot load " + path + ": " + dlerror());
  s.library.open = reinterpret_cast<CodegenOpen>(dlsym(handle, "strata_codegen_open"));
  s.library.link = reinterpret_cast<CodegenLink>(dlsym(handle, "strata_codegen_link"));
  s.sourceLine = reinterpret_cast<CodegenSourceLine>(dlsym(handle, "strata_codegen_source_line"));
  const auto *engine = static_cast<const char *const *>(dlsym(handle, "strata_codegen_engine"));
  if (!s.library.open || !s.library.link || !s.sourceLine || !engine || *engine != engineIdentity())
    return resourceError(path + " is not Strata's code generator of this version");
  return std::nullopt;
}

const std::optional<Error> &ensureLoaded(State &s) {
  if (!s.loaded) {
    s.failure = loadLibrary(s);
    s.loaded = true;
  }
  return s.failure;
}

}  // namespace

Result<const CodegenLibrary *> codegenLibrary() {
  State &s = state();
  std::lock_guard lock(s.mutex);
  if (const auto &failure = ensureLoaded(s)) return *failure;
  return &s.library;
}

std::string codegenSourceLine(std::span<const std::uint8_t> object, std::uint32_t section, std::uint64_t offset) {
  State &s = state();
  CodegenSourceLine lookUp;
  {
    std::lock_guard lock(s.mutex);
    if (ensureLoaded(s)) return {};
    lookUp = s.sourceLine;
  }
  char line[4096];
  if (!lookUp(object.data(), object.size(), section, offset, line, sizeof line)) return {};
  return line;
}

void setCodegenLibrary(const std::string &path) {
  State &s = state();
  std::lock_guard lock(s.mutex);
  s.path = path;
  s.loaded = false;
  s.failure.reset();
}

}  // namespace strata::simt
