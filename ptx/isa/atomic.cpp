// SPDX-License-Identifier: Apache-2.0
// Atomic operations and reductions on memory.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

// An atomic is relaxed at device scope unless it says otherwise.
Access atomicAccess(const Instruction &i) {
  Access access = accessOf(i);
  if (access.order == Order::weak) access.order = Order::relaxed;
  bool scoped = i.has(Mod::cta) || i.has(Mod::cluster) || i.has(Mod::gpu) || i.has(Mod::sys);
  if (!scoped) access.scope = Scope::gpu;
  return access;
}

AtomicOp operationOf(const Instruction &i, Type type) {
  bool isFloatType = isFloat(scalarType(type)), isSignedType = isSigned(type);
  for (Mod mod : i.modifiers) switch (mod) {
      case Mod::exch: return AtomicOp::exch;
      case Mod::add: return isFloatType ? AtomicOp::fadd : AtomicOp::add;
      case Mod::and_: return AtomicOp::and_;
      case Mod::or_: return AtomicOp::or_;
      case Mod::xor_: return AtomicOp::xor_;
      case Mod::inc: return AtomicOp::inc;
      case Mod::dec: return AtomicOp::dec;
      case Mod::min: return isFloatType ? AtomicOp::fmin : isSignedType ? AtomicOp::smin : AtomicOp::umin;
      case Mod::max: return isFloatType ? AtomicOp::fmax : isSignedType ? AtomicOp::smax : AtomicOp::umax;
      default: break;
    }
  return AtomicOp::exch;
}

// One value of the instruction's type at `address`. Packed halves are atomic each by itself.
Value apply(LaneBuilder &b, const Instruction &i, const Access &access, Value address, Value operand) {
  Type type = i.type(), element = elementType(type);
  AtomicOp op = operationOf(i, element);
  if (element == type) return b.atomic(op, access, address, operand);
  std::vector<Value> parts = unpack(b, operand, type), old;
  for (unsigned e = 0; e < 2; ++e) {
    Value at = e ? add(b, address, b.constant(ScalarType::i64, byteSize(element))) : address;
    old.push_back(b.atomic(op, access, at, parts[e]));
  }
  return pack(b, old, type);
}

void atom(LaneBuilder &b, const Instruction &i) {
  Access access = atomicAccess(i);
  b.define(i, 0, apply(b, i, access, b.address(i, 1, access.space), b.operand(i, 2, i.type())), i.type());
}
void red(LaneBuilder &b, const Instruction &i) {
  Access access = atomicAccess(i);
  apply(b, i, access, b.address(i, 0, access.space), b.operand(i, 1, i.type()));
}
void compareAndSwap(LaneBuilder &b, const Instruction &i) {
  Access access = atomicAccess(i);
  Value address = b.address(i, 1, access.space);
  Value old = b.compareExchange(access, address, b.operand(i, 2, i.type()), b.operand(i, 3, i.type()));
  b.define(i, 0, old, i.type());
}

// Vectors: each element is atomic by itself.
template <bool returns>
void vectorAtomic(LaneBuilder &b, const Instruction &i) {
  Access access = atomicAccess(i);
  unsigned source = returns ? 2 : 1;
  Value address = b.address(i, source - 1, access.space);
  auto count = static_cast<unsigned>(i.operands[source].elements.size());
  for (unsigned e = 0; e < count; ++e) {
    Value at = e ? add(b, address, b.constant(ScalarType::i64, e * byteSize(i.type()))) : address;
    Value old = apply(b, i, access, at, b.element(i, source, e, i.type()));
    if (returns && b.wants(i, 0, e)) b.defineElement(i, 0, e, old, i.type());
  }
}

#define WHERE "sem = relaxed acquire release acq_rel; scope = cta cluster gpu sys; ss = global shared shared::cta shared::cluster; policy: b64 reg if L2::cache_hint; "
#define RED_WHERE "sem = relaxed release; scope = cta cluster gpu sys; ss = global shared shared::cta shared::cluster; policy: b64 reg if L2::cache_hint; "
#define ATOM(suffix) "atom{.sem}{.scope}{.ss}." suffix "{.L2::cache_hint}.type d, [a], b{, policy}"
#define RED(suffix) "red{.sem}{.scope}{.ss}." suffix "{.L2::cache_hint}.type [a], b{, policy}"
#define VATOM(suffix) "atom{.sem}{.scope}{.global}." suffix "{.L2::cache_hint}.vec.type d, [a], b{, policy}"
#define VRED(suffix) "red{.sem}{.scope}{.global}." suffix "{.L2::cache_hint}.vec.type [a], b{, policy}"
#define SINK "; d: type sink"
#define VECTOR "; d: type vec; b: type vec"

constexpr auto kAtom = "parallel-synchronization-and-communication-instructions-atom";
constexpr auto kRed = "parallel-synchronization-and-communication-instructions-red";
constexpr Effects both = reads | writes | sideEffect;
constexpr State run = State::executes;

constexpr Form kForms[] = {
    {ATOM("op"), WHERE "op = and or xor; type = b32 b64" SINK, ptx(1, 1), sm(11), both, run, atom, kAtom},
    {ATOM("exch"), WHERE "type = b32 b64 b128" SINK, ptx(1, 1), sm(11), both, run, atom, kAtom},
    {ATOM("add"), WHERE "type = u32 s32 u64 f32 f64" SINK, ptx(1, 1), sm(11), both, run, atom, kAtom},
    {ATOM("op"), WHERE "op = inc dec; type = u32" SINK, ptx(1, 1), sm(11), both, run, atom, kAtom},
    {ATOM("op"), WHERE "op = min max; type = u32 s32 u64 s64" SINK, ptx(1, 1), sm(11), both, run, atom, kAtom},
    {"atom{.sem}{.scope}{.ss}.add.noftz{.L2::cache_hint}.type d, [a], b{, policy}", WHERE "type = f16 f16x2" SINK,
     ptx(6, 2), sm(60), both, run, atom, kAtom},
    {"atom{.sem}{.scope}{.ss}.add.noftz{.L2::cache_hint}.type d, [a], b{, policy}", WHERE "type = bf16 bf16x2" SINK,
     ptx(7, 8), sm(90), both, run, atom, kAtom},
    {"atom{.sem}{.scope}{.ss}.cas{.L2::cache_hint}.type d, [a], b, c{, policy}", WHERE "type = b32 b64 b128" SINK,
     ptx(1, 1), sm(11), both, run, compareAndSwap, kAtom},
    {"atom{.sem}{.scope}{.ss}.cas.b16 d, [a], b, c", WHERE "d: b16 sink", ptx(6, 3), sm(70), both, run, compareAndSwap,
     kAtom},
    {VATOM("add"), WHERE "vec = v2 v4; type = f32" VECTOR, ptx(8, 1), sm(90), both, run, vectorAtomic<true>, kAtom},
    {VATOM("op.noftz"), WHERE "op = add min max; vec = v2 v4 v8; type = f16 bf16" VECTOR, ptx(8, 1), sm(90), both, run,
     vectorAtomic<true>, kAtom},
    {VATOM("op.noftz"), WHERE "op = add min max; vec = v2 v4; type = f16x2 bf16x2" VECTOR, ptx(8, 1), sm(90), both, run,
     vectorAtomic<true>, kAtom},

    {RED("op"), RED_WHERE "op = and or xor; type = b32 b64", ptx(1, 2), sm(11), both, run, red, kRed},
    {RED("add"), RED_WHERE "type = u32 s32 u64 f32 f64", ptx(1, 2), sm(11), both, run, red, kRed},
    {RED("op"), RED_WHERE "op = inc dec; type = u32", ptx(1, 2), sm(11), both, run, red, kRed},
    {RED("op"), RED_WHERE "op = min max; type = u32 s32 u64 s64", ptx(1, 2), sm(11), both, run, red, kRed},
    {"red{.sem}{.scope}{.ss}.add.noftz{.L2::cache_hint}.type [a], b{, policy}", RED_WHERE "type = f16 f16x2", ptx(6, 2),
     sm(60), both, run, red, kRed},
    {"red{.sem}{.scope}{.ss}.add.noftz{.L2::cache_hint}.type [a], b{, policy}", RED_WHERE "type = bf16 bf16x2",
     ptx(7, 8), sm(90), both, run, red, kRed},
    {VRED("add"), RED_WHERE "vec = v2 v4; type = f32" VECTOR, ptx(8, 1), sm(90), both, run, vectorAtomic<false>, kRed},
    {VRED("op.noftz"), RED_WHERE "op = add min max; vec = v2 v4 v8; type = f16 bf16" VECTOR, ptx(8, 1), sm(90), both,
     run, vectorAtomic<false>, kRed},
    {VRED("op.noftz"), RED_WHERE "op = add min max; vec = v2 v4; type = f16x2 bf16x2" VECTOR, ptx(8, 1), sm(90), both,
     run, vectorAtomic<false>, kRed},
};

#undef WHERE
#undef RED_WHERE
#undef ATOM
#undef RED
#undef VATOM
#undef VRED
#undef SINK
#undef VECTOR

}  // namespace

std::span<const Form> atomicForms() { return kForms; }

}  // namespace strata::ptx
