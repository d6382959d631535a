// SPDX-License-Identifier: Apache-2.0
// Random lane IR, lane by lane against vectorised: structured programs (nested loops with breaks and continues,
// early returns, switches) and arbitrary branches between blocks, irreducible ones included. The seed is
// printed; STRATA_TEST_SEED repeats a run, STRATA_TEST_PROGRAMS sets the number of programs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

#include "simt/exec/cache_key.h"
#include "tests/simt/vector_harness.h"

namespace strata::simt::test {
namespace {

constexpr int kVariables = 6, kOutPerThread = 8, kInWords = 64;

// Variables are stack slots %v0…; SSA construction is left to LLVM.
class Generator {
public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string program() {
    start();
    if (pick(3) == 0) gotos();
    else statements(3);
    finish();
    return "define void @kernel(ptr %warp) \"strata.kernel\" {\nentry:" + std::string(kPrologue) + allocas_ + text_ +
           "}\n" + kDeclarations;
  }

private:
  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  std::string fresh() { return "%t" + std::to_string(next_++); }
  std::string label() { return "b" + std::to_string(next_++); }
  void line(const std::string &text) { text_ += "  " + text + "\n"; }
  void begin(const std::string &block) { text_ += block + ":\n"; }
  void jump(const std::string &to) { line("br label %" + to); }

  std::string slot() { return "%v" + std::to_string(pick(kVariables)); }
  std::string make(const std::string &operation) {
    std::string name = fresh();
    line(name + " = " + operation);
    return name;
  }
  std::string variable() { return make("load i32, ptr " + slot()); }

  std::string value(int depth = 2) {
    switch (depth > 0 ? pick(20) : pick(3)) {
      case 0: return std::to_string(static_cast<int>(pick(20)) - 5);
      case 1: return variable();
      case 2: return uniform();
      case 3: return make("add i32 " + value(depth - 1) + ", " + value(depth - 1));
      case 4: return make("sub i32 " + value(depth - 1) + ", " + value(depth - 1));
      case 5: return make("mul i32 " + value(depth - 1) + ", " + std::to_string(pick(9)));
      case 6: return make("xor i32 " + value(depth - 1) + ", " + value(depth - 1));
      case 7: return make("and i32 " + value(depth - 1) + ", " + std::to_string(pick(64)));
      case 8: return make("lshr i32 " + value(depth - 1) + ", " + std::to_string(pick(6)));
      case 9: return make("shl i32 " + value(depth - 1) + ", " + std::to_string(pick(4)));
      case 10: return make("udiv i32 " + value(depth - 1) + ", " + make("or i32 " + value(depth - 1) + ", 1"));
      case 11:
        return make("select i1 " + condition(depth - 1) + ", i32 " + value(depth - 1) + ", i32 " + value(depth - 1));
      case 12: return loadIn(depth);
      case 13: return loadLocal(depth);
      case 14: return make("add i32 %tx, " + std::to_string(pick(40)));
      case 15: return wide(depth);
      case 16: return floating(depth);
      case 17: return loadByte(depth);
      case 18: return loadLaneVector(depth);
      default: return narrow(depth);
    }
  }

  std::string uniform() {
    switch (pick(3)) {
      case 0: return "%n";
      case 1: return make("and i32 %n, " + std::to_string(pick(16)));
      default:
        return make("load i32, ptr " + make("getelementptr i32, ptr %in, i64 " + std::to_string(pick(kInWords))));
    }
  }

  std::string narrow(int depth) {
    std::string small = make("trunc i32 " + value(depth - 1) + " to " + (pick(2) ? "i8" : "i16"));
    std::string type = text_[text_.size() - 2] == '8' ? "i8" : "i16";
    return make(std::string(pick(2) ? "sext " : "zext ") + type + " " + small + " to i32");
  }

  std::string loadIn(int depth) {
    std::string index = make("and i32 " + value(depth - 1) + ", " + std::to_string(kInWords - 1));
    std::string wide = make(std::string(pick(2) ? "zext" : "sext") + " i32 " + index + " to i64");
    return make("load i32, ptr " + make("getelementptr i32, ptr %in, i64 " + wide));
  }

  std::string wide(int depth) {
    std::string a = make(std::string(pick(2) ? "sext" : "zext") + " i32 " + value(depth - 1) + " to i64");
    std::string b = make(std::string(pick(2) ? "sext" : "zext") + " i32 " + value(depth - 1) + " to i64");
    std::string c = make(std::string(pick(2) ? "mul" : "sub") + " i64 " + a + ", " + b);
    return make("trunc i64 " + make("lshr i64 " + c + ", " + std::to_string(pick(40))) + " to i32");
  }

  std::string floating(int depth) {
    std::string a = make("sitofp i32 " + value(depth - 1) + " to float"),
                b = make("sitofp i32 " + value(depth - 1) + " to float");
    std::string c = make(std::string(pick(2) ? "fmul" : "fadd") + " float " + a + ", " + b);
    std::string less = make("fcmp olt float " + c + ", " + a);
    return make("bitcast float " + make("select i1 " + less + ", float " + b + ", float " + c) + " to i32");
  }

  std::string loadByte(int depth) {
    std::string at =
        make("zext i32 " + make("and i32 " + value(depth - 1) + ", " + std::to_string(4 * kInWords - 1)) + " to i64");
    return make("sext i8 " + make("load i8, ptr " + make("getelementptr i8, ptr %in, i64 " + at)) + " to i32");
  }

  std::string loadLaneVector(int depth) {
    std::string index =
        make("and i32 " + (pick(2) ? value(depth - 1) : "%lane") + ", " + std::to_string(kInWords / 4 - 1));
    std::string at = make("getelementptr <4 x i32>, ptr %in, i64 " + make("zext i32 " + index + " to i64"));
    return make("extractelement <4 x i32> " + make("load <4 x i32>, ptr " + at + ", align 4") + ", i32 " +
                std::to_string(pick(4)));
  }

  // Memory of this thread alone, so that the order of lanes does not matter; or a sum over all threads.
  void atomic() {
    if (pick(2)) {
      std::string v = value(1);
      make("atomicrmw add ptr %total, i32 " + v + " monotonic");
      return;
    }
    std::string wide = make("zext i32 " + make("and i32 " + value(1) + ", 7") + " to i64");
    std::string at = make("getelementptr i32, ptr %mine, i64 " + wide), v = value(1);
    std::string old = pick(2) ? make("atomicrmw xchg ptr " + at + ", i32 " + v + " monotonic")
                              : make("extractvalue {i32, i1} " +
                                     make("cmpxchg ptr " + at + ", i32 3, i32 " + v + " monotonic monotonic") + ", 0");
    line("store i32 " + old + ", ptr " + slot());
  }

  std::string loadLocal(int depth) {
    std::string wide = make("zext i32 " + make("and i32 " + value(depth - 1) + ", 7") + " to i64");
    return make("load i32, ptr " + make("getelementptr i32, ptr %local, i64 " + wide));
  }

  std::string condition(int depth = 2) {
    static const char *const compares[] = {"eq", "ne", "slt", "sgt", "ult", "uge"};
    std::string compare = std::string("icmp ") + compares[pick(6)] + " i32 ";
    if (pick(3) == 0) return make(compare + uniform() + ", " + std::to_string(pick(16)));
    return make(compare + value(depth) + ", " + value(depth - 1));
  }

  void assign() {
    switch (pick(9)) {
      case 8: return atomic();
      case 0: {
        std::string wide = make("zext i32 " + make("and i32 " + value(1) + ", 7") + " to i64");
        std::string v = value();
        line("store i32 " + v + ", ptr " + make("getelementptr i32, ptr %local, i64 " + wide));
        return;
      }
      case 1: {
        std::string wide = make("zext i32 " + make("and i32 " + value(1) + ", 7") + " to i64");
        std::string v = value();
        line("store i32 " + v + ", ptr " + make("getelementptr i32, ptr %mine, i64 " + wide));
        return;
      }
      default: {
        std::string v = value();
        line("store i32 " + v + ", ptr " + slot());
      }
    }
  }

  void statements(int depth) {
    unsigned count = 1 + pick(4);
    for (unsigned i = 0; i < count; ++i) statement(depth);
  }

  void statement(int depth) {
    switch (depth > 0 ? pick(10) : 0) {
      case 4:
      case 5: return conditional(depth);
      case 6:
      case 7: return loop(depth);
      case 8: return leave();
      case 9: return choose(depth);
      default: assign();
    }
  }

  void conditional(int depth) {
    std::string then = label(), otherwise = label(), join = label();
    bool both = pick(2);
    line("br i1 " + condition() + ", label %" + then + ", label %" + (both ? otherwise : join));
    begin(then);
    statements(depth - 1);
    jump(join);
    if (both) {
      begin(otherwise);
      statements(depth - 1);
      jump(join);
    }
    begin(join);
  }

  void loop(int depth) {
    std::string head = label(), body = label(), next = label(), out = label();
    std::string counter = "%c" + std::to_string(next_++);
    allocas_ += "  " + counter + " = alloca i32\n";
    std::string bound = make("and i32 " + (pick(2) ? value() : uniform()) + ", 7");
    line("store i32 0, ptr " + counter);
    jump(head);
    begin(head);
    std::string i = make("load i32, ptr " + counter);
    line("br i1 " + make("icmp ult i32 " + i + ", " + bound) + ", label %" + body + ", label %" + out);
    begin(body);
    loops_.push_back({next, out});
    statements(depth - 1);
    loops_.pop_back();
    jump(next);
    begin(next);
    line("store i32 " + make("add i32 " + make("load i32, ptr " + counter) + ", 1") + ", ptr " + counter);
    jump(head);
    begin(out);
  }

  // Break, continue (of any loop around) or return, under a condition.
  void leave() {
    std::string rest = label(), target = "done";
    if (!loops_.empty() && pick(4)) {
      auto &[next, out] = loops_[pick(static_cast<unsigned>(loops_.size()))];
      target = pick(2) ? next : out;
    }
    line("br i1 " + condition() + ", label %" + target + ", label %" + rest);
    begin(rest);
  }

  void choose(int depth) {
    std::string a = label(), b = label(), c = label(), join = label();
    std::string on = make("and i32 " + value() + ", 3");
    line("switch i32 " + on + ", label %" + c + " [ i32 0, label %" + a + "  i32 1, label %" + b + "  i32 3, label %" +
         join + " ]");
    for (const std::string &block : {a, b, c}) {
      begin(block);
      statements(depth - 1);
      jump(block == a && pick(2) ? b : join);  // falls through at times
    }
    begin(join);
  }

  // Blocks that branch to any other, until a counter runs out.
  void gotos() {
    unsigned count = 3 + pick(7);
    std::vector<std::string> blocks;
    for (unsigned i = 0; i < count; ++i) blocks.push_back(label());
    allocas_ += "  %fuel = alloca i32\n";
    line("store i32 " + std::to_string(8 + pick(20)) + ", ptr %fuel");
    line("br i1 " + condition() + ", label %" + blocks[0] + ", label %" + blocks[1]);
    for (const std::string &block : blocks) {
      begin(block);
      unsigned lines = pick(3);
      for (unsigned i = 0; i < lines; ++i) assign();
      std::string fuel = make("sub i32 " + make("load i32, ptr %fuel") + ", 1");
      line("store i32 " + fuel + ", ptr %fuel");
      std::string go = label();
      line("br i1 " + make("icmp eq i32 " + fuel + ", 0") + ", label %done, label %" + go);
      begin(go);
      auto any = [&] { return blocks[pick(count)]; };
      if (pick(5) == 0)
        line("switch i32 " + make("and i32 " + value() + ", 3") + ", label %" + any() + " [ i32 0, label %" + any() +
             "  i32 1, label %" + any() + " ]");
      else line("br i1 " + condition() + ", label %" + any() + ", label %" + any());
    }
    begin(label());
  }

  void start() {
    allocas_ += "  %local = alloca [8 x i32]\n";
    for (int i = 0; i < kVariables; ++i) allocas_ += "  %v" + std::to_string(i) + " = alloca i32\n";
    line("%lane = call i32 @strata.lane()");
    line("%tx = call i32 @strata.tid.x()");
    line("%ty = call i32 @strata.tid.y()");
    line("%bx.at = getelementptr i8, ptr %launch, i64 36");
    line("%bx = load i32, ptr %bx.at, !invariant.load !0");
    line("%row = mul i32 %ty, %bx");
    line("%thread = add i32 %row, %tx");
    line("%first = mul i32 %thread, " + std::to_string(kOutPerThread + kVariables));
    line("%first.w = sext i32 %first to i64");
    line("%mine = getelementptr i32, ptr %out, i64 %first.w");
    line("%by.at = getelementptr i8, ptr %launch, i64 40");
    line("%by = load i32, ptr %by.at, !invariant.load !0");
    line("%threads = mul i32 %bx, %by");
    line("%words = mul i32 %threads, " + std::to_string(kOutPerThread + kVariables));
    line("%words.w = zext i32 %words to i64");
    line("%total = getelementptr i32, ptr %out, i64 %words.w");
    for (int i = 0; i < 8; ++i) {
      std::string at = make("getelementptr i32, ptr %local, i64 " + std::to_string(i));
      line("store i32 " + std::to_string(i * 3) + ", ptr " + at);
    }
    const char *const initial[kVariables] = {"%lane", "%tx", "%n", "7", "%thread", "%ty"};
    for (int i = 0; i < kVariables; ++i) line(std::string("store i32 ") + initial[i] + ", ptr %v" + std::to_string(i));
  }

  void finish() {
    jump("done");
    begin("done");
    for (int i = 0; i < kVariables; ++i) {
      std::string v = make("load i32, ptr %v" + std::to_string(i));
      line("store i32 " + v + ", ptr " +
           make("getelementptr i32, ptr %mine, i64 " + std::to_string(kOutPerThread + i)));
    }
    line("ret void");
  }

  std::mt19937_64 random_;
  std::string text_, allocas_;
  int next_ = 0;
  std::vector<std::pair<std::string, std::string>> loops_;
};

struct Block {
  std::uint32_t dims[3];
  bool exact, rows;
};

Setup setupFor(std::mt19937_64 &random, Simd simd) {
  static const Block blocks[] = {{{32, 1, 1}, false, true},  {{64, 2, 1}, false, true}, {{37, 1, 1}, false, false},
                                 {{16, 4, 1}, true, false},  {{5, 9, 1}, true, false},  {{64, 1, 1}, true, false},
                                 {{12, 3, 1}, false, false}, {{3, 1, 1}, false, false}, {{8, 8, 1}, true, false},
                                 {{16, 3, 1}, true, false},  {{8, 5, 1}, true, false}};
  const Block &block = blocks[random() % std::size(blocks)];
  Setup setup;
  setup.simd = simd;
  std::copy(block.dims, block.dims + 3, setup.blockDim);
  setup.exactShape = block.exact;
  setup.multipleOf32 = block.rows;
  setup.optimizeFirst = random() % 4 != 0;
  for (int i = 0; i < kInWords; ++i)
    setup.in.push_back(random() % 3 ? static_cast<std::uint32_t>(random() % 12) : static_cast<std::uint32_t>(random()));
  setup.outWords = std::size_t{block.dims[0]} * block.dims[1] * (kOutPerThread + kVariables) + 1;
  setup.n = static_cast<std::uint32_t>(random() % 40);
  return setup;
}

std::string describe(const Setup &setup) {
  return "block " + std::to_string(setup.blockDim[0]) + "x" + std::to_string(setup.blockDim[1]) +
         (setup.exactShape ? " exact" : "") + (setup.multipleOf32 ? " rows" : "") +
         (setup.optimizeFirst ? " optimised" : "") + " n " + std::to_string(setup.n);
}

std::string difference(const Outcome &outcome) {
  if (outcome.vector.size() != outcome.lane.size()) return "one of the runs is missing";
  for (std::size_t i = 0; i < outcome.lane.size(); ++i)
    if (outcome.vector[i] != outcome.lane[i])
      return "thread " + std::to_string(i / (kOutPerThread + kVariables)) + " word " +
             std::to_string(i % (kOutPerThread + kVariables)) + ": vector " + std::to_string(outcome.vector[i]) +
             ", lane " + std::to_string(outcome.lane[i]);
  return "";
}

std::uint64_t environmentOr(const char *name, std::uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : fallback;
}

class VectorFuzz : public ::testing::TestWithParam<Simd> {};

TEST_P(VectorFuzz, agreesWithLaneByLane) {
  Result<Simd> host = hostSimd();
  if (!host || GetParam() > *host) GTEST_SKIP() << "this CPU lacks the instructions";
  std::uint64_t seed = environmentOr("STRATA_TEST_SEED", std::random_device()());
  std::uint64_t programs = environmentOr("STRATA_TEST_PROGRAMS", 12);
  std::cout << "STRATA_TEST_SEED=" << seed << "\n";
  for (std::uint64_t i = 0; i < programs; ++i) {
    Generator generator(seed + i);
    std::string program = generator.program();
    std::mt19937_64 random(seed + i);
    auto setup = setupFor(random, GetParam());
    if (const char *dump = std::getenv("STRATA_TEST_DUMP"))
      std::ofstream(dump) << "; seed " << seed + i << ", " << describe(setup) << "\n" << program;
    Outcome outcome = runBoth(program, setup);
    ASSERT_EQ(outcome.error, "") << "seed " << seed + i << "\n" << program;
    if (outcome.laneMode) continue;  // its loops look like waiting for each other
    ASSERT_EQ(outcome.faults, "") << "seed " << seed + i;
    ASSERT_EQ(difference(outcome), "") << "seed " << seed + i << ", " << describe(setup) << "\n" << program;
  }
}

std::string targetName(const ::testing::TestParamInfo<Simd> &info) {
  static const char *const names[] = {"portable", "avx2", "avx512"};
  return names[static_cast<unsigned>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorFuzz, ::testing::Values(Simd::avx512, Simd::avx2, Simd::portable), targetName);

}  // namespace
}  // namespace strata::simt::test
