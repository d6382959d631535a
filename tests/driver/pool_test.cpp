// SPDX-License-Identifier: Apache-2.0
#include "tests/driver/support.h"

namespace strata::test {
namespace {

class PoolTest : public Driver {
protected:
  void SetUp() override {
    Driver::SetUp();
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuDeviceGetDefaultMemPool(&pool, 0));
  }
  cuuint64_t attribute(CUmemPool_attribute name) {
    cuuint64_t value = 0;
    EXPECT_OK(cuMemPoolGetAttribute(pool, name, &value));
    return value;
  }
  CUstream stream = nullptr;
  CUmemoryPool pool = nullptr;
};

TEST_F(PoolTest, AllocatesAndFreesInStreamOrder) {
  CUdeviceptr d = 0;
  EXPECT_OK(cuMemAllocAsync(&d, 1000, stream));
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1000u);
  EXPECT_OK(cuMemsetD8Async(d, 1, 1000, stream));
  close(stream);
  EXPECT_OK(add(d, 1, 10, stream));
  EXPECT_OK(cuMemFreeAsync(d, stream));
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1000u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(d, stream));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(d));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(d, 1, 10, stream));
  open();
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_GE(attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1000u);
}

TEST_F(PoolTest, MixesWithOrdinaryMemory) {
  CUdeviceptr d = 0;
  EXPECT_OK(cuMemAllocAsync(&d, 1000, stream));
  EXPECT_OK(cuMemFree(d));
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_OK(cuMemAlloc(&d, 100));
  EXPECT_OK(cuMemFreeAsync(d, stream));
  EXPECT_OK(cuMemFreeAsync(0, stream));
  EXPECT_OK(cuMemAllocAsync(&d, 0, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
}

TEST_F(PoolTest, Pools) {
  CUmemoryPool made = nullptr, current = nullptr;
  CUmemPoolProps props{};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&made, &props));
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.maxSize = 10000;
  EXPECT_OK(cuMemPoolCreate(&made, &props));
  CUdeviceptr a = 0, b = 0;
  EXPECT_OK(cuMemAllocFromPoolAsync(&a, 6000, made, stream));
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&b, 6000, made, stream));
  EXPECT_OK(cuMemFreeAsync(a, stream));
  EXPECT_OK(cuMemAllocFromPoolAsync(&b, 6000, made, stream));
  EXPECT_OK(cuDeviceSetMemPool(0, made));
  EXPECT_OK(cuDeviceGetMemPool(&current, 0));
  EXPECT_EQ(current, made);
  EXPECT_OK(cuMemPoolDestroy(made));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(made));
  EXPECT_OK(cuDeviceGetMemPool(&current, 0));
  EXPECT_EQ(current, pool);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
  EXPECT_OK(cuMemFreeAsync(b, stream));  // the pool lives until its memory is back
  EXPECT_OK(cuStreamSynchronize(stream));
  cuuint64_t threshold = 12345;
  EXPECT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 12345u);
  EXPECT_OK(cuMemPoolTrimTo(pool, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(9), &threshold));
}

}  // namespace
}  // namespace strata::test
