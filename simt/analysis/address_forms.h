// SPDX-License-Identifier: Apache-2.0
// The scalars u of affine addresses (shape.h) as sums, which say how far apart the accesses of a pattern are:
//
//   %i = sub i32 (2 * %tid), (and %tid, 3)      u: 8 * (tid's u), as that of `and %tid, 3` is 0
//   %a = getelementptr i32, %base, sext %i      base + 32 * sext(tid's u)
//   %b = getelementptr i32, %base, sext (%i + 4)    16 more: %i + 4 does not carry out of the bits below u's multiple
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simt/analysis/uniformity.h"

namespace strata::simt {

class AddressForms {
public:
  explicit AddressForms(const Uniformity &uniformity) : uniformity_(uniformity) {}

  // Bytes from u of `a` to u of `b`, both affine, if that is a constant.
  std::optional<std::int64_t> distance(const llvm::Value *a, const llvm::Value *b);

private:
  using Terms = std::map<unsigned, std::int64_t>;  // number of a leaf, factor
  struct Form {
    Terms terms;
    std::int64_t constant = 0;
  };
  struct Leaf {
    const llvm::Value *value = nullptr;  // or null: the extension of a narrow sum
    bool isSigned = false;
    Terms narrow;
    std::uint8_t alignment = 0;
    bool operator==(const Leaf &) const = default;
  };

  Form form(const llvm::Value *value, unsigned depth);
  Form instructionForm(const llvm::Instruction &i, unsigned depth);
  Form extensionForm(const llvm::CastInst &cast, unsigned depth);
  Form leaf(const Leaf &leaf);
  Form leaf(const llvm::Value *value);
  unsigned alignment(const Terms &terms) const;
  bool isSmall(const Terms &terms, unsigned width) const;

  const Uniformity &uniformity_;
  std::vector<Leaf> leaves_;
  std::unordered_map<const llvm::Value *, Form> known_;
};

}  // namespace strata::simt
