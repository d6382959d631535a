// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes. Its first export moves the allocation's memory, in place, into a sealed
// memfd; the handle names the process and the descriptor, through which another process of the same user maps it.
//
// A handle may come from anywhere, and hold anything. What is opened must be such a file, made for this export (the
// token is in its name, so that a descriptor or process number which was used again is found out), of the same user,
// and as large as the handle says; then a mapping lies within it and stays whole.
#include "driver/ipc.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "driver/entries.h"
#include "driver/memory.h"
#include "driver/scheduler.h"
#include "driver/sealed_file.h"

namespace strata::driver {
namespace {

struct Handle {
  std::uint32_t magic;
  std::int32_t process, file, device;  // device: of the exporter, by ordinal
  std::uint64_t offset, size;          // of the allocation in the file
  std::uint64_t pages;                 // bytes of the file
  std::uint64_t token[2];              // random

  friend bool operator==(const Handle &, const Handle &) = default;
};
static_assert(sizeof(Handle) <= sizeof(CUipcMemHandle));
constexpr std::uint32_t kMagic = 0x53744951;

// Not destroyed at exit, while other threads may still come here; nor allocated when the driver is loaded.
std::mutex mutex;
[[clang::no_destroy]] std::map<std::uint64_t, Handle>
    exported;  // by base; the memfd is open while the allocation lives
struct Opened {
  std::uint64_t reserved;
  unsigned uses;
  Handle handle;
};
[[clang::no_destroy]] std::map<std::uint64_t, Opened> opened;  // by base in this process

// Holds all that the handle says of the memory.
std::string nameFor(const Handle &h) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  char text[192];
  std::snprintf(text, sizeof text, "strata-ipc-%016llx%016llx-%d-%d-%llx-%llx", number(h.token[0]), number(h.token[1]),
                h.process, h.device, number(h.offset), number(h.size));
  return text;
}

bool writeAll(int file, const char *from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes;) {
    ssize_t written = pwrite(file, from + at, bytes - at, static_cast<off_t>(at));
    if (written <= 0) return false;
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

// The allocation's pages, from then on shared.
CUresult share(const Allocation &allocation, Handle &handle) {
  std::uint64_t first = allocation.base / kPage * kPage;
  std::uint64_t pages = roundUp(allocation.base + allocation.size, kPage) - first;
  handle = {kMagic, getpid(), -1, allocation.device->ordinal, allocation.base - first, allocation.size, pages, {}};
  if (getrandom(handle.token, sizeof handle.token, 0) != sizeof handle.token) return CUDA_ERROR_OPERATING_SYSTEM;
  handle.file = makeSealedFile(nameFor(handle), pages);
  if (handle.file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  void *place = reinterpret_cast<void *>(first);
  if (writeAll(handle.file, static_cast<const char *>(place), pages) &&
      mmap(place, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, handle.file, 0) != MAP_FAILED)
    return CUDA_SUCCESS;
  close(handle.file);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

// What can be told from the handle alone.
bool isPlausible(const Handle &h) {
  return h.magic == kMagic && h.process > 0 && h.file >= 0 && h.offset < kPage && h.size && h.pages % kPage == 0 &&
         h.pages <= Memory::get().ranges().window().end - Memory::get().ranges().window().begin && h.size <= h.pages &&
         h.offset <= h.pages - h.size && findDevice(h.device);
}

bool isOwn(const struct stat &info) { return info.st_uid == geteuid(); }

// The exporter's file, or -1. Looked at before it is opened, since opening a device or a FIFO already does something.
int openFile(const Handle &handle) {
  const std::string process = "/proc/" + std::to_string(handle.process);
  const std::string path = process + "/fd/" + std::to_string(handle.file);
  struct stat info{};
  if (stat(process.c_str(), &info) != 0 || !isOwn(info)) return -1;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || !isOwn(info)) return -1;
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return -1;
  if (fstat(file, &info) == 0 && isOwn(info) && isSealedFile(file, handle.pages) &&
      nameOfSealedFile(file) == nameFor(handle))
    return file;
  close(file);
  return -1;
}

// Maps the file into the window. Returns the allocation's address, 0 if there is no room.
std::uint64_t map(int file, const Handle &handle, std::uint64_t reserved) {
  constexpr std::uint64_t kHuge = std::uint64_t{2} << 20;
  const std::uint64_t begin = Memory::get().ranges().reserve(reserved, kHuge);
  if (!begin) return 0;
  if (mmap(reinterpret_cast<void *>(begin), handle.pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
      MAP_FAILED)
    return begin + handle.offset;
  Memory::get().ranges().unreserve(begin, reserved);
  return 0;
}

}  // namespace

void forgetShared(const Allocation &allocation) {
  std::lock_guard lock(mutex);
  auto found = exported.find(allocation.base);
  if (found == exported.end()) return;
  std::uint64_t first = allocation.base / kPage * kPage;
  mmap(reinterpret_cast<void *>(first), found->second.pages, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  close(found->second.file);
  exported.erase(found);
}

CUresult entry::cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr) {
  if (!pHandle) return CUDA_ERROR_INVALID_VALUE;
  auto found = Memory::get().find(dptr);
  if (!found || found->kind != MemoryKind::device || found->range.slab) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = synchronize(*currentContext()); error != CUDA_SUCCESS) return error;
  std::lock_guard lock(mutex);
  auto known = exported.find(found->base);
  if (known == exported.end()) {
    Handle handle;
    if (CUresult result = share(*found, handle); result != CUDA_SUCCESS) return result;
    known = exported.emplace(found->base, handle).first;
    Memory::get().update(found->base, [](Allocation &a) { a.shared = true; });
  }
  std::memset(pHandle, 0, sizeof *pHandle);
  std::memcpy(pHandle, &known->second, sizeof(Handle));
  return CUDA_SUCCESS;
}

CUresult entry::cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {
  Handle wanted;
  std::memcpy(&wanted, &handle, sizeof wanted);
  if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
  if (wanted.magic != kMagic || wanted.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  constexpr char none[sizeof handle.reserved - sizeof wanted] = {};
  if (!isPlausible(wanted) || std::memcmp(handle.reserved + sizeof wanted, none, sizeof none) != 0)
    return CUDA_ERROR_INVALID_HANDLE;
  std::lock_guard lock(mutex);
  for (auto &[base, known] : opened) {
    if (!(known.handle == wanted)) continue;
    ++known.uses;
    *pdptr = base;
    return CUDA_SUCCESS;
  }
  const int file = openFile(wanted);
  if (file < 0) return CUDA_ERROR_INVALID_HANDLE;
  constexpr std::uint64_t kHuge = std::uint64_t{2} << 20;
  const std::uint64_t reserved = roundUp(wanted.pages, kHuge), base = map(file, wanted, reserved);
  close(file);
  if (!base) return CUDA_ERROR_MAP_FAILED;
  Allocation known;
  known.base = base;
  known.size = wanted.size;
  known.kind = MemoryKind::imported;
  known.device = &currentContext()->device;
  Memory::get().adopt(known);
  opened[base] = {reserved, 1, wanted};
  *pdptr = base;
  return CUDA_SUCCESS;
}

CUresult entry::cuIpcCloseMemHandle(CUdeviceptr dptr) {
  if (CUresult error = synchronize(*currentContext()); error != CUDA_SUCCESS) return error;
  std::lock_guard lock(mutex);
  auto found = opened.find(dptr);
  if (found == opened.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--found->second.uses) return CUDA_SUCCESS;
  Memory::get().release(dptr);
  Memory::get().ranges().unreserve(dptr - found->second.handle.offset, found->second.reserved);
  opened.erase(found);
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
