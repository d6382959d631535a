// SPDX-License-Identifier: Apache-2.0
// How a lane-IR value differs between the 32 lanes of a warp.
//
//   affine:  lane l has u + offsets[l], u one scalar for the warp, offsets known at compile time.
//            Uniform values are affine with all offsets 0.  Arithmetic is modulo 2^width.
//   varying: anything.
//
// u is known to be a multiple of 2^alignment. With tid.x = 32*k + lane that makes tid.x >> 5 uniform,
// tid.x & 31 the lane, and the extension of i = ctaid*ntid + tid to 64 bits exact without a test, because
// no carry out of the low five bits can occur.
//
// Where an extension may wrap in some lane, its result is affine only under a run-time guard. Such a
// value carries the extension as a term: lane l has u + offsets[l] + sum(scale * correction(extension)[l]),
// and correction() is 0 in every lane unless the extended value wraps within the warp:
//
//   %i  = add i32 %base, %lane           ; u = base, offsets 0…31
//   %w  = sext i32 %i to i64             ; u = sext(base), offsets 0…31, terms {%w: 1}
//   %o  = shl i64 %w, 2                  ; offsets 0, 4, … 124, terms {%w: 4}
//
// A memory access tests the guard (one scalar comparison) and takes the contiguous path if it holds.
//
// In blocks whose rows are 8 or 16 threads a warp covers several rows. What is not affine over the warp may be so
// within each row, as a row's address is for any width of the matrix: such a value is *segmented*.
//
//   segmented:  lane l has u[l / segmentLanes] + offsets[l]: one scalar for each segment.
//
//   %r = mul i32 %tid.y, %n              ; u = {y*n, (y+1)*n}, offsets 0
//   %i = add i32 %r, %tid.x              ; the same u, offsets 0…15, 0…15
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace llvm {
class Instruction;
}

namespace strata::simt {

inline constexpr unsigned kLanes = 32;
using LaneOffsets = std::array<std::int64_t, kLanes>;

struct ExtensionTerm {
  const llvm::Instruction *extension;  // sext or zext of an affine value
  std::int64_t scale;
  bool operator==(const ExtensionTerm &) const = default;
};

struct Shape {
  enum class Kind : std::uint8_t { undefined, affine, varying };  // undefined: not reached yet
  Kind kind = Kind::undefined;
  std::uint8_t alignment = 0;        // log2; affine only
  std::uint8_t segmentLanes = 0;     // affine only: lanes that share a u; 0: all
  LaneOffsets offsets{};             // affine only
  std::vector<ExtensionTerm> terms;  // affine only; sorted by extension

  static Shape varying() { return {Kind::varying, 0, 0, {}, {}}; }
  static Shape uniform(unsigned alignment = 0);
  static Shape affine(const LaneOffsets &offsets, unsigned alignment = 0);

  bool isAffine() const { return kind == Kind::affine && !segmentLanes; }  // over the whole warp
  bool isSegmented() const { return kind == Kind::affine && segmentLanes; }
  bool isVarying() const { return kind == Kind::varying; }
  bool isUniform() const { return isAffine() && isSame(); }
  bool isSame() const { return isExact() && offsets == LaneOffsets{}; }   // in the warp, or in each segment
  bool isExact() const { return kind == Kind::affine && terms.empty(); }  // needs no guard
  bool operator==(const Shape &) const = default;

  // Lane l has u + l*stride.
  bool isStrided(std::int64_t stride) const;
  // All offsets lie in [0, 2^alignment): adding them to u never carries beyond the low bits.
  bool carryFree() const;
  bool carryFreeWith(std::uint64_t more, unsigned width) const;  // and so with `more` added, in so many bits
  std::int64_t minOffset() const;                                // at most 0
  std::int64_t maxOffset() const;                                // at least 0
};

// An affine shape as one of segments, whose first lanes have offset 0; a segmented one as it is; else varying.
Shape segmented(const Shape &a, unsigned segmentLanes);

// Shapes of operations; width is the result's in bits. Operands must not be undefined.
Shape addShapes(const Shape &a, const Shape &b, unsigned width);
Shape subShapes(const Shape &a, const Shape &b, unsigned width);
Shape scaleShape(const Shape &a, std::int64_t factor, unsigned width);
Shape truncShape(const Shape &a, unsigned width);
Shape mulUniform(const Shape &a, const Shape &b);  // both uniform: alignments add up
// Bitwise operations of two uniform values, or of a carry-free one and a uniform one that has none of its low bits.
Shape andUniform(const Shape &a, const Shape &b);
Shape orUniform(const Shape &a, const Shape &b);  // and xor
// Unsigned division of a carry-free value by a uniform one whose multiples the low bits do not reach.
Shape divideUniform(const Shape &a, const Shape &b);
Shape remainderUniform(const Shape &a, const Shape &b);
// Operations with a constant on a carry-free value; varying where the result is not affine.
Shape andShape(const Shape &a, std::uint64_t mask, unsigned width);
Shape orShape(const Shape &a, std::uint64_t bits, unsigned width);
Shape xorShape(const Shape &a, std::uint64_t bits, unsigned width);
Shape shiftRightShape(const Shape &a, unsigned amount);
// Where two values meet (phi, select by a uniform condition); affine ones that differ meet as segments, if there are
// any.
Shape meetShapes(const Shape &a, const Shape &b, unsigned segmentLanes);

}  // namespace strata::simt
