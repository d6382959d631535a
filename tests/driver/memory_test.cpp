// SPDX-License-Identifier: Apache-2.0
// Allocations, copies, fills, and what is refused.
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

class MemoryTest : public Driver {
protected:
  std::vector<unsigned char> bytes(std::size_t count) {
    std::vector<unsigned char> content(count);
    for (auto &byte : content) byte = static_cast<unsigned char>(random());
    return content;
  }
  std::mt19937_64 random = fresh();
};

sigjmp_buf jump;
void onSegv(int) { siglongjmp(jump, 1); }

// Touching the byte faults.
bool faults(CUdeviceptr address) {
  struct sigaction action{}, before{};
  action.sa_handler = onSegv;
  sigaction(SIGSEGV, &action, &before);
  bool faulted = sigsetjmp(jump, 1) != 0;
  if (!faulted) { [[maybe_unused]] volatile unsigned char byte = *reinterpret_cast<volatile unsigned char *>(address); }
  sigaction(SIGSEGV, &before, nullptr);
  return faulted;
}

TEST_F(MemoryTest, AllocationsAreAlignedGuardedAndApart) {
  if (!onCpuDevice()) GTEST_SKIP() << "touches device memory from the host";
  std::map<CUdeviceptr, std::size_t> known;
  for (int i = 0; i < 300; ++i) {
    std::size_t size = 1 + random() % (i % 10 ? 5000 : 5000000);
    CUdeviceptr memory = allocate(size);
    ASSERT_EQ(memory % 512, 0u);
    auto next = known.lower_bound(memory);
    if (next != known.end()) ASSERT_LE(memory + size, next->first);
    if (next != known.begin()) ASSERT_LE(std::prev(next)->first + std::prev(next)->second, memory);
    known[memory] = size;
    EXPECT_TRUE(faults(memory + (size + 511) / 512 * 512)) << size;
    std::memset(reinterpret_cast<void *>(memory), 0xa5, size);
    if (i % 3 == 0) {
      EXPECT_OK(cuMemFree(memory));
      EXPECT_OK(launch("none", nullptr, 1, 1, {}));  // from the next kernel on it cannot be used
      EXPECT_TRUE(faults(memory)) << "after free";
      known.erase(memory);
    }
  }
  for (auto &[memory, size] : known) EXPECT_OK(cuMemFree(memory));
}

TEST_F(MemoryTest, ManySmallAllocations) {
  if (!onCpuDevice()) GTEST_SKIP() << "touches device memory from the host";
  std::vector<CUdeviceptr> all;
  for (int i = 0; i < 15000; ++i) {
    CUdeviceptr memory = 0;
    ASSERT_OK(cuMemAlloc(&memory, 16 + i % 100));
    *reinterpret_cast<int *>(memory) = i;
    all.push_back(memory);
  }
  for (int i = 0; i < 15000; ++i) ASSERT_EQ(*reinterpret_cast<int *>(all[i]), i);
  for (CUdeviceptr memory : all) ASSERT_OK(cuMemFree(memory));
}

TEST_F(MemoryTest, AccountsForWhatIsUsed) {
  std::size_t before = 0, total = 0, during = 0, after = 0;
  EXPECT_OK(cuMemGetInfo(&before, &total));
  EXPECT_LE(before, total);
  CUdeviceptr memory = allocate(1 << 20);
  EXPECT_OK(cuMemGetInfo(&during, nullptr));
  EXPECT_GE(before - during, std::size_t{1} << 20);
  EXPECT_OK(cuMemFree(memory));
  EXPECT_OK(cuMemGetInfo(&after, nullptr));
  EXPECT_EQ(after, before);
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, total + 1));
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, ~std::size_t{0}));
  EXPECT_OK(cuMemGetInfo(&after, nullptr));
  EXPECT_EQ(after, before);
}

TEST_F(MemoryTest, CopiesRoundTrip) {
  for (std::size_t size : {1, 511, 4096, 70000, 3000000, 9000001}) {
    auto content = bytes(size);
    CUdeviceptr a = allocate(size), b = allocate(size);
    std::vector<unsigned char> back(size, 0xcd);
    EXPECT_OK(cuMemcpyHtoD(a, content.data(), size));
    EXPECT_OK(cuMemcpyDtoD(b, a, size));
    EXPECT_OK(cuMemcpyDtoH(back.data(), b, size));
    EXPECT_EQ(back, content) << size;
    std::fill(back.begin(), back.end(), 0xcd);
    CUstream stream = nullptr;
    EXPECT_OK(cuStreamCreate(&stream, 0));
    EXPECT_OK(cuMemsetD8Async(b, 0, size, stream));
    EXPECT_OK(cuMemcpyDtoDAsync(b, a, size, stream));
    EXPECT_OK(cuMemcpyDtoHAsync(back.data(), b, size, stream));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(back, content) << size;
    std::fill(back.begin(), back.end(), 0xcd);
    EXPECT_OK(cuMemcpy(reinterpret_cast<CUdeviceptr>(back.data()), a, size));
    EXPECT_EQ(back, content) << size;
    EXPECT_OK(cuMemFree(a));
    EXPECT_OK(cuMemFree(b));
  }
}

TEST_F(MemoryTest, OverlappingCopyIsRight) {
  std::vector<std::uint32_t> content(100000);
  for (std::uint32_t i = 0; i < content.size(); ++i) content[i] = i;
  CUdeviceptr memory = words(content);
  EXPECT_OK(cuMemcpyDtoD(memory + 4, memory, 99999 * 4));
  auto result = read(memory, 100000);
  for (std::uint32_t i = 1; i < 100000; ++i) ASSERT_EQ(result[i], i - 1);
}

TEST_F(MemoryTest, RefusesRangesOutsideOfAllocations) {
  char host[4096] = {};
  CUdeviceptr d = allocate(1000);
  EXPECT_OK(cuMemcpyHtoD(d, host, 1000));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(d, host, 1001));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, d + 990, 11));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(0, host, 10));
  EXPECT_OK(cuMemcpyHtoD(0, host, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(d, nullptr, 10));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, reinterpret_cast<CUdeviceptr>(host), 10));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(d, reinterpret_cast<CUdeviceptr>(host), 10));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(d, 0, 1001));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(0, 0, 1));
  EXPECT_OK(cuMemsetD8(0, 0, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(d + 1, 0, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(d + 1, 0, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(d, 0, ~std::size_t{0}));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(d + 4));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(reinterpret_cast<CUdeviceptr>(host)));
  EXPECT_OK(cuMemFree(d));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(d));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(d, host, 10));
  EXPECT_OK(cuMemFree(0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&d, 0));
}

TEST_F(MemoryTest, FillsElementsAndRows) {
  CUdeviceptr d = allocate(1 << 20);
  auto check = [&](std::size_t offset, const void *expected, std::size_t count) {
    std::vector<char> back(count);
    EXPECT_OK(cuMemcpyDtoH(back.data(), d + offset, count));
    EXPECT_EQ(std::memcmp(back.data(), expected, count), 0);
  };
  EXPECT_OK(cuMemsetD8(d, 0x11, 1 << 20));
  EXPECT_OK(cuMemsetD32(d + 4, 0xdeadbeef, 1));
  const std::uint32_t around[] = {0x11111111, 0xdeadbeef, 0x11111111};
  check(0, around, sizeof around);
  EXPECT_OK(cuMemsetD2D16(d, 100, 0x2222, 3, 2));
  unsigned char row[100];
  std::memset(row, 0x11, sizeof row);
  std::memset(row, 0x22, 6);
  check(100, row, sizeof row);
  EXPECT_OK(cuMemsetD32Async(d, 0x01020304, 1 << 18, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  std::vector<std::uint32_t> all(1 << 18, 0x01020304);
  check(0, all.data(), 1 << 20);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(d, 10, 0, 20, 2));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(d, 102, 0, 20, 2));
  EXPECT_OK(cuMemsetD2D8(d, 100, 0, 20, 0));
}

// Against the plain definition: element (x, y, z) goes from one place to the other.
TEST_F(MemoryTest, StridedCopies) {
  for (int round = 0; round < 50; ++round) {
    CUDA_MEMCPY3D c{};
    c.WidthInBytes = 1 + random() % 40;
    c.Height = 1 + random() % 6;
    c.Depth = 1 + random() % 4;
    c.srcXInBytes = random() % 5, c.srcY = random() % 3, c.srcZ = random() % 2;
    c.dstXInBytes = random() % 5, c.dstY = random() % 3, c.dstZ = random() % 2;
    c.srcPitch = c.srcXInBytes + c.WidthInBytes + random() % 9;
    c.dstPitch = c.dstXInBytes + c.WidthInBytes + random() % 9;
    c.srcHeight = c.srcY + c.Height + random() % 2;
    c.dstHeight = c.dstY + c.Height + random() % 2;
    std::size_t sourceBytes = c.srcPitch * c.srcHeight * (c.srcZ + c.Depth);
    std::size_t destinationBytes = c.dstPitch * c.dstHeight * (c.dstZ + c.Depth);
    auto source = bytes(sourceBytes), expected = bytes(destinationBytes);
    CUdeviceptr d = allocate(destinationBytes);
    EXPECT_OK(cuMemcpyHtoD(d, expected.data(), destinationBytes));
    for (std::size_t z = 0; z < c.Depth; ++z)
      for (std::size_t y = 0; y < c.Height; ++y)
        for (std::size_t x = 0; x < c.WidthInBytes; ++x)
          expected[((z + c.dstZ) * c.dstHeight + y + c.dstY) * c.dstPitch + x + c.dstXInBytes] =
              source[((z + c.srcZ) * c.srcHeight + y + c.srcY) * c.srcPitch + x + c.srcXInBytes];
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = source.data();
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstDevice = d;
    if (round % 2) EXPECT_OK(cuMemcpy3D(&c));
    else EXPECT_OK(cuMemcpy3DAsync(&c, nullptr));
    std::vector<unsigned char> result(destinationBytes);
    EXPECT_OK(cuMemcpyDtoH(result.data(), d, destinationBytes));
    EXPECT_EQ(result, expected);
  }
}

TEST_F(MemoryTest, TwoDimensionalCopyChecks) {
  char host[512] = {};
  CUdeviceptr d = allocate(5120);
  CUDA_MEMCPY2D m{};
  EXPECT_OK(cuMemcpy2D(&m));
  m.srcMemoryType = CU_MEMORYTYPE_HOST;
  m.srcHost = host;
  m.srcPitch = 10;
  m.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  m.dstDevice = d;
  m.dstPitch = 512;
  m.WidthInBytes = 20;
  m.Height = 2;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&m));
  m.srcPitch = 20;
  EXPECT_OK(cuMemcpy2D(&m));
  m.Height = 1000000;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&m));
  m.Height = 1;
  m.dstXInBytes = 505;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&m));
  m.dstXInBytes = 0;
  m.srcMemoryType = static_cast<CUmemorytype>(9);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&m));
  m.srcMemoryType = CU_MEMORYTYPE_HOST;
  m.Height = ~std::size_t{0};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&m));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(nullptr));
}

TEST_F(MemoryTest, BatchedCopies) {
  CUstream stream = nullptr;
  EXPECT_OK(cuStreamCreate(&stream, 0));
  auto content = bytes(3000);
  CUdeviceptr d = allocate(3000);
  CUdeviceptr sources[3], destinations[3];
  std::size_t sizes[3] = {1000, 1000, 1000}, first = 0;
  for (int i = 0; i < 3; ++i) {
    sources[i] = reinterpret_cast<CUdeviceptr>(content.data()) + 1000 * i;
    destinations[i] = d + 1000 * (2 - i);
  }
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  EXPECT_OK(cuMemcpyBatchAsync(destinations, sources, sizes, 3, &attributes, &first, 1, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  std::vector<unsigned char> back(3000);
  EXPECT_OK(cuMemcpyDtoH(back.data(), d, 3000));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(std::memcmp(back.data() + 1000 * (2 - i), content.data() + 1000 * i, 1000), 0);
  sizes[1] = 5000;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuMemcpyBatchAsync(destinations, sources, sizes, 3, &attributes, &first, 1, stream));
  sizes[1] = 1000;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuMemcpyBatchAsync(destinations, sources, sizes, 3, &attributes, &first, 1, nullptr));
}

TEST_F(MemoryTest, HostMemory) {
  void *host = nullptr;
  CUdeviceptr d = 0;
  unsigned flags = 0;
  EXPECT_OK(cuMemHostAlloc(&host, 1000, CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_OK(cuMemHostGetDevicePointer(&d, host, 0));
  EXPECT_EQ(d, reinterpret_cast<CUdeviceptr>(host));
  EXPECT_OK(cuMemHostGetFlags(&flags, host));
  EXPECT_EQ(flags, unsigned{CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP});
  EXPECT_OK(add(d, 0, 10));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&host, 10, 0x100));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(d));
  EXPECT_OK(cuMemFreeHost(host));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&d, &flags, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, &d));
}

TEST_F(MemoryTest, RegisteredMemory) {
  std::vector<std::uint32_t> own(2048, 5);
  CUdeviceptr d = 0;
  EXPECT_OK(cuMemHostRegister(own.data(), 8192, 0));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own.data(), 4096, 0));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own.data() + 1024, 4096, 0));
  EXPECT_OK(cuMemHostGetDevicePointer(&d, own.data(), 0));
  EXPECT_OK(add(d, 2, 64));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(own[63], 7u);
  EXPECT_EQ(own[64], 5u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(own.data() + 4));
  EXPECT_OK(cuMemHostUnregister(own.data()));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own.data()));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(nullptr, 10, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(own.data(), 0, 0));
}

TEST_F(MemoryTest, ManagedAndPitched) {
  CUdeviceptr d = 0;
  EXPECT_OK(cuMemAllocManaged(&d, 400, CU_MEM_ATTACH_GLOBAL));
  auto *words = reinterpret_cast<std::uint32_t *>(d);
  for (int i = 0; i < 100; ++i) words[i] = 1;
  EXPECT_OK(scale(d, 100));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(words[99], 4u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&d, 100, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&d, 0, CU_MEM_ATTACH_GLOBAL));
  std::size_t pitch = 0;
  EXPECT_OK(cuMemAllocPitch(&d, &pitch, 100, 10, 4));
  EXPECT_EQ(pitch, 512u);
  EXPECT_OK(cuMemAllocPitch(&d, &pitch, 513, 10, 16));
  EXPECT_EQ(pitch, 1024u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&d, &pitch, 100, 10, 3));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&d, &pitch, 0, 10, 4));
}

TEST_F(MemoryTest, PointerAttributes) {
  CUdeviceptr d = allocate(1000), base = 0;
  std::size_t size = 0;
  EXPECT_OK(cuMemGetAddressRange(&base, &size, d + 10));
  EXPECT_EQ(base, d);
  EXPECT_EQ(size, 1000u);
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, 4096));
  unsigned type = 0;
  EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d + 1));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  CUcontext owner = nullptr;
  EXPECT_OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, d));
  EXPECT_EQ(owner, context);
  int local = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&local)));
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  int ordinal = 99;
  void *values[] = {&type, &ordinal};
  EXPECT_OK(cuPointerGetAttributes(2, names, values, reinterpret_cast<CUdeviceptr>(&local)));
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, -2);
  EXPECT_OK(cuPointerGetAttributes(2, names, values, d));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(ordinal, 0);
}

}  // namespace
}  // namespace strata::test
