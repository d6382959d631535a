// SPDX-License-Identifier: Apache-2.0
// Control flow and the machine.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

void trap(LaneBuilder &b, const Instruction &) { b.intrinsic("trap", {}, {}); }
void nanosleep(LaneBuilder &b, const Instruction &i) { b.intrinsic("nanosleep", {b.operand(i, 0, Type::u32)}, {}); }

constexpr State run = State::executes;
constexpr State flow = State::control;
constexpr auto kBranch = "control-flow-instructions-bra";

constexpr Form kForms[] = {
    {"bra{.uni} label", "", ptx(1, 0), sm(0), pure, flow, nullptr, kBranch},
    {"brx.idx{.uni} a, labels", "a: u32", ptx(6, 0), sm(30), pure, flow, nullptr, "control-flow-instructions-brx-idx"},
    {"call{.uni} call", "call: b64", ptx(1, 0), sm(0), sideEffect, flow, nullptr, "control-flow-instructions-call"},
    {"ret{.uni}", "", ptx(1, 0), sm(0), pure, flow, nullptr, "control-flow-instructions-ret"},
    {"exit", "", ptx(1, 0), sm(0), sideEffect, flow, nullptr, "control-flow-instructions-exit"},
    {"nanosleep.u32 a", "", ptx(6, 3), sm(70), sideEffect, run, nanosleep, "miscellaneous-instructions-nanosleep"},
    {"trap", "", ptx(1, 0), sm(0), sideEffect, run, trap, "miscellaneous-instructions-trap"},
    // Without a debugger a breakpoint ends the launch, as it does on a GPU.
    {"brkpt", "", ptx(1, 0), sm(11), sideEffect, run, trap, "miscellaneous-instructions-brkpt"},
    {"pmevent a", "a: u32 imm", ptx(1, 4), sm(0), sideEffect, run, nothing, "miscellaneous-instructions-pmevent"},
    {"pmevent.mask a", "a: u32 imm", ptx(3, 0), sm(20), sideEffect, run, nothing, "miscellaneous-instructions-pmevent"},
    {"setmaxnreg.action.sync.aligned.u32 a", "action = inc dec; a: u32 imm in 24 256 8", ptx(8, 0), arch(90),
     sideEffect, run, nothing, "miscellaneous-instructions-setmaxnreg"},
    // A grid starts when those before it have finished, so there is nothing to wait for.
    {"griddepcontrol.action", "action = launch_dependents wait", ptx(7, 8), sm(90), sideEffect, run, nothing,
     "parallel-synchronization-and-communication-instructions-griddepcontrol"},
};

}  // namespace

std::span<const Form> controlForms() { return kForms; }

}  // namespace strata::ptx
