// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/kernel_generator.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/fuzz/called_functions.h"
#include "tests/fuzz/form_generator.h"
#include "tests/fuzz/leaving_generator.h"
#include "tests/fuzz/meeting_generator.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/stride_generator.h"

namespace strata::fuzz {
namespace {

constexpr int kInts = 8, kLongs = 4, kShorts = 4, kFloats = 6, kDoubles = 4, kHalves = 4;
constexpr int kMaxDepth = 4;

class Generator {
public:
  explicit Generator(std::uint64_t seed)
      : random_(seed * 0x2545F4914F6CDD1Dull + 1), walks_(seed >= kFirstWalkingSeed) {}

  GeneratedKernel run() {
    static const std::uint32_t blocks[] = {32, 64, 96, 128, 33, 70, 7};
    std::uint32_t block = block_ = random_.pick(blocks);
    fullWarps_ = block % 32 == 0;
    std::string body;
    body_ = &body;
    prologue();
    int statements = 6 + random_.below(10);
    for (int i = 0; i < statements; ++i) statement(0);
    epilogue();
    kernel_.ptx = header() + functions() + entry(body);
    kernel_.grid = 1 + random_.below(3);
    kernel_.block = block;
    return std::move(kernel_);
  }

private:
  // --- text -------------------------------------------------------------------------------------
  void emit(const std::string &line) { *body_ += "  " + line + "\n"; }
  void mark(const std::string &label) { *body_ += label + ":\n"; }
  void note(const char *construct, int depth = 0) {
    ++kernel_.constructs[construct];
    if (depth) ++kernel_.constructs[std::string(construct) + ", nested"];
  }
  std::string label() { return "$L" + std::to_string(labels_++); }
  std::string predicate() { return "%p" + std::to_string(predicates_++); }
  std::string temporary() { return "%t" + std::to_string(temporaries_++); }

  std::string i32() { return "%i" + std::to_string(random_.below(kInts)); }
  std::string i64() { return "%l" + std::to_string(random_.below(kLongs)); }
  std::string i16() { return "%s" + std::to_string(random_.below(kShorts)); }
  std::string f32() { return "%f" + std::to_string(random_.below(kFloats)); }
  std::string f64() { return "%d" + std::to_string(random_.below(kDoubles)); }
  std::string f16() { return "%h" + std::to_string(random_.below(kHalves)); }

  std::string header() const { return ".version 8.0\n.target sm_80\n.address_size 64\n\n"; }

  // Called from divergent code.
  static std::string functions() { return std::string(kMix) + kDescend; }

  std::string entry(const std::string &body) const {
    auto count = [](int n) { return "<" + std::to_string(n) + ">;\n"; };
    std::string text = ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 counters) {\n";
    text +=
        "  .shared .align 8 .b8 board[1024];\n  .shared .align 4 .b8 tally[64];\n  .local .align 8 .b8 scratch[64];\n";
    text += "  .reg .b32 %i" + count(kInts) + "  .reg .b64 %l" + count(kLongs) + "  .reg .b16 %s" + count(kShorts);
    text += "  .reg .f32 %f" + count(kFloats) + "  .reg .f64 %d" + count(kDoubles) + "  .reg .b16 %h" + count(kHalves);
    text += "  .reg .pred %p" + count(predicates_ + 1) + "  .reg .b32 %t" + count(temporaries_ + 1);
    text +=
        "  .reg .b64 %in, %out, %counters, %a0, %a1;\n  .reg .b32 %thread, %me, %b0, %b1, %b2;\n  .reg .pred %z;\n  "
        ".reg .b16 %c0;\n  .reg .f32 %g0;\n  .reg .f64 %g1;\n";
    return text + body + "}\n";
  }

  // Every register starts from this thread's input words.
  void prologue() {
    emit("ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  ld.param.u64 %counters, [counters];");
    emit(
        "mov.u32 %thread, %tid.x;\n  mov.u32 %b0, %ctaid.x;\n  mov.u32 %b1, %ntid.x;\n  mad.lo.u32 %me, %b0, %b1, "
        "%thread;");
    emit("mul.wide.u32 %a0, %me, " + std::to_string(4 * kInputWords) + ";\n  add.u64 %in, %in, %a0;");
    emit("mul.wide.u32 %a0, %me, " + std::to_string(4 * kOutputWords) + ";\n  add.u64 %out, %out, %a0;");
    for (int i = 0; i < kInts; ++i)
      emit("ld.global.u32 %i" + std::to_string(i) + ", [%in+" + std::to_string(4 * i) + "];");
    for (int i = 0; i < kLongs; ++i)
      emit("ld.global.u64 %l" + std::to_string(i) + ", [%in+" + std::to_string(8 * i) + "];");
    for (int i = 0; i < kShorts; ++i)
      emit("ld.global.u16 %s" + std::to_string(i) + ", [%in+" + std::to_string(2 * i + 32) + "];");
    for (int i = 0; i < kFloats; ++i) emit("cvt.rn.f32.s32 %f" + std::to_string(i) + ", %i" + std::to_string(i) + ";");
    for (int i = 0; i < kDoubles; ++i)
      emit("cvt.rn.f64.s32 %d" + std::to_string(i) + ", %i" + std::to_string(i + 2) + ";");
    for (int i = 0; i < kHalves; ++i) emit("cvt.rn.f16.s16 %h" + std::to_string(i) + ", %s" + std::to_string(i) + ";");
    for (int i = 0; i < 16; ++i)
      emit("st.local.u32 [scratch+" + std::to_string(4 * i) + "], %i" + std::to_string(i % kInts) + ";");
    emit(
        "setp.lt.u32 %z, %thread, 16;\n  shl.b32 %b0, %thread, 2;\n  mov.u32 %b1, tally;\n  add.u32 %b0, %b0, %b1;\n  "
        "@%z st.shared.u32 [%b0], 0;");
    emit("bar.sync 0;");
  }

  void epilogue() {
    int at = 0;
    auto word = [&](const std::string &type, const std::string &value, int bytes) {
      emit("st.global." + type + " [%out+" + std::to_string(at) + "], " + value + ";");
      at += bytes;
    };
    for (int i = 0; i < kLongs; ++i) word("u64", "%l" + std::to_string(i), 8);
    for (int i = 0; i < kDoubles; ++i) {
      std::string d = "%d" + std::to_string(i);
      emit("testp.number.f64 %z, " + d + ";\n  testp.infinite.f64 %p0, " + d +
           ";\n  or.pred %z, %z, %p0;\n  selp.f64 %g1, " + d + ", 0d7FF8000000000000, %z;");
      word("f64", "%g1", 8);
    }
    for (int i = 0; i < kInts; ++i) word("u32", "%i" + std::to_string(i), 4);
    for (int i = 0; i < kFloats; ++i) {
      std::string f = "%f" + std::to_string(i);
      emit("setp.num.f32 %z, " + f + ", " + f + ";\n  selp.f32 %g0, " + f + ", 0f7FC00000, %z;");
      word("f32", "%g0", 4);
    }
    for (int i = 0; i < 2; ++i) word("u16", "%s" + std::to_string(i), 2);
    for (int i = 0; i < kHalves - 2; ++i) {
      std::string h = "%h" + std::to_string(i);
      emit("setp.num.f16 %z, " + h + ", " + h + ";\n  selp.b16 %c0, " + h + ", 32767, %z;");
      word("u16", "%c0", 2);
    }
    emit(
        "bar.sync 0;\n  setp.lt.u32 %z, %thread, 16;\n  @!%z bra $END;\n  shl.b32 %b0, %thread, 2;\n  mov.u32 %b1, "
        "tally;\n  add.u32 %b0, %b0, %b1;");
    emit(
        "ld.shared.u32 %b2, [%b0];\n  cvt.u64.u32 %a0, %thread;\n  shl.b64 %a0, %a0, 2;\n  add.u64 %a0, %counters, "
        "%a0;\n  red.global.add.u32 [%a0+64], %b2;");
    mark("$END");
    emit("ret;");
  }

  // --- statements ---------------------------------------------------------------------------------
  void statement(int depth) {
    if (walks_ && random_.chance(20)) return walk(depth);
    std::uint32_t kind = random_.below(100);
    if (kind < 46 || depth >= kMaxDepth) return assignment();
    if (kind < 58) return branch(depth);
    if (kind < 68) return loop(depth);
    if (kind < 72) return switchOn(depth);
    if (kind < 78) return localMemory();
    if (kind < 83) return atomics();
    if (kind < 88) return call();
    if (kind < 91) return depth == 0 && !returned_ ? sharedExchange() : assignment();
    if (kind < 99) return fullWarps_ && depth == 0 && !returned_ ? collective() : assignment();
    earlyReturn(depth);
  }

  void block(int depth) {
    int statements = 1 + random_.below(4);
    for (int i = 0; i < statements; ++i) statement(depth + 1);
  }

  // A condition on this lane's values, or on uniform ones.
  std::string condition() {
    static const char *compares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    std::string p = predicate(), c = random_.pick(compares);
    switch (random_.below(5)) {
      case 0: emit("setp." + c + ".f32 " + p + ", " + f32() + ", " + f32() + ";"); break;
      case 1: emit("setp." + c + ".s64 " + p + ", " + i64() + ", " + i64() + ";"); break;
      case 2: {
        std::string t = temporary();
        emit("and.b32 " + t + ", " + i32() + ", " + std::to_string(1 + random_.below(7)) + ";");
        emit("setp." + c + ".u32 " + p + ", " + t + ", " + std::to_string(random_.below(4)) + ";");
        break;
      }
      case 3: emit("setp." + c + ".u32 " + p + ", %thread, " + std::to_string(random_.below(64)) + ";"); break;
      default: emit("setp." + c + ".s32 " + p + ", " + i32() + ", " + i32() + ";");
    }
    return p;
  }

  void branch(int depth) {
    note("divergent branch", depth);
    std::string p = condition(), otherwise = label(), end = label();
    emit("@" + std::string(random_.chance(50) ? "!" : "") + p + " bra " + otherwise + ";");
    block(depth);
    if (random_.chance(60)) {
      emit("bra " + end + ";");
      mark(otherwise);
      block(depth);
      mark(end);
    } else {
      mark(otherwise);
    }
  }

  // A counted loop, with a trip count of this lane's own or a common one, with breaks and continues.
  void loop(int depth) {
    note("loop", depth);
    std::string counter = temporary(), p = predicate(), head = label(), next = label(), end = label();
    if (random_.chance(65)) emit("and.b32 " + counter + ", " + i32() + ", 7;");
    else emit("mov.u32 " + counter + ", " + std::to_string(1 + random_.below(5)) + ";");
    mark(head);
    emit("setp.eq.u32 " + p + ", " + counter + ", 0;\n  @" + p + " bra " + end + ";");
    int parts = 1 + random_.below(3);
    for (int i = 0; i < parts; ++i) {
      block(depth + 1);
      if (random_.chance(30)) {
        note("break or continue");
        emit("@" + condition() + " bra " + (random_.chance(50) ? end : next) + ";");
      }
    }
    mark(next);
    emit("sub.u32 " + counter + ", " + counter + ", 1;\n  bra " + head + ";");
    mark(end);
  }

  // As walk(), in steps so long that warps take turns: counted in thousands, since the input is short.
  void longWalk() {
    std::string i = temporary(), word = temporary(), p = predicate(), head = label(), sum = i32(), doubles = f64();
    emit("mov.u32 " + i +
         ", %thread;\n  ld.param.u64 %a0, [in];\n  mul.wide.u32 %a1, %thread, 4;\n  add.u64 %a0, %a0, %a1;");
    mark(head);
    emit("ld.global.u32 " + word + ", [%a0];\n  mad.lo.u32 " + sum + ", " + sum + ", 5, " + word + ";");
    if (random_.chance(40))
      emit("cvt.rn.f64.s32 %g1, " + word + ";\n  add.rn.f64 " + doubles + ", " + doubles + ", %g1;");
    if (random_.chance(30))
      emit("red.global.add.u32 [%counters+" + std::to_string(64 + 4 * random_.below(16)) + "], " + word + ";");
    emit("add.u64 %a0, %a0, 4;\n  add.u32 " + i + ", " + i + ", 1000;");
    emit("setp.lt.s32 " + p + ", " + i + ", " + std::to_string(1000 * random_.below(100) + random_.below(200)) +
         ";\n  @" + p + " bra " + head + ";");
  }

  // The threads walk through the input side by side, as grid-stride loops do; some break off, some leave words on the
  // board.
  void walk(int depth) {
    note("walk", depth);
    if (random_.chance(35)) return longWalk();
    bool stores = depth == 0 && !returned_ && random_.chance(30), isSigned = random_.chance(60);
    std::string i = temporary(), word = temporary(), p = predicate(), head = label(), end = label();
    std::uint32_t most = std::min(stores ? 256u : ~0u, block_ * kInputWords),
                  stride = stores || random_.chance(60) ? block_ : 32 + random_.below(70);
    std::uint32_t bound = stores ? block_ + random_.below(most - block_ + 1) : random_.below(most + 1);
    std::string n = std::to_string(bound), sum = i32(), floats = f32();
    emit("mov.u32 " + i + ", %thread;\n  ld.param.u64 %a0, [in];");
    mark(head);
    emit("setp.ge." + std::string(isSigned ? "s32 " : "u32 ") + p + ", " + i + ", " + n + ";\n  @" + p + " bra " + end +
         ";");
    emit("mul.wide." + std::string(isSigned ? "s32" : "u32") + " %a1, " + i +
         ", 4;\n  add.u64 %a1, %a1, %a0;\n  ld.global.u32 " + word + ", [%a1];");
    emit("mad.lo.u32 " + sum + ", " + sum + ", 3, " + word + ";");
    if (random_.chance(40))
      emit("cvt.rn.f32.s32 %g0, " + word + ";\n  add.rn.f32 " + floats + ", " + floats + ", %g0;");
    if (!stores && random_.chance(30)) {
      std::string low = temporary(), q = predicate();
      emit("and.b32 " + low + ", " + word + ", 31;\n  setp.eq.u32 " + q + ", " + low + ", " +
           std::to_string(random_.below(32)) + ";\n  @" + q + " bra " + end + ";");
    }
    if (stores)
      emit("mov.u32 %b1, board;\n  shl.b32 %b0, " + i + ", 2;\n  add.u32 %b1, %b1, %b0;\n  st.shared.u32 [%b1], " +
           sum + ";");
    emit("add.u32 " + i + ", " + i + ", " + std::to_string(stride) + ";\n  bra " + head + ";");
    mark(end);
    if (stores)
      emit("bar.sync 0;\n  mov.u32 %b1, board;\n  sub.u32 %b0, " + std::to_string(bound - 1) +
           ", %thread;\n  shl.b32 %b0, %b0, 2;\n  add.u32 %b1, %b1, %b0;\n  ld.shared.u32 " + i32() +
           ", [%b1];\n  bar.sync 0;");
  }

  void switchOn(int depth) {
    note("switch", depth);
    std::string index = temporary(), table = "$T" + std::to_string(labels_++), end = label();
    std::vector<std::string> targets = {label(), label(), label(), label()};
    std::string list;
    for (const std::string &t : targets) list += (list.empty() ? "" : ", ") + t;
    emit("and.b32 " + index + ", " + i32() + ", 3;");
    emit(table + ": .branchtargets " + list + ";\n  brx.idx " + index + ", " + table + ";");
    for (const std::string &t : targets) {
      mark(t);
      block(depth + 1);
      if (random_.chance(70)) emit("bra " + end + ";");  // else falls through
    }
    mark(end);
  }

  void localMemory() {
    note("memory");
    std::string t = temporary();
    emit("and.b32 " + t + ", " + i32() + ", 15;\n  shl.b32 " + t + ", " + t +
         ", 2;\n  mov.u64 %a0, scratch;\n  cvt.u64.u32 %a1, " + t + ";\n  add.u64 %a0, %a0, %a1;");
    if (random_.chance(50)) emit("st.local.u32 [%a0], " + i32() + ";");
    else emit("ld.local.u32 " + i32() + ", [%a0];");
  }

  void atomics() {
    note("atomics");
    static const char *operations[] = {"add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"};
    // One operation per counter, or the result would depend on the order.
    std::uint32_t which = random_.below(6);
    if (random_.chance(50)) {
      emit("red.global." + std::string(operations[which]) + " [%counters+" + std::to_string(4 * which) + "], " + i32() +
           ";");
      return;
    }
    std::string t = temporary();
    emit("and.b32 " + t + ", " + i32() + ", 60;\n  mov.u32 %b1, tally;\n  add.u32 " + t + ", " + t +
         ", %b1;\n  red.shared.add.u32 [" + t + "], " + i32() + ";");
  }

  void call() {
    note("call");
    std::string t = temporary();
    if (random_.chance(60)) {
      emit("{\n  .param .b32 a0;\n  .param .b32 a1;\n  .param .b32 r0;\n  st.param.b32 [a0], " + i32() +
           ";\n  st.param.b32 [a1], " + i32() + ";\n  call.uni (r0), mix, (a0, a1);\n  ld.param.b32 " + i32() +
           ", [r0];\n  }");
      return;
    }
    emit("and.b32 " + t + ", " + i32() + ", 7;\n  {\n  .param .b32 a0;\n  .param .b32 r0;\n  st.param.b32 [a0], " + t +
         ";\n  call.uni (r0), descend, (a0);\n  ld.param.b32 " + i32() + ", [r0];\n  }");
  }

  // Each thread leaves a word on the board, and reads another's after the barrier.
  void sharedExchange() {
    note("barrier, depth 0");
    std::string own = temporary(), other = temporary();
    emit("mov.u32 %b1, board;\n  shl.b32 " + own + ", %thread, 2;\n  add.u32 " + own + ", " + own +
         ", %b1;\n  st.shared.u32 [" + own + "], " + i32() + ";\n  bar.sync 0;");
    emit("mov.u32 %b2, %ntid.x;\n  add.u32 " + other + ", %thread, " + std::to_string(1 + random_.below(31)) +
         ";\n  rem.u32 " + other + ", " + other + ", %b2;\n  shl.b32 " + other + ", " + other + ", 2;\n  add.u32 " +
         other + ", " + other + ", %b1;");
    emit("ld.shared.u32 " + i32() + ", [" + other + "];\n  bar.sync 0;");
  }

  void collective() {
    note("collective, depth 0");
    std::string mask = temporary();
    emit("mov.u32 " + mask + ", -1;");
    std::string p = random_.chance(60) ? condition() : "", skip = label();
    if (!p.empty()) {  // only the lanes that take the branch, named by a vote before it
      emit("vote.sync.ballot.b32 " + mask + ", " + p + ", -1;\n  @!" + p + " bra " + skip + ";");
    }
    switch (random_.below(6)) {
      case 0: shuffle(mask); break;
      case 1: shuffle(mask); break;
      case 2: emit("vote.sync.ballot.b32 " + i32() + ", " + condition() + ", " + mask + ";"); break;
      case 3: {
        static const char *modes[] = {"all", "any", "uni"};
        std::string r = predicate(), d = i32();
        emit("vote.sync." + std::string(random_.pick(modes)) + ".pred " + r + ", " + condition() + ", " + mask +
             ";\n  selp.b32 " + d + ", " + i32() + ", " + i32() + ", " + r + ";");
        break;
      }
      case 4: {
        static const char *operations[] = {"add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"};
        emit("redux.sync." + std::string(random_.pick(operations)) + " " + i32() + ", " + i32() + ", " + mask + ";");
        break;
      }
      default: {
        std::string t = temporary();
        emit("and.b32 " + t + ", " + i32() + ", 3;\n  match.any.sync.b32 " + i32() + ", " + t + ", " + mask + ";");
      }
    }
    if (!p.empty()) mark(skip);
  }

  // Source lanes outside the mask are undefined in PTX, so the source is taken only if it is inside.
  void shuffle(const std::string &mask) {
    static const char *modes[] = {"idx", "up", "down", "bfly"};
    static const std::uint32_t widths[] = {32, 16, 8, 4};
    std::string mode = random_.pick(modes), value = temporary(), got = temporary(), lane = temporary(),
                bit = temporary(), p = predicate(), q = predicate(), d = i32();
    std::uint32_t width = random_.pick(widths), clamp = (mode == "up" ? 0 : 31) | (32 - width) << 8;
    std::string amount = mode == "idx" && random_.chance(60) ? i32() : std::to_string(random_.below(32));
    emit("mov.b32 " + value + ", " + i32() + ";");
    emit("mov.u32 " + lane + ", %laneid;\n  shfl.sync." + mode + ".b32 " + lane + ", " + lane + ", " + amount + ", " +
         std::to_string(clamp) + ", " + mask + ";");
    // `lane` is now the source's own number if the source is in the mask; else anything: ask the mask
    // through the number that the shuffle's rule gives.
    emit("shfl.sync." + mode + ".b32 " + got + "|" + p + ", " + value + ", " + amount + ", " + std::to_string(clamp) +
         ", " + mask + ";");
    sourceLane(mode, width, amount, bit);
    emit("shr.u32 " + bit + ", " + mask + ", " + bit + ";\n  and.b32 " + bit + ", " + bit + ", 1;\n  setp.ne.u32 " + q +
         ", " + bit + ", 0;");
    emit("selp.b32 " + d + ", " + got + ", " + value + ", " + q + ";\n  @" + p + " add.u32 " + d + ", " + d + ", 1;");
  }

  // out = the lane that the shuffle reads (its own when the source is out of the segment).
  void sourceLane(const std::string &mode, std::uint32_t width, const std::string &amount, const std::string &out) {
    std::string me = temporary(), base = temporary(), source = temporary(), in = predicate(), by = temporary();
    emit("mov.u32 " + me + ", %laneid;\n  and.b32 " + base + ", " + me + ", " + std::to_string(32 - width) +
         ";\n  mov.b32 " + by + ", " + amount + ";\n  and.b32 " + by + ", " + by + ", 31;");
    if (mode == "idx") {
      emit("and.b32 " + source + ", " + by + ", " + std::to_string(width - 1) + ";\n  or.b32 " + source + ", " +
           source + ", " + base + ";\n  setp.le.s32 " + in + ", " + source + ", 31;");
    } else if (mode == "up") {
      emit("sub.s32 " + source + ", " + me + ", " + by + ";\n  setp.ge.s32 " + in + ", " + source + ", " + base + ";");
    } else {
      emit(std::string(mode == "down" ? "add.s32 " : "xor.b32 ") + source + ", " + me + ", " + by + ";\n  or.b32 " +
           base + ", " + base + ", " + std::to_string(width - 1) + ";\n  setp.le.s32 " + in + ", " + source + ", " +
           base + ";");
    }
    emit("selp.b32 " + out + ", " + source + ", " + me + ", " + in + ";");
  }

  void earlyReturn(int depth) {
    note("early return", depth);
    returned_ = true;
    std::string p = condition();
    if (depth == 0) {
      std::string q = predicate();
      emit("setp.gt.u32 " + q + ", %thread, " + std::to_string(random_.below(100)) + ";\n  and.pred " + p + ", " + p +
           ", " + q + ";");
    }
    emit("@" + p + " ret;");
  }

  // --- assignments -----------------------------------------------------------------------------------
  void assignment() {
    switch (random_.below(9)) {
      case 0:
      case 1:
      case 2: return integer32();
      case 3: return integer64();
      case 4: return integer16();
      case 5:
      case 6: return float32();
      case 7: return random_.chance(50) ? float64() : float16();
      default: return conversion();
    }
  }

  void integer32() {
    static const char *two[] = {"add.s32", "sub.s32", "mul.lo.s32", "mul.hi.s32", "mul.hi.u32", "and.b32",
                                "or.b32",  "xor.b32", "min.s32",    "max.u32",    "div.u32",    "rem.s32",
                                "shl.b32", "shr.u32", "shr.s32",    "div.s32"};
    static const char *one[] = {"not.b32",  "neg.s32",   "abs.s32",  "popc.b32",          "clz.b32",
                                "brev.b32", "bfind.u32", "cnot.b32", "bfind.shiftamt.s32"};
    static const char *three[] = {"mad.lo.s32", "mad.hi.u32",     "sad.s32",         "bfe.u32",     "bfe.s32",
                                  "prmt.b32",   "shf.l.wrap.b32", "shf.r.clamp.b32", "dp4a.u32.u32"};
    switch (random_.below(6)) {
      case 0: emit(std::string(random_.pick(one)) + " " + i32() + ", " + i32() + ";"); break;
      case 1:
        emit(std::string(random_.pick(three)) + " " + i32() + ", " + i32() + ", " + i32() + ", " + i32() + ";");
        break;
      case 2:
        emit("lop3.b32 " + i32() + ", " + i32() + ", " + i32() + ", " + i32() + ", " +
             std::to_string(random_.below(256)) + ";");
        break;
      case 3: emit("selp.b32 " + i32() + ", " + i32() + ", " + i32() + ", " + condition() + ";"); break;
      default: {
        std::string op = random_.pick(two), a = i32(),
                    b = random_.chance(70) ? i32() : std::to_string(random_.below(40));
        if (op[0] == 'd' || op[0] == 'r') {  // division by zero is undefined in PTX, and so is MIN / -1
          std::string t = temporary();
          emit("and.b32 " + t + ", " + i32() + ", 1023;\n  or.b32 " + t + ", " + t + ", 1;");
          b = t;
        }
        emit(op + " " + i32() + ", " + a + ", " + b + ";");
      }
    }
  }

  void integer64() {
    static const char *two[] = {"add.s64", "sub.s64", "mul.lo.u64", "mul.hi.s64", "mul.hi.u64",
                                "and.b64", "or.b64",  "xor.b64",    "min.s64",    "max.u64"};
    switch (random_.below(5)) {
      case 0: emit("mul.wide.s32 " + i64() + ", " + i32() + ", " + i32() + ";"); break;
      case 1: emit("shl.b64 " + i64() + ", " + i64() + ", " + i32() + ";"); break;
      case 2: emit("shr.s64 " + i64() + ", " + i64() + ", " + std::to_string(random_.below(70)) + ";"); break;
      case 3: emit("popc.b64 " + i32() + ", " + i64() + ";"); break;
      default: emit(std::string(random_.pick(two)) + " " + i64() + ", " + i64() + ", " + i64() + ";");
    }
  }

  void integer16() {
    static const char *two[] = {"add.s16", "sub.s16", "mul.lo.u16", "mul.hi.s16", "and.b16",
                                "or.b16",  "xor.b16", "min.s16",    "max.u16"};
    if (random_.chance(20)) emit("shr.s16 " + i16() + ", " + i16() + ", " + std::to_string(random_.below(20)) + ";");
    else if (random_.chance(20)) emit("mad.wide.s16 " + i32() + ", " + i16() + ", " + i16() + ", " + i32() + ";");
    else emit(std::string(random_.pick(two)) + " " + i16() + ", " + i16() + ", " + i16() + ";");
  }

  void float32() {
    static const char *two[] = {"add.rn.f32", "sub.rn.f32", "mul.rn.f32", "div.rn.f32",     "min.f32",       "max.f32",
                                "add.rz.f32", "mul.rp.f32", "sub.rm.f32", "add.rn.ftz.f32", "mul.rn.sat.f32"};
    static const char *one[] = {"sqrt.rn.f32",     "rcp.rn.f32",      "neg.f32",    "abs.f32",
                                "cvt.rni.f32.f32", "cvt.rmi.f32.f32", "sqrt.rz.f32"};
    static const char *fused[] = {"fma.rn.f32", "fma.rz.f32", "fma.rn.ftz.f32"};
    switch (random_.below(4)) {
      case 0: emit(std::string(random_.pick(one)) + " " + f32() + ", " + f32() + ";"); break;
      case 1:
        emit(std::string(random_.pick(fused)) + " " + f32() + ", " + f32() + ", " + f32() + ", " + f32() + ";");
        break;
      default: emit(std::string(random_.pick(two)) + " " + f32() + ", " + f32() + ", " + f32() + ";");
    }
  }

  void float64() {
    static const char *two[] = {"add.rn.f64", "sub.rn.f64", "mul.rn.f64", "div.rn.f64",
                                "min.f64",    "max.f64",    "add.rp.f64"};
    static const char *one[] = {"sqrt.rn.f64", "rcp.rn.f64", "neg.f64", "abs.f64", "cvt.rzi.f64.f64"};
    switch (random_.below(4)) {
      case 0: emit(std::string(random_.pick(one)) + " " + f64() + ", " + f64() + ";"); break;
      case 1: emit("fma.rn.f64 " + f64() + ", " + f64() + ", " + f64() + ", " + f64() + ";"); break;
      default: emit(std::string(random_.pick(two)) + " " + f64() + ", " + f64() + ", " + f64() + ";");
    }
  }

  void float16() {
    static const char *two[] = {"add.rn.f16", "sub.rn.f16", "mul.rn.f16", "min.f16", "max.f16"};
    if (random_.chance(30)) emit("fma.rn.f16 " + f16() + ", " + f16() + ", " + f16() + ", " + f16() + ";");
    else emit(std::string(random_.pick(two)) + " " + f16() + ", " + f16() + ", " + f16() + ";");
  }

  void conversion() {
    switch (random_.below(12)) {
      case 0: emit("cvt.rzi.s32.f32 " + i32() + ", " + f32() + ";"); break;
      case 1: emit("cvt.rni.u32.f32 " + i32() + ", " + f32() + ";"); break;
      case 2: emit("cvt.rn.f32.s32 " + f32() + ", " + i32() + ";"); break;
      case 3: emit("cvt.rn.f32.u64 " + f32() + ", " + i64() + ";"); break;
      case 4: emit("cvt.rn.f32.f64 " + f32() + ", " + f64() + ";"); break;
      case 5: emit("cvt.f64.f32 " + f64() + ", " + f32() + ";"); break;
      case 6: emit("cvt.rn.f16.f32 " + f16() + ", " + f32() + ";"); break;
      case 7: emit("cvt.f32.f16 " + f32() + ", " + f16() + ";"); break;
      case 8: emit("cvt.s64.s32 " + i64() + ", " + i32() + ";"); break;
      case 9: emit("cvt.u32.u64 " + i32() + ", " + i64() + ";"); break;
      case 10: emit("cvt.s32.s16 " + i32() + ", " + i16() + ";"); break;
      default: emit("cvt.sat.u8.s32 " + i32() + ", " + i32() + ";");
    }
  }

  Random random_;
  GeneratedKernel kernel_;
  std::string *body_ = nullptr;
  bool walks_;
  std::uint32_t block_ = 0;
  bool fullWarps_ = true, returned_ = false;
  int labels_ = 0, predicates_ = 1, temporaries_ = 0;
};

}  // namespace

GeneratedKernel generateKernel(std::uint64_t seed) {
  if (seed < kFirstFormSeed) return Generator(seed).run();
  if (seed < kFirstLeavingSeed) return generateFormKernel(seed);
  if (seed < kFirstStrideSeed) return generateLeavingKernel(seed);
  return seed < kFirstMeetingSeed ? generateStrideKernel(seed) : generateMeetingKernel(seed);
}

}  // namespace strata::fuzz
