// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/stride_generator.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "tests/fuzz/random.h"

namespace strata::fuzz {
namespace {

class StrideGenerator {
public:
  explicit StrideGenerator(std::uint64_t seed) : random_(seed * 0xD1342543DE82EF95ull + 5) {}

  GeneratedKernel run() {
    static const std::uint32_t blocks[] = {32, 64, 64, 128, 256, 96, 40, 100};
    static const int sizes[] = {4, 4, 4, 8, 2, 1};
    kernel_.block = random_.pick(blocks);
    kernel_.grid = 1 + random_.below(2);
    threads_ = kernel_.block;
    size_ = random_.pick(sizes);
    inShared_ = random_.chance(70);
    elements_ = random_.chance(60) ? 2 * threads_ : 2 * threads_ - random_.below(40);
    prologue();
    for (int n = 1 + random_.below(3); n; --n) {
      rounds();
      if (random_.chance(50)) taps();
    }
    epilogue();
    kernel_.ptx = ".version 8.0\n.target sm_90\n.address_size 64\n\n" + entry();
    return std::move(kernel_);
  }

private:
  enum class Step { doubled, halved, counted, added };

  void emit(const std::string &line) { body_ += "  " + line + "\n"; }
  void mark(const std::string &label) { body_ += label + ":\n"; }
  std::string label() { return "$L" + std::to_string(labels_++); }
  std::string number(std::uint32_t below) { return std::to_string(random_.below(below)); }
  void note(const std::string &construct) { ++kernel_.constructs[construct]; }

  std::string space() const { return inShared_ ? ".shared" : ".global"; }
  std::string type() const { return size_ == 8 ? ".u64" : size_ == 4 ? ".u32" : size_ == 2 ? ".u16" : ".u8"; }
  std::string value(int n) const { return (size_ == 8 ? "%v" : "%w") + std::to_string(n); }
  std::string operation(const char *name) const { return std::string(name) + (size_ == 8 ? ".u64 " : ".u32 "); }

  // %a<n>: where element `index` is.
  void address(int n, const std::string &index) {
    const std::string a = "%a" + std::to_string(n);
    if (random_.chance(30))
      emit("cvt.s64.s32 " + a + ", " + index + ";\n  mul.lo.s64 " + a + ", " + a + ", " + std::to_string(size_) + ";");
    else emit("mul.wide.u32 " + a + ", " + index + ", " + std::to_string(size_) + ";");
    emit("add.u64 " + a + ", " + a + ", %array;");
  }

  std::string entry() const {
    std::string text = ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 counters) {\n";
    text +=
        "  .reg .b32 %t<8>, %w<4>, %thread, %me, %i, %j, %s;\n  .reg .b64 %u<2>, %v<4>, %a<2>, %in, %out, %array;\n  "
        ".reg .pred %p, %q, %more;\n";
    if (inShared_) text += "  .shared .align 16 .b8 tile[" + std::to_string(2 * threads_ * size_) + "];\n";
    return text + body_ + "}\n";
  }

  // The array is the block's: shared, or its part of the output.
  void prologue() {
    emit("ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %thread, %tid.x;\n  mov.u32 %t0, %ctaid.x;");
    emit("mad.lo.u32 %me, %t0, " + std::to_string(threads_) + ", %thread;");
    emit("mul.wide.u32 %u0, %t0, " + std::to_string(4 * kOutputWords * threads_) + ";\n  add.u64 %out, %out, %u0;");
    emit(inShared_ ? "mov.u64 %array, tile;" : "mov.u64 %array, %out;");
    emit("mul.wide.u32 %u0, %me, " + std::to_string(4 * kInputWords) + ";\n  add.u64 %in, %in, %u0;");
    for (int n = 0; n < 2; ++n) {
      emit("ld.global" + std::string(size_ == 8 ? ".u64 " : ".u32 ") + value(n) + ", [%in+" + std::to_string(8 * n) +
           "];");
      emit("add.u32 %i, %thread, " + std::to_string(n * threads_) + ";");
      address(0, "%i");
      emit("st" + space() + type() + " [%a0], " + value(n) + ";");
    }
  }

  void epilogue() {
    emit("bar.sync 0;");
    if (!inShared_) return emit("ret;");
    for (int n = 0; n < 2; ++n) {
      emit("add.u32 %i, %thread, " + std::to_string(n * threads_) + ";");
      address(0, "%i");
      emit("ld" + space() + type() + " " + value(n) +
           ", [%a0];\n  sub.u64 %a0, %a0, %array;\n  add.u64 %a0, %a0, %out;\n  st.global" + type() + " [%a0], " +
           value(n) + ";");
    }
    emit("ret;");
  }

  void rounds() {
    const auto step = static_cast<Step>(random_.below(4));
    const bool power = step != Step::added && random_.chance(75);
    const std::uint32_t first = power ? 1u << random_.below(3) : 1 + random_.below(7), most = std::min(threads_, 128u);
    static const char *names[] = {"doubled", "halved", "counted", "added to"};
    note(std::string("stride ") + names[static_cast<int>(step)]);
    const std::string head = label(), end = label();
    const bool counts = step == Step::counted;
    // A counter is in %t7, the stride in %s.
    if (counts) emit("mov.u32 %t7, " + number(3) + ";");
    else
      emit("mov.u32 %s, " + std::to_string(step == Step::halved ? first * std::bit_floor(most / first) : first) + ";");
    mark(head);
    emit("bar.sync 0;");
    if (counts) emit("mov.u32 %t0, 1;\n  shl.b32 %s, %t0, %t7;");
    pair(counts, power || counts);
    if (counts)
      emit("add.u32 %t7, %t7, 1;\n  setp.le.u32 %more, %t7, " + std::to_string(std::bit_width(most) - 1) + ";");
    else if (step == Step::doubled) emit("shl.b32 %s, %s, 1;\n  setp.le.u32 %more, %s, " + std::to_string(most) + ";");
    else if (step == Step::halved) emit("shr.u32 %s, %s, 1;\n  setp.ge.u32 %more, %s, " + std::to_string(first) + ";");
    else
      emit("add.u32 %s, %s, " + std::to_string(3 + random_.below(9)) + ";\n  setp.le.u32 %more, %s, " +
           std::to_string(most) + ";");
    emit("@%more bra " + head + ";");
    mark(end);
  }

  // Two or three elements near each other, which other threads read, too, or would if they were not idle; then each
  // writes its own.
  void taps() {
    note("taps");
    const std::string over = label(), a = value(0), b = value(1), sum = value(2), c = value(3),
                      low = number(2 * threads_ / 3);
    const auto load = [&](const std::string &to) {
      emit("ld" + space() + type() + " " + to + ", [%a0+" + std::to_string(random_.below(7) * size_) + "];");
    };
    emit("bar.sync 0;\n  mul.lo.u32 %i, %thread, " + std::to_string(1 + random_.below(4)) + ";\n  add.u32 %i, %i, " +
         number(3) + ";");
    emit("add.u32 %t0, %i, 6;\n  setp.lt.u32 %p, %t0, " + std::to_string(elements_) + ";");
    if (random_.chance(50)) emit("setp.ge.and.u32 %p, %thread, " + low + ", %p;");
    emit((size_ == 8 ? "mov.b64 " : "mov.b32 ") + sum + ", 0;\n  @!%p bra " + over + ";");
    address(0, "%i");
    load(a);
    load(b);
    emit(operation("mul.lo") + sum + ", " + a + ", 3;\n  " + operation("sub") + sum + ", " + sum + ", " + b + ";");
    if (random_.chance(40)) {
      load(c);
      emit(operation("add") + sum + ", " + sum + ", " + c + ";");
    }
    mark(over);
    emit("bar.sync 0;");
    address(1, "%thread");
    emit("@%p st" + space() + type() + " [%a1], " + sum + ";");
  }

  // %i and %j of this thread, and %p: it has such a pair.
  void indexes(bool counts, bool power) {
    emit("setp.eq.u32 %p, %thread, %thread;");
    switch (random_.below(7)) {
      case 0:
        if (!power) return indexes(counts, power);
        note("masked");
        return emit(
            "sub.u32 %t0, %s, 1;\n  and.b32 %t0, %thread, %t0;\n  shl.b32 %t1, %thread, 1;\n  sub.u32 %i, %t1, %t0;\n  "
            "add.u32 %j, %i, %s;");
      case 1:
        note("divided");
        return emit(
            "div.u32 %t0, %thread, %s;\n  rem.u32 %t1, %thread, %s;\n  mul.lo.u32 %t0, %t0, %s;\n  shl.b32 %t0, %t0, "
            "1;\n  add.u32 %i, %t0, %t1;\n  add.u32 %j, %i, %s;");
      case 2:
        note("exclusive or");
        return emit("mov.u32 %i, %thread;\n  xor.b32 %j, %thread, %s;\n  setp.gt.u32 %p, %j, %i;");
      case 3:
        note("multiplied");
        return emit("mul.lo.u32 %t0, %s, %thread;\n  shl.b32 %i, %t0, 1;\n  add.u32 %j, %i, %s;");
      case 4:
        note("multiplied, from the end");
        return emit(
            "shl.b32 %t0, %thread, 1;\n  add.u32 %t0, %t0, 1;\n  mul.lo.u32 %i, %s, %t0;\n  sub.u32 %i, %i, 1;\n  "
            "add.u32 %j, %i, %s;");
      case 5:
        note("each so many");
        return emit(
            "shl.b32 %t0, %s, 1;\n  rem.u32 %t1, %thread, %t0;\n  setp.eq.u32 %p, %t1, 0;\n  mov.u32 %i, %thread;\n  "
            "add.u32 %j, %i, %s;");
      default:
        if (!counts) return indexes(counts, power);
        note("shifted");
        return emit(
            "shr.u32 %t0, %thread, %t7;\n  add.u32 %t1, %t7, 1;\n  shl.b32 %t0, %t0, %t1;\n  sub.u32 %t1, %s, 1;\n  "
            "and.b32 %t1, %thread, %t1;\n  or.b32 %i, %t0, %t1;\n  add.u32 %j, %i, %s;");
    }
  }

  void pair(bool counts, bool power) {
    const std::string over = label();
    indexes(counts, power);
    const std::uint32_t shift = random_.chance(25) ? 1 + random_.below(5) : 0;
    if (shift) emit("add.u32 %i, %i, " + std::to_string(shift) + ";\n  add.u32 %j, %j, " + std::to_string(shift) + ";");
    if (random_.chance(20))
      note("backwards"), emit("sub.u32 %i, " + std::to_string(elements_ - 1) + ", %i;\n  sub.u32 %j, " +
                              std::to_string(elements_ - 1) + ", %j;");
    emit("setp.lt.and.u32 %p, %i, " + std::to_string(elements_) + ", %p;\n  setp.lt.and.u32 %p, %j, " +
         std::to_string(elements_) + ", %p;\n  @!%p bra " + over + ";");
    const bool backwards = random_.chance(30);
    address(0, backwards ? "%j" : "%i");
    address(1, backwards ? "%i" : "%j");
    emit("ld" + space() + type() + " " + value(0) + ", [%a0];\n  ld" + space() + type() + " " + value(1) + ", [%a1];");
    change(over);
    mark(over);
  }

  // What becomes of the two values.
  void change(const std::string &over) {
    const std::string a = value(0), b = value(1), c = value(2), d = value(3);
    const auto store = [&](int n, const std::string &what) {
      return "st" + space() + type() + " [%a" + std::to_string(n) + "], " + what + ";";
    };
    switch (random_.below(6)) {
      case 0:
        return emit(operation("min") + c + ", " + a + ", " + b + ";\n  " + operation("max") + d + ", " + a + ", " + b +
                    ";\n  " + store(0, c) + "\n  " + store(1, d));
      case 1:
        return emit(operation("add") + c + ", " + a + ", " + b + ";\n  " + store(0, c) + "\n  " + operation("sub") + d +
                    ", " + a + ", " + b + ";\n  " + store(1, d));
      case 2:
        return emit("setp.le" + std::string(size_ == 8 ? ".u64" : ".u32") + " %q, " + a + ", " + b + ";\n  @%q bra " +
                    over + ";\n  " + store(0, b) + "\n  " + store(1, a));
      case 3: return emit(operation("add") + c + ", " + a + ", " + b + ";\n  " + store(random_.below(2), c));
      case 4: return emit(store(1, a) + "\n  " + operation("add") + c + ", " + a + ", " + b + ";\n  " + store(0, c));
      default:
        return emit("setp.gt" + std::string(size_ == 8 ? ".u64" : ".u32") + " %q, " + a + ", " + b + ";\n  @%q " +
                    store(0, b) + "\n  @%q " + store(1, a));
    }
  }

  Random random_;
  GeneratedKernel kernel_;
  std::string body_;
  std::uint32_t threads_ = 0, elements_ = 0;
  int size_ = 4, labels_ = 0;
  bool inShared_ = true;
};

}  // namespace

GeneratedKernel generateStrideKernel(std::uint64_t seed) { return StrideGenerator(seed).run(); }

}  // namespace strata::fuzz
