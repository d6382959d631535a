// SPDX-License-Identifier: Apache-2.0
// Collectives and barriers become the lane-IR intrinsics of simt/lane_ir.md, operands in its order.
#include "tests/ptx/meaning.h"

namespace strata::ptx {
namespace {

std::vector<std::string> callsOf(const std::string &text, Interpreter &lane) {
  lane.run(Program(text));
  return lane.calls;
}
using Calls = std::vector<std::string>;

TEST(Warp, shuffles) {
  Interpreter lane;
  lane.set("%r1", 42);
  lane.answers["shfl.up"] = {7, 1};
  lane.answers["activemask"] = {15};
  EXPECT_EQ(callsOf("shfl.sync.up.b32 %r0|%p0, %r1, 2, 31, 0xff; shfl.sync.idx.b32 %r2, %r1, 3, 4, -1; "
                    "shfl.sync.bfly.b32 _|%p1, %r1, 1, 2, 3; shfl.down.b32 %r3, %r1, 5, 6;",
                    lane),
            (Calls{"shfl.up(255,42,2,31)", "shfl.idx(4294967295,42,3,4)", "shfl.bfly(3,42,1,2)", "activemask()",
                   "shfl.down(15,42,5,6)"}));
  EXPECT_EQ(lane.r(0), 7u);
  EXPECT_TRUE(lane.p(0));
}
TEST(Warp, votesAndMatches) {
  Interpreter lane;
  lane.set("%p1", 1), lane.set("%r1", 9), lane.set("%rd1", 1ull << 40);
  lane.answers["vote.ballot"] = {0xf0};
  lane.answers["match.all.i32"] = {3, 1};
  lane.answers["activemask"] = {5};
  EXPECT_EQ(callsOf("vote.sync.all.pred %p0, %p1, -1; vote.sync.any.pred %p0, !%p1, 7; vote.sync.ballot.b32 %r0, %p1, "
                    "8; vote.uni.pred %p2, %p1; match.any.sync.b32 %r2, %r1, 3; "
                    "match.any.sync.b64 %r2, %rd1, 3; match.all.sync.b32 %r3|%p3, %r1, 6; activemask.b32 %r4;",
                    lane),
            (Calls{"vote.all(4294967295,1)", "vote.any(7,0)", "vote.ballot(8,1)", "activemask()", "vote.uni(5,1)",
                   "match.any.i32(3,9)", "match.any.i64(3,1099511627776)", "match.all.i32(6,9)", "activemask()"}));
  EXPECT_EQ(lane.r(0), 0xf0u);
  EXPECT_EQ(lane.r(3), 3u);
  EXPECT_TRUE(lane.p(3));
  EXPECT_EQ(lane.r(4), 5u);
}
TEST(Warp, reductionsAndElection) {
  Interpreter lane;
  lane.set("%r1", 9);
  lane.answers["elect"] = {2, 1};
  EXPECT_EQ(callsOf("redux.sync.add.s32 %r0, %r1, -1; redux.sync.min.s32 %r0, %r1, 1; redux.sync.max.u32 %r0, %r1, 2; "
                    "redux.sync.xor.b32 %r0, %r1, 4; elect.sync %r2|%p0, 8; elect.sync _|%p1, 8;",
                    lane),
            (Calls{"redux.add(4294967295,9)", "redux.smin(1,9)", "redux.umax(2,9)", "redux.xor(4,9)", "elect(8)",
                   "elect(8)"}));
  EXPECT_EQ(lane.r(2), 2u);
  EXPECT_TRUE(lane.p(1));
}
TEST(Warp, barriers) {
  Interpreter lane;
  lane.set("%p1", 1), lane.set("%r1", 3);
  lane.answers["barrier.red.popc"] = {17};
  EXPECT_EQ(callsOf("bar.sync 0; barrier.sync.aligned %r1, 64; bar.arrive 1, 128; bar.red.popc.u32 %r0, 2, %p1; "
                    "barrier.red.or.pred %p0, 3, 32, !%p1; bar.warp.sync 0xff; nanosleep.u32 20;",
                    lane),
            (Calls{"barrier(0,0)", "barrier(3,64)", "barrier.arrive(1,128)", "barrier.red.popc(2,0,1)",
                   "barrier.red.or(3,32,0)", "warpsync(255)", "nanosleep(20)"}));
  EXPECT_EQ(lane.r(0), 17u);
}
TEST(Warp, clusterBarrierOrdersMemory) {
  Interpreter lane;
  Calls calls = callsOf("barrier.cluster.arrive; barrier.cluster.wait; barrier.cluster.arrive.relaxed;", lane);
  ASSERT_EQ(calls.size(), 5u);
  EXPECT_TRUE(calls[0].starts_with("fence"));
  EXPECT_EQ(calls[1], "cluster.arrive()");
  EXPECT_EQ(calls[2], "cluster.wait()");
  EXPECT_TRUE(calls[3].starts_with("fence"));
  EXPECT_EQ(calls[4], "cluster.arrive()");
}
TEST(Warp, trapsAndHints) {
  Interpreter lane;
  EXPECT_EQ(callsOf("trap; brkpt; pmevent 3; griddepcontrol.wait; setmaxnreg.inc.sync.aligned.u32 232; "
                    "prefetch.global.L2 [buffer];",
                    lane),
            (Calls{"trap()", "trap()"}));
}

}  // namespace
}  // namespace strata::ptx
