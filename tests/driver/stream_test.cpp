// SPDX-License-Identifier: Apache-2.0
// Order within and between streams. A closed gate holds a stream's kernel; what may run meanwhile is looked at.
#include <thread>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

class StreamTest : public Driver {
protected:
  CUstream stream(unsigned flags) {
    CUstream made = nullptr;
    EXPECT_OK(cuStreamCreate(&made, flags));
    return made;
  }
  // True if `memory`'s word becomes `value` within a moment.
  bool becomes(std::uint32_t *word, std::uint32_t value) {
    for (int i = 0; i < 2000; ++i) {
      if (std::atomic_ref(*word).load() == value) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return false;
  }
  bool stays(std::uint32_t *word, std::uint32_t value) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return std::atomic_ref(*word).load() == value;
  }
  std::uint32_t *mapped(std::uint32_t value) {
    void *memory = nullptr;
    EXPECT_OK(cuMemHostAlloc(&memory, 4, 0));
    *static_cast<std::uint32_t *>(memory) = value;
    return static_cast<std::uint32_t *>(memory);
  }
  static CUdeviceptr address(std::uint32_t *word) { return reinterpret_cast<CUdeviceptr>(word); }
};

TEST_F(StreamTest, TasksOfAStreamRunInOrder) {
  auto random = fresh();
  CUstream s = stream(CU_STREAM_NON_BLOCKING);
  CUdeviceptr memory = words(std::vector<std::uint32_t>(8, 1));
  std::uint32_t expected = 1;
  for (int i = 0; i < 200; ++i) {
    if (random() % 2) {
      EXPECT_OK(add(memory, 5, 8, s));
      expected += 5;
    } else {
      EXPECT_OK(scale(memory, 8, s));
      expected = expected * 3 + 1;
    }
  }
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(read(memory, 8), std::vector<std::uint32_t>(8, expected));
}

TEST_F(StreamTest, LegacyStreamWaitsForBlockingStreams) {
  CUstream s = stream(CU_STREAM_DEFAULT);
  std::uint32_t *word = mapped(0);
  close(s);
  EXPECT_OK(add(address(word), 1, 1, nullptr));
  EXPECT_TRUE(stays(word, 0));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  open();
  EXPECT_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(*word, 1u);
}

TEST_F(StreamTest, BlockingStreamsWaitForLegacyStream) {
  CUstream s = stream(CU_STREAM_DEFAULT);
  std::uint32_t *word = mapped(0);
  close(nullptr);
  EXPECT_OK(add(address(word), 1, 1, s));
  EXPECT_TRUE(stays(word, 0));
  open();
  EXPECT_TRUE(becomes(word, 1));
  EXPECT_OK(cuCtxSynchronize());
}

TEST_F(StreamTest, NonBlockingStreamsIgnoreTheLegacyStream) {
  CUstream s = stream(CU_STREAM_NON_BLOCKING);
  std::uint32_t *word = mapped(0);
  close(nullptr);
  EXPECT_OK(add(address(word), 1, 1, s));
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(*word, 1u);
  open();
  close(s);
  EXPECT_OK(add(address(word), 1, 1, nullptr));
  EXPECT_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(*word, 2u);
  open();
  EXPECT_OK(cuCtxSynchronize());
}

TEST_F(StreamTest, PerThreadStreamIsABlockingStream) {
  std::uint32_t *word = mapped(0);
  close(CU_STREAM_PER_THREAD);
  EXPECT_OK(add(address(word), 1, 1, CU_STREAM_LEGACY));
  EXPECT_TRUE(stays(word, 0));
  open();
  EXPECT_TRUE(becomes(word, 1));
  std::thread([&] {
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_OK(add(address(word), 5, 1, CU_STREAM_PER_THREAD));
    EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  }).join();
  EXPECT_EQ(*word, 6u);
}

TEST_F(StreamTest, StreamsOfOneContextOverlap) {
  CUstream a = stream(CU_STREAM_DEFAULT), b = stream(CU_STREAM_DEFAULT);
  std::uint32_t *word = mapped(0);
  close(a);
  EXPECT_OK(add(address(word), 1, 1, b));
  EXPECT_OK(cuStreamSynchronize(b));
  EXPECT_EQ(*word, 1u);
  EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
  open();
  EXPECT_OK(cuStreamSynchronize(a));
  EXPECT_OK(cuStreamQuery(a));
}

TEST_F(StreamTest, EventsOrderStreams) {
  CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
  CUevent event = nullptr;
  EXPECT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  std::uint32_t *word = mapped(1);
  close(a);
  EXPECT_OK(scale(address(word), 1, a));
  EXPECT_OK(cuEventRecord(event, a));
  EXPECT_OK(cuStreamWaitEvent(b, event, 0));
  EXPECT_OK(add(address(word), 10, 1, b));
  EXPECT_TRUE(stays(word, 1));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  open();
  EXPECT_OK(cuStreamSynchronize(b));
  EXPECT_EQ(*word, 14u);
  EXPECT_OK(cuEventQuery(event));
  EXPECT_OK(cuEventDestroy(event));
}

TEST_F(StreamTest, DestroyedStreamFinishesItsWork) {
  CUstream s = stream(CU_STREAM_NON_BLOCKING);
  std::uint32_t *word = mapped(0);
  close(s);
  EXPECT_OK(add(address(word), 1, 1, s));
  EXPECT_OK(cuStreamDestroy(s));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(s));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(s));
  open();
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(*word, 1u);
}

TEST_F(StreamTest, HostFunctionsRunInOrderOnAnotherThread) {
  CUstream s = stream(CU_STREAM_NON_BLOCKING);
  struct Seen {
    std::uint32_t *word;
    std::uint32_t at;
    std::thread::id thread;
  } seen{mapped(0), 99, {}};
  EXPECT_OK(add(address(seen.word), 1, 1, s));
  EXPECT_OK(cuLaunchHostFunc(
      s,
      [](void *p) {
        auto *seen = static_cast<Seen *>(p);
        seen->at = *seen->word;
        seen->thread = std::this_thread::get_id();
      },
      &seen));
  EXPECT_OK(add(address(seen.word), 1, 1, s));
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(seen.at, 1u);
  EXPECT_EQ(*seen.word, 2u);
  EXPECT_NE(seen.thread, std::this_thread::get_id());
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(s, nullptr, nullptr));
  CUresult status = CUDA_ERROR_UNKNOWN;
  EXPECT_OK(cuStreamAddCallback(
      s, [](CUstream, CUresult result, void *p) { *static_cast<CUresult *>(p) = result; }, &status, 0));
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(status, CUDA_SUCCESS);
}

TEST_F(StreamTest, WaitsForAndWritesWords) {
  CUstream s = stream(CU_STREAM_NON_BLOCKING);
  std::uint32_t *word = mapped(0), *out = mapped(0);
  EXPECT_OK(cuStreamWaitValue32(s, address(word), 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_OK(cuStreamWriteValue32(s, address(out), 77, 0));
  EXPECT_TRUE(stays(out, 0));
  std::atomic_ref(*word).store(4);
  EXPECT_TRUE(stays(out, 0));
  std::atomic_ref(*word).store(5);
  EXPECT_OK(cuStreamSynchronize(s));
  EXPECT_EQ(*out, 77u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(s, address(word) + 1, 5, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(s, 0, 5, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(s, address(word), 5, 0x100));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(s, address(word), 9, 9));
}

TEST_F(StreamTest, PropertiesAndBadArguments) {
  CUstream s = nullptr;
  EXPECT_OK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -100));
  int priority = 0;
  EXPECT_OK(cuStreamGetPriority(s, &priority));
  EXPECT_EQ(priority, -5);
  unsigned flags = 9;
  EXPECT_OK(cuStreamGetFlags(s, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  CUcontext owner = nullptr;
  EXPECT_OK(cuStreamGetCtx(s, &owner));
  EXPECT_EQ(owner, context);
  unsigned long long a = 0, b = 0;
  EXPECT_OK(cuStreamGetId(s, &a));
  EXPECT_OK(cuStreamGetId(nullptr, &b));
  EXPECT_NE(a, b);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&s, 5));
  for (CUstream builtIn : {CUstream{nullptr}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD})
    EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(builtIn));
}

TEST_F(StreamTest, ManyThreadsUseManyStreams) {
  constexpr int kThreads = 8, kRounds = 100;
  std::vector<CUdeviceptr> memory;
  for (int t = 0; t < kThreads; ++t) memory.push_back(words({0}));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      EXPECT_OK(cuCtxSetCurrent(context));
      for (int i = 0; i < kRounds; ++i) {
        CUstream s = nullptr;
        CUevent e = nullptr;
        EXPECT_OK(cuStreamCreate(&s, t % 2));
        EXPECT_OK(cuEventCreate(&e, 0));
        EXPECT_OK(add(memory[t], 1, 1, s));
        EXPECT_OK(cuEventRecord(e, s));
        EXPECT_OK(cuEventSynchronize(e));
        EXPECT_OK(cuEventDestroy(e));
        EXPECT_OK(cuStreamDestroy(s));
      }
    });
  for (auto &thread : threads) thread.join();
  for (CUdeviceptr m : memory) EXPECT_EQ(read(m, 1)[0], static_cast<std::uint32_t>(kRounds));
}

}  // namespace
}  // namespace strata::test
