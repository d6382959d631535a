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
  # From the standard input, which several passes read.
  mkdir input
  "$nvcc" -x cu - -o piped -arch=sm_80,cpu main.cpp <k.cu
  ./piped
  (cd input && "$nvcc" -I.. -dc -x cu - -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 <../k.cu)
  made input/stdin.o
  echo 'int main() { return missing; }' | refuses '<stdin>:1:21: error' -x cu -c -
  "$nvcc" -x c++ -E - <<<'int word;' >out
  contains out 'int word;'
  refuses "Don't know what to do with '-'" -c - <k.cu
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
  local arguments
  refuses "Unknown option '--no-such-thing'" --no-such-thing k.cu
  refuses "Unknown option '-Wall'" -Wall k.cu
  refuses "Unsupported gpu architecture 'sm_12'" -arch=sm_12 k.cu
  refuses "'--cubin' is not supported" -cubin k.cu
  refuses 'No input files' -O2
  refuses 'missing.cu' -c missing.cu
  # A result in the place of an input, under whatever name.
  cp k.cu same.cu
  ln -s same.cu other.cu
  touch same.fatbin
  for arguments in '-c same.cu -o same.cu' 'same.cu main.cpp -o ./main.cpp' '-ptx other.cu -o same.cu' "-M same.cu -o $work/same.cu" \
    '-c same.cu -MD -MF same.cu -o same.o' '-lib main.cpp same.cu -o other.cu' '-fatbin -x cu same.fatbin'; do
    refuses 'would overwrite it' $arguments
    cmp same.cu k.cu || fail "overwritten: $arguments"
  done
  echo 'error here;' >bad.cu
  mkdir temporary
  TMPDIR=$work/temporary refuses 'bad.cu:1:1: error' -c bad.cu -o bad.o
  [[ $(grep -c 'error:' out) == 1 ]] || fail "not one error, said once: $(cat out)"
  [[ ! -e bad.o && -z $(ls temporary) ]] || fail "files left"
}

# Products and sums in different blocks: fused as those in one, unless -fmad=false, a rounding is asked for, or the product
# comes from outside the loop.
case_fmad() {
  cat >apart.cu <<'EOF'
__global__ void around(float *p, int n) {
  float x = p[0], y = p[1];
  int i = 0;
  for (; i < n && x * x + y * y < 4; ++i) {
    float next = x * x - y * y + p[2];
    y = 2 * x * y + p[3];
    x = next;
  }
  p[4] = x + i;
}
EOF
  cat >apart_rounded.cu <<'EOF'
__global__ void rounded(float *p, int n) {
  float product = __fmul_rn(p[0], p[1]);
  if (n) p[2] = __fadd_rn(product, p[3]);
}
__global__ void hoisted(float *p, float a, float b, int n) {
  for (int i = 0; i < n; ++i) p[i] = p[i] + a * b;
}
EOF
  "$nvcc" -ptx apart.cu -o apart.ptx
  [[ $(grep -c 'fma\.rn' apart.ptx) == 3 ]] || fail "not fused: $(grep -E 'fma|mul|sub|add' apart.ptx)"
  grep -q 'sub\.f32' apart.ptx && fail "a difference is left"
  "$nvcc" -ptx -fmad=false apart.cu -o apart.ptx
  grep -q 'fma' apart.ptx && fail "fused though -fmad=false"
  "$nvcc" -ptx apart_rounded.cu -o apart.ptx
  grep -q 'fma' apart.ptx && fail "fused what is rounded, or what lies outside the loop"
  return 0
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

# What nvcc takes and clang does not, since nvcc's compilers read preprocessed text.
case_dialect() {
  cat >dialect.cu <<'EOF'
#include <cstdio>
#include "k.h"
#define UNROLL #pragma unroll
extern "C"__global__ void k(int *p) {
  int lane;
  asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
  int s = 0;
  UNROLL
  for (int i = 0; i < 8; i++) s += i;
  p[lane] = N * lane + s + MORE;
}
int main() {
  int *p, wrong = 0;
  cudaMallocManaged(&p, 128);
  k << <1, 32 >> > (p);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; i++) wrong += p[i] != N * i + 28 + MORE, p[i] = -1;
  k<<<dim3(1), {8, 4, 1} > > >(p);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; i++) wrong += p[i] != N * i + 28 + MORE;
  return wrong != 0;
}
EOF
  "$nvcc" -DMORE=5 -Xcompiler -DUNUSED=1 -MD -MF made dialect.cu -o program
  ./program
  contains made k.h
  "$nvcc" -DMORE=5 -rdc=true -std=c++17 -arch=sm_80 dialect.cu -o program
  ./program
  "$nvcc" -dryrun k.cu 2>out
  tail -n 1 out | grep -qF -- '-o "a.out"' || fail "no -o \"a.out\" in the last line: $(tail -n 1 out)"  # which configure scripts cut there
  "$nvcc" -DMORE=5 -dryrun -c dialect.cu 2>out
  contains out '#$ rewrite'
  ! grep -F 'rewritten.ii' out | grep -qF -- '-DMORE' || fail "macros are given twice"
  "$nvcc" -DMORE=5 -dryrun -c k.cu 2>out
  ! grep -qF rewrite out || fail "rewrites what needs none"
  sed 's/int s = 0/int s = zero/' dialect.cu >wrong.cu
  refuses "wrong.cu:7:" -DMORE=5 -c wrong.cu
}

# Headers come from the toolkit, the system and the program, never from another toolkit in a default folder.
case_foreign() {
  local name file missing=$prefix/lib64/strata/missing
  [ "$(find -L "$missing" -type f | wc -l)" -gt 150 ] || fail "headers are missing"
  mkdir -p foreign/nvtx3 given
  for name in cublas_v2.h cudnn.h nccl.h nvtx3/nvtx3.hpp cuda_runtime.h cuda_fp16.h cuda_awbarrier.h; do
    echo '#error foreign' >"foreign/$name"
  done
  export CPLUS_INCLUDE_PATH=$work/foreign C_INCLUDE_PATH=$work/foreign  # searched with the default folders
  "$nvcc" -c k.cu
  for name in cublas_v2.h cufft.h curand_kernel.h cudnn.h nvtx3/nvtx3.hpp cuda_awbarrier.h; do
    echo "#include <$name>" >asks.cu
    refuses "$name: Strata has no " -c asks.cu
  done
  cp asks.cu asks.cpp
  refuses "cuda_awbarrier.h: Strata has no asynchronous barriers" -c asks.cpp
  echo '#include <crt/mma.hpp>' >asks.cu
  "$nvcc" -c asks.cu
  echo '#define GIVEN 1' >given/cublas_v2.h  # one that a program brings wins
  printf '#include <cublas_v2.h>\nint x = GIVEN;\n' >asks.cu
  "$nvcc" -Igiven -c asks.cu
  unset CPLUS_INCLUDE_PATH C_INCLUDE_PATH
  for name in cub/cub.cuh thrust/version.h cuda/std/atomic nv/target; do  # asked for by __has_include
    [ ! -e "$missing/$name" ] || fail "$name is there"
  done
  for file in "$source_folder"/../../examples/*.cu; do
    "$nvcc" -M -I"$(dirname "$file")" "$file" >made
    tr ' ' '\n' <made | grep '^/' | xargs realpath |
      grep -vE "^($(realpath "$prefix")|$(realpath "$prefix/include")|$(realpath "$(dirname "$file")")|/usr/include|/usr/lib|/usr/lib64)/" >out || continue
    fail "$(basename "$file") reads $(head -n 3 out)"
  done
}

# Programs with machine code for CPUs start without the code generator and LLVM, whatever is in the cache.
# started PROGRAM yes|no [NAME=VALUE…]: runs it with an empty cache; was LLVM loaded?
started() {
  local program=$1 expected=$2 seen=no
  shift 2
  rm -rf cache
  env "$@" LD_DEBUG=files LD_DEBUG_OUTPUT="$work/loaded" STRATA_LOG=debug "./$program" >result 2>log || fail "$program $*: $(tail -n 3 log)"
  if cat loaded.* | grep -qE 'calling init: .*(libLLVM|libstrata_codegen)'; then seen=yes; fi
  rm loaded.*
  [[ $seen == "$expected" ]] || fail "$program $*: LLVM was loaded: $seen; $(grep native log)"
  if [[ $expected == no ]] && grep -F 'compiled ' log; then fail "$program compiled"; fi
}
case_native_code() {
  local simd target
  cat >sums.cu <<'EOF'
#include <cstdio>
#ifndef TILE
#define TILE 4, 4
#endif
__global__ void sums(const float *in, float *out) {
  __shared__ float part[256];
  part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x] * 1.25f + sinf(float(threadIdx.x));
  for (int step = 128; step; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
__global__ void square(float *p) { p[threadIdx.y * blockDim.x + threadIdx.x] *= 2; }
__device__ int counter = 40;
__global__ void count() { atomicAdd(&counter, 1); }
int main(int argc, char **) {
  float *in, *out;
  cudaMallocManaged(&in, 4096 * 4);
  cudaMallocManaged(&out, 256 * 4);
  for (int i = 0; i < 4096; ++i) in[i] = i % 77;
  sums<<<16, 256>>>(in, out);
  if (argc > 1) square<<<1, dim3(TILE)>>>(out);
  count<<<1, 32>>>();
  int counted = 0;
  if (cudaDeviceSynchronize() || cudaMemcpyFromSymbol(&counted, counter, 4) || counted != 72) return 1;
  for (int i = 0; i < 16; ++i) printf("%a\n", out[i]);
}
EOF
  "$nvcc" -arch=sm_90 sums.cu -o plain
  "$nvcc" -arch=sm_90,cpu,cpu_portable sums.cu -o native
  started plain yes
  cp result expected
  for simd in avx512 avx2 portable; do
    STRATA_SIMD=$simd ./plain >/dev/null 2>&1 || continue  # not on this machine
    started native no STRATA_SIMD=$simd
    cmp result expected || fail "other results with $simd"
  done
  started native no
  contains log 'a native image is used'
  if grep 'left aside' log; then fail "said of images that are for other processors"; fi
  started native yes STRATA_MODE=lane
  contains log "has no code of kernel '_Z4sumsPKfPf' for lane mode"
  cmp result expected || fail "other results in lane mode"
  # Every way to ask for it; and a target that the program does not have.
  "$nvcc" -gencode arch=compute_70,code=sm_70 -gencode 'arch=compute_90,code=[compute_90,cpu_native]' sums.cu -o own
  started own no
  cmp result expected || fail "other results for this CPU"
  "$nvcc" -arch=sm_80 -code=compute_80,cpu_portable sums.cu -o small
  started small no STRATA_SIMD=portable
  if STRATA_SIMD=avx2 ./plain >/dev/null 2>&1; then
    started small yes STRATA_SIMD=avx2
    contains log 'a native image is left aside: for another SIMD target'
  fi
  "$nvcc" -arch=cpu -c sums.cu
  "$nvcc" sums.o -o linked
  started linked no
  # Rows that are not full need their shape, unless it is the usual one.
  sed 's/argc > 1/true/' sums.cu >narrow.cu
  "$nvcc" -arch=sm_90,cpu "-DTILE=16\\,16" narrow.cu -o narrow
  started narrow no
  "$nvcc" -arch=sm_90,cpu narrow.cu -o narrow
  started narrow yes
  contains log "has no code of kernel '_Z6squarePf' for blocks of 4,4,1"
  "$nvcc" -arch=sm_90,cpu --cpu-block 4,4,1 narrow.cu -o narrow
  started narrow no
  # The image's size is that of its code.
  "$nvcc" -arch=sm_90 -fatbin sums.cu -o plain.fatbin
  "$nvcc" -arch=sm_90,cpu -fatbin sums.cu -o native.fatbin
  (($(stat -c %s native.fatbin) - $(stat -c %s plain.fatbin) < 40000)) || fail "$(stat -c %s native.fatbin) bytes"
  refuses "names more than one GPU" -arch=sm_80,sm_90 sums.cu
  for arch in "" sm_90, ,cpu sm_90,,cpu; do refuses "--gpu-architecture $arch' has an empty name" -arch=$arch sums.cu; done
  "$nvcc" -arch=sm_90 --cpu-block 4,4,1 -ptx sums.cu -o sums.ptx 2>out
  contains out "'--cpu-block' has no effect"
  refuses "Unsupported gpu architecture 'cpu_z80'" -arch=sm_80,cpu_z80 sums.cu
  refuses "'--cpu-block' 4,4,: not a block shape" -arch=cpu --cpu-block 4,4, sums.cu
  for shape in -1,1,1 1,-1,1 0,1,1 1,1,1,1 1,,1 +1,1,1 0x10,1,1; do
    refuses "'--cpu-block' $shape: not a block shape" -arch=cpu --cpu-block=$shape sums.cu
  done
  for shape in 4294967295,1,1 99999999999999999999,1,1 4294967328,1,1 2000,1,1 1,2000,1 1,1,65 1024,1024,64 32,33,1; do
    refuses "'--cpu-block' $shape: a block has at most" -rdc=true -arch=cpu --cpu-block=$shape sums.cu
  done
}

# Images that are damaged, of another engine, or of kernels that the CPU device cannot run.
case_native_damage() {
  "$nvcc" -arch=sm_90,cpu k.cu main.cpp -o good
  started good no
  # The table's checksum no longer fits, the magic is another one, the build of the engine is another one.
  damage() { # NAME PATTERN OFFSET: changes a byte at that distance from each place where the pattern stands
    local at
    cp good "$1"
    for at in $(LC_ALL=C grep -obUaP "$2" good | cut -d: -f1); do printf '\x5a' | dd of="$1" bs=1 seek=$((at + $3)) conv=notrunc status=none; done
    cmp -s good "$1" && fail "$1: nothing was damaged"
    started "$1" yes
    contains log 'native image'
  }
  damage magic 'StrataN1' 3
  damage size 'StrataN1' 9
  damage checksum 'StrataN1' 17
  damage engine 'StrataN1' 45
  cat >gpu.cu <<'EOF'
#include <cstdio>
__global__ void only(int *p) { asm volatile("cp.async.bulk.commit_group;"); *p = 1; }
__global__ void both(int *p) { *p = 2; }
int main() {
  int *p, h = 0;
  cudaMalloc(&p, 4);
  both<<<1, 32>>>(p);
  return cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost) || h != 2;
}
EOF
  "$nvcc" -arch=sm_90,cpu gpu.cu -o gpu 2>out || fail "a kernel for GPUs only: $(cat out)"
  contains out "no machine code for CPUs: kernel '_Z4onlyPi'"
  started gpu no
  "$nvcc" -w -arch=sm_90,cpu gpu.cu -o gpu 2>out
  [[ ! -s out ]] || fail "warns under -w"
}

# Device code that does not link is an error of the link already, which names the objects and the symbol.
case_device_link_errors() {
  local arch
  does_not_link() { # TEXT ARGUMENTS…
    local text=$1
    shift
    if "$nvcc" "$@" -o program 2>out; then fail "links: $*"; fi
    contains out "$text"
  }
  echo 'extern __device__ int missing; __global__ void k(int *p) { *p = missing; } int main() {}' >uses.cu
  echo 'extern __device__ int lost(int); __global__ void c(int *p) { *p = lost(1); }' >calls.cu
  echo '__device__ int twice; int other() { return 0; }' >one.cu
  echo '__device__ int twice;' >two.cu
  echo '__device__ long missing;' >long.cu
  echo '__device__ int missing;' >right.cu
  "$nvcc" -dc -arch=sm_90 uses.cu one.cu two.cu long.cu calls.cu right.cu
  for arch in sm_90 sm_90,cpu; do
    does_not_link "device link: variable 'missing', declared in 'uses.o', is not defined" -arch=$arch uses.o one.o
    does_not_link "'twice' is defined in 'one.o' and 'two.o'" -arch=$arch uses.o one.o two.o
    does_not_link "'missing' is declared differently in 'uses.o' and 'long.o'" -arch=$arch uses.o long.o
    does_not_link "function '_Z4losti', declared in 'calls.o', is not defined" -arch=$arch uses.o calls.o right.o
  done
  does_not_link "'missing', declared in 'uses.o'" -dlink uses.o
  "$nvcc" uses.o right.o -o program
  does_not_link "'missing', declared in" -rdc=true -gencode arch=compute_100,code=sm_100 -gencode arch=compute_120,code=sm_120 uses.cu
  # Initialisers that lead back to their variable.
  echo 'struct N { N *n; }; extern __device__ N b; __device__ N a = {&b}; __device__ N b = {&a}; __device__ void *q = &q;' >ring.cu
  does_not_link "the initialiser of 'b' leads back" -c ring.cu
  contains out "the initialiser of 'q' leads back"
}

# Constant memory holds __constant__ variables only, as with nvcc.
case_constants() {
  cat >constants.cu <<'EOF'
struct S { static __device__ const int member[3]; };
__device__ const int S::member[3] = {7, 8, 9};
extern __device__ const float big[30000] = {1, 2};
__device__ const float *where = big + 1;
static const int plain[2] = {5, 6};
static __constant__ const int word[4] = {1, 2};
extern __constant__ float other;
template <class T> __device__ const T each[3] = {1, 2, 3};
inline constexpr __device__ float in_line[4] = {1, 2, 3, 4};
__global__ void k(float *p) {
  static const int local[4] = {4, 3, 2, 9};
  static __constant__ int constant[4] = {4, 3, 2, 9};
  int i = threadIdx.x;
  p[i] = big[i] + plain[i] + word[i] + local[i] + constant[i] + S::member[i] + other + each<float>[i] + in_line[i];
}
EOF
  "$nvcc" -std=c++17 -rdc=true -ptx constants.cu -o out
  contains out '.weak .global .align 4 .b8 _Z4eachIfE[12]'
  contains out '.visible .global .align 4 .b8 big[120000]'
  contains out 'where = generic(big)+4'
  [[ $(grep -c '^[.a-z ]*\.const ' out) == 3 ]] || fail "constant memory: $(grep '\.const' out)"
  contains out '.const .align 4 .b8 _ZZ1kPfE8constant'
  contains out '.extern .const .align 4 .f32 other'
}

# Separate compilation, fat binaries as files, libraries.
case_native_linked() {
  cp "$source_folder"/../programs/{check.h,separate_compilation*} .
  local a=separate_compilation b=separate_compilation_other
  "$nvcc" -rdc=true -arch=sm_90,cpu --cpu-block 1,1,1 $a.cu $b.cu -o together
  started together no
  "$nvcc" -dc -arch=sm_90 $a.cu $b.cu
  "$nvcc" -dlink -arch=sm_90,cpu --cpu-block 1,1,1 $a.o $b.o -o linked.o
  c++ $a.o $b.o linked.o -o apart "$prefix/lib64/libcudart_static.a" -ldl -lpthread -lrt
  started apart no
  "$nvcc" -shared -Xcompiler -fPIC -arch=sm_90,cpu k.cu -o libk.so
  "$nvcc" main.cpp -L. -lk -Xlinker -rpath,"$work" -o library
  started library no
  cat >load.cpp <<'EOF'
#include <cuda.h>
int main() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUdeviceptr p;
  int h[32];
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context)) return 1;
  if (cuModuleLoad(&module, "k.fatbin") || cuModuleGetFunction(&function, module, "_Z1kPi") || cuMemAlloc(&p, sizeof h)) return 2;
  void *parameters[] = {&p};
  if (cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, parameters, 0) || cuMemcpyDtoH(h, p, sizeof h)) return 3;
  for (int i = 0; i < 32; ++i) if (h[i] != 3 * i) return 4;
  return 0;
}
EOF
  "$nvcc" load.cpp -lcuda -o load
  "$nvcc" -fatbin -arch=sm_90,cpu k.cu -o k.fatbin
  started load no
  "$nvcc" -fatbin -arch=sm_90,cpu -no-compress k.cu -o k.fatbin
  started load no
  "$nvcc" -fatbin -arch=sm_90 k.cu -o k.fatbin
  started load yes
}

"case_$2"
