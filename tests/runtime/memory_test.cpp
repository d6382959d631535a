// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/mock.h"

class Memory : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // binds the context
    mock().take();
  }
  char a[64] = "some text to copy", b[64] = {};
};

TEST_F(Memory, CopyTakesTheDirectionsEntry) {
  EXPECT_EQ(cudaMemcpy(b, a, 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(b, a, 9, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(b, a, 10, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(b, a, 11, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(b, a, 12, cudaMemcpyHostToHost), cudaSuccess);
  EXPECT_EQ(mock().take(),
            (Calls{"cuMemcpyHtoD(8)", "cuMemcpyDtoH(9)", "cuMemcpyDtoD(10)", "cuMemcpy(11)", "cuMemcpy(12)"}));
  EXPECT_EQ(std::string(a, 12), std::string(b, 12));
  EXPECT_EQ(cudaMemcpy(b, a, 8, static_cast<cudaMemcpyKind>(5)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(b, a, 8, static_cast<cudaMemcpyKind>(-1)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(mock().take(), Calls{});
}

TEST_F(Memory, PerThreadProgramsCopyInTheirOwnStreamAndWait) {
  EXPECT_EQ(cudaMemcpy_ptds(b, a, 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset_ptds(b, 7, 3), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize_ptsz(nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventRecord_ptsz(nullptr, nullptr), cudaSuccess);
  EXPECT_EQ(mock().take(),
            (Calls{"cuMemcpyHtoDAsync(8, perThread)", "cuStreamSynchronize(perThread)",
                   "cuMemsetD8Async(7, 3, perThread)", "cuStreamSynchronize(perThread)", "cuEventRecord(perThread)"}));
}

TEST_F(Memory, FillsKeepTheLowByte) {
  EXPECT_EQ(cudaMemset(b, 0x1ff, 4), cudaSuccess);
  EXPECT_EQ(mock().take(), (Calls{"cuMemsetD8(255, 4)"}));
  EXPECT_EQ(cudaMemset2D(b, 16, 1, 8, 4), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(b, 4, 1, 8, 4), cudaErrorInvalidPitchValue);
  EXPECT_EQ(mock().take(), (Calls{"cuMemsetD2D8(16, 1, 8, 4)"}));
  // Whole slices are one region of rows; parts of slices are filled one by one.
  EXPECT_EQ(cudaMemset3D({b, 4, 4, 2}, 1, {4, 2, 3}), cudaSuccess);
  EXPECT_EQ(cudaMemset3D({b, 4, 4, 2}, 1, {4, 1, 3}), cudaSuccess);
  EXPECT_EQ(mock().take(), (Calls{"cuMemsetD2D8(4, 1, 4, 6)", "cuMemsetD2D8(4, 1, 4, 1)", "cuMemsetD2D8(4, 1, 4, 1)",
                                  "cuMemsetD2D8(4, 1, 4, 1)"}));
}

TEST_F(Memory, RowsCarryTheirPitches) {
  EXPECT_EQ(cudaMemcpy2D(b, 16, a, 32, 8, 2, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(mock().take(), (Calls{"cuMemcpy3D(1, 2, 32, 16, 8, 2, 1)"}));
  EXPECT_EQ(cudaMemcpy2D(b, 4, a, 32, 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(b, 16, a, 4, 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(b, 16, a, 32, 8, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(mock().take(), Calls{});
}

TEST_F(Memory, RegionNeedsOneSourceAndOneTarget) {
  cudaMemcpy3DParms params{};
  params.extent = {4, 2, 2};
  params.kind = cudaMemcpyDeviceToDevice;
  EXPECT_EQ(cudaMemcpy3D(&params), cudaErrorInvalidValue);
  params.srcPtr = {a, 4, 4, 2};
  EXPECT_EQ(cudaMemcpy3D(&params), cudaErrorInvalidValue);
  params.dstPtr = {b, 8, 4, 4};
  EXPECT_EQ(cudaMemcpy3D(&params), cudaSuccess);
  EXPECT_EQ(mock().take(), (Calls{"cuMemcpy3D(2, 2, 4, 8, 4, 2, 2)"}));
  params.dstArray = reinterpret_cast<cudaArray_t>(b);
  EXPECT_EQ(cudaMemcpy3D(&params), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
}

TEST_F(Memory, NothingIsAllocatedForNothing) {
  void *memory = a;
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMalloc(nullptr, 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocManaged(&memory, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
  EXPECT_EQ(mock().take(), Calls{});
}

TEST_F(Memory, OldFormOfAnEntryIsFound) {
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, nullptr, nullptr), cudaSuccess);
  EXPECT_EQ(ms, 1.5f);
}

TEST_F(Memory, EntryThatTheDriverLacksAsksForANewerOne) {
  EXPECT_EQ(cudaProfilerStart(), cudaErrorCallRequiresNewerDriver);
}
