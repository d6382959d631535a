// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

class VmmTest : public Driver {
protected:
  void SetUp() override {
    Driver::SetUp();
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EXPECT_OK(cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  CUmemAllocationProp prop{};
  CUmemAccessDesc access{};
  std::size_t size = 0;
};

TEST_F(VmmTest, MapsTheSameMemoryTwice) {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr range = 0;
  EXPECT_OK(cuMemCreate(&handle, size, &prop, 0));
  EXPECT_OK(cuMemAddressReserve(&range, 2 * size, 0, 0, 0));
  EXPECT_OK(cuMemMap(range, size, 0, handle, 0));
  EXPECT_OK(cuMemMap(range + size, size, 0, handle, 0));
  std::uint32_t word = 1;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(range, &word, 4));
  EXPECT_OK(cuMemSetAccess(range, 2 * size, &access, 1));
  EXPECT_OK(cuMemcpyHtoD(range, &word, 4));
  EXPECT_OK(scale(range, 1));
  EXPECT_EQ(read(range + size, 1)[0], 4u);
  // A copy may run across adjoining mappings.
  std::vector<char> host(2 * size);
  EXPECT_OK(cuMemcpyHtoD(range, host.data(), 2 * size));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
  EXPECT_EQ(read(range, 1)[0], 0u);
  CUmemGenericAllocationHandle again = 0;
  EXPECT_OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void *>(range + 8)));
  EXPECT_OK(cuMemRelease(again));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 2 * size));
  EXPECT_OK(cuMemUnmap(range, 2 * size));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(range, &word, 4));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, size));
  EXPECT_OK(cuMemAddressFree(range, 2 * size));
}

TEST_F(VmmTest, Errors) {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr range = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, 100, &prop, 0));
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, std::size_t{1} << 50, &prop, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, 100, 0, 0, 0));
  EXPECT_OK(cuMemCreate(&handle, size, &prop, 0));
  EXPECT_OK(cuMemAddressReserve(&range, size, 0, 0, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, 2 * size, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemMap(range + size, size, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range, size, &access, 1));
  EXPECT_OK(cuMemMap(range, size, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, size, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range, 2 * size, &access, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(range));
  EXPECT_OK(cuMemUnmap(range, size));
  EXPECT_OK(cuMemAddressFree(range, size));
  EXPECT_OK(cuMemRelease(handle));
}

TEST_F(VmmTest, FileDescriptors) {
  CUmemGenericAllocationHandle handle = 0, imported = 0;
  CUdeviceptr a = 0, b = 0;
  EXPECT_OK(cuMemCreate(&handle, size, &prop, 0));
  int file = -1;
  EXPECT_OK(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  EXPECT_OK(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<std::intptr_t>(file)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  ::close(file);
  for (auto [address, memory] : {std::pair{&a, handle}, {&b, imported}}) {
    EXPECT_OK(cuMemAddressReserve(address, size, 0, 0, 0));
    EXPECT_OK(cuMemMap(*address, size, 0, memory, 0));
    EXPECT_OK(cuMemSetAccess(*address, size, &access, 1));
  }
  EXPECT_OK(cuMemsetD32(a, 77, 1));
  EXPECT_EQ(read(b, 1)[0], 77u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(std::intptr_t{-1}),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

// What an exporter could still shrink, or is an ordinary file, is no memory.
TEST_F(VmmTest, OtherFileDescriptors) {
  CUmemGenericAllocationHandle handle = 0, imported = 0;
  EXPECT_OK(cuMemCreate(&handle, size, &prop, 0));
  int exported = -1;
  EXPECT_OK(cuMemExportToShareableHandle(&exported, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  EXPECT_NE(ftruncate(exported, 0), 0);
  std::FILE *ordinary = std::tmpfile();
  const int unsealed = memfd_create("strata-device-memory", MFD_ALLOW_SEALING);
  ASSERT_TRUE(ordinary && unsealed >= 0);
  ASSERT_EQ(ftruncate(fileno(ordinary), static_cast<off_t>(size)) | ftruncate(unsealed, static_cast<off_t>(size)), 0);
  for (int file : {fileno(ordinary), unsealed, 0})
    EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
              cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<std::intptr_t>(file)),
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  std::fclose(ordinary);
  ::close(unsealed);
  ::close(exported);
  EXPECT_OK(cuMemRelease(handle));
}

}  // namespace
}  // namespace strata::test
