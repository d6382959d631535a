// SPDX-License-Identifier: Apache-2.0
// Stream capture: it records and does not run; what it refuses, with the results seen on an H200.
#include "tests/driver/support.h"

namespace strata::test {
namespace {

class CaptureTest : public Driver {
protected:
  void SetUp() override {
    Driver::SetUp();
    EXPECT_OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuStreamCreate(&s2, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuEventCreate(&e, 0));
    memory = words({1});
  }
  void begin() {
    EXPECT_OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_OK(add(memory, 1, 1, s));
  }
  CUstreamCaptureStatus status(CUstream stream) {
    CUstreamCaptureStatus found{};
    EXPECT_OK(cuStreamIsCapturing(stream, &found));
    return found;
  }
  // The call inside a capture gives `expected`; the capture is invalid after it if that is an error.
  void inCapture(CUresult expected, std::function<CUresult()> call) {
    begin();
    EXPECT_CU(expected, call());
    bool valid = expected == CUDA_SUCCESS;
    EXPECT_EQ(status(s), valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CUgraph graph = reinterpret_cast<CUgraph>(7);
    EXPECT_CU(valid ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
    EXPECT_EQ(graph != nullptr, valid);
    if (valid) EXPECT_OK(cuGraphDestroy(graph));
    EXPECT_EQ(status(s), CU_STREAM_CAPTURE_STATUS_NONE);
  }
  std::uint32_t word() { return read(memory, 1)[0]; }
  CUstream s = nullptr, s2 = nullptr;
  CUevent e = nullptr;
  CUdeviceptr memory = 0;
};

TEST_F(CaptureTest, RecordsAndDoesNotRun) {
  begin();
  EXPECT_OK(scale(memory, 1, s));
  EXPECT_OK(cuMemsetD32Async(memory, 9, 1, s));
  CUgraph graph = nullptr;
  EXPECT_OK(cuStreamEndCapture(s, &graph));
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(word(), 1u);
  std::size_t nodes = 0, edges = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 3u);
  EXPECT_OK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 2u);
  CUgraphExec exec = nullptr;
  EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cuGraphLaunch(exec, s));
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(word(), 9u);
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(CaptureTest, BeginAndEnd) {
  CUgraph graph = nullptr;
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(s, &graph));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCapture(s, static_cast<CUstreamCaptureMode>(7)));
  EXPECT_OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(cuStreamEndCapture(s, &graph));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(CaptureTest, WhatItRefuses) {
  CUdeviceptr d = 0;
  inCapture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [&] { return cuStreamSynchronize(s); });
  inCapture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [&] { return cuStreamQuery(s); });
  inCapture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [&] { return cuCtxSynchronize(); });
  inCapture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [&] { return cuMemAlloc(&d, 100); });
  inCapture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [&] { return cuMemFree(memory); });
  inCapture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [&] { return cuEventQuery(e); });
  inCapture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [&] { return cuEventSynchronize(e); });
  inCapture(CUDA_ERROR_CAPTURED_EVENT, [&] {
    EXPECT_OK(cuEventRecord(e, s));
    return cuEventQuery(e);
  });
  EXPECT_OK(cuEventRecord(e, s2));
  inCapture(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, [&] { return cuStreamWaitEvent(s, e, 0); });
}

TEST_F(CaptureTest, WhatItAllows) {
  std::uint32_t host = 5;
  inCapture(CUDA_SUCCESS, [&] { return cuMemcpyHtoDAsync(memory, &host, 4, s); });
  inCapture(CUDA_SUCCESS, [&] { return cuMemcpyHtoD(memory, &host, 4); });
  inCapture(CUDA_SUCCESS, [&] { return cuMemsetD8(memory, 0, 4); });
  inCapture(CUDA_SUCCESS, [&] { return add(memory, 1, 1, nullptr); });
  inCapture(CUDA_SUCCESS, [&] { return add(memory, 1, 1, s2); });
  inCapture(CUDA_SUCCESS, [&] { return cuLaunchHostFunc(s, [](void *) {}, nullptr); });
}

TEST_F(CaptureTest, OtherModesAllowMore) {
  CUdeviceptr d = 0;
  CUgraph graph = nullptr;
  EXPECT_OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(cuMemAlloc(&d, 100));
  EXPECT_OK(cuStreamEndCapture(s, &graph));
  EXPECT_OK(cuGraphDestroy(graph));
  begin();
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_OK(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_OK(cuMemAlloc(&d, 100));
  EXPECT_OK(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_OK(cuStreamEndCapture(s, &graph));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(CaptureTest, StreamsJoinByEvents) {
  CUgraph graph = nullptr;
  CUevent back = nullptr;
  EXPECT_OK(cuEventCreate(&back, 0));
  begin();
  EXPECT_OK(cuEventRecord(e, s));
  EXPECT_OK(cuStreamWaitEvent(s2, e, 0));
  EXPECT_EQ(status(s2), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_OK(scale(memory, 1, s2));
  EXPECT_OK(cuEventRecord(back, s2));
  EXPECT_OK(cuStreamWaitEvent(s, back, 0));
  EXPECT_OK(add(memory, 100, 1, s));
  EXPECT_OK(cuStreamEndCapture(s, &graph));
  EXPECT_EQ(status(s2), CU_STREAM_CAPTURE_STATUS_NONE);
  CUgraphExec exec = nullptr;
  EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cuGraphLaunch(exec, s));
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(word(), (1u + 1) * 3 + 1 + 100);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuEventQuery(e));
  EXPECT_OK(cuEventRecord(e, s));
  EXPECT_OK(cuEventSynchronize(e));
}

TEST_F(CaptureTest, UnjoinedAndUnmatched) {
  CUgraph graph = nullptr;
  begin();
  EXPECT_OK(cuEventRecord(e, s));
  EXPECT_OK(cuStreamWaitEvent(s2, e, 0));
  EXPECT_OK(scale(memory, 1, s2));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(s, &graph));
  EXPECT_EQ(status(s2), CU_STREAM_CAPTURE_STATUS_NONE);
  begin();
  EXPECT_OK(cuEventRecord(e, s));
  EXPECT_OK(cuStreamWaitEvent(s2, e, 0));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(s2, &graph));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuEventRecord(e, s2));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
}

TEST_F(CaptureTest, BlockingStreamExcludesTheLegacyStream) {
  CUstream blocking = nullptr;
  CUgraph graph = nullptr;
  EXPECT_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  EXPECT_OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamQuery(nullptr));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));
  EXPECT_OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, add(memory, 1, 1, nullptr));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));
  EXPECT_OK(cuStreamQuery(nullptr));
}

TEST_F(CaptureTest, InfoAndDependencies) {
  begin();
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr, ended = nullptr;
  const CUgraphNode *dependencies = nullptr;
  std::size_t count = 0;
  EXPECT_OK(cuStreamGetCaptureInfo_v2(s, &status, &id, &graph, &dependencies, &count));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  CUgraphNode first = dependencies[0], added = nullptr;
  EXPECT_OK(cuGraphAddEmptyNode(&added, graph, &first, 1));
  EXPECT_OK(cuStreamUpdateCaptureDependencies(s, &added, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_OK(add(memory, 1, 1, s));
  EXPECT_OK(cuStreamEndCapture(s, &ended));
  EXPECT_EQ(ended, graph);
  std::size_t nodes = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 3u);
}

TEST_F(CaptureTest, DestroyedWhileCapturing) {
  begin();
  EXPECT_OK(cuStreamDestroy(s));
  CUgraph graph = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamEndCapture(s, &graph));
  EXPECT_OK(cuCtxSynchronize());
}

TEST_F(CaptureTest, StreamOrderedAllocation) {
  CUdeviceptr d = 0;
  CUgraph graph = nullptr;
  EXPECT_OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(cuMemAllocAsync(&d, 4, s));
  EXPECT_OK(cuMemsetD32Async(d, 5, 1, s));
  EXPECT_OK(scale(d, 1, s));
  EXPECT_OK(cuMemcpyDtoDAsync(memory, d, 4, s));
  EXPECT_OK(cuMemFreeAsync(d, s));
  EXPECT_OK(cuStreamEndCapture(s, &graph));
  CUgraphExec exec = nullptr;
  EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) EXPECT_OK(cuGraphLaunch(exec, s));
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(word(), 16u);
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

}  // namespace
}  // namespace strata::test
