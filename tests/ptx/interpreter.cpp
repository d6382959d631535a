// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/interpreter.h"

#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

using Bits = Interpreter::Bits;
using SignedBits = __int128;

Bits mask(ScalarType type) { return bitsOf(type) == 128 ? ~Bits(0) : (Bits(1) << bitsOf(type)) - 1; }
SignedBits extended(ScalarType type, Bits bits) {
  unsigned unused = 128 - bitsOf(type);
  return static_cast<SignedBits>(bits << unused) >> unused;
}

[[noreturn]] void unexpected(const std::string &what) {
  std::fprintf(stderr, "interpreter: %s\n", what.c_str());
  std::abort();
}

// The host's rounding mode while this lives.
class RoundingMode {
public:
  explicit RoundingMode(Rounding r) : old_(std::fegetround()) {
    std::fesetround(r == Rounding::zero   ? FE_TOWARDZERO
                    : r == Rounding::down ? FE_DOWNWARD
                    : r == Rounding::up   ? FE_UPWARD
                                          : FE_TONEAREST);
  }
  ~RoundingMode() { std::fesetround(old_); }

private:
  int old_;
};

float asFloat(Bits bits) {
  auto word = static_cast<std::uint32_t>(bits);
  float f;
  std::memcpy(&f, &word, 4);
  return f;
}
double asDouble(Bits bits) {
  auto word = static_cast<std::uint64_t>(bits);
  double d;
  std::memcpy(&d, &word, 8);
  return d;
}
Bits bitsOfFloat(float f) {
  std::uint32_t word;
  std::memcpy(&word, &f, 4);
  return word;
}
Bits bitsOfDouble(double d) {
  std::uint64_t word;
  std::memcpy(&word, &d, 8);
  return word;
}

// Every value of a float type as a double, exactly.
double number(ScalarType type, Bits bits) {
  switch (type) {
    case ScalarType::f16: return halfToDouble(static_cast<std::uint16_t>(bits), false);
    case ScalarType::bf16: return halfToDouble(static_cast<std::uint16_t>(bits), true);
    case ScalarType::f32: return asFloat(bits);
    case ScalarType::f64: return asDouble(bits);
    default: unexpected("a float is needed");
  }
}
Bits rounded(long double value, ScalarType type, Rounding r) {
  switch (type) {
    case ScalarType::f16: return roundTo(value, 5, 10, r);
    case ScalarType::bf16: return roundTo(value, 8, 7, r);
    case ScalarType::f32: return roundTo(value, 8, 23, r);
    case ScalarType::f64: return roundTo(value, 11, 52, r);
    default: unexpected("a float is needed");
  }
}

// f32 and f64 compute in the host's type under the rounding mode. The 16-bit types compute in double: its
// 53 bits are more than twice theirs plus two, so that rounding twice to nearest is rounding once. That
// does not hold for fma, which has fusedHalf.
template <class Fn>
Bits compute(ScalarType type, Rounding r, Fn fn) {
  RoundingMode mode(r);
  if (type == ScalarType::f32) return bitsOfFloat(fn(float()));
  double d = fn(double());
  return type == ScalarType::f64 ? bitsOfDouble(d) : rounded(d, type, Rounding::nearestEven);
}

// a * b + c of 16-bit floats: the product is exact in double, the sum is rounded to odd (its last bit tells
// whether anything was cut off), so that the final rounding sees which side of a tie it is on.
Bits fusedHalf(ScalarType type, double a, double b, double c) {
  volatile double product = a * b, sum = product + c;
  volatile double back = sum - product, error = (product - (sum - back)) + (c - back);
  double odd = sum;
  std::uint64_t word;
  std::memcpy(&word, &odd, 8);
  if (std::isfinite(sum) && error != 0 && !(word & 1)) odd = std::nextafter(odd, error > 0 ? INFINITY : -INFINITY);
  return rounded(odd, type, Rounding::nearestEven);
}

}  // namespace

double halfToDouble(std::uint16_t bits, bool bfloat) {
  if (bfloat) return asFloat(static_cast<std::uint32_t>(bits) << 16);
  int exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  double magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                     : exponent == 0 ? std::ldexp(mantissa, -24)
                                     : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

std::uint64_t roundTo(long double value, unsigned exponentBits, unsigned mantissaBits, Rounding r) {
  std::uint64_t exponentMask = (1ull << exponentBits) - 1, sign = std::signbit(value);
  if (std::isnan(value)) return (1ull << (exponentBits + mantissaBits)) - 1;
  std::uint64_t signBit = sign << (exponentBits + mantissaBits), infinity = exponentMask << mantissaBits;
  long double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return signBit | infinity;
  int bias = (1 << (exponentBits - 1)) - 1, exponent = 0;
  std::frexp(magnitude, &exponent);                                              // magnitude < 2^exponent
  int unit = std::max(exponent - 1, 1 - bias) - static_cast<int>(mantissaBits);  // exponent of the last place
  long double scaled = std::ldexp(magnitude, -unit), whole = std::floor(scaled), rest = scaled - whole;
  bool odd = std::fmod(whole, 2.0L) == 1;
  bool up = false;
  switch (r) {
    case Rounding::nearestEven: up = rest > 0.5L || (rest == 0.5L && odd); break;
    case Rounding::nearestAway: up = rest >= 0.5L; break;
    case Rounding::zero: break;
    case Rounding::down: up = rest > 0 && sign; break;
    case Rounding::up: up = rest > 0 && !sign; break;
  }
  auto integer = static_cast<std::uint64_t>(whole) + up;
  // integer * 2^unit; the encoding carries into the exponent by itself.
  std::uint64_t biased = static_cast<std::uint64_t>(unit + static_cast<int>(mantissaBits) + bias);
  std::uint64_t bits = integer >> mantissaBits ? ((biased - 1) << mantissaBits) + integer : integer;
  if (bits >= infinity) {
    bool toInfinity = r == Rounding::nearestEven || r == Rounding::nearestAway || (r == Rounding::down && sign) ||
                      (r == Rounding::up && !sign);
    bits = toInfinity ? infinity : infinity - 1;
  }
  return signBit | bits;
}

Program::Program(const std::string &body) {
  std::string text =
      ".version 8.8\n.target sm_100a\n.address_size 64\n.global .align 16 .b8 buffer[256];\n.shared .align 16 .b8 "
      "tile[256];\n"
      ".visible .entry k()\n{\n.reg .pred %p<8>;\n.reg .b8 %c<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<8>;\n.reg .b64 "
      "%rd<8>;\n"
      ".reg .b128 %q<8>;\n" +
      body + "\n}\n";
  Result<Module> parsed = parse(text);
  if (!parsed) unexpected(body + ": " + parsed.error().message);
  module = *std::move(parsed);
}

void Interpreter::run(const Program &program) {
  module_ = &program.module;
  function_ = module_->findFunction("k");
  nodes_.clear();
  for (const Instruction &i : function_->body) {
    if (!i.form->meaning) unexpected(std::string(i.form->syntax) + " has no meaning");
    i.form->meaning(*this, i);
  }
}

Value Interpreter::make(ScalarType type, Bits bits) {
  nodes_.push_back({type, bits & mask(type)});
  return {&nodes_.back()};
}

// ---- Operands ---------------------------------------------------------------------------------------

Value Interpreter::read(const Operand &o, Type type) {
  ScalarType scalar = scalarType(type);
  Bits bits = 0;
  switch (o.kind) {
    case Operand::Kind::reg: bits = registers_[function_->registers[o.reg].name]; break;
    case Operand::Kind::immediate:
      bits = o.bits;
      if (type == Type::f32 && o.type == Type::f64) bits = bitsOfFloat(static_cast<float>(asDouble(o.bits)));
      if (type == Type::f64 && o.type == Type::f32) bits = bitsOfDouble(asFloat(o.bits));
      break;
    case Operand::Kind::symbol:
      bits = (module_->variables[o.symbol.index].name == "buffer" ? kBuffer : kTile) +
             static_cast<std::uint64_t>(o.offset);
      break;
    case Operand::Kind::special: return special(o.special);
    default: unexpected("this operand has no value");
  }
  if (o.negated) bits = !(bits & 1);
  return make(scalar, bits);
}
Value Interpreter::operand(const Instruction &i, unsigned index, Type type) { return read(i.operands.at(index), type); }
Value Interpreter::element(const Instruction &i, unsigned index, unsigned element, Type type) {
  return read(i.operands.at(index).elements.at(element), type);
}
Value Interpreter::address(const Instruction &i, unsigned index, Space) {
  const Operand &o = i.operands.at(index);
  Bits base = 0;
  if (o.hasReg) base = registers_[function_->registers[o.reg].name];
  if (o.hasSymbol) base = module_->variables[o.symbol.index].name == "buffer" ? kBuffer : kTile;
  return make(ScalarType::i64, base + static_cast<std::uint64_t>(o.offset));
}

void Interpreter::write(const Operand &o, Value value, Type type) {
  if (o.kind == Operand::Kind::sink) return;
  const Register &reg = function_->registers[o.reg];
  if (bitsOf(at(value).type) != bitsOf(scalarType(type))) unexpected("a result of another width than its type");
  Bits bits = at(value).bits;
  if (isSigned(type)) bits = static_cast<Bits>(extended(at(value).type, bits));
  registers_[reg.name] = bits & mask(scalarType(reg.type));
}
void Interpreter::define(const Instruction &i, unsigned index, Value value, Type type) {
  write(i.operands.at(index), value, type);
}
void Interpreter::defineElement(const Instruction &i, unsigned index, unsigned element, Value value, Type type) {
  write(i.operands.at(index).elements.at(element), value, type);
}
bool Interpreter::wants(const Instruction &i, unsigned index, unsigned element) {
  const Operand &o = i.operands.at(index);
  return element < o.elements.size() && o.elements[element].kind != Operand::Kind::sink;
}

// ---- Integers ----------------------------------------------------------------------------------------

Value Interpreter::constant(ScalarType type, std::uint64_t bits) { return make(type, bits); }
ScalarType Interpreter::typeOf(Value v) { return at(v).type; }
Value Interpreter::bitcast(Value v, ScalarType to) {
  if (bitsOf(at(v).type) != bitsOf(to)) unexpected("a bitcast between widths");
  return make(to, at(v).bits);
}
Value Interpreter::trunc(Value v, ScalarType to) {
  if (bitsOf(to) > bitsOf(at(v).type) || isFloat(at(v).type)) unexpected("a trunc that widens, or of a float");
  return make(to, at(v).bits);
}
Value Interpreter::zext(Value v, ScalarType to) {
  if (bitsOf(to) < bitsOf(at(v).type) || isFloat(at(v).type)) unexpected("a zext that narrows, or of a float");
  return make(to, at(v).bits);
}
Value Interpreter::sext(Value v, ScalarType to) {
  if (bitsOf(to) < bitsOf(at(v).type) || isFloat(at(v).type)) unexpected("a sext that narrows, or of a float");
  return make(to, static_cast<Bits>(extended(at(v).type, at(v).bits)));
}

Value Interpreter::integer(IntOp op, Value va, Value vb) {
  ScalarType type = at(va).type;
  if (type != at(vb).type || isFloat(type)) unexpected("an integer operation on different types");
  Bits a = at(va).bits, b = at(vb).bits;
  SignedBits sa = extended(type, a), sb = extended(type, b);
  SignedBits least = extended(type, Bits(1) << (bitsOf(type) - 1)), most = ~least;
  auto clamped = [&](SignedBits v) { return static_cast<Bits>(v < least ? least : v > most ? most : v); };
  switch (op) {
    case IntOp::add: return make(type, a + b);
    case IntOp::sub: return make(type, a - b);
    case IntOp::mul: return make(type, a * b);
    case IntOp::and_: return make(type, a & b);
    case IntOp::or_: return make(type, a | b);
    case IntOp::xor_: return make(type, a ^ b);
    case IntOp::udiv: return make(type, b ? a / b : ~Bits(0));
    case IntOp::sdiv: return make(type, b ? static_cast<Bits>(sa / sb) : ~Bits(0));
    case IntOp::urem: return make(type, b ? a % b : a);
    case IntOp::srem: return make(type, b ? static_cast<Bits>(sa % sb) : a);
    case IntOp::smin: return make(type, sa < sb ? a : b);
    case IntOp::smax: return make(type, sa > sb ? a : b);
    case IntOp::umin: return make(type, a < b ? a : b);
    case IntOp::umax: return make(type, a > b ? a : b);
    case IntOp::umulhi: return make(type, (a * b) >> bitsOf(type));
    case IntOp::smulhi: return make(type, static_cast<Bits>((sa * sb) >> bitsOf(type)));
    case IntOp::uaddsat: return make(type, a + b > mask(type) ? mask(type) : a + b);
    case IntOp::usubsat: return make(type, a < b ? 0 : a - b);
    case IntOp::saddsat: return make(type, clamped(sa + sb));
    case IntOp::ssubsat: return make(type, clamped(sa - sb));
  }
  unexpected("unknown integer operation");
}

Value Interpreter::shift(ShiftOp op, Value va, Value amount32) {
  ScalarType type = at(va).type;
  if (at(amount32).type != ScalarType::i32 || isFloat(type)) unexpected("a shift by something else than i32");
  unsigned width = bitsOf(type);
  auto n = static_cast<std::uint32_t>(at(amount32).bits);
  if (op == ShiftOp::ashr) return make(type, static_cast<Bits>(extended(type, at(va).bits) >> std::min(n, width - 1)));
  if (n >= width) return make(type, 0);
  return make(type, op == ShiftOp::shl ? at(va).bits << n : at(va).bits >> n);
}
Value Interpreter::funnelLeft(Value hi, Value lo, Value amount) {
  ScalarType type = at(hi).type;
  unsigned width = bitsOf(type), n = static_cast<unsigned>(at(amount).bits) % width;
  return make(type, n ? at(hi).bits << n | at(lo).bits >> (width - n) : at(hi).bits);
}
Value Interpreter::funnelRight(Value hi, Value lo, Value amount) {
  ScalarType type = at(hi).type;
  unsigned width = bitsOf(type), n = static_cast<unsigned>(at(amount).bits) % width;
  return make(type, n ? at(hi).bits << (width - n) | at(lo).bits >> n : at(lo).bits);
}
Value Interpreter::unary(Unary op, Value v) {
  ScalarType type = at(v).type;
  Bits a = at(v).bits, result = 0;
  unsigned width = bitsOf(type);
  switch (op) {
    case Unary::not_: return make(type, ~a);
    case Unary::neg: return make(type, 0 - a);
    case Unary::popcount:
      for (unsigned k = 0; k < width; ++k) result += a >> k & 1;
      return make(type, result);
    case Unary::clz:
      for (unsigned k = width; k-- > 0 && !(a >> k & 1);) ++result;
      return make(type, result);
    case Unary::reverse:
      for (unsigned k = 0; k < width; ++k) result |= (a >> k & 1) << (width - 1 - k);
      return make(type, result);
  }
  unexpected("unknown unary operation");
}
Value Interpreter::compare(Compare op, Value va, Value vb) {
  ScalarType type = at(va).type;
  if (type != at(vb).type) unexpected("a comparison of different types");
  Bits a = at(va).bits, b = at(vb).bits;
  SignedBits sa = extended(type, a), sb = extended(type, b);
  bool r = false;
  switch (op) {
    case Compare::eq: r = a == b; break;
    case Compare::ne: r = a != b; break;
    case Compare::slt: r = sa < sb; break;
    case Compare::sle: r = sa <= sb; break;
    case Compare::sgt: r = sa > sb; break;
    case Compare::sge: r = sa >= sb; break;
    case Compare::ult: r = a < b; break;
    case Compare::ule: r = a <= b; break;
    case Compare::ugt: r = a > b; break;
    case Compare::uge: r = a >= b; break;
  }
  return make(ScalarType::i1, r);
}
Value Interpreter::select(Value condition, Value a, Value b) {
  if (at(condition).type != ScalarType::i1 || at(a).type != at(b).type) unexpected("a select of different types");
  return at(condition).bits ? a : b;
}

// ---- Floating point ------------------------------------------------------------------------------------

Value Interpreter::floating(FloatOp op, Value va, Value vb, Rounding r) {
  ScalarType type = at(va).type;
  double a = number(type, at(va).bits), b = number(type, at(vb).bits);
  return make(type, compute(type, r, [&]<class T>(T) {
                volatile T x = static_cast<T>(a), y = static_cast<T>(b), z = 0;
                switch (op) {
                  case FloatOp::add: z = x + y; break;
                  case FloatOp::sub: z = x - y; break;
                  case FloatOp::mul: z = x * y; break;
                  case FloatOp::div: z = x / y; break;
                }
                return static_cast<T>(z);
              }));
}
Value Interpreter::fma(Value va, Value vb, Value vc, Rounding r) {
  ScalarType type = at(va).type;
  double a = number(type, at(va).bits), b = number(type, at(vb).bits), c = number(type, at(vc).bits);
  if (bitsOf(type) == 16) return make(type, fusedHalf(type, a, b, c));
  return make(type, compute(type, r, [&]<class T>(T) {
                volatile T x = static_cast<T>(a), y = static_cast<T>(b), z = static_cast<T>(c);
                volatile T d = std::fma(static_cast<T>(x), static_cast<T>(y), static_cast<T>(z));
                return static_cast<T>(d);
              }));
}
Value Interpreter::sqrt(Value v, Rounding r) {
  ScalarType type = at(v).type;
  double a = number(type, at(v).bits);
  return make(type, compute(type, r, [&]<class T>(T) {
                volatile T x = static_cast<T>(a);
                volatile T d = std::sqrt(static_cast<T>(x));
                return static_cast<T>(d);
              }));
}
Value Interpreter::fneg(Value a) { return make(at(a).type, at(a).bits ^ (Bits(1) << (bitsOf(at(a).type) - 1))); }
Value Interpreter::fabs(Value a) { return make(at(a).type, at(a).bits & (mask(at(a).type) >> 1)); }
Value Interpreter::copysign(Value m, Value s) {
  ScalarType type = at(m).type;
  Bits signBit = Bits(1) << (bitsOf(type) - 1);
  return make(type, (at(m).bits & ~signBit) | (at(s).bits & signBit));
}
Value Interpreter::fcompare(FCompare op, Value va, Value vb) {
  double a = number(at(va).type, at(va).bits), b = number(at(vb).type, at(vb).bits);
  bool nan = std::isnan(a) || std::isnan(b), r = false;
  switch (op) {
    case FCompare::oeq: r = !nan && a == b; break;
    case FCompare::one: r = !nan && a != b; break;
    case FCompare::olt: r = a < b; break;
    case FCompare::ole: r = a <= b; break;
    case FCompare::ogt: r = a > b; break;
    case FCompare::oge: r = a >= b; break;
    case FCompare::ueq: r = nan || a == b; break;
    case FCompare::une: r = nan || a != b; break;
    case FCompare::ult: r = nan || a < b; break;
    case FCompare::ule: r = nan || a <= b; break;
    case FCompare::ugt: r = nan || a > b; break;
    case FCompare::uge: r = nan || a >= b; break;
    case FCompare::num: r = !nan; break;
    case FCompare::nan: r = nan; break;
  }
  return make(ScalarType::i1, r);
}
Value Interpreter::fmin(Value va, Value vb) {
  double a = number(at(va).type, at(va).bits), b = number(at(vb).type, at(vb).bits);
  if (std::isnan(a)) return vb;
  if (std::isnan(b)) return va;
  return a < b || (a == b && std::signbit(a)) ? va : vb;
}
Value Interpreter::fmax(Value va, Value vb) {
  double a = number(at(va).type, at(va).bits), b = number(at(vb).type, at(vb).bits);
  if (std::isnan(a)) return vb;
  if (std::isnan(b)) return va;
  return a > b || (a == b && !std::signbit(a)) ? va : vb;
}
Value Interpreter::flushSubnormal(Value v) {
  ScalarType type = at(v).type;
  double a = std::fabs(number(type, at(v).bits));
  double least = type == ScalarType::f16 ? 0x1p-14 : type == ScalarType::f64 ? 0x1p-1022 : 0x1p-126;
  return a > 0 && a < least ? make(type, at(v).bits & (Bits(1) << (bitsOf(type) - 1))) : v;
}
Value Interpreter::approx(Approx fn, Value v) {
  ScalarType type = at(v).type;
  double a = number(type, at(v).bits), r = 0;
  switch (fn) {
    case Approx::rcp: r = 1 / a; break;
    case Approx::rsqrt: r = 1 / std::sqrt(a); break;
    case Approx::sqrt: r = std::sqrt(a); break;
    case Approx::sin: r = std::sin(a); break;
    case Approx::cos: r = std::cos(a); break;
    case Approx::ex2: r = std::exp2(a); break;
    case Approx::lg2: r = std::log2(a); break;
    case Approx::tanh: r = std::tanh(a); break;
    case Approx::div: unexpected("approx(div) takes one operand");
  }
  return make(type, rounded(r, type, Rounding::nearestEven));
}
Value Interpreter::roundToIntegral(Value v, Rounding r) {
  ScalarType type = at(v).type;
  double a = number(type, at(v).bits);
  if (std::isnan(a)) return v;
  RoundingMode mode(r);
  double integral = r == Rounding::nearestAway ? std::round(a) : std::nearbyint(a);
  return make(type, rounded(integral, type, Rounding::nearestEven));
}
Value Interpreter::floatToFloat(Value v, ScalarType to, Rounding r) {
  return make(to, rounded(number(at(v).type, at(v).bits), to, r));
}
Value Interpreter::floatToInt(Value v, ScalarType to, bool isSignedResult, Rounding r) {
  double a = number(at(v).type, at(v).bits);
  if (std::isnan(a)) return make(to, 0);
  RoundingMode mode(r);
  double integral = r == Rounding::nearestAway ? std::round(a) : std::nearbyint(a);
  unsigned width = bitsOf(to);
  double end = std::ldexp(1.0, static_cast<int>(width) - (isSignedResult ? 1 : 0));
  Bits most = isSignedResult ? mask(to) >> 1 : mask(to), least = isSignedResult ? Bits(1) << (width - 1) : 0;
  if (integral >= end) return make(to, most);
  if (integral < (isSignedResult ? -end : 0)) return make(to, least);
  return make(to, static_cast<Bits>(static_cast<SignedBits>(integral)));
}
Value Interpreter::intToFloat(Value v, ScalarType to, bool isSignedSource, Rounding r) {
  ScalarType from = at(v).type;
  long double exact = isSignedSource ? static_cast<long double>(static_cast<std::int64_t>(extended(from, at(v).bits)))
                                     : static_cast<long double>(static_cast<std::uint64_t>(at(v).bits));
  return make(to, rounded(exact, to, r));
}

// ---- Memory ---------------------------------------------------------------------------------------------

Bits Interpreter::peek(std::uint64_t address, unsigned bytes) {
  if (address + bytes > memory.size() || address % bytes) unexpected("a bad address " + std::to_string(address));
  Bits bits = 0;
  for (unsigned k = 0; k < bytes; ++k) bits |= Bits(memory[address + k]) << (8 * k);
  return bits;
}
void Interpreter::poke(std::uint64_t address, unsigned bytes, Bits bits) {
  if (address + bytes > memory.size() || address % bytes) unexpected("a bad address " + std::to_string(address));
  for (unsigned k = 0; k < bytes; ++k) memory[address + k] = static_cast<std::uint8_t>(bits >> (8 * k));
}
std::vector<Value> Interpreter::load(const Access &access, ScalarType type, unsigned count, Value address) {
  accesses.push_back(access);
  std::vector<Value> values;
  unsigned bytes = bitsOf(type) / 8;
  for (unsigned k = 0; k < count; ++k)
    values.push_back(make(type, peek(static_cast<std::uint64_t>(at(address).bits) + k * bytes, bytes)));
  return values;
}
void Interpreter::store(const Access &access, Value address, const std::vector<Value> &values) {
  accesses.push_back(access);
  auto to = static_cast<std::uint64_t>(at(address).bits);
  for (Value v : values) {
    unsigned bytes = bitsOf(at(v).type) / 8;
    poke(to, bytes, at(v).bits);
    to += bytes;
  }
}
Value Interpreter::atomic(AtomicOp op, const Access &access, Value address, Value operand) {
  accesses.push_back(access);
  ScalarType type = at(operand).type;
  auto where = static_cast<std::uint64_t>(at(address).bits);
  Value old = make(type, peek(where, bitsOf(type) / 8)), next;
  switch (op) {
    case AtomicOp::exch: next = operand; break;
    case AtomicOp::add: next = integer(IntOp::add, old, operand); break;
    case AtomicOp::sub: next = integer(IntOp::sub, old, operand); break;
    case AtomicOp::and_: next = integer(IntOp::and_, old, operand); break;
    case AtomicOp::or_: next = integer(IntOp::or_, old, operand); break;
    case AtomicOp::xor_: next = integer(IntOp::xor_, old, operand); break;
    case AtomicOp::smin: next = integer(IntOp::smin, old, operand); break;
    case AtomicOp::smax: next = integer(IntOp::smax, old, operand); break;
    case AtomicOp::umin: next = integer(IntOp::umin, old, operand); break;
    case AtomicOp::umax: next = integer(IntOp::umax, old, operand); break;
    case AtomicOp::inc: next = make(type, at(old).bits >= at(operand).bits ? 0 : at(old).bits + 1); break;
    case AtomicOp::dec:
      next = make(type, at(old).bits == 0 || at(old).bits > at(operand).bits ? at(operand).bits : at(old).bits - 1);
      break;
    case AtomicOp::fadd: next = floating(FloatOp::add, old, operand, Rounding::nearestEven); break;
    case AtomicOp::fmin: next = fmin(old, operand); break;
    case AtomicOp::fmax: next = fmax(old, operand); break;
  }
  poke(where, bitsOf(type) / 8, at(next).bits);
  return old;
}
Value Interpreter::compareExchange(const Access &access, Value address, Value expected, Value desired) {
  accesses.push_back(access);
  ScalarType type = at(expected).type;
  auto where = static_cast<std::uint64_t>(at(address).bits);
  Value old = make(type, peek(where, bitsOf(type) / 8));
  if (at(old).bits == at(expected).bits) poke(where, bitsOf(type) / 8, at(desired).bits);
  return old;
}
void Interpreter::fence(Order order, Scope scope) {
  calls.push_back("fence(" + std::to_string(static_cast<int>(order)) + "," + std::to_string(static_cast<int>(scope)) +
                  ")");
}
Value Interpreter::toGeneric(Space from, Value address) {
  return make(ScalarType::i64, at(address).bits + (from == Space::shared ? 0x10000 : 0));
}
Value Interpreter::fromGeneric(Space to, Value address) {
  return make(ScalarType::i64, at(address).bits - (to == Space::shared ? 0x10000 : 0));
}
Value Interpreter::isSpace(Space space, Value generic) {
  return make(ScalarType::i1, (space == Space::shared) == (at(generic).bits >= 0x10000));
}
void Interpreter::copy(Space, Value dst, Space, Value src, Value bytes) {
  for (Bits k = 0; k < at(bytes).bits; ++k)
    memory.at(static_cast<std::size_t>(at(dst).bits + k)) = memory.at(static_cast<std::size_t>(at(src).bits + k));
}

// ---- The machine ------------------------------------------------------------------------------------------

Value Interpreter::special(SpecialRegister which) {
  return make(scalarType(ptx::typeOf(which)), 1000 + static_cast<unsigned>(which));
}
std::vector<Value> Interpreter::intrinsic(std::string_view name, const std::vector<Value> &args,
                                          const std::vector<ScalarType> &results) {
  std::string text = std::string(name) + "(";
  for (std::size_t k = 0; k < args.size(); ++k)
    text += (k ? "," : "") + std::to_string(static_cast<std::uint64_t>(at(args[k]).bits));
  calls.push_back(text + ")");
  std::vector<Value> values;
  const std::vector<std::uint64_t> &given = answers[std::string(name)];
  for (std::size_t k = 0; k < results.size(); ++k) values.push_back(make(results[k], k < given.size() ? given[k] : 0));
  return values;
}

}  // namespace strata::ptx
