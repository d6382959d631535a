// SPDX-License-Identifier: Apache-2.0
// Launches: what runs, and each configuration that is refused, with the result seen on an H200.
#include <cstring>
#include <thread>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

class LaunchTest : public Driver {
protected:
  CUresult shape(const char *name, std::array<unsigned, 3> grid, std::array<unsigned, 3> block, unsigned shared = 0) {
    return cuLaunchKernel(function(name), grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, nullptr,
                          nullptr, nullptr);
  }
};

TEST_F(LaunchTest, RunsWithParameters) {
  auto random = fresh();
  std::vector<std::uint32_t> content(200);
  for (auto &word : content) word = static_cast<std::uint32_t>(random());
  CUdeviceptr memory = words(content);
  unsigned n = static_cast<unsigned>(random());
  EXPECT_OK(launch("add", nullptr, 4, 50, {&memory, &n}));
  EXPECT_OK(cuCtxSynchronize());
  auto result = read(memory, 200);
  for (std::size_t i = 0; i < 200; ++i) ASSERT_EQ(result[i], content[i] + n) << i;
}

// More than a function remembers; each twice, and from two threads.
TEST_F(LaunchTest, ManyBlockShapes) {
  constexpr unsigned kShapes = 200;
  CUdeviceptr memory = words(std::vector<std::uint32_t>(kShapes, 0));
  unsigned one = 1;
  auto launchAll = [&] {
    EXPECT_OK(cuCtxSetCurrent(context));
    for (int round = 0; round < 2; ++round)
      for (unsigned x = 1; x <= kShapes; ++x) EXPECT_OK(launch("add", nullptr, 1, x, {&memory, &one}));
  };
  std::thread other(launchAll);
  launchAll();
  other.join();
  EXPECT_OK(cuCtxSynchronize());
  auto result = read(memory, kShapes);
  for (unsigned i = 0; i < kShapes; ++i) ASSERT_EQ(result[i], 4 * (kShapes - i)) << i;
}

TEST_F(LaunchTest, ParametersMayBeABuffer) {
  CUdeviceptr memory = words({5, 6});
  struct {
    CUdeviceptr p;
    unsigned n;
  } buffer{memory, 7};
  std::size_t size = 12;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  auto run = [&](void **params, void **extra) {
    return cuLaunchKernel(function("add"), 1, 1, 1, 2, 1, 1, 0, nullptr, params, extra);
  };
  EXPECT_OK(run(nullptr, extra));
  EXPECT_EQ(read(memory, 2), (std::vector<std::uint32_t>{12, 13}));
  void *params[] = {&buffer.p, &buffer.n};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, run(params, extra));
  size = 13;
  EXPECT_CU(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, run(nullptr, extra));
  size = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, run(nullptr, extra));
  void *noSize[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_END};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, run(nullptr, noSize));
  void *badKey[] = {reinterpret_cast<void *>(77), &buffer, CU_LAUNCH_PARAM_END};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, run(nullptr, badKey));
}

TEST_F(LaunchTest, RefusesBadShapes) {
  EXPECT_OK(shape("none", {1, 1, 1}, {1, 1, 1}));
  EXPECT_OK(shape("none", {1, 1, 1}, {1024, 1, 1}));
  for (auto grid :
       {std::array<unsigned, 3>{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 65536, 1}, {1, 1, 65536}, {0x80000000, 1, 1}})
    EXPECT_CU(CUDA_ERROR_INVALID_VALUE, shape("none", grid, {1, 1, 1}));
  for (auto block : {std::array<unsigned, 3>{0, 1, 1}, {1025, 1, 1}, {1, 1, 65}, {32, 33, 1}, {1, 1025, 1}})
    EXPECT_CU(CUDA_ERROR_INVALID_VALUE, shape("none", {1, 1, 1}, block));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, shape("only64", {1, 1, 1}, {32, 1, 1}));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, shape("only64", {1, 1, 1}, {32, 2, 1}));
  EXPECT_OK(shape("only64", {1, 1, 1}, {64, 1, 1}));
  CUdeviceptr p = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, launch("most64", nullptr, 1, 65, {&p}));
  EXPECT_OK(launch("most64", nullptr, 1, 64, {&p}));
}

TEST_F(LaunchTest, DynamicSharedMemoryNeedsOptIn) {
  CUfunction f = function("none");
  EXPECT_OK(shape("none", {1, 1, 1}, {1, 1, 1}, 49152));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, shape("none", {1, 1, 1}, {1, 1, 1}, 49153));
  EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  EXPECT_OK(shape("none", {1, 1, 1}, {1, 1, 1}, 232448));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, shape("none", {1, 1, 1}, {1, 1, 1}, 232449));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
  EXPECT_OK(shape("shared40000", {1, 1, 1}, {1, 1, 1}, 9152));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, shape("shared40000", {1, 1, 1}, {1, 1, 1}, 9153));
  CUfunction s = function("shared40000");
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(s, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  EXPECT_OK(cuFuncSetAttribute(s, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 192448));
  int value = 0;
  EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, s));
  EXPECT_EQ(value, 40000);
  EXPECT_OK(cuCtxSynchronize());
}

TEST_F(LaunchTest, MissingParametersAndBadHandles) {
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, launch("add", nullptr, 1, 1, {}));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  int foreign = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
            cuLaunchKernel(reinterpret_cast<CUfunction>(&foreign), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function("none"), 1, 1, 1, 1, 1, 1, 0,
                                                      reinterpret_cast<CUstream>(&foreign), nullptr, nullptr));
  CUfunction f = function("none");
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

TEST_F(LaunchTest, AttributesOfLaunchKernelEx) {
  CUlaunchAttribute attribute{};
  CUlaunchConfig config{8, 1, 1, 32, 1, 1, 0, nullptr, &attribute, 1};
  auto run = [&] { return cuLaunchKernelEx(&config, function("none"), nullptr, nullptr); };
  auto cluster = [&](unsigned x) {
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = x;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    return run();
  };
  EXPECT_OK(cluster(1));
  EXPECT_CU(CUDA_ERROR_INVALID_CLUSTER_SIZE, cluster(3));
  EXPECT_CU(CUDA_ERROR_INVALID_CLUSTER_SIZE, cluster(0));
  config.gridDimX = 16;
  EXPECT_CU(CUDA_ERROR_INVALID_CLUSTER_SIZE, cluster(16));
  attribute = {};
  attribute.id = static_cast<CUlaunchAttributeID>(99);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, run());
  attribute.id = CU_LAUNCH_ATTRIBUTE_IGNORE;
  EXPECT_OK(run());
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  EXPECT_OK(run());
  config.gridDimX = 1000000;
  EXPECT_CU(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, run());
  config.gridDimX = 8;
  attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, run());
  config.attrs = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, run());
  config.numAttrs = 0;
  EXPECT_OK(run());
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(nullptr, function("none"), nullptr, nullptr));
}

TEST_F(LaunchTest, ParameterLayout) {
  const std::size_t expected[][2] = {{0, 1}, {8, 8}, {16, 20}, {36, 2}};
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t offset = 99, size = 99;
    EXPECT_OK(cuFuncGetParamInfo(function("odd"), i, &offset, &size));
    EXPECT_EQ(offset, expected[i][0]);
    EXPECT_EQ(size, expected[i][1]);
  }
  std::size_t offset = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(function("odd"), 4, &offset, nullptr));
  EXPECT_OK(cuFuncGetParamInfo(function("odd"), 0, &offset, nullptr));
}

TEST_F(LaunchTest, Occupancy) {
  int blocks = -1, grid = -1, size = -1;
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("none"), 32, 0));
  EXPECT_EQ(blocks, 32);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("none"), 32, 10000));
  EXPECT_EQ(blocks, 20);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("none"), 1024, 0));
  EXPECT_EQ(blocks, 2);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("none"), 1025, 0));
  EXPECT_EQ(blocks, 0);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("none"), 0, 0));
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &size, function("none"), nullptr, 0, 0));
  EXPECT_EQ(size, 1024);
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &size, function("most64"), nullptr, 0, 0));
  EXPECT_EQ(size, 64);
  std::size_t shared = 0;
  EXPECT_OK(cuOccupancyAvailableDynamicSMemPerBlock(&shared, function("none"), 2, 256));
  EXPECT_EQ(shared, 116736u);
}

}  // namespace
}  // namespace strata::test
