// SPDX-License-Identifier: Apache-2.0
// A kernel's fault ends its launch, never the process. The faults that generated code raises itself, and signals
// of a thread whose kernel fiber runs, are recorded in the launch; the fiber is abandoned. After a signal, the
// thread does so when the handler has returned: the handler only points it to escapeFromSignal(). All other
// signals go to whoever handled them before.
#include "simt/exec/faults.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "simt/exec/image.h"
#include "simt/exec/unit.h"
#include "simt/target/machine.h"

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

// Names what is known. `warp` is null if nobody in particular is to blame; `lanes`: 0 if any of the warp.
Fault describe(const UnitRun &unit, FaultKind kind, const Warp *warp, std::uint32_t lanes, std::uint64_t address,
               std::uintptr_t pc, const char *detail) {
  const LaunchRun &launch = *unit.launch;
  const Kernel &kernel = *launch.request.kernel;
  Fault fault;
  fault.kind = kind;
  fault.kernel = kernel.info->name;
  fault.address = address;
  if (pc && kernel.code && kernel.code->contains(pc)) fault.source = kernel.code->sourceLine(pc);
  fault.message = "kernel " + fault.kernel;
  // A signal in a kernel that runs whole blocks: the warp's number may not have been written (jit/sink_warp_state.h).
  const bool blockOnly = warp && !lanes && kernel.entryKind == EntryKind::block;
  if (blockOnly) {
    std::memcpy(fault.block, warp->block->blockIdx, sizeof fault.block);
    fault.message += ", block " + triple(fault.block);
  } else if (warp) {
    const std::uint32_t lane = unit.lanes ? warp->lane : lanes ? static_cast<std::uint32_t>(__builtin_ctz(lanes)) : 0;
    const std::uint32_t linear = warp->index * kWarpSize + lane, *extent = launch.state.blockDim;
    std::memcpy(fault.block, warp->block->blockIdx, sizeof fault.block);
    fault.thread[0] = linear % extent[0];
    fault.thread[1] = linear / extent[0] % extent[1];
    fault.thread[2] = linear / extent[0] / extent[1];
    fault.message += ", block " + triple(fault.block) + (unit.lanes || lanes ? ", thread " : ", warp of thread ") +
                     triple(fault.thread);
  }
  fault.message += std::string(": ") + nameOf(kind);
  if (kind == FaultKind::illegalAddress || kind == FaultKind::misalignedAddress) fault.message += " " + hex(address);
  if (!fault.source.empty()) fault.message += " at " + fault.source;
  if (*detail) fault.message += std::string(": ") + detail;
  return fault;
}

// What a fiber that escapes leaves for the code after it, which has a thread's whole stack and may allocate.
struct Caught {
  FaultKind kind = FaultKind::none;
  std::uint64_t address = 0;
  std::uintptr_t pc = 0;
  std::uint32_t lanes = 0;
  const char *detail = "";
};
[[gnu::tls_model("initial-exec")]] thread_local Caught caught;

void record(UnitRun &unit, Fault fault, bool exact) {
  LaunchRun &launch = *unit.launch;
  std::lock_guard lock(launch.mutex);
  launch.stopped = true;
  if (launch.fault.kind != FaultKind::none) return;
  unit.faultedFirst = true;
  launch.fault = std::move(fault);
  launch.needsReplay = !exact;
}

FaultKind classify(int signal, const siginfo_t &info, const Fiber &fiber) {
  if (signal == SIGILL) return FaultKind::illegalInstruction;
  if (signal == SIGFPE) return FaultKind::internal;  // generated code divides no integer by zero
  return fiber.guards(reinterpret_cast<std::uint64_t>(info.si_addr)) ? FaultKind::stackOverflow
                                                                     : FaultKind::illegalAddress;
}

// Where a kernel that got a signal continues: at the top of its own stack, which it no longer needs.
void escapeFromSignal() {
  UnitRun &unit = *currentUnit();
  unit.escaped = true;
  unit.entered->fiber.abandon();
}

// Whether somebody has sent the signal: no instruction of ours has caused it.
bool isSent(const siginfo_t &info) { return info.si_code <= 0; }

void passOn(int signal, siginfo_t *info, void *context) {
  const struct sigaction &before = previous[signal];
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler == SIG_IGN) return;
  if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
  if (signal == kInterruptSignal) return;
  ::signal(signal, SIG_DFL);
  if (isSent(*info)) raise(signal);  // comes when the handler ends
  // else the instruction runs again; both end the process as it would have ended
}

// Whether a signal from elsewhere may stop the kernel here: only in its own code, since a function that it
// called may be in the middle of something.
bool interruptible(const UnitRun &unit, std::uintptr_t pc) {
  const CodeImage *code = unit.launch->request.kernel->code.get();
  return unit.launch->stopped.load(std::memory_order_relaxed) && code && code->contains(pc);
}

void handler(int signal, siginfo_t *info, void *opaque) {
  UnitRun *unit = currentUnit();
  Member *member = unit ? unit->entered : nullptr;
  if (!member || unit->uninterrupted || (signal != kInterruptSignal && isSent(*info)))
    return passOn(signal, info, opaque);
  auto &context = *static_cast<ucontext_t *>(opaque);
  const std::uintptr_t pc = machine::programCounter(context);
  if (signal == kInterruptSignal) {
    if (!interruptible(*unit, pc)) return passOn(signal, info, opaque);
    caught = {.kind = FaultKind::interrupted};
  } else {
    caught = {.kind = classify(signal, *info, member->fiber),
              .address = reinterpret_cast<std::uint64_t>(info->si_addr),
              .pc = pc};
  }
  machine::redirect(context, member->fiber.stackTop(), escapeFromSignal);
}

}  // namespace

void raiseFault(FaultKind kind, std::uint32_t lanes, std::uint64_t address, std::uintptr_t pc, const char *detail) {
  UnitRun &unit = *currentUnit();
  caught = {kind, address, pc, lanes, detail};
  unit.escaped = true;
  unit.entered->fiber.abandon();
}

void recordFault(UnitRun &unit, FaultKind kind, const Member *member, const char *detail) {
  record(unit, describe(unit, kind, member ? &member->warp : nullptr, member ? 1 : 0, 0, 0, detail), true);
}

void recordCaughtFault(UnitRun &unit, const Member &member) {
  const Caught what = std::exchange(caught, {});
  const bool exact = unit.lanes || what.lanes || what.kind == FaultKind::interrupted;
  record(unit, describe(unit, what.kind, &member.warp, what.lanes, what.address, what.pc, what.detail), exact);
}

void installFaultHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int signal : kSignals) sigaction(signal, &action, &previous[signal]);
    sigaction(kInterruptSignal, &action, &previous[kInterruptSignal]);
  });
}

void prepareThreadForFaults() {
  // A thread that helps may block these.
  sigset_t ours;
  sigemptyset(&ours);
  for (int signal : kSignals) sigaddset(&ours, signal);
  sigaddset(&ours, kInterruptSignal);
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);

  stack_t existing;
  if (sigaltstack(nullptr, &existing) == 0 && !(existing.ss_flags & SS_DISABLE)) return;
  constexpr std::size_t kBytes = 64u << 10;  // a frame with AMX state takes 12 KiB
  struct AlternateStack {
    std::unique_ptr<char[]> memory = std::make_unique<char[]>(kBytes);
    AlternateStack() {
      stack_t stack{memory.get(), 0, kBytes};
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
