// SPDX-License-Identifier: Apache-2.0
// Instructions between the lanes of a warp. The forms without .sync (before sm_70) mean the lanes that
// are active now.
#include <string>

#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

Value activeMask(LaneBuilder &b) { return b.intrinsic("activemask", {}, {ScalarType::i32})[0]; }
// Operand `index` of a .sync form, else the active lanes.
Value maskOf(LaneBuilder &b, const Instruction &i, unsigned index) {
  return i.has(Mod::sync) ? b.operand(i, index, Type::b32) : activeMask(b);
}

void shfl(LaneBuilder &b, const Instruction &i) {
  const char *mode = i.has(Mod::up)     ? "shfl.up"
                     : i.has(Mod::down) ? "shfl.down"
                     : i.has(Mod::bfly) ? "shfl.bfly"
                                        : "shfl.idx";
  Value mask = maskOf(b, i, 4);
  auto r = b.intrinsic(mode, {mask, b.operand(i, 1, Type::b32), b.operand(i, 2, Type::b32), b.operand(i, 3, Type::b32)},
                       {ScalarType::i32, ScalarType::i1});
  defineFirst(b, i, r[0], Type::b32);
  defineSecond(b, i, r[1]);
}

void vote(LaneBuilder &b, const Instruction &i) {
  Value predicate = b.operand(i, 1, Type::pred), mask = maskOf(b, i, 2);
  if (i.has(Mod::ballot)) {
    b.define(i, 0, b.intrinsic("vote.ballot", {mask, predicate}, {ScalarType::i32})[0], Type::b32);
    return;
  }
  const char *mode = i.has(Mod::all) ? "vote.all" : i.has(Mod::any) ? "vote.any" : "vote.uni";
  b.define(i, 0, b.intrinsic(mode, {mask, predicate}, {ScalarType::i1})[0], Type::pred);
}

void matchAny(LaneBuilder &b, const Instruction &i) {
  const char *name = i.type() == Type::b64 ? "match.any.i64" : "match.any.i32";
  b.define(i, 0, b.intrinsic(name, {b.operand(i, 2, Type::b32), b.operand(i, 1, i.type())}, {ScalarType::i32})[0],
           Type::b32);
}
void matchAll(LaneBuilder &b, const Instruction &i) {
  const char *name = i.type() == Type::b64 ? "match.all.i64" : "match.all.i32";
  auto r =
      b.intrinsic(name, {b.operand(i, 2, Type::b32), b.operand(i, 1, i.type())}, {ScalarType::i32, ScalarType::i1});
  defineFirst(b, i, r[0], Type::b32);
  defineSecond(b, i, r[1]);
}

void redux(LaneBuilder &b, const Instruction &i) {
  std::string op = "redux.";
  bool minimum = i.has(Mod::min), maximum = i.has(Mod::max);
  if (minimum || maximum) op += std::string(isSigned(i.type()) ? "s" : "u") + (minimum ? "min" : "max");
  else if (i.has(Mod::add)) op += "add";
  else op += i.has(Mod::and_) ? "and" : i.has(Mod::or_) ? "or" : "xor";
  b.define(i, 0, b.intrinsic(op, {b.operand(i, 2, Type::b32), b.operand(i, 1, i.type())}, {ScalarType::i32})[0],
           i.type());
}

void activemask(LaneBuilder &b, const Instruction &i) { b.define(i, 0, activeMask(b), Type::b32); }

void elect(LaneBuilder &b, const Instruction &i) {
  auto r = b.intrinsic("elect", {b.operand(i, 1, Type::b32)}, {ScalarType::i32, ScalarType::i1});
  defineFirst(b, i, r[0], Type::b32);
  defineSecond(b, i, r[1]);
}

constexpr auto kShfl = "data-movement-and-conversion-instructions-shfl-sync";
constexpr auto kOldShfl = "data-movement-and-conversion-instructions-shfl";
constexpr auto kVote = "parallel-synchronization-and-communication-instructions-vote-sync";
constexpr auto kOldVote = "parallel-synchronization-and-communication-instructions-vote";
constexpr auto kMatch = "parallel-synchronization-and-communication-instructions-match-sync";
constexpr auto kRedux = "parallel-synchronization-and-communication-instructions-redux-sync";
constexpr State run = State::executes;
constexpr Effects warp = convergent | sideEffect;

constexpr Form kForms[] = {
    {"shfl.sync.mode.b32 d{|p}, a, b, c, mask", "mode = up down bfly idx", ptx(6, 0), sm(30), warp, run, shfl, kShfl},
    {"shfl.mode.b32 d{|p}, a, b, c", "mode = up down bfly idx", ptx(3, 0), sm(30), warp, run, shfl, kOldShfl},
    {"vote.sync.mode.pred p, {!}a, mask", "mode = all any uni; a: pred; mask: b32", ptx(6, 0), sm(30), warp, run, vote,
     kVote},
    {"vote.sync.ballot.b32 d, {!}a, mask", "a: pred", ptx(6, 0), sm(30), warp, run, vote, kVote},
    {"vote.mode.pred p, {!}a", "mode = all any uni; a: pred", ptx(1, 2), sm(12), warp, run, vote, kOldVote},
    {"vote.ballot.b32 d, {!}a", "a: pred", ptx(2, 0), sm(20), warp, run, vote, kOldVote},
    {"match.any.sync.type d, a, mask", "type = b32 b64; d: b32; mask: b32", ptx(6, 0), sm(70), warp, run, matchAny,
     kMatch},
    {"match.all.sync.type d{|p}, a, mask", "type = b32 b64; d: b32; mask: b32", ptx(6, 0), sm(70), warp, run, matchAll,
     kMatch},
    {"activemask.b32 d", "", ptx(6, 2), sm(30), warp, run, activemask,
     "parallel-synchronization-and-communication-instructions-activemask"},
    {"redux.sync.op.type d, a, mask", "op = add min max; type = u32 s32; mask: b32", ptx(7, 0), sm(80), warp, run,
     redux, kRedux},
    {"redux.sync.op.b32 d, a, mask", "op = and or xor", ptx(7, 0), sm(80), warp, run, redux, kRedux},
    {"redux.sync.op{.abs}{.NaN}.f32 d, a, mask", "op = min max; mask: b32", ptx(8, 6), arch(100), warp,
     State::parsesOnly, nullptr, kRedux},
    {"elect.sync d|p, mask", "d: b32 sink; mask: b32", ptx(8, 0), sm(90), warp, run, elect,
     "parallel-synchronization-and-communication-instructions-elect-sync"},
};

}  // namespace

std::span<const Form> warpForms() { return kForms; }

}  // namespace strata::ptx
