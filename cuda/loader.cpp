// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/knobs.h"
#include "base/log.h"
#include "base/trust.h"
#include "cuda/driver.h"

extern "C" [[gnu::visibility("hidden")]] const char strataLibraries[];  // libraries.c

#define STRATA_TEXT_(x) #x
#define STRATA_TEXT(x) STRATA_TEXT_(x)

namespace strata::cuda {

constinit std::atomic<const Driver *> gDriver{nullptr};

namespace {

namespace fs = std::filesystem;

struct Library {
  void *handle = nullptr;
  std::string path;
};

// Everything the loader has decided. Never destroyed: exit handlers of other libraries still call the
// runtime.
struct State {
  Driver table{};
  CUresult error = CUDA_ERROR_NOT_INITIALIZED;
  Library library;
  bool cpu = false;
};
State &state() {
  static State &instance = *new State;
  return instance;
}

std::atomic<bool> gExiting{false};
// gForked: in the child of a process whose driver was open, so that its workers are the parent's, or was being opened
// by a thread that is not in the child.
std::atomic<bool> gOpening{false}, gForked{false};

// The file that a symbol of an open library comes from, links resolved.
std::string fileOf(void *address) {
  Dl_info info;
  if (!address || !dladdr(address, &info) || !info.dli_fname) return "";
  std::error_code ignored;
  fs::path path = fs::canonical(info.dli_fname, ignored);
  return path.empty() ? info.dli_fname : path.string();
}

Library open(const std::string &name, int flags) {
  Library library;
  library.handle = dlopen(name.c_str(), flags);
  if (library.handle) library.path = fileOf(dlsym(library.handle, "cuInit"));
  return library;
}

// Strata's own libcuda lies in a folder "strata", which no loader searches by itself.
bool isStratas(const Library &library) { return fs::path(library.path).parent_path().filename() == "strata"; }

// Where the dynamic linker looks for what a library, or (null) the program, needs: nvcc records there the lib64/ of its
// own prefix, so that a program with the runtime inside finds the driver wherever the prefix lies.
std::vector<std::string> linkerPaths(const char *library) {
  void *handle = dlopen(library, library ? RTLD_LAZY | RTLD_NOLOAD : RTLD_LAZY);
  Dl_serinfo size;
  std::vector<std::string> folders;
  if (!handle || dlinfo(handle, RTLD_DI_SERINFOSIZE, &size)) return folders;
  std::vector<char> buffer(size.dls_size);
  auto *found = reinterpret_cast<Dl_serinfo *>(buffer.data());
  if (dlinfo(handle, RTLD_DI_SERINFOSIZE, found) || dlinfo(handle, RTLD_DI_SERINFO, found)) return folders;
  for (unsigned i = 0; i < found->dls_cnt; ++i) folders.emplace_back(found->dls_serpath[i].dls_name);
  return folders;
}

// Folders that may hold the driver, and whether that is the word of whoever runs the program.
struct Place {
  std::string folder;
  bool asked = false;
};

std::vector<Place> cpuDriverPlaces() {
  std::vector<Place> places;
  if (const std::string &home = knobs::get().STRATA_HOME; !home.empty()) places.push_back({home + "/lib64", true});
  const std::string self = fileOf(reinterpret_cast<void *>(&openDriver));
  // A program's own folder tells nothing: it may lie where others can put files beside it.
  if (!*strataLibraries && !self.empty()) places.push_back({fs::path(self).parent_path()});
  for (const char *searcher : {self.c_str(), static_cast<const char *>(nullptr)})
    for (const std::string &folder : linkerPaths(searcher))
      if (std::none_of(places.begin(), places.end(), [&](const Place &known) { return known.folder == folder; }))
        places.push_back({folder});
  if (*strataLibraries) places.push_back({strataLibraries});
  return places;
}

// Whoever could replace this program, or the library that this code is in, is trusted with the driver too. (Not where
// the program has more rights than its caller, who may have it under a name of his own.)
Trust trusted() {
  Trust trust;
  if (getauxval(AT_SECURE)) return trust;
  trust.includeReplacersOf("/proc/self/exe");
  trust.includeReplacersOf(fileOf(reinterpret_cast<void *>(&openDriver)));
  return trust;
}

// Stands in the table for a function that an older driver lacks.
template <class Function, class Name>
struct Missing;
template <class... Arguments, class Name>
struct Missing<CUresult (*)(Arguments...), Name> {
  static CUresult call(Arguments...) {
    log::once(log::Level::warn, Name::text(), "the driver at " + state().library.path + " has no " + Name::text());
    return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;
  }
};

// An older form of an entry that takes the same arguments.
const char *olderForm(std::string_view name) {
  return name == "cuEventElapsedTime_v2" ? "cuEventElapsedTime" : nullptr;
}

void *find(const Library &library, const char *name) {
  void *found = dlsym(library.handle, name);
  if (const char *older = found ? nullptr : olderForm(name)) found = dlsym(library.handle, older);
  return found;
}

void fillTable(const Library &library, Driver &table) {
#define DRIVER(name)                                           \
  {                                                            \
    using Function = decltype(table.name);                     \
    struct Name {                                              \
      static const char *text() { return STRATA_TEXT(name); }  \
    };                                                         \
    void *found = find(library, Name::text());                 \
    table.name = Missing<Function, Name>::call;                \
    if (found) table.name = reinterpret_cast<Function>(found); \
  }
#include "cuda/driver_functions.def"
#undef DRIVER
}

// cuInit, and at least one device.
CUresult start(const Driver &table) {
  if (CUresult result = table.cuInit(0)) return result;
  int count = 0;
  if (CUresult result = table.cuDeviceGetCount(&count)) return result;
  return count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

bool use(const Library &library) {
  if (!library.handle) return false;
  State &s = state();
  s.library = library;
  s.cpu = isStratas(library);
  fillTable(library, s.table);
  s.error = start(s.table);
  return s.error == CUDA_SUCCESS;
}

bool useNvidia() {
  // A program that links libcuda has already loaded one; it may be Strata's.
  Library library = open("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library.handle || isStratas(library)) return false;
  if (use(library)) return true;
  auto level = state().error == CUDA_ERROR_NO_DEVICE ? log::Level::info : log::Level::warn;
  log::write(level, library.path + " does not start: error " + std::to_string(state().error));
  return false;
}

bool useCpu() {
  const Trust trust = trusted();
  std::string tried;
  bool isThere = false;
  for (const Place &place : cpuDriverPlaces()) {
    const std::string path = place.folder + "/strata/libcuda.so.1";
    isThere |= access(path.c_str(), R_OK) == 0;
    if (!place.asked) {
      const Result<Descriptor> found = trust.open(path);
      if (!found) {
        tried += "\n  " + found.error().message;
        continue;
      }
    }
    Library library = open(path, RTLD_NOW | RTLD_LOCAL);
    if (library.handle) return use(library);
    tried += "\n  " + std::string(dlerror());
  }
  // One that is there may load another time: memory or descriptors were short.
  if (isThere) state().error = CUDA_ERROR_OPERATING_SYSTEM;
  log::once(log::Level::error, "no CPU driver",
            "no CPU driver found (STRATA_HOME names the toolkit that has it):" + tried);
  return false;
}

// An error that a later attempt may not meet.
bool passes(CUresult error) { return error == CUDA_ERROR_OUT_OF_MEMORY || error == CUDA_ERROR_OPERATING_SYSTEM; }

void choose() {
  const std::string &wanted = knobs::get().STRATA_DEVICE;
  bool opened = false;
  if (wanted == "cpu") opened = useCpu();
  else if (wanted == "nvidia") opened = useNvidia();
  else opened = useNvidia() || useCpu();
  State &s = state();
  if (!s.cpu) knobs::report();  // else the driver has
  if (!s.library.handle && wanted == "nvidia")
    log::error("STRATA_DEVICE=nvidia: NVIDIA's libcuda.so.1 is not installed");
  if (!opened) return;
  log::info("driver: " + s.library.path);
  // Handlers run in reverse order of registration: this one before those of the program's static
  // initialisers, which unregister its kernels.
  std::atexit([] { gExiting = true; });
  gDriver = &s.table;
}

}  // namespace

const Driver *openDriver() {
  if (const Driver *opened = gDriver) return opened;
  if (gForked) return nullptr;
  static std::mutex mutex;
  static bool decided = false;
  [[maybe_unused]] static const int watched =
      pthread_atfork(nullptr, nullptr, [] { gForked = gOpening || gDriver.load() != nullptr; });
  std::lock_guard lock(mutex);
  if (!decided) {
    gOpening = true;
    choose();
    gOpening = false;
    decided = !passes(state().error);
  }
  return gDriver;
}

CUresult driverError() { return state().error; }
const std::string &driverPath() { return state().library.path; }
bool isCpuDriver() { return state().cpu; }
bool processAlive() { return !gExiting && !gForked; }

}  // namespace strata::cuda
