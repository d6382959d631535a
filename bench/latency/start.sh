#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cold and warm start of a one-kernel program: medians of 11 runs of examples/01_vector_add with a fresh
# and with a filled machine-code cache, and of a plain C program for comparison.
#   start.sh PROGRAM PLAIN
set -eu
program=$1 plain=$2
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT

microseconds() { # COMMAND…: wall time of one run
  local before after
  before=$(date +%s%N)
  "$@" >/dev/null
  after=$(date +%s%N)
  echo $(((after - before) / 1000))
}
median() { sort -n | sed -n 6p; }

export STRATA_CACHE_DIR=$cache
for _ in 1 2 3 4 5 6 7 8 9 10 11; do rm -rf "${cache:?}"/*; microseconds "$program" 1000; done | median | sed 's/$/ us cold start/'
for _ in 1 2 3 4 5 6 7 8 9 10 11; do microseconds "$program" 1000; done | median | sed 's/$/ us warm start/'
for _ in 1 2 3 4 5 6 7 8 9 10 11; do microseconds "$plain"; done | median | sed 's/$/ us plain C program/'
