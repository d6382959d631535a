#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The checks of the house can fail: each offence is seen in a small tree that is right but for it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# A tree of one file a layer; `$1` is changed to hold `$2`.
tree() {
  rm -rf "$work/tree"
  mkdir -p "$work"/tree/{base,ptx,simt/exec,driver,cuda,runtime,tests,build}
  cd "$work/tree"
  touch build/CMakeCache.txt base/log.h ptx/ptx.h simt/exec/cache.h driver/stream.h cuda/driver.h tests/check.h
  echo '#include "never/looked/at.h"' | tee build/made.cpp >tests/some_test.cpp
  echo '#include "base/log.h"' >ptx/parser.cpp
  echo '#include "cuda/driver.h"' >runtime/launch.cpp
  printf 'int f() {  return 1;}\n' >build/unlike.cpp
  cp "$here/../../.clang-format" .
  [[ $# == 0 ]] || { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }
}
sees() {
  local message=$1
  shift
  if "$@" . >out 2>&1; then fail "nothing seen, but it has '$message'"; fi
  grep -qF -- "$message" out || fail "no '$message' in: $(cat out)"
}

case $1 in
  layers)
    tree && "$here/layers.py" . >out 2>&1 || fail "the tree is right: $(cat out)"
    check() { tree "$1" "$2" && sees "$3" "$here/layers.py"; }
    check ptx/bad.cpp '#include "driver/stream.h"' 'ptx/bad.cpp:1: ptx may not include driver ("driver/stream.h")'
    check runtime/bad.cpp ' # include "driver/stream.h"' 'runtime may not include driver'
    check cuda/bad.h '#include "runtime/launch.cpp"' 'cuda may not include runtime'
    check driver/bad.h '#include "tests/check.h"' '"tests/check.h" belongs to no layer'
    check simt/exec/bad.cpp '#include <llvm/IR/Module.h>' 'executor uses no LLVM'
    check base/bad.cpp '#include "nowhere.h"' 'no file "nowhere.h" in the tree'
    check blas/gemm.cpp 'int x;' 'blas/gemm.cpp: belongs to no layer'
    rm -rf "$work/tree" && mkdir "$work/tree" && cd "$work/tree" && sees '0 files' "$here/layers.py"
    ;;
  format)
    tree && "$here/format.sh" . >out 2>&1 || fail "the tree is right: $(cat out)"
    tree ptx/bad.cpp 'int f() {  return 1;}' && sees 'ptx/bad.cpp' "$here/format.sh"
    tree deep/er/bad.h 'int   x;' && sees 'deep/er/bad.h' "$here/format.sh"
    rm -rf "$work/tree" && mkdir "$work/tree" && cd "$work/tree" && sees 'no sources' "$here/format.sh"
    ;;
  *) fail "unknown case $1" ;;
esac
