#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nvcc from the command line: what it writes, where, and what it says. usage: nvcc_test.sh PREFIX CASE
set -euo pipefail

prefix=$1
nvcc=$prefix/bin/nvcc
source_folder=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export STRATA_DEVICE=cpu STRATA_CACHE_DIR=$work/cache
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS LIBRARY_PATH CPATH CUDA_HOME CUDA_PATH  # whatever this machine has

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "$1 lacks '$2': $(head -c 2000 "$1")"; }
refuses() {
  local text=$1
  shift
  "$nvcc" "$@" >out 2>&1 && fail "accepted: $*"
  contains out "$text"
}

cat >k.cu <<'EOF'
#include <cstdio>
#include "k.h"
__global__ void k(int *p) { p[threadIdx.x] = N * threadIdx.x; }
int run() {
  int *p, h[32];
  if (cudaMalloc(&p, sizeof h)) return 1;
  k<<<1, 32>>>(p);
  if (cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost)) return 2;
  for (int i = 0; i < 32; ++i) if (h[i] != N * i) return 3;
  return 0;
}
EOF
echo '#define N 3' >k.h
echo 'int run(); int main() { return run(); }' >main.cpp

case_version() {
  "$nvcc" --version >out
  # How CMake, autoconf and many Makefiles find out.
  grep -qE 'nvcc: NVIDIA \(R\) Cuda compiler driver' out || fail "no vendor line"
  grep -qE 'release ([0-9]+)\.([0-9]+), V([0-9]+)\.([0-9]+)\.([0-9]+)' out || fail "no release"
  contains out Strata
  "$nvcc" --help >out
  contains out --generate-code
  "$nvcc" --list-gpu-code >out
  contains out sm_90
}

made() {
  local file
  for file in "$@"; do [[ -s $file ]] || fail "$file was not made"; done
}

case_outputs() {
  "$nvcc" -c k.cu main.cpp
  made k.o main.o
  "$nvcc" -ptx -arch=sm_90a k.cu
  contains k.ptx '.target sm_90a'
  "$nvcc" -ptx k.cu -maxrregcount=40 -o - >out
  contains out '.visible .entry'
  contains out '.maxnreg 40'
  "$nvcc" -fatbin -gencode arch=compute_70,code=sm_70 -gencode arch=compute_90,code=sm_90 k.cu -o two.fatbin
  "$nvcc" -fatbin k.ptx -o from_ptx.fatbin
  made two.fatbin from_ptx.fatbin
  "$nvcc" -E k.cu >out
  contains out 'int run()'
  mkdir objects
  "$nvcc" -c -odir objects k.cu
  "$nvcc" -x cu -c main.cpp -o main2.o
  mkdir 'with space'
  cp k.cu k.h 'with space'
  "$nvcc" -c 'with space/k.cu' -o 'with space/k.o'
  mkdir kept
  "$nvcc" -c --keep --keep-dir kept k.cu
  made objects/k.o main2.o 'with space/k.o' kept/k.fatbin kept/k.sm_75.ptx
  mkdir temporary
  TMPDIR=$work/temporary "$nvcc" --dryrun k.cu main.cpp -o never 2>out
  [[ ! -e never && -z $(ls temporary) ]] || fail "--dryrun made something"
  contains out '#$ LIBRARIES='
  TMPDIR=$work/missing "$nvcc" -c k.cu
}

case_dependencies() {
  "$nvcc" -M k.cu >out
  contains out 'k.o:'
  contains out 'k.h'
  contains out cuda_runtime.h
  "$nvcc" -MM k.cu -MT target -MF rule.d
  [[ $(tr -d '\\\n' <rule.d | tr -s ' ') == 'target: k.cu k.h' ]] || fail "-MM: $(cat rule.d)"
  "$nvcc" -MMD -MP -c k.cu -o sub.o
  contains sub.d 'sub.o: k.cu k.h'
  contains sub.d 'k.h:'
  "$nvcc" -MD -MT 'dir/x.o' -MF x.d -c k.cu
  contains x.d 'dir/x.o:'
}

case_errors() {
  refuses "Unknown option '--no-such-thing'" --no-such-thing k.cu
  refuses "Unknown option '-Wall'" -Wall k.cu
  refuses "Unsupported gpu architecture 'sm_12'" -arch=sm_12 k.cu
  refuses "'--cubin' is not supported" -cubin k.cu
  refuses 'No input files' -O2
  refuses 'missing.cu' -c missing.cu
  echo 'error here;' >bad.cu
  mkdir temporary
  TMPDIR=$work/temporary refuses 'bad.cu:1:1: error' -c bad.cu -o bad.o
  [[ $(grep -c 'error:' out) == 1 ]] || fail "not one error, said once: $(cat out)"
  [[ ! -e bad.o && -z $(ls temporary) ]] || fail "files left"
}

case_link() {
  "$nvcc" k.cu main.cpp -o direct
  ./direct
  "$nvcc" -c k.cu main.cpp
  "$nvcc" k.o main.o -o objects
  ./objects
  "$nvcc" -lib k.cu -o libk.a
  "$nvcc" main.cpp -L. -lk -o archive
  ./archive
  "$nvcc" -shared -Xcompiler -fPIC k.cu -o libkk.so
  "$nvcc" main.cpp -L. -lkk -Xlinker -rpath,"$work" -o library
  ./library
  "$nvcc" --cudart shared k.cu main.cpp -o shared
  ./shared
  ldd shared >out
  contains out libcudart.so
  c++ main.o k.o -o host "$prefix/lib64/libcudart_static.a" -ldl -lpthread -lrt
  ./host
  "$nvcc" -Xcompiler -fopenmp,-Wall -std=c++20 -O3 k.cu main.cpp -o openmp
  ./openmp
  "$nvcc" -run k.cu main.cpp -o now
  "$nvcc" --default-stream per-thread k.cu main.cpp -o per_thread
  ./per_thread
}

# Separate compilation in each of the ways in which build systems spell it.
case_device_link() {
  cp "$source_folder"/../programs/{check.h,separate_compilation*} .
  local a=separate_compilation b=separate_compilation_other
  "$nvcc" -dc $a.cu $b.cu
  "$nvcc" $a.o $b.o -o implicit
  ./implicit
  "$nvcc" -dlink $a.o $b.o -o linked.o
  c++ $a.o $b.o linked.o -o explicit "$prefix/lib64/libcudart_static.a" -ldl -lpthread -lrt
  ./explicit
  "$nvcc" $a.o $b.o linked.o -o again
  ./again
  "$nvcc" -lib $b.o -o libb.a
  "$nvcc" $a.o -L. -lb -o from_archive
  ./from_archive
  "$nvcc" -rdc=true -gencode arch=compute_70,code=sm_70 -gencode arch=compute_90,code=sm_90 $a.cu $b.cu -o two
  ./two
}

case_cmake() {
  local sdk
  PATH=$prefix/bin:$PATH cmake -S "$source_folder/cmake_project" -B build -DCMAKE_CUDA_COMPILER="$nvcc" >out 2>&1 || fail "$(tail -n 30 out)"
  contains out "toolkit 13.0"
  cmake --build build >out 2>&1 || fail "$(tail -n 30 out)"
  for program in whole separate resolved; do "build/$program" || fail "$program"; done
  sdk=$(grep -rlE '/usr/local/cuda' build --include='*.make' --include='*.d' --include='*.txt' || true)
  [[ -z $sdk ]] || fail "another toolkit is mentioned in $sdk"
}

# An installed toolkit of NVIDIA's is not even looked at.
case_isolation() {
  strace -f -o trace true || { echo "processes cannot be traced here" && exit 77; }
  strace -f -qq -e trace=%file -o trace "$nvcc" k.cu main.cpp -o program
  if grep -E '"/usr/local/cuda|"/opt/cuda' trace | grep -v ' = -1 ' >out; then fail "$(head -n 3 out)"; fi
}

"case_$2"
