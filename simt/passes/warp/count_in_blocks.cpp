// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/count_in_blocks.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "simt/abi.h"
#include "simt/analysis/masked_access.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::IRBuilder;
using llvm::Value;

constexpr unsigned kEntries = 256, kTables = 2;  // additions to one word in a row do not wait for each other
constexpr unsigned kMostCounts = 8, kMostChecks = 192;
constexpr llvm::StringLiteral kPrefix = "strata.count.";

llvm::Constant *noBase(llvm::LLVMContext &context) {
  llvm::Constant *all = llvm::Constant::getAllOnesValue(llvm::Type::getInt64Ty(context));
  return llvm::ConstantExpr::getIntToPtr(all, llvm::PointerType::get(context, 0));
}

// The operands of a call.
struct Count {
  CallInst *call;
  Value *base() const { return call->getArgOperand(0); }
  std::uint64_t scale() const { return llvm::cast<llvm::ConstantInt>(call->getArgOperand(1))->getZExtValue(); }
  Value *bytes() const { return call->getArgOperand(2); }
  Value *mask() const { return call->getArgOperand(3); }
  Value *value() const { return call->getArgOperand(4); }
  llvm::Type *type() const { return value()->getType(); }
  std::uint64_t size() const { return type()->getIntegerBitWidth() / 8; }
};

bool isCount(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with(kPrefix);
}

void addAtomically(IRBuilder<> &b, Value *address, Value *value) {
  b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, address, value,
                    llvm::MaybeAlign(value->getType()->getIntegerBitWidth() / 8), llvm::AtomicOrdering::Monotonic);
}

Value *addressOf(IRBuilder<> &b, Value *base, std::uint64_t scale, Value *index) {
  return b.CreatePtrAdd(base, b.CreateMul(b.CreateZExt(index, b.getInt64Ty()), b.getInt64(scale)));
}

// Runs `body` for each bit of `bits`, an integer that is not 0, before `at`; numbers are i32.
template <class Body>
void forEachBit(Instruction *at, Value *bits, Body body) {
  BasicBlock *head = at->getParent(), *after = llvm::SplitBlock(head, at);
  BasicBlock *loop = BasicBlock::Create(head->getContext(), "each", head->getParent(), after);
  head->getTerminator()->setSuccessor(0, loop);
  IRBuilder<> b(loop);
  llvm::PHINode *left = b.CreatePHI(bits->getType(), 2);
  left->addIncoming(bits, head);
  Value *number = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue());
  body(b, b.CreateZExtOrTrunc(number, b.getInt32Ty()));
  Value *rest = b.CreateAnd(left, b.CreateSub(left, llvm::ConstantInt::get(bits->getType(), 1)));
  left->addIncoming(rest, loop);
  b.CreateCondBr(b.CreateIsNotNull(rest), loop, after);
}

// Lane by lane, of which at least one is active.
template <class One>
void forEachLane(const Count &count, llvm::Function &function, One one) {
  IRBuilder<> allocas(&*function.getEntryBlock().begin());
  llvm::AllocaInst *bytes = allocas.CreateAlloca(count.bytes()->getType());
  IRBuilder<> b(count.call);
  b.CreateStore(count.bytes(), bytes);
  Value *bits = b.CreateBitCast(count.mask(), b.getInt32Ty());
  forEachBit(count.call, bits, [&](IRBuilder<> &in, Value *lane) {
    one(in, in.CreateLoad(in.getInt8Ty(),
                          in.CreateInBoundsGEP(in.getInt8Ty(), bytes, in.CreateZExt(lane, in.getInt64Ty()))));
  });
}

void expandDirectly(const Count &count) {
  forEachLane(count, *count.call->getFunction(), [&](IRBuilder<> &b, Value *byte) {
    addAtomically(b, addressOf(b, count.base(), count.scale(), byte), count.value());
  });
  count.call->eraseFromParent();
}

// Counts of one call: { base, or noBase if nothing is counted; tables }. (A program's bad base may be null.)
struct Table {
  Count count;
  llvm::AllocaInst *slot;
  llvm::Function *flush;
  // Bytes of memory from base on.
  std::uint64_t span() const { return (kEntries - 1) * count.scale() + count.size(); }
};

class TableWriter {
public:
  TableWriter(llvm::Function &entry, std::vector<Count> counts) : entry_(entry), counts_(std::move(counts)) {}

  // False, and nothing is done, if too much would have to be checked.
  bool run() {
    std::vector<Instruction *> checked, ordered, returns;
    for (Instruction &i : llvm::instructions(entry_)) {
      if (llvm::isa<llvm::ReturnInst>(i) || mayOrder(i)) ordered.push_back(&i);
      else if (mayTouch(i)) checked.push_back(&i);
    }
    if (counts_.size() > kMostCounts || (checked.size() + ordered.size()) * counts_.size() > kMostChecks) return false;
    for (const Count &count : counts_) makeTable(count);
    for (Instruction *i : ordered)
      for (const Table &table : tables_) flushIf(i, isArmed(i, table), table);
    for (Instruction *i : checked)
      for (const Table &table : tables_) flushIf(i, touches(i, table), table);
    for (const Table &table : tables_) add(table);
    return true;
  }

private:
  // Memory that no table's base points to: the entry's own variables, and what the executor hands over.
  static bool isOwn(const Value *pointer) {
    const Value *object = llvm::getUnderlyingObject(pointer, 0);
    return llvm::isa<llvm::AllocaInst, llvm::Argument>(object);
  }

  static bool mayOrder(const Instruction &i) {
    if (llvm::isa<llvm::FenceInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(i)) return true;
    if (auto *load = dyn_cast<llvm::LoadInst>(&i)) return !load->isSimple();
    if (auto *store = dyn_cast<llvm::StoreInst>(&i)) return !store->isSimple();
    auto *call = dyn_cast<CallInst>(&i);
    if (!call || isCount(i) || maskedAccess(i) || call->doesNotAccessMemory() || call->doesNotReturn()) return false;
    if (auto *intrinsic = dyn_cast<llvm::IntrinsicInst>(call))
      if (intrinsic->isAssumeLikeIntrinsic() || intrinsic->getIntrinsicID() == llvm::Intrinsic::prefetch) return false;
    return !call->hasMetadata(kRunsOtherBlocks);
  }

  static bool mayTouch(const Instruction &i) {
    if (auto access = maskedAccess(i)) return !isOwn(access->address);
    auto *load = dyn_cast<llvm::LoadInst>(&i);
    if (load && load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) return false;
    const Value *pointer = llvm::getLoadStorePointerOperand(&i);
    return pointer && !isOwn(pointer);
  }

  void makeTable(const Count &count) {
    IRBuilder<> b(&*entry_.getEntryBlock().begin());
    auto *words = llvm::ArrayType::get(llvm::ArrayType::get(count.type(), kEntries), kTables);
    auto *type = llvm::StructType::get(b.getPtrTy(), llvm::ArrayType::get(b.getInt8Ty(), 56), words);
    llvm::AllocaInst *slot = b.CreateAlloca(type, nullptr, "counts");
    slot->setAlignment(llvm::Align(64));
    b.SetInsertPoint(entry_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    b.CreateStore(noBase(entry_.getContext()), slot);
    tables_.push_back({count, slot, nullptr});
    tables_.back().flush = writeFlush(tables_.back());
  }

  static Value *word(IRBuilder<> &b, Value *slot, llvm::Type *type, unsigned table, Value *index) {
    Value *first =
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slot, 64 + table * kEntries * (type->getIntegerBitWidth() / 8));
    return b.CreateInBoundsGEP(type, first, b.CreateZExt(index, b.getInt64Ty()));
  }

  // Adds the counts to memory; there is no base then.
  llvm::Function *writeFlush(const Table &table) {
    llvm::LLVMContext &context = entry_.getContext();
    const auto width = static_cast<unsigned>(64 / table.count.size());
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false);
    auto *flush = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "strata.flush", entry_.getParent());
    flush->addFnAttr(llvm::Attribute::NoInline);
    flush->addFnAttr(llvm::Attribute::NoUnwind);
    BasicBlock *start = BasicBlock::Create(context, "start", flush), *loop = BasicBlock::Create(context, "loop", flush),
               *some = BasicBlock::Create(context, "some", flush), *next = BasicBlock::Create(context, "next", flush),
               *done = BasicBlock::Create(context, "done", flush);
    Value *slot = flush->getArg(0);
    IRBuilder<> b(start);
    Value *base = b.CreateLoad(b.getPtrTy(), slot);
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::PHINode *first = b.CreatePHI(b.getInt32Ty(), 2);
    first->addIncoming(b.getInt32(0), start);
    auto *vector = llvm::FixedVectorType::get(table.count.type(), width);
    Value *sum = nullptr;
    for (unsigned t = 0; t < kTables; ++t) {
      Value *at = word(b, slot, table.count.type(), t, first);
      Value *part = b.CreateAlignedLoad(vector, at, llvm::Align(64));
      sum = sum ? b.CreateAdd(sum, part) : part;
    }
    Value *bits = b.CreateBitCast(b.CreateIsNotNull(sum), b.getIntNTy(width));
    b.CreateCondBr(b.CreateIsNotNull(bits), some, next);
    b.SetInsertPoint(some);
    Instruction *end = b.CreateBr(next);
    b.SetInsertPoint(next);
    Value *following = b.CreateAdd(first, b.getInt32(width));
    first->addIncoming(following, next);
    b.CreateCondBr(b.CreateICmpULT(following, b.getInt32(kEntries)), loop, done);
    b.SetInsertPoint(done);
    b.CreateStore(noBase(context), slot);
    b.CreateRetVoid();
    forEachBit(end, bits, [&](IRBuilder<> &in, Value *number) {
      Value *index = in.CreateAdd(first, number);
      addAtomically(in, addressOf(in, base, table.count.scale(), index), in.CreateExtractElement(sum, number));
    });
    return flush;
  }

  static Value *isArmed(Instruction *at, const Table &table) {
    IRBuilder<> b(at);
    return b.CreateICmpNE(b.CreateLoad(b.getPtrTy(), table.slot), noBase(b.getContext()));
  }

  // Whether bytes of an access may lie in the table's range: one comparison, of numbers that wrap.
  static Value *touches(Instruction *i, const Table &table) {
    IRBuilder<> b(i);
    const llvm::DataLayout &layout = i->getModule()->getDataLayout();
    Value *base = b.CreatePtrToInt(b.CreateLoad(b.getPtrTy(), table.slot), b.getInt64Ty());
    const auto inside = [&](Value *at, Value *from, std::uint64_t bytes) {
      Value *apart = b.CreateAdd(b.CreateSub(at, from), llvm::ConstantInt::get(at->getType(), bytes - 1));
      return b.CreateICmpULT(apart, llvm::ConstantInt::get(at->getType(), table.span() + bytes - 1));
    };
    if (auto access = maskedAccess(*i)) {
      const std::uint64_t element = layout.getTypeStoreSize(access->type->getElementType());
      if (access->isContiguous())
        return inside(b.CreatePtrToInt(access->address, b.getInt64Ty()), base,
                      element * access->type->getNumElements());
      const unsigned lanes = access->type->getNumElements();
      Value *all = b.CreatePtrToInt(access->address, llvm::FixedVectorType::get(b.getInt64Ty(), lanes));
      Value *any = b.CreateSelect(access->mask, inside(all, b.CreateVectorSplat(lanes, base), element),
                                  llvm::Constant::getNullValue(access->mask->getType()));
      return b.CreateIsNotNull(b.CreateBitCast(any, b.getIntNTy(lanes)));
    }
    Value *pointer = b.CreatePtrToInt(llvm::getLoadStorePointerOperand(i), b.getInt64Ty());
    return inside(pointer, base, layout.getTypeStoreSize(llvm::getLoadStoreType(i)));
  }

  static void flushIf(Instruction *at, Value *condition, const Table &table) {
    llvm::MDNode *unlikely = llvm::MDBuilder(at->getContext()).createBranchWeights(1, 1 << 20);
    Instruction *then = llvm::SplitBlockAndInsertIfThen(condition, at->getIterator(), /*Unreachable=*/false, unlikely);
    IRBuilder<>(then).CreateCall(table.flush, {table.slot});
  }

  void add(const Table &table) {
    const Count &count = table.count;
    IRBuilder<> b(count.call);
    Value *known = b.CreateLoad(b.getPtrTy(), table.slot);
    llvm::MDNode *unlikely = llvm::MDBuilder(entry_.getContext()).createBranchWeights(1, 1 << 20);
    Instruction *other = llvm::SplitBlockAndInsertIfThen(b.CreateICmpNE(known, count.base()), count.call->getIterator(),
                                                         false, unlikely);
    flushIf(other, IRBuilder<>(other).CreateICmpNE(known, noBase(entry_.getContext())), table);
    b.SetInsertPoint(other);
    Value *tables = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), table.slot, 64);
    b.CreateMemSet(tables, b.getInt8(0), kTables * kEntries * count.size(), llvm::Align(64));
    b.CreateStore(count.base(), table.slot);
    b.SetInsertPoint(count.call);
    Value *bits = b.CreateBitCast(count.mask(), b.getInt32Ty());
    Instruction *full = nullptr, *some = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(b.CreateICmpEQ(bits, b.getInt32(~0u)), count.call->getIterator(), &full, &some);
    addAll(full, table);
    count.call->moveBefore(some);
    forEachLane(count, entry_, [&](IRBuilder<> &in, Value *byte) { addOne(in, table, 0, byte); });
    count.call->eraseFromParent();
  }

  static void addOne(IRBuilder<> &b, const Table &table, unsigned in, Value *index) {
    Value *at = word(b, table.slot, table.count.type(), in, index);
    b.CreateStore(b.CreateAdd(b.CreateLoad(table.count.type(), at), table.count.value()), at);
  }

  // Bytes are taken from a register, eight at a time: one by one each would wait for the store of all. Not all at once,
  // which is more than there are registers for.
  void addAll(Instruction *at, const Table &table) {
    constexpr unsigned kChunk = 8;
    IRBuilder<> b(&*entry_.getEntryBlock().begin());
    llvm::AllocaInst *bytes = b.CreateAlloca(table.count.bytes()->getType());
    b.SetInsertPoint(at);
    b.CreateStore(table.count.bytes(), bytes);
    BasicBlock *head = at->getParent(), *after = llvm::SplitBlock(head, at);
    BasicBlock *loop = BasicBlock::Create(head->getContext(), "chunk", &entry_, after);
    head->getTerminator()->setSuccessor(0, loop);
    b.SetInsertPoint(loop);
    llvm::PHINode *first = b.CreatePHI(b.getInt64Ty(), 2);
    first->addIncoming(b.getInt64(0), head);
    Value *chunk = b.CreateLoad(b.getInt64Ty(), b.CreateInBoundsGEP(b.getInt8Ty(), bytes, first));
    for (unsigned n = 0; n < kChunk; ++n)
      addOne(b, table, n % kTables, b.CreateTrunc(b.CreateLShr(chunk, n * 8), b.getInt8Ty()));
    Value *next = b.CreateAdd(first, b.getInt64(kChunk));
    first->addIncoming(next, loop);
    b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(kWarpSize)), loop, after);
  }

  llvm::Function &entry_;
  std::vector<Count> counts_;
  std::vector<Table> tables_;
};

}  // namespace

CallInst *createCount(IRBuilder<> &builder, Value *base, std::uint64_t scale, Value *bytes, Value *mask, Value *value) {
  llvm::Module &module = *builder.GetInsertBlock()->getModule();
  auto *type = llvm::FunctionType::get(
      builder.getVoidTy(), {base->getType(), builder.getInt64Ty(), bytes->getType(), mask->getType(), value->getType()},
      false);
  const std::string name = kPrefix.str() + "i" + std::to_string(value->getType()->getIntegerBitWidth());
  auto *callee = llvm::cast<llvm::Function>(module.getOrInsertFunction(name, type).getCallee());
  callee->setOnlyAccessesArgMemory();
  callee->setDoesNotThrow();
  callee->setWillReturn();
  return builder.CreateCall(callee, {base, builder.getInt64(scale), bytes, mask, value});
}

void countInBlocks(llvm::Module &module, llvm::Function *entry) {
  for (llvm::Function &function : module) {
    std::vector<Count> counts;
    for (Instruction &i : llvm::instructions(function))
      if (isCount(i)) counts.push_back({llvm::cast<CallInst>(&i)});
    if (counts.empty() || (&function == entry && TableWriter(function, counts).run())) continue;
    for (const Count &count : counts) expandDirectly(count);
  }
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.getName().starts_with(kPrefix) && function.use_empty())
      function.eraseFromParent();
}

}  // namespace strata::simt
