// SPDX-License-Identifier: Apache-2.0
// A kernel's fault ends its launch, never the process. Signals of a thread that is inside a kernel, and the
// faults that generated code raises itself, are recorded in the launch; then the thread jumps out of the
// kernel to runUnits. All other signals go to whoever handled them before.
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <cstring>
#include <mutex>

#include "simt/exec/image.h"
#include "simt/exec/launch_run.h"

namespace strata::simt {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
constexpr int kInterruptSignal = SIGURG;  // ignored by default, so harmless where nobody is in a kernel
struct sigaction previous[65];

const char *nameOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::none: return "no fault";
    case FaultKind::illegalAddress: return "illegal address";
    case FaultKind::misalignedAddress: return "misaligned address";
    case FaultKind::illegalInstruction: return "illegal instruction";
    case FaultKind::invalidPc: return "invalid function pointer";
    case FaultKind::trap: return "trap";
    case FaultKind::assertion: return "assertion failed";
    case FaultKind::stackOverflow: return "stack overflow";
    case FaultKind::deadlock: return "deadlock";
    case FaultKind::interrupted: return "interrupted";
    case FaultKind::internal: return "internal error";
  }
  return "unknown fault";
}

std::string triple(const std::uint32_t v[3]) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Names what is known; `lanes`: the lanes concerned, 0 if any of the warp.
Fault describe(const UnitRun &unit, FaultKind kind, std::uint32_t warp, std::uint32_t lanes, std::uint64_t address,
               std::uintptr_t pc, const std::string &detail) {
  const LaunchRun &launch = *unit.launch;
  const Kernel &kernel = *launch.request.kernel;
  Fault fault;
  fault.kind = kind;
  fault.kernel = kernel.info->name;
  fault.address = address;
  if (unit.currentBlock) std::memcpy(fault.block, unit.currentBlock->block.blockIdx, sizeof fault.block);
  const std::uint32_t lane = lanes ? static_cast<std::uint32_t>(__builtin_ctz(lanes)) : 0;
  const std::uint32_t linear = warp * kWarpSize + lane, *extent = launch.state.blockDim;
  fault.thread[0] = linear % extent[0];
  fault.thread[1] = linear / extent[0] % extent[1];
  fault.thread[2] = linear / extent[0] / extent[1];
  if (pc && kernel.code && kernel.code->contains(pc)) fault.source = kernel.code->sourceLine(pc);
  fault.message = "kernel " + fault.kernel + ", block " + triple(fault.block) + ", thread " + triple(fault.thread) + ": " + nameOf(kind);
  if (kind == FaultKind::illegalAddress || kind == FaultKind::misalignedAddress) fault.message += " " + hex(address);
  if (!fault.source.empty()) fault.message += " at " + fault.source;
  if (!detail.empty()) fault.message += ": " + detail;
  return fault;
}

// What the signal handler leaves for the code after the jump: a handler must not allocate.
struct Caught {
  FaultKind kind;
  std::uint64_t address;
  std::uintptr_t pc;
};
thread_local Caught caught;

void record(UnitRun &unit, Fault fault, bool exact) {
  LaunchRun &launch = *unit.launch;
  std::lock_guard lock(launch.mutex);
  launch.stopped = true;
  if (launch.fault.kind != FaultKind::none) return;
  launch.fault = std::move(fault);
  launch.needsReplay = !exact;
}

FaultKind classify(int signal, const siginfo_t &info, const ucontext_t &context) {
  if (signal == SIGILL) return FaultKind::illegalInstruction;
  if (signal == SIGFPE) return FaultKind::internal;
  if (signal == SIGBUS) return FaultKind::illegalAddress;
  // An access just below the stack pointer, where a stack's guard page lies.
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const auto stack = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  return address + (64u << 10) > stack && address < stack + (64u << 10) && address != 0 ? FaultKind::stackOverflow : FaultKind::illegalAddress;
}

void passOn(int signal, siginfo_t *info, void *context) {
  const struct sigaction &before = previous[signal];
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler == SIG_IGN) return;
  if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
  if (signal == kInterruptSignal) return;
  ::signal(signal, SIG_DFL);  // the instruction runs again and ends the process as it would have
}

void handler(int signal, siginfo_t *info, void *context) {
  UnitRun *unit = currentUnit();
  if (!unit || !unit->inKernel) return passOn(signal, info, context);
  const auto &machine = *static_cast<const ucontext_t *>(context);
  if (signal == kInterruptSignal) {
    if (!unit->launch->stopped) return passOn(signal, info, context);
    caught = {FaultKind::interrupted, 0, 0};
  } else {
    caught = {classify(signal, *info, machine), reinterpret_cast<std::uint64_t>(info->si_addr),
              static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RIP])};
  }
  unit->inKernel = false;
  siglongjmp(unit->escape, 2);
}

}  // namespace

void raiseFault(FaultKind kind, std::uint32_t warp, std::uint32_t lanes, std::uint64_t address, std::uintptr_t pc,
                const std::string &detail) {
  UnitRun &unit = *currentUnit();
  {
    std::uint32_t mask = lanes;
    if (unit.lanes && unit.current) mask = 1u << unit.current->warp.lane;
    record(unit, describe(unit, kind, warp, mask, address, pc, detail), true);
  }
  unit.inKernel = false;
  siglongjmp(unit.escape, 1);
}

void recordCaughtFault(UnitRun &unit) {
  const Caught what = caught;
  const Member *member = unit.current;
  const std::uint32_t warp = member ? member->warp.index : 0;
  const bool exact = unit.lanes;
  record(unit, describe(unit, what.kind, warp, exact && member ? 1u << member->warp.lane : 0, what.address, what.pc, {}), exact);
}

void installFaultHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (int signal : kSignals) sigaction(signal, &action, &previous[signal]);
    sigaction(kInterruptSignal, &action, &previous[kInterruptSignal]);
  });
}

void prepareThreadForFaults() {
  stack_t existing;
  if (sigaltstack(nullptr, &existing) == 0 && !(existing.ss_flags & SS_DISABLE)) return;
  struct AlternateStack {
    std::unique_ptr<char[]> memory = std::make_unique<char[]>(64 << 10);
    AlternateStack() {
      stack_t stack{memory.get(), 0, 64 << 10};
      sigaltstack(&stack, nullptr);
    }
    ~AlternateStack() {
      stack_t off{nullptr, SS_DISABLE, 0};
      sigaltstack(&off, nullptr);
    }
  };
  static thread_local AlternateStack stack;
}

void interruptThread(unsigned long thread) { pthread_kill(thread, kInterruptSignal); }

}  // namespace strata::simt
