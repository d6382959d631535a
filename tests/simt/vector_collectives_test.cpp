// SPDX-License-Identifier: Apache-2.0
// Collectives in vector mode against their meaning written out lane by lane, for random values, member masks,
// segments and sets of active lanes. in[l]: value, in[32+l]: b, in[64+l]: lane l takes part in the branch,
// in[96]: c, in[97+l]: member mask.
#include <gtest/gtest.h>

#include <bit>
#include <iostream>
#include <random>

#include "simt/exec/cache_key.h"
#include "tests/simt/vector_harness.h"

namespace strata::simt::test {
namespace {

enum Place { value = 0, second = 32, takesPart = 64, clamp = 96, members = 97, inWords = 129 };

struct Lanes {
  std::vector<std::uint32_t> in;
  std::uint32_t active = 0;

  explicit Lanes(std::mt19937 &random) : in(inWords) {
    for (auto &word : in) word = static_cast<std::uint32_t>(random());
    for (int l = 0; l < 32; ++l) {
      if (random() % 2) in[value + l] %= 4;
      in[takesPart + l] = random() % 4 != 0;
      active |= in[takesPart + l] << l;
    }
    if (random() % 2) active = ~0u, std::fill_n(in.begin() + takesPart, 32, 1);
    if (!active) active = 1, in[takesPart] = 1;
    static const std::uint32_t segments[] = {0, 0x10, 0x18, 0x1c, 0x1e};
    in[clamp] = segments[random() % 5] << 8 | (random() % 2 ? 31 : 0);
    std::uint32_t common = random() % 2 ? ~0u : static_cast<std::uint32_t>(random()) | active;
    bool groups = random() % 3 == 0;  // tiles of 8 lanes with masks of their own
    for (int l = 0; l < 32; ++l) in[members + l] = groups ? 0xffu << (l / 8 * 8) : common;
  }
  bool isActive(int l) const { return active >> l & 1; }
  std::uint32_t taking(int l) const { return active & in[members + l]; }
};

// The kernel: out[2*l], out[2*l+1] = result and predicate of `call`, in lanes that take part.
std::string kernel(const std::string &call) {
  auto load = [](const std::string &name, int first, bool perLane) {
    return "  " + name + ".at = getelementptr i32, ptr %in, i64 " + std::to_string(first) + "\n" +
           (perLane ? "  " + name + ".l = getelementptr i32, ptr " + name + ".at, i64 %l\n" : "") + "  " + name +
           " = load i32, ptr " + name + (perLane ? ".l" : ".at") + "\n";
  };
  return "define void @kernel(ptr %warp) \"strata.kernel\" {\nentry:" + std::string(kPrologue) +
         "  %lane = call i32 @strata.lane()\n  %l = zext i32 %lane to i64\n" + load("%v", value, true) +
         load("%b", second, true) + load("%part", takesPart, true) + load("%c", clamp, false) +
         load("%m", members, true) +
         "  %p = trunc i32 %v to i1\n  %yes = icmp ne i32 %part, 0\n  br i1 %yes, label %some, label %done\nsome:\n" +
         call +
         "  %l2 = shl i64 %l, 1\n  %o = getelementptr i32, ptr %out, i64 %l2\n  store i32 %r, ptr %o\n"
         "  %o2 = getelementptr i32, ptr %o, i64 1\n  %q32 = zext i1 %q to i32\n  store i32 %q32, ptr %o2\n"
         "  br label %done\ndone:\n  ret void\n}\n" +
         kDeclarations;
}

std::string pairCall(const std::string &call) {
  return "  %both = call {i32, i1} @strata." + call +
         "\n  %r = extractvalue {i32, i1} %both, 0\n  %q = extractvalue {i32, i1} %both, 1\n";
}
std::string wordCall(const std::string &call) {
  return "  %r = call i32 @strata." + call + "\n  %q = xor i1 false, true\n";
}
std::string bitCall(const std::string &call) {
  return "  %q = call i1 @strata." + call + "\n  %r = zext i1 %q to i32\n";
}

struct Answer {
  std::uint32_t word;
  bool bit;
};
using Meaning = std::function<Answer(const Lanes &, int lane)>;

Answer shuffle(const Lanes &w, int lane, char kind) {
  std::uint32_t b = w.in[second + lane] & 31, c = w.in[clamp] & 31, segment = w.in[clamp] >> 8 & 31;
  auto l = static_cast<std::uint32_t>(lane);
  int top = static_cast<int>((l & segment) | (c & ~segment & 31)), bottom = static_cast<int>(l & segment);
  int from = 0;
  bool inside = false;
  if (kind == 'u') from = lane - static_cast<int>(b), inside = from >= top;
  if (kind == 'd') from = lane + static_cast<int>(b), inside = from <= top;
  if (kind == 'x') from = static_cast<int>(l ^ b), inside = from <= top;
  if (kind == 'i') from = bottom | static_cast<int>(b & ~segment & 31), inside = from <= top;
  bool there = inside && (w.taking(lane) >> from & 1);
  return {w.in[value + (there ? from : lane)], inside};
}

std::uint32_t voting(const Lanes &w, int lane) {
  std::uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) bits |= (w.in[value + l] & 1) << l;
  return bits & w.taking(lane);
}

Answer reduce(const Lanes &w, int lane, char kind) {
  bool first = true;
  std::uint32_t result = 0;
  for (int l = 0; l < 32; ++l) {
    if (!(w.taking(lane) >> l & 1)) continue;
    std::uint32_t v = w.in[value + l];
    if (kind == '+') result += v;
    if (kind == 'u') result = first ? v : std::min(result, v);
    if (kind == 's') result = first || static_cast<std::int32_t>(v) > static_cast<std::int32_t>(result) ? v : result;
    first = false;
  }
  return {result, true};
}

std::uint32_t sameValue(const Lanes &w, int lane) {
  std::uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) bits |= static_cast<std::uint32_t>(w.in[value + l] == w.in[value + lane]) << l;
  return bits & w.taking(lane);
}

struct Case {
  const char *name;
  std::string call;
  Meaning meaning;
};

const std::vector<Case> &cases() {
  auto shuffles = [](char kind) { return [kind](const Lanes &w, int l) { return shuffle(w, l, kind); }; };
  auto reductions = [](char kind) { return [kind](const Lanes &w, int l) { return reduce(w, l, kind); }; };
  static const std::vector<Case> all = {
      {"shflIdx", pairCall("shfl.idx(i32 %m, i32 %v, i32 %b, i32 %c)"), shuffles('i')},
      {"shflUp", pairCall("shfl.up(i32 %m, i32 %v, i32 %b, i32 %c)"), shuffles('u')},
      {"shflDown", pairCall("shfl.down(i32 %m, i32 %v, i32 %b, i32 %c)"), shuffles('d')},
      {"shflBfly", pairCall("shfl.bfly(i32 %m, i32 %v, i32 %b, i32 %c)"), shuffles('x')},
      {"voteAll", bitCall("vote.all(i32 %m, i1 %p)"),
       [](const Lanes &w, int l) { return Answer{voting(w, l) == w.taking(l), voting(w, l) == w.taking(l)}; }},
      {"voteAny", bitCall("vote.any(i32 %m, i1 %p)"),
       [](const Lanes &w, int l) { return Answer{voting(w, l) != 0, voting(w, l) != 0}; }},
      {"voteUni", bitCall("vote.uni(i32 %m, i1 %p)"),
       [](const Lanes &w, int l) {
         bool same = voting(w, l) == 0 || voting(w, l) == w.taking(l);
         return Answer{same, same};
       }},
      {"voteBallot", wordCall("vote.ballot(i32 %m, i1 %p)"),
       [](const Lanes &w, int l) { return Answer{voting(w, l), true}; }},
      {"matchAny", wordCall("match.any.i32(i32 %m, i32 %v)"),
       [](const Lanes &w, int l) { return Answer{sameValue(w, l), true}; }},
      {"matchAll", pairCall("match.all.i32(i32 %m, i32 %v)"),
       [](const Lanes &w, int l) {
         std::uint32_t first = w.in[value + std::countr_zero(w.taking(l))];
         bool same = true;
         for (int k = 0; k < 32; ++k) same = same && (!(w.taking(l) >> k & 1) || w.in[value + k] == first);
         return Answer{same ? w.taking(l) : 0, same};
       }},
      {"reduxAdd", wordCall("redux.add(i32 %m, i32 %v)"), reductions('+')},
      {"reduxUmin", wordCall("redux.umin(i32 %m, i32 %v)"), reductions('u')},
      {"reduxSmax", wordCall("redux.smax(i32 %m, i32 %v)"), reductions('s')},
      {"elect", pairCall("elect(i32 %m)"),
       [](const Lanes &w, int l) {
         auto leader = static_cast<std::uint32_t>(std::countr_zero(w.taking(l)));
         return Answer{leader, leader == static_cast<std::uint32_t>(l)};
       }},
      {"activemask", wordCall("activemask()"), [](const Lanes &w, int) { return Answer{w.active, true}; }},
  };
  return all;
}

class VectorCollectives : public ::testing::TestWithParam<Simd> {};

TEST_P(VectorCollectives, haveTheirMeaning) {
  Result<Simd> host = hostSimd();
  if (!host || GetParam() > *host) GTEST_SKIP() << "this CPU lacks the instructions";
  auto seed = std::random_device()();
  std::cout << "seed " << seed << std::endl;
  std::mt19937 random(seed);
  for (const Case &test : cases())
    for (int round = 0; round < 2; ++round) {
      Lanes lanes(random);
      struct Setup setup;
      setup.simd = GetParam();
      setup.multipleOf32 = true;
      setup.alsoLanes = false;
      setup.in = lanes.in;
      setup.outWords = 64;
      Outcome outcome = runBoth(kernel(test.call), setup);
      ASSERT_EQ(outcome.error, "") << test.name;
      for (int l = 0; l < 32; ++l) {
        if (!lanes.isActive(l)) continue;
        Answer want = test.meaning(lanes, l);
        ASSERT_EQ(outcome.vector[2 * l], want.word) << test.name << " lane " << l << " active " << lanes.active
                                                    << " members " << lanes.in[members + l] << " c " << lanes.in[clamp];
        ASSERT_EQ(outcome.vector[2 * l + 1], std::uint32_t{want.bit}) << test.name << " lane " << l;
      }
    }
}

// A misaligned lane ends the launch with the lanes at fault.
TEST(VectorFaults, misalignedLanesAreNamed) {
  std::string program = "define void @kernel(ptr %warp) \"strata.kernel\" {\nentry:" + std::string(kPrologue) +
                        "  %lane = call i32 @strata.lane()\n  %odd = and i32 %lane, 2\n  %o = zext i32 %odd to i64\n"
                        "  %base = ptrtoint ptr %in to i64\n  %a = add i64 %base, %o\n"
                        "  call void @strata.check.aligned(i64 %a, i32 4)\n  ret void\n}\n" +
                        kDeclarations;
  struct Setup setup;
  setup.multipleOf32 = true;
  setup.alsoLanes = false;
  setup.in = {1, 2, 3, 4};
  setup.simd = *hostSimd();
  Outcome outcome = runBoth(program, setup);
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.faults,
            std::to_string(static_cast<int>(FaultKind::misalignedAddress)) + ":" + std::to_string(0xccccccccu) + " ");
}

// Recursive functions with lanes that leave at different depths, and lanes that exit inside.
TEST(VectorCalls, recursionAndExit) {
  std::string program = R"(
define internal i32 @fact(ptr %warp, i32 %n) "strata.function"="fact" noinline {
entry:
  %big = icmp sgt i32 %n, 1
  br i1 %big, label %more, label %one
one:
  ret i32 1
more:
  %less = sub i32 %n, 1
  %rest = call i32 @fact(ptr %warp, i32 %less)
  %r = mul i32 %n, %rest
  ret i32 %r
}
define internal void @leave(ptr %warp, i32 %n) "strata.function"="leave" noinline {
entry:
  %out = icmp eq i32 %n, 5
  br i1 %out, label %gone, label %stay
gone:
  call void @strata.exit()
  unreachable
stay:
  ret void
}
define void @kernel(ptr %warp) "strata.kernel" {
entry:)" + std::string(kPrologue) +
                        R"(
  %lane = call i32 @strata.lane()
  %n0 = and i32 %lane, 7
  %f = call i32 @fact(ptr %warp, i32 %n0)
  call void @leave(ptr %warp, i32 %n0)
  %l = zext i32 %lane to i64
  %o = getelementptr i32, ptr %out, i64 %l
  store i32 %f, ptr %o
  ret void
}
)" + kDeclarations;
  struct Setup setup;
  setup.multipleOf32 = true;
  setup.alsoLanes = false;
  setup.outWords = 32;
  setup.simd = *hostSimd();
  Outcome outcome = runBoth(program, setup);
  ASSERT_EQ(outcome.error, "");
  static const std::uint32_t factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(outcome.vector[l], l % 8 == 5 ? 0xdeadbeef : factorials[l % 8]) << l;
}

std::string targetName(const ::testing::TestParamInfo<Simd> &info) {
  static const char *const names[] = {"portable", "avx2", "avx512"};
  return names[static_cast<unsigned>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Targets, VectorCollectives, ::testing::Values(Simd::avx512, Simd::avx2, Simd::portable),
                         targetName);

}  // namespace
}  // namespace strata::simt::test
