#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What starting a program costs, in turns with a plain C program, each the median of 11 runs: examples/01_vector_add and one
# kernel of a module of 200 with a fresh (cold) and with a filled (warm) machine-code cache.
#   start.sh VECTOR_ADD MANY_KERNELS PLAIN
set -eu
vector_add=$1 many_kernels=$2 plain=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STRATA_CACHE_DIR=$work/cache

measure() { # NAME COMMAND…: appends the wall time of one run, in microseconds
  local name=$1 before after
  shift
  before=$(date +%s%N)
  "$@" >/dev/null
  after=$(date +%s%N)
  echo $(((after - before) / 1000)) >>"$work/$name"
}
report() { # NAME TEXT
  printf '%-34s %10.1f ms\n' "$2" "$(sort -n "$work/$1" | awk 'NR == 6 { print $1 / 1000 }')"
}

for _ in 1 2 3 4 5 6 7 8 9 10 11; do
  rm -rf "$STRATA_CACHE_DIR"
  measure cold "$vector_add" 1000
  measure warm "$vector_add" 1000
  measure many_cold "$many_kernels" 42
  measure many_warm "$many_kernels" 42
  measure plain "$plain"
done
report cold 'cold start'
report warm 'warm start'
report many_cold 'cold start, one kernel of 200'
report many_warm 'warm start, one kernel of 200'
report plain 'plain C program'
