// SPDX-License-Identifier: Apache-2.0
// Special registers, and the intrinsics that lane IR names. What all lanes of a warp share is read once in the entry
// block by invariant loads through %warp.
#include <llvm/IR/MDBuilder.h>

#include <cstddef>

#include "simt/lower/lane_ir_builder.h"

namespace strata::simt {

using ptx::SpecialRegister;

// Generated code relies on these places.
static_assert(offsetof(Warp, block) == 0 && offsetof(Block, launch) == 0 && offsetof(LaunchState, runtime) == 0);

llvm::Value *LaneIrBuilder::field(llvm::Value *base, std::uint64_t offset, llvm::Type *type, const char *name,
                                  std::uint32_t least, std::uint32_t beyond) {
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(base) * 4096 + offset;
  llvm::Value *&known = fields_[key];
  if (known) return known;
  llvm::IRBuilder<> entry(entryEnd_);
  llvm::Value *at = offset ? entry.CreateConstInBoundsGEP1_64(entry.getInt8Ty(), base, offset) : base;
  llvm::LoadInst *load = entry.CreateLoad(type, at, name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
  llvm::MDBuilder metadata(load->getContext());
  if (beyond)
    load->setMetadata(llvm::LLVMContext::MD_range,
                      metadata.createRange(llvm::APInt(32, least), llvm::APInt(32, beyond)));
  if (type->isPointerTy()) {
    load->setMetadata(llvm::LLVMContext::MD_nonnull, llvm::MDNode::get(load->getContext(), {}));
    const std::string_view is = name;
    const std::uint64_t alignment = is == "globals" ? 256 : is == "shared" ? 128 : is == "params" ? 16 : 8;
    const auto say = [&](unsigned what, std::uint64_t number) {
      load->setMetadata(what, llvm::MDNode::get(load->getContext(), metadata.createConstant(entry.getInt64(number))));
    };
    say(llvm::LLVMContext::MD_align, alignment);
    // What is the same for all warps is read once, before the loop over them, also where not all come to it.
    if (is == "params" && paramBytes_) say(llvm::LLVMContext::MD_dereferenceable, paramBytes_);
  }
  return known = load;
}

llvm::Value *LaneIrBuilder::warpField(std::uint64_t offset, llvm::Type *type, const char *name, std::uint32_t least,
                                      std::uint32_t beyond) {
  return field(warp(), offset, type, name, least, beyond);
}
llvm::Value *LaneIrBuilder::block() { return warpField(offsetof(Warp, block), ir.getPtrTy(), "block"); }
llvm::Value *LaneIrBuilder::blockField(std::uint64_t offset, llvm::Type *type, const char *name, std::uint32_t least,
                                       std::uint32_t beyond) {
  return field(block(), offset, type, name, least, beyond);
}
llvm::Value *LaneIrBuilder::launch() { return blockField(offsetof(Block, launch), ir.getPtrTy(), "launch"); }
llvm::Value *LaneIrBuilder::launchField(std::uint64_t offset, llvm::Type *type, const char *name, std::uint32_t least,
                                        std::uint32_t beyond) {
  return field(launch(), offset, type, name, least, beyond);
}
llvm::Value *LaneIrBuilder::sharedBase() { return blockField(offsetof(Block, shared), ir.getPtrTy(), "shared"); }

llvm::Value *LaneIrBuilder::machineCall(std::string_view name, llvm::Type *result) {
  return ir.CreateCall(module_.intrinsic(name, result, {}), {});
}
llvm::Value *LaneIrBuilder::lane() { return machineCall("lane", ir.getInt32Ty()); }

llvm::Value *LaneIrBuilder::tid(unsigned d) {
  constexpr const char *kNames[] = {"tid.x", "tid.y", "tid.z"};
  auto *value = llvm::cast<llvm::Instruction>(machineCall(kNames[d], ir.getInt32Ty()));
  const std::uint32_t count = module_.options.blockDim[0] ? module_.options.blockDim[d] : d == 2 ? 64 : 1024;
  value->setMetadata(llvm::LLVMContext::MD_range,
                     llvm::MDBuilder(ir.getContext()).createRange(llvm::APInt(32, 0), llvm::APInt(32, count)));
  return value;
}

llvm::Value *LaneIrBuilder::ntid(unsigned d) {
  if (module_.options.blockDim[0]) return ir.getInt32(module_.options.blockDim[d]);
  return launchField(offsetof(LaunchState, blockDim) + 4 * d, ir.getInt32Ty(), "ntid", 1, d == 2 ? 65 : 1025);
}

ptx::Value LaneIrBuilder::special(SpecialRegister which) {
  using S = SpecialRegister;
  llvm::Type *i32 = ir.getInt32Ty(), *i64 = ir.getInt64Ty();
  const auto component = [&](S first) { return static_cast<unsigned>(which) - static_cast<unsigned>(first); };
  const auto gridDim = [&](unsigned d) {
    return launchField(offsetof(LaunchState, gridDim) + 4 * d, i32, "nctaid", 1, d ? 65536 : 1u << 31);
  };
  const auto clusterDim = [&](unsigned d) {
    return launchField(offsetof(LaunchState, clusterDim) + 4 * d, i32, "clusterDim", 1, 1025);
  };
  const auto blockIdx = [&](unsigned d) {
    return blockField(offsetof(Block, blockIdx) + 4 * d, i32, "ctaid", 0, d ? 65535 : (1u << 31) - 1);
  };
  const auto workspace = [&] { return launchField(offsetof(LaunchState, gridWorkspace), i64, "gridWorkspace"); };
  const auto bit = [&] { return ir.CreateShl(ir.getInt32(1), lane()); };
  switch (which) {
    case S::tid_x: return put(tid(0));
    case S::tid_y: return put(tid(1));
    case S::tid_z: return put(tid(2));
    case S::ntid_x:
    case S::ntid_y:
    case S::ntid_z: return put(ntid(component(S::ntid_x)));
    case S::ctaid_x:
    case S::ctaid_y:
    case S::ctaid_z: return put(blockIdx(component(S::ctaid_x)));
    case S::nctaid_x:
    case S::nctaid_y:
    case S::nctaid_z: return put(gridDim(component(S::nctaid_x)));
    case S::clusterid_x:
    case S::clusterid_y:
    case S::clusterid_z:
      return put(blockField(offsetof(Block, clusterIdx) + 4 * component(S::clusterid_x), i32, "clusterid"));
    case S::nclusterid_x:
    case S::nclusterid_y:
    case S::nclusterid_z: {
      const unsigned d = component(S::nclusterid_x);
      return put(ir.CreateUDiv(gridDim(d), clusterDim(d)));
    }
    case S::cluster_ctaid_x:
    case S::cluster_ctaid_y:
    case S::cluster_ctaid_z: {
      const unsigned d = component(S::cluster_ctaid_x);
      return put(ir.CreateURem(blockIdx(d), clusterDim(d)));
    }
    case S::cluster_nctaid_x:
    case S::cluster_nctaid_y:
    case S::cluster_nctaid_z: return put(clusterDim(component(S::cluster_nctaid_x)));
    case S::cluster_ctarank: return put(blockField(offsetof(Block, clusterCtaRank), i32, "ctarank"));
    case S::cluster_nctarank: return put(ir.CreateMul(ir.CreateMul(clusterDim(0), clusterDim(1)), clusterDim(2)));
    case S::is_explicit_cluster:
      return put(
          ir.CreateICmpNE(launchField(offsetof(LaunchState, explicitCluster), i32, "explicitCluster"), ir.getInt32(0)));
    case S::laneid: return put(lane());
    case S::warpid: return put(warpField(offsetof(Warp, index), i32, "warpid", 0, 32));
    case S::nwarpid: return put(blockField(offsetof(Block, warps), i32, "nwarpid", 1, 33));
    case S::smid: return put(blockField(offsetof(Block, smId), i32, "smid"));
    case S::nsmid: return put(launchField(offsetof(LaunchState, smCount), i32, "nsmid"));
    case S::gridid: return put(launchField(offsetof(LaunchState, gridId), i64, "gridid"));
    case S::envreg1: return put(ir.CreateTrunc(ir.CreateLShr(workspace(), 32), i32));
    case S::envreg2: return put(ir.CreateTrunc(workspace(), i32));
    case S::lanemask_eq: return put(bit());
    case S::lanemask_lt: return put(ir.CreateSub(bit(), ir.getInt32(1)));
    case S::lanemask_le: return put(ir.CreateLShr(ir.getInt32(~0u), ir.CreateSub(ir.getInt32(31), lane())));
    case S::lanemask_ge: return put(ir.CreateShl(ir.getInt32(~0u), lane()));
    case S::lanemask_gt:
      return put(ir.CreateNot(ir.CreateLShr(ir.getInt32(~0u), ir.CreateSub(ir.getInt32(31), lane()))));
    case S::clock: return put(ir.CreateTrunc(machineCall("clock", i64), i32));
    case S::clock_hi: return put(ir.CreateTrunc(ir.CreateLShr(machineCall("clock", i64), 32), i32));
    case S::clock64: return put(machineCall("clock", i64));
    case S::globaltimer: return put(machineCall("globaltimer", i64));
    case S::globaltimer_lo: return put(ir.CreateTrunc(machineCall("globaltimer", i64), i32));
    case S::globaltimer_hi: return put(ir.CreateTrunc(ir.CreateLShr(machineCall("globaltimer", i64), 32), i32));
    case S::dynamic_smem_size: return put(launchField(offsetof(LaunchState, dynamicShared), i32, "dynamicShared"));
    case S::total_smem_size:
    case S::aggr_smem_size: return put(launchField(offsetof(LaunchState, totalShared), i32, "totalShared"));
    default: break;
  }
  fail(unsupported("special register " + std::string(ptx::name(which)) + " in " + source_.name));
  return put(llvm::Constant::getNullValue(type(ptx::scalarType(ptx::typeOf(which)))));
}

std::vector<ptx::Value> LaneIrBuilder::intrinsic(std::string_view name, const std::vector<Value> &args,
                                                 const std::vector<ScalarType> &results) {
  std::vector<llvm::Value *> values;
  std::vector<llvm::Type *> types, resultTypes;
  for (Value a : args) {
    values.push_back(get(a));
    types.push_back(values.back()->getType());
  }
  for (ScalarType r : results) resultTypes.push_back(type(r));
  llvm::Type *result = results.empty()       ? ir.getVoidTy()
                       : results.size() == 1 ? resultTypes[0]
                                             : llvm::StructType::get(ir.getContext(), resultTypes);
  llvm::CallInst *call = ir.CreateCall(module_.intrinsic(name, result, types), values);
  if (results.empty()) return {};
  if (results.size() == 1) return {put(call)};
  std::vector<Value> out;
  for (unsigned r = 0; r < results.size(); ++r) out.push_back(put(ir.CreateExtractValue(call, r)));
  return out;
}

}  // namespace strata::simt
