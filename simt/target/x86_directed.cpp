// SPDX-License-Identifier: Apache-2.0
// Operations rounded toward zero, down or up. AVX-512 has the rounding in the instruction. Elsewhere an
// inline-assembly statement sets MXCSR, does the operation and sets MXCSR back: exact in every corner, and
// the optimiser cannot move anything into it.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "simt/jit/math/expansions.h"

namespace strata::simt::math {

using llvm::Value;
using llvm::Intrinsic::ID;
namespace x86 = llvm::Intrinsic;

// x86's two-bit rounding control: 0 nearest, 1 down, 2 up, 3 zero.
static unsigned roundingControl(Direction d) {
  return d == Direction::down ? 1 : d == Direction::up ? 2 : d == Direction::zero ? 3 : 0;
}

static ID avx512Intrinsic(llvm::StringRef op, bool f32) {
  if (op == "fadd") return f32 ? x86::x86_avx512_add_ps_512 : x86::x86_avx512_add_pd_512;
  if (op == "fsub") return f32 ? x86::x86_avx512_sub_ps_512 : x86::x86_avx512_sub_pd_512;
  if (op == "fmul") return f32 ? x86::x86_avx512_mul_ps_512 : x86::x86_avx512_mul_pd_512;
  if (op == "fdiv") return f32 ? x86::x86_avx512_div_ps_512 : x86::x86_avx512_div_pd_512;
  if (op == "fsqrt") return f32 ? x86::x86_avx512_sqrt_ps_512 : x86::x86_avx512_sqrt_pd_512;
  return f32 ? x86::x86_avx512_vfmadd_ps_512 : x86::x86_avx512_vfmadd_pd_512;
}

static Val withAvx512(llvm::StringRef op, Direction direction, llvm::ArrayRef<Val> args) {
  llvm::IRBuilder<> &b = args[0].builder();
  const ID id = avx512Intrinsic(op, args[0].bits() == 32);
  const auto emit = [&](llvm::ArrayRef<Value *> v) -> Value * {
    llvm::SmallVector<Value *, 4> all(v.begin(), v.end());
    all.push_back(b.getInt32(8 | roundingControl(direction)));
    return b.CreateIntrinsic(id, {}, all);
  };
  if (args.size() == 1) return inPieces(512, {args[0]}, emit);
  if (args.size() == 2) return inPieces(512, {args[0], args[1]}, emit);
  return inPieces(512, {args[0], args[1], args[2]}, emit);
}

// A constant in memory, for ldmxcsr.
static Value *controlWord(llvm::IRBuilder<> &b, unsigned control) {
  llvm::Module &module = *b.GetInsertBlock()->getModule();
  const std::string name = "strata.mxcsr." + std::to_string(control);
  if (auto *g = module.getNamedGlobal(name)) return g;
  return new llvm::GlobalVariable(module, b.getInt32Ty(), true, llvm::GlobalValue::PrivateLinkage,
                                  b.getInt32(0x1f80 | control << 13), name);
}

static std::string mnemonic(llvm::StringRef op) { return op == "fma" ? "vfmadd213" : op.drop_front(1).str(); }

// One register's worth. AT&T operand order; $0 is the result, then the operands, then the control words.
static Value *inAssembly(llvm::IRBuilder<> &b, const CpuFeatures &cpu, llvm::StringRef op, Direction direction,
                         llvm::ArrayRef<Value *> v) {
  llvm::Type *type = v[0]->getType();
  const std::string suffix =
      std::string(type->isVectorTy() ? "p" : "s") + (type->getScalarType()->isFloatTy() ? "s" : "d");
  std::string code, constraints;
  if (op == "fma") {  // vfmadd213 c, b, a: a = a*b + c
    code = mnemonic(op) + suffix + " $3, $2, $0";
    constraints = "=&x,0,x,x,*m,*m";
  } else if (op == "fsqrt") {
    code = !cpu.fusesMultiplyAdd ? "sqrt" + suffix + " $1, $0"
           : type->isVectorTy()  ? "vsqrt" + suffix + " $1, $0"
                                 : "vsqrt" + suffix + " $1, $1, $0";
    constraints = "=&x,x,*m,*m";
  } else if (cpu.fusesMultiplyAdd) {  // AVX: three operands
    code = "v" + mnemonic(op) + suffix + " $2, $1, $0";
    constraints = "=&x,x,x,*m,*m";
  } else {
    code = mnemonic(op) + suffix + " $2, $0";
    constraints = "=&x,0,x,*m,*m";
  }
  const std::string load = cpu.fusesMultiplyAdd ? "vldmxcsr " : "ldmxcsr ";
  const unsigned memory = static_cast<unsigned>(v.size()) + 1;
  code = load + "$" + std::to_string(memory) + "\n\t" + code + "\n\t" + load + "$" + std::to_string(memory + 1);
  constraints += ",~{dirflag},~{fpsr},~{flags}";
  llvm::SmallVector<Value *, 5> args(v.begin(), v.end());
  args.push_back(controlWord(b, roundingControl(direction)));
  args.push_back(controlWord(b, 0));
  llvm::SmallVector<llvm::Type *, 5> types;
  for (Value *a : args) types.push_back(a->getType());
  auto *assembly = llvm::InlineAsm::get(llvm::FunctionType::get(type, types, false), code, constraints, true);
  llvm::CallInst *call = b.CreateCall(assembly, args);
  for (unsigned i = memory - 1; i <= memory; ++i)
    call->addParamAttr(i, llvm::Attribute::get(b.getContext(), llvm::Attribute::ElementType, b.getInt32Ty()));
  return call;
}

// Vectors go register by register.
static Val withControlWord(const CpuFeatures &cpu, llvm::StringRef op, Direction direction, llvm::ArrayRef<Val> args) {
  llvm::IRBuilder<> &b = args[0].builder();
  const unsigned piece = (cpu.fusesMultiplyAdd ? 256 : 128) / args[0].bits(), lanes = args[0].lanes();
  const auto emit = [&](llvm::ArrayRef<Value *> v) { return inAssembly(b, cpu, op, direction, v); };
  if (!lanes || lanes % piece) return perLane(args, emit);
  Value *result = llvm::PoisonValue::get(static_cast<Value *>(args[0])->getType());
  for (unsigned at = 0; at < lanes; at += piece) {
    llvm::SmallVector<int, 16> range(piece);
    for (unsigned i = 0; i < piece; ++i) range[i] = static_cast<int>(at + i);
    llvm::SmallVector<Value *, 3> v;
    for (Val a : args) v.push_back(b.CreateShuffleVector(a, range));
    Value *r = emit(v);
    for (unsigned i = 0; i < piece; ++i) result = b.CreateInsertElement(result, b.CreateExtractElement(r, i), at + i);
  }
  return args[0].made(result);
}

Val directed(const CpuFeatures &cpu, llvm::StringRef op, Direction direction, llvm::ArrayRef<Val> args) {
  if (cpu.avx512) return withAvx512(op, direction, args);
  if (op == "fma" && !cpu.fusesMultiplyAdd) return softFma(args[0], args[1], args[2], direction);
  return withControlWord(cpu, op, direction, args);
}

Val adjust(Val r, Val residual, Direction direction) {
  const Val bits = r.asInt(), zero = residual.lit(0), one = bits.lit(1), none = bits.lit(0);
  const Val above = gt(residual, zero), below = lt(residual, zero);  // x lies above, below r
  const Val negative = lt(bits, none);
  const Val signBit = bits.pattern(1ull << (bits.bits() - 1));
  const Val magnitude = bits & ~signBit;
  // One step up or down in value: magnitude +1 away from zero, -1 towards it; a zero steps to the least
  // subnormal of the step's sign.
  const Val up = select(eq(magnitude, none), one, select(negative, bits - one, bits + one));
  const Val down = select(eq(magnitude, none), signBit | one, select(negative, bits + one, bits - one));
  Val result = bits;
  if (direction == Direction::up) result = select(above, up, bits);
  if (direction == Direction::down) result = select(below, down, bits);
  if (direction == Direction::zero) {  // magnitude too large: step towards zero
    const Val tooLarge = select(negative, above, below);
    result = select(tooLarge & ~eq(magnitude, none), bits - one, bits);
  }
  return result.as(r.element());
}

}  // namespace strata::simt::math
