// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/conditions.h"

#include <llvm/IR/PatternMatch.h>

namespace strata::simt {

llvm::SmallVector<Term, 2> conjuncts(Term term) {
  using namespace llvm::PatternMatch;
  llvm::Value *a = nullptr, *b = nullptr;
  const bool inverted = term.getInt();
  if (match(term.getPointer(), m_Not(m_Value(a)))) return {Term(a, !inverted)};
  const bool both = inverted ? match(term.getPointer(), m_LogicalOr(m_Value(a), m_Value(b)))
                             : match(term.getPointer(), m_LogicalAnd(m_Value(a), m_Value(b)));
  if (!both) return {};
  return {Term(a, inverted), Term(b, inverted)};
}

}  // namespace strata::simt
