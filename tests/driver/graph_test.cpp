// SPDX-License-Identifier: Apache-2.0
// Graphs made node by node: shape, parameters, launches, updates.
#include <algorithm>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

class GraphTest : public Driver {
protected:
  void SetUp() override {
    Driver::SetUp();
    EXPECT_OK(cuGraphCreate(&graph, 0));
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memory = words({1});
    n = 10;
  }
  CUDA_KERNEL_NODE_PARAMS kernel(const char *name) {
    CUDA_KERNEL_NODE_PARAMS p{};
    p.func = function(name);
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = arguments;
    return p;
  }
  CUgraphNode addKernel(const char *name, std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    auto p = kernel(name);
    EXPECT_OK(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &p));
    return node;
  }
  std::uint32_t run(CUgraphExec exec, std::uint32_t start = 1) {
    EXPECT_OK(cuMemsetD32Async(memory, start, 1, stream));
    EXPECT_OK(cuGraphLaunch(exec, stream));
    EXPECT_OK(cuStreamSynchronize(stream));
    return read(memory, 1)[0];
  }
  CUgraphExec instantiate() {
    CUgraphExec exec = nullptr;
    EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
  }
  CUgraph graph = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  unsigned n = 0;
  void *arguments[2] = {&memory, &n};
};

TEST_F(GraphTest, RunsInTheOrderOfItsEdges) {
  CUgraphNode a = addKernel("add"), b = addKernel("scale", {a});
  addKernel("add", {b});
  CUgraphExec exec = instantiate();
  n = 99;  // arguments were copied when the nodes were made
  EXPECT_EQ(run(exec), (1u + 10) * 3 + 1 + 10);
  EXPECT_EQ(run(exec, 2), (2u + 10) * 3 + 1 + 10);
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphExecDestroy(exec));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream));
}

TEST_F(GraphTest, ManyNodesInRandomShapes) {
  auto random = fresh();
  for (int round = 0; round < 10; ++round) {
    CUgraph g = nullptr;
    ASSERT_OK(cuGraphCreate(&g, 0));
    constexpr int kNodes = 60;
    std::vector<CUgraphNode> nodes;
    static std::atomic<int> order[kNodes];
    static std::atomic<int> clock;
    clock = 0;
    std::vector<std::vector<int>> after(kNodes);
    for (int i = 0; i < kNodes; ++i) {
      std::vector<CUgraphNode> dependencies;
      for (int j = 0; j < i; ++j)
        if (random() % 8 == 0) after[i].push_back(j), dependencies.push_back(nodes[j]);
      CUDA_HOST_NODE_PARAMS host{[](void *p) { *static_cast<std::atomic<int> *>(p) = ++clock; }, &order[i]};
      CUgraphNode node = nullptr;
      ASSERT_OK(cuGraphAddHostNode(&node, g, dependencies.data(), dependencies.size(), &host));
      nodes.push_back(node);
    }
    CUgraphExec exec = nullptr;
    ASSERT_OK(cuGraphInstantiate(&exec, g, 0));
    ASSERT_OK(cuGraphLaunch(exec, stream));
    ASSERT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(clock, kNodes);
    for (int i = 0; i < kNodes; ++i)
      for (int j : after[i]) EXPECT_LT(order[j], order[i]);
    ASSERT_OK(cuGraphExecDestroy(exec));
    ASSERT_OK(cuGraphDestroy(g));
  }
}

TEST_F(GraphTest, Shape) {
  CUgraphNode a = nullptr, b = nullptr, c = nullptr;
  EXPECT_OK(cuGraphAddEmptyNode(&a, graph, nullptr, 0));
  EXPECT_OK(cuGraphAddEmptyNode(&b, graph, &a, 1));
  EXPECT_OK(cuGraphAddEmptyNode(&c, graph, nullptr, 0));
  EXPECT_OK(cuGraphAddDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &a, &a, nullptr, 1));
  std::size_t count = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 3u);
  CUgraphNode nodes[5];
  count = 5;
  EXPECT_OK(cuGraphGetNodes(graph, nodes, &count));
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(nodes[4], nullptr);
  EXPECT_OK(cuGraphGetRootNodes(graph, nodes, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nodes[0], a);
  CUgraphNode from[3], to[3];
  count = 3;
  EXPECT_OK(cuGraphGetEdges(graph, from, to, nullptr, &count));
  EXPECT_EQ(count, 2u);
  count = 1;
  EXPECT_OK(cuGraphNodeGetDependencies(c, nodes, nullptr, &count));
  EXPECT_EQ(nodes[0], b);
  EXPECT_OK(cuGraphNodeGetDependentNodes(a, nodes, nullptr, &count));
  EXPECT_EQ(nodes[0], b);
  EXPECT_OK(cuGraphRemoveDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_OK(cuGraphAddDependencies(graph, &b, &a, nullptr, 1));
  CUgraphExec exec = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, graph, 0));  // a cycle
  EXPECT_OK(cuGraphDestroyNode(b));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(b));
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
  CUgraphNodeType type{};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetType(a, &type));
}

TEST_F(GraphTest, RefusesBadNodes) {
  CUgraphNode node = nullptr;
  auto p = kernel("add");
  p.blockDimX = 2000;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  p.blockDimX = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  p.blockDimX = 1;
  p.func = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  p = kernel("add");
  p.kernelParams = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  CUDA_MEMSET_NODE_PARAMS m{memory, 0, 1, 3, 1, 1};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&node, graph, nullptr, 0, &m, context));
  m.elementSize = 4;
  EXPECT_OK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &m, context));
  m.width = 1 << 20;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&node, graph, nullptr, 0, &m, context));
  CUDA_HOST_NODE_PARAMS h{nullptr, nullptr};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddHostNode(&node, graph, nullptr, 0, &h));
  CUgraph other = nullptr;
  EXPECT_OK(cuGraphCreate(&other, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&node, other, &node, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(&other, 1));
}

TEST_F(GraphTest, ParametersCanBeReadAndChanged) {
  CUgraphNode a = addKernel("add"), b = addKernel("scale", {a});
  CUDA_KERNEL_NODE_PARAMS p{};
  EXPECT_OK(cuGraphKernelNodeGetParams(a, &p));
  EXPECT_EQ(p.func, function("add"));
  EXPECT_EQ(*static_cast<unsigned *>(p.kernelParams[1]), 10u);
  CUgraphExec before = instantiate();
  n = 20;
  auto changed = kernel("add");
  EXPECT_OK(cuGraphKernelNodeSetParams(a, &changed));
  EXPECT_EQ(run(before), (1u + 10) * 3 + 1);
  EXPECT_EQ(run(instantiate()), (1u + 20) * 3 + 1);
  n = 30;
  changed = kernel("add");
  EXPECT_OK(cuGraphExecKernelNodeSetParams(before, a, &changed));
  EXPECT_EQ(run(before), (1u + 30) * 3 + 1);
  EXPECT_OK(cuGraphNodeSetEnabled(before, b, 0));
  EXPECT_EQ(run(before), 31u);
  unsigned enabled = 9;
  EXPECT_OK(cuGraphNodeGetEnabled(before, b, &enabled));
  EXPECT_EQ(enabled, 0u);
  CUDA_HOST_NODE_PARAMS h{[](void *) {}, nullptr};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphExecHostNodeSetParams(before, a, &h));
}

TEST_F(GraphTest, Update) {
  CUgraphNode a = addKernel("add");
  addKernel("scale", {a});
  CUgraphExec exec = instantiate();
  CUgraph first = graph;
  CUgraphExecUpdateResultInfo info{};
  EXPECT_OK(cuGraphCreate(&graph, 0));
  n = 7;
  CUgraphNode a2 = addKernel("add");
  CUgraphNode b2 = addKernel("add", {a2});
  EXPECT_OK(cuGraphExecUpdate(exec, graph, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_EQ(run(exec), 15u);
  n = 100;
  auto p = kernel("add");
  EXPECT_OK(cuGraphExecKernelNodeSetParams(exec, a, &p));  // nodes of the first graph still name their steps
  EXPECT_EQ(run(exec), 108u);
  addKernel("add", {b2});
  EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_OK(cuGraphCreate(&graph, 0));
  CUgraphNode e1 = nullptr, e2 = nullptr;
  EXPECT_OK(cuGraphAddEmptyNode(&e1, graph, nullptr, 0));
  EXPECT_OK(cuGraphAddEmptyNode(&e2, graph, &e1, 1));
  EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(run(exec), 108u);
  EXPECT_OK(cuGraphDestroy(first));
  EXPECT_EQ(run(exec), 108u);
}

TEST_F(GraphTest, CopiesFillsChildrenAndEvents) {
  CUdeviceptr other = words({0});
  CUgraphNode fill = nullptr, copy = nullptr, child = nullptr, record = nullptr;
  CUDA_MEMSET_NODE_PARAMS m{memory, 0, 5, 4, 1, 1};
  EXPECT_OK(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &m, context));
  CUgraph inner = nullptr, outer = graph;
  EXPECT_OK(cuGraphCreate(&inner, 0));
  graph = inner;
  CUgraphNode x = addKernel("scale");
  addKernel("scale", {x});
  graph = outer;
  EXPECT_OK(cuGraphAddChildGraphNode(&child, graph, &fill, 1, inner));
  EXPECT_OK(cuGraphDestroy(inner));
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.srcDevice = memory;
  c.dstDevice = other;
  c.WidthInBytes = 4;
  c.Height = c.Depth = 1;
  EXPECT_OK(cuGraphAddMemcpyNode(&copy, graph, &child, 1, &c, context));
  CUevent event = nullptr;
  EXPECT_OK(cuEventCreate(&event, 0));
  EXPECT_OK(cuGraphAddEventRecordNode(&record, graph, &copy, 1, event));
  CUgraph clone = nullptr;
  EXPECT_OK(cuGraphClone(&clone, graph));
  CUgraphNode found = nullptr;
  EXPECT_OK(cuGraphNodeFindInClone(&found, copy, clone));
  CUDA_MEMCPY3D back{};
  EXPECT_OK(cuGraphMemcpyNodeGetParams(found, &back));
  EXPECT_EQ(back.dstDevice, other);
  EXPECT_OK(cuGraphDestroy(graph));
  graph = clone;
  CUgraphExec exec = instantiate();
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuEventQuery(event));
  EXPECT_EQ(read(other, 1)[0], (5u * 3 + 1) * 3 + 1);
}

TEST_F(GraphTest, AllocationNodes) {
  CUDA_MEM_ALLOC_NODE_PARAMS p{};
  p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  p.bytesize = 4096;
  CUgraphNode allocate = nullptr, fill = nullptr, free = nullptr;
  EXPECT_OK(cuGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &p));
  ASSERT_NE(p.dptr, 0u);
  CUDA_MEMSET_NODE_PARAMS m{p.dptr, 0, 6, 4, 1024, 1};
  EXPECT_OK(cuGraphAddMemsetNode(&fill, graph, &allocate, 1, &m, context));
  EXPECT_OK(cuGraphAddMemFreeNode(&free, graph, &fill, 1, p.dptr));
  cuuint64_t used = 0;
  EXPECT_OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_GE(used, 4096u);
  CUgraphExec exec = instantiate();
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&free, graph, nullptr, 0, memory));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(GraphTest, AFaultStopsTheGraph) {
  CUgraphNode stop = nullptr;
  auto p = kernel("stop");
  p.kernelParams = nullptr;
  EXPECT_OK(cuGraphAddKernelNode(&stop, graph, nullptr, 0, &p));
  addKernel("add", {stop});
  CUgraphExec exec = instantiate();
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
  if (onCpuDevice()) EXPECT_EQ(*reinterpret_cast<std::uint32_t *>(memory), 1u);
}

}  // namespace
}  // namespace strata::test
