// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/split_at_barriers.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <vector>

#include "simt/abi.h"
#include "simt/analysis/launch_fields.h"
#include "simt/analysis/masked_access.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Instruction;
using llvm::isa;
using llvm::Value;

enum Argument : unsigned { kBlock, kWarp, kIndex, kFrame, kState };

// What is computed again at a barrier may cost this many scalar instructions, a vector one counting as two.
constexpr unsigned kMostCost = 10;
constexpr llvm::Align kFrameAlign = llvm::Align::Constant<64>();

struct Barrier {
  BasicBlock *before = nullptr, *after = nullptr;  // the blocks that the call parted
  bool turn = false;                               // only a turn
  BasicBlock *resume = nullptr;                    // goes to `after` once the values that live there are back
  llvm::SetVector<Instruction *> live;             // at the start of `after`
  llvm::DenseMap<Value *, Value *> values;         // of `live`: what it is at the end of `resume`
};

class Splitter {
public:
  explicit Splitter(Function &warpFunction)
      : part_(createPart(warpFunction)), layout_(part_->getParent()->getDataLayout()) {}

  SplitWarp run() {
    nameLaunchFields();
    findBarriers();
    for (Instruction &i : llvm::instructions(*part_)) noteLife(i);
    entry_ = BasicBlock::Create(part_->getContext(), "resumed", part_, &part_->getEntryBlock());
    hoistBlockValues();
    placeAllocas();
    addRoots();
    shareSlots();
    cut();
    for (Barrier &barrier : barriers_) restore(barrier);
    for (Instruction *value : crossing()) rewrite(*value);
    for (auto &[phi, from] : sharedPhis_) keepIncoming(*llvm::cast<llvm::PHINode>(phi), *from);
    bool takesTurns = llvm::any_of(barriers_, [](const Barrier &barrier) { return barrier.turn; });
    return {part_, llvm::alignTo(frameBytes_, 64), takesTurns};
  }

private:
  using Blocks = llvm::SmallPtrSet<BasicBlock *, 16>;

  static Function *createPart(Function &old) {
    llvm::LLVMContext &context = old.getContext();
    llvm::Type *pointer = llvm::PointerType::get(context, 0), *i32 = llvm::Type::getInt32Ty(context);
    auto *type = llvm::FunctionType::get(i32, {pointer, pointer, i32, pointer, i32}, false);
    Function *part = Function::Create(type, llvm::GlobalValue::InternalLinkage, "", old.getParent());
    part->takeName(&old);
    part->copyAttributesFrom(&old);
    part->setSubprogram(old.getSubprogram());
    old.setSubprogram(nullptr);
    part->splice(part->begin(), &old);
    old.getArg(0)->replaceAllUsesWith(part->getArg(kWarp));
    old.eraseFromParent();
    return part;
  }

  // warp->block and warp->index are arguments.
  void nameLaunchFields() {
    for (Instruction &i : llvm::make_early_inc_range(llvm::instructions(*part_))) {
      auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
      if (!load) continue;
      auto [base, offset] = splitAddress(*load);
      if (base != part_->getArg(kWarp)) continue;
      if (offset == offsetof(Warp, block)) load->replaceAllUsesWith(part_->getArg(kBlock));
      else if (offset == offsetof(Warp, index)) load->replaceAllUsesWith(part_->getArg(kIndex));
      else continue;
      load->eraseFromParent();
    }
  }

  void findBarriers() {
    const Function *suspend = part_->getParent()->getFunction(kSuspend), *turn = part_->getParent()->getFunction(kTurn);
    std::vector<llvm::CallInst *> calls;
    for (Instruction &i : llvm::instructions(*part_)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && (callee == suspend || callee == turn)) calls.push_back(call);
    }
    for (llvm::CallInst *call : calls) {
      BasicBlock *head = call->getParent();
      BasicBlock *tail = head->splitBasicBlock(std::next(call->getIterator()), head->getName() + ".resumed");
      Barrier &barrier = barriers_.emplace_back();
      barrier.turn = call->getCalledFunction() == turn;
      call->eraseFromParent();
      barrier.before = head;
      barrier.after = tail;
    }
    llvm::DominatorTree dominators(*part_);
    llvm::LoopInfo loops(dominators);
    for (BasicBlock &block : *part_) {
      const llvm::Loop *loop = loops.getLoopFor(&block);
      if (loop && llvm::none_of(barriers_, [&](const Barrier &barrier) { return loop->contains(barrier.before); }))
        innerBlocks_.insert(&block);
    }
  }

  // --- what lives across barriers -------------------------------------------------------------------

  void noteLife(Instruction &value) {
    llvm::SmallVector<BasicBlock *, 16> todo;
    for (llvm::Use &use : value.uses()) {
      auto *user = llvm::cast<Instruction>(use.getUser());
      auto *phi = llvm::dyn_cast<llvm::PHINode>(user);
      BasicBlock *where = phi ? phi->getIncomingBlock(use) : user->getParent();
      if (where != value.getParent()) todo.push_back(where);
    }
    Blocks liveIn;
    while (!todo.empty()) {
      BasicBlock *block = todo.pop_back_val();
      if (!liveIn.insert(block).second) continue;
      for (BasicBlock *from : llvm::predecessors(block))
        if (from != value.getParent()) todo.push_back(from);
    }
    bool crosses = false;
    for (Barrier &barrier : barriers_)
      if (liveIn.contains(barrier.after)) crosses |= barrier.live.insert(&value);
    if (crosses) liveIn_[&value] = std::move(liveIn);
  }

  llvm::SetVector<Instruction *> crossing() const {
    llvm::SetVector<Instruction *> all;
    for (const Barrier &barrier : barriers_) all.insert(barrier.live.begin(), barrier.live.end());
    return all;
  }

  void forget(Instruction *value) {
    for (Barrier &barrier : barriers_) barrier.live.remove(value);
  }

  // --- values of the block and of the warp's number ---------------------------------------------------

  static bool mayMove(const Instruction &i) {
    if (isa<llvm::PHINode, llvm::LoadInst, llvm::AllocaInst>(i) ||
        (isa<llvm::CallBase>(i) && !isa<llvm::IntrinsicInst>(i)))
      return false;
    return !i.mayReadOrWriteMemory() && llvm::isSafeToSpeculativelyExecute(&i);
  }

  // A load of Block, LaunchState or the parameters at a fixed place: safe anywhere.
  bool isLaunchConstant(const llvm::LoadInst &load) const {
    if (!load.hasMetadata(llvm::LLVMContext::MD_invariant_load) || load.isVolatile() || load.isAtomic()) return false;
    const Value *base = splitAddress(load).first;
    if (base == part_->getArg(kBlock)) return true;
    auto *outer = llvm::dyn_cast<llvm::LoadInst>(base);
    if (!outer || !isLaunchConstant(*outer)) return false;
    auto [outerBase, outerOffset] = splitAddress(*outer);
    if (outerBase == part_->getArg(kBlock)) return outerOffset == offsetof(Block, launch);
    return outerOffset == offsetof(LaunchState, params) || outerOffset == offsetof(LaunchState, runtime);
  }

  bool isBlockValue(Value *value, unsigned depth = 0) {
    if (isa<llvm::Constant>(value) || value == part_->getArg(kBlock)) return true;
    auto *i = llvm::dyn_cast<Instruction>(value);
    if (!i || depth > 16) return false;
    if (i->getParent() == entry_) return true;
    auto *load = llvm::dyn_cast<llvm::LoadInst>(i);
    if (load ? !isLaunchConstant(*load) : !mayMove(*i)) return false;
    return llvm::all_of(i->operands(), [&](Value *operand) { return isBlockValue(operand, depth + 1); });
  }

  void hoist(Instruction &i) {
    if (i.getParent() == entry_) return;
    forget(&i);
    for (Value *operand : i.operands())
      if (auto *inner = llvm::dyn_cast<Instruction>(operand)) hoist(*inner);
    i.moveBefore(*entry_, entry_->end());
    i.setDebugLoc({});
  }

  void hoistBlockValues() {
    for (Instruction &i : llvm::make_early_inc_range(llvm::instructions(*part_)))
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i); load && isLaunchConstant(*load)) hoist(*load);
    for (Instruction *value : crossing()) {
      if (!isBlockValue(value)) continue;
      hoist(*value);
    }
  }

  static bool isDivision(const Instruction &i) {
    return i.isIntDivRem() || i.getOpcode() == Instruction::FDiv || i.getOpcode() == Instruction::FRem ||
           isa<llvm::CallBase>(i);
  }

  // Cost of computing `value` again from what is there in every part; above kMostCost if that cannot be.
  unsigned costAgain(Value *value, unsigned depth = 0) {
    if (isa<llvm::Constant, llvm::Argument>(value)) return 0;
    auto &i = *llvm::cast<Instruction>(value);
    if (i.getParent() == entry_) return 0;
    if (depth > kMostCost || !mayMove(i) || isDivision(i)) return kMostCost + 1;
    unsigned cost = i.getType()->isVectorTy() ? 2 : 1;
    for (Value *operand : i.operands()) {
      cost += costAgain(operand, depth + 1);
      if (cost > kMostCost) break;
    }
    return cost;
  }

  // The one operand of a scalar `i` that a frame must keep, if `i` is then cheap to compute: addresses, mostly.
  Instruction *onlyRoot(Instruction &i) {
    if (!mayMove(i) || isDivision(i) || i.getType()->isVectorTy() || i.getType()->isAggregateType()) return nullptr;
    if (!isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst>(i)) return nullptr;
    Instruction *root = nullptr;
    for (Value *operand : i.operands()) {
      if (costAgain(operand) == 0) continue;
      if (root || operand->getType()->isVectorTy() || isa<llvm::AllocaInst>(operand)) return nullptr;
      root = llvm::dyn_cast<Instruction>(operand);
      if (!root) return nullptr;
    }
    return root;
  }

  // Values that are computed from another one need that one at the barrier.
  void addRoots() {
    for (Barrier &barrier : barriers_)
      for (unsigned i = 0; i < barrier.live.size(); ++i) {
        Instruction *value = barrier.live[i];
        if (costAgain(value) <= kMostCost) continue;
        if (Instruction *root = onlyRoot(*value); root && costAgain(root) > kMostCost) barrier.live.insert(root);
      }
  }

  // --- frames ------------------------------------------------------------------------------------------

  std::uint64_t reserve(llvm::Type *type, llvm::Align least) {
    llvm::Align align = std::min(std::max(least, layout_.getPrefTypeAlign(type)), kFrameAlign);
    std::uint64_t at = llvm::alignTo(frameBytes_, align);
    frameBytes_ = at + layout_.getTypeAllocSize(type);
    return at;
  }

  Value *frameAddress(llvm::IRBuilder<> &builder, std::uint64_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), part_->getArg(kFrame), offset);
  }

  // Whether the memory of `alloca` may be accessed after a barrier: its address, or one that is computed from it, lives
  // across one, or goes where that cannot be seen.
  static bool crossesBarrier(llvm::AllocaInst &alloca, const llvm::SetVector<Instruction *> &crossing) {
    llvm::SetVector<Instruction *> addresses;
    addresses.insert(&alloca);
    for (unsigned n = 0; n < addresses.size(); ++n) {
      Instruction *address = addresses[n];
      if (crossing.contains(address)) return true;
      for (llvm::Use &use : address->uses()) {
        auto *user = llvm::cast<Instruction>(use.getUser());
        if (isa<llvm::LoadInst, llvm::CmpInst>(user)) continue;
        if (isa<llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(user)) {
          if (use.get() != llvm::getPointerOperand(user)) return true;
        } else if (auto *call = llvm::dyn_cast<llvm::CallBase>(user)) {
          if (!onlyAccesses(*call, use.getOperandNo())) return true;
        } else {
          addresses.insert(user);
        }
      }
    }
    return false;
  }

  static bool onlyAccesses(const llvm::CallBase &call, unsigned operand) {
    const std::optional<MaskedAccess> access = maskedAccess(call);
    return access ? operand == access->addressOperand : call.isLifetimeStartOrEnd();
  }

  // Local variables that live across a barrier are in the frame, the others on the stack.
  void placeAllocas() {
    llvm::IRBuilder<> builder(entry_);
    const llvm::SetVector<Instruction *> values = crossing();
    for (Instruction &i : llvm::make_early_inc_range(llvm::instructions(*part_))) {
      auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&i);
      if (!alloca || !crossesBarrier(*alloca, values)) continue;
      forget(alloca);
      std::uint64_t at = reserve(alloca->getAllocatedType(), alloca->getAlign());
      alloca->replaceAllUsesWith(frameAddress(builder, at));
      alloca->eraseFromParent();
    }
    for (BasicBlock &block : *part_)
      for (Instruction &i : llvm::make_early_inc_range(block))
        if (isa<llvm::AllocaInst>(i) && &block != entry_) i.moveBefore(*entry_, entry_->begin());
  }

  // A place in the frame for `value`, which is written where the value is made; or before each barrier, if it is
  // made in a loop without barriers.
  std::uint64_t slotOf(Instruction &value) {
    auto [at, isNew] = slots_.try_emplace(&value, 0);
    if (!isNew) return at->second;
    return at->second = reserve(value.getType(), llvm::Align(1));
  }

  // A loop's phi and what the next round gives it share a slot, if they do not live at the same time: then a part
  // that leaves the value alone does not touch it.
  void shareSlots() {
    llvm::SmallPtrSet<Instruction *, 16> taken;
    for (Instruction *value : crossing()) {
      auto *phi = llvm::dyn_cast<llvm::PHINode>(value);
      if (!phi || innerBlocks_.contains(phi->getParent()) || taken.contains(phi)) continue;
      for (Value *incoming : phi->incoming_values()) {
        auto *from = llvm::dyn_cast<Instruction>(incoming);
        if (!from || from == phi || taken.contains(from) || !liveIn_.contains(from) || !isKept(*from) ||
            !mayShare(*phi, *from))
          continue;
        slots_[from] = slots_[phi] = reserve(phi->getType(), llvm::Align(1));
        sharedPhis_[phi] = from;
        taken.insert(phi);
        taken.insert(from);
        break;
      }
    }
  }

  // Whether the frame holds it, since it is not computed again.
  bool isKept(Instruction &value) {
    return value.getParent() != entry_ && costAgain(&value) > kMostCost && !onlyRoot(value);
  }

  bool mayShare(const llvm::PHINode &phi, const Instruction &from) {
    for (const Barrier &barrier : barriers_)
      if (barrier.live.contains(const_cast<llvm::PHINode *>(&phi)) &&
          barrier.live.contains(const_cast<Instruction *>(&from)))
        return false;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
      if (phi.getIncomingValue(i) != &from && !phi.getIncomingBlock(i)->getSingleSuccessor()) return false;
    if (liveIn_[&from].contains(phi.getParent())) return false;
    // The phi must be dead where `from` is made.
    const BasicBlock *home = from.getParent();
    for (const BasicBlock *to : llvm::successors(home))
      if (liveIn_[&phi].contains(to)) return false;
    return llvm::none_of(phi.uses(), [&](const llvm::Use &use) {
      auto *user = llvm::cast<Instruction>(use.getUser());
      auto *other = llvm::dyn_cast<llvm::PHINode>(user);
      if (other) return other->getIncomingBlock(use) == home;
      return user->getParent() == home && (isa<llvm::PHINode>(from) || from.comesBefore(user));
    });
  }

  // The slot has the phi's value on the edges where it has that of `from`; on the others it is stored.
  void keepIncoming(llvm::PHINode &phi, Instruction &from) {
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      Value *incoming = phi.getIncomingValue(i);
      bool there = incoming == &from && !innerBlocks_.contains(from.getParent());
      for (Barrier &barrier : barriers_)
        there |= barrier.live.contains(&from) && barrier.values.lookup(&from) == incoming;
      if (!there) store(*incoming, slots_[&phi], phi.getIncomingBlock(i)->getTerminator()->getIterator());
    }
  }

  void store(Value &value, std::uint64_t offset, BasicBlock::iterator at) {
    llvm::IRBuilder<> builder(at->getParent(), at);
    builder.SetCurrentDebugLocation({});
    builder.CreateAlignedStore(&value, frameAddress(builder, offset), llvm::commonAlignment(kFrameAlign, offset));
  }

  // --- the new control flow ------------------------------------------------------------------------------

  void cut() {
    llvm::LLVMContext &context = part_->getContext();
    llvm::Type *i32 = llvm::Type::getInt32Ty(context);
    BasicBlock *start = entry_->getNextNode();
    for (BasicBlock &block : *part_)
      if (auto *ret = llvm::dyn_cast_or_null<llvm::ReturnInst>(block.getTerminator()))
        llvm::ReplaceInstWithInst(ret, llvm::ReturnInst::Create(context, llvm::ConstantInt::get(i32, kEnded)));
    llvm::IRBuilder<> builder(entry_);
    llvm::SwitchInst *dispatch =
        builder.CreateSwitch(part_->getArg(kState), start, static_cast<unsigned>(barriers_.size()));
    BasicBlock *ended = BasicBlock::Create(context, "ended", part_);
    llvm::ReturnInst::Create(context, builder.getInt32(kEnded), ended);
    dispatch->addCase(builder.getInt32(kEnded), ended);
    for (unsigned i = 0; i < barriers_.size(); ++i) {
      Barrier &barrier = barriers_[i];
      llvm::ConstantInt *number = builder.getInt32((i + 1) | (barrier.turn ? kTurnBit : 0));
      llvm::DebugLoc where = barrier.before->getTerminator()->getDebugLoc();
      barrier.before->getTerminator()->eraseFromParent();
      llvm::ReturnInst::Create(context, number, barrier.before)->setDebugLoc(where);
      barrier.resume = BasicBlock::Create(context, "resume", part_, barrier.after);
      llvm::BranchInst::Create(barrier.after, barrier.resume);
      dispatch->addCase(number, barrier.resume);
    }
  }

  void restore(Barrier &barrier) {
    for (Instruction *value : barrier.live) barrier.values[value] = again(*value, barrier);
  }

  // `value` at a barrier's resumption.
  Value *again(Value &value, Barrier &barrier) {
    auto *i = llvm::dyn_cast<Instruction>(&value);
    if (!i || i->getParent() == entry_) return &value;
    if (Value *known = barrier.values.lookup(i)) return known;
    llvm::IRBuilder<> builder(barrier.resume->getTerminator());
    Value *made;
    if (costAgain(i) <= kMostCost || onlyRoot(*i)) {
      Instruction *copy = i->clone();
      for (llvm::Use &operand : copy->operands()) operand.set(again(*operand.get(), barrier));
      builder.SetInsertPoint(barrier.resume->getTerminator());
      made = builder.Insert(copy, i->getName());
      copy->setDebugLoc({});
    } else {
      std::uint64_t offset = slotOf(*i);
      made = builder.CreateAlignedLoad(i->getType(), frameAddress(builder, offset),
                                       llvm::commonAlignment(kFrameAlign, offset), i->getName());
    }
    barrier.values[i] = made;
    return made;
  }

  void rewrite(Instruction &value) {
    llvm::SSAUpdater updater;
    updater.Initialize(value.getType(), value.getName());
    updater.AddAvailableValue(value.getParent(), &value);
    for (Barrier &barrier : barriers_)
      if (barrier.live.contains(&value)) updater.AddAvailableValue(barrier.resume, barrier.values[&value]);
    llvm::SmallVector<llvm::Use *, 8> uses;
    for (llvm::Use &use : value.uses()) {
      auto *user = llvm::cast<Instruction>(use.getUser());
      auto *phi = llvm::dyn_cast<llvm::PHINode>(user);
      if ((phi ? phi->getIncomingBlock(use) : user->getParent()) != value.getParent()) uses.push_back(&use);
    }
    for (llvm::Use *use : uses) updater.RewriteUse(*use);
    if (auto slot = slots_.find(&value); slot != slots_.end()) keep(value, slot->second, updater);
  }

  void keep(Instruction &value, std::uint64_t offset, llvm::SSAUpdater &updater) {
    if (sharedPhis_.contains(&value)) return;
    BasicBlock *home = value.getParent();
    if (!innerBlocks_.contains(home))
      return store(value, offset,
                   isa<llvm::PHINode>(value) ? home->getFirstInsertionPt() : std::next(value.getIterator()));
    for (Barrier &barrier : barriers_)
      if (barrier.live.contains(&value))
        store(*updater.GetValueAtEndOfBlock(barrier.before), offset, barrier.before->getTerminator()->getIterator());
  }

  Function *part_;
  const llvm::DataLayout &layout_;
  BasicBlock *entry_ = nullptr;
  std::vector<Barrier> barriers_;
  Blocks innerBlocks_;                                        // in loops without barriers
  llvm::DenseMap<const Instruction *, Blocks> liveIn_;        // of values that live across a barrier
  llvm::MapVector<Instruction *, Instruction *> sharedPhis_;  // to the value in whose slot the phi is
  llvm::MapVector<Instruction *, std::uint64_t> slots_;
  std::uint64_t frameBytes_ = sizeof(std::uint32_t);  // the state comes first
};

}  // namespace

SplitWarp splitAtBarriers(Function &warpFunction) { return Splitter(warpFunction).run(); }

}  // namespace strata::simt
