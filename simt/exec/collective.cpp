// SPDX-License-Identifier: Apache-2.0
// Warp collectives in lane mode: every lane leaves its operands and waits; when all members are there, the
// results of all are computed in one place. Kinds: simt/intrinsics.def.
#include "simt/exec/collective.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "simt/exec/faults.h"
#include "simt/intrinsics.h"

namespace strata::simt {
namespace {

// Those of intrinsics.def; of 32 and 64 bits alike, since values have 64 here.
enum class Kind : int {
#define LANE_INTRINSIC(id, name, signature, group, result, effect, waits, kind, slot, operands) id = kind,
#include "simt/intrinsics.def"
#undef LANE_INTRINSIC
};

constexpr int kMostKind = std::max_element(std::begin(kIntrinsics), std::end(kIntrinsics), [](auto &a, auto &b) {
                            return a.kind < b.kind;
                          })->kind;

Kind kindOf(const Member &member) { return static_cast<Kind>(member.kind); }

// Lanes of one warp. No heap: lane mode comes here at every shuffle.
struct Group {
  std::array<Member *, kWarpSize> members;
  std::size_t size = 0;

  void add(Member *member) { members[size++] = member; }
  auto begin() const { return members.begin(); }
  auto end() const { return members.begin() + size; }
  Member *front() const { return members[0]; }
};

// PTX's rule for the source lane: segment mask and clamp lie in operand c.
void shuffle(const std::array<Member *, 32> &byLane, const Member &member, std::uint64_t &value,
             std::uint32_t &predicate) {
  const std::int32_t lane = static_cast<std::int32_t>(member.warp.lane), by = member.b & 31;
  const std::int32_t segment = member.c >> 8 & 31, clamp = member.c & 31;
  const std::int32_t low = lane & segment, high = low | (clamp & ~segment);
  std::int32_t source = 0;
  switch (kindOf(member)) {
    case Kind::shflIdx: source = low | (by & ~segment); break;
    case Kind::shflUp: source = lane - by; break;
    case Kind::shflDown: source = lane + by; break;
    default: source = lane ^ by;
  }
  predicate = kindOf(member) == Kind::shflUp ? source >= high : source <= high;
  if (!predicate) source = lane;
  const Member *from = byLane[static_cast<std::uint32_t>(source) & 31];
  value = from ? from->value : member.value;
}

std::uint32_t combine(Kind kind, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  switch (kind) {
    case Kind::reduxAdd: return a + b;
    case Kind::reduxUmin: return std::min(a, b);
    case Kind::reduxUmax: return std::max(a, b);
    case Kind::reduxSmin: return static_cast<std::uint32_t>(std::min(sa, sb));
    case Kind::reduxSmax: return static_cast<std::uint32_t>(std::max(sa, sb));
    case Kind::reduxAnd: return a & b;
    case Kind::reduxOr: return a | b;
    default: return a ^ b;
  }
}

void resolve(const Group &group) {
  std::uint32_t active = 0, ballot = 0, reduced = static_cast<std::uint32_t>(group.front()->value);
  std::array<Member *, 32> byLane{};
  for (Member *member : group) {
    const std::uint32_t bit = 1u << member->warp.lane;
    active |= bit;
    if (member->value & 1) ballot |= bit;
    byLane[member->warp.lane] = member;
    if (member != group.front()) reduced = combine(kindOf(*member), reduced, static_cast<std::uint32_t>(member->value));
  }
  std::array<std::uint64_t, 32> values{};
  std::array<std::uint32_t, 32> predicates{};
  for (const Member *member : group) {
    std::uint64_t &value = values[member->warp.lane];
    std::uint32_t &predicate = predicates[member->warp.lane];
    switch (kindOf(*member)) {
      case Kind::shflIdx:
      case Kind::shflUp:
      case Kind::shflDown:
      case Kind::shflBfly: shuffle(byLane, *member, value, predicate); break;
      case Kind::voteAll: value = ballot == active; break;
      case Kind::voteAny: value = ballot != 0; break;
      case Kind::voteUni: value = ballot == 0 || ballot == active; break;
      case Kind::voteBallot: value = ballot; break;
      case Kind::matchAny32:
      case Kind::matchAll32:
        for (const Member *other : group)
          if (other->value == member->value) value |= 1u << other->warp.lane;
        if (kindOf(*member) == Kind::matchAll32) {
          predicate = value == active;
          value = predicate ? active : 0;
        }
        break;
      case Kind::warpsync: break;
      case Kind::elect:
        value = static_cast<std::uint32_t>(__builtin_ctz(active));
        predicate = member->warp.lane == value;
        break;
      case Kind::activemask: value = active; break;
      default: value = reduced;
    }
  }
  for (Member *member : group) {
    member->value = values[member->warp.lane];
    member->predicate = predicates[member->warp.lane];
    member->state = Member::State::ready;
  }
}

// The lanes of a warp that wait in the same collective as `lead`. Who is active together is asked at one place
// of the program: lanes elsewhere, on another branch, are not converged with it.
Group groupOf(const Group &warp, const Member &lead) {
  Group group;
  for (Member *member : warp) {
    if (member->state != Member::State::collective || member->kind != lead.kind) continue;
    if (kindOf(lead) == Kind::activemask ? member->site == lead.site : member->mask == lead.mask) group.add(member);
  }
  return group;
}

bool resolveWarp(BlockRun &block, const Group &warp, Resolve which) {
  std::uint32_t existing = 0;
  for (const Member *member : warp)
    if (member->state != Member::State::ended) existing |= 1u << member->warp.lane;
  bool any = false;
  for (const Member *lead : warp) {
    if (lead->state != Member::State::collective) continue;
    const Group group = groupOf(warp, *lead);
    std::uint32_t present = 0;
    for (const Member *member : group) present |= 1u << member->warp.lane;
    // The lanes that are active together are known only when no other lane can still arrive.
    const bool complete =
        kindOf(*lead) == Kind::activemask ? which != Resolve::complete : (lead->mask & existing & ~present) == 0;
    if (!complete && which != Resolve::forced) continue;
    resolve(group);
    block.waitingLanes -= static_cast<std::uint32_t>(group.size);
    any = true;
  }
  return any;
}

}  // namespace

bool resolveCollectives(BlockRun &block, Resolve which) {
  bool any = false;
  for (std::uint32_t first = 0; block.waitingLanes && first < block.memberCount; first += kWarpSize) {
    Group warp;
    bool waiting = false;
    for (std::uint32_t m = first; m < std::min(first + kWarpSize, block.memberCount); ++m) {
      warp.add(block.members[m]);
      waiting |= block.members[m]->state == Member::State::collective;
    }
    if (waiting && resolveWarp(block, warp, which)) any = true;
  }
  return any;
}

std::uint64_t laneCollective(Warp *warp, std::uint32_t kind, std::uint32_t mask, std::uint64_t value, std::uint32_t b,
                             std::uint32_t c, std::uint32_t *predicate) {
  Member &member = *Member::of(warp);
  if (!member.block->unit->lanes || kind > static_cast<std::uint32_t>(kMostKind))
    raiseFault(FaultKind::internal, 1u << warp->lane, 0, 0, "a lane collective outside lane mode, or of unknown kind");
  member.kind = kind;
  member.mask = mask;
  member.value = value;
  member.b = b;
  member.c = c;
  member.site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  member.state = Member::State::collective;
  ++member.block->waitingLanes;
  member.pause();
  if (predicate) *predicate = member.predicate;
  return member.value;
}

}  // namespace strata::simt
