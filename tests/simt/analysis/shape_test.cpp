// SPDX-License-Identifier: Apache-2.0
// The algebra of shapes against lane-wise evaluation. A pool of values, each 32 lanes with a shape that describes them,
// grows by random operations on random members; what a shape says of a result must hold for the lanes that the
// operation gives:
//
//   lane l has u + offsets[l] + sum(scale * correction(extension)[l])    for one u, or one for each segment, that is a
//                                                                        multiple of 2^alignment
//
// so that operations are tried on the shapes that operations make. Values wrap. STRATA_TEST_SEED repeats a run.
#include "simt/analysis/shape.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>

namespace strata::simt {
namespace {

using Lanes = std::array<std::uint64_t, kLanes>;

struct Value {
  unsigned width;
  Shape shape;
  Lanes lanes;  // modulo 2^width
};

std::uint64_t low(std::uint64_t value, unsigned width) {
  return width >= 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

std::int64_t asSigned(std::uint64_t value, unsigned width) {
  return width >= 64 ? static_cast<std::int64_t>(value)
                     : static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}

constexpr unsigned kExtensions = 3;

class Algebra {
public:
  Algebra(std::uint64_t seed, unsigned segmentLanes) : random_(seed), segmentLanes_(segmentLanes) {
    for (Lanes &correction : corrections_)
      for (std::uint64_t &lane : correction) lane = (pick(3) - 1) << 32;  // an extension of 32 bits is off by this
  }

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  // One round: a few values as analyses start with, then operations.
  void round() {
    static const unsigned widths[] = {8, 16, 32, 64};
    width_ = widths[pick(4)];
    pool_.clear();
    for (int i = 0; i < 6; ++i) pool_.push_back(start());
    for (const Value &value : pool_) ASSERT_EQ(complaint(value), "") << "a value to start with";
    for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) operate();
  }

  // Of how many results of each operation the shape is more than "varying".
  const std::map<std::string, std::pair<int, int>> &known() const { return known_; }

private:
  const Value &any() { return pool_[pick(pool_.size())]; }

  std::uint64_t number() {
    switch (pick(4)) {
      case 0: return pick(40);
      case 1: return low(~std::uint64_t{0} - pick(40), width_);
      case 2: return low((std::uint64_t{1} << (width_ - 1)) + pick(40) - 20, width_);
      default: return low(random_(), width_);
    }
  }

  Value start() {
    Value value{width_, Shape::varying(), {}};
    if (pick(8) == 0) {
      for (std::uint64_t &lane : value.lanes) lane = number();
      return value;
    }
    const unsigned alignment = static_cast<unsigned>(pick(3) ? pick(8) : pick(65));
    LaneOffsets offsets{};
    const std::uint64_t stride = pick(2) ? pick(5) : number(), kind = pick(5);
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint64_t offset = kind == 0   ? 0
                                   : kind == 1 ? number()
                                   : kind == 2 ? pick(std::uint64_t{1} << std::min(alignment, width_ - 1))
                                               : stride * l;
      offsets[l] = asSigned(low(offset, width_), width_);
    }
    value.shape = Shape::affine(offsets, alignment);
    if (segmentLanes_ && pick(3) == 0) {
      for (unsigned l = 0; l < kLanes; ++l) value.shape.offsets[l] = offsets[l % segmentLanes_];
      value.shape.segmentLanes = static_cast<std::uint8_t>(segmentLanes_);
    }
    if (width_ == 64 && pick(3) == 0)
      value.shape.terms = {
          {extension(static_cast<unsigned>(pick(kExtensions))), static_cast<std::int64_t>(1 + pick(8))}};
    std::uint64_t u = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (l == 0 || (value.shape.segmentLanes && l % segmentLanes_ == 0))
        u = value.shape.alignment >= 64 ? 0 : number() >> value.shape.alignment << value.shape.alignment;
      value.lanes[l] = low(u + static_cast<std::uint64_t>(value.shape.offsets[l]) + corrected(value.shape, l), width_);
    }
    return value;
  }

  // Never looked into.
  static const llvm::Instruction *extension(unsigned i) {
    static const char places[kExtensions] = {};
    return reinterpret_cast<const llvm::Instruction *>(&places[i]);
  }
  std::uint64_t corrected(const Shape &shape, unsigned lane) const {
    std::uint64_t sum = 0;
    for (const ExtensionTerm &term : shape.terms)
      for (unsigned i = 0; i < kExtensions; ++i)
        if (term.extension == extension(i)) sum += static_cast<std::uint64_t>(term.scale) * corrections_[i][lane];
    return sum;
  }

  // What is wrong with a value's shape, if anything is.
  std::string complaint(const Value &value) const {
    const Shape &shape = value.shape;
    if (shape.isVarying()) return "";
    if (shape.kind == Shape::Kind::undefined) return "it is undefined";
    std::uint64_t u = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      const auto offset = static_cast<std::uint64_t>(shape.offsets[l]);
      const std::uint64_t here = low(value.lanes[l] - offset - corrected(shape, l), value.width);
      const bool starts = l == 0 || (shape.segmentLanes && l % shape.segmentLanes == 0);
      if (starts) u = here;
      const std::string where = "lane " + std::to_string(l) + " has " + std::to_string(value.lanes[l]) + ", offset " +
                                std::to_string(shape.offsets[l]);
      if (here != u) return where + ", and u is " + std::to_string(u);
      const std::uint64_t granule = shape.alignment >= value.width ? 0 : std::uint64_t{1} << shape.alignment;
      if (granule ? u % granule : u) return where + ": u is no multiple of 2^" + std::to_string(shape.alignment);
    }
    return "";
  }

  void check(const std::string &operation, const Shape &shape, const Value &of,
             const std::function<std::uint64_t(unsigned)> &lane) {
    Value result{of.width, shape, {}};
    for (unsigned l = 0; l < kLanes; ++l) result.lanes[l] = low(lane(l), result.width);
    check(operation, result);
  }
  void check(const std::string &operation, const Value &result) {
    auto &[some, all] = known_[operation];
    some += !result.shape.isVarying();
    ++all;
    EXPECT_EQ(complaint(result), "") << operation << " of " << result.width << " bits";
    if (result.width == width_ && (!result.shape.isVarying() || pick(8) == 0)) pool_.push_back(result);
  }

  void operate() {
    const Value a = any(), b = any();
    const std::uint64_t constant = pick(3) ? number() : low((std::uint64_t{1} << pick(width_)) - 1, width_);
    const unsigned amount = static_cast<unsigned>(pick(width_));
    switch (pick(15)) {
      case 0:
        return check("add", addShapes(a.shape, b.shape, width_), a,
                     [&](unsigned l) { return a.lanes[l] + b.lanes[l]; });
      case 1:
        return check("sub", subShapes(a.shape, b.shape, width_), a,
                     [&](unsigned l) { return a.lanes[l] - b.lanes[l]; });
      case 2: {
        const std::int64_t factor = asSigned(constant, width_);
        return check("scale", scaleShape(a.shape, factor, width_), a,
                     [&](unsigned l) { return a.lanes[l] * static_cast<std::uint64_t>(factor); });
      }
      case 3: {
        static const unsigned narrower[] = {1, 8, 16, 32, 48};
        Value result{narrower[pick(5)], {}, a.lanes};
        if (result.width > width_) return;
        result.shape = truncShape(a.shape, result.width);
        for (std::uint64_t &lane : result.lanes) lane = low(lane, result.width);
        return check("trunc", result);
      }
      case 4:
        return check("mul of uniforms", mulUniform(a.shape, b.shape), a,
                     [&](unsigned l) { return a.lanes[l] * b.lanes[l]; });
      case 5:
        return check("and with a uniform", andUniform(a.shape, b.shape), a,
                     [&](unsigned l) { return a.lanes[l] & b.lanes[l]; });
      case 6:
        return check("or with a uniform", orUniform(a.shape, b.shape), a,
                     [&](unsigned l) { return a.lanes[l] | b.lanes[l]; });
      case 7:
        return check("xor with a uniform", orUniform(a.shape, b.shape), a,
                     [&](unsigned l) { return a.lanes[l] ^ b.lanes[l]; });
      case 8:
      case 9: {
        for (std::uint64_t lane : b.lanes)
          if (!lane) return;
        if (pick(2))
          return check("udiv by a uniform", divideUniform(a.shape, b.shape), a,
                       [&](unsigned l) { return a.lanes[l] / b.lanes[l]; });
        return check("urem by a uniform", remainderUniform(a.shape, b.shape), a,
                     [&](unsigned l) { return a.lanes[l] % b.lanes[l]; });
      }
      case 10:
        return check("and", andShape(a.shape, constant, width_), a, [&](unsigned l) { return a.lanes[l] & constant; });
      case 11:
        return check("or", orShape(a.shape, constant, width_), a, [&](unsigned l) { return a.lanes[l] | constant; });
      case 12:
        return check("xor", xorShape(a.shape, constant, width_), a, [&](unsigned l) { return a.lanes[l] ^ constant; });
      case 13:
        return check("lshr", shiftRightShape(a.shape, amount), a, [&](unsigned l) { return a.lanes[l] >> amount; });
      default: {  // it describes whichever of the two is taken
        const Shape met = meetShapes(a.shape, b.shape, segmentLanes_);
        check("meet", met, a, [&](unsigned l) { return a.lanes[l]; });
        return check("meet", met, b, [&](unsigned l) { return b.lanes[l]; });
      }
    }
  }

  std::mt19937_64 random_;
  const unsigned segmentLanes_;
  unsigned width_ = 0;
  std::array<Lanes, kExtensions> corrections_;
  std::vector<Value> pool_;
  std::map<std::string, std::pair<int, int>> known_;
};

class ShapeAlgebra : public ::testing::TestWithParam<unsigned> {};

TEST_P(ShapeAlgebra, DescribesWhatTheLanesHave) {
  const char *given = std::getenv("STRATA_TEST_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 0) : std::random_device()();
  std::cout << "STRATA_TEST_SEED=" << seed << "\n";
  Algebra algebra(seed, GetParam());
  for (int i = 0; i < 4000 && !HasFailure(); ++i) algebra.round();
  for (const auto &[operation, counts] : algebra.known()) {
    std::cout << operation << ": " << counts.first << " of " << counts.second << " more than varying\n";
    EXPECT_GT(counts.first * 50, counts.second) << operation << " is hardly tested";
  }
  EXPECT_EQ(algebra.known().size(), 15u);
}

INSTANTIATE_TEST_SUITE_P(SegmentLanes, ShapeAlgebra, ::testing::Values(0u, 8u, 16u));

// What the tests of a shape say, by the lanes' offsets.
TEST(Shape, SaysWhatItsOffsetsAre) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const unsigned alignment = random() % 65;
    const std::int64_t stride = static_cast<std::int64_t>(random() % 9) - 2;
    LaneOffsets offsets;
    for (unsigned l = 0; l < kLanes; ++l) offsets[l] = stride * l;
    const Shape shape = Shape::affine(offsets, alignment);
    EXPECT_TRUE(shape.isStrided(stride));
    EXPECT_FALSE(shape.isStrided(stride + 1));
    EXPECT_EQ(shape.isUniform(), stride == 0);
    EXPECT_EQ(shape.minOffset(), std::min<std::int64_t>(0, stride * 31));
    EXPECT_EQ(shape.maxOffset(), std::max<std::int64_t>(0, stride * 31));
    const bool fits =
        stride >= 0 && (alignment >= 64 || static_cast<std::uint64_t>(stride) * 31 < std::uint64_t{1} << alignment);
    EXPECT_EQ(shape.carryFree(), fits) << "stride " << stride << ", alignment " << alignment;
  }
}

}  // namespace
}  // namespace strata::simt
