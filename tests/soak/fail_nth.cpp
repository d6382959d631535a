// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program: lets one call of the driver or the runtime to the system fail.
//   FAIL_KIND   allocation, mmap, open, write or thread
//   FAIL_NTH    which of these calls fails, from 1; 0: none
//   FAIL_COUNT  a file of 4096 bytes, the first 8 of which receive how many there were
//   FAIL_TRACE  if set, the stacks of the call that fails and of an end by std::terminate are written to stderr
// Calls count from the program's call of failFromHere() on. A call is the driver's or the runtime's if one of these
// libraries is nearest on its stack, the C and C++ libraries and the loader aside: what the program itself does, or the
// code generator with all of LLVM, does not count.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace {

enum class Kind { allocation, mmap, open, write, thread, none };

Kind wanted = Kind::none;
std::uint64_t nth = 0;
bool traces = false;
std::atomic<std::uint64_t> *count = nullptr;
std::atomic<bool> ready{false};
// In a call of this file's own. Not allocated on first use, which would call malloc.
__attribute__((tls_model("initial-exec"))) thread_local bool inside = false;

template <class F>
F next(const char *name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

enum class Owner { ours, transparent, other };

// What is mapped where, by name, as far as it was loaded when it was asked for.
struct Region {
  std::uintptr_t begin, end;
  Owner owner;
};
constexpr std::size_t kMostRegions = 512;
Region regions[kMostRegions];
std::atomic<std::size_t> regionCount{0};
pthread_mutex_t regionLock = PTHREAD_MUTEX_INITIALIZER;

Owner ownerByName(const char *name) {
  const char *slash = std::strrchr(name, '/');
  const char *file = slash ? slash + 1 : name;
  auto starts = [&](const char *prefix) { return std::strncmp(file, prefix, std::strlen(prefix)) == 0; };
  if (starts("libcuda.so") || starts("libcudart")) return Owner::ours;
  if (starts("libc.so") || starts("libstdc++") || starts("ld-linux") || starts("libgcc") || starts("libfail_nth") ||
      starts("libm.so") || starts("libzstd") || starts("libfmt"))
    return Owner::transparent;
  return Owner::other;
}

void findRegions() {
  pthread_mutex_lock(&regionLock);
  std::size_t n = 0;
  auto visit = [](dl_phdr_info *info, std::size_t, void *data) {
    auto &n = *static_cast<std::size_t *>(data);
    for (int i = 0; i < info->dlpi_phnum && n < kMostRegions; ++i) {
      const auto &header = info->dlpi_phdr[i];
      if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
      const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
      regions[n++] = {begin, begin + header.p_memsz, ownerByName(info->dlpi_name)};
    }
    return 0;
  };
  dl_iterate_phdr(visit, &n);
  regionCount.store(n, std::memory_order_release);
  pthread_mutex_unlock(&regionLock);
}

const Region *regionOf(const void *address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::size_t n = regionCount.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < n; ++i)
    if (at - regions[i].begin < regions[i].end - regions[i].begin) return &regions[i];
  return nullptr;
}

Owner ownerOf(const void *address) {
  if (const Region *region = regionOf(address)) return region->owner;
  findRegions();
  const Region *region = regionOf(address);
  return region ? region->owner : Owner::other;
}

bool isOurs(const void *caller) {
  Owner owner = ownerOf(caller);
  if (owner != Owner::transparent) return owner == Owner::ours;
  void *frames[48];
  const int depth = backtrace(frames, 48);
  for (int i = 1; i < depth; ++i)
    if (owner = ownerOf(frames[i]); owner != Owner::transparent) return owner == Owner::ours;
  return false;
}

void writeStack(const char *head) {
  void *frames[64];
  dprintf(2, "%s\n", head);
  backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
}

// The C library ends the process itself where it has no memory to note a thread's destructor.
bool endsProcess(const void *caller) {
  static const auto begin = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl"));
  return reinterpret_cast<std::uintptr_t>(caller) - begin < 0x200;
}

// True if this call is the one that fails.
bool fails(Kind kind, const void *caller) {
  if (kind != wanted || inside || !ready.load(std::memory_order_acquire)) return false;
  inside = true;
  const bool is = !endsProcess(caller) && isOurs(caller) && count->fetch_add(1) + 1 == nth;
  if (is && traces) writeStack("this call fails:");
  inside = false;
  return is;
}

__attribute__((constructor)) void begin() {
  const char *kind = std::getenv("FAIL_KIND"), *which = std::getenv("FAIL_NTH"), *file = std::getenv("FAIL_COUNT");
  if (!kind || !which || !file) return;
  const char *const names[] = {"allocation", "mmap", "open", "write", "thread"};
  for (int i = 0; i < 5; ++i)
    if (std::strcmp(kind, names[i]) == 0) wanted = static_cast<Kind>(i);
  nth = std::strtoull(which, nullptr, 10);
  inside = true;
  const int descriptor = open(file, O_RDWR | O_CLOEXEC);
  void *mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  void *frames[4];
  backtrace(frames, 4);  // loads what it needs
  findRegions();
  inside = false;
  if (mapped == MAP_FAILED) std::abort();
  count = static_cast<std::atomic<std::uint64_t> *>(mapped);
  if (std::getenv("FAIL_TRACE")) {
    traces = true;
    std::set_terminate([] {
      inside = true;
      writeStack("terminated:");
      std::abort();
    });
  }
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

// The program calls this at its start: before, there is nobody who could be told of an error.
void failFromHere() { ready.store(count != nullptr, std::memory_order_release); }

void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);

void *malloc(std::size_t size) {
  if (!fails(Kind::allocation, CALLER)) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}
void *calloc(std::size_t n, std::size_t size) {
  if (!fails(Kind::allocation, CALLER)) return __libc_calloc(n, size);
  errno = ENOMEM;
  return nullptr;
}
void *realloc(void *old, std::size_t size) {
  if (!fails(Kind::allocation, CALLER)) return __libc_realloc(old, size);
  errno = ENOMEM;
  return nullptr;
}
int posix_memalign(void **memory, std::size_t alignment, std::size_t size) {
  if (fails(Kind::allocation, CALLER)) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
void *aligned_alloc(std::size_t alignment, std::size_t size) {
  if (!fails(Kind::allocation, CALLER)) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}

void *mmap(void *address, std::size_t size, int protection, int flags, int descriptor, off_t offset) {
  static const auto real = next<decltype(&mmap)>("mmap");
  if (!fails(Kind::mmap, CALLER)) return real(address, size, protection, flags, descriptor, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
void *mmap64(void *address, std::size_t size, int protection, int flags, int descriptor, off_t offset) {
  static const auto real = next<decltype(&mmap)>("mmap64");
  if (!fails(Kind::mmap, CALLER)) return real(address, size, protection, flags, descriptor, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

#define OPEN(name)                                                  \
  int name(const char *path, int flags, ...) {                      \
    static const auto real = next<int (*)(const char *, int, ...)>(#name); \
    va_list list;                                                   \
    va_start(list, flags);                                          \
    const mode_t mode = va_arg(list, mode_t);                       \
    va_end(list);                                                   \
    if (!fails(Kind::open, CALLER)) return real(path, flags, mode); \
    errno = EMFILE;                                                 \
    return -1;                                                      \
  }
#define OPENAT(name)                                                        \
  int name(int folder, const char *path, int flags, ...) {                  \
    static const auto real = next<int (*)(int, const char *, int, ...)>(#name); \
    va_list list;                                                           \
    va_start(list, flags);                                                  \
    const mode_t mode = va_arg(list, mode_t);                               \
    va_end(list);                                                           \
    if (!fails(Kind::open, CALLER)) return real(folder, path, flags, mode); \
    errno = EMFILE;                                                         \
    return -1;                                                              \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

FILE *fopen(const char *path, const char *mode) {
  static const auto real = next<decltype(&fopen)>("fopen");
  if (!fails(Kind::open, CALLER)) return real(path, mode);
  errno = EMFILE;
  return nullptr;
}
FILE *fopen64(const char *path, const char *mode) {
  static const auto real = next<decltype(&fopen)>("fopen64");
  if (!fails(Kind::open, CALLER)) return real(path, mode);
  errno = EMFILE;
  return nullptr;
}
int memfd_create(const char *name, unsigned flags) {
  static const auto real = next<decltype(&memfd_create)>("memfd_create");
  if (!fails(Kind::open, CALLER)) return real(name, flags);
  errno = EMFILE;
  return -1;
}

ssize_t write(int descriptor, const void *bytes, std::size_t size) {
  static const auto real = next<decltype(&write)>("write");
  if (!fails(Kind::write, CALLER)) return real(descriptor, bytes, size);
  errno = ENOSPC;
  return -1;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  static const auto real = next<decltype(&pthread_create)>("pthread_create");
  if (!fails(Kind::thread, CALLER)) return real(thread, attributes, start, argument);
  return EAGAIN;
}

}  // extern "C"

// As the C++ library's, but for its caller: so that the one who asked is known.
void *operator new(std::size_t size) {
  if (!fails(Kind::allocation, CALLER))
    if (void *memory = __libc_malloc(size)) return memory;
  throw std::bad_alloc();
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  return fails(Kind::allocation, CALLER) ? nullptr : __libc_malloc(size);
}
void *operator new(std::size_t size, std::align_val_t alignment) {
  if (!fails(Kind::allocation, CALLER))
    if (void *memory = __libc_memalign(static_cast<std::size_t>(alignment), size)) return memory;
  throw std::bad_alloc();
}
void *operator new[](std::size_t size) {
  if (!fails(Kind::allocation, CALLER))
    if (void *memory = __libc_malloc(size)) return memory;
  throw std::bad_alloc();
}
