// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/meeting_generator.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/random.h"

namespace strata::fuzz {
namespace {

constexpr int kMostDepth = 3;

enum class Kind { idx, up, down, bfly, all, any, uni, ballot, matchAny, matchAny64, matchAll, redux, handOver, count };
constexpr auto kKinds = static_cast<std::uint32_t>(Kind::count);

constexpr const char *kNames[] = {"shfl.idx",
                                  "shfl.up",
                                  "shfl.down",
                                  "shfl.bfly",
                                  "vote.all",
                                  "vote.any",
                                  "vote.uni",
                                  "vote.ballot",
                                  "match.any",
                                  "match.any.b64",
                                  "match.all",
                                  "redux",
                                  "hand-over by bar.warp.sync"};

class MeetingGenerator {
public:
  explicit MeetingGenerator(std::uint64_t seed)
      : random_(seed * 0xD1342543DE82EF95ull + 5), open_(seed >= kFirstOpenMeetingSeed) {}

  GeneratedKernel run() {
    static const std::uint32_t blocks[] = {32, 32, 64, 96, 40, 33, 7};
    kernel_.block = random_.pick(blocks);
    kernel_.grid = 1 + random_.below(2);
    exits_ = random_.chance(25);
    prologue();
    for (int n = 1 + random_.below(3); n; --n) phase();
    emit("st.global.u32 [%mine], %a;\n  ret;");
    kernel_.ptx = ".version 8.0\n.target sm_90\n.address_size 64\n\n" + functions_ + entry();
    return std::move(kernel_);
  }

private:
  using Kinds = std::vector<Kind>;

  void emit(const std::string &line) { *text_ += "  " + line + "\n"; }
  void mark(const std::string &label) { *text_ += label + ":\n"; }
  std::string label() { return "$L" + std::to_string(labels_++); }
  std::string flag() { return "%p" + std::to_string(flags_++); }
  std::string number(std::uint32_t below) { return std::to_string(random_.below(below)); }
  void note(const std::string &construct) { ++kernel_.constructs[construct]; }

  static std::string registers(int flags) {
    return "  .reg .b32 %t<10>, %i<8>;\n  .reg .b32 %thread, %lane, %me, %key, %a, %m, %v, %r;\n  .reg .b64 %u<4>, "
           "%in, %out, "
           "%mine;\n  .reg .pred %p<" +
           std::to_string(flags + 1) + ">, %q, %z;\n";
  }
  std::string entry() const {
    return ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 counters) {\n" + registers(flags_) +
           "  .shared .align 8 .b8 board[512];\n" + body_ + "}\n";
  }

  // %key: random, each thread's; %a: what it has seen; %m: the mask of its group.
  void prologue() {
    emit("ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];");
    emit(
        "mov.u32 %thread, %tid.x;\n  mov.u32 %lane, %laneid;\n  mov.u32 %t0, %ctaid.x;\n  mov.u32 %t1, %ntid.x;\n  "
        "mad.lo.u32 %me, %t0, %t1, %thread;");
    emit(
        "mul.wide.u32 %u0, %me, " + std::to_string(4 * kInputWords) +
        ";\n  add.u64 %u0, %in, %u0;\n  ld.global.u32 %key, [%u0];\n  ld.global.u32 %t2, [%u0+4];\n  ld.global.u32 %a, "
        "[%u0+8];");
    emit("mad.lo.u32 %key, %key, 2654435761, %t2;\n  shr.u32 %t3, %key, 15;\n  xor.b32 %key, %key, %t3;");
    emit(
        "mul.wide.u32 %u0, %me, " + std::to_string(4 * kOutputWords) +
        ";\n  add.u64 %mine, %out, %u0;\n  mov.u32 %m, -1;\n  mov.u32 %i0, 0;\n  mov.u32 %i1, 0;\n  mov.u32 %i2, 0;\n  "
        "mov.u32 %i3, 0;");
    emit(
        "mov.u32 %t1, board;\n  shl.b32 %t2, %thread, 2;\n  add.u32 %t2, %t2, %t1;\n  st.shared.u32 [%t2], 6;\n  "
        "bar.sync 0;");
  }

  // A group of lanes goes through a list of collectives.
  void phase() {
    if (exits_ && random_.chance(60)) leave();
    chooseMask();
    Kinds kinds;
    const bool alike = random_.chance(25);
    for (int n = 1 + random_.below(4); n; --n) kinds.push_back(alike && !kinds.empty() ? kinds[0] : kind());
    sequence(kinds, 0);
    if (open_ && random_.chance(70)) stray();
    if (random_.chance(30)) emit("bar.sync 0;");
    if (random_.chance(50)) emit("st.global.u32 [%mine+" + std::to_string(4 + 4 * random_.below(8)) + "], %a;");
  }

  // What lies in a lane that has ended is not defined.
  Kind kind() {
    const auto first = static_cast<std::uint32_t>(exits_ && !open_ ? Kind::all : Kind::idx);
    return static_cast<Kind>(first + random_.below(kKinds - first));
  }

  void leave() {
    note("returns");
    const std::string p = condition(6);
    if (random_.chance(50)) emit("st.global.u32 [%mine+60], %a;");
    emit("@" + p + " ret;");
  }

  // A flag that holds in about one of `n` lanes.
  std::string condition(std::uint32_t n = 2) {
    const std::string p = flag();
    switch (random_.below(5)) {
      case 0: emit("and.b32 %t0, %lane, " + number(32) + ";\n  setp.eq.u32 " + p + ", %t0, 0;"); break;
      case 1: emit("setp.lt.u32 " + p + ", %lane, " + number(32) + ";"); break;
      case 2:
        emit("shr.u32 %t0, %a, " + number(16) + ";\n  rem.u32 %t0, %t0, " + std::to_string(n) + ";\n  setp.eq.u32 " +
             p + ", %t0, 0;");
        break;
      default:
        emit("shr.u32 %t0, %key, " + number(24) + ";\n  rem.u32 %t0, %t0, " + std::to_string(n) + ";\n  setp.eq.u32 " +
             p + ", %t0, 0;");
    }
    return p;
  }

  // All lanes of the warp that are left come here.
  void chooseMask() {
    mask_ = "%m";
    switch (random_.below(8)) {
      case 0:
      case 1:
        note("mask: all, constant");
        mask_ = "-1";
        break;
      case 2: {
        const int bits = 1 + random_.below(4);
        note("mask: tiles");
        emit("and.b32 %t0, %lane, " + std::to_string(32 - (1 << bits)) + ";\n  mov.u32 %t1, " +
             std::to_string((1u << (1 << bits)) - 1) + ";\n  shl.b32 %m, %t1, %t0;");
        break;
      }
      case 3:
        note("mask: every other lane");
        emit("and.b32 %t0, %lane, 1;\n  shl.b32 %m, 0x55555555, %t0;");
        break;
      case 4:
      case 5:
        note("mask: match");
        emit("shr.u32 %t0, %key, " + number(28) + ";\n  rem.u32 %t0, %t0, " + std::to_string(2 + random_.below(3)) +
             ";\n  match.any.sync.b32 %m, %t0, -1;");
        break;
      case 6: {
        note("mask: ballot");
        const std::string p = condition();
        emit("vote.sync.ballot.b32 %t0, " + p + ", -1;\n  not.b32 %t1, %t0;\n  selp.b32 %m, %t0, %t1, " + p + ";");
        break;
      }
      default: note("mask: all, from memory"); emit("and.b32 %t0, %key, 0;\n  not.b32 %m, %t0;");
    }
  }

  // --- ways ---------------------------------------------------------------------------------------------
  // Each lane does these, in this order.
  void sequence(const Kinds &kinds, int depth) {
    if (kinds.size() == 1) return once(kinds[0], depth);
    const bool alike = kinds.size() > 1 && std::vector<Kind>(kinds.size(), kinds[0]) == kinds;
    const std::uint32_t way = random_.below(100);
    if (alike && way < 35 && depth < kMostDepth) return twoLoops(kinds[0], static_cast<int>(kinds.size()), depth);
    if (way < 65 && depth < kMostDepth) return branch([&] { sequence(kinds, depth + 1); });
    for (Kind each : kinds) once(each, depth);
  }

  void once(Kind kind, int depth) {
    const std::uint32_t way = random_.below(100);
    if (random_.chance(30)) quiet();
    if (depth >= kMostDepth || way < 30) return collective(kind);
    if (way < 58) return branch([&] { once(kind, depth + 1); });
    if (way < 72) return ownRound(kind, depth);
    if (way < 84) return switchOn(kind, depth);
    call(kind);
  }

  template <class Side>
  void branch(Side side) {
    note("branch");
    const std::string p = condition(), otherwise = label(), end = label();
    emit("@!" + p + " bra " + otherwise + ";");
    side();
    emit("bra " + end + ";");
    mark(otherwise);
    side();
    mark(end);
  }

  // Each lane in a round of its own.
  void ownRound(Kind kind, int depth) {
    note("rounds");
    const std::string head = label(), next = label(), i = "%i" + std::to_string(depth), p = flag(), last = flag();
    const std::string rounds = std::to_string(2 + random_.below(3));
    emit("mov.u32 " + i + ", 0;");
    mark(head);
    emit("shr.u32 %t0, %key, " + number(24) + ";\n  rem.u32 %t0, %t0, " + rounds + ";\n  setp.ne.u32 " + p + ", %t0, " +
         i + ";\n  @" + p + " bra " + next + ";");
    once(kind, depth + 1);
    mark(next);
    emit("add.u32 " + i + ", " + i + ", 1;\n  setp.lt.u32 " + last + ", " + i + ", " + rounds + ";\n  @" + last +
         " bra " + head + ";");
  }

  // `n` times, the first of them in one loop, the others in another.
  void twoLoops(Kind kind, int n, int depth) {
    note("two loops");
    const std::string first = label(), between = label(), second = label(), end = label(), p = flag(), q = flag(),
                      i = "%i" + std::to_string(depth), share = "%i" + std::to_string(depth + 4);
    emit("shr.u32 %t0, %key, " + number(24) + ";\n  rem.u32 " + share + ", %t0, " + std::to_string(n + 1) +
         ";\n  mov.u32 " + i + ", 0;");
    mark(first);
    emit("setp.ge.u32 " + p + ", " + i + ", " + share + ";\n  @" + p + " bra " + between + ";");
    once(kind, depth + 1);
    emit("add.u32 " + i + ", " + i + ", 1;\n  bra " + first + ";");
    mark(between);
    if (random_.chance(50)) quiet();
    mark(second);
    emit("setp.ge.u32 " + q + ", " + i + ", " + std::to_string(n) + ";\n  @" + q + " bra " + end + ";");
    once(kind, depth + 1);
    emit("add.u32 " + i + ", " + i + ", 1;\n  bra " + second + ";");
    mark(end);
  }

  void switchOn(Kind kind, int depth) {
    note("switch");
    const std::string table = "$T" + std::to_string(labels_++), end = label();
    const std::vector<std::string> ways = {label(), label(), label()};
    emit("shr.u32 %t0, %key, " + number(24) + ";\n  rem.u32 %t0, %t0, 3;\n" + table + ": .branchtargets " + ways[0] +
         ", " + ways[1] + ", " + ways[2] + ";\n  brx.idx %t0, " + table + ";");
    for (const std::string &way : ways) {
      mark(way);
      once(kind, depth + 1);
      emit("bra " + end + ";");
    }
    mark(end);
  }

  // The collective in a function, one call or two.
  void call(Kind kind) {
    if (kind == Kind::handOver) return collective(kind);
    note("call");
    const std::string name = "f" + std::to_string(functionCount_++);
    std::string body, *outer = std::exchange(text_, &body);
    const int flagsBefore = std::exchange(flags_, 0);
    const std::string maskBefore = std::exchange(mask_, "%m");
    emit(
        "ld.param.u32 %m, [m];\n  ld.param.u32 %a, [a];\n  ld.param.u32 %key, [key];\n  mov.u32 %lane, %laneid;\n  "
        "mov.u32 %thread, %tid.x;");
    if (random_.chance(40)) {
      const std::string p = condition(), rest = label();
      emit("@" + p + " bra " + rest + ";");
      collective(kind);
      emit("st.param.b32 [r], %a;\n  ret;");
      mark(rest);
    }
    collective(kind);
    emit("st.param.b32 [r], %a;\n  ret;");
    functions_ += ".func (.param .b32 r) " + name + "(.param .b32 m, .param .b32 a, .param .b32 key) {\n" +
                  registers(flags_) + body + "}\n\n";
    text_ = outer;
    flags_ = flagsBefore;
    mask_ = maskBefore;
    emit("{\n  .param .b32 p0;\n  .param .b32 p1;\n  .param .b32 p2;\n  .param .b32 r0;\n  mov.u32 %t0, " + mask_ +
         ";\n  st.param.b32 [p0], %t0;\n  st.param.b32 [p1], %a;\n  st.param.b32 [p2], %key;\n  call.uni (r0), " +
         name + ", (p0, p1, p2);\n  ld.param.b32 %a, [r0];\n  }");
  }

  // Something without collectives, that takes lanes a while of their own.
  void quiet() {
    if (random_.chance(50)) return emit("mad.lo.u32 %a, %a, 1664525, " + number(1000) + ";");
    const std::string head = label(), end = label(), p = flag();
    emit("shr.u32 %t9, %key, " + number(24) + ";\n  and.b32 %t9, %t9, 3;");
    mark(head);
    emit("setp.eq.u32 " + p + ", %t9, 0;\n  @" + p + " bra " + end +
         ";\n  mad.lo.u32 %a, %a, 5, %t9;\n  sub.u32 %t9, %t9, 1;\n  bra " + head + ";");
    mark(end);
  }

  // --- collectives ----------------------------------------------------------------------------------------
  void collective(Kind kind) {
    note(kNames[static_cast<int>(kind)]);
    emit("and.b32 %v, %a, " + std::to_string(random_.chance(50) ? 3 : 1023) + ";");
    switch (kind) {
      case Kind::idx: return shuffle("idx");
      case Kind::up: return shuffle("up");
      case Kind::down: return shuffle("down");
      case Kind::bfly: return shuffle("bfly");
      case Kind::all: return vote("all");
      case Kind::any: return vote("any");
      case Kind::uni: return vote("uni");
      case Kind::ballot: emit("setp.gt.u32 %q, %v, 1;\n  vote.sync.ballot.b32 %r, %q, " + mask_ + ";"); break;
      case Kind::matchAny: emit("match.any.sync.b32 %r, %v, " + mask_ + ";"); break;
      case Kind::matchAny64:
        emit("cvt.u64.u32 %u1, %v;\n  shl.b64 %u1, %u1, 20;\n  match.any.sync.b64 %r, %u1, " + mask_ + ";");
        break;
      case Kind::matchAll:
        emit("shr.u32 %v, %v, 1;\n  match.all.sync.b32 %r|%q, %v, " + mask_ +
             ";\n  selp.b32 %t0, 1, 2, %q;\n  add.u32 %r, %r, %t0;");
        break;
      case Kind::redux: {
        static const char *operations[] = {"add.u32", "min.u32", "max.s32", "xor.b32"};
        // One for the whole kernel: each is a kind of its own.
        if (!redux_) redux_ = random_.pick(operations);
        emit("redux.sync." + std::string(redux_) + " %r, %v, " + mask_ + ";");
        break;
      }
      default: return handOver();
    }
    see();
  }

  void see() { emit("mad.lo.u32 %a, %a, 31, %r;"); }

  void vote(const std::string &mode) {
    emit("setp.gt.u32 %q, %v, 1;\n  vote.sync." + mode + ".pred %z, %q, " + mask_ + ";\n  selp.b32 %r, 5, 9, %z;");
    see();
  }

  // What comes from a lane that the mask does not name, or that does not exist, is not used.
  void shuffle(const std::string &mode) {
    const std::string by = std::to_string(1 + random_.below(31));
    if (mode == "idx") emit("shr.u32 %t1, %key, 3;\n  and.b32 %t1, %t1, 31;\n  mov.u32 %t2, %t1;");
    if (mode == "up") emit("mov.u32 %t1, " + by + ";\n  sub.u32 %t2, %lane, %t1;");
    if (mode == "down") emit("mov.u32 %t1, " + by + ";\n  add.u32 %t2, %lane, %t1;");
    if (mode == "bfly") emit("mov.u32 %t1, " + by + ";\n  xor.b32 %t2, %lane, %t1;");
    emit("shfl.sync." + mode + ".b32 %r|%q, %v, %t1, " + (mode == "up" ? "0" : "31") + ", " + mask_ + ";");
    if (!open_) {
      emit(
          "selp.b32 %t2, %t2, %lane, %q;\n  and.b32 %t2, %t2, 31;\n  mov.u32 %t3, " + mask_ +
          ";\n  shr.u32 %t3, %t3, %t2;\n  and.b32 %t3, %t3, 1;\n  setp.eq.u32 %z, %t3, 1;\n  selp.b32 %r, %r, 77, %z;");
      if (kernel_.block % 32) {  // the last warp's lanes
        emit("sub.u32 %t3, %thread, %lane;\n  add.u32 %t3, %t3, %t2;\n  setp.lt.u32 %z, %t3, " +
             std::to_string(kernel_.block) + ";\n  selp.b32 %r, %r, 78, %z;");
      }
    }
    see();
  }

  // Each lane writes a word and reads that of another one of its group.
  void handOver() {
    emit(
        "mov.u32 %t1, board;\n  shl.b32 %t2, %thread, 2;\n  add.u32 %t2, %t2, %t1;\n  st.shared.u32 [%t2], %v;\n  "
        "bar.warp.sync " +
        mask_ + ";");
    emit("xor.b32 %t3, %lane, " + std::to_string(1 + random_.below(31)) + ";\n  mov.u32 %t4, " + mask_ +
         ";\n  shr.u32 %t4, %t4, %t3;\n  and.b32 %t4, %t4, 1;\n  setp.eq.u32 %q, %t4, 1;\n  selp.b32 %t3, %t3, %lane, "
         "%q;");
    emit("sub.u32 %t4, %thread, %lane;\n  add.u32 %t3, %t3, %t4;\n  setp.lt.u32 %q, %t3, " +
         std::to_string(kernel_.block) +
         ";\n  selp.b32 %t3, %t3, %thread, %q;\n  shl.b32 %t3, %t3, 2;\n  add.u32 %t3, %t3, %t1;");
    emit("ld.shared.u32 %r, [%t3];");
    see();
    emit("bar.warp.sync " + mask_ + ";");
  }

  // Collectives that others of the mask miss; who is active.
  void stray() {
    const std::string p = condition(), end = label();
    if (random_.chance(40)) emit("activemask.b32 %r;"), see();
    emit("@" + p + " bra " + end + ";");
    if (random_.chance(40)) emit("activemask.b32 %r;"), see();
    collective(kind());
    mark(end);
  }

  Random random_;
  GeneratedKernel kernel_;
  std::string body_, functions_, mask_ = "-1";
  std::string *text_ = &body_;
  const char *redux_ = nullptr;
  bool open_, exits_ = false;
  int labels_ = 0, flags_ = 0, functionCount_ = 0;
};

}  // namespace

GeneratedKernel generateMeetingKernel(std::uint64_t seed) { return MeetingGenerator(seed).run(); }

}  // namespace strata::fuzz
