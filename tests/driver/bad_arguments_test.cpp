// SPDX-License-Identifier: Apache-2.0
// Each row of api.def with handles that are none: addresses of something else, numbers, live handles of another
// type, handles of objects that were destroyed; next to absurd sizes, numbers and empty structs. The process lives,
// an entry that is given such a handle fails, and with an error of CUDA's that is not our own internal one.
#include "tests/bad_arguments.h"

#include <map>
#include <typeindex>
#include <vector>

#include "driver/cuda_types.h"
#include "tests/driver/ptx.h"

#define CU(symbol, parameters, arguments, gate, base, since, page) extern "C" CUresult symbol parameters;
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page) extern "C" CUresult symbol parameters;
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page) extern "C" CUresult symbol parameters;
#define CU_ABSENT(symbol, parameters, base, since, page)
#include "driver/api.def"
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT

using namespace strata::test;

namespace {

// What all calls share: a context, an event and a stream that live, one destroyed object of each type.
class Objects {
public:
  Objects() {
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    destroySome();
  }
  ~Objects() { EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS); }

  template <class Handle>
  Handle bad(Bad kind) {
    void *handle = scratch.data() + 64;
    if (kind == Bad::number) handle = reinterpret_cast<void *>(0x1238);
    if (kind == Bad::otherType) handle = std::is_same_v<Handle, CUevent> ? static_cast<void *>(stream) : event;
    if (auto found = destroyed_.find(typeid(Handle)); kind == Bad::destroyed && found != destroyed_.end())
      handle = found->second;
    return static_cast<Handle>(handle);
  }

  void useContext() {
    CUcontext now = nullptr;
    if (cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context) return;
    if (now) cuCtxDestroy_v2(now);  // made by the call
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }

  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  alignas(64) std::array<unsigned char, 1 << 16> scratch{};

private:
  template <class Handle>
  void keep(Handle handle) {
    destroyed_[typeid(Handle)] = handle;
  }
  void destroySome() {
    CUstream oldStream = nullptr;
    CUevent oldEvent = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuStreamCreate(&oldStream, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuEventCreate(&oldEvent, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleLoadData(&module, strata::test::kPtx), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "add"), CUDA_SUCCESS);
    keep(oldStream), keep(oldEvent), keep(module), keep(function);
    EXPECT_EQ(cuStreamDestroy_v2(oldStream), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy_v2(oldEvent), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    EXPECT_EQ(cuLibraryLoadData(&library, strata::test::kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "add"), CUDA_SUCCESS);
    keep(library), keep(kernel);
    EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    keep(graph), keep(node), keep(exec);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    CUcontext other = nullptr;
    EXPECT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
    keep(other);
    EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
    CUmemoryPool pool = nullptr;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
    keep(pool);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
    CUlinkState link = nullptr;
    EXPECT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), CUDA_SUCCESS);
    keep(link);
    EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }

  std::map<std::type_index, void *> destroyed_;
};

struct Row {
  const char *symbol;
  CUresult (*call)(Caller<Objects> &caller);
};

const std::vector<Row> &rows() {
#define ROW(symbol) {#symbol, [](Caller<Objects> &caller) { return caller(&symbol); }},
#define CU(symbol, parameters, arguments, gate, base, since, page) ROW(symbol)
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page) ROW(symbol)
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page) ROW(symbol)
#define CU_ABSENT(symbol, parameters, base, since, page)
  static const std::vector<Row> all = {
#include "driver/api.def"
  };
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT
  return all;
}

using DriverEntries = BadArgumentsTest;
TEST_P(DriverEntries, FailWithBadHandles) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Objects objects;
  int withHandles = 0;
  for (int round = 0; round < 8; ++round)
    for (const Row &row : rows()) {
      inEntry = row.symbol;
      alarm(20);
      Caller<Objects> caller(objects, random, GetParam());
      const CUresult result = row.call(caller);
      const char *name = "(no such result)";
      EXPECT_EQ(cuGetErrorName(result, &name), CUDA_SUCCESS) << row.symbol << " returned " << result;
      EXPECT_NE(result, CUDA_ERROR_UNKNOWN) << row.symbol;
      if (caller.handles) EXPECT_NE(result, CUDA_SUCCESS) << row.symbol << " takes a bad handle";
      withHandles += caller.handles != 0;
      objects.useContext();
    }
  EXPECT_GT(withHandles, 8 * 150);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(BadArguments, DriverEntries, ::testing::ValuesIn(kBad), kindName);

}  // namespace
