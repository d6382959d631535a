// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/knobs.h"
#include "base/log.h"
#include "cuda/driver.h"

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

// Where the dynamic linker looks for what this program or library needs: nvcc records there the lib64/ of its
// own prefix, so that a program with the runtime inside finds the driver wherever the prefix lies.
std::vector<std::string> linkerPaths(const std::string &self) {
  void *handle = dlopen(self.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) handle = dlopen(nullptr, RTLD_LAZY);  // the program itself has no name here
  Dl_serinfo size;
  std::vector<std::string> folders;
  if (!handle || dlinfo(handle, RTLD_DI_SERINFOSIZE, &size)) return folders;
  std::vector<char> buffer(size.dls_size);
  auto *found = reinterpret_cast<Dl_serinfo *>(buffer.data());
  if (dlinfo(handle, RTLD_DI_SERINFOSIZE, found) || dlinfo(handle, RTLD_DI_SERINFO, found)) return folders;
  for (unsigned i = 0; i < found->dls_cnt; ++i) folders.emplace_back(found->dls_serpath[i].dls_name);
  return folders;
}

std::vector<std::string> cpuDriverPaths() {
  std::vector<std::string> paths;
  auto add = [&](const fs::path &folder) { paths.push_back(folder / "strata" / "libcuda.so.1"); };
  if (const std::string &home = knobs::get().STRATA_HOME; !home.empty()) add(fs::path(home) / "lib64");
  if (fs::path self = fileOf(reinterpret_cast<void *>(&openDriver)); !self.empty()) {
    add(self.parent_path());
    add(self.parent_path().parent_path() / "lib64");
    add(self.parent_path() / "lib64");
    for (const std::string &folder : linkerPaths(self)) add(folder);
  }
  add(STRATA_BUILD_LIBRARIES);
  add(STRATA_INSTALLED_LIBRARIES);
  return paths;
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
  std::string tried;
  for (const std::string &path : cpuDriverPaths()) {
    Library library = open(path, RTLD_NOW | RTLD_LOCAL);
    if (library.handle) return use(library);
    tried += "\n  " + std::string(dlerror());
  }
  log::error("no CPU driver found:" + tried);
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
  static std::mutex mutex;
  static bool decided = false;
  std::lock_guard lock(mutex);
  if (!decided) {
    choose();
    decided = !passes(state().error);
  }
  return gDriver;
}

CUresult driverError() { return state().error; }
const std::string &driverPath() { return state().library.path; }
bool isCpuDriver() { return state().cpu; }
bool processAlive() { return !gExiting; }

}  // namespace strata::cuda
