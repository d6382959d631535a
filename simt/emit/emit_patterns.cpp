// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: accesses whose lanes lie at known distances, but not side by side, as the members of structures, the
// columns of a tile and the pairs of a butterfly do. Memory is accessed in pieces of a register; shuffles bring the
// lanes' elements from them or into them. Accesses of one block that lie at a known distance are one pattern, if that
// takes less:
//
//   %a = load i32, %x[2 * %tid]                   pieces  0…15  16…31  32…47  48…63
//   %b = load i32, %x[2 * %tid + 1]          →    %a: the even ones of two pieces each;  %b: the odd ones
//
//   store i32 %v, %x[2 * %tid]                    each piece: %v and %w in turns: four whole stores, where the last was
//   store i32 %w, %x[2 * %tid + 1]           →
//
// Only bytes of active lanes are written. What is read lies between the elements of two lanes (less than a page apart,
// so that it lies on a page which one of them reads anyway), or is masked off.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>
#include <set>

#include "simt/emit/function_emitter.h"

namespace strata::simt {

using llvm::cast;
using llvm::dyn_cast;

namespace {

constexpr unsigned kMostMembers = 4, kMostBetween = 64;  // accesses of one pattern, instructions from one to the next

std::vector<int> iota(unsigned first, unsigned count) {
  std::vector<int> result(count);
  for (unsigned i = 0; i < count; ++i) result[i] = static_cast<int>(first + i);
  return result;
}

}  // namespace

// Element `at` of vector `source`; none: it does not matter.
struct FunctionEmitter::Place {
  int source = -1;
  unsigned at = 0;
};

// Memory in pieces, which cover what lanes access. Elements are counted from u of the pattern's first access.
struct FunctionEmitter::Pieces {
  struct Piece {
    std::int64_t first;
    unsigned length;
  };
  std::vector<Piece> pieces;

  // Runs of `elements`, with what lies between them if it is `gap` elements at most. A run's last piece may lie over
  // the one before where only lanes' own elements and gaps may be touched (`within`), or reach beyond the run.
  Pieces(const std::set<std::int64_t> &elements, unsigned width, unsigned gap, bool within) {
    for (auto at = elements.begin(); at != elements.end();) {
      const std::int64_t first = *at;
      std::int64_t last = first;
      while (++at != elements.end() && *at - last <= static_cast<std::int64_t>(gap) + 1) last = *at;
      ++runs;
      const auto length = static_cast<unsigned>(last - first + 1);
      elementCount += length;
      for (unsigned done = 0; done < length; done += width) {
        const bool over = within && done + width > length && length > width;
        pieces.push_back({first + (over ? length - width : done), within ? std::min(width, length) : width});
      }
    }
  }

  Place place(std::int64_t element) const {
    for (std::size_t p = 0; p < pieces.size(); ++p)
      if (element >= pieces[p].first && element < pieces[p].first + pieces[p].length)
        return {static_cast<int>(p), static_cast<unsigned>(element - pieces[p].first)};
    return {};
  }

  std::size_t runs = 0;
  std::size_t elementCount = 0;
};

namespace {

// Shuffles that FunctionEmitter::pick takes.
template <class Place>
unsigned picks(llvm::ArrayRef<Place> wanted) {
  std::set<int> sources;
  bool same = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].source < 0) continue;
    sources.insert(wanted[i].source);
    same = same && wanted[i].at == i;
  }
  return sources.size() <= 1 ? (same ? 0 : 1) : static_cast<unsigned>(sources.size()) - 1;
}

}  // namespace

// A vector of elements that are taken from others of its type.
llvm::Value *FunctionEmitter::pick(llvm::ArrayRef<Value *> sources, llvm::ArrayRef<Place> wanted) {
  const auto width = static_cast<unsigned>(wanted.size());
  std::vector<int> used;
  for (const Place &place : wanted)
    if (place.source >= 0 && !llvm::is_contained(used, place.source)) used.push_back(place.source);
  if (used.empty()) return llvm::PoisonValue::get(sources[0]->getType());
  Value *made = sources[static_cast<unsigned>(used[0])];
  std::vector<int> lanes(width, -1);
  const auto add = [&](int source, unsigned base) {
    for (unsigned i = 0; i < width; ++i)
      if (wanted[i].source == source) lanes[i] = static_cast<int>(base + wanted[i].at);
  };
  add(used[0], 0);
  if (used.size() == 1)
    return llvm::ShuffleVectorInst::isIdentityMask(lanes, static_cast<int>(width))
               ? made
               : builder_.CreateShuffleVector(made, lanes);
  for (std::size_t s = 1; s < used.size(); ++s) {
    add(used[s], width);
    made = builder_.CreateShuffleVector(made, sources[static_cast<unsigned>(used[s])], lanes);
    for (unsigned i = 0; i < width; ++i)
      if (lanes[i] >= 0) lanes[i] = static_cast<int>(i);
  }
  return made;
}

// --- patterns ----------------------------------------------------------------------------------------

// What the lanes of an access touch: of each component in turn, lane by lane. `apart`: bytes from the first access's u.
std::optional<FunctionEmitter::Member> FunctionEmitter::member(llvm::Instruction &access, std::int64_t apart) {
  Value *pointer = llvm::getLoadStorePointerOperand(&access);
  llvm::Type *type = llvm::getLoadStoreType(&access);
  const auto *parts = dyn_cast<llvm::FixedVectorType>(type);
  const unsigned count = parts ? parts->getNumElements() : 1;
  const auto size = static_cast<std::int64_t>(context_.module.getDataLayout().getTypeStoreSize(type->getScalarType()));
  const Shape address = shape(pointer);
  if (!address.isAffine() || address.isUniform() || address.isStrided(size * count)) return std::nullopt;
  Member made{&access, {}};
  for (unsigned i = 0; i < count; ++i)
    for (std::int64_t offset : address.offsets) {
      if ((offset + apart) % size) return std::nullopt;
      made.elements.push_back((offset + apart) / size + i);
    }
  return made;
}

// The next access of the same kind at a known distance, if `first` may be done together with it.
std::optional<FunctionEmitter::Member> FunctionEmitter::nextMember(llvm::Instruction &first, llvm::Instruction &last) {
  const bool stores = llvm::isa<llvm::StoreInst>(first);
  Value *from = llvm::getLoadStorePointerOperand(&first);
  unsigned between = 0;
  if (!shape(from).isExact()) return std::nullopt;
  for (llvm::Instruction *i = last.getNextNode(); i && ++between <= kMostBetween; i = i->getNextNode()) {
    Value *to = i->getOpcode() == first.getOpcode() ? llvm::getLoadStorePointerOperand(i) : nullptr;
    if (to && llvm::getLoadStoreType(i) == llvm::getLoadStoreType(&first) && !i->isVolatile() && !i->isAtomic() &&
        shape(to).isExact() && shape(to).isAffine())
      if (auto apart = forms_.distance(from, to))
        if (auto made = member(*i, *apart)) return made;
    if (stores ? i->mayReadOrWriteMemory() : i->mayWriteToMemory()) break;
  }
  return std::nullopt;
}

unsigned FunctionEmitter::pieceWidth(llvm::Type *element) const {
  const auto bytes = static_cast<unsigned>(context_.module.getDataLayout().getTypeStoreSize(element));
  return std::min(kLanes, level().registerBytes / bytes);
}

// Places of elements, register by register.
std::vector<std::vector<FunctionEmitter::Place>> FunctionEmitter::placesOf(const Member &member, const Pieces &pieces,
                                                                           unsigned width) {
  std::vector<std::vector<Place>> result;
  for (std::size_t e = 0; e < member.elements.size(); ++e) {
    if (e % width == 0) result.emplace_back();
    result.back().push_back(pieces.place(member.elements[e]));
  }
  return result;
}

// A gather or scatter of a warp, in the units of a load or a shuffle.
unsigned FunctionEmitter::spreadCost(llvm::Type *element) const {
  return level().spreadCost(static_cast<unsigned>(context_.module.getDataLayout().getTypeStoreSize(element)));
}

// --- loads -------------------------------------------------------------------------------------------

FunctionEmitter::Pieces FunctionEmitter::piecesToLoad(llvm::ArrayRef<Member> members, unsigned width) const {
  std::set<std::int64_t> all;
  for (const Member &one : members) all.insert(one.elements.begin(), one.elements.end());
  return Pieces(all, width, level().widestGap ? level().widestGap : width - 1, /*within=*/maskIsFull());
}

// None: gathers take less.
std::optional<unsigned> FunctionEmitter::costOfLoads(llvm::ArrayRef<Member> members) {
  constexpr unsigned kMostRuns = 4, kMostElements = 4 * kLanes;
  llvm::Type *element = llvm::getLoadStoreType(members[0].access)->getScalarType();
  const unsigned width = pieceWidth(element);
  const Pieces pieces = piecesToLoad(members, width);
  const auto components = static_cast<unsigned>(members[0].elements.size() * members.size()) / kLanes;
  auto cost = static_cast<unsigned>(pieces.pieces.size());
  for (const Member &one : members)
    for (const auto &part : placesOf(one, pieces, width)) cost += picks<Place>(part);
  if (!maskIsFull()) {
    if (!level().masked) return std::nullopt;
    cost += kLanes / width;
    for (const auto &layers : lanesOfPieces(members, pieces, width)) cost += 3 * static_cast<unsigned>(layers.size());
  } else if (pieces.runs <= kMostRuns && pieces.elementCount <= kMostElements * components) {
    return cost;
  }
  const unsigned apart = components * spreadCost(element);
  return cost < apart ? std::optional(cost) : std::nullopt;
}

llvm::Value *FunctionEmitter::loadPattern(llvm::LoadInst &load) {
  auto first = load.isVolatile() ? std::nullopt : member(load, 0);
  if (!first) return nullptr;
  llvm::Type *element = load.getType()->getScalarType();
  const auto count = static_cast<unsigned>(first->elements.size()) / kLanes;
  const unsigned apart = count * spreadCost(element);
  std::vector<Member> members = {*first};
  std::optional<unsigned> cost = costOfLoads(members);
  while (members.size() < kMostMembers) {
    auto next = nextMember(load, *members.back().access);
    if (!next) break;
    const std::optional<unsigned> alone = costOfLoads(*next);
    members.push_back(*next);
    const std::optional<unsigned> together = costOfLoads(members);
    const auto before = static_cast<unsigned>(members.size() - 1);
    if (together && *together < cost.value_or(before * apart) + alone.value_or(apart)) {
      cost = together;
      continue;
    }
    members.pop_back();
    break;
  }
  if (!cost) return nullptr;
  for (const Member &one : llvm::drop_begin(members)) loadedAhead_[one.access] = nullptr;
  const auto fast = [&] { return loadMembers(members); };
  const Shape address = shape(load.getPointerOperand());
  return guarded(address, fast,
                 [&] { return gather(vector(load.getPointerOperand()), element, count, load.getAlign()); });
}

// Returns what the first one loads; the others' values are kept for their turn.
llvm::Value *FunctionEmitter::loadMembers(llvm::ArrayRef<Member> members) {
  auto &load = cast<llvm::LoadInst>(*members[0].access);
  llvm::Type *element = load.getType()->getScalarType();
  const auto size = static_cast<std::int64_t>(context_.module.getDataLayout().getTypeStoreSize(element));
  const unsigned width = pieceWidth(element);
  const Pieces pieces = piecesToLoad(members, width);
  const llvm::Align align = llvm::commonAlignment(load.getAlign(), static_cast<std::uint64_t>(size));
  Value *u = scalar(load.getPointerOperand());
  const std::vector<Value *> masks = maskIsFull() ? std::vector<Value *>() : pieceMasks(members, pieces, element);
  std::vector<Value *> loaded;
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    const auto [at, length] = pieces.pieces[p];
    Value *from = builder_.CreatePtrAdd(u, llvm::ConstantInt::getSigned(builder_.getInt64Ty(), at * size));
    auto *type = llvm::FixedVectorType::get(element, length);
    Value *piece = masks.empty() ? static_cast<Value *>(builder_.CreateAlignedLoad(type, from, align))
                                 : builder_.CreateMaskedLoad(type, from, align, masks[p]);
    std::vector<int> grown = iota(0, length);
    grown.resize(width, -1);
    loaded.push_back(length == width ? piece : builder_.CreateShuffleVector(piece, grown));
  }
  Value *result = nullptr;
  for (const Member &one : members) {
    std::vector<Value *> parts;
    for (const auto &places : placesOf(one, pieces, width)) parts.push_back(pick(loaded, places));
    Value *value = joinComponents(parts, cast<llvm::LoadInst>(*one.access).getType());
    if (!result) result = value;
    else loadedAhead_[one.access] = value;
  }
  return result;
}

// Registers of each component in turn, as the value of a lane type.
llvm::Value *FunctionEmitter::joinComponents(llvm::ArrayRef<Value *> parts, llvm::Type *type) {
  const auto *lanes = dyn_cast<llvm::FixedVectorType>(type);
  const std::size_t count = lanes ? lanes->getNumElements() : 1, each = parts.size() / count;
  Value *result = lanes ? llvm::PoisonValue::get(widen(type)) : nullptr;
  for (unsigned i = 0; i < count; ++i) {
    Value *component = llvm::concatenateVectors(builder_, parts.slice(i * each, each));
    if (!lanes) return component;
    result = builder_.CreateInsertValue(result, component, i);
  }
  return result;
}

// --- masks -------------------------------------------------------------------------------------------

// Which elements of each piece active lanes access. Made of integers as wide as the elements, which are shuffled like
// them.
std::vector<llvm::Value *> FunctionEmitter::pieceMasks(llvm::ArrayRef<Member> members, const Pieces &pieces,
                                                       llvm::Type *element) {
  const unsigned width = pieceWidth(element);
  const auto bits = static_cast<unsigned>(context_.module.getDataLayout().getTypeStoreSizeInBits(element));
  auto *type = llvm::FixedVectorType::get(builder_.getIntNTy(bits), width);
  std::vector<Value *> lanes;
  for (unsigned p = 0; p < kLanes / width; ++p)
    lanes.push_back(builder_.CreateSExt(builder_.CreateShuffleVector(mask(), iota(p * width, width)), type));
  const auto none = static_cast<int>(lanes.size());
  lanes.push_back(llvm::Constant::getNullValue(type));
  std::vector<Value *> masks;
  for (const auto &layers : lanesOfPieces(members, pieces, width)) {
    Value *wanted = nullptr;
    for (std::vector<Place> places : layers) {
      for (Place &place : places)
        if (place.source < 0) place = {none, 0};
      Value *layer = builder_.CreateIsNeg(pick(lanes, places));
      wanted = wanted ? builder_.CreateOr(wanted, layer) : layer;
    }
    masks.push_back(wanted);
  }
  return masks;
}

// Piece by piece, the lanes that access each element: one in each layer, of which there are as many as lanes of an
// element.
std::vector<std::vector<std::vector<FunctionEmitter::Place>>> FunctionEmitter::lanesOfPieces(
    llvm::ArrayRef<Member> members, const Pieces &pieces, unsigned width) {
  std::vector<std::vector<std::vector<Place>>> result(pieces.pieces.size(), {std::vector<Place>(width)});
  for (const Member &one : members)
    for (std::size_t e = 0; e < one.elements.size(); ++e) {
      const Place place = pieces.place(one.elements[e]);
      const auto lane = static_cast<unsigned>(e % kLanes);
      const Place wanted = {static_cast<int>(lane / width), lane % width};
      auto &layers = result[static_cast<unsigned>(place.source)];
      auto layer = llvm::find_if(layers, [&](const auto &places) {
        const Place &there = places[place.at];
        return there.source < 0 || (there.source == wanted.source && there.at == wanted.at);
      });
      if (layer == layers.end()) layer = layers.insert(layer, std::vector<Place>(width));
      (*layer)[place.at] = wanted;
    }
  return result;
}

// --- stores ------------------------------------------------------------------------------------------

// How the elements of some stores get into pieces.
struct FunctionEmitter::StorePlan {
  Pieces pieces;
  std::vector<std::vector<Place>> wanted;  // of each piece; sources are the registers of the stores' values
  bool whole = true;                       // no piece has gaps
  unsigned cost = 0;
};

std::optional<FunctionEmitter::StorePlan> FunctionEmitter::planStores(llvm::ArrayRef<Member> members) {
  llvm::Type *element = llvm::getLoadStoreType(members[0].access);
  const unsigned width = pieceWidth(element), registers = kLanes / width;
  std::set<std::int64_t> all;
  for (const Member &one : members) all.insert(one.elements.begin(), one.elements.end());
  if (!maskIsFull() && (!level().masked || all.size() != members.size() * kLanes))
    return std::nullopt;  // of two lanes one wins, if it is active
  StorePlan plan{Pieces(all, width, width - 1, /*within=*/false), {}};
  plan.wanted.assign(plan.pieces.pieces.size(), std::vector<Place>(width));
  for (std::size_t m = 0; m < members.size(); ++m)
    for (unsigned turn = 0; turn < kLanes; ++turn) {
      const unsigned lane = storeOrder(cast<llvm::StoreInst>(*members[m].access)).lane(turn);
      const Place place = plan.pieces.place(members[m].elements[lane]);
      plan.wanted[static_cast<unsigned>(place.source)][place.at] = {static_cast<int>(m * registers + lane / width),
                                                                    lane % width};
    }
  for (const auto &places : plan.wanted) {
    plan.cost += 1 + picks<Place>(places) + (maskIsFull() ? 0 : 3);
    plan.whole = plan.whole && llvm::all_of(places, [](const Place &place) { return place.source >= 0; });
  }
  if (!maskIsFull()) plan.cost += registers;
  if (!plan.whole && !level().masked) return std::nullopt;
  return plan;
}

// The cost of one by itself: in pieces, run by run, or as a scatter.
unsigned FunctionEmitter::costOfStore(const Member &member, std::optional<StorePlan> plan) {
  llvm::Type *element = llvm::getLoadStoreType(member.access);
  const unsigned apart = spreadCost(element);
  return plan ? std::min(plan->cost, apart) : apart;
}

bool FunctionEmitter::storePattern(llvm::StoreInst &store) {
  auto own = store.isVolatile() || store.getValueOperand()->getType()->isVectorTy() ? std::nullopt : member(store, 0);
  if (!own) return false;
  std::vector<Member> members = std::move(storedLater_[&store]);
  storedLater_.erase(&store);
  members.push_back(*own);
  if (members.size() > 1) {
    llvm::Instruction &first = *members[0].access;
    members.back() =
        *member(store, *forms_.distance(llvm::getLoadStorePointerOperand(&first), store.getPointerOperand()));
  }
  std::optional<StorePlan> plan = planStores(members);
  const unsigned cost = members.size() > 1 ? plan->cost : costOfStore(members[0], plan);
  if (auto next = members.size() < kMostMembers ? nextMember(*members[0].access, store) : std::nullopt) {
    std::vector<Member> more = members;
    more.push_back(*next);
    const std::optional<StorePlan> together = planStores(more);
    if (together && together->cost < cost + costOfStore(*next, planStores(*next))) {
      storedLater_[next->access] = members;
      return true;
    }
  }
  if (members.size() == 1 && storeRuns(store, plan ? plan->cost : ~0u)) return true;
  const unsigned apart = spreadCost(store.getValueOperand()->getType());
  if (members.size() == 1 && (!plan || plan->cost >= apart)) return false;
  guarded(
      shape(members[0].access->getOperand(1)), [&] { return storeMembers(members, *plan); },
      [&]() -> Value * {
        scatter(store, vector(store.getPointerOperand()), vector(store.getValueOperand()));
        return nullptr;
      });
  return true;
}

llvm::Value *FunctionEmitter::storeMembers(llvm::ArrayRef<Member> members, const StorePlan &plan) {
  auto &first = cast<llvm::StoreInst>(*members[0].access);
  llvm::Type *element = first.getValueOperand()->getType();
  const auto size = static_cast<std::int64_t>(context_.module.getDataLayout().getTypeStoreSize(element));
  const unsigned width = pieceWidth(element);
  const llvm::Align align = llvm::commonAlignment(first.getAlign(), static_cast<std::uint64_t>(size));
  std::vector<Value *> sources;
  for (const Member &one : members) {
    Value *value = vector(cast<llvm::StoreInst>(*one.access).getValueOperand());
    for (unsigned p = 0; p < kLanes / width; ++p)
      sources.push_back(width == kLanes ? value : builder_.CreateShuffleVector(value, iota(p * width, width)));
  }
  const std::vector<Value *> masks = maskIsFull() ? std::vector<Value *>() : pieceMasks(members, plan.pieces, element);
  Value *u = scalar(first.getPointerOperand());
  for (std::size_t p = 0; p < plan.wanted.size(); ++p) {
    const std::vector<Place> &places = plan.wanted[p];
    Value *to = builder_.CreatePtrAdd(
        u, llvm::ConstantInt::getSigned(builder_.getInt64Ty(), plan.pieces.pieces[p].first * size));
    Value *value = pick(sources, places);
    std::vector<llvm::Constant *> owned;
    for (const Place &place : places) owned.push_back(builder_.getInt1(place.source >= 0));
    const bool whole = llvm::all_of(places, [](const Place &place) { return place.source >= 0; });
    if (!masks.empty()) builder_.CreateMaskedStore(value, to, align, masks[p]);
    else if (whole) builder_.CreateAlignedStore(value, to, align);
    else builder_.CreateMaskedStore(value, to, align, llvm::ConstantVector::get(owned));
  }
  return nullptr;
}

// Where the lanes write a few runs of elements, in whatever order: the lanes are sorted, and each run is one store. Not
// if there is something that costs less.
bool FunctionEmitter::storeRuns(llvm::StoreInst &store, unsigned other) {
  const std::size_t mostRuns = level().masked ? kLanes / 2 : kLanes;  // else no worse than a scatter
  const Shape address = shape(store.getPointerOperand());
  if (!maskIsFull()) return false;
  llvm::Type *element = store.getValueOperand()->getType();
  const auto size = static_cast<std::int64_t>(context_.module.getDataLayout().getTypeStoreSize(element));
  std::vector<int> order = iota(0, kLanes);
  auto offset = [&](int lane) { return address.offsets[static_cast<unsigned>(lane)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return offset(a) < offset(b); });
  std::vector<unsigned> starts;
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::int64_t apart = i ? offset(order[i]) - offset(order[i - 1]) : 0;
    if (i && apart < size) return false;  // one of two lanes wins
    if (!i || apart != size) starts.push_back(i);
  }
  if (starts.size() > mostRuns || other <= starts.size()) return false;
  const auto end = [&](std::size_t r) { return r + 1 < starts.size() ? starts[r + 1] : kLanes; };
  const auto isDouble = [&](std::size_t r) { return (end(r) - starts[r]) * size == 8 && starts[r] * size % 8 == 0; };
  Value *value = vector(store.getValueOperand());
  auto fast = [&]() -> Value * {
    // Either half of a register's 16 bytes is stored as a double without a shuffle, if all that is done is done with
    // floats.
    Value *stored = element->isIntegerTy(32)
                        ? builder_.CreateBitCast(value, llvm::FixedVectorType::get(builder_.getFloatTy(), kLanes))
                        : value;
    Value *sorted = builder_.CreateShuffleVector(stored, order), *u = scalar(store.getPointerOperand());
    Value *doubles =
        size < 8 ? builder_.CreateBitCast(sorted, llvm::FixedVectorType::get(builder_.getDoubleTy(),
                                                                             static_cast<unsigned>(kLanes * size / 8)))
                 : nullptr;
    for (std::size_t r = 0; r < starts.size(); ++r) {
      Value *to =
          builder_.CreatePtrAdd(u, llvm::ConstantInt::getSigned(builder_.getInt64Ty(), offset(order[starts[r]])));
      Value *part = doubles && isDouble(r)
                        ? builder_.CreateExtractElement(doubles, starts[r] * static_cast<std::uint64_t>(size) / 8)
                        : builder_.CreateShuffleVector(sorted, iota(starts[r], end(r) - starts[r]));
      builder_.CreateAlignedStore(part, to, llvm::commonAlignment(store.getAlign(), static_cast<std::uint64_t>(size)));
    }
    return nullptr;
  };
  guarded(address, fast, [&]() -> Value * {
    scatter(store, vector(store.getPointerOperand()), value);
    return nullptr;
  });
  return true;
}

}  // namespace strata::simt
