// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies. The forms of cp.async copy at once: waiting for a group then has nothing to do, and
// a program cannot tell. Bulk and tensor copies, mbarrier and tensormap are known and not executed yet.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

std::uint64_t sizeOf(const Instruction &i) { return i.operands[2].bits; }

void copy(LaneBuilder &b, const Instruction &i) {
  Value to = b.address(i, 0, Space::shared), from = b.address(i, 1, Space::global);
  b.copy(Space::shared, to, Space::global, from, b.constant(ScalarType::i64, sizeOf(i)));
}
void fillZero(LaneBuilder &b, const Instruction &i, Value to) {
  Access access;
  access.space = Space::shared;
  b.store(access, to, std::vector<Value>(sizeOf(i) / 4, i32(b, 0)));
}
// Copies the first src-size bytes and clears the rest. Nothing is read if src-size is 0.
void copyPart(LaneBuilder &b, const Instruction &i) {
  Value to = b.address(i, 0, Space::shared), from = b.address(i, 1, Space::global);
  Value bytes =
      b.zext(b.integer(IntOp::umin, b.operand(i, 3, Type::u32), i32(b, static_cast<std::uint32_t>(sizeOf(i)))),
             ScalarType::i64);
  fillZero(b, i, to);
  b.copy(Space::shared, to, Space::global, from, bytes);
}
// ignore-src: as if src-size were 0.
void copyUnless(LaneBuilder &b, const Instruction &i) {
  Value to = b.address(i, 0, Space::shared), from = b.address(i, 1, Space::global);
  Value size = b.constant(ScalarType::i64, sizeOf(i));
  fillZero(b, i, to);
  b.copy(Space::shared, to, Space::global, from, b.select(b.operand(i, 3, Type::pred), like(b, size, 0), size));
}

#define TO "to = shared shared::cta; pre = L2::64B L2::128B L2::256B; policy: b64 reg if L2::cache_hint; "
#define CA "cp.async.ca.to.global{.L2::cache_hint}{.pre} [dst], [src], size"
#define CG "cp.async.cg.to.global{.L2::cache_hint}{.pre} [dst], [src], size"
#define SEMANTICS "sem = release relaxed; scope = cta cluster; space = shared shared::cta shared::cluster; "
#define WAITING "sem = acquire relaxed; scope = cta cluster; space = shared shared::cta; "
#define BULK "policy: b64 reg if L2::cache_hint; multicastMask: b16 if multicast::cluster; "
#define TENSOR "map: b32 coords; dim = 1d 2d 3d 4d 5d; mode = tile tile::gather4; group = cta_group::1 cta_group::2; "

constexpr auto kCp = "data-movement-and-conversion-instructions-cp-async";
constexpr auto kBulk = "data-movement-and-conversion-instructions-cp-async-bulk";
constexpr auto kReduce = "data-movement-and-conversion-instructions-cp-reduce-async-bulk";
constexpr auto kTensor = "data-movement-and-conversion-instructions-cp-async-bulk-tensor";
constexpr auto kReduceTensor = "data-movement-and-conversion-instructions-cp-reduce-async-bulk-tensor";
constexpr auto kInit = "parallel-synchronization-and-communication-instructions-mbarrier-init";
constexpr auto kTx = "parallel-synchronization-and-communication-instructions-mbarrier-expect-tx";
constexpr auto kArrive = "parallel-synchronization-and-communication-instructions-mbarrier-arrive";
constexpr auto kWait = "parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait";
constexpr auto kMap = "data-movement-and-conversion-instructions-tensormap-replace";
constexpr State run = State::executes;
constexpr State parsed = State::parsesOnly;
constexpr Effects both = reads | writes | sideEffect;

constexpr Form kForms[] = {
    {CA "{, policy}", TO "size: u32 imm in 4 16 4", ptx(7, 0), sm(80), both, run, copy, kCp},
    {CG "{, policy}", TO "size: u32 imm in 16 16 1", ptx(7, 0), sm(80), both, run, copy, kCp},
    {CA ", srcSize{, policy}", TO "size: u32 imm in 4 16 4; srcSize: u32", ptx(7, 0), sm(80), both, run, copyPart, kCp},
    {CG ", srcSize{, policy}", TO "size: u32 imm in 16 16 1; srcSize: u32", ptx(7, 0), sm(80), both, run, copyPart,
     kCp},
    {CA ", {!}ignore{, policy}", TO "size: u32 imm in 4 16 4; ignore: pred", ptx(8, 3), sm(80), both, run, copyUnless,
     kCp},
    {CG ", {!}ignore{, policy}", TO "size: u32 imm in 16 16 1; ignore: pred", ptx(8, 3), sm(80), both, run, copyUnless,
     kCp},
    {"cp.async.commit_group", "", ptx(7, 0), sm(80), sideEffect, run, nothing,
     "data-movement-and-conversion-instructions-cp-async-commit-group"},
    {"cp.async.wait_group n", "n: u32 imm", ptx(7, 0), sm(80), sideEffect, run, nothing,
     "data-movement-and-conversion-instructions-cp-async-wait-group"},
    {"cp.async.wait_all", "", ptx(7, 0), sm(80), sideEffect, run, nothing,
     "data-movement-and-conversion-instructions-cp-async-wait-group"},
    {"cp.async.mbarrier.arrive{.noinc}{.space}.b64 [a]", "space = shared shared::cta", ptx(7, 0), sm(80), both, parsed,
     nullptr, "parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive"},

    {"cp.async.bulk.to.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint} [dst], [src], size, "
     "[mbar]{, multicastMask}{, policy}",
     BULK "to = shared::cluster shared::cta; size: u32", ptx(8, 0), sm(90), both, parsed, nullptr, kBulk},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dst], [src], size, [mbar]", "size: u32",
     ptx(8, 0), sm(90), both, parsed, nullptr, kBulk},
    {"cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}{.cp_mask} [dst], [src], size{, policy}{, byteMask}",
     BULK "size: u32; byteMask: b16 if cp_mask", ptx(8, 0), sm(90), both, parsed, nullptr, kBulk},
    {"cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [src], size{, policy}", BULK "size: u32", ptx(8, 0), sm(90),
     sideEffect, run, nothing, kBulk},
    {"cp.async.bulk.commit_group", "", ptx(8, 0), sm(90), sideEffect, parsed, nullptr,
     "data-movement-and-conversion-instructions-cp-async-bulk-commit-group"},
    {"cp.async.bulk.wait_group{.read} n", "n: u32 imm", ptx(8, 0), sm(90), sideEffect, parsed, nullptr,
     "data-movement-and-conversion-instructions-cp-async-bulk-wait-group"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type [dst], [src], size, [mbar]",
     "op = and or xor add inc dec min max; type = b32 u32 s32 b64 u64 s64; size: u32", ptx(8, 0), sm(90), both, parsed,
     nullptr, kReduce},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op{.noftz}.type [dst], [src], size{, policy}",
     BULK "op = and or xor add inc dec min max; type = f16 bf16 b32 u32 s32 b64 u64 s64 f32 f64; size: u32", ptx(8, 0),
     sm(90), both, parsed, nullptr, kReduce},

    {"cp.async.bulk.tensor.dim.to.global{.mode}.mbarrier::complete_tx::bytes{.multicast::cluster}{.group}{.L2::cache_"
     "hint} [dst], [map], [mbar]{, multicastMask}{, policy}",
     BULK TENSOR "to = shared::cluster shared::cta", ptx(8, 0), sm(90), both, parsed, nullptr, kTensor},
    {"cp.async.bulk.tensor.dim.to.global.im2colMode.mbarrier::complete_tx::bytes{.multicast::cluster}{.group}{.L2::"
     "cache_hint} [dst], [map], [mbar], offsets{, multicastMask}{, policy}",
     BULK TENSOR "to = shared::cluster shared::cta; offsets: b16 list; im2colMode = im2col im2col::w im2col::w::128",
     ptx(8, 0), sm(90), both, parsed, nullptr, kTensor},
    {"cp.async.bulk.tensor.dim.global.shared::cta{.mode}.bulk_group{.L2::cache_hint} [map], [src]{, policy}",
     BULK "map: b32 coords; dim = 1d 2d 3d 4d 5d; mode = tile tile::scatter4 im2col_no_offs", ptx(8, 0), sm(90), both,
     parsed, nullptr, kTensor},
    {"cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{.mode}.bulk_group{.L2::cache_hint} [map], [src]{, policy}",
     BULK "map: b32 coords; dim = 1d 2d 3d 4d 5d; mode = tile im2col_no_offs; op = add min max inc dec and or xor",
     ptx(8, 0), sm(90), both, parsed, nullptr, kReduceTensor},
    {"cp.async.bulk.prefetch.tensor.dim.L2.global{.mode}{.L2::cache_hint} [map]{, policy}",
     BULK "map: b32 coords; dim = 1d 2d 3d 4d 5d; mode = tile tile::gather4", ptx(8, 0), sm(90), sideEffect, run,
     nothing, "data-movement-and-conversion-instructions-cp-async-bulk-prefetch-tensor"},

    {"mbarrier.init{.space}.b64 [a], count", "space = shared shared::cta; count: u32", ptx(7, 0), sm(80), both, parsed,
     nullptr, kInit},
    {"mbarrier.inval{.space}.b64 [a]", "space = shared shared::cta", ptx(7, 0), sm(80), both, parsed, nullptr,
     "parallel-synchronization-and-communication-instructions-mbarrier-inval"},
    {"mbarrier.op{.relaxed.scope}{.space}.b64 [a], bytes",
     "op = expect_tx complete_tx; scope = cta cluster; space = shared shared::cta shared::cluster; bytes: u32",
     ptx(8, 0), sm(90), both, parsed, nullptr, kTx},
    {"mbarrier.op{.sem.scope}{.space}.b64 d, [a]{, count}",
     SEMANTICS "op = arrive arrive_drop; d: b64 sink; count: u32", ptx(7, 0), sm(80), both, parsed, nullptr, kArrive},
    {"mbarrier.op.expect_tx{.sem.scope}{.space}.b64 d, [a], bytes",
     SEMANTICS "op = arrive arrive_drop; d: b64 sink; bytes: u32", ptx(8, 0), sm(90), both, parsed, nullptr, kArrive},
    {"mbarrier.op.noComplete{.release.cta}{.space}.b64 d, [a], count",
     "op = arrive arrive_drop; space = shared shared::cta; count: u32", ptx(7, 0), sm(80), both, parsed, nullptr,
     kArrive},
    {"mbarrier.test_wait{.sem.scope}{.space}.b64 p, [a], state", WAITING, ptx(7, 0), sm(80), both, parsed, nullptr,
     kWait},
    {"mbarrier.test_wait.parity{.sem.scope}{.space}.b64 p, [a], parity", WAITING "parity: u32", ptx(7, 1), sm(80), both,
     parsed, nullptr, kWait},
    {"mbarrier.try_wait{.sem.scope}{.space}.b64 p, [a], state{, hint}", WAITING "hint: u32", ptx(7, 8), sm(90), both,
     parsed, nullptr, kWait},
    {"mbarrier.try_wait.parity{.sem.scope}{.space}.b64 p, [a], parity{, hint}", WAITING "parity: u32; hint: u32",
     ptx(7, 8), sm(90), both, parsed, nullptr, kWait},
    {"mbarrier.pending_count.b64 d, state", "d: u32", ptx(7, 0), sm(80), pure, parsed, nullptr,
     "parallel-synchronization-and-communication-instructions-mbarrier-pending-count"},

    {"tensormap.replace.tile.field{.space}.b1024.type [a], value",
     "field = global_address; space = global shared::cta; type = b64; value: b64", ptx(8, 3), arch(90), both, parsed,
     nullptr, kMap},
    {"tensormap.replace.tile.rank{.space}.b1024.type [a], value", "space = global shared::cta; type = b32; value: b32",
     ptx(8, 3), arch(90), both, parsed, nullptr, kMap},
    {"tensormap.replace.tile.field{.space}.b1024.type [a], ord, value",
     "field = box_dim global_dim element_stride; space = global shared::cta; type = b32; ord: b32 imm; value: b32",
     ptx(8, 3), arch(90), both, parsed, nullptr, kMap},
    {"tensormap.replace.tile.global_stride{.space}.b1024.b64 [a], ord, value",
     "space = global shared::cta; ord: b32 imm; value: b64", ptx(8, 3), arch(90), both, parsed, nullptr, kMap},
    {"tensormap.replace.tile.field{.space}.b1024.b32 [a], value",
     "field = elemtype interleave_layout swizzle_mode fill_mode; space = global shared::cta; value: b32 imm", ptx(8, 3),
     arch(90), both, parsed, nullptr, kMap},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [dst], [src], size",
     "scope = cta cluster gpu sys; size: u32 imm in 128 128 1", ptx(8, 3), sm(90), both, parsed, nullptr,
     "parallel-synchronization-and-communication-instructions-tensormap-cp-fenceproxy"},
};

#undef TO
#undef CA
#undef CG
#undef SEMANTICS
#undef WAITING
#undef BULK
#undef TENSOR

}  // namespace

std::span<const Form> asyncForms() { return kForms; }

}  // namespace strata::ptx
