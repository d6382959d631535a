// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/count_rounds.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>

#include <optional>

#include "simt/analysis/each_loop.h"

namespace strata::simt {
namespace {

constexpr std::uint64_t kMostRounds = 64;  // more are not unrolled

// How often the loop goes back to its head, if that is always the same and not known as a constant already. What is
// subtracted has a narrow range only as a signed number.
std::optional<std::uint64_t> roundsBack(llvm::ScalarEvolution &evolution, const llvm::Loop &loop) {
  const llvm::SCEV *count = evolution.getBackedgeTakenCount(&loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute, llvm::SCEVConstant>(count)) return std::nullopt;
  const auto rangeOf = [&](const llvm::SCEV *of) {
    return evolution.getUnsignedRange(of).intersectWith(evolution.getSignedRange(of));
  };
  auto *quotient = llvm::dyn_cast<llvm::SCEVUDivExpr>(count);
  const llvm::ConstantRange range =
      quotient ? rangeOf(quotient->getLHS()).udiv(rangeOf(quotient->getRHS())) : rangeOf(count);
  const llvm::APInt *single = range.getSingleElement();
  if (!single || !single->ult(kMostRounds)) return std::nullopt;
  return single->getZExtValue();
}

void count(llvm::Loop &loop, std::uint64_t back) {
  llvm::BasicBlock *head = loop.getHeader(), *latch = loop.getLoopLatch();
  auto *branch = llvm::cast<llvm::BranchInst>(latch->getTerminator());
  llvm::IRBuilder<> builder(head, head->begin());
  llvm::PHINode *round = builder.CreatePHI(builder.getInt32Ty(), 2, "round");
  builder.SetInsertPoint(branch);
  llvm::Value *next = builder.CreateAdd(round, builder.getInt32(1), "round.next", /*HasNUW=*/true, /*HasNSW=*/true);
  round->addIncoming(builder.getInt32(0), loop.getLoopPreheader());
  round->addIncoming(next, latch);
  const bool staysIfTrue = branch->getSuccessor(0) == head;
  branch->setCondition(builder.CreateICmp(staysIfTrue ? llvm::CmpInst::ICMP_NE : llvm::CmpInst::ICMP_EQ, next,
                                          builder.getInt32(static_cast<std::uint32_t>(back + 1))));
}

}  // namespace

void countRounds(llvm::Function &function) {
  eachLoop(function, [](llvm::Loop &loop, const llvm::LoopInfo &, llvm::ScalarEvolution &evolution) {
    const llvm::BasicBlock *latch = loop.getLoopLatch();
    if (!latch || loop.getExitingBlock() != latch || !loop.getLoopPreheader() ||
        !llvm::isa<llvm::BranchInst>(latch->getTerminator()))
      return;
    if (auto back = roundsBack(evolution, loop)) count(loop, *back);
  });
}

}  // namespace strata::simt
