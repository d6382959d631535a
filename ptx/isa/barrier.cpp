// SPDX-License-Identifier: Apache-2.0
// Barriers of the block and the cluster, fences.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

// The thread count of a barrier: its operand, or 0 for the whole block.
Value countOf(LaneBuilder &b, const Instruction &i, unsigned index, bool present) {
  return present ? b.operand(i, index, Type::u32) : i32(b, 0);
}
void sync(LaneBuilder &b, const Instruction &i) {
  b.intrinsic("barrier", {b.operand(i, 0, Type::u32), countOf(b, i, 1, i.operands.size() > 1)}, {});
}
void arrive(LaneBuilder &b, const Instruction &i) {
  b.intrinsic("barrier.arrive", {b.operand(i, 0, Type::u32), b.operand(i, 1, Type::u32)}, {});
}
// barrier.red d, a{, b}, {!}c
void reduce(LaneBuilder &b, const Instruction &i) {
  bool counted = i.operands.size() == 4;
  Value id = b.operand(i, 1, Type::u32), count = countOf(b, i, 2, counted);
  Value predicate = b.operand(i, counted ? 3 : 2, Type::pred);
  if (i.has(Mod::popc))
    b.define(i, 0, b.intrinsic("barrier.red.popc", {id, count, predicate}, {ScalarType::i32})[0], Type::u32);
  else
    b.define(i, 0,
             b.intrinsic(i.has(Mod::and_) ? "barrier.red.and" : "barrier.red.or", {id, count, predicate},
                         {ScalarType::i1})[0],
             Type::pred);
}
void warpSync(LaneBuilder &b, const Instruction &i) { b.intrinsic("warpsync", {b.operand(i, 0, Type::b32)}, {}); }

// The cluster barrier orders memory by itself unless .relaxed is written.
void clusterArrive(LaneBuilder &b, const Instruction &i) {
  if (!i.has(Mod::relaxed)) b.fence(Order::release, Scope::cluster);
  b.intrinsic("cluster.arrive", {}, {});
}
void clusterWait(LaneBuilder &b, const Instruction &i) {
  b.intrinsic("cluster.wait", {}, {});
  b.fence(Order::acquire, Scope::cluster);
}

Scope scopeOf(const Instruction &i) {
  if (i.has(Mod::cta)) return Scope::cta;
  if (i.has(Mod::cluster)) return Scope::cluster;
  if (i.has(Mod::gl) || i.has(Mod::gpu)) return Scope::gpu;
  return Scope::sys;
}
void membar(LaneBuilder &b, const Instruction &i) { b.fence(Order::seqCst, scopeOf(i)); }
void fence(LaneBuilder &b, const Instruction &i) {
  Order order = Order::acqRel;
  if (i.has(Mod::sc)) order = Order::seqCst;
  if (i.has(Mod::acquire)) order = Order::acquire;
  if (i.has(Mod::release)) order = Order::release;
  b.fence(order, scopeOf(i));
}
// All proxies are one memory here; what is left is an ordinary fence.
void proxyFence(LaneBuilder &b, const Instruction &) { b.fence(Order::acqRel, Scope::sys); }

constexpr auto kBar = "parallel-synchronization-and-communication-instructions-bar";
constexpr auto kCluster = "parallel-synchronization-and-communication-instructions-barrier-cluster";
constexpr auto kFence = "parallel-synchronization-and-communication-instructions-membar";
constexpr auto kScopes = "scope = cta cluster gpu sys";
constexpr Effects barrier = convergent | sideEffect;
constexpr State run = State::executes;

constexpr Form kForms[] = {
    {"barrier{.cta}.sync{.aligned} a{, b}", "a: u32 in 0 15 1; b: u32", ptx(6, 0), sm(30), barrier, run, sync, kBar},
    {"barrier{.cta}.arrive{.aligned} a, b", "a: u32 in 0 15 1; b: u32", ptx(6, 0), sm(30), barrier, run, arrive, kBar},
    {"barrier{.cta}.red.popc{.aligned}.u32 d, a{, b}, {!}c", "a: u32 in 0 15 1; b: u32; c: pred", ptx(6, 0), sm(30),
     barrier, run, reduce, kBar},
    {"barrier{.cta}.red.op{.aligned}.pred p, a{, b}, {!}c", "op = and or; a: u32 in 0 15 1; b: u32; c: pred", ptx(6, 0),
     sm(30), barrier, run, reduce, kBar},
    {"bar{.cta}.sync a{, b}", "a: u32 in 0 15 1; b: u32", ptx(1, 0), sm(0), barrier, run, sync, kBar},
    {"bar{.cta}.arrive a, b", "a: u32 in 0 15 1; b: u32", ptx(2, 0), sm(20), barrier, run, arrive, kBar},
    {"bar{.cta}.red.popc.u32 d, a{, b}, {!}c", "a: u32 in 0 15 1; b: u32; c: pred", ptx(2, 0), sm(20), barrier, run,
     reduce, kBar},
    {"bar{.cta}.red.op.pred p, a{, b}, {!}c", "op = and or; a: u32 in 0 15 1; b: u32; c: pred", ptx(2, 0), sm(20),
     barrier, run, reduce, kBar},
    {"bar.warp.sync a", "a: b32", ptx(6, 0), sm(30), barrier, run, warpSync,
     "parallel-synchronization-and-communication-instructions-bar-warp-sync"},
    {"barrier.cluster.arrive{.sem}{.aligned}", "sem = release relaxed", ptx(7, 8), sm(90), barrier, run, clusterArrive,
     kCluster},
    {"barrier.cluster.wait{.acquire}{.aligned}", "", ptx(7, 8), sm(90), barrier, run, clusterWait, kCluster},
    {"membar.level", "level = cta gl sys", ptx(1, 4), sm(0), sideEffect, run, membar, kFence},
    {"fence{.sem}.scope", "sem = sc acq_rel; scope = cta cluster gpu sys", ptx(6, 0), sm(70), sideEffect, run, fence,
     kFence},
    {"fence.sem.scope", "sem = acquire release; scope = cta cluster gpu sys", ptx(8, 6), sm(90), sideEffect, run, fence,
     kFence},
    {"fence.mbarrier_init.release.cluster", "", ptx(8, 0), sm(90), sideEffect, run, fence, kFence},
    {"fence.acquire.sync_restrict::shared::cluster.cluster", "", ptx(8, 6), sm(90), sideEffect, run, fence, kFence},
    {"fence.release.sync_restrict::shared::cta.cluster", "", ptx(8, 6), sm(90), sideEffect, run, fence, kFence},
    {"membar.proxy.alias", "", ptx(7, 5), sm(70), sideEffect, run, proxyFence, kFence},
    {"fence.proxy.kind", "kind = alias", ptx(7, 5), sm(70), sideEffect, run, proxyFence, kFence},
    {"fence.proxy.async{.space}", "space = global shared::cta shared::cluster", ptx(8, 0), sm(90), sideEffect, run,
     proxyFence, kFence},
    {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "", ptx(8, 6), sm(90), sideEffect,
     run, proxyFence, kFence},
    {"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "", ptx(8, 6), sm(90), sideEffect, run,
     proxyFence, kFence},
    {"fence.proxy.tensormap::generic.release.scope", kScopes, ptx(8, 3), sm(90), sideEffect, run, proxyFence, kFence},
    {"fence.proxy.tensormap::generic.acquire.scope [a], size",
     "scope = cta cluster gpu sys; size: u32 imm in 128 128 1", ptx(8, 3), sm(90), sideEffect, run, proxyFence, kFence},
};

}  // namespace

std::span<const Form> barrierForms() { return kForms; }

}  // namespace strata::ptx
