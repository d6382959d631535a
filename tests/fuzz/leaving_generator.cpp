// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/leaving_generator.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/random.h"

namespace strata::fuzz {
namespace {

constexpr int kMostDepth = 2, kMostNested = 3;  // of loops with barriers; of statements between barriers

// Two barriers with a read of `other` between them, `n` times; calls itself, so that it stays a function.
constexpr const char *kMeet = R"(.func (.param .b32 r) meet(.param .b32 own, .param .b32 other, .param .b32 n) {
  .reg .b32 %x<9>;
  .reg .pred %q;
  ld.param.u32 %x0, [own];
  ld.param.u32 %x1, [other];
  ld.param.u32 %x2, [n];
  mov.u32 %x3, 7;
  setp.eq.u32 %q, %x2, 0;
  @%q bra DONE;
  red.shared.add.u32 [%x0], %x2;
  bar.sync 0;
  ld.shared.u32 %x3, [%x1];
  bar.sync 0;
  sub.u32 %x4, %x2, 1;
  {
    .param .b32 a0;
    .param .b32 a1;
    .param .b32 a2;
    .param .b32 r0;
    st.param.b32 [a0], %x0;
    st.param.b32 [a1], %x1;
    st.param.b32 [a2], %x4;
    call.uni (r0), meet, (a0, a1, a2);
    ld.param.b32 %x5, [r0];
  }
  mad.lo.u32 %x3, %x5, 5, %x3;
DONE:
  st.param.b32 [r], %x3;
  ret;
}

)";

class LeavingGenerator {
public:
  explicit LeavingGenerator(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15ull + 11) {}

  GeneratedKernel run() {
    static const std::uint32_t blocks[] = {32, 32, 64, 96, 40, 33};
    kernel_.block = random_.pick(blocks);
    kernel_.blockY = random_.chance(20) ? 2 : 1;
    kernel_.grid = 1 + random_.below(2);
    threads_ = kernel_.block * kernel_.blockY;
    mixed_ = random_.chance(40);
    inShared_ = random_.chance(60);
    groups_ = random_.chance(25);
    if (mixed_) note("threads at different barriers"), emit("// mixed");
    if (groups_) groupLabel_ = label();
    for (int n = random_.below(4); n; --n) outs_.push_back(label());
    prologue();
    if (random_.chance(30)) leave(conditionOf(0), 0, nullptr);
    unit();
    for (int n = 1 + (mixed_ ? random_.below(2) : 0); n; --n) loop(0, nullptr);
    ending();
    for (std::size_t i = 0; i < outs_.size(); ++i) out(i);
    if (groups_) leaveTogether();
    kernel_.ptx = ".version 8.0\n.target sm_90\n.address_size 64\n\n" + (meets_ ? kMeet + entry() : entry());
    return std::move(kernel_);
  }

private:
  // Loops around a statement, from within.
  struct Around {
    const Around *outer;
    std::string join, next;  // where threads that leave say how in %how; of the next round
    int depth;
  };

  void emit(const std::string &line) { body_ += "  " + line + "\n"; }
  void mark(const std::string &label) { body_ += label + ":\n"; }
  std::string label() { return "$L" + std::to_string(labels_++); }
  std::string flag() { return "%p" + std::to_string(flags_++); }
  std::string number(std::uint32_t below) { return std::to_string(random_.below(below)); }
  void note(const std::string &construct) { ++kernel_.constructs[construct]; }
  static std::string round(int depth) { return "%r" + std::to_string(depth); }

  std::string entry() const {
    std::string text = ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 counters) {\n";
    text +=
        "  .reg .b32 %t<8>, %r<4>, %i<4>;\n  .reg .b32 %thread, %me, %key, %a, %how, %own, %other, %lanes, %group;\n  "
        ".reg .b64 %u<4>, %in, %out, %mine, %ownWord, %otherWord;\n";
    text += "  .reg .pred %p<" + std::to_string(flags_ + 1) + ">, %grouped, %q;\n  .shared .align 8 .b8 board[" +
            std::to_string(4 * threads_) + "];\n";
    return text + body_ + "}\n";
  }

  // %key: small, each thread's; %ownWord and %otherWord: in shared or global memory; %mine: what the thread tells the
  // host.
  void prologue() {
    const std::string n = std::to_string(threads_);
    emit("ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];");
    emit(
        "mov.u32 %thread, %tid.x;\n  mov.u32 %t0, %tid.y;\n  mov.u32 %t1, %ntid.x;\n  mad.lo.u32 %thread, %t0, %t1, "
        "%thread;");
    emit("mov.u32 %t0, %ctaid.x;\n  mad.lo.u32 %me, %t0, " + n + ", %thread;");
    emit("mul.wide.u32 %u0, %me, " + std::to_string(4 * kInputWords) +
         ";\n  add.u64 %u0, %in, %u0;\n  ld.global.u32 %key, [%u0];\n  ld.global.u32 %a, [%u0+4];\n  ld.global.u32 "
         "%t2, [%u0+8];");
    emit(
        "rem.u32 %key, %key, 5;\n  and.b32 %t2, %t2, 3;\n  setp.eq.u32 %grouped, %t2, 0;\n  mov.u32 %how, 0;\n  "
        "mov.u32 %r0, 0;");
    emit("mul.wide.u32 %u0, %me, " + std::to_string(4 * kOutputWords) +
         ";\n  add.u64 %mine, %out, %u0;\n  st.global.u32 [%mine], %a;\n  st.global.u32 [%mine+4], 9;\n  st.global.u32 "
         "[%mine+8], 1;");
    emit("add.u32 %t0, %thread, " + std::to_string(1 + random_.below(7)) + ";\n  rem.u32 %t0, %t0, " + n + ";");
    if (inShared_) {
      emit(
          "mov.u32 %t1, board;\n  shl.b32 %own, %thread, 2;\n  add.u32 %own, %own, %t1;\n  shl.b32 %other, %t0, 2;\n  "
          "add.u32 %other, %other, %t1;");
    } else {
      emit("sub.u32 %t1, %me, %thread;\n  add.u32 %t0, %t0, %t1;\n  mul.wide.u32 %u0, %t0, " +
           std::to_string(4 * kOutputWords) +
           ";\n  add.u64 %otherWord, %out, %u0;\n  add.u64 %otherWord, %otherWord, 8;\n  add.u64 %ownWord, %mine, 8;");
    }
    emit("st" + own() + ", -7;");
    emit("and.b32 %t0, %thread, -32;\n  sub.u32 %t0, " + n +
         ", %t0;\n  min.u32 %t0, %t0, 32;\n  bmsk.clamp.b32 %lanes, 0, %t0;\n  vote.sync.ballot.b32 %group, %grouped, "
         "%lanes;");
    if (!groups_) emit("setp.ne.u32 %grouped, %thread, %thread;");
  }

  std::string own() const { return inShared_ ? ".shared.u32 [%own]" : ".global.u32 [%ownWord]"; }
  std::string readOther(const std::string &to) const {
    return "ld" +
           std::string(inShared_ ? ".shared.u32 " + to + ", [%other];" : ".global.u32 " + to + ", [%otherWord];");
  }

  // --- while the thread may write -------------------------------------------------------------------
  void write(int depth) {
    const std::string value = random_.chance(50) ? round(random_.below(depth + 1)) : "%key", atomic = own();
    switch (random_.below(6)) {
      case 0:
        return emit("mad.lo.u32 %t0, " + value + ", " + number(50) + ", " + number(50) + ";\n  st" + own() + ", %t0;");
      case 1:
        return emit("add.u32 %t0, " + value + ", %a;\n  st" + own() + ", %t0;\n  st.global.u32 [%mine+4], " + value +
                    ";");
      case 2:
        return emit("red" + std::string(inShared_ ? ".shared.add.u32 [%own]" : ".global.add.u32 [%ownWord]") + ", " +
                    value + ";");
      case 3: return emit("st.global.u32 [%mine+4], " + value + ";");
      case 4:
        return emit("ld" + std::string(inShared_ ? ".shared.u32 %t0, [%own];" : ".global.u32 %t0, [%ownWord];") +
                    "\n  xor.b32 %t0, %t0, " + number(99) + ";\n  st" + own() + ", %t0;\n  xor.b32 %a, %a, %t0;");
      default:
        return emit("setp.gt.u32 %q, " + value + ", " + number(4) + ";\n  @%q st" + own() + ", " + number(99) + ";");
    }
  }

  // Of this thread; those that leave together leave no other way.
  std::string conditionOf(int depth) {
    const std::string p = flag(), r = round(random_.below(depth + 1));
    switch (random_.below(6)) {
      case 0: emit("setp.eq.u32 " + p + ", %key, " + number(5) + ";"); break;
      case 1: emit("setp.eq.u32 " + p + ", " + r + ", " + number(4) + ";"); break;
      case 2: emit("setp.gt.u32 " + p + ", %key, " + r + ";"); break;
      case 3:
        emit("add.u32 %t0, %key, " + r + ";\n  setp.gt.u32 " + p + ", %t0, " + std::to_string(3 + random_.below(4)) +
             ";");
        break;
      case 4:
        emit("rem.u32 %t0, %thread, " + std::to_string(2 + random_.below(5)) + ";\n  setp.eq.u32 " + p + ", %t0, 0;");
        break;
      default:
        emit("setp.eq.u32 " + p + ", %key, " + number(5) + ";\n  setp.eq.and.u32 " + p + ", " + r + ", " + number(4) +
             ", " + p + ";");
    }
    if (groups_) emit("not.pred %q, %grouped;\n  and.pred " + p + ", " + p + ", %q;");
    return p;
  }

  // Those for which `p` holds write, perhaps, and go.
  void leave(const std::string &p, int depth, const Around *around) {
    const std::string stays = label();
    emit("@!" + p + " bra " + stays + ";");
    for (int n = random_.below(3); n; --n) write(depth);
    go(around);
    mark(stays);
  }

  // One of the ways out of what is around.
  void go(const Around *around) {
    const std::uint32_t kind = random_.below(100);
    if (around && kind < 35) {
      note("leaves by a join");
      return emit("mov.u32 %how, " + std::to_string(1 + random_.below(4)) + ";\n  bra " + around->join + ";");
    }
    if (around && mixed_ && kind < 45) return note("next round, past a barrier"), emit("bra " + around->next + ";");
    if (!outs_.empty() && kind < 70)
      return note("leaves for shared code"), emit("bra " + outs_[random_.below(outs_.size())] + ";");
    note("returns");
    emit("ret;");
  }

  void statement(int nested, int depth, const Around *around) {
    const std::uint32_t kind = random_.below(100);
    if (nested >= kMostNested || kind < 20) return write(depth);
    if (kind < 50) return leave(conditionOf(depth), depth, around);
    if (kind < 75) return branch(nested, depth, around);
    if (kind < 87) return switchOn(nested, depth, around);
    quietLoop(nested, depth, around);
  }

  void statements(int nested, int depth, const Around *around) {
    for (int n = 1 + random_.below(2); n; --n) statement(nested, depth, around);
  }

  void branch(int nested, int depth, const Around *around) {
    const std::string p = conditionOf(depth), otherwise = label(), end = label();
    emit("@!" + p + " bra " + otherwise + ";");
    statements(nested + 1, depth, around);
    if (mixed_ && random_.chance(15)) note("a barrier in a branch"), unit();
    if (random_.chance(50)) emit("bra " + end + ";");  // else falls through
    mark(otherwise);
    statements(nested + 1, depth, around);
    mark(end);
  }

  void switchOn(int nested, int depth, const Around *around) {
    note("switch");
    const std::string table = "$T" + std::to_string(labels_++), end = label();
    const std::vector<std::string> ways = {label(), label(), label()};
    emit("add.u32 %t1, %key, " + round(random_.below(depth + 1)) + ";\n  rem.u32 %t1, %t1, 4;");
    if (groups_) emit("selp.b32 %t1, 3, %t1, %grouped;");
    emit(table + ": .branchtargets " + ways[0] + ", " + ways[1] + ", " + ways[2] + ", " + end + ";\n  brx.idx %t1, " +
         table + ";");
    for (const std::string &way : ways) {
      mark(way);
      statement(nested + 1, depth, around);
      if (random_.chance(30)) go(around);
      else if (random_.chance(70)) emit("bra " + end + ";");
    }
    mark(end);
  }

  // A loop without barriers, which threads also leave for what is around it.
  void quietLoop(int nested, int depth, const Around *around) {
    const std::string head = label(), end = label(), p = flag(), count = "%i" + std::to_string(nested);
    emit("mov.u32 " + count + ", 0;");
    mark(head);
    statement(nested + 1, depth, around);
    if (random_.chance(50)) emit("@" + conditionOf(depth) + " bra " + end + ";");
    emit("add.u32 " + count + ", " + count + ", 1;\n  setp.lt.u32 " + p + ", " + count + ", " +
         (random_.chance(50) ? "%key" : "3") + ";\n  @" + p + " bra " + head + ";");
    mark(end);
  }

  // --- barriers ---------------------------------------------------------------------------------------
  void unit() {
    const std::uint32_t kind = random_.below(100);
    if (kind < 12 && inShared_) return meet();
    if (kind < 24 && !mixed_) {
      const std::string p = flag();
      emit("setp.gt.u32 " + p + ", %key, " + number(5) + ";\n  bar.red.popc.u32 %t0, 0, " + p + ";");
    } else {
      emit("bar.sync 0;\n  mov.u32 %t0, 3;");
    }
    emit(readOther("%t1") +
         "\n  mad.lo.u32 %a, %a, 31, %t1;\n  add.u32 %a, %a, %t0;\n  st.global.u32 [%mine], %a;\n  bar.sync 0;");
  }

  void meet() {
    note("barriers in a function");
    meets_ = true;
    emit(
        "{\n  .param .b32 a0;\n  .param .b32 a1;\n  .param .b32 a2;\n  .param .b32 r0;\n  st.param.b32 [a0], %own;\n  "
        "st.param.b32 [a1], %other;\n  st.param.b32 [a2], " +
        (mixed_ && random_.chance(30) ? "%key" : std::to_string(1 + random_.below(2))) +
        ";\n  call.uni (r0), meet, (a0, a1, a2);\n  ld.param.b32 %t1, [r0];\n  }");
    emit("mad.lo.u32 %a, %a, 31, %t1;\n  st.global.u32 [%mine], %a;");
  }

  // A loop with barriers. Threads that leave it by its join say how in %how, which decides behind it.
  void loop(int depth, const Around *outer) {
    note("loop with barriers, depth " + std::to_string(depth));
    const std::string head = label(), after = label(), p = flag(), r = round(depth);
    const Around around = {outer, label(), label(), depth};
    emit("mov.u32 " + r + ", 0;");
    mark(head);
    if (groups_ && depth == 0)
      emit("setp.eq.and.u32 %q, " + r + ", " + number(4) + ", %grouped;\n  @%q bra " + groupLabel_ + ";");
    statements(0, depth, &around);
    if (depth + 1 < kMostDepth && random_.chance(50)) loop(depth + 1, &around);
    if (random_.chance(80) || depth == 0) unit();
    if (random_.chance(60)) statements(0, depth, &around);
    const bool joins = random_.chance(60);  // also those who stay come by the join
    if (!joins) emit("bra " + around.next + ";");
    mark(around.join);
    emit("setp.ne.u32 %q, %how, 0;\n  @%q bra " + after + ";");
    mark(around.next);
    emit("add.u32 " + r + ", " + r + ", 1;\n  setp.lt.u32 " + p + ", " + r + ", " +
         (mixed_ && !groups_ && random_.chance(30) ? "%key" : std::to_string(2 + random_.below(depth ? 2 : 4))) +
         ";\n  @" + p + " bra " + head + ";");
    mark(after);
    if (outer) partByHow(*outer);
  }

  // Those who have left the inner loop leave the outer one too: at its join, or elsewhere, by how.
  void partByHow(const Around &outer) {
    const std::string stays = label();
    emit("setp.eq.u32 %q, %how, 0;\n  @%q bra " + stays + ";");
    if (random_.chance(50)) {
      emit("setp.eq.u32 %q, %how, " + std::to_string(1 + random_.below(4)) + ";\n  @!%q bra " + outer.join + ";");
      write(0);
      go(nullptr);
    } else {
      emit("bra " + outer.join + ";");
    }
    mark(stays);
  }

  // --- after the loops --------------------------------------------------------------------------------
  void ending() {
    for (int how = 1; how < 4; ++how) {
      if (random_.chance(40)) continue;
      const std::string other = label();
      emit("setp.ne.u32 %q, %how, " + std::to_string(how) + ";\n  @%q bra " + other + ";");
      write(0);
      if (random_.chance(50)) go(nullptr);
      mark(other);
    }
    if (random_.chance(60)) write(0);
    if (mixed_ && random_.chance(60)) note("a barrier after the loops"), unit();
    emit("ret;");
  }

  void out(std::size_t i) {
    mark(outs_[i]);
    write(0);
    if (mixed_ && random_.chance(30)) note("a barrier after the loops"), unit();
    if (i + 1 < outs_.size() && random_.chance(40)) {
      emit("@" + conditionOf(0) + " bra " + outs_[i + 1] + ";");
      write(0);
    }
    emit("ret;");
  }

  // A quarter of the lanes leave in the same round, and have a collective of their own.
  void leaveTogether() {
    note("collective after leaving");
    mark(groupLabel_);
    if (random_.chance(50)) write(0);
    emit("redux.sync.add.u32 %t0, %key, %group;");
    if (random_.chance(50)) emit("st" + own() + ", %t0;");
    emit("st.global.u32 [%mine+4], %t0;\n  ret;");
  }

  Random random_;
  GeneratedKernel kernel_;
  std::string body_, groupLabel_;
  std::vector<std::string> outs_;
  std::uint32_t threads_ = 0;
  bool mixed_ = false, inShared_ = true, groups_ = false, meets_ = false;
  int labels_ = 0, flags_ = 0;
};

}  // namespace

GeneratedKernel generateLeavingKernel(std::uint64_t seed) { return LeavingGenerator(seed).run(); }

}  // namespace strata::fuzz
