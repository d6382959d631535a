#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Of a module with 200 kernels only those are compiled that are launched, each once.
#   many_kernels_test.sh PROGRAM
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STRATA_DEVICE=cpu STRATA_CACHE_DIR=$work/cache STRATA_LOG=debug

fail() {
  echo "many_kernels_test: $*" >&2
  exit 1
}
# Runs the program with these kernels, of which so many are to be compiled.
run() { # COUNT KERNEL…
  local expected=$1 compiled
  shift
  "$program" "$@" >"$work/out" 2>"$work/log" || fail "fails with kernels $*: $(tail -n 3 "$work/log")"
  compiled=$(grep -c 'compiled ' "$work/log" || true)
  [[ $compiled == "$expected" ]] || fail "$compiled kernels were compiled, not $expected, of: $*"
}
run 0
run 3 7 199 42
run 1 42 0 199
run 0 0 7 42 199
[[ $(find "$work/cache" -name '*.image' | wc -l) == 5 ]] || fail "not a module and four kernels in the cache"
echo PASSED
