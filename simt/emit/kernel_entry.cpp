// SPDX-License-Identifier: Apache-2.0
#include "simt/emit/kernel_entry.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <array>

#include "simt/abi.h"
#include "simt/passes/warp/count_in_blocks.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;

constexpr llvm::StringLiteral kEntryName = "strata_entry";

Function *createEntry(unsigned pointers, Function &body) {
  llvm::LLVMContext &context = body.getContext();
  std::vector<llvm::Type *> parameters(pointers, llvm::PointerType::get(context, 0));
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false);
  Function *entry = Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntryName, body.getParent());
  entry->copyAttributesFrom(&body);
  entry->setLinkage(llvm::GlobalValue::ExternalLinkage);
  BasicBlock::Create(context, "start", entry);
  return entry;
}

// The body becomes part of the entry, with its place in the source: what is the same for all warps of the
// block can then move out of the loop over them.
void inlineBody(llvm::CallInst &call, Function &body) {
  Function *entry = call.getFunction();
  llvm::DISubprogram *source = body.getSubprogram();
  body.setSubprogram(nullptr);
  llvm::InlineFunctionInfo info;
  bool inlined =
      llvm::InlineFunction(call, info, /*MergeAttributes=*/false, nullptr, /*InsertLifetime=*/false).isSuccess();
  (inlined ? entry : &body)->setSubprogram(source);
  if (inlined) body.eraseFromParent();
}

// The parts that both forms of a block's entry have.
class BlockEntryWriter {
public:
  BlockEntryWriter(Function &body, Function *idle)
      : body_(body),
        entry_(createEntry(2, body)),
        block_(entry_->getArg(0)),
        warp_(entry_->getArg(1)),
        builder_(&entry_->getEntryBlock()) {
    if (idle) leaveIfIdle(*idle);
    start_ = builder_.GetInsertBlock();
    threads_ = builder_.CreateLoad(builder_.getInt32Ty(), at(block_, offsetof(Block, threads)));
    warps_ = builder_.CreateLoad(builder_.getInt32Ty(), at(block_, offsetof(Block, warps)));
  }

  void writeLoop() {
    BasicBlock *start = start_, *loop = newBlock("warp"), *done = newBlock("done");
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode *index = builder_.CreatePHI(builder_.getInt32Ty(), 2, "index");
    index->addIncoming(builder_.getInt32(0), start);
    setWarp(index);
    const bool counts =
        llvm::any_of(kFirstThread, [&](const char *name) { return entry_->getParent()->getFunction(name); });
    const std::array<Value *, 3> first = counts ? countThreads(*start) : std::array<Value *, 3>{};
    llvm::CallInst *call = builder_.CreateCall(&body_, {warp_});
    Value *next = builder_.CreateAdd(index, builder_.getInt32(1));
    index->addIncoming(next, loop);
    builder_.CreateCondBr(builder_.CreateICmpULT(next, warps_), loop, done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
    inlineBody(*call, body_);
    for (unsigned d = 0; d < 3; ++d)
      if (Function *marker = entry_->getParent()->getFunction(kFirstThread[d])) replaceCalls(*marker, *first[d]);
  }

  // A round runs each warp up to its next barrier, which is complete when all that have not ended have come to
  // one. After a round in which some warps only let the others have their turn, just those go on. The first four bytes
  // of a warp's frame are its state.
  void writeRounds(std::uint64_t frameBytes, unsigned mostWarps, bool takesTurns, bool sideBySide) {
    BasicBlock *start = start_;
    BasicBlock *round = newBlock("round"), *warp = newBlock("warp"), *again = newBlock("again"),
               *done = newBlock("done");
    BasicBlock *run = newBlock("run"), *after = newBlock("after");
    llvm::Type *i32 = builder_.getInt32Ty(), *frame = llvm::ArrayType::get(builder_.getInt8Ty(), frameBytes);
    llvm::IRBuilder<> allocas(&*entry_->getEntryBlock().begin());
    llvm::AllocaInst *frames = allocas.CreateAlloca(llvm::ArrayType::get(frame, mostWarps), nullptr, "frames");
    frames->setAlignment(llvm::Align(64));
    builder_.CreateBr(round);

    builder_.SetInsertPoint(round);
    llvm::Type *i1 = builder_.getInt1Ty();
    llvm::PHINode *first = builder_.CreatePHI(i1, 2, "first"), *turns = builder_.CreatePHI(i1, 2, "turns");
    builder_.CreateBr(warp);

    builder_.SetInsertPoint(warp);
    llvm::PHINode *index = builder_.CreatePHI(i32, 2, "index"), *alive = builder_.CreatePHI(i1, 2, "alive");
    llvm::PHINode *turned = builder_.CreatePHI(i1, 2, "turned");
    Value *at = builder_.CreateInBoundsGEP(frame, frames, builder_.CreateZExt(index, builder_.getInt64Ty()), "frame");
    Value *state = builder_.CreateSelect(first, builder_.getInt32(0), builder_.CreateLoad(i32, at), "state");
    // kEnded has kTurnBit: what has ended says so again.
    auto takesTurn = [&](Value *of) {
      return builder_.CreateICmpNE(builder_.CreateAnd(of, builder_.getInt32(kTurnBit)), builder_.getInt32(0));
    };
    Value *waits =
        takesTurns ? builder_.CreateAnd(turns, builder_.CreateNot(takesTurn(state)), "waits") : builder_.getFalse();
    builder_.CreateCondBr(waits, after, run);

    builder_.SetInsertPoint(run);
    setWarp(index);
    llvm::CallInst *call = builder_.CreateCall(&body_, {block_, warp_, index, at, state}, "reached");
    builder_.CreateStore(call, at);
    Value *goesOn = builder_.CreateICmpNE(call, builder_.getInt32(kEnded));
    Value *turnsHere = takesTurns ? builder_.CreateAnd(goesOn, takesTurn(call)) : builder_.getFalse();
    builder_.CreateBr(after);

    builder_.SetInsertPoint(after);
    auto sinceRun = [&](Value *ifWaits, Value *ifRun) {
      llvm::PHINode *phi = builder_.CreatePHI(i1, 2);
      phi->addIncoming(ifWaits, warp);
      phi->addIncoming(ifRun, run);
      return phi;
    };
    llvm::PHINode *stays = sinceRun(builder_.getTrue(), goesOn), *takes = sinceRun(builder_.getFalse(), turnsHere);
    Value *left = builder_.CreateOr(alive, stays), *turnsNext = builder_.CreateOr(turned, takes);
    Value *next = builder_.CreateAdd(index, builder_.getInt32(1));
    builder_.CreateCondBr(builder_.CreateICmpULT(next, warps_), warp, again);

    builder_.SetInsertPoint(again);
    if (sideBySide) letOthersTurn(turnsNext, left);
    BasicBlock *back = builder_.GetInsertBlock();
    builder_.CreateCondBr(left, round, done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
    first->addIncoming(builder_.getTrue(), start);
    first->addIncoming(builder_.getFalse(), back);
    index->addIncoming(builder_.getInt32(0), round);
    turns->addIncoming(builder_.getFalse(), start);
    turns->addIncoming(turnsNext, back);
    index->addIncoming(next, after);
    alive->addIncoming(builder_.getFalse(), round);
    alive->addIncoming(left, after);
    turned->addIncoming(builder_.getFalse(), round);
    turned->addIncoming(turnsNext, after);
    inlineBody(*call, body_);
  }

private:
  BasicBlock *newBlock(const char *name) { return BasicBlock::Create(entry_->getContext(), name, entry_); }
  Value *at(Value *base, std::size_t offset) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, offset);
  }

  void leaveIfIdle(Function &idle) {
    BasicBlock *leave = newBlock("idle"), *busy = newBlock("busy");
    llvm::CallInst *call = builder_.CreateCall(&idle, {warp_});
    builder_.CreateCondBr(call, leave, busy);
    builder_.SetInsertPoint(leave);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(busy);
    inlineBody(*call, idle);
  }

  // Between rounds: other blocks of the unit, if some of this block's warps only took a turn.
  void letOthersTurn(Value *turned, Value *left) {
    BasicBlock *others = newBlock("others"), *next = newBlock("next");
    builder_.CreateCondBr(builder_.CreateAnd(turned, left), others, next);
    builder_.SetInsertPoint(others);
    auto *type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false);
    Value *launch = builder_.CreateLoad(builder_.getPtrTy(), at(block_, offsetof(Block, launch)));
    Value *runtime = builder_.CreateLoad(builder_.getPtrTy(), at(launch, offsetof(LaunchState, runtime)));
    llvm::CallInst *turn = builder_.CreateCall(
        type, builder_.CreateLoad(builder_.getPtrTy(), at(runtime, offsetof(Runtime, turn))), {warp_});
    turn->setMetadata(kRunsOtherBlocks, llvm::MDNode::get(builder_.getContext(), {}));
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
  }

  // tid of the first thread of each of the loop's warps. What nobody asks for is dead code.
  std::array<Value *, 3> countThreads(BasicBlock &start) {
    llvm::IRBuilder<> ahead(start.getTerminator());
    llvm::Type *i32 = builder_.getInt32Ty();
    const auto field = [&](Value *base, std::size_t offset, llvm::Type *type) {
      return ahead.CreateLoad(type, ahead.CreateConstInBoundsGEP1_64(ahead.getInt8Ty(), base, offset));
    };
    Value *launch = field(block_, offsetof(Block, launch), builder_.getPtrTy());
    Value *rowWarps = ahead.CreateLShr(field(launch, offsetof(LaunchState, blockDim), i32), 5);
    Value *rows = field(launch, offsetof(LaunchState, blockDim) + 4, i32), *zero = builder_.getInt32(0);
    BasicBlock *loop = builder_.GetInsertBlock();
    llvm::PHINode *count[3];  // of x: of warps
    for (llvm::PHINode *&phi : count) {
      phi = llvm::PHINode::Create(i32, 2, "", loop->begin());
      phi->addIncoming(zero, &start);
    }
    count[1]->setMetadata(kRowOfWarp, llvm::MDNode::get(builder_.getContext(), {}));
    Value *carry = builder_.getTrue();
    for (unsigned d = 0; d < 3; ++d) {
      Value *next = builder_.CreateAdd(count[d], builder_.CreateZExt(carry, i32), "", /*HasNUW=*/true, /*HasNSW=*/true);
      if (d < 2) {
        carry = builder_.CreateICmpUGE(next, d == 0 ? rowWarps : rows);
        next = builder_.CreateSelect(carry, zero, next);
      }
      count[d]->addIncoming(next, loop);
    }
    return {builder_.CreateShl(count[0], 5, "", /*HasNUW=*/true, /*HasNSW=*/true), count[1], count[2]};
  }

  static void replaceCalls(Function &marker, Value &by) {
    for (llvm::User *user : llvm::make_early_inc_range(marker.users())) {
      user->replaceAllUsesWith(&by);
      llvm::cast<llvm::Instruction>(user)->eraseFromParent();
    }
    marker.eraseFromParent();
  }

  void setWarp(Value *index) {
    // lanes: the low min(threads - 32*index, 32) bits.
    Value *left = builder_.CreateSub(threads_, builder_.CreateShl(index, builder_.getInt32(5)));
    Value *full = builder_.CreateICmpUGE(left, builder_.getInt32(kWarpSize));
    Value *some =
        builder_.CreateSub(builder_.CreateShl(builder_.getInt32(1), builder_.CreateAnd(left, builder_.getInt32(31))),
                           builder_.getInt32(1));
    builder_.CreateStore(index, at(warp_, offsetof(Warp, index)));
    builder_.CreateStore(builder_.CreateSelect(full, builder_.getInt32(~0u), some), at(warp_, offsetof(Warp, lanes)));
    builder_.CreateStore(builder_.getInt32(0), at(warp_, offsetof(Warp, exited)));
  }

  Function &body_;
  Function *entry_;
  Value *block_, *warp_;
  llvm::IRBuilder<> builder_;
  BasicBlock *start_ = nullptr;  // ahead of the loops
  Value *threads_, *warps_;
};

}  // namespace

void writeBlockEntry(Function &body, Function *idle) { BlockEntryWriter(body, idle).writeLoop(); }

void writeBarrierEntry(const SplitWarp &split, const ThreadIndex &threads, bool sideBySide, Function *idle) {
  constexpr unsigned kMostWarps = 32;
  unsigned warps = kMostWarps;
  if (threads.exact())
    warps = (threads.blockDim(0) * threads.blockDim(1) * threads.blockDim(2) + kWarpSize - 1) / kWarpSize;
  BlockEntryWriter(*split.part, idle).writeRounds(split.frameBytes, warps, split.takesTurns, sideBySide);
}

void writeWarpEntry(Function &body) {
  Function *entry = createEntry(1, body);
  llvm::IRBuilder<> builder(&entry->getEntryBlock());
  llvm::CallInst *call = builder.CreateCall(&body, {entry->getArg(0)});
  builder.CreateRetVoid();
  inlineBody(*call, body);
}

void writeOneThreadEntry(Function &kernel) {
  kernel.setLinkage(llvm::GlobalValue::InternalLinkage);
  Function *entry = createEntry(2, kernel);
  llvm::IRBuilder<> builder(&entry->getEntryBlock());
  Value *exited = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), entry->getArg(1), offsetof(Warp, exited));
  builder.CreateStore(builder.getInt32(0), exited);
  llvm::CallInst *call = builder.CreateCall(&kernel, {entry->getArg(1)});
  builder.CreateRetVoid();
  inlineBody(*call, kernel);
}

bool isBlockEntry(const Function &function) { return function.arg_size() == 2 && function.getName() == kEntryName; }

}  // namespace strata::simt
