// SPDX-License-Identifier: Apache-2.0
// Expansions of simt/jit/math, as vectors of 32 and as scalars, on every instruction set that this CPU has,
// against MPFR. Inputs are fresh random bits with edge values mixed in; the seed is printed on failure.
#include <gtest/gtest.h>
#define MPFR_USE_INTMAX_T
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/TargetParser/Host.h>
#include <mpfr.h>

#include <functional>
#include <random>

#include "simt/jit/machine_code.h"
#include "simt/jit/math/expand.h"
#include "simt/run_passes.h"
#include "tests/simt/float_format.h"
#include "tests/simt/jit_loader.h"

namespace strata::simt::test {
namespace {

constexpr unsigned kLanes = 32, kRounds = 20;

std::vector<CpuFeatures> cpus() {
  std::vector<CpuFeatures> all{cpuFeatures(Simd::portable)};
  const auto host = llvm::sys::getHostCPUFeatures();
  if (host.lookup("avx2") && host.lookup("fma") && host.lookup("f16c")) all.push_back(cpuFeatures(Simd::avx2));
  if (!host.lookup("avx512f") || !host.lookup("avx512dq") || !host.lookup("avx512bw") || !host.lookup("avx512vl"))
    return all;
  all.push_back(cpuFeatures(Simd::avx512));
  if (all.back().computesHalf) {  // and the same without half instructions
    all.push_back(all.back());
    all.back().computesHalf = false;
    all.back().features = "";
  }
  return all;
}

std::uint64_t seed() {
  static const std::uint64_t value = std::random_device{}();
  return value;
}
std::mt19937_64 &random() {
  static std::mt19937_64 engine(seed());
  return engine;
}

// One operand type: an IR type of `bits` bits; floats get values where rounding goes wrong.
struct Type {
  std::string ir;
  unsigned bits;
  const Format *format = nullptr;
};
Type of(const Format &f) { return {f.ir, f.bits, &f}; }
Type integer(unsigned bits) { return {"i" + std::to_string(bits), bits}; }

std::uint64_t mask(unsigned bits) { return bits == 64 ? ~0ull : (1ull << bits) - 1; }

std::uint64_t randomValue(const Type &t) {
  const std::uint64_t r = random()();
  if (!t.format) {
    const std::uint64_t edges[] = {0, 1, mask(t.bits), 1ull << (t.bits - 1), (1ull << (t.bits - 1)) - 1, 7};
    return (r % 4 == 0 ? edges[(r >> 8) % 6] : r % 4 == 1 ? r >> 8 & 0xff : r >> 3) & mask(t.bits);
  }
  const Format &f = *t.format;
  const std::uint64_t sign = r >> 20 & 1 ? 1ull << (f.bits - 1) : 0, inf = f.exponentMask(),
                      least = 1ull << f.fraction();
  const std::uint64_t edges[] = {0,         1,       2,       least - 1, least,
                                 least + 1, inf - 1, inf - 2, inf,       inf | 1ull << (f.fraction() - 1)};
  switch (r % 8) {
    case 0: return sign | edges[(r >> 32) % 10];
    case 1:
    case 2: return random()() & mask(f.bits);
    case 3: return sign | (random()() & mask(f.fraction() + 1));  // near the subnormals
    case 4: return sign | (inf - 1 - (random()() & 0xf));         // near the largest
    default: {                                                    // everyday numbers
      const std::uint64_t exponent = static_cast<std::uint64_t>(f.bias() + static_cast<long>(r >> 40 & 7) - 4);
      return sign | exponent << f.fraction() | (random()() & mask(f.fraction()));
    }
  }
}

// An operation under test: `body` is IR for the operands %a0, %a1 … with $T for "<32 x" type shapes.
struct Operation {
  std::string name;
  std::vector<Type> operands;
  Type result;
  // IR that defines %r; `V(float)` stands for float or <32 x float>, `.S` for ".v32" or nothing,
  // `.vS` for LLVM's intrinsic suffix "v32" or nothing.
  std::string body, declarations;
};

std::string replaceAll(std::string s, const std::string &from, const std::string &to) {
  for (std::size_t at = 0; (at = s.find(from, at)) != std::string::npos; at += to.size())
    s.replace(at, from.size(), to);
  return s;
}

std::string shaped(std::string s, bool vector) {
  for (std::size_t at; (at = s.find("V(")) != std::string::npos;) {
    const std::size_t end = s.find(')', at);
    const std::string type = s.substr(at + 2, end - at - 2);
    s.replace(at, end - at + 1, vector ? "<32 x " + type + ">" : type);
  }
  return replaceAll(replaceAll(s, ".vS", vector ? ".v32" : "."), ".S", vector ? ".v32" : "");
}

std::string functionText(const Operation &op, bool vector) {
  std::string text = vector ? "define void @v(" : "define void @s(", loads;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const std::string n = std::to_string(i);
    text += "ptr %p" + n + ", ";
    loads += "  %a" + n + " = load V(" + op.operands[i].ir + "), ptr %p" + n + ", align 1\n";
  }
  text += "ptr %out) {\n" + loads + "  " + op.body + "\n  store V(" + op.result.ir +
          ") %r, ptr %out, align 1\n  ret void\n}\n";
  return shaped(text, vector);
}

class Compiled {
public:
  Compiled(const Operation &op, const CpuFeatures &cpu) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic problem;
    const std::string elementwise =
        "\nattributes #0 = { nounwind willreturn speculatable memory(none) \"strata.elementwise\" }\n";
    const std::string text = functionText(op, true) + functionText(op, false) + shaped(op.declarations, true) +
                             shaped(op.declarations, false) + elementwise;
    auto module = llvm::parseAssemblyString(text, problem, context);
    if (!module) {
      ADD_FAILURE() << problem.getMessage().str() << "\n" << text;
      return;
    }
    auto target = makeTargetMachine(cpu);
    module->setDataLayout((*target)->createDataLayout());
    module->setTargetTriple("x86_64-unknown-linux-gnu");
    setFunctionAttributes(*module, cpu);
    CompileOptions options;
    options.hostExtensions = cpu.computesHalf;
    options.simd = cpu.avx512 ? Simd::avx512 : cpu.fusesMultiplyAdd ? Simd::avx2 : Simd::portable;
    Unit unit(*module, *module->getFunction("v"), options, target->get());
    PassTrace trace;
    auto setting = PassSetting::parse("verify");
    const auto done = PassRunner(unit, *setting, trace).run(passes("expand-math", "expand-math"));
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    auto code = emitObject(*module, **target);
    EXPECT_TRUE(code) << (code ? "" : code.error().message);
    if (code) object_ = std::make_unique<LoadedObject>(code->object);
  }
  explicit operator bool() const { return object_ != nullptr; }
  void run(bool vector, const std::vector<const void *> &in, void *out) {
    const char *name = vector ? "v" : "s";
    if (in.size() == 1) object_->find<void(const void *, void *)>(name)(in[0], out);
    else if (in.size() == 2) object_->find<void(const void *, const void *, void *)>(name)(in[0], in[1], out);
    else object_->find<void(const void *, const void *, const void *, void *)>(name)(in[0], in[1], in[2], out);
  }

private:
  std::unique_ptr<LoadedObject> object_;
};

std::uint64_t element(const std::vector<std::uint8_t> &bytes, unsigned width, unsigned i) {
  std::uint64_t v = 0;
  std::memcpy(&v, bytes.data() + i * width, width);
  return v;
}

using Values = std::vector<std::uint64_t>;
using Check = std::function<std::string(const Values &operands, std::uint64_t got)>;  // empty: right

std::string hex(std::uint64_t v) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

// Runs `op` on every CPU level, as vector and as scalar; reports the first few wrong results of each.
void verify(const Operation &op, const Check &check, const std::function<bool(const Values &)> &skip = nullptr) {
  SCOPED_TRACE(op.name + ", seed " + std::to_string(seed()));
  for (const CpuFeatures &cpu : cpus()) {
    SCOPED_TRACE(cpu.cpu + (cpu.computesHalf ? "+fp16" : ""));
    Compiled compiled(op, cpu);
    if (!compiled) return;
    unsigned wrong = 0;
    for (unsigned round = 0; round < kRounds && wrong < 3; ++round) {
      std::vector<std::vector<std::uint8_t>> inputs;
      for (const Type &t : op.operands) {
        std::vector<std::uint8_t> bytes(kLanes * t.bits / 8);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          const std::uint64_t v = randomValue(t);
          std::memcpy(bytes.data() + lane * t.bits / 8, &v, t.bits / 8);
        }
        inputs.push_back(bytes);
      }
      const unsigned width = std::max(8u, op.result.bits) / 8;
      std::vector<std::uint8_t> out(kLanes * width, 0xa5), single(width, 0xa5);
      std::vector<const void *> pointers;
      for (auto &i : inputs) pointers.push_back(i.data());
      compiled.run(true, pointers, out.data());
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        Values operands;
        std::vector<const void *> at;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
          operands.push_back(element(inputs[k], op.operands[k].bits / 8, lane));
          at.push_back(inputs[k].data() + lane * op.operands[k].bits / 8);
        }
        if (skip && skip(operands)) continue;
        compiled.run(false, at, single.data());
        for (bool vector : {true, false}) {
          const std::uint64_t got = vector ? element(out, width, lane) : element(single, width, 0);
          const std::string problem = check(operands, got);
          if (problem.empty() || ++wrong > 3) continue;
          std::string text;
          for (std::uint64_t o : operands) text += " " + hex(o);
          ADD_FAILURE() << (vector ? "vector" : "scalar") << " operands" << text << ": got " << hex(got) << ", "
                        << problem;
        }
      }
    }
  }
}

// Exact results: equal bits, or both NaN.
Check equals(const Format &f, std::function<std::uint64_t(const Values &)> reference) {
  return [&f, reference](const Values &operands, std::uint64_t got) -> std::string {
    const std::uint64_t want = reference(operands);
    if (got == want || (isNan(f, got) && isNan(f, want))) return "";
    return "want " + hex(want);
  };
}
Check equalBits(std::function<std::uint64_t(const Values &)> reference) {
  return [reference](const Values &operands, std::uint64_t got) -> std::string {
    const std::uint64_t want = reference(operands);
    return got == want ? "" : "want " + hex(want);
  };
}

struct Named {
  const char *name;
  mpfr_rnd_t rounding;
};
constexpr Named kDirections[] = {{"rz", MPFR_RNDZ}, {"rm", MPFR_RNDD}, {"rp", MPFR_RNDU}};

// The operation `name` of n operands in MPFR.
std::uint64_t reference(const std::string &name, const Format &f, mpfr_rnd_t rounding, const Values &v) {
  const Exact a(decode(f, v[0])), b(v.size() > 1 ? decode(f, v[1]) : 0.0), c(v.size() > 2 ? decode(f, v[2]) : 0.0);
  return rounded(f, rounding, [&](mpfr_t r, mpfr_rnd_t rnd) {
    if (name == "fadd") return mpfr_add(r, a, b, rnd);
    if (name == "fsub") return mpfr_sub(r, a, b, rnd);
    if (name == "fmul") return mpfr_mul(r, a, b, rnd);
    if (name == "fdiv") return mpfr_div(r, a, b, rnd);
    if (name == "fsqrt") return mpfr_sqrt(r, a, rnd);
    return mpfr_fma(r, a, b, c, rnd);
  });
}

std::string argumentList(const std::vector<Type> &types, bool named) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i)
    text += (i ? ", V(" : "V(") + types[i].ir + ")" + (named ? " %a" + std::to_string(i) : "");
  return text;
}

// A call of @strata.<name>
Operation strataCall(const std::string &name, std::vector<Type> operands, Type result) {
  Operation op{name, operands, result, "", ""};
  op.body = "%r = call V(" + result.ir + ") @strata." + name + ".S(" + argumentList(operands, true) + ")";
  op.declarations = "declare V(" + result.ir + ") @strata." + name + ".S(" + argumentList(operands, false) + ") #0\n";
  return op;
}

TEST(Math, DirectedOperationsAreExact) {
  for (const Format *f : {&kFloat, &kDouble})
    for (const Named &d : kDirections)
      for (const char *name : {"fadd", "fsub", "fmul", "fdiv", "fsqrt", "fma"}) {
        const std::string n = name;
        const std::size_t count = n == "fsqrt" ? 1 : n == "fma" ? 3 : 2;
        verify(strataCall(n + "." + d.name + "." + f->name, std::vector<Type>(count, of(*f)), of(*f)),
               equals(*f, [=](const Values &v) { return reference(n, *f, d.rounding, v); }));
      }
}

TEST(Math, NearestFmaIsExactWithoutTheInstruction) {
  for (const Format *f : {&kFloat, &kDouble, &kHalf, &kBfloat}) {
    Operation op{std::string("llvm.fma.") + f->name, std::vector<Type>(3, of(*f)), of(*f), "", ""};
    const std::string args = argumentList(op.operands, true), types = argumentList(op.operands, false);
    op.body = "%r = call V(" + std::string(f->ir) + ") @llvm.fma.vS" + f->name + "(" + args + ")";
    op.declarations = "declare V(" + std::string(f->ir) + ") @llvm.fma.vS" + f->name + "(" + types + ")\n";
    op.body = replaceAll(op.body, "fma..", "fma."), op.declarations = replaceAll(op.declarations, "fma..", "fma.");
    verify(op, equals(*f, [=](const Values &v) { return reference("fma", *f, MPFR_RNDN, v); }));
  }
}

TEST(Math, NarrowFloatsRoundOnce) {
  for (const Format *f : {&kHalf, &kBfloat}) {
    for (const char *name : {"fadd", "fsub", "fmul", "fdiv"}) {
      Operation op{std::string(name) + " " + f->ir, {of(*f), of(*f)}, of(*f), "", ""};
      op.body = "%r = " + std::string(name) + " V(" + f->ir + ") %a0, %a1";
      verify(op, equals(*f, [=](const Values &v) { return reference(name, *f, MPFR_RNDN, v); }));
    }
    Operation op{std::string("sqrt ") + f->ir, {of(*f)}, of(*f), "", ""};
    op.body = "%r = call V(" + std::string(f->ir) + ") @llvm.sqrt.vS" + f->name + "(V(" + f->ir + ") %a0)";
    op.declarations = "declare V(" + std::string(f->ir) + ") @llvm.sqrt.vS" + f->name + "(V(" + f->ir + "))\n";
    op.body = replaceAll(op.body, "sqrt..", "sqrt."), op.declarations = replaceAll(op.declarations, "sqrt..", "sqrt.");
    verify(op, equals(*f, [=](const Values &v) { return reference("fsqrt", *f, MPFR_RNDN, v); }));
  }
}

TEST(Math, NarrowComparisonsAndSigns) {
  for (const Format *f : {&kHalf, &kBfloat}) {
    Operation compare{std::string("fcmp ") + f->ir, {of(*f), of(*f)}, integer(32), "", ""};
    compare.body = "%c = fcmp olt V(" + std::string(f->ir) + ") %a0, %a1\n  %r = zext V(i1) %c to V(i32)";
    verify(compare, equalBits([=](const Values &v) { return decode(*f, v[0]) < decode(*f, v[1]); }));
    Operation negate{std::string("fneg ") + f->ir, {of(*f)}, of(*f), "", ""};
    negate.body = "%r = fneg V(" + std::string(f->ir) + ") %a0";
    verify(negate, equalBits([](const Values &v) { return v[0] ^ 0x8000; }));
  }
}

TEST(Math, ConversionsBetweenFormatsRoundOnce) {
  struct Pair {
    const Format *from, *to;
  };
  for (const Pair &p : {Pair{&kDouble, &kFloat}, Pair{&kDouble, &kHalf}, Pair{&kDouble, &kBfloat},
                        Pair{&kFloat, &kHalf}, Pair{&kFloat, &kBfloat}}) {
    const auto to = [=](mpfr_rnd_t rounding) {
      return equals(*p.to, [=](const Values &v) {
        const Exact x(decode(*p.from, v[0]));
        return rounded(*p.to, rounding, [&](mpfr_t r, mpfr_rnd_t rnd) { return mpfr_set(r, x, rnd); });
      });
    };
    Operation nearest{std::string("fptrunc ") + p.from->ir + " to " + p.to->ir, {of(*p.from)}, of(*p.to), "", ""};
    nearest.body = "%r = fptrunc V(" + std::string(p.from->ir) + ") %a0 to V(" + p.to->ir + ")";
    verify(nearest, to(MPFR_RNDN));
    for (const Named &d : kDirections)
      verify(strataCall(std::string("fptrunc.") + d.name + "." + p.from->name + "." + p.to->name, {of(*p.from)},
                        of(*p.to)),
             to(d.rounding));
    Operation extend{std::string("fpext ") + p.to->ir + " to " + p.from->ir, {of(*p.to)}, of(*p.from), "", ""};
    extend.body = "%r = fpext V(" + std::string(p.to->ir) + ") %a0 to V(" + p.from->ir + ")";
    verify(extend, equals(*p.from, [=](const Values &v) { return encode(*p.from, decode(*p.to, v[0])); }));
  }
}

std::int64_t signExtended(std::uint64_t v, unsigned bits) {
  return static_cast<std::int64_t>(v << (64 - bits)) >> (64 - bits);
}

TEST(Math, IntegersToFloats) {
  for (const Format *f : {&kHalf, &kBfloat, &kFloat, &kDouble})
    for (unsigned bits : {32u, 64u})
      for (bool isSigned : {true, false}) {
        const auto check = [=](mpfr_rnd_t rounding) {
          return equals(*f, [=](const Values &v) {
            const Exact s(signExtended(v[0], bits)), u(v[0]);
            return rounded(*f, rounding, [&](mpfr_t r, mpfr_rnd_t rnd) { return mpfr_set(r, isSigned ? s : u, rnd); });
          });
        };
        const std::string op = isSigned ? "sitofp" : "uitofp";
        Operation nearest{op + std::to_string(bits) + f->name, {integer(bits)}, of(*f), "", ""};
        nearest.body = "%r = " + op + " V(i" + std::to_string(bits) + ") %a0 to V(" + f->ir + ")";
        verify(nearest, check(MPFR_RNDN));
        for (const Named &d : kDirections)
          verify(strataCall(op + "." + d.name + ".i" + std::to_string(bits) + "." + f->name, {integer(bits)}, of(*f)),
                 check(d.rounding));
      }
}

TEST(Math, RoundingToIntegers) {
  const std::pair<const char *, mpfr_rnd_t> all[] = {
      {"floor", MPFR_RNDD}, {"ceil", MPFR_RNDU}, {"trunc", MPFR_RNDZ}, {"roundeven", MPFR_RNDN}, {"round", MPFR_RNDNA}};
  for (const Format *f : {&kFloat, &kDouble, &kHalf})
    for (const auto &[name, rounding] : all) {
      Operation op{std::string(name) + f->ir, {of(*f)}, of(*f), "", ""};
      op.body = "%r = call V(" + std::string(f->ir) + ") @llvm." + name + ".vS" + f->name + "(V(" + f->ir + ") %a0)";
      op.declarations =
          "declare V(" + std::string(f->ir) + ") @llvm." + name + ".vS" + f->name + "(V(" + f->ir + "))\n";
      op.body = replaceAll(op.body, "..", "."), op.declarations = replaceAll(op.declarations, "..", ".");
      verify(op, equals(*f, [f, rounding = rounding](const Values &v) {
               const double x = decode(*f, v[0]);
               const double r = rounding == MPFR_RNDD   ? std::floor(x)
                                : rounding == MPFR_RNDU ? std::ceil(x)
                                : rounding == MPFR_RNDZ ? std::trunc(x)
                                : rounding == MPFR_RNDN ? std::nearbyint(x)
                                                        : std::round(x);
               return encode(*f, r);
             }));
    }
}

TEST(Math, MinimumAndMaximum) {
  for (const Format *f : {&kHalf, &kBfloat, &kFloat, &kDouble})
    for (bool minimum : {true, false})
      verify(strataCall(std::string(minimum ? "fmin." : "fmax.") + f->name, {of(*f), of(*f)}, of(*f)),
             equals(*f, [=](const Values &v) {
               const double a = decode(*f, v[0]), b = decode(*f, v[1]);
               if (std::isnan(a)) return v[1];
               if (std::isnan(b)) return v[0];
               if (a == b) return std::signbit(a) == minimum ? v[0] : v[1];
               return (a < b) == minimum ? v[0] : v[1];
             }));
}

TEST(Math, FlushKeepsTheSign) {
  verify(strataCall("ftz.f32", {of(kFloat)}, of(kFloat)),
         equals(kFloat, [](const Values &v) { return v[0] & kFloat.exponentMask() ? v[0] : v[0] & 0x80000000; }));
}

TEST(Math, VectorDivisionIsTotal) {
  for (unsigned bits : {8u, 16u, 32u, 64u})
    for (const char *name : {"udiv", "sdiv", "urem", "srem"}) {
      const std::string n = name;
      Operation op{n + std::to_string(bits), {integer(bits), integer(bits)}, integer(bits), "", ""};
      // The scalar form is x86's instruction and traps: give it safe divisors.
      op.body = "%r = " + n + " V(i" + std::to_string(bits) + ") %a0, %a1";
      const auto defined = [=](const Values &v) {
        const bool overflow = n[0] == 's' && signExtended(v[1], bits) == -1 && v[0] == 1ull << (bits - 1);
        return v[1] != 0 && !overflow;
      };
      verify(op, equalBits([=](const Values &v) {
               const std::int64_t a = signExtended(v[0], bits), b = signExtended(v[1], bits);
               const std::uint64_t r = n == "udiv"   ? v[0] / v[1]
                                       : n == "urem" ? v[0] % v[1]
                                                     : static_cast<std::uint64_t>(n == "sdiv" ? a / b : a % b);
               return r & mask(bits);
             }),
             [=](const Values &v) { return !defined(v); });
    }
}

// |got - want| in units of the last place of want.
double ulps(double got, double want) {
  int e = 0;
  std::frexp(want, &e);
  return std::fabs(got - want) / std::ldexp(1, std::max(e - 24, -149));
}

Check approximately(std::function<double(double)> exact, std::function<bool(double x, double got, double want)> good) {
  return [=](const Values &v, std::uint64_t bits) -> std::string {
    const double x = decode(kFloat, v[0]), got = decode(kFloat, bits), want = exact(x);
    if (std::isnan(want)) return std::isnan(got) ? "" : "want NaN";
    if (std::isnan(got)) return "NaN, want " + std::to_string(want);
    if (got == want) return std::signbit(got) == std::signbit(want) ? "" : "wrong sign of zero";
    return good(x, got, want) ? "" : "want " + std::to_string(want) + " (" + std::to_string(ulps(got, want)) + " ulp)";
  };
}

Operation approx(const char *name) {
  return strataCall(std::string("approx.") + name + ".f32", {of(kFloat)}, of(kFloat));
}

bool asFloatInfinite(double want) { return std::fabs(want) >= 0x1.ffffffp127; }

TEST(Approx, ReciprocalAndRoots) {
  const auto within = [](double limit) {
    return [=](double, double got, double want) {
      return asFloatInfinite(want) ? std::isinf(got) || ulps(got, want) <= limit : ulps(got, want) <= limit;
    };
  };
  verify(approx("rcp"), approximately([](double x) { return 1 / x; }, within(1.01)));
  verify(approx("rsqrt"), approximately([](double x) { return 1 / std::sqrt(x); }, within(2)));
  verify(approx("sqrt"), approximately([](double x) { return std::sqrt(x); }, within(1)));
}

TEST(Approx, Exponential) {
  verify(approx("ex2"), approximately([](double x) { return std::exp2(x); },
                                      [](double, double got, double want) {
                                        return asFloatInfinite(want) ? std::isinf(got) : ulps(got, want) <= 2;
                                      }));
}

TEST(Approx, Logarithm) {
  verify(approx("lg2"), approximately([](double x) { return std::log2(x); },
                                      [](double x, double got, double want) {
                                        return std::fabs(got - want) <= (x > 0.5 && x < 2 ? 0x1p-22 : 0) ||
                                               ulps(got, want) <= 2;
                                      }));
}

TEST(Approx, SineAndCosine) {
  const auto good = [](double x, double got, double want) {
    if (std::fabs(x) <= 3.15) return std::fabs(got - want) <= 0x1p-20;
    if (std::fabs(x) <= 1e4) return std::fabs(got - want) <= 0x1p-18;
    return std::fabs(got) <= 1;
  };
  verify(approx("sin"), approximately([](double x) { return std::sin(x); }, good));
  verify(approx("cos"), approximately([](double x) { return std::cos(x); }, good));
}

TEST(Approx, HyperbolicTangent) {
  verify(approx("tanh"), approximately([](double x) { return std::tanh(x); },
                                       [](double x, double got, double want) {
                                         if (std::isinf(x)) return got == want;
                                         return std::fabs(got - want) <= 0x1p-11 * std::fabs(want) + 0x1p-149;
                                       }));
}

TEST(Math, UnknownOperationIsAnError) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(
      "define float @f(float %x) {\n %r = call float @strata.approx.gamma.f32(float %x)\n ret float %r\n}\n"
      "declare float @strata.approx.gamma.f32(float) \"strata.elementwise\"",
      problem, context);
  ASSERT_TRUE(module);
  auto r = expandMath(*module, cpuFeatures(Simd::portable));
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("strata.approx.gamma.f32"), std::string::npos);
}

}  // namespace
}  // namespace strata::simt::test
