// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/clone_blocks.h"

#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

namespace strata::simt {

using llvm::BasicBlock;

std::vector<BasicBlock *> cloneBlocks(llvm::ArrayRef<BasicBlock *> blocks, const char *suffix,
                                      llvm::ValueToValueMapTy &map) {
  std::vector<BasicBlock *> copies;
  for (BasicBlock *block : blocks) {
    BasicBlock *copy = llvm::CloneBasicBlock(block, map, suffix, block->getParent());
    map[block] = copy;
    copies.push_back(copy);
  }
  for (BasicBlock *copy : copies)
    for (llvm::Instruction &i : *copy)
      llvm::RemapInstruction(&i, map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
  return copies;
}

llvm::Value *copyOrSelf(llvm::Value *value, const llvm::ValueToValueMapTy &map) {
  auto copy = map.find(value);
  return copy == map.end() ? value : static_cast<llvm::Value *>(copy->second);
}

void addCopiedEdges(BasicBlock &join, const llvm::ValueToValueMapTy &map) {
  for (llvm::PHINode &phi : join.phis())
    for (unsigned i = 0, count = phi.getNumIncomingValues(); i < count; ++i) {
      auto copy = map.find(phi.getIncomingBlock(i));
      if (copy == map.end()) continue;
      phi.addIncoming(copyOrSelf(phi.getIncomingValue(i), map), llvm::cast<BasicBlock>(copy->second));
    }
}

void repairUses(llvm::ArrayRef<BasicBlock *> region, llvm::ArrayRef<BasicBlock *> copies,
                llvm::ValueToValueMapTy &map) {
  for (BasicBlock *block : region)
    for (llvm::Instruction &i : *block) {
      std::vector<llvm::Use *> outside;
      for (llvm::Use &use : i.uses()) {
        auto *user = llvm::cast<llvm::Instruction>(use.getUser());
        BasicBlock *where = user->getParent();
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user)) where = phi->getIncomingBlock(use);
        if (!llvm::is_contained(region, where) && !llvm::is_contained(copies, where)) outside.push_back(&use);
      }
      if (outside.empty()) continue;
      llvm::SSAUpdater updater;
      updater.Initialize(i.getType(), i.getName());
      updater.AddAvailableValue(block, &i);
      updater.AddAvailableValue(llvm::cast<BasicBlock>(map[block]), map[&i]);
      for (llvm::Use *use : outside) updater.RewriteUse(*use);
    }
}

}  // namespace strata::simt
