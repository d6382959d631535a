// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/specialize_strides.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <algorithm>
#include <set>
#include <vector>

#include "simt/analysis/frame_post_dominators.h"
#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/uniformity.h"
#include "simt/emit/report.h"
#include "simt/passes/lane/clone_blocks.h"
#include "simt/passes/lane/warp_full.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::BinaryOperator;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::Instruction;
using llvm::isa;
using llvm::Value;

constexpr unsigned kMostInstructions = 150;  // of the code that is copied, and of an address
constexpr unsigned kMostCopied = 1200;       // in a function
constexpr unsigned kMostLines = 8;           // that a warp may touch with an access that is worth it

// A value for which code may be specialised.
struct Root {
  Instruction *value;
  // For 0…4 (by which something is shifted); 1, 2, 4, 8, 16, and multiples of 32; or only multiples.
  enum class Kind { shift, stride, divisor } kind;
};

bool isConstant(const Value *value) { return isa<llvm::ConstantInt>(value); }

// The greater of `i` and 1, as divisors are made; null if it is something else.
Value *nonZero(const Instruction &i) {
  auto *most = dyn_cast<llvm::IntrinsicInst>(&i);
  if (!most || most->getIntrinsicID() != llvm::Intrinsic::umax) return nullptr;
  auto *one = dyn_cast<llvm::ConstantInt>(most->getArgOperand(1));
  return one && one->isOne() ? most->getArgOperand(0) : nullptr;
}

// An operation on one value, and a constant perhaps.
bool dependsOnOne(const Instruction &i) {
  if (nonZero(i)) return true;
  if (isa<llvm::CastInst>(i)) return i.getType()->isIntegerTy() && i.getOperand(0)->getType()->isIntegerTy();
  return isa<BinaryOperator>(i) && i.getType()->isIntegerTy() &&
         (isConstant(i.getOperand(0)) || isConstant(i.getOperand(1)));
}

// What is computed from `root` and constants alone, the root first.
llvm::SetVector<Instruction *> derivedFrom(Instruction &root) {
  llvm::SetVector<Instruction *> derived;
  derived.insert(&root);
  for (unsigned n = 0; n < derived.size() && n < kMostInstructions; ++n)
    for (llvm::User *user : derived[n]->users()) {
      auto *i = llvm::cast<Instruction>(user);
      if (isa<llvm::PHINode>(i) || !i->getType()->isIntegerTy()) continue;
      const bool own = isa<BinaryOperator>(i) && llvm::all_of(i->operands(), [&](Value *operand) {
                         return isConstant(operand) || derived.contains(dyn_cast<Instruction>(operand));
                       });
      if (own || dependsOnOne(*i)) derived.insert(i);
    }
  return derived;
}

bool isMask(const Instruction &i) { return i.getOpcode() == Instruction::And || i.getOpcode() == Instruction::Xor; }
bool isDivision(const Instruction &i) {
  return i.getOpcode() == Instruction::UDiv || i.getOpcode() == Instruction::URem;
}

// --- which values ------------------------------------------------------------------------------------

// From round to round the phi is multiplied or divided by a constant; or (isShift) a constant is added.
bool steps(llvm::PHINode &phi, const llvm::SetVector<Instruction *> &derived, bool isShift) {
  for (Value *incoming : phi.incoming_values()) {
    auto *next = dyn_cast<Instruction>(incoming);
    if (!next || next == &phi || !derived.contains(next)) continue;
    if (next->getOpcode() == Instruction::Add && isConstant(next->getOperand(1))) return isShift;
    return !isShift && (next->isShift() || next->isIntDivRem() || next->getOpcode() == Instruction::Mul ||
                        next->getOpcode() == Instruction::Add);
  }
  return false;
}

// Something else is combined with what is computed from the root, as an index would be.
bool mixes(const Root &root, const llvm::SetVector<Instruction *> &derived) {
  const bool inLoop = isa<llvm::PHINode>(root.value);
  for (Instruction *value : derived)
    for (llvm::User *user : value->users()) {
      auto *i = dyn_cast<BinaryOperator>(user);
      if (!i || derived.contains(i)) continue;
      if (root.kind == Root::Kind::shift && i->isShift() && i->getOperand(1) == value) return true;
      if (root.kind == Root::Kind::stride && (inLoop ? i->getOpcode() != Instruction::Add : isMask(*i))) return true;
      if (root.kind == Root::Kind::divisor && isDivision(*i) && i->getOperand(1) == value) return true;
    }
  return false;
}

std::vector<Root> findRoots(llvm::Function &function) {
  using Kind = Root::Kind;
  std::vector<Root> roots;
  for (BasicBlock &block : function)
    for (Instruction &i : block) {
      if (!i.getType()->isIntegerTy(32) && !i.getType()->isIntegerTy(64)) continue;
      auto *phi = dyn_cast<llvm::PHINode>(&i);
      const bool parameter = isa<llvm::LoadInst>(i) && i.hasMetadata(llvm::LLVMContext::MD_invariant_load);
      if (!phi && !parameter) continue;
      const llvm::SetVector<Instruction *> derived = derivedFrom(i);
      for (Kind kind : {Kind::stride, Kind::shift, Kind::divisor}) {
        if (phi ? kind == Kind::divisor || !steps(*phi, derived, kind == Kind::shift) : kind == Kind::shift) continue;
        if (!mixes({&i, kind}, derived)) continue;
        roots.push_back({&i, kind});
        break;
      }
    }
  return roots;
}

// --- what a constant makes of an address ---------------------------------------------------------------

constexpr unsigned kGranule = 32;  // of the last version: the root is a multiple

// `x & mask`, where the mask has all bits below the granule: those of x, and what is above.
Value *maskAboveGranule(llvm::IRBuilderBase &builder, Value *x, Value *mask) {
  Value *low = builder.CreateAnd(x, llvm::ConstantInt::get(x->getType(), kGranule - 1));
  const llvm::APInt above = -llvm::APInt(x->getType()->getIntegerBitWidth(), kGranule);
  Value *high = builder.CreateAnd(builder.CreateAnd(x, llvm::ConstantInt::get(x->getType(), above)),
                                  builder.CreateAnd(mask, llvm::ConstantInt::get(x->getType(), above)));
  return builder.Insert(BinaryOperator::CreateDisjoint(Instruction::Or, low, high));
}

// (x + c) + d  →  x + (c + d);   (x + c) * d  →  x * d + c * d.  Null if it is neither.
Value *constantOutward(Instruction &i, const llvm::ConstantInt &constant, llvm::IRBuilderBase &builder) {
  auto *inner = dyn_cast<BinaryOperator>(i.getOperand(0));
  auto *first = inner ? dyn_cast<llvm::ConstantInt>(inner->getOperand(1)) : nullptr;
  auto *disjoint = dyn_cast_or_null<llvm::PossiblyDisjointInst>(inner);
  if (!first || !(inner->getOpcode() == Instruction::Add || (disjoint && disjoint->isDisjoint()))) return nullptr;
  Value *x = inner->getOperand(0);
  const llvm::APInt &c = first->getValue(), &d = constant.getValue();
  const auto plus = [&](Value *sum, const llvm::APInt &more) {
    return more.isZero() ? sum : builder.CreateAdd(sum, llvm::ConstantInt::get(x->getType(), more));
  };
  switch (i.getOpcode()) {
    case Instruction::Add: return plus(x, c + d);
    case Instruction::Mul: return plus(builder.CreateMul(x, i.getOperand(1)), c * d);
    case Instruction::Shl:
      return d.ult(d.getBitWidth()) ? plus(builder.CreateShl(x, i.getOperand(1)), c << d) : nullptr;
    default: return nullptr;
  }
}

// `i` in simpler form, its operands being constants or multiples of the granule: a value, or itself.
Value *simplified(Instruction &i, const llvm::DataLayout &layout, llvm::IRBuilderBase &builder) {
  if (Value *simple = llvm::simplifyInstruction(&i, llvm::SimplifyQuery(layout, &i))) return simple;
  auto *constant = isa<BinaryOperator>(i) ? dyn_cast<llvm::ConstantInt>(i.getOperand(1)) : nullptr;
  if (auto *first =
          isa<BinaryOperator>(i) && i.isCommutative() ? dyn_cast<llvm::ConstantInt>(i.getOperand(0)) : nullptr;
      first && !constant) {
    i.getOperandUse(0).swap(i.getOperandUse(1));
    constant = first;
  }
  builder.SetInsertPoint(&i);
  Value *x = i.getOperand(0);
  if (!constant && i.getOpcode() == Instruction::And)
    for (unsigned n : {0u, 1u})
      if (llvm::computeKnownBits(i.getOperand(n), layout).countMinTrailingOnes() >= llvm::Log2_32(kGranule))
        return maskAboveGranule(builder, i.getOperand(1 - n), i.getOperand(n));
  if (i.getOpcode() == Instruction::Or &&
      llvm::haveNoCommonBitsSet(i.getOperand(0), i.getOperand(1), llvm::SimplifyQuery(layout, &i)))
    llvm::cast<llvm::PossiblyDisjointInst>(i).setIsDisjoint(true);
  if (!constant) return &i;
  if (Value *moved = constantOutward(i, *constant, builder)) return moved;
  if (i.getOpcode() == Instruction::And) {  // of -1 there may be as many bits as the other side has
    const llvm::KnownBits known = llvm::computeKnownBits(x, layout);
    i.setOperand(1, llvm::ConstantInt::get(x->getType(), constant->getValue() & ~known.Zero));
  }
  if (!constant->getValue().isPowerOf2()) return &i;
  const bool natural = i.getOpcode() == Instruction::UDiv || i.getOpcode() == Instruction::URem ||
                       llvm::isKnownNonNegative(x, llvm::SimplifyQuery(layout, &i));
  switch (i.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
      return natural && !constant->isNegative() ? builder.CreateLShr(x, constant->getValue().logBase2()) : &i;
    case Instruction::SRem:
    case Instruction::URem:
      return natural && !constant->isNegative()
                 ? builder.CreateAnd(x, llvm::ConstantInt::get(x->getType(), constant->getValue() - 1))
                 : &i;
    default: return &i;
  }
}

class Specializer {
public:
  Specializer(llvm::Function &function, const ThreadIndex &threads, unsigned &copied)
      : function_(function),
        layout_(function.getParent()->getDataLayout()),
        dominators_(function),
        loops_(dominators_),
        order_(function, loops_),
        uniformity_(function, loops_, order_, threads),
        postDominators_(loops_, order_),
        copied_(copied) {}

  bool run(const Root &root) {
    if (!uniformity_.shape(root.value).isUniform()) return false;
    if (!collectAccesses(root) || !findRegion(root)) return false;
    std::vector<Version> versions;
    for (unsigned n = 0; n < 5 && root.kind != Root::Kind::divisor; ++n)
      versions.push_back(llvm::ConstantInt::get(llvm::cast<llvm::IntegerType>(root.value->getType()),
                                                root.kind == Root::Kind::shift ? n : 1u << n));
    if (root.kind != Root::Kind::shift) versions.push_back(nullptr);
    llvm::erase_if(versions, [&](Version version) { return !gains(root, version); });
    const auto size = static_cast<unsigned>(size_ * versions.size());
    if (versions.empty() || copied_ + size > kMostCopied) return false;
    copied_ += size;
    specialize(root, versions);
    return true;
  }

private:
  using Version = llvm::ConstantInt *;  // what the root is; null: a multiple of the granule

  bool collectAccesses(const Root &root);
  llvm::SetVector<Instruction *> addressParts() const;
  bool findRegion(const Root &root);
  bool beginsWithGuard(BasicBlock &first) const;
  void hoistUniform();
  bool mayCopy(const BasicBlock &block, BasicBlock::const_iterator from, BasicBlock::const_iterator to);
  bool gains(const Root &root, Version version);
  Value *rootIn(Version version, const Root &root) const;
  unsigned linesOf(Instruction &access, const Value *address) const;
  void specialize(const Root &root, llvm::ArrayRef<Version> versions);
  std::vector<BasicBlock *> copyFor(const Root &root, Version version, llvm::ArrayRef<BasicBlock *> region,
                                    llvm::ValueToValueMapTy &map);

  llvm::Function &function_;
  const llvm::DataLayout &layout_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  BlockOrder order_;
  Uniformity uniformity_;
  FramePostDominators postDominators_;
  unsigned &copied_;

  llvm::SetVector<Instruction *> slice_;  // what is computed from the root without memory, operands first
  std::vector<Instruction *> accesses_;   // gathers and scatters among its users
  Instruction *start_ = nullptr;          // the region is from here
  BasicBlock *end_ = nullptr;             // to the beginning of this block,
  Instruction *last_ = nullptr;           // or to this instruction's end in the same block
  std::vector<BasicBlock *> blocks_;      // between
  std::vector<Instruction *> ahead_;      // of the slice, before the region
  unsigned size_ = 0;
  bool needsFull_ = false;  // accesses have gaps: under a mask they take about as long as gathers
};

// The gathers and scatters whose addresses depend on the root.
bool Specializer::collectAccesses(const Root &root) {
  llvm::SmallPtrSet<const Value *, 32> reached;
  reached.insert(root.value);
  for (BasicBlock *block : order_.blocks())
    for (Instruction &i : *block) {
      const Value *pointer = llvm::getLoadStorePointerOperand(&i);
      if (pointer && reached.contains(pointer) && uniformity_.shape(pointer).isVarying() && !i.isVolatile() &&
          !i.isAtomic())
        accesses_.push_back(&i);
      if (isa<llvm::PHINode>(i) || i.mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(&i)) {
        const bool divides = i.isIntDivRem();  // by what is no constant yet
        if (!divides) continue;
      }
      if (llvm::none_of(i.operands(), [&](Value *operand) { return reached.contains(operand); })) continue;
      reached.insert(&i);
      slice_.insert(&i);
    }
  return !accesses_.empty() && slice_.size() <= 2 * kMostInstructions;
}

bool Specializer::mayCopy(const BasicBlock &block, BasicBlock::const_iterator from, BasicBlock::const_iterator to) {
  for (auto at = from; at != to; ++at) {
    auto *call = dyn_cast<llvm::CallBase>(&*at);
    if ((call && (call->isConvergent() || call->cannotDuplicate())) || isa<llvm::AllocaInst>(*at)) return false;
    if (++size_ > kMostInstructions) return false;
  }
  return !block.hasAddressTaken();
}

// The accesses, and what their addresses are computed of that differs between lanes.
llvm::SetVector<Instruction *> Specializer::addressParts() const {
  llvm::SetVector<Instruction *> parts(accesses_.begin(), accesses_.end());
  const auto add = [&](Value *operand) {
    auto *i = dyn_cast<Instruction>(operand);
    if (i && slice_.contains(i) && !uniformity_.shape(i).isUniform()) parts.insert(i);
  };
  for (Instruction *access : accesses_) add(llvm::getLoadStorePointerOperand(access));
  for (std::size_t n = accesses_.size(); n < parts.size(); ++n)
    for (Value *operand : parts[static_cast<unsigned>(n)]->operand_values()) add(operand);
  return parts;
}

// The accesses of one loop's round, or of none, and the code around them that is copied.
bool Specializer::findRegion(const Root &root) {
  const llvm::Loop *loop = loops_.getLoopFor(accesses_[0]->getParent());
  BasicBlock *head = nullptr;
  for (Instruction *access : accesses_)
    if (loops_.getLoopFor(access->getParent()) != loop) return false;
  for (Instruction *i : addressParts())
    if (loops_.getLoopFor(i->getParent()) == loop)
      head = head ? dominators_.findNearestCommonDominator(head, i->getParent()) : i->getParent();
  if (loops_.getLoopFor(head) != loop) return false;
  const auto inHead = [&](const Instruction *i) { return i->getParent() == head; };
  // What waits comes before.
  Instruction *from = &*head->getFirstInsertionPt();
  for (Instruction &i : *head) {
    if (llvm::is_contained(accesses_, &i)) break;
    auto *call = dyn_cast<llvm::CallBase>(&i);
    if ((call && call->isConvergent()) || isa<llvm::AllocaInst>(i) || &i == root.value)
      from = isa<llvm::PHINode>(i) ? from : i.getNextNode();
  }
  for (start_ = from; !start_->isTerminator() && !slice_.contains(start_) && !llvm::is_contained(accesses_, start_);)
    start_ = start_->getNextNode();
  if (llvm::all_of(accesses_, inHead)) {
    last_ = accesses_.back();
    return mayCopy(*head, start_->getIterator(), std::next(last_->getIterator()));
  }
  for (BasicBlock *block : order_.blocks()) {
    if (block == head || loops_.getLoopFor(block) != loop || (loop && block == loop->getHeader())) continue;
    if (!postDominators_.dominates(block, head) || llvm::any_of(accesses_, [&](Instruction *access) {
          return access->getParent() == block || !postDominators_.dominates(block, access->getParent());
        }))
      continue;
    end_ = block;
    break;
  }
  if (!end_ || !mayCopy(*head, start_->getIterator(), head->end())) return false;
  llvm::SetVector<BasicBlock *> between;
  for (BasicBlock *to : llvm::successors(head))
    if (to != end_) between.insert(to);
  for (unsigned n = 0; n < between.size(); ++n) {
    BasicBlock *block = between[n];
    if (loops_.getLoopFor(block) != loop || !dominators_.properlyDominates(head, block) ||
        !mayCopy(*block, block->begin(), block->end()))
      return false;
    for (BasicBlock *to : llvm::successors(block))
      if (to != end_) between.insert(to);
  }
  blocks_.assign(between.begin(), between.end());
  return true;
}

// Lines of 64 bytes that the lanes' elements lie in; many if that is not known.
unsigned Specializer::linesOf(Instruction &access, const Value *address) const {
  const Shape shape = uniformity_.shape(address);
  if (!shape.isAffine()) return ~0u;
  std::set<std::int64_t> lines;
  for (std::int64_t offset : shape.offsets) lines.insert(offset >> 6);
  return static_cast<unsigned>(lines.size()) * (llvm::getLoadStoreType(&access)->isVectorTy() ? 2 : 1);
}

// The root's value in a version; an instruction is to be inserted.
Value *Specializer::rootIn(Version version, const Root &root) const {
  if (version) return version;
  const llvm::APInt above = -llvm::APInt(root.value->getType()->getIntegerBitWidth(), kGranule);
  return BinaryOperator::CreateAnd(root.value, llvm::ConstantInt::get(root.value->getType(), above));
}

// Whether some access becomes a pattern: its address is computed for the version by instructions that are removed
// again.
bool Specializer::gains(const Root &root, Version version) {
  std::vector<Instruction *> made;
  llvm::IRBuilder<llvm::ConstantFolder, llvm::IRBuilderCallbackInserter> builder(
      function_.getContext(), llvm::ConstantFolder(), llvm::IRBuilderCallbackInserter([&](Instruction *i) {
        uniformity_.evaluate(*i);
        made.push_back(i);
      }));
  llvm::DenseMap<const Value *, Value *> now;
  now[root.value] = rootIn(version, root);
  if (auto *i = dyn_cast<Instruction>(now[root.value])) {
    builder.SetInsertPoint(isa<llvm::PHINode>(root.value) ? &*root.value->getParent()->getFirstInsertionPt()
                                                          : root.value->getNextNode());
    builder.Insert(i);
  }
  for (Instruction *i : slice_) {
    Instruction *copy = i->clone();
    for (llvm::Use &operand : copy->operands())
      if (Value *known = now.lookup(operand)) operand = known;
    builder.SetInsertPoint(i);
    builder.Insert(copy);
    Value *divisor = nonZero(*copy);
    now[i] = divisor && divisor == now[root.value] && !version ? divisor : simplified(*copy, layout_, builder);
    uniformity_.forget(*copy);
    uniformity_.evaluate(*copy);
  }
  bool gain = false;
  for (Instruction *access : accesses_) {
    const unsigned lines = linesOf(*access, now.lookup(llvm::getLoadStorePointerOperand(access)));
    gain = gain || lines <= kMostLines;
    const std::uint64_t bytes = layout_.getTypeStoreSize(llvm::getLoadStoreType(access)) * kLanes;
    if (lines <= kMostLines && lines > (bytes + 127) / 64) needsFull_ = true;
  }
  for (Instruction *i : llvm::reverse(made)) i->dropAllReferences();
  for (Instruction *i : made) {
    uniformity_.forget(*i);
    i->eraseFromParent();
  }
  return gain;
}

// A version of the region. Returns its blocks.
std::vector<BasicBlock *> Specializer::copyFor(const Root &root, Version version, llvm::ArrayRef<BasicBlock *> region,
                                               llvm::ValueToValueMapTy &map) {
  Value *value = rootIn(version, root);
  map[root.value] = value;
  std::vector<Instruction *> ahead;
  if (auto *i = dyn_cast<Instruction>(value)) ahead.push_back(i);
  for (Instruction *i : ahead_) {
    Instruction *copy = i->clone();
    llvm::RemapInstruction(copy, map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    map[i] = copy;
    ahead.push_back(copy);
  }
  const std::vector<BasicBlock *> copies = cloneBlocks(region, ".stride", map);
  for (Instruction *i : llvm::reverse(ahead)) i->insertInto(copies[0], copies[0]->begin());
  llvm::IRBuilder<> builder(function_.getContext());
  for (BasicBlock *block : copies)
    for (Instruction &i : llvm::make_early_inc_range(*block)) {
      if (!isa<BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::CmpInst, llvm::SelectInst,
               llvm::IntrinsicInst>(i))
        continue;
      Value *divisor = nonZero(i);
      Value *simple = divisor && divisor == value && !version ? divisor : simplified(i, layout_, builder);
      if (simple == &i) continue;
      i.replaceAllUsesWith(simple);
      i.eraseFromParent();
    }
  return copies;
}

// What is uniform stays in one version: where versions meet again, lanes may come from different blocks, and a value of
// each would vary.
void Specializer::hoistUniform() {
  for (Instruction *i = start_; !i->isTerminator();) {
    Instruction *next = i->getNextNode();
    const bool stays =
        i->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(i) || !uniformity_.shape(i).isUniform() ||
        llvm::any_of(i->operands(), [&](Value *operand) { return !dominators_.dominates(operand, start_); });
    if (i == start_ && !stays) start_ = next;
    else if (!stays) i->moveBefore(start_);
    if (i == last_) break;
    i = next;
  }
}

// The region starts with what may be done twice, and a branch over the rest.
bool Specializer::beginsWithGuard(BasicBlock &first) const {
  auto *branch = dyn_cast<llvm::BranchInst>(first.getTerminator());
  if (!branch || !branch->isConditional() || uniformity_.shape(branch->getCondition()).isUniform()) return false;
  if (branch->getSuccessor(0) != end_ && branch->getSuccessor(1) != end_) return false;
  return llvm::none_of(first, [](const Instruction &i) {
    return i.mayHaveSideEffects() && calledIntrinsic(i) != LaneIntrinsic::checkAligned;
  });
}

// A copy of such a region's beginning goes on only if all lanes do; else the lanes start `again`.
void passGuardTogether(BasicBlock &copy, BasicBlock &again, BasicBlock &end) {
  auto *branch = llvm::cast<llvm::BranchInst>(copy.getTerminator());
  const unsigned over = branch->getSuccessor(0) == &end ? 0 : 1;
  llvm::IRBuilder<> builder(branch);
  Value *full = createWarpFull(builder, branch->getCondition(), /*inverted=*/over == 0);
  builder.CreateCondBr(full, branch->getSuccessor(1 - over), &again);
  branch->eraseFromParent();
  end.removePredecessor(&copy, /*KeepOneInputPHIs=*/true);
}

// Of the granule, but not zero.
Value *isMultiple(llvm::IRBuilder<> &builder, Value *root) {
  Value *rest = builder.CreateAnd(root, llvm::ConstantInt::get(root->getType(), kGranule - 1)),
        *zero = llvm::Constant::getNullValue(root->getType());
  return builder.CreateAnd(builder.CreateICmpEQ(rest, zero), builder.CreateICmpNE(root, zero));
}

void Specializer::specialize(const Root &root, llvm::ArrayRef<Version> versions) {
  hoistUniform();
  BasicBlock *before = start_->getParent();
  for (Instruction *i : slice_)
    if (i != start_ && dominators_.dominates(i, start_)) ahead_.push_back(i);
  BasicBlock *first = before->splitBasicBlock(start_, before->getName() + ".any");
  if (last_) end_ = first->splitBasicBlock(last_->getNextNode(), before->getName() + ".end");
  std::vector<BasicBlock *> region = {first};
  region.insert(region.end(), blocks_.begin(), blocks_.end());
  llvm::SmallVector<Instruction *, 16> used;  // after the region
  for (BasicBlock *block : region)
    for (Instruction &i : *block)
      if (llvm::any_of(i.users(), [&](llvm::User *user) {
            return !llvm::is_contained(region, llvm::cast<Instruction>(user)->getParent());
          }))
        used.push_back(&i);

  std::vector<std::unique_ptr<llvm::ValueToValueMapTy>> maps;
  llvm::SmallPtrSet<BasicBlock *, 32> inside(region.begin(), region.end());
  BasicBlock *from = before;
  const bool guarded = needsFull_ && beginsWithGuard(*first);
  if (needsFull_ && !guarded) {
    from = BasicBlock::Create(function_.getContext(), before->getName() + ".full", &function_);
    Instruction *jump = before->getTerminator();
    llvm::IRBuilder<> builder(jump);
    builder.CreateCondBr(createWarpFull(builder, builder.getTrue()), from, first);
    jump->eraseFromParent();
  }
  for (std::size_t v = 0; v < versions.size(); ++v) {
    llvm::ValueToValueMapTy &map = *maps.emplace_back(std::make_unique<llvm::ValueToValueMapTy>());
    const std::vector<BasicBlock *> copies = copyFor(root, versions[v], region, map);
    inside.insert(copies.begin(), copies.end());
    addCopiedEdges(*end_, map);
    if (guarded) passGuardTogether(*copies[0], *first, *end_);
    BasicBlock *next = v + 1 == versions.size()
                           ? first
                           : BasicBlock::Create(function_.getContext(), before->getName() + ".next", &function_);
    Instruction *jump = from->getTerminator();
    llvm::IRBuilder<> builder(from);
    if (jump) builder.SetInsertPoint(jump);
    Value *is = versions[v] ? builder.CreateICmpEQ(root.value, versions[v]) : isMultiple(builder, root.value);
    markStrideTest(*builder.CreateCondBr(is, copies[0], next));
    if (jump) jump->eraseFromParent();
    from = next;
  }
  for (Instruction *value : used) {
    llvm::SmallVector<llvm::Use *, 8> outside;
    for (llvm::Use &use : value->uses()) {
      auto *user = llvm::cast<Instruction>(use.getUser());
      auto *phi = dyn_cast<llvm::PHINode>(user);
      if (!inside.contains(phi ? phi->getIncomingBlock(use) : user->getParent())) outside.push_back(&use);
    }
    llvm::SSAUpdater updater;
    updater.Initialize(value->getType(), value->getName());
    updater.AddAvailableValue(value->getParent(), value);
    for (auto &map : maps)
      updater.AddAvailableValue(llvm::cast<BasicBlock>((*map)[value->getParent()]), copyOrSelf(value, *map));
    for (llvm::Use *use : outside) updater.RewriteUse(*use);
  }
}

}  // namespace

void specializeStrides(llvm::Function &function, const ThreadIndex &threads) {
  if (!function.hasFnAttribute("strata.kernel")) return;
  unsigned copied = 0;
  for (const Root &root : findRoots(function)) Specializer(function, threads, copied).run(root);
}

}  // namespace strata::simt
