#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# headers_test.sh BUILD CASE: headers/CASE.cu compiles for old and new targets without unresolved functions, and
# runs on the CPU device to its own check.
set -eu
build=$1 case=$2
source=$(dirname "$0")/headers/$case.cu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for arch in sm_60 sm_75 sm_90a; do
  [[ $case = groups && $arch = sm_60 ]] && continue # nanosleep and friends: barriers of lanes need sm_70
  "$build/bin/nvcc" -ptx -arch=$arch -o "$out/$case.ptx" "$source"
  if grep -E '^\.extern \.func' "$out/$case.ptx" | grep -vE '\b(vprintf|malloc|free|__assertfail)\b'; then
    echo "unresolved functions for $arch" >&2
    exit 1
  fi
done
"$build/bin/nvcc" -arch=sm_90 -o "$out/$case" "$source"
STRATA_DEVICE=cpu timeout 120 "$out/$case"
