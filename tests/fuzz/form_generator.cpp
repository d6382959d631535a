// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/form_generator.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tests/fuzz/called_functions.h"
#include "tests/fuzz/forms.h"
#include "tests/fuzz/random.h"

namespace strata::fuzz {
namespace {

struct Registers {
  char hole;                        // in forms.h
  const char *name, *type, *value;  // value: the type of what is in it
  int count, bytes;
};
constexpr Registers kRegisters[] = {
    {'i', "%i", "b32", "u32", 6, 4},  {'l', "%l", "b64", "u64", 3, 8},    {'s', "%s", "b16", "u16", 2, 2},
    {'f', "%f", "f32", "f32", 3, 4},  {'d', "%d", "f64", "f64", 2, 8},    {'h', "%h", "b16", "f16", 2, 2},
    {'e', "%e", "b16", "bf16", 2, 2}, {'H', "%hh", "b32", "f16x2", 2, 4}, {'E', "%ee", "b32", "bf16x2", 2, 4},
};
constexpr int kPredicates = 5, kMaxDepth = 3;

// Where a statement stands: what is known of the threads that come there.
struct Place {
  int depth = 0;
  bool uniform = false;    // all threads of the block come here together
  std::string mask;        // a register with exactly the lanes of this warp that come here together; empty: not known
  bool mayReturn = false;  // nothing around relies on who is still there
};

class FormGenerator {
public:
  explicit FormGenerator(std::uint64_t seed) : random_(seed * 0x2545F4914F6CDD1Dull + 3) {}

  GeneratedKernel run() {
    // Mostly whole warps: the others are many times as much code on SIMD targets without masks.
    static const std::uint32_t whole[] = {32, 64, 96, 128}, broken[] = {33, 70, 7, 8, 16, 24};
    kernel_.block = random_.chance(88) ? random_.pick(whole) : random_.pick(broken);
    if (kernel_.block <= 32) kernel_.blockY = 1 + random_.below(3);
    kernel_.grid = 1 + random_.below(3);
    kernel_.counters = 48;
    threads_ = kernel_.block * kernel_.blockY;
    sideBySide_ = random_.chance(75);
    for (const char *together : {"l", "s", "f", "d", "hH", "eE"})
      if (random_.chance(40)) types_ += together;
    Place top{0, true, "%m0", true};
    for (int left = 3 + random_.below(6); left; --left) statement(top);
    std::string statements = std::exchange(body_, "");
    auto uses = [&](const char *name) { return statements.find(name) != std::string::npos; };
    const bool counts = uses("tally") || uses("sums");
    prologue();
    if (uses("scratch") || uses("Anywhere")) fillScratch();
    if (uses("%own") || uses("board")) emit("st.shared.v2.u32 [%own], {%i0, %i1};");
    if (counts) clearTallies();
    emit("bar.sync 0;");
    body_ += statements;
    epilogue();
    if (counts) tallies();
    emit("ret;");
    kernel_.ptx = ".version 8.0\n.target sm_90\n.address_size 64\n\n" + declarations() + entry();
    return std::move(kernel_);
  }

private:
  // --- text ---------------------------------------------------------------------------------------
  void emit(const std::string &line) { body_ += "  " + line + "\n"; }
  void mark(const std::string &label) { body_ += label + ":\n"; }
  std::string label() { return "$L" + std::to_string(labels_++); }
  std::string fresh(char kind, int &count) { return std::string("%") + kind + std::to_string(count++); }
  std::string flag() { return fresh('c', flags_); }
  std::string counter() { return fresh('n', counters_); }
  std::string maskRegister() { return fresh('m', masks_); }
  bool has(char hole) const { return hole == 'i' || types_.find(hole) != std::string::npos; }
  std::string number(std::uint32_t below) { return std::to_string(random_.below(below)); }
  void note(const std::string &construct) { ++kernel_.constructs[construct]; }

  // One alternative of a <…|…> that starts after `at`; `at` moves past its end.
  std::string alternative(const std::string &form, std::size_t &at) {
    std::vector<std::string> list(1);
    for (int depth = 1; depth; ++at) {
      char c = form[at];
      depth += c == '<' ? 1 : c == '>' ? -1 : 0;
      if (!depth) continue;
      if (c == '|' && depth == 1) list.emplace_back();
      else list.back() += c;
    }
    return list[random_.below(list.size())];
  }

  std::string hole(char kind, const std::string &mask) {
    static const char *compares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    for (const Registers &r : kRegisters)
      if (r.hole == kind) {
        missing_ |= !has(kind);
        return r.name + number(r.count);
      }
    switch (kind) {
      case 'p': return "%p" + number(kPredicates);
      case 'c': return random_.pick(compares);
      case 'm': return mask;
      case 'N': return std::to_string(threads_);
      default: return std::to_string(threads_ * kernel_.grid * kInputWords);  // 'W'
    }
  }

  // A form with its holes filled, of the types that this kernel has.
  std::string fill(const std::string &form) {
    labels_ += 2;
    return fill(form, "", labels_ - 2);
  }
  std::string fill(const std::string &form, const std::string &mask, int firstLabel) {
    std::string text;
    for (std::size_t at = 0; at < form.size();) {
      char c = form[at++];
      if (c == '<') {
        text += fill(alternative(form, at), mask, firstLabel);
      } else if (c == '#') {
        std::size_t end = form.find('#', at);
        text += number(std::stoul(form.substr(at, end - at)));
        at = end + 1;
      } else if (c == '$' && form[at] == 'L') {
        text += "$L" + std::to_string(firstLabel + form[at + 1] - '1');
        at += 2;
      } else if (c == '$') {
        text += hole(form[at++], mask);
      } else {
        text += c;
      }
    }
    return text;
  }

  template <class T, std::size_t n>
  std::string form(const T (&list)[n], const std::string &mask = "") {
    labels_ += 2;
    std::string text;
    do {
      missing_ = false;
      text = fill(random_.pick(list), mask, labels_ - 2);
    } while (missing_);
    return text;
  }

  // Whether a register of another type than 32-bit integers is in it.
  bool isTyped(const std::string &text) const {
    return std::any_of(std::begin(kRegisters) + 1, std::end(kRegisters),
                       [&](const Registers &r) { return has(r.hole) && text.find(r.name) != std::string::npos; });
  }

  // Half of it with the other types that this kernel has, as far as the list has any. Instructions of one line are
  // sometimes guarded.
  template <std::size_t n>
  void anywhere(const char *const (&list)[n]) {
    std::string text = form(list);
    if (random_.chance(50))
      for (int tries = 0; tries < 12 && !isTyped(text); ++tries) text = form(list);
    // NVIDIA's assembler drops a testp's guard: an H200 writes the predicate whatever the guard is.
    if (text.find('\n') == std::string::npos && random_.chance(20) && !text.starts_with("testp")) {
      note("guarded instruction");
      text = (random_.chance(50) ? "@%p" : "@!%p") + number(kPredicates) + " " + text;
    }
    emit(text);
  }

  // --- frame ----------------------------------------------------------------------------------------
  static std::string declarations() {
    return R"(.const .align 4 .b32 constants[16] = {1, 0, 4294967295, 2147483648, 7, 31, 32, 255, 65535, 12345, 99, 1000000007, 3, 8, 64, 4096};
.func (.param .b32 r) mix(.param .b32 a, .param .b32 b);
.func (.param .b32 r) leap(.param .b32 a, .param .b32 b);
.global .align 8 .u64 functions[2] = {mix, leap};

)" + std::string(kMix) +
           R"(.func (.param .b32 r) leap(.param .b32 a, .param .b32 b) {
  .reg .b32 %x<6>;
  .reg .pred %q;
  ld.param.u32 %x0, [a];
  ld.param.u32 %x1, [b];
  and.b32 %x2, %x0, 7;
STEP:
  setp.eq.u32 %q, %x2, 0;
  @%q bra DONE;
  mad.lo.u32 %x1, %x1, 5, %x0;
  sub.u32 %x2, %x2, 1;
  bra STEP;
DONE:
  st.param.b32 [r], %x1;
  ret;
}

)" + kDescend;
  }

  std::string entry() const {
    auto some = [](int n) { return "<" + std::to_string(n) + ">;\n"; };
    std::string text = ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 counters) {\n";
    text +=
        "  .shared .align 8 .b8 board[1024];\n  .shared .align 4 .b8 tally[64];\n  .shared .align 8 .b8 sums[32];\n  "
        ".local .align 16 .b8 scratch[64];\n";
    for (const Registers &r : kRegisters) text += std::string("  .reg .") + r.type + " " + r.name + some(r.count);
    text += "  .reg .pred %p" + some(kPredicates) + "  .reg .pred %c" + some(flags_ + 1) + "  .reg .pred %q<2>;\n";
    text += "  .reg .b32 %n" + some(counters_ + 1) + "  .reg .b32 %m" + some(masks_ + 1) + "  .reg .b32 %t<8>;\n";
    text +=
        "  .reg .b64 %u<2>, %all, %in, %out, %mine, %counters, %ownAnywhere, %localAnywhere;\n  .reg .b32 %thread, "
        "%me, %own;\n";
    text += "  .reg .b16 %x<2>;\n  .reg .f32 %y0;\n  .reg .f64 %z0;\n";
    return text + "PROTOTYPE: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n" + body_ + "}\n";
  }

  // Word k of this thread: words of a thread in a row, or those of all threads side by side.
  std::string word(int k, const char *base) const {
    std::uint32_t all = threads_ * kernel_.grid;
    return std::string("[") + base + "+" + std::to_string(sideBySide_ ? 4 * all * k : 4 * k) + "]";
  }
  void pointToWords(const char *pointer, std::uint32_t words) {
    emit("mul.wide.u32 %u0, %me, " + std::to_string(sideBySide_ ? 4 : 4 * words) + ";\n  add.u64 " + pointer + ", " +
         pointer + ", %u0;");
  }

  // Every register starts from this thread's input words.
  void prologue() {
    emit(
        "ld.param.u64 %all, [in];\n  ld.param.u64 %out, [out];\n  ld.param.u64 %counters, [counters];\n  mov.u64 %in, "
        "%all;");
    emit(
        "mov.u32 %thread, %tid.x;\n  mov.u32 %t0, %tid.y;\n  mov.u32 %t1, %ntid.x;\n  mad.lo.u32 %thread, %t0, %t1, "
        "%thread;");
    emit("mov.u32 %t0, %ctaid.x;\n  mad.lo.u32 %me, %t0, " + std::to_string(threads_) + ", %thread;");
    pointToWords("%in", kInputWords);
    pointToWords("%out", kOutputWords);
    emit("add.u64 %mine, %out, " +
         std::to_string(sideBySide_ ? 4 * threads_ * kernel_.grid * (kOutputWords - 1) : 4 * (kOutputWords - 1)) +
         ";\n  st.global.u32 [%mine], 5;");
    int at = 0;
    for (const Registers &r : kRegisters)
      for (int i = 0; has(r.hole) && i < r.count; ++i) {
        emit("ld.global.u32 %t0, " + word(at++ % kInputWords, "%in") + ";");
        emit(start(r, r.name + std::to_string(i)));
      }
    for (int i = 0; i < kPredicates; ++i)
      emit("setp.lt.s32 %p" + std::to_string(i) + ", %i" + std::to_string(i) + ", " + number(50) + ";");
    emit("mov.u32 %t1, board;\n  shl.b32 %own, %thread, 3;\n  add.u32 %own, %own, %t1;");
    // %m0: the lanes of this warp, of which the last may have fewer than 32.
    emit("and.b32 %t0, %thread, -32;\n  sub.u32 %t0, " + std::to_string(threads_) +
         ", %t0;\n  min.u32 %t0, %t0, 32;\n  bmsk.clamp.b32 %m0, 0, %t0;");
  }

  void fillScratch() {
    for (int i = 0; i < 16; ++i)
      emit("st.local.u32 [scratch+" + std::to_string(4 * i) + "], %i" + std::to_string(i % 6) + ";");
    emit(
        "mov.u64 %u0, scratch;\n  cvta.local.u64 %localAnywhere, %u0;\n  cvt.u64.u32 %u0, %own;\n  cvta.shared.u64 "
        "%ownAnywhere, %u0;");
  }

  void clearTallies() {
    emit("setp.ne.u32 %q0, %thread, 0;\n  @%q0 bra $START;");
    for (int i = 0; i < 16; ++i) emit("st.shared.u32 [tally+" + std::to_string(4 * i) + "], 0;");
    for (int i = 0; i < 4; ++i) emit("st.shared.u64 [sums+" + std::to_string(8 * i) + "], 0;");
    mark("$START");
  }

  // The register's first value, of the word %t0.
  static std::string start(const Registers &r, const std::string &name) {
    switch (r.hole) {
      case 'l': return "mov.b64 " + name + ", {%t0, %i1};";
      case 's': return "cvt.u16.u32 " + name + ", %t0;";
      case 'f': return "cvt.rn.f32.s32 " + name + ", %t0;";
      case 'd': return "cvt.rn.f64.s32 " + name + ", %t0;";
      case 'h': return "cvt.u16.u32 %x0, %t0;\n  cvt.rn.f16.s16 " + name + ", %x0;";
      case 'e': return "cvt.rn.bf16.s32 " + name + ", %t0;";
      case 'H': return "cvt.u16.u32 %x0, %t0;\n  cvt.rn.f16.s16 %x0, %x0;\n  mov.b32 " + name + ", {%h0, %x0};";
      case 'E': return "cvt.rn.bf16.s32 %x0, %t0;\n  mov.b32 " + name + ", {%e0, %x0};";
      default: return "mov.b32 " + name + ", %t0;";
    }
  }

  // All registers are stored, a NaN as its canonical bits.
  void epilogue() {
    int at = 0;
    auto store = [&](const std::string &value) { emit("st.global.u32 " + word(at++, "%out") + ", " + value + ";"); };
    auto half = [&](const std::string &type, const std::string &value) {
      emit("setp.num." + type + " %q0, " + value + ", " + value + ";\n  selp.b16 " + value + ", " + value +
           ", 32767, %q0;");
    };
    for (const Registers &r : kRegisters)
      for (int i = 0; has(r.hole) && i < r.count; ++i) {
        const std::string name = r.name + std::to_string(i), type = r.value;
        if (r.hole == 'f')
          emit("setp.num.f32 %q0, " + name + ", " + name + ";\n  selp.f32 %y0, " + name +
               ", 0f7FC00000, %q0;\n  mov.b32 %t0, %y0;");
        else if (r.hole == 'd')
          emit("setp.num.f64 %q0, " + name + ", " + name + ";\n  selp.f64 %z0, " + name +
               ", 0d7FF8000000000000, %q0;\n  mov.b64 {%t0, %t1}, %z0;");
        else if (r.hole == 'l') emit("mov.b64 {%t0, %t1}, " + name + ";");
        else if (r.bytes == 2) emit("mov.b16 %x0, " + name + ";");
        else if (r.hole != 'i') emit("mov.b32 {%x0, %x1}, " + name + ";");
        if (r.hole == 'h' || r.hole == 'e') half(type, "%x0");
        if (r.hole == 'H' || r.hole == 'E')
          half(type.substr(0, type.size() - 2), "%x0"), half(type.substr(0, type.size() - 2), "%x1");
        if (r.bytes == 2) emit("cvt.u32.u16 %t0, %x0;");
        if (r.hole == 'H' || r.hole == 'E') emit("mov.b32 %t0, {%x0, %x1};");
        store(r.hole == 'i' ? name : "%t0");
        if (r.bytes == 8) store("%t1");
      }
    emit("mov.u32 %t0, 0;");
    for (int i = 0; i < kPredicates; ++i)
      emit("@%p" + std::to_string(i) + " or.b32 %t0, %t0, " + std::to_string(1 << i) + ";");
    store("%t0");
  }

  // What the block has counted in shared memory is added to the counters.
  void tallies() {
    emit("bar.sync 0;\n  setp.ne.u32 %q0, %thread, 0;\n  @%q0 bra $END;");
    for (int i = 0; i < 16; ++i)
      emit("ld.shared.u32 %t0, [tally+" + std::to_string(4 * i) + "];\n  red.global.add.u32 [%counters+" +
           std::to_string(72 + 4 * i) + "], %t0;");
    emit("ld.shared.f32 %y0, [sums];\n  cvt.rzi.u32.f32 %t0, %y0;\n  red.global.add.u32 [%counters+136], %t0;");
    emit("ld.shared.f64 %z0, [sums+8];\n  cvt.rzi.u32.f64 %t0, %z0;\n  red.global.add.u32 [%counters+140], %t0;");
    emit("ld.shared.u32 %t0, [sums+16];\n  red.global.add.u32 [%counters+144], %t0;");
    mark("$END");
  }

  // --- statements -------------------------------------------------------------------------------------
  void statement(const Place &place) {
    const bool uniform = place.uniform && !returned_;
    const std::string mask = maskLost_ ? "" : place.mask;
    std::uint32_t kind = random_.below(100);
    if (kind < 12 && uniform) return note("barrier, depth " + std::to_string(place.depth)), emit(form(kBarriers));
    if (kind < 26 && !mask.empty()) return collective(place, mask);
    if (kind < 40) return note("memory, atomics, calls"), anywhere(kMemory);
    if (kind < 70 || place.depth >= kMaxDepth) return anywhere(kAssignments);
    if (kind < 74 && uniform) return uniformBranch(place);
    if (kind < 78 && uniform) return uniformLoop(place);
    if (kind < 82 && !mask.empty()) return maskedBranch(place, mask);
    if (kind < 86 && !mask.empty()) return maskedLoop(place, mask);
    if (kind < 90) return branch(place);
    if (kind < 95) return loop(place);
    if (kind < 97) return switchOn(place);
    if (kind < 99 && place.mayReturn) return earlyReturn(place, mask);
    anywhere(kAssignments);
  }

  void block(const Place &place) {
    for (int left = 1 + random_.below(3); left; --left) statement(place);
  }

  // Inside something where only some threads come, and nobody knows which.
  static Place inside(const Place &place) { return {place.depth + 1, false, "", place.mayReturn}; }

  void noteNested(const char *what, const Place &place) {
    note(what);
    if (place.depth) note(std::string(what) + ", nested");
  }

  std::string condition() {
    std::string p = flag();
    emit("mov.pred " + p + ", %p" + number(kPredicates) + ";");
    if (random_.chance(30)) return p;
    const std::string s = "setp.$c.";
    const std::string forms[] = {s + "s32 " + p + ", $i, <$i|#64#>;", s + "u32 " + p + ", %thread, #64#;",
                                 s + "s64 " + p + ", $l, $l;", s + "f32 " + p + ", $f, $f;",
                                 s + "f64 " + p + ", $d, $d;"};
    emit(form(forms));
    return p;
  }

  std::string uniformCondition() {
    std::string p = flag();
    if (random_.chance(40)) emit("mov.u32 %t0, %ctaid.x;\n  setp.eq.u32 " + p + ", %t0, " + number(3) + ";");
    else
      emit(fill("ld.global.u32 %t0, [%all+<0|4|8|12|16|20|60>];\n  and.b32 %t0, %t0, 3;\n  setp.$c.u32 " + p +
                ", %t0, #4#;"));
    return p;
  }

  void either(const std::string &p, const Place &then, const Place &otherwise) {
    std::string second = label(), end = label();
    emit("@" + std::string(random_.chance(50) ? "!" : "") + p + " bra " + second + ";");
    block(then);
    if (random_.chance(60)) {
      emit("bra " + end + ";");
      mark(second);
      block(otherwise);
      mark(end);
    } else {
      mark(second);
    }
  }

  void branch(const Place &place) {
    noteNested("divergent branch", place);
    either(condition(), inside(place), inside(place));
  }

  void uniformBranch(const Place &place) {
    noteNested("uniform branch", place);
    Place in{place.depth + 1, true, place.mask, false};
    either(uniformCondition(), in, in);
  }

  // Both sides know their lanes, by a vote before the branch.
  void maskedBranch(const Place &place, const std::string &mask) {
    noteNested("branch with masks", place);
    std::string p = condition(), yes = maskRegister(), no = maskRegister(), second = label(), end = label();
    emit("vote.sync.ballot.b32 " + yes + ", " + p + ", " + mask + ";\n  not.b32 " + no + ", " + yes + ";\n  and.b32 " +
         no + ", " + no + ", " + mask + ";");
    emit("@!" + p + " bra " + second + ";");
    block({place.depth + 1, false, yes, false});
    emit("bra " + end + ";");
    mark(second);
    block({place.depth + 1, false, no, false});
    mark(end);
  }

  void sometimesLeave(const std::string &end, const std::string &next) {
    if (!random_.chance(35)) return;
    bool breaks = random_.chance(60);
    note(breaks ? "break" : "continue");
    emit("@" + condition() + " bra " + (breaks ? end : next) + ";");
  }

  // A counted loop, tested at its head or its end, with breaks and continues.
  void loop(const Place &place) {
    noteNested("divergent loop", place);
    std::string count = counter(), p = flag(), head = label(), next = label(), end = label();
    bool atEnd = random_.chance(30);
    emit(fill("and.b32 " + count + ", $i, <3|7>;"));
    mark(head);
    if (!atEnd) emit("setp.eq.u32 " + p + ", " + count + ", 0;\n  @" + p + " bra " + end + ";");
    for (int parts = 1 + random_.below(2); parts; --parts) {
      block(inside(place));
      sometimesLeave(end, next);
    }
    mark(next);
    emit("sub.u32 " + count + ", " + count + ", 1;");
    if (atEnd) emit("setp.gt.s32 " + p + ", " + count + ", 0;\n  @" + p + " bra " + head + ";");
    else emit("bra " + head + ";");
    mark(end);
  }

  void uniformLoop(const Place &place) {
    noteNested("uniform loop", place);
    std::string count = counter(), p = flag(), head = label(), end = label();
    if (random_.chance(50)) emit("mov.u32 " + count + ", " + std::to_string(1 + random_.below(4)) + ";");
    else
      emit("ld.global.u32 " + count + ", [%all+" + std::to_string(4 * random_.below(8)) + "];\n  and.b32 " + count +
           ", " + count + ", 3;");
    mark(head);
    emit("setp.eq.u32 " + p + ", " + count + ", 0;\n  @" + p + " bra " + end + ";");
    block({place.depth + 1, true, place.mask, false});
    if (random_.chance(30)) note("uniform break"), emit("@" + uniformCondition() + " bra " + end + ";");
    emit("sub.u32 " + count + ", " + count + ", 1;\n  bra " + head + ";");
    mark(end);
  }

  // A loop whose lanes vote on who goes round once more, and on who breaks off.
  void maskedLoop(const Place &place, const std::string &mask) {
    noteNested("loop with masks", place);
    std::string count = counter(), here = maskRegister(), p = flag(), head = label(), end = label();
    emit(fill("and.b32 " + count + ", $i, <3|7>;") + "\n  mov.b32 " + here + ", " + mask + ";");
    mark(head);
    emit("setp.ne.u32 " + p + ", " + count + ", 0;\n  vote.sync.ballot.b32 " + here + ", " + p + ", " + here +
         ";\n  @!" + p + " bra " + end + ";");
    Place in{place.depth + 1, false, here, false};
    block(in);
    if (random_.chance(40)) {
      note("break with masks");
      std::string q = condition();
      emit("vote.sync.ballot.b32 " + here + ", !" + q + ", " + here + ";\n  @" + q + " bra " + end + ";");
      block(in);
    }
    emit("sub.u32 " + count + ", " + count + ", 1;\n  bra " + head + ";");
    mark(end);
  }

  void switchOn(const Place &place) {
    noteNested("switch", place);
    std::string index = counter(), table = "$T" + std::to_string(labels_++), end = label();
    std::vector<std::string> targets = {label(), label(), label(), label()};
    emit("and.b32 " + index + ", %i" + number(6) + ", 3;");
    emit(table + ": .branchtargets " + targets[0] + ", " + targets[1] + ", " + targets[2] + ", " + targets[3] +
         ";\n  brx.idx " + index + ", " + table + ";");
    for (const std::string &t : targets) {
      mark(t);
      block(inside(place));
      if (random_.chance(70)) emit("bra " + end + ";");  // else falls through
    }
    mark(end);
  }

  // At the top, the lanes that stay know each other by a vote; elsewhere nobody can know them after it.
  void earlyReturn(const Place &place, const std::string &mask) {
    noteNested("early return", place);
    returned_ = true;
    std::string p = condition(), q = flag();
    emit("setp.gt.u32 " + q + ", %thread, " + number(100) + ";\n  and.pred " + p + ", " + p + ", " + q + ";");
    if (place.depth || mask.empty()) maskLost_ = true;
    else emit("vote.sync.ballot.b32 " + mask + ", !" + p + ", " + mask + ";");
    emit("@" + p + " ret;");
  }

  void collective(const Place &place, const std::string &mask) {
    note("collective, depth " + std::to_string(place.depth));
    if (random_.chance(60)) return emit(form(kCollectives, mask));
    note("shuffle, depth " + std::to_string(place.depth));
    shuffle(mask);
  }

  // What comes from a lane that is not here is not fixed: then the lane keeps its own value.
  void shuffle(const std::string &mask) {
    static const char *modes[] = {"idx", "up", "down", "bfly"};
    static const std::uint32_t widths[] = {32, 16, 8, 4};
    std::string mode = random_.pick(modes), d = "%i" + number(6), a = "%i" + number(6);
    std::uint32_t width = random_.pick(widths), clamp = (mode == "up" ? 0 : 31) | (32 - width) << 8;
    emit("mov.b32 %t0, " + a + ";\n  mov.b32 %t1, " +
         (mode == "idx" && random_.chance(60) ? "%i" + number(6) : number(32)) + ";");
    emit("shfl.sync." + mode + ".b32 %t2|%q0, %t0, %t1, " + std::to_string(clamp) + ", " + mask + ";");
    // %t4: the lane it comes from, by the manual's rule
    emit("mov.u32 %t3, %laneid;\n  and.b32 %t5, %t3, " + std::to_string(32 - width) + ";\n  and.b32 %t1, %t1, 31;");
    if (mode == "idx") emit("and.b32 %t4, %t1, " + std::to_string(width - 1) + ";\n  or.b32 %t4, %t4, %t5;");
    else if (mode == "up") emit("sub.s32 %t4, %t3, %t1;\n  setp.ge.s32 %q1, %t4, %t5;\n  selp.b32 %t4, %t4, %t3, %q1;");
    else
      emit(std::string(mode == "down" ? "add.s32" : "xor.b32") + " %t4, %t3, %t1;\n  or.b32 %t5, %t5, " +
           std::to_string(width - 1) + ";\n  setp.le.s32 %q1, %t4, %t5;\n  selp.b32 %t4, %t4, %t3, %q1;");
    emit("shr.u32 %t4, " + mask + ", %t4;\n  and.b32 %t4, %t4, 1;\n  setp.ne.u32 %q1, %t4, 0;\n  selp.b32 " + d +
         ", %t2, %t0, %q1;\n  @%q0 add.u32 " + d + ", " + d + ", 1;");
  }

  Random random_;
  GeneratedKernel kernel_;
  std::string body_;
  std::uint32_t threads_ = 0;
  std::string types_;  // the holes that this kernel has registers for, beside $i
  bool sideBySide_ = true, returned_ = false, maskLost_ = false, missing_ = false;
  int labels_ = 0, flags_ = 0, counters_ = 0, masks_ = 1;
};

}  // namespace

GeneratedKernel generateFormKernel(std::uint64_t seed) { return FormGenerator(seed).run(); }

}  // namespace strata::fuzz
