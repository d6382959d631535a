// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/shape.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace strata::simt {
namespace {

std::int64_t signExtend(std::uint64_t value, unsigned width) {
  if (width >= 64) return static_cast<std::int64_t>(value);
  unsigned shift = 64 - width;
  return static_cast<std::int64_t>(value << shift) >> shift;
}

std::int64_t wrapAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapMul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

void addTerms(std::vector<ExtensionTerm> &terms, const std::vector<ExtensionTerm> &more, std::int64_t sign) {
  for (const ExtensionTerm &term : more) {
    auto at =
        std::find_if(terms.begin(), terms.end(), [&](const ExtensionTerm &t) { return t.extension == term.extension; });
    if (at == terms.end()) terms.push_back({term.extension, wrapMul(term.scale, sign)});
    else at->scale = wrapAdd(at->scale, wrapMul(term.scale, sign));
  }
  std::erase_if(terms, [](const ExtensionTerm &t) { return t.scale == 0; });
  std::sort(terms.begin(), terms.end(),
            [](const ExtensionTerm &a, const ExtensionTerm &b) { return std::less<>()(a.extension, b.extension); });
}

Shape combine(const Shape &a, const Shape &b, std::int64_t sign, unsigned width) {
  if (a.kind != Shape::Kind::affine || b.kind != Shape::Kind::affine) return Shape::varying();
  if (a.segmentLanes != b.segmentLanes) {
    const unsigned lanes = std::max(a.segmentLanes, b.segmentLanes);
    return combine(segmented(a, lanes), segmented(b, lanes), sign, width);
  }
  Shape result = a;
  result.alignment = std::min(a.alignment, b.alignment);
  for (unsigned l = 0; l < kLanes; ++l)
    result.offsets[l] = signExtend(wrapAdd(a.offsets[l], wrapMul(sign, b.offsets[l])), width);
  addTerms(result.terms, b.terms, sign);
  return result;
}

// Applies `op` to the low bits (the offsets) and keeps u.
template <class Op>
Shape onLowBits(const Shape &a, unsigned width, Op op) {
  Shape result = a;
  for (std::int64_t &offset : result.offsets) offset = signExtend(op(static_cast<std::uint64_t>(offset)), width);
  return result;
}

bool fitsLowBits(std::uint64_t bits, const Shape &a) {
  return a.alignment >= 64 || bits < (std::uint64_t{1} << a.alignment);
}

}  // namespace

Shape Shape::uniform(unsigned alignment) {
  return {Kind::affine, static_cast<std::uint8_t>(std::min(alignment, 64u)), 0, {}, {}};
}

Shape Shape::affine(const LaneOffsets &offsets, unsigned alignment) {
  Shape shape = uniform(alignment);
  shape.offsets = offsets;
  return shape;
}

bool Shape::isStrided(std::int64_t stride) const {
  if (!isAffine()) return false;
  for (unsigned l = 0; l < kLanes; ++l)
    if (offsets[l] != stride * l) return false;
  return true;
}

bool Shape::carryFree() const {
  if (!isExact()) return false;
  return std::all_of(offsets.begin(), offsets.end(), [&](std::int64_t offset) {
    return offset >= 0 && fitsLowBits(static_cast<std::uint64_t>(offset), *this);
  });
}

bool Shape::carryFreeWith(std::uint64_t more, unsigned width) const {
  const auto last = static_cast<std::uint64_t>(maxOffset());
  return carryFree() && more < (std::uint64_t{1} << (width - 1)) &&
         last + more < (std::uint64_t{1} << std::min<unsigned>(alignment, width - 1));
}

std::int64_t Shape::minOffset() const {
  return std::min<std::int64_t>(0, *std::min_element(offsets.begin(), offsets.end()));
}
std::int64_t Shape::maxOffset() const {
  return std::max<std::int64_t>(0, *std::max_element(offsets.begin(), offsets.end()));
}

Shape segmented(const Shape &a, unsigned segmentLanes) {
  if (!a.isAffine()) return a.isSegmented() ? a : Shape::varying();
  Shape result = a;
  result.segmentLanes = static_cast<std::uint8_t>(segmentLanes);
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::int64_t first = a.offsets[l / segmentLanes * segmentLanes];
    result.offsets[l] = wrapAdd(a.offsets[l], -first);
    if (first)
      result.alignment = std::min<std::uint8_t>(
          result.alignment, static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(first))));
  }
  return result;
}

Shape addShapes(const Shape &a, const Shape &b, unsigned width) { return combine(a, b, 1, width); }
Shape subShapes(const Shape &a, const Shape &b, unsigned width) { return combine(a, b, -1, width); }

Shape scaleShape(const Shape &a, std::int64_t factor, unsigned width) {
  if (a.kind != Shape::Kind::affine) return Shape::varying();
  if (factor == 0) return Shape::uniform(64);
  Shape result = a;
  unsigned zeros = static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(factor)));
  result.alignment = static_cast<std::uint8_t>(std::min(64u, a.alignment + zeros));
  for (std::int64_t &offset : result.offsets) offset = signExtend(wrapMul(offset, factor), width);
  for (ExtensionTerm &term : result.terms) term.scale = wrapMul(term.scale, factor);
  std::erase_if(result.terms, [](const ExtensionTerm &t) { return t.scale == 0; });
  return result;
}

Shape truncShape(const Shape &a, unsigned width) {
  if (a.kind != Shape::Kind::affine) return Shape::varying();
  Shape result = a;
  for (std::int64_t &offset : result.offsets) offset = signExtend(static_cast<std::uint64_t>(offset), width);
  if (a.terms.empty()) return result;
  // A correction is a multiple of 2^32 at least (extensions start at 32 bits or are not affine).
  if (width > 32) return Shape::varying();
  result.terms.clear();
  return result;
}

Shape mulUniform(const Shape &a, const Shape &b) {
  if (!a.isUniform() || !b.isUniform()) return Shape::varying();
  return Shape::uniform(std::min(64u, unsigned{a.alignment} + b.alignment));
}

Shape andUniform(const Shape &a, const Shape &b) {
  if (!b.isUniform() || (!a.isUniform() && (!a.carryFree() || b.alignment < a.alignment))) return Shape::varying();
  Shape result = a;
  result.offsets = {};
  result.alignment = std::max(a.alignment, b.alignment);
  return result;
}

Shape orUniform(const Shape &a, const Shape &b) {
  if (!b.isUniform() || (!a.isUniform() && (!a.carryFree() || b.alignment < a.alignment))) return Shape::varying();
  Shape result = a;
  result.alignment = std::min(a.alignment, b.alignment);
  return result;
}

Shape divideUniform(const Shape &a, const Shape &b) {
  const bool fits = a.isUniform() || (a.isAffine() && a.carryFree() && b.alignment >= a.alignment);
  return fits && b.isUniform() ? Shape::uniform() : Shape::varying();
}

Shape remainderUniform(const Shape &a, const Shape &b) { return orUniform(a, b); }

Shape andShape(const Shape &a, std::uint64_t mask, unsigned width) {
  if (a.isUniform()) {
    unsigned zeros = mask ? static_cast<unsigned>(std::countr_zero(mask)) : 64u;
    return Shape::uniform(std::max<unsigned>(a.alignment, zeros));
  }
  if (!a.carryFree() || a.isSame()) return Shape::varying();
  Shape result = onLowBits(a, width, [&](std::uint64_t low) { return low & mask; });
  // Of u nothing is left where the mask has the low bits only.
  result.alignment =
      fitsLowBits(mask, a) ? 64 : std::max(a.alignment, static_cast<std::uint8_t>(std::countr_zero(mask)));
  return result;
}

Shape orShape(const Shape &a, std::uint64_t bits, unsigned width) {
  if (a.isUniform())
    return Shape::uniform(bits ? std::min<unsigned>(a.alignment, std::countr_zero(bits)) : a.alignment);
  if (!a.carryFree() || a.isSame() || !fitsLowBits(bits, a)) return Shape::varying();
  return onLowBits(a, width, [&](std::uint64_t low) { return low | bits; });
}

Shape xorShape(const Shape &a, std::uint64_t bits, unsigned width) {
  if (a.isUniform()) return orShape(a, bits, width);
  if (!a.carryFree() || a.isSame() || !fitsLowBits(bits, a)) return Shape::varying();
  return onLowBits(a, width, [&](std::uint64_t low) { return low ^ bits; });
}

Shape shiftRightShape(const Shape &a, unsigned amount) {
  if (a.isUniform()) return Shape::uniform(a.alignment > amount ? a.alignment - amount : 0);
  if (!a.carryFree() || a.isSame()) return Shape::varying();
  Shape result = a;  // beyond the granule nothing is left of the offsets: all lanes agree
  result.alignment = static_cast<std::uint8_t>(a.alignment > amount ? a.alignment - amount : 0);
  for (std::int64_t &offset : result.offsets) offset >>= amount;
  return result;
}

Shape meetShapes(const Shape &a, const Shape &b, unsigned segmentLanes) {
  if (a.kind == Shape::Kind::undefined) return b;
  if (b.kind == Shape::Kind::undefined) return a;
  if (a.isVarying() || b.isVarying() || a.terms != b.terms) return Shape::varying();
  if (a.segmentLanes != b.segmentLanes || (a.isAffine() && a.offsets != b.offsets && segmentLanes)) {
    const unsigned lanes = std::max<unsigned>({a.segmentLanes, b.segmentLanes, segmentLanes});
    return meetShapes(segmented(a, lanes), segmented(b, lanes), lanes);
  }
  if (a.offsets != b.offsets) return Shape::varying();
  Shape result = a;
  result.alignment = std::min(a.alignment, b.alignment);
  return result;
}

}  // namespace strata::simt
