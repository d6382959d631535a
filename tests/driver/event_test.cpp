// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

class EventTest : public Driver {
protected:
  CUevent event(unsigned flags = 0) {
    CUevent made = nullptr;
    EXPECT_OK(cuEventCreate(&made, flags));
    return made;
  }
};

TEST_F(EventTest, MeasuresTime) {
  CUevent begin = event(), end = event();
  EXPECT_OK(cuEventRecord(begin, nullptr));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_OK(cuEventRecord(end, nullptr));
  EXPECT_OK(cuEventSynchronize(end));
  float milliseconds = -1;
  EXPECT_OK(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 5.0f);
  EXPECT_LT(milliseconds, 5000.0f);
}

TEST_F(EventTest, KernelsLieBetweenTheirEvents) {
  CUevent begin = event(), end = event();
  EXPECT_OK(cuEventRecord(begin, nullptr));
  close(nullptr);
  EXPECT_OK(cuEventRecord(end, nullptr));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(end));
  float milliseconds = -1;
  EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, begin, end));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  open();
  EXPECT_OK(cuEventSynchronize(end));
  EXPECT_OK(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 10.0f);
}

TEST_F(EventTest, TheLatestRecordCounts) {
  CUstream stream = nullptr;
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUevent e = event();
  close(stream);
  EXPECT_OK(cuEventRecord(e, stream));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(e));
  EXPECT_OK(cuEventRecord(e, nullptr));
  EXPECT_OK(cuEventQuery(e));
  open();
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuEventQuery(e));
}

TEST_F(EventTest, Errors) {
  CUevent e = event(), other = event(), untimed = event(CU_EVENT_DISABLE_TIMING);
  float milliseconds = 0;
  EXPECT_OK(cuEventQuery(e));
  EXPECT_OK(cuEventSynchronize(e));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, e, other));
  EXPECT_OK(cuEventRecord(e, nullptr));
  EXPECT_OK(cuEventRecord(untimed, nullptr));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, e, untimed));
  EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, cuEventRecordWithFlags(e, nullptr, CU_EVENT_RECORD_EXTERNAL));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuEventRecordWithFlags(e, nullptr, 8));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(nullptr, e, 8));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&e, 0x100));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&e, CU_EVENT_INTERPROCESS));
  EXPECT_OK(cuEventDestroy(other));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(other));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(other, nullptr));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(other));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamWaitEvent(nullptr, other, 0));
}

TEST_F(EventTest, OutlivesItsHandleWhileWorkNeedsIt) {
  CUstream a = nullptr, b = nullptr;
  EXPECT_OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
  CUdeviceptr memory = words({1});
  close(a);
  EXPECT_OK(scale(memory, 1, a));
  CUevent e = event();
  EXPECT_OK(cuEventRecord(e, a));
  EXPECT_OK(cuStreamWaitEvent(b, e, 0));
  EXPECT_OK(cuEventDestroy(e));
  EXPECT_OK(add(memory, 1, 1, b));
  open();
  EXPECT_OK(cuStreamSynchronize(b));
  EXPECT_EQ(read(memory, 1)[0], 5u);
}

}  // namespace
}  // namespace strata::test
