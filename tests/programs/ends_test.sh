#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How processes end in the middle of work, and what may not end them. usage: ends_test.sh PROGRAM CASE
set -uo pipefail

program=$1
case=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STRATA_DEVICE=cpu
ulimit -c 0

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Runs the program with an empty cache and expects its status.
ends() {
  local wanted=$1 status=0
  shift
  rm -rf "$work/cache"
  STRATA_CACHE_DIR=$work/cache timeout 60 "$program" "$@" >"$work/out" 2>&1 || status=$?
  ((status == wanted)) || fail "$*: status $status, not $wanted: $(head -c 2000 "$work/out")"
}

case $case in
  compiling)
    RANDOM=${SEED:-$$}
    echo "seed ${SEED:-$$}"
    for _ in {1..4}; do
      ends 0 exit $((RANDOM * 3))
      ends 0 fork $((RANDOM * 3))
    done
    ;;
  device_heap)
    ends 0 overrun 100 1000000   # a small piece, far
    ends 0 overrun 10000 10001   # a large one, by a byte
    ends 0 overrun 10000 10000 right
    ends 0 overrun 100 100 right
    ends 0 overrun 40 200 right  # what it harms is device code's
    ;;
  signals)
    ends 139 sent
    ends 0 handled
    ;;
  no_reader)
    ends 0 log
    ends 0 assert
    ;;
  tables)  # nothing of the driver's or the code generator's is destroyed at exit
    for library in strata/libcuda.so.1 libstrata_codegen.so; do
      nm -D "$(dirname "$program")/../lib64/$library" >"$work/names" || fail "nm $library"
      if grep -wE '__cxa_atexit|atexit' "$work/names"; then fail "$library registers destructors"; fi
    done
    ;;
  *) fail "unknown case $case" ;;
esac
