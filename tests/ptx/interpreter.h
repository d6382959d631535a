// SPDX-License-Identifier: Apache-2.0
// A LaneBuilder that computes: each Value is a number, each operation host arithmetic. Straight-line code
// only. It is the readable definition that the meanings in ptx/isa are tested with.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "ptx/isa/form.h"
#include "ptx/lane_builder.h"

namespace strata::ptx {

// Straight-line code over the registers %p0…7, %c0…7 (b8), %h0…7 (b16), %r0…7, %rd0…7, %q0…7 (b128), and
// the variables .global buffer[256], .shared tile[256], inside one kernel.
struct Program {
  explicit Program(const std::string &body);
  Module module;
};

class Interpreter : public LaneBuilder {
public:
  using Bits = unsigned __int128;

  // Runs the program from its first instruction to its last.
  void run(const Program &program);
  void set(const std::string &name, Bits bits) { registers_[name] = bits; }
  Bits get(const std::string &name) { return registers_[name]; }
  std::uint32_t r(int n) { return static_cast<std::uint32_t>(registers_["%r" + std::to_string(n)]); }
  std::uint64_t rd(int n) { return static_cast<std::uint64_t>(registers_["%rd" + std::to_string(n)]); }
  std::uint16_t h(int n) { return static_cast<std::uint16_t>(registers_["%h" + std::to_string(n)]); }
  bool p(int n) { return static_cast<bool>(registers_["%p" + std::to_string(n)]); }

  // Memory: one array for all spaces; variables start at kBuffer and kTile.
  static constexpr std::uint64_t kBuffer = 256, kTile = 512;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1024);
  // What intrinsics were called, as "name(arguments)", and what they answer in order.
  std::vector<std::string> calls;
  std::map<std::string, std::vector<std::uint64_t>> answers;
  std::vector<Access> accesses;  // of loads, stores and atomics

  Value operand(const Instruction &i, unsigned index, Type type) override;
  Value element(const Instruction &i, unsigned index, unsigned element, Type type) override;
  Value address(const Instruction &i, unsigned index, Space space) override;
  void define(const Instruction &i, unsigned index, Value value, Type type) override;
  void defineElement(const Instruction &i, unsigned index, unsigned element, Value value, Type type) override;
  bool wants(const Instruction &i, unsigned index, unsigned element) override;
  Value constant(ScalarType type, std::uint64_t bits) override;
  ScalarType typeOf(Value v) override;
  Value bitcast(Value v, ScalarType to) override;
  Value trunc(Value v, ScalarType to) override;
  Value zext(Value v, ScalarType to) override;
  Value sext(Value v, ScalarType to) override;
  Value integer(IntOp op, Value a, Value b) override;
  Value shift(ShiftOp op, Value a, Value amount32) override;
  Value funnelLeft(Value hi, Value lo, Value amount) override;
  Value funnelRight(Value hi, Value lo, Value amount) override;
  Value unary(Unary op, Value a) override;
  Value compare(Compare op, Value a, Value b) override;
  Value select(Value condition, Value a, Value b) override;
  Value floating(FloatOp op, Value a, Value b, Rounding r) override;
  Value fma(Value a, Value b, Value c, Rounding r) override;
  Value sqrt(Value a, Rounding r) override;
  Value fneg(Value a) override;
  Value fabs(Value a) override;
  Value copysign(Value magnitude, Value sign) override;
  Value fcompare(FCompare op, Value a, Value b) override;
  Value fmin(Value a, Value b) override;
  Value fmax(Value a, Value b) override;
  Value flushSubnormal(Value a) override;
  Value approx(Approx fn, Value a) override;
  Value roundToIntegral(Value a, Rounding r) override;
  Value floatToFloat(Value a, ScalarType to, Rounding r) override;
  Value floatToInt(Value a, ScalarType to, bool isSigned, Rounding r) override;
  Value intToFloat(Value a, ScalarType to, bool isSigned, Rounding r) override;
  std::vector<Value> load(const Access &access, ScalarType type, unsigned count, Value address) override;
  void store(const Access &access, Value address, const std::vector<Value> &values) override;
  Value atomic(AtomicOp op, const Access &access, Value address, Value operand) override;
  Value compareExchange(const Access &access, Value address, Value expected, Value desired) override;
  void fence(Order order, Scope scope) override;
  Value toGeneric(Space from, Value address) override;
  Value fromGeneric(Space to, Value address) override;
  Value isSpace(Space space, Value generic) override;
  void copy(Space dstSpace, Value dst, Space srcSpace, Value src, Value bytes) override;
  Value special(SpecialRegister which) override;
  std::vector<Value> intrinsic(std::string_view name, const std::vector<Value> &args,
                               const std::vector<ScalarType> &results) override;

private:
  struct Node {
    ScalarType type;
    Bits bits;
  };
  Value make(ScalarType type, Bits bits);
  const Node &at(Value v) const { return *static_cast<const Node *>(v.handle); }
  Value read(const Operand &o, Type type);
  void write(const Operand &o, Value value, Type type);
  Bits peek(std::uint64_t address, unsigned bytes);
  void poke(std::uint64_t address, unsigned bytes, Bits bits);

  const Module *module_ = nullptr;
  const Function *function_ = nullptr;
  std::map<std::string, Bits> registers_;
  std::deque<Node> nodes_;
};

// Rounds a number to a float format of `exponentBits` and `mantissaBits` (without the hidden one), in one
// step; overflow as IEEE says. NaN gives the canonical NaN, all ones but the sign.
std::uint64_t roundTo(long double value, unsigned exponentBits, unsigned mantissaBits, Rounding r);
double halfToDouble(std::uint16_t bits, bool bfloat);

}  // namespace strata::ptx
