// SPDX-License-Identifier: Apache-2.0
// Loads, stores, prefetch and cache hints, address conversion.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {

Space spaceOf(const Instruction &i) {
  for (Mod mod : i.modifiers) switch (mod) {
      case Mod::global: return Space::global;
      case Mod::shared:
      case Mod::shared_cta:
      case Mod::shared_cluster: return Space::shared;
      case Mod::local: return Space::local;
      case Mod::const_: return Space::const_;
      case Mod::param:
      case Mod::param_entry:
      case Mod::param_func: return Space::param;
      default: break;
    }
  return Space::generic;
}

Access accessOf(const Instruction &i) {
  Access access;
  access.space = spaceOf(i);
  access.readOnly = access.space == Space::const_;
  for (Mod mod : i.modifiers) switch (mod) {
      case Mod::relaxed: access.order = Order::relaxed; break;
      case Mod::acquire: access.order = Order::acquire; break;
      case Mod::release: access.order = Order::release; break;
      case Mod::acq_rel: access.order = Order::acqRel; break;
      case Mod::volatile_: access.order = Order::volatile_; break;
      case Mod::cta: access.scope = Scope::cta; break;
      case Mod::cluster: access.scope = Scope::cluster; break;
      case Mod::gpu: access.scope = Scope::gpu; break;
      case Mod::cs:
      case Mod::lu:
      case Mod::L1_no_allocate: access.nonTemporal = true; break;
      case Mod::nc: access.readOnly = true; break;
      default: break;
    }
  return access;
}

namespace {

unsigned elementsOf(const Operand &operand) {
  return operand.kind == Operand::Kind::vector ? static_cast<unsigned>(operand.elements.size()) : 1;
}

// What memory holds: a float type is moved as its bits, so that NaNs pass unchanged.
Type storageType(Type type) {
  switch (type) {
    case Type::f32: return Type::b32;
    case Type::f64: return Type::b64;
    default: return type;
  }
}

void load(LaneBuilder &b, const Instruction &i) {
  Type type = storageType(i.type());
  unsigned count = elementsOf(i.operands[0]);
  Access access = accessOf(i);
  std::vector<Value> values = b.load(access, scalarType(type), count, b.address(i, 1, access.space));
  if (i.operands[0].kind != Operand::Kind::vector) return b.define(i, 0, values[0], type);
  for (unsigned e = 0; e < count; ++e)
    if (b.wants(i, 0, e)) b.defineElement(i, 0, e, values[e], type);
}

void store(LaneBuilder &b, const Instruction &i) {
  Type type = storageType(i.type());
  Access access = accessOf(i);
  std::vector<Value> values;
  if (i.operands[1].kind == Operand::Kind::vector)
    for (unsigned e = 0; e < elementsOf(i.operands[1]); ++e) values.push_back(b.element(i, 1, e, type));
  else values.push_back(b.operand(i, 1, type));
  b.store(access, b.address(i, 0, access.space), values);
}

void toGeneric(LaneBuilder &b, const Instruction &i) {
  Value a = resize(b, b.operand(i, 1, i.type()), ScalarType::i64, false);
  b.define(i, 0, resize(b, b.toGeneric(spaceOf(i), a), scalarType(i.type()), false), i.type());
}
void fromGeneric(LaneBuilder &b, const Instruction &i) {
  Value a = resize(b, b.operand(i, 1, i.type()), ScalarType::i64, false);
  b.define(i, 0, resize(b, b.fromGeneric(spaceOf(i), a), scalarType(i.type()), false), i.type());
}
void isSpace(LaneBuilder &b, const Instruction &i) {
  b.define(i, 0, b.isSpace(spaceOf(i), b.operand(i, 1, Type::b64)), Type::pred);
}
// A policy is opaque and only a hint.
void createPolicy(LaneBuilder &b, const Instruction &i) { b.define(i, 0, b.constant(ScalarType::i64, 0), Type::b64); }

#define TYPES "type = b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64; vec = v2 v4"
#define SPACES "ss = const global local param param::entry param::func shared shared::cta shared::cluster"
#define STORE_SPACES "ss = global local param param::func shared shared::cta shared::cluster"
#define STRONG_SPACES "ss = global shared shared::cta shared::cluster"
#define SCOPES "scope = cta cluster gpu sys"
#define HINTS                                                                                            \
  "l1 = L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate; "           \
  "pre = L2::64B L2::128B L2::256B; "               \
  "policy: b64 reg if L2::cache_hint"
#define WIDE "vec = v8; type = b32 u32 s32 f32; l2 = L2::evict_normal L2::evict_first L2::evict_last; "
#define WIDER "vec = v4; type = b64 u64 s64 f64; l2 = L2::evict_normal L2::evict_first L2::evict_last; "
#define LOADED "d: type vec wide"
#define STORED "b: type vec wide"

constexpr auto kLd = "data-movement-and-conversion-instructions-ld";
constexpr auto kLdNc = "data-movement-and-conversion-instructions-ld-global-nc";
constexpr auto kSt = "data-movement-and-conversion-instructions-st";
constexpr auto kCvta = "data-movement-and-conversion-instructions-cvta";
constexpr auto kPrefetch = "data-movement-and-conversion-instructions-prefetch-prefetchu";
constexpr auto kPolicy = "data-movement-and-conversion-instructions-createpolicy";
constexpr auto kWindows =
    "space = const global local param param::entry shared shared::cta shared::cluster; size = u32 u64";
constexpr State run = State::executes;
constexpr State parsed = State::parsesOnly;

constexpr Form kForms[] = {
    {"ld{.weak}{.ss}{.cop}{.vec}.type d, [a]", TYPES "; " SPACES "; cop = ca cg cs lu cv; " LOADED, ptx(1, 0), sm(0),
     reads, run, load, kLd},
    {"ld{.weak}{.ss}{.l1}{.L2::cache_hint}{.pre}{.vec}.type d, [a]{, policy}", TYPES "; " SPACES "; " HINTS "; " LOADED,
     ptx(7, 4), sm(70), reads, run, load, kLd},
    {"ld.volatile{.ss}{.pre}{.vec}.type d, [a]", TYPES "; " STRONG_SPACES "; " HINTS "; " LOADED, ptx(1, 1), sm(0),
     reads | sideEffect, run, load, kLd},
    {"ld.sem.scope{.ss}{.l1}{.L2::cache_hint}{.pre}{.vec}.type d, [a]{, policy}",
     "sem = relaxed acquire; " SCOPES "; " TYPES "; " STRONG_SPACES "; " HINTS "; " LOADED, ptx(6, 0), sm(70),
     reads | sideEffect, run, load, kLd},
    {"ld.mmio.relaxed.sys{.global}.type d, [a]",
     TYPES "; "
           "d: type wide",
     ptx(8, 2), sm(70), reads | sideEffect, run, load, kLd},
    {"ld{.weak}{.ss}{.l1}{.L2::cache_hint}{.pre}.b128 d, [a]{, policy}", SPACES "; " HINTS, ptx(8, 3), sm(70), reads,
     run, load, kLd},
    {"ld.sem.scope{.ss}{.l1}{.L2::cache_hint}{.pre}.b128 d, [a]{, policy}",
     "sem = relaxed acquire; " SCOPES "; " STRONG_SPACES "; " HINTS, ptx(8, 3), sm(70), reads | sideEffect, run, load,
     kLd},
    {"ld.global{.cop}.nc{.l1}{.L2::cache_hint}{.pre}{.vec}.type d, [a]{, policy}",
     "cop = ca cg cs; " TYPES "; " HINTS "; " LOADED, ptx(3, 1), sm(32), reads, run, load, kLdNc},
    {"ld.global{.cop}.nc{.l1}{.L2::cache_hint}{.pre}.b128 d, [a]{, policy}", "cop = ca cg cs; " HINTS, ptx(8, 3),
     sm(70), reads, run, load, kLdNc},
    {"ld{.weak}{.global}{.l1}{.l2}{.L2::cache_hint}{.pre}.vec.type d, [a]{, policy}", WIDE HINTS "; " LOADED, ptx(8, 8),
     sm(100), reads, run, load, kLd},
    {"ld{.weak}{.global}{.l1}{.l2}{.L2::cache_hint}{.pre}.vec.type d, [a]{, policy}", WIDER HINTS "; " LOADED,
     ptx(8, 8), sm(100), reads, run, load, kLd},
    {"ld.global.nc{.l1}{.l2}{.L2::cache_hint}{.pre}.vec.type d, [a]{, policy}", WIDE HINTS "; " LOADED, ptx(8, 8),
     sm(100), reads, run, load, kLdNc},
    {"ld.global.nc{.l1}{.l2}{.L2::cache_hint}{.pre}.vec.type d, [a]{, policy}", WIDER HINTS "; " LOADED, ptx(8, 8),
     sm(100), reads, run, load, kLdNc},
    {"ldu{.global}{.vec}.type d, [a]", TYPES "; " LOADED, ptx(2, 0), sm(20), reads, run, load,
     "data-movement-and-conversion-instructions-ldu"},

    {"st{.weak}{.ss}{.cop}{.vec}.type [a], b", TYPES "; " STORE_SPACES "; cop = wb cg cs wt; " STORED, ptx(1, 0), sm(0),
     writes, run, store, kSt},
    {"st{.weak}{.ss}{.l1}{.L2::cache_hint}{.vec}.type [a], b{, policy}", TYPES "; " STORE_SPACES "; " HINTS "; " STORED,
     ptx(7, 4), sm(70), writes, run, store, kSt},
    {"st.volatile{.ss}{.vec}.type [a], b", TYPES "; " STRONG_SPACES "; " STORED, ptx(1, 1), sm(0), writes, run, store,
     kSt},
    {"st.sem.scope{.ss}{.l1}{.L2::cache_hint}{.vec}.type [a], b{, policy}",
     "sem = relaxed release; " SCOPES "; " TYPES "; " STRONG_SPACES "; " HINTS "; " STORED, ptx(6, 0), sm(70), writes,
     run, store, kSt},
    {"st.mmio.relaxed.sys{.global}.type [a], b",
     TYPES "; "
           "b: type wide",
     ptx(8, 2), sm(70), writes, run, store, kSt},
    {"st{.weak}{.ss}{.l1}{.L2::cache_hint}.b128 [a], b{, policy}", STORE_SPACES "; " HINTS, ptx(8, 3), sm(70), writes,
     run, store, kSt},
    {"st.sem.scope{.ss}{.l1}{.L2::cache_hint}.b128 [a], b{, policy}",
     "sem = relaxed release; " SCOPES "; " STRONG_SPACES "; " HINTS, ptx(8, 3), sm(70), writes, run, store, kSt},

    {"st{.weak}{.global}{.l1}{.l2}{.L2::cache_hint}.vec.type [a], b{, policy}", WIDE HINTS "; " STORED, ptx(8, 8),
     sm(100), writes, run, store, kSt},
    {"st{.weak}{.global}{.l1}{.l2}{.L2::cache_hint}.vec.type [a], b{, policy}", WIDER HINTS "; " STORED, ptx(8, 8),
     sm(100), writes, run, store, kSt},

    {"prefetch{.space}.level [a]", "space = global local; level = L1 L2", ptx(2, 0), sm(20), sideEffect, run, nothing,
     kPrefetch},
    {"prefetch.global.level [a]", "level = L2::evict_last L2::evict_normal", ptx(7, 4), sm(80), sideEffect, run,
     nothing, kPrefetch},
    {"prefetch{.space}.tensormap [a]", "space = const param", ptx(8, 0), sm(90), sideEffect, parsed, nullptr,
     kPrefetch},
    {"prefetchu.L1 [a]", "", ptx(2, 0), sm(20), sideEffect, run, nothing, kPrefetch},
    {"applypriority{.global}.L2::evict_normal [a], size", "size: u32 imm in 128 128 1", ptx(7, 4), sm(80), sideEffect,
     run, nothing, "data-movement-and-conversion-instructions-applypriority"},
    // The bytes' value is lost by this instruction; to keep them is allowed.
    {"discard{.global}.L2 [a], size", "size: u32 imm in 128 128 1", ptx(7, 4), sm(80), sideEffect, run, nothing,
     "data-movement-and-conversion-instructions-discard"},
    {"createpolicy.fractional.primary.b64 d{, fraction}",
     "primary = L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged; fraction: f32", ptx(7, 4), sm(80),
     pure, run, createPolicy, kPolicy},
    {"createpolicy.fractional.primary.secondary.b64 d{, fraction}",
     "primary = L2::evict_last L2::evict_normal L2::evict_first; secondary = L2::evict_first L2::evict_unchanged; "
     "fraction: f32",
     ptx(7, 4), sm(80), pure, run, createPolicy, kPolicy},
    {"createpolicy.range{.global}.primary.secondary.b64 d, [a], primarySize, totalSize",
     "primary = L2::evict_last L2::evict_normal L2::evict_first; secondary = L2::evict_first L2::evict_unchanged; "
     "primarySize: u32; totalSize: u32",
     ptx(7, 4), sm(80), pure, run, createPolicy, kPolicy},
    {"createpolicy.range{.global}.primary.b64 d, [a], primarySize, totalSize",
     "primary = L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged; primarySize: u32; totalSize: u32",
     ptx(7, 4), sm(80), pure, run, createPolicy, kPolicy},
    {"createpolicy.cvt.L2.b64 d, a", "a: b64", ptx(7, 4), sm(80), pure, run, createPolicy, kPolicy},

    {"cvta.space.size d, a",
     "space = const global local param param::entry shared shared::cta shared::cluster; size = u32 u64; a: size symbol",
     ptx(2, 0), sm(20), pure, run, toGeneric, kCvta},
    {"cvta.to.space.size d, a", kWindows, ptx(2, 0), sm(20), pure, run, fromGeneric, kCvta},
    {"isspacep.space p, a", "space = const global local param param::entry shared shared::cta shared::cluster; a: b64",
     ptx(2, 0), sm(20), pure, run, isSpace, "data-movement-and-conversion-instructions-isspacep"},
    {"mapa{.shared::cluster}.type d, a, b", "type = u32 u64; a: type symbol; b: u32", ptx(7, 8), sm(90), pure, parsed,
     nullptr, "data-movement-and-conversion-instructions-mapa"},
    {"getctarank{.shared::cluster}.type d, a", "type = u32 u64; d: u32; a: type symbol", ptx(7, 8), sm(90), pure,
     parsed, nullptr, "data-movement-and-conversion-instructions-getctarank"},
};

#undef TYPES
#undef SPACES
#undef STORE_SPACES
#undef STRONG_SPACES
#undef WIDE
#undef WIDER
#undef SCOPES
#undef HINTS
#undef LOADED
#undef STORED

}  // namespace

std::span<const Form> memoryForms() { return kForms; }

}  // namespace strata::ptx
