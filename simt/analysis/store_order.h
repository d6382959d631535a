// SPDX-License-Identifier: Apache-2.0
// Which lane wins where several store to one address in one instruction. PTX leaves it open; ours is an H200's
// (tests/programs/store_order.h200.txt): the lowest active one; but 8 bytes a lane are stored by half warps and 16 by
// quarters, one after the other, and the lowest of the last half or quarter wins.
//
// Lanes are therefore stored in this order, the last of which wins:
//
//   up to 4 bytes     31 … 0                        8 bytes     15 … 0, 31 … 16
//   16 bytes          7 … 0, 15 … 8, 23 … 16, 31 … 24
#pragma once

#include <cstdint>

namespace strata::simt {

class StoreOrder {
public:
  // `bytes`: what a lane stores, all components of a vector together.
  explicit constexpr StoreOrder(std::uint64_t bytes) : flip_(bytes <= 4 ? 0 : bytes <= 8 ? 16 : 24) {}

  // The lane that is stored at `turn`, and the turn of a lane: each is the other's inverse.
  constexpr unsigned lane(unsigned turn) const { return (31 - turn) ^ flip_; }
  // Lanes that are stored together, from the lowest of each group on.
  constexpr unsigned group() const { return flip_ ? 32 - flip_ : 32; }
  // lane ^ flip falls from turn to turn.
  constexpr unsigned flip() const { return flip_; }

private:
  unsigned flip_;
};

}  // namespace strata::simt
