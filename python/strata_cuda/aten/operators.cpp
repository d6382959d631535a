// SPDX-License-Identifier: Apache-2.0
// PyTorch's operators on `cuda` without a GPU. The CPU device shares memory with the host, so a tensor on `cuda` can be
// seen as a CPU tensor without a copy: each ATen operator whose CUDA kernel is machine code for GPUs waits for the
// current stream, runs the operator's CPU kernel on such views, and gives the results on `cuda`.
//
// Built against the installed PyTorch (strata_cuda/aten.py) and loaded into it; `strata_torch_install` does the rest.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/op_registration.h>
#include <ATen/ops/copy_native.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/SmallVector.h>
#include <cuda_runtime_api.h>
#include <torch/library.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fused.h"

namespace {

using c10::IValue;
using torch::jit::Stack;

constexpr c10::DispatchKeySet kCpu(c10::DispatchKey::CPU);

// ---- Memory: what CPU kernels allocate for results is device memory, so that it need not be copied ---------------

thread_local bool resultsOnDevice = false;

class ResultsOnDevice {
public:
  ResultsOnDevice() : before_(std::exchange(resultsOnDevice, true)) {}
  ~ResultsOnDevice() { resultsOnDevice = before_; }

private:
  const bool before_;
};

// Blocks of the CUDA caching allocator that CPU tensors hold. Memory that is freed as raw is looked up here.
class DeviceBlocks {
public:
  static DeviceBlocks &all() {
    static DeviceBlocks *instance = new DeviceBlocks;  // storages may be freed by exit handlers
    return *instance;
  }
  c10::DataPtr allocate(std::size_t bytes) {
    void *block = c10::cuda::CUDACachingAllocator::raw_alloc(bytes);
    std::lock_guard lock(mutex_);
    blocks_.insert(block);
    return {block, block, &release, c10::Device(c10::kCPU)};
  }
  // Whether it was one of these. It is now the caller's.
  bool take(void *block) {
    std::lock_guard lock(mutex_);
    return blocks_.erase(block);
  }
  static void release(void *block) {
    all().take(block);
    c10::cuda::CUDACachingAllocator::raw_delete(block);
  }

private:
  std::mutex mutex_;
  std::unordered_set<void *> blocks_;
};

class CpuAllocator final : public c10::Allocator {
public:
  explicit CpuAllocator(c10::Allocator *plain) : plain_(plain) { plainDeleter = plain->raw_deleter(); }

  c10::DataPtr allocate(std::size_t bytes) override {
    return resultsOnDevice && bytes ? DeviceBlocks::all().allocate(bytes) : plain_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return [](void *memory) {
      if (DeviceBlocks::all().take(memory)) c10::cuda::CUDACachingAllocator::raw_delete(memory);
      else plainDeleter(memory);
    };
  }
  void copy_data(void *to, const void *from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

private:
  static inline c10::DeleterFnPtr plainDeleter = nullptr;
  c10::Allocator *const plain_;
};

// ---- Views --------------------------------------------------------------------------------------------------------

c10::intrusive_ptr<c10::TensorImpl> sameShape(const at::Tensor &tensor, c10::Storage storage, c10::DispatchKey key) {
  auto view = c10::make_intrusive<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), tensor.dtype());
  view->set_storage_offset(tensor.storage_offset());
  view->set_sizes_and_strides(tensor.sizes(), tensor.strides());
  return view;
}

// The tensors of one call as CPU tensors, and its results as tensors on the device.
class Call {
public:
  explicit Call(c10::Device device) : device_(device) {}

  IValue toCpu(const IValue &value) {
    if (value.isTensor()) return view(value.toTensor());
    if (value.isDevice()) return value.toDevice().is_cuda() ? IValue(c10::Device(c10::kCPU)) : value;
    if (value.isTensorList()) {
      c10::List<at::Tensor> tensors;
      for (const at::Tensor &tensor : value.toTensorList()) tensors.push_back(view(tensor));
      return tensors;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> tensors;
      for (const std::optional<at::Tensor> &tensor : value.toOptionalTensorList())
        tensors.push_back(tensor ? std::optional<at::Tensor>(view(*tensor)) : std::nullopt);
      return tensors;
    }
    return value;
  }

  IValue toDevice(const IValue &value) {
    if (value.isTensor()) return original(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> tensors;
      for (const at::Tensor &tensor : value.toTensorList()) tensors.push_back(original(tensor));
      return tensors;
    }
    return value;
  }

  // Operators may give their arguments another shape, or memory of their own, as those with `out` do.
  void handBack() {
    for (auto &[from, cpu] : views_) {
      c10::TensorImpl *to = from.unsafeGetTensorImpl();
      if (cpu.storage().data() != from.storage().data() || cpu.storage().nbytes() != from.storage().nbytes())
        replaceMemory(from.storage(), cpu.storage());
      if (cpu.sizes() != from.sizes() || cpu.strides() != from.strides())
        to->set_sizes_and_strides(cpu.sizes(), cpu.strides());
    }
  }

private:
  at::Tensor view(const at::Tensor &tensor) {
    if (!tensor.defined() || !tensor.is_cuda()) return tensor;
    for (auto &[from, cpu] : views_)
      if (from.is_same(tensor)) return cpu;
    auto impl = sameShape(tensor, storageFor(tensor.storage()), c10::DispatchKey::CPU);
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
    at::Tensor cpu(std::move(impl));
    if (tensor.is_conj()) cpu._set_conj(true);
    if (tensor.is_neg()) cpu._set_neg(true);
    views_.emplace_back(tensor, cpu);
    return cpu;
  }

  // Tensors that share memory must be seen to share it.
  c10::Storage storageFor(const c10::Storage &storage) {
    for (auto &[from, cpu] : storages_)
      if (from == storage.unsafeGetStorageImpl()) return cpu;
    c10::Storage cpu(c10::Storage::use_byte_size_t(), storage.nbytes(),
                     c10::DataPtr(storage.mutable_data(), c10::Device(c10::kCPU)), c10::GetAllocator(c10::kCPU),
                     /*resizable=*/true);
    storages_.emplace_back(storage.unsafeGetStorageImpl(), cpu);
    return cpu;
  }

  at::Tensor original(const at::Tensor &cpu) {
    if (!cpu.defined() || !cpu.is_cpu()) return cpu;
    for (auto &[from, view] : views_)
      if (view.is_same(cpu)) return from;
    at::Tensor tensor(sameShape(cpu, onDevice(cpu.storage()), c10::DispatchKey::CUDA));
    if (cpu.is_conj()) tensor._set_conj(true);
    if (cpu.is_neg()) tensor._set_neg(true);
    return tensor;
  }

  // The same memory as storage of the device: an argument's own, or a result's, which is taken over.
  c10::Storage onDevice(const c10::Storage &storage) {
    for (auto &[from, cpu] : storages_)
      if (cpu.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl())
        return c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(from));
    for (auto &[cpu, device] : results_)
      if (cpu == storage.unsafeGetStorageImpl()) return device;
    c10::Storage device(c10::Storage::use_byte_size_t(), storage.nbytes(), memoryOf(storage),
                        c10::cuda::CUDACachingAllocator::get(), /*resizable=*/true);
    results_.emplace_back(storage.unsafeGetStorageImpl(), device);
    return device;
  }

  // Moves a block of the caching allocator out of the CPU storage; other memory is held by its storage, which lives on.
  c10::DataPtr memoryOf(const c10::Storage &storage) {
    c10::DataPtr &held = storage.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks();
    if (held.get_deleter() == &DeviceBlocks::release) {
      void *block = held.release_context();
      DeviceBlocks::all().take(block);
      return {block, block, c10::cuda::CUDACachingAllocator::get()->raw_deleter(), device_};
    }
    auto *keeper = new c10::Storage(storage);
    return {storage.mutable_data(), keeper, [](void *kept) { delete static_cast<c10::Storage *>(kept); }, device_};
  }

  void replaceMemory(const c10::Storage &storage, const c10::Storage &cpu) {
    c10::StorageImpl *impl = storage.unsafeGetStorageImpl();
    const std::size_t bytes = cpu.nbytes();
    if (cpu.data() != storage.data()) impl->set_data_ptr(memoryOf(cpu));
    impl->set_nbytes(bytes);
  }

  const c10::Device device_;
  c10::SmallVector<std::pair<at::Tensor, at::Tensor>, 8> views_;               // on the device, on the CPU
  c10::SmallVector<std::pair<c10::StorageImpl *, c10::Storage>, 8> storages_;  // of arguments: device, CPU
  c10::SmallVector<std::pair<c10::StorageImpl *, c10::Storage>, 2> results_;   // CPU, device
};

// ---- Random numbers ---------------------------------------------------------------------------------------------

// A CPU generator whose numbers follow from the CUDA generator's seed and offset, which advances: so seeds and saved
// states of `torch.cuda` mean what they say. The numbers are not those of a GPU.
at::Generator cpuGenerator(const at::Generator &cuda) {
  at::Generator source = cuda;
  std::lock_guard lock(source.mutex());
  const std::uint64_t seed = source.current_seed(), offset = source.get_offset();
  source.set_offset(offset + 4);
  return at::make_generator<at::CPUGeneratorImpl>(seed * 0x9e3779b97f4a7c15ull + offset);
}

bool takesGenerator(const c10::FunctionSchema &schema, std::size_t &at) {
  for (std::size_t i = 0; i < schema.arguments().size(); ++i)
    if (schema.arguments()[i].name() == "generator") return at = i, true;
  return false;
}

void replaceGenerator(const c10::FunctionSchema &schema, c10::ArrayRef<IValue> arguments, Stack &stack,
                      c10::Device device) {
  std::size_t at = 0;
  if (!takesGenerator(schema, at)) return;
  const IValue &given = arguments[at];
  const at::Generator cuda = given.isNone() ? at::globalContext().defaultGenerator(device) : given.toGenerator();
  if (cuda.device().is_cuda()) stack[stack.size() - arguments.size() + at] = cpuGenerator(cuda);
}

// ---- Operators --------------------------------------------------------------------------------------------------

c10::Device deviceOf(c10::ArrayRef<IValue> arguments) {
  for (const IValue &value : arguments) {
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().is_cuda()) return value.toTensor().device();
    if (value.isDevice() && value.toDevice().is_cuda() && value.toDevice().has_index()) return value.toDevice();
    if (value.isTensorList())
      for (const at::Tensor &tensor : value.toTensorList())
        if (tensor.defined() && tensor.is_cuda()) return tensor.device();
  }
  return {c10::kCUDA, c10::cuda::current_device()};
}

cudaStream_t currentStream(c10::Device device) { return c10::cuda::getCurrentCUDAStream(device.index()).stream(); }

bool isCaptured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

// What was queued is done; an error of a kernel is thrown here.
void waitFor(cudaStream_t stream) { C10_CUDA_CHECK(cudaStreamSynchronize(stream)); }

bool hasCpuKernel(const c10::OperatorHandle &op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
}

// An operator in a graph: each replay runs it on the tensors of the capture.
class CapturedOperator {
public:
  // `arguments` on the CPU; `results`, on the CPU as well, are where each replay puts what the operator returns.
  CapturedOperator(const c10::OperatorHandle &op, std::vector<IValue> arguments, std::vector<IValue> results)
      : op_(op), arguments_(std::move(arguments)), results_(std::move(results)) {}

  static void replay(void *self) {
    try {
      static_cast<const CapturedOperator *>(self)->run();
    } catch (const std::exception &problem) {  // a host node cannot fail
      std::fprintf(stderr, "[strata] error: %s in a CUDA graph: %s\n",
                   c10::toString(static_cast<const CapturedOperator *>(self)->op_.operator_name()).c_str(),
                   problem.what());
    }
  }

private:
  void run() const {
    Stack stack(arguments_.begin(), arguments_.end());
    op_.redispatchBoxed(kCpu, &stack);
    for (std::size_t i = 0; i < stack.size(); ++i) put(stack[i], results_[i]);
  }

  static void put(const IValue &from, const IValue &to) {
    if (from.isTensorList()) {
      for (std::size_t i = 0; i < from.toTensorList().size(); ++i)
        put(from.toTensorVector()[i], to.toTensorVector()[i]);
    } else if (from.isTensor() && from.toTensor().defined() && from.toTensor().data_ptr() != to.toTensor().data_ptr()) {
      to.toTensor().copy_(from.toTensor());
    }
  }

  const c10::OperatorHandle op_;
  const std::vector<IValue> arguments_, results_;
};

// What the operator writes keeps its contents while it is captured: it works on a copy then.
IValue copyIfWritten(const c10::Argument &argument, const IValue &value) {
  if (!argument.alias_info() || !argument.alias_info()->isWrite()) return value;
  if (value.isTensor() && value.toTensor().defined()) return value.toTensor().clone();
  if (!value.isTensorList()) return value;
  c10::List<at::Tensor> copies;
  for (const at::Tensor &tensor : value.toTensorList()) copies.push_back(tensor.clone());
  return copies;
}

// The results' shapes come from running the operator on what its arguments hold now.
void capture(const c10::OperatorHandle &op, const std::vector<IValue> &arguments, c10::Device device,
             cudaStream_t stream, Stack *stack) {
  const c10::FunctionSchema &schema = op.schema();
  std::size_t generator = 0;
  TORCH_CHECK_NOT_IMPLEMENTED(!takesGenerator(schema, generator), c10::toString(op.operator_name()),
                              ": random numbers are not captured into CUDA graphs");
  Call call(device);
  std::vector<IValue> onCpu;
  for (const IValue &argument : arguments) onCpu.push_back(call.toCpu(argument));
  Stack trial;
  for (std::size_t i = 0; i < onCpu.size(); ++i) trial.push_back(copyIfWritten(schema.arguments()[i], onCpu[i]));
  const Stack given = trial;
  {
    ResultsOnDevice scope;
    op.redispatchBoxed(kCpu, &trial);
  }
  // A result that is an argument (out=, in place) is the argument itself, not the copy.
  for (IValue &result : trial)
    for (std::size_t i = 0; i < given.size(); ++i)
      if (result.isTensor() && given[i].isTensor() && result.toTensor().is_same(given[i].toTensor())) result = onCpu[i];
  stack->resize(stack->size() - arguments.size());
  std::vector<IValue> kept;
  for (const IValue &result : trial) {
    stack->push_back(call.toDevice(result));
    kept.push_back(call.toCpu(stack->back()));
  }
  // Lives as long as the process: a graph may be copied, and nothing says when the last of its copies is gone.
  auto *captured = new CapturedOperator(op, std::move(onCpu), std::move(kept));
  C10_CUDA_CHECK(cudaLaunchHostFunc(stream, &CapturedOperator::replay, captured));
}

void onCpu(const c10::OperatorHandle &op, c10::DispatchKeySet, Stack *stack) {
  const c10::FunctionSchema &schema = op.schema();
  const std::size_t count = schema.arguments().size(), first = stack->size() - count;
  TORCH_CHECK_NOT_IMPLEMENTED(hasCpuKernel(op), c10::toString(op.operator_name()),
                              " has machine code for GPUs only, and no CPU kernel that could stand for it");
  const std::vector<IValue> arguments(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end());
  const c10::Device device = deviceOf(arguments);
  const cudaStream_t stream = currentStream(device);
  if (isCaptured(stream)) return capture(op, arguments, device, stream, stack);
  waitFor(stream);
  Call call(device);
  for (std::size_t i = 0; i < count; ++i) (*stack)[first + i] = call.toCpu(arguments[i]);
  replaceGenerator(schema, arguments, *stack, device);
  {
    ResultsOnDevice scope;
    op.redispatchBoxed(kCpu, stack);
  }
  call.handBack();
  for (std::size_t i = first; i < stack->size(); ++i) (*stack)[i] = call.toDevice((*stack)[i]);
}

// Between devices as on one: with shared memory it is a copy between strides and types.
at::Tensor &copy(at::Tensor &self, const at::Tensor &source, bool nonBlocking) {
  static const c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  if (self.is_same(source)) return self;
  const c10::Device device = self.is_cuda() ? self.device() : source.device();
  const cudaStream_t stream = currentStream(device);
  if (isCaptured(stream)) {
    Stack stack = {self, source, nonBlocking};
    capture(op, {self, source, nonBlocking}, device, stream, &stack);
    return self;
  }
  for (const at::Tensor &tensor : {self, source})
    if (tensor.is_cuda()) waitFor(currentStream(tensor.device()));
  Call call(device);
  at::Tensor to = call.toCpu(self).toTensor();
  at::native::copy_(to, call.toCpu(source).toTensor(), nonBlocking);
  return self;
}

// Those whose CUDA form is host code over the runtime.
const std::set<std::string> kKept = {
    "aten::empty.memory_format",
    "aten::empty_strided",
    "aten::set_",
    "aten::set_.source_Storage",
    "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor",
    "aten::resize_",
    "aten::record_stream",
    "aten::_local_scalar_dense",
    "aten::view",
    "aten::as_strided",
    "aten::_reshape_alias",
    "aten::_efficientzerotensor",
    "aten::unfold",
    "aten::is_set_to",
    "aten::is_pinned",
    "aten::_pin_memory",
    "aten::_lazy_clone",
    "aten::view_as_real",
    "aten::view_as_complex",
};

// Those that choose among forms by the device, or exist for the CPU only: they run there whole.
constexpr const char *kWhole[] = {
    "convolution",
    "convolution_backward",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    "histogram.bin_ct",
    "histogram.bins_tensor",
    "_histogramdd_bin_edges",
    "_histogramdd_from_bin_cts",
    "_histogramdd_from_bin_tensors",
};

struct Overrides {
  torch::Library cuda{torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__, __LINE__};
  torch::Library autograd{torch::Library::IMPL, "aten", c10::DispatchKey::AutogradCUDA, __FILE__, __LINE__};
  int count = 0;

  void runOnCpu(const char *name) {
    cuda.impl(name, torch::CppFunction::makeFromBoxedFunction<&onCpu>());
    ++count;
  }

  Overrides() {
    for (const c10::OperatorName &name :
         c10::Dispatcher::singleton().getRegistrationsForDispatchKey(c10::DispatchKey::CUDA)) {
      const std::string text = c10::toString(name);
      if (text.starts_with("aten::") && !kKept.contains(text)) runOnCpu(text.c_str() + 6);
    }
    for (const char *name : kWhole) runOnCpu(name);
    strata_cuda::addFused(cuda, autograd);
    cuda.impl("copy_", &copy);
  }
};

}  // namespace

// Returns how many operators are replaced, or -1 and a text.
extern "C" __attribute__((visibility("default"))) int strata_torch_install(char *error, std::size_t bytes) try {
  static Overrides *overrides = nullptr;  // for the process: its kernels may be called until the end
  if (overrides) return overrides->count;
  c10::SetAllocator(c10::kCPU, new CpuAllocator(c10::GetAllocator(c10::kCPU)), /*priority=*/100);
  at::globalContext().setUserEnabledCuDNN(false);  // its kernels are machine code, too
  overrides = new Overrides;
  return overrides->count;
} catch (const std::exception &problem) {
  std::strncpy(error, problem.what(), bytes - 1);
  return -1;
}
