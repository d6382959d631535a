#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# STRATA_PASSES: programs that check their own results run with each optional pass left out, and with all of them; the IR is
# verified after each pass that is left. usage: left_out_test.sh PREFIX PROGRAM...
set -euo pipefail
prefix=$1
shift
out=$(mktemp)
trap 'rm -f "$out"' EXIT
export STRATA_DEVICE=cpu STRATA_CACHE_SIZE=0

fail() {
  echo "FAILED: $*: $(head -c 2000 "$out")" >&2
  exit 1
}
refuses() {
  if STRATA_PASSES=$1 "$2" >"$out" 2>&1; then fail "STRATA_PASSES=$1 $2 is accepted"; fi
  grep -qF -- "$3" "$out" || fail "STRATA_PASSES=$1: no '$3'"
}
refuses sink-loads "$1" "STRATA_PASSES: there is no 'sink-loads'; it may hold verify, -"
refuses -sink-loads,-frobnicate "$1" "STRATA_PASSES: there is no '-frobnicate'"
refuses -vectorize "$1" "STRATA_PASSES: code needs the pass vectorize; it may hold verify, -"

if STRATA_PASSES=- "$prefix/bin/strata" inspect "$1" --stage passes >"$out" 2>&1; then fail "'-' is accepted"; fi
names=$(sed -n 's/.*it may hold verify, //p' "$out" | tr -d ' ')
[[ $(tr ',' '\n' <<<"$names" | wc -l) -ge 15 ]] || fail "too few optional passes"
for without in ${names//,/ } "$names"; do
  STRATA_PASSES=$without "$prefix/bin/strata" inspect "$1" --stage passes >"$out" || fail "$without"
  [[ $(grep 'left out$' "$out" | sed 's/^/-/; s/ .*//' | sort -u | paste -sd,) == "$without" ]] || fail "$without ran"
  for program; do
    STRATA_PASSES=$without,verify "$program" >"$out" 2>&1 || fail "$program without ${without//-/}"
  done
done
