#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is installed names no path of the machine that built it, is hardened, and works wherever it is moved.
# usage: install_test.sh BUILD SOURCE LLVM_BIN
set -euo pipefail

build=$1
source=$2
readelf=$3/llvm-readelf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS STRATA_HOME LD_LIBRARY_PATH
export STRATA_DEVICE=cpu STRATA_CACHE_DIR=$work/cache

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$work/first" >/dev/null

# Paths of the build. (Sanitizers keep them.)
sanitized=no
grep -q '^STRATA_SANITIZE:STRING=.' "$build/CMakeCache.txt" && sanitized=yes
if [[ $sanitized == no ]]; then
  for file in $(grep -rlaF -e "$build" -e "$source/" first || true); do
    fail "$file names a path of the build: $(grep -aoE -m1 "[[:print:]]{0,40}($build|$source/)[[:print:]]{0,60}" "$file" | head -n 1)"
  done
fi

# Every program and library.
count=0
while read -r file; do
  [[ $(head -c 4 "$file" | tail -c 3) == ELF ]] || continue
  count=$((count + 1))
  "$readelf" -hldW "$file" >elf
  has() { grep -qE "$1" elf || fail "$file: no $1"; }
  has 'Type: +DYN'
  has 'GNU_RELRO'
  has 'FLAGS_1.* NOW'
  has 'GNU_STACK.* RW '
  if grep -E 'LOAD.* (RWE|WE)' elf; then fail "$file: a segment is written and executed"; fi
  if grep -E 'R(UN)?PATH' elf | grep -vF '[$ORIGIN]'; then fail "$file: searches other folders"; fi
  if grep -q TEXTREL elf; then fail "$file: relocates its code"; fi
  # The little one by the name of libcudart.so.12 has no code.
  [[ $file != *.so.12 && $sanitized == no ]] || continue
  "$readelf" --dyn-syms -W "$file" >symbols
  grep -q '__stack_chk_fail' symbols || fail "$file: no stack protector"
  case $file in  # the others call nothing that has a fortified form
    */bin/* | */libcuda.so.1 | */libstrata_codegen.so)
      grep -qE '__[a-z]+_chk(@|$)' symbols || fail "$file: no fortified function" ;;
  esac
done < <(find first -type f \( -perm -u+x -o -name '*.so*' \))
((count >= 7)) || fail "only $count programs and libraries"

cat >k.cu <<'EOF'
#include <cstdio>
__global__ void k(int *p) { *p = 7; }
int main() {
  int *p, h = 0;
  if (cudaMalloc(&p, 4)) return 1;
  k<<<1, 1>>>(p);
  return cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost) || h != 7;
}
EOF
# runs PROGRAM FOLDER: with the driver of this folder
runs() {
  STRATA_LOG=info "./$1" >out 2>&1 || fail "$1: $(cat out)"
  grep -qF "driver: $work/$2/lib64/strata/libcuda.so.1" out || fail "$1 does not run with the driver of $2: $(cat out)"
}
first/bin/nvcc k.cu -o k
runs k first
first/bin/nvcc -c k.cu
c++ k.o first/lib64/libcudart_static.a -ldl -lpthread -lrt -o host # which records nothing itself
runs host first
mv first second
second/bin/nvcc k.cu -o k
runs k second
second/bin/nvcc --cudart shared k.cu -o k
runs k second
second/bin/nvcc k.o -o k
runs k second
second/bin/strata run k.cu
if ./host >out 2>&1; then fail "host runs without a driver"; fi
grep -qF 'no CPU driver found' out || fail "$(cat out)"
