// SPDX-License-Identifier: Apache-2.0
// Each row of the runtime's api.def on the CPU device with handles that are none: see tests/bad_arguments.h.
#include "tests/bad_arguments.h"

#include <dlfcn.h>

#include <map>
#include <string_view>
#include <typeindex>
#include <vector>

#include "toolkit/include/cuda_runtime_api.h"

using namespace strata::test;

// Between two host pointers a copy is the program's own business, as memcpy is; by default the addresses are looked at.
template <>
inline constexpr cudaMemcpyKind strata::test::kZero<cudaMemcpyKind> = cudaMemcpyDefault;

namespace {

class Objects {
public:
  Objects() {
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
    destroySome();
  }

  template <class Handle>
  Handle bad(Bad kind) {
    void *handle = scratch.data() + 64;
    if (kind == Bad::number) handle = reinterpret_cast<void *>(0x1238);
    if (kind == Bad::otherType) handle = std::is_same_v<Handle, cudaEvent_t> ? static_cast<void *>(stream) : event;
    if (auto found = destroyed_.find(typeid(Handle)); kind == Bad::destroyed && found != destroyed_.end())
      handle = found->second;
    return static_cast<Handle>(handle);
  }

  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  alignas(64) std::array<unsigned char, 1 << 16> scratch{};

private:
  template <class Handle>
  void keep(Handle handle) {
    destroyed_[typeid(Handle)] = const_cast<void *>(static_cast<const void *>(handle));
  }
  void destroySome() {
    cudaStream_t oldStream = nullptr;
    cudaEvent_t oldEvent = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamCreate(&oldStream), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&oldEvent), cudaSuccess);
    EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph, nullptr, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    keep(oldStream), keep(oldEvent), keep(graph), keep(node), keep(exec);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(oldStream), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(oldEvent), cudaSuccess);
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    EXPECT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
    keep(pool);
    EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  }

  std::map<std::type_index, void *> destroyed_;
};

struct Row {
  const char *name, *suffix;
  cudaError_t (*call)(Caller<Objects> &caller, void *symbol);
};

#define CALL(parameters) \
  [](Caller<Objects> &caller, void *symbol) { return caller(reinterpret_cast<cudaError_t(*) parameters>(symbol)); }
const Row kRows[] = {
#define RT_TOPIC(title)
#define RT(name, parameters, arguments) {#name, "", CALL(parameters)},
#define RT_STREAM(name, suffix, parameters, arguments) {#name, #suffix, CALL(parameters)},
#define RT_FORWARD(name, parameters, entry, arguments) {#name, "", CALL(parameters)},
#define RT_FORWARD_STREAM(name, suffix, parameters, entry, arguments) {#name, #suffix, CALL(parameters)},
#define RT_PLAIN(result, name, parameters, arguments)
#define RT_ABSENT(name, parameters)
#define RT_ABSENT_STREAM(name, suffix, parameters)
#include "runtime/api.def"
#include "runtime/api_undef.h"
};

// Copies and fills of nothing, and freeing null, do not look at the stream.
bool mayHaveNothingToDo(std::string_view name) {
  return name.starts_with("cudaMemcpy") || name.starts_with("cudaMemset") || name == "cudaFreeAsync";
}

using RuntimeEntries = BadArgumentsTest;
TEST_P(RuntimeEntries, FailWithBadHandles) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Objects objects;
  int withHandles = 0;
  for (int round = 0; round < 8; ++round)
    for (const Row &row : kRows)
      for (const std::string &symbol : {std::string(row.name), row.name + std::string(row.suffix)}) {
        inEntry = row.name;
        alarm(20);
        void *address = dlsym(RTLD_DEFAULT, symbol.c_str());
        ASSERT_NE(address, nullptr) << symbol;
        Caller<Objects> caller(objects, random, GetParam());
        const cudaError_t result = row.call(caller, address);
        EXPECT_STRNE(cudaGetErrorName(result), "unrecognized error code") << symbol << " returned " << result;
        EXPECT_NE(result, cudaErrorUnknown) << symbol;
        if (caller.handles && !mayHaveNothingToDo(row.name))
          EXPECT_NE(result, cudaSuccess) << symbol << " takes a bad handle";
        withHandles += caller.handles != 0;
        EXPECT_EQ(cudaGetLastError(), result) << symbol;
        EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
      }
  EXPECT_GT(withHandles, 8 * 100);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaGetLastError();
}

INSTANTIATE_TEST_SUITE_P(BadArguments, RuntimeEntries, ::testing::ValuesIn(kBad), kindName);

}  // namespace
