// SPDX-License-Identifier: Apache-2.0
// Collectives at which lanes of a warp wait for others that come from elsewhere. A collective is complete when all
// lanes of its mask that have not ended have come to one of its kind and mask, wherever that stands; in lock step only
// those count that come to the same place together.
//
//   br %varying, a, b      a: shfl(-1, …)      b: …; shfl(-1, …)      ; one shuffle of all lanes
//
// For each branch that lanes part at, and each collective that some of them may come to before all meet again: whether
// the others may come to one of its kind and mask, here or anywhere later. They do not, if
//  - the mask does not name them: it was made by activemask, a ballot or a match after they had parted, or by a ballot
//    over the branch's own condition;
//  - they stop before: at a barrier of the block, or at a collective of another kind that names all lanes, where both
//    would wait for the other for ever; or they end.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>

#include <map>
#include <set>
#include <vector>

#include "simt/analysis/conditions.h"
#include "simt/analysis/frame_post_dominators.h"
#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/uniformity.h"

namespace llvm {
class Instruction;
}

namespace strata::simt {

// Whether lanes may come to a collective in `function`, or in what it calls.
bool hasCollectives(const llvm::Function &function);

// Lanes part at `split`; some wait at `collective`, others may come to `other`.
struct Meeting {
  llvm::BasicBlock *split;
  unsigned way;                           // the successor of those that wait
  llvm::Instruction *collective, *other;  // or a call that may come to one; `other` also: the return of a function
};

class MeetingLanes {
public:
  // Loops are simplified. Lanes that return have ended if it is a kernel.
  MeetingLanes(llvm::Function &function, const llvm::LoopInfo &loops, const BlockOrder &order,
               const Uniformity &uniformity);

  std::vector<Meeting> find();

private:
  using Block = llvm::BasicBlock;

  // A collective, a call that may come to any, or the end of a function that is no kernel.
  struct Place {
    llvm::Instruction *instruction;
    LaneIntrinsic kind;  // laneFunction: any
    llvm::Value *mask;   // null: any
  };
  struct Parting {
    Block *split;
    unsigned way;
    const Block *meeting;
  };
  using Blocks = llvm::SmallPtrSet<const Block *, 16>;

  bool parts(const Block &block) const;
  bool isSameInAll(const llvm::Value *value, std::set<const llvm::Value *> &assumed) const;
  void findAt(Block &split, std::vector<Meeting> &found);
  const Block *meetingOf(const Block &split, const Block &collective) const;
  const Block *entryOf(const Block &split, const Block &collective) const;
  static Blocks reach(Block &start, const Block *end, const Block *avoided);
  std::vector<const Place *> othersAt(const Parting &parting, const Place &waiting) const;
  bool stops(const llvm::Instruction &i, const Place &waiting) const;
  bool excludes(llvm::Value *mask, const Place &place, const Parting &parting, unsigned depth) const;
  bool isActiveLanes(const llvm::Instruction &mask) const;

  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  const Uniformity &uniformity_;
  FramePostDominators postDominators_;
  std::vector<Place> places_;
  llvm::DenseMap<const llvm::Instruction *, const Place *> placeOf_;
  llvm::SmallPtrSet<const llvm::Instruction *, 8> unsure_;  // collectives that lanes from elsewhere may take part in
};

}  // namespace strata::simt
