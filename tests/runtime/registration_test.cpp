// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/mock.h"

class Registration : public RuntimeTest {
protected:
  // The text of the image that a program with these entries loads on a device of capability 9.0.
  std::string chosen(const std::vector<Image> &images) {
    Program program(images);
    mock().lastImage.clear();
    cudaError_t error = program.launch();
    return error == cudaSuccess ? mock().lastImage : cudaGetErrorName(error);
  }
};

TEST_F(Registration, TakesTheHighestArchitectureNotAboveTheDevice) {
  EXPECT_EQ(chosen({{70, "kernel 70", "", false}, {90, "kernel 90", "", false}, {80, "kernel 80", "", false}}),
            "kernel 90");
  EXPECT_EQ(chosen({{100, "kernel 100", "", false}, {80, "kernel 80", "", false}}), "kernel 80");
  EXPECT_EQ(chosen({{52, "kernel 52", "", false}}), "kernel 52");
}

TEST_F(Registration, ArchitectureSpecificCodeRunsOnItsOwnOnly) {
  std::string specific90 = ".target sm_90a kernel", specific80 = ".target sm_80a kernel",
              plain = ".target sm_90 kernel";
  EXPECT_EQ(chosen({{90, plain, "", false}, {90, specific90, "", false}}), specific90);
  EXPECT_EQ(chosen({{90, specific90, "", false}, {90, plain, "", false}}), specific90);
  EXPECT_EQ(chosen({{80, specific80, "", false}, {70, "kernel 70", "", false}}), "kernel 70");
  EXPECT_EQ(chosen({{80, specific80, "", false}}), "cudaErrorNoKernelImageForDevice");
  EXPECT_EQ(chosen({{90, ".target sm_90f kernel", "", false}}), ".target sm_90f kernel");
}

TEST_F(Registration, NoImageForTheDevice) {
  EXPECT_EQ(chosen({{100, "kernel 100", "", false}}), "cudaErrorNoKernelImageForDevice");
  EXPECT_EQ(chosen({}), "cudaErrorNoKernelImageForDevice");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
}

TEST_F(Registration, RelocatableEntriesAreLinkedOneOfEachName) {
  Program program({{80, "kernel a80 ", "a.o", true},
                   {90, "kernel a90 ", "a.o", true},
                   {100, "variable b100 ", "b.o", true},
                   {80, "variable b80 ", "b.o", true}});
  EXPECT_EQ(program.launch(), cudaSuccess);
  EXPECT_EQ(mock().lastImage, "kernel a90 variable b80 ");
  Calls calls = mock().take();
  calls.erase(calls.begin());
  EXPECT_EQ(calls, (Calls{"cuLinkCreate()", "cuLinkAddData(1, a.o)", "cuLinkAddData(1, b.o)", "cuLinkComplete()",
                          "cuModuleLoadData()", "cuLinkDestroy()", "cuModuleGetFunction(kernel)",
                          "cuLaunchKernel(kernel, 0, 2, 3, 4, 32, 1, 1, 64, 0, 0)"}));
}

TEST_F(Registration, LinkErrorIsTheLaunchs) {
  Program program({{90, "kernel", "a.o", true}});
  mock().failing = "cuLinkComplete";
  mock().failure = CUDA_ERROR_INVALID_PTX;
  EXPECT_EQ(program.launch(), cudaErrorInvalidPtx);
  mock().failing.clear();
  EXPECT_EQ(program.launch(), cudaSuccess);  // not remembered
}

TEST_F(Registration, DamagedFatBinaryIsAnInvalidImage) {
  std::vector<std::uint8_t> bytes = fatBinary({{90, "kernel", "", false}});
  bytes[18] ^= 1;
  struct {
    unsigned magic, version;
    const void *data;
    void *unused;
  } wrapper = {0x466243B1, 1, bytes.data(), nullptr}, badWrapper = {7, 1, bytes.data(), nullptr};
  char stub;
  for (void *each : {static_cast<void *>(&wrapper), static_cast<void *>(&badWrapper), static_cast<void *>(nullptr)}) {
    void **handle = __cudaRegisterFatBinary(each);
    __cudaRegisterFunction(handle, &stub, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    EXPECT_EQ(cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidKernelImage);
    __cudaUnregisterFatBinary(handle);
  }
}

TEST_F(Registration, NothingIsLoadedBeforeItsFirstUse) {
  Program program({{90, "kernel variable", "", false}});
  void *memory;
  EXPECT_EQ(cudaMalloc(&memory, 8), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(mock().modulesLoaded, 0);
  size_t size;
  EXPECT_EQ(cudaGetSymbolSize(&size, program.variable()), cudaSuccess);
  EXPECT_EQ(size, 16u);
  EXPECT_EQ(program.launch(), cudaSuccess);
  EXPECT_EQ(mock().modulesLoaded, 1);  // the kernel and the variable share it
}

TEST_F(Registration, UnregisteringUnloads) {
  int before = mock().modulesAlive;
  {
    Program program({{90, "kernel", "", false}});
    EXPECT_EQ(program.launch(), cudaSuccess);
    EXPECT_EQ(mock().modulesAlive, before + 1);
  }
  EXPECT_EQ(mock().modulesAlive, before);
}

TEST_F(Registration, SymbolsAreCopiedAndChecked) {
  Program program({{90, "kernel variable", "", false}});
  int written[4] = {1, 2, 3, 4}, read[4] = {-1, -1, -1, -1};
  EXPECT_EQ(cudaMemcpyToSymbol(program.variable(), written, 16), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(read, program.variable(), 8, 8), cudaSuccess);
  EXPECT_EQ(read[0], 3);
  EXPECT_EQ(read[1], 4);
  EXPECT_EQ(read[2], -1);
  void *address;
  EXPECT_EQ(cudaGetSymbolAddress(&address, program.variable()), cudaSuccess);
  EXPECT_EQ(static_cast<int *>(address)[1], 2);
  EXPECT_EQ(cudaMemcpyToSymbol(program.variable(), written, 16, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(program.variable(), written, 1, SIZE_MAX), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(program.variable(), written, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(read, program.variable(), 4, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaGetSymbolAddress(&address, program.kernel()), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolAddress(nullptr, program.variable()), cudaErrorInvalidValue);
}

TEST_F(Registration, ManagedVariablesGetTheirAddressFromInitModule) {
  std::vector<std::uint8_t> bytes = fatBinary({{90, "managed", "", false}});
  struct {
    unsigned magic, version;
    const void *data;
    void *unused;
  } wrapper = {0x466243B1, 1, bytes.data(), nullptr};
  void *address = nullptr;
  void **handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterManagedVar(handle, &address, nullptr, "managed", 0, 16, 0, 0);
  EXPECT_EQ(__cudaInitModule(handle), 1);
  ASSERT_NE(address, nullptr);
  int written = 77;
  EXPECT_EQ(cudaMemcpyToSymbol(address, &written, sizeof written, 4), cudaSuccess);
  EXPECT_EQ(static_cast<int *>(address)[1], 77);
  __cudaUnregisterFatBinary(handle);
}

TEST_F(Registration, TextureReferencesAreRefusedAtUse) {
  std::vector<std::uint8_t> bytes = fatBinary({});
  void **handle = __cudaRegisterFatBinary(bytes.data());
  int texture;
  __cudaRegisterTexture(handle, &texture, nullptr, "texture", 2, 0, 0);
  void *address;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &texture), cudaErrorNotSupported);
  __cudaUnregisterFatBinary(handle);
}

// As the stubs of nvcc 13 launch: through a handle.
TEST_F(Registration, StubsLaunchThroughAHandle) {
  Program program({{90, "kernel", "", false}});
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, program.kernel()), cudaSuccess);
  mock().take();
  EXPECT_EQ(__cudaLaunchKernel(kernel, {2, 3, 4}, {32, 1, 1}, nullptr, 64, nullptr), cudaSuccess);
  Calls calls = mock().take();
  EXPECT_EQ(calls.back(), "cuLaunchKernel(kernel, 0, 2, 3, 4, 32, 1, 1, 64, 0, 0)");
  EXPECT_EQ(__cudaLaunchKernel_ptsz(kernel, {2, 3, 4}, {32, 1, 1}, nullptr, 64, nullptr), cudaSuccess);
  EXPECT_NE(mock().take().back(), calls.back());  // the calling thread's stream
}
