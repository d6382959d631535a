// SPDX-License-Identifier: Apache-2.0
// Writes the vector function of one prepared lane function, block by block as LinearPlan says.
//
// SSA across the new control flow is not built by hand: each phi, each value used outside its block and
// each block mask has a stack slot; mem2reg turns them into phis afterwards. An edge into a join
// writes `slot = select(lanes of the edge, value, slot)`.
//
//   %x in a lane            in the warp
//   uniform                 a scalar
//   affine                  a scalar u; vector form splat(u) + constants made where needed
//   segmented               a scalar u for each segment (emit_segments.cpp)
//   varying                 <32 x T>; lane vectors <N x T> are [N x <32 x T>], structs are structs of vectors
//
// Masks are never poison: a condition is combined with a mask by select, which ignores inactive lanes.
// Parts: function_emitter.cpp (blocks, edges), emit_values.cpp (shapes to values, arithmetic), emit_segments.cpp,
// emit_memory.cpp, emit_contiguous.cpp, emit_patterns.cpp, emit_atomics.cpp, emit_calls.cpp (functions, maths, per-lane
// calls), emit_collectives.cpp, emit_runtime.cpp.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "simt/analysis/address_forms.h"
#include "simt/analysis/conditions.h"
#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/store_order.h"
#include "simt/analysis/uniformity.h"
#include "simt/emit/linearize.h"
#include "simt/emit/report.h"
#include "simt/simt.h"

namespace strata::simt {

// What the emitter of one function needs from its module.
struct EmitContext {
  llvm::Module &module;
  const ThreadIndex &threads;
  Simd simd;
  Report &report;
  // The (possibly not yet written) vector function of a lane function.
  std::function<llvm::Function *(llvm::Function &)> vectorFunction;
  bool splitsAtBarriers;    // barriers become markers (split_at_barriers.h)
  bool countsThreads;       // tid of a warp's first thread is a marker, which the entry counts (kernel_entry.h)
  std::string unsupported;  // the first construct that cannot be vectorised
};

class FunctionEmitter {
public:
  FunctionEmitter(EmitContext &context, llvm::Function &lane, llvm::Function &vector, const llvm::LoopInfo &loops,
                  const BlockOrder &order, const Uniformity &uniformity, const llvm::DominatorTree &dominators);

  void run(bool isKernel);

  // The vector form of a lane type.
  static llvm::Type *widen(llvm::Type *type);

private:
  using Value = llvm::Value;
  struct Edge {
    llvm::BasicBlock *to;
    Value *lanes;  // <32 x i1>
  };
  struct Write {
    llvm::AllocaInst *slot;
    Value *value;
    Value *lanes;  // null: all
  };

  // --- blocks (function_emitter.cpp) ----------------------------------------------------------
  void createSlots();
  void startFunction(bool isKernel);
  void emitBlock(llvm::BasicBlock *block);
  void resetFrame(llvm::BasicBlock *header);
  void emitTerminator(llvm::BasicBlock *block);
  void emitLoopExit(llvm::BasicBlock *block, const std::vector<Edge> &edges);
  void collectWrites(llvm::BasicBlock *from, const Edge &edge, std::vector<Write> &writes);
  void commit(const std::vector<Write> &writes);
  bool isFull(const llvm::BasicBlock *block) const;
  bool mayRunEmpty(llvm::BasicBlock &block);
  bool needsLanes(llvm::Instruction &instruction, unsigned &cost);
  bool usedOutside(const llvm::Instruction &instruction) const;
  llvm::BasicBlock *newBlock(const llvm::Twine &name);
  llvm::BasicBlock *entryOf(const llvm::BasicBlock *block) { return entries_.at(block); }

  // --- values (emit_values.cpp) -----------------------------------------------------------------
  Shape shape(const Value *value) const { return uniformity_.shape(value); }
  Value *scalar(Value *lane);  // affine: u
  Value *vector(Value *lane);  // any
  Value *loadSlot(Value *lane, llvm::Type *type);
  Value *affineVector(llvm::Instruction &lane);
  Value *withOffsets(Value *u, const Shape &shape);
  Value *addOffsets(Value *result, Value *base, const Shape &shape);
  Value *correction(const llvm::Instruction &extension);
  Value *scalarOrVector(Value *lane);  // scalar if uniform
  Value *splat(Value *value);
  Value *splatConstant(llvm::Constant *constant);
  void define(llvm::Instruction &lane, Value *value);  // u, or the vector if varying
  void emitInstruction(llvm::Instruction &lane);
  void emitScalar(llvm::Instruction &lane);
  using Scalars = std::function<Value *(Value *lane)>;
  Value *emitAffine(llvm::Instruction &lane, const Scalars &scalar);
  void emitVector(llvm::Instruction &lane);
  Value *emitVectorGep(llvm::GetElementPtrInst &gep);
  Value *emitVectorCast(llvm::CastInst &cast);
  Value *emitVectorSelect(llvm::SelectInst &select);
  Value *emitLaneShuffle(llvm::ShuffleVectorInst &shuffle);
  Value *selectParts(Value *condition, Value *a, Value *b);
  void fail(const llvm::Instruction &lane, const std::string &what);

  // --- segmented values (emit_segments.cpp) -------------------------------------------------------
  using Segments = std::vector<Value *>;  // a scalar for each segment
  using Slots = std::vector<llvm::AllocaInst *>;
  unsigned segmentCount() const { return kLanes / context_.threads.segmentLanes(); }
  Slots createSegmentSlots(const llvm::Instruction &lane);
  Segments loadSegments(const Slots &slots);
  Segments segments(Value *lane);  // affine or segmented
  void defineSegments(llvm::Instruction &lane, const Segments &values);
  void emitSegments(llvm::Instruction &lane);
  Value *segmentsVector(const Segments &values, const Shape &shape);
  Value *joinSegments(Segments parts);  // of vectors
  Value *loadSegmented(llvm::LoadInst &load, llvm::Type *element);
  bool storeSegmented(llvm::StoreInst &store, llvm::Type *element);
  Value *segmentMask(unsigned segment);

  // --- masks ------------------------------------------------------------------------------------
  Value *mask() const { return mask_; }  // of the current block
  bool maskIsFull() const;
  Value *maskBits(Value *mask);  // i32
  Value *anyLane(Value *mask);   // i1
  Value *maskAnd(Value *mask, Value *condition);
  Value *firstLane();  // i32: number of the first active lane
  Value *laneThatWins(StoreOrder order);
  // Runs `body` once per active lane in ascending order; the builder stands after the loop then. Where all lanes
  // are active, `whenFull` is run instead, if there is one.
  void forEachLane(const std::function<void(Value *lane)> &body, const std::function<void()> &whenFull = {});
  // The same in the order of stores.
  void forEachLane(StoreOrder order, const std::function<void(Value *lane)> &body);
  // The same for all lanes, `together` copies of the body a turn.
  void forAllLanes(const std::function<void(Value *lane)> &body, unsigned together);
  // An array in memory with the lanes of `vector`; element `lane` of such an array.
  llvm::AllocaInst *spill(Value *vector);
  llvm::AllocaInst *laneArray(llvm::Type *element);
  Value *laneElement(llvm::AllocaInst *array, llvm::Type *element, Value *lane);
  // Reads a lane-IR value in one lane inside forEachLane: prepare() before the loop, then get().
  class PerLane {
  public:
    PerLane(FunctionEmitter &emitter, Value *lane);
    Value *get(Value *laneNumber) const;

  private:
    FunctionEmitter &emitter_;
    Value *uniform_ = nullptr;
    llvm::AllocaInst *array_ = nullptr;
    llvm::Type *type_ = nullptr;
  };

  // --- memory (emit_memory.cpp) -----------------------------------------------------------------
  void emitAlloca(llvm::AllocaInst &alloca);
  void emitLoad(llvm::LoadInst &load);
  void emitStore(llvm::StoreInst &store);
  Value *loadLanes(llvm::LoadInst &load, llvm::Type *element, unsigned count);
  Value *gather(Value *addresses, llvm::Type *element, unsigned count, llvm::Align align);
  void scatter(llvm::StoreInst &store, Value *addresses, Value *value);
  Value *inStoreOrder(Value *lanes, StoreOrder order);
  Value *addressesInStoreOrder(Value *addresses, StoreOrder order);
  StoreOrder storeOrder(const llvm::StoreInst &store) const;
  void storeLanes(llvm::StoreInst &store, llvm::Type *element, unsigned count);
  Value *addresses(Value *pointer);
  Value *inMemoryOrder(std::vector<Value *> parts, unsigned depth = 0);
  Value *interleave(const std::vector<Value *> &parts);
  void markOnce(llvm::Instruction &store);
  void storeOneLane(llvm::StoreInst &store);
  void loadEachLane(llvm::LoadInst &load);
  void storeEachLane(llvm::StoreInst &store);
  Value *guard(const Shape &shape);  // i1: no extension among the terms wraps; null if there are none
  // Emits `fast` where the address's guard holds and `slow` elsewhere; returns the merged value.
  Value *guarded(const Shape &shape, const std::function<Value *()> &fast, const std::function<Value *()> &slow);
  Value *branchOn(Value *holds, bool likely, const std::function<Value *()> &fast,
                  const std::function<Value *()> &slow);
  // emit_contiguous.cpp: whether varying addresses of elements of `size` bytes are contiguous this time, and lane 0's.
  struct ContiguousNow {
    Value *holds, *first;
  };
  std::optional<ContiguousNow> contiguousNow(Value *pointer, std::int64_t size);
  bool followsThreads(Value *lane, unsigned depth = 0);  // computed from affine values alone
  Value *wideMask(unsigned count);
  void checkAligned(llvm::CallBase &call);

  // --- patterns (emit_patterns.cpp) ---------------------------------------------------------------
  struct Place;
  struct Pieces;
  struct StorePlan;
  struct Member {  // an access that is part of a pattern
    llvm::Instruction *access;
    std::vector<std::int64_t> elements;
  };
  std::optional<Member> member(llvm::Instruction &access, std::int64_t apart);
  std::optional<Member> nextMember(llvm::Instruction &first, llvm::Instruction &last);
  const SimdLevel &level() const { return levelOf(context_.simd); }
  unsigned spreadCost(llvm::Type *element) const;
  unsigned pieceWidth(llvm::Type *element) const;
  static std::vector<std::vector<Place>> placesOf(const Member &member, const Pieces &pieces, unsigned width);
  Value *pick(llvm::ArrayRef<Value *> sources, llvm::ArrayRef<Place> wanted);
  Pieces piecesToLoad(llvm::ArrayRef<Member> members, unsigned width) const;
  std::optional<unsigned> costOfLoads(llvm::ArrayRef<Member> members);
  Value *loadPattern(llvm::LoadInst &load);  // null if there is nothing better than a gather
  Value *loadMembers(llvm::ArrayRef<Member> members);
  Value *joinComponents(llvm::ArrayRef<Value *> parts, llvm::Type *type);
  std::vector<Value *> pieceMasks(llvm::ArrayRef<Member> members, const Pieces &pieces, llvm::Type *element);
  static std::vector<std::vector<std::vector<Place>>> lanesOfPieces(llvm::ArrayRef<Member> members,
                                                                    const Pieces &pieces, unsigned width);
  std::optional<StorePlan> planStores(llvm::ArrayRef<Member> members);
  unsigned costOfStore(const Member &member, std::optional<StorePlan> plan);
  bool storePattern(llvm::StoreInst &store);
  Value *storeMembers(llvm::ArrayRef<Member> members, const StorePlan &plan);
  bool storeRuns(llvm::StoreInst &store, unsigned other);

  // --- atomics (emit_atomics.cpp) ---------------------------------------------------------------
  void emitAtomic(llvm::Instruction &atomic);
  bool emitReducedAtomic(llvm::AtomicRMWInst &atomic);
  Value *emitOneAtomic(llvm::Instruction *atomic, bool isShared);
  Value *narrowRoot(Value *address, unsigned depth = 0);
  Value *laneCopy(Value *value, const Value *root, Value *rootInLane);
  void updateByNarrowRoot(llvm::AtomicRMWInst &atomic, Value *root);
  std::uint64_t scaleOfByte(Value *address, const Value *root);
  bool emitCount(llvm::AtomicRMWInst &atomic);

  // --- calls (emit_calls.cpp) -------------------------------------------------------------------
  void emitCall(llvm::CallBase &call);
  void callIntrinsic(llvm::CallBase &call);
  void callMaths(llvm::CallBase &call);
  void callLaneFunction(llvm::CallBase &call);
  void callEachLane(llvm::CallBase &call, const std::function<Value *(Value *lane, llvm::ArrayRef<Value *>)> &one);

  // --- collectives (emit_collectives.cpp) -------------------------------------------------------
  void emitCollective(llvm::CallBase &call, LaneIntrinsic id);
  void emitShuffle(llvm::CallBase &call, LaneIntrinsic id);
  Value *permute(Value *values, Value *sources);
  void emitVote(llvm::CallBase &call, LaneIntrinsic id);
  void emitMatchAny(llvm::CallBase &call);
  void emitMatchAll(llvm::CallBase &call);
  void emitRedux(llvm::CallBase &call, LaneIntrinsic id);
  void emitElect(llvm::CallBase &call);
  Value *warpIsFull(Value *condition);
  bool isMadeHere(const Value &value) const;
  Value *holdsForAll(Term term);
  Value *holdsForAll(llvm::CmpInst::Predicate predicate, Value *value, Value *bound);
  // Active lanes that are members too: i32 if the member mask is uniform, else <32 x i32>.
  Value *activeMembers(llvm::CallBase &call);
  // Runs `body` once per distinct value of `keys` in active lanes; it gets the lanes that have it (<32 x i1>)
  // and the first of them, and returns the result of these lanes. Returns all results as one vector.
  Value *forEachGroup(Value *keys, llvm::Type *result, const std::function<Value *(Value *lanes, Value *first)> &body);

  // --- the runtime table, the thread's place (emit_runtime.cpp) ------------------------------------
  Value *oneOperand(llvm::CallBase &call, unsigned i);
  void callTable(llvm::CallBase &call, const IntrinsicRow &row);
  void callDevice(llvm::CallBase &call, const IntrinsicRow &row);
  void emitMachine(llvm::CallBase &call, LaneIntrinsic id);
  Value *warpField(unsigned offset, llvm::Type *type, bool invariant = true);
  Value *launchField(unsigned offset, llvm::Type *type);
  Value *callRuntime(unsigned offset, llvm::Type *result, llvm::ArrayRef<Value *> arguments);
  void raiseFault(Value *kind, Value *lanes, Value *address);
  void emitThreadIndex(llvm::CallBase &call, unsigned dimension);
  void divideThreads(Value *first, Value *x, Value *y, unsigned dimension, llvm::PHINode &result);
  Value *laneNumbers();  // <32 x i32> 0…31

  EmitContext &context_;
  llvm::Function &lane_;
  llvm::Function &vector_;
  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  const Uniformity &uniformity_;
  const llvm::DominatorTree &dominators_;
  AddressForms forms_;
  LinearPlan plan_;
  llvm::IRBuilder<> builder_;
  llvm::IRBuilder<> entryBuilder_;  // allocas
  llvm::Type *maskType_;
  Value *fullMask_, *emptyMask_;

  bool entryIsFull_ = false;             // the function starts with all lanes
  llvm::BasicBlock *current_ = nullptr;  // the lane block being written
  Value *mask_ = nullptr;
  Value *threadVectors_[3] = {nullptr, nullptr, nullptr};
  std::unordered_map<const llvm::BasicBlock *, llvm::BasicBlock *> entries_;
  std::unordered_map<const llvm::BasicBlock *, llvm::AllocaInst *> maskSlots_;
  std::unordered_map<const llvm::PHINode *, llvm::AllocaInst *> incoming_;
  std::unordered_map<const Value *, Value *> allocas_;  // per-lane arrays: address of lane 0's
  std::unordered_map<const Value *, llvm::AllocaInst *> slots_, vectorSlots_;
  std::unordered_map<const Value *, llvm::StoreInst *> slotStores_;
  std::unordered_map<const Value *, Slots> segmentSlots_, segmentIncoming_;
  // What is at hand within the current block.
  std::unordered_map<const Value *, Value *> now_, vectorsNow_;
  std::unordered_map<const Value *, Segments> segmentsNow_;
  std::unordered_map<const llvm::Instruction *, Value *> loadedAhead_;              // with a load before it
  std::unordered_map<const llvm::Instruction *, std::vector<Member>> storedLater_;  // what is stored with it
};

}  // namespace strata::simt
