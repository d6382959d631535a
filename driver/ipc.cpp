// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes. Its first export moves the allocation's memory, in place, into a memfd;
// the handle names the process and the descriptor, through which another process of the same user maps it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "driver/entries.h"
#include "driver/memory.h"
#include "driver/stream.h"

namespace strata::driver {
namespace {

struct Handle {
  std::uint32_t magic;
  std::int32_t process, file;
  std::uint64_t offset, size;  // of the allocation in the file
  std::uint64_t pages;         // bytes of the file
  std::uint64_t key;           // the file's inode: a descriptor that was used again is refused
};
static_assert(sizeof(Handle) <= sizeof(CUipcMemHandle));
constexpr std::uint32_t kMagic = 0x53744950;

std::mutex mutex;
std::map<std::uint64_t, Handle> exported;  // by base; its memfd stays open while the allocation lives
struct Opened {
  std::uint64_t pages, reserved;
  unsigned uses;
  Handle handle;
};
std::map<std::uint64_t, Opened> opened;  // by base in this process

std::uint64_t inodeOf(int file) {
  struct stat info{};
  return fstat(file, &info) == 0 ? info.st_ino : 0;
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
  int file = memfd_create("strata-ipc", MFD_CLOEXEC);
  if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  void *place = reinterpret_cast<void *>(first);
  if (ftruncate(file, static_cast<off_t>(pages)) != 0 || !writeAll(file, static_cast<const char *>(place), pages) ||
      mmap(place, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    close(file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  handle = {kMagic, getpid(), file, allocation.base - first, allocation.size, pages, inodeOf(file)};
  return CUDA_SUCCESS;
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
  std::lock_guard lock(mutex);
  for (auto &[base, known] : opened) {
    if (known.handle.key != wanted.key || known.handle.process != wanted.process) continue;
    ++known.uses;
    *pdptr = base;
    return CUDA_SUCCESS;
  }
  std::string path = "/proc/" + std::to_string(wanted.process) + "/fd/" + std::to_string(wanted.file);
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 || inodeOf(file) != wanted.key) {
    if (file >= 0) close(file);
    return CUDA_ERROR_INVALID_HANDLE;
  }
  constexpr std::uint64_t kHuge = std::uint64_t{2} << 20;
  std::uint64_t reservedBytes = roundUp(wanted.pages, kHuge);
  std::uint64_t begin = Memory::get().ranges().reserve(reservedBytes, kHuge);
  void *mapped = begin ? mmap(reinterpret_cast<void *>(begin), wanted.pages, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, file, 0)
                       : MAP_FAILED;
  close(file);
  if (mapped == MAP_FAILED) return CUDA_ERROR_MAP_FAILED;
  Allocation known;
  known.base = begin + wanted.offset;
  known.size = wanted.size;
  known.kind = MemoryKind::imported;
  known.device = &currentContext()->device;
  Memory::get().adopt(known);
  opened[known.base] = {wanted.pages, reservedBytes, 1, wanted};
  *pdptr = known.base;
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
