// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp that are elsewhere when others of it come to a barrier. Threads on a GPU run one by one: those that
// went another way have written what they write there, or have come to a barrier too, before the barrier is complete.
// In lock step they run when it is their turn in the order of blocks, or when a loop that others stay in has ended:
// late, if they write memory or have a barrier then.
//
//   loop: br %varying, out, next      next: barrier; br loop      out: store …
//
// Lanes that just end are no problem, nor are those that have written before the others come to the barrier.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>

#include <functional>
#include <optional>
#include <vector>

#include "simt/analysis/frame_post_dominators.h"
#include "simt/analysis/uniformity.h"

namespace llvm {
class Instruction;
}

namespace strata::simt {

class PartedLanes {
public:
  struct Late {
    const llvm::Instruction *barrier;  // or a call that may come to one
    const llvm::Instruction *effect;   // what lanes that are not there do late
  };
  // Whether an instruction that is no barrier itself, a call, may come to one.
  using CallsBarrier = std::function<bool(const llvm::Instruction &)>;

  // Loops are simplified. Lanes that return have ended if it is a kernel.
  PartedLanes(llvm::Function &function, const llvm::LoopInfo &loops, const BlockOrder &order,
              const Uniformity &uniformity, const CallsBarrier &callsBarrier);

  std::optional<Late> find() const;

private:
  using Block = llvm::BasicBlock;

  struct Barrier {
    const llvm::Instruction *instruction;
    Block *block;
  };
  // The lanes of a warp that are at `split` together part; those of them that come to `barrier`, and others.
  struct Parting {
    Block *split;
    const Barrier &barrier;
    const Block *meeting;  // all lanes of `split` come here together, if they do; or null
    const Block *entry;    // of the outermost loop with the barrier but not the split; or the barrier's block
  };

  // Where lanes get from the split by one of its ways, before all meet.
  struct Reach {
    llvm::SetVector<Block *> blocks;
    llvm::MapVector<const llvm::Loop *, llvm::SmallVector<Block *, 2>>
        again;  // loops around of which they start another round: from where
  };
  using Gates = llvm::SmallPtrSet<const Block *, 8>;

  bool parts(const Block &block) const;
  const Block *meetingOf(const Block &split, const Block &barrier) const;
  const Block *entryOf(const Block &split, const Block &barrier) const;
  const llvm::Loop *roundEnded(const Block &from, const Block &to, const Parting &parting) const;
  const llvm::Instruction *lateIn(const Parting &parting) const;
  Reach reachBy(Block &way, const Parting &parting) const;
  Gates gatesTo(llvm::ArrayRef<Block *> ends, const Reach &reach) const;
  template <class Counts>
  const llvm::Instruction *effectAfter(Block &start, const Parting &parting, const llvm::Loop *rounds,
                                       const Gates &gates, Counts counts) const;
  const llvm::Instruction *effectIn(const Block &block, bool &gathers) const;

  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  const Uniformity &uniformity_;
  FramePostDominators postDominators_;
  bool isKernel_;
  std::vector<Barrier> barriers_;
};

}  // namespace strata::simt
