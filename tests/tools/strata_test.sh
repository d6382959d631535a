#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The strata command. usage: strata_test.sh PREFIX CASE
set -euo pipefail

strata=$1/bin/strata
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export STRATA_DEVICE=cpu STRATA_CACHE_DIR=$work/cache

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
contains() { grep -qF -- "$2" "$1" || fail "$1 lacks '$2': $(head -c 2000 "$1")"; }
refuses() {
  local text=$1
  shift
  if "$strata" "$@" >out 2>&1; then fail "accepted: $*"; fi
  contains out "$text"
}
# The same, with the exit status of a command line that is not understood.
refuses_usage() {
  refuses "$@"
  local status=0
  shift
  "$strata" "$@" >out 2>&1 || status=$?
  [[ $status == 2 ]] || fail "exit status $status, not 2: $*"
}

echo '#define VALUE 1' >value.h
cat >p.cu <<'EOF'
#include <cstdio>
#include <cstring>
#include "value.h"
__global__ void set(int *p) { *p = VALUE; }
__global__ void other(float *p) { p[threadIdx.x] = 0; }
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "kernel")) {
    int *p, h = 0;
    cudaMalloc(&p, sizeof h);
    set<<<1, 1>>>(p);
    if (cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost)) return 9;
    return h == VALUE ? 0 : 8;
  }
  for (int i = 1; i < argc; ++i) printf("[%s]", argv[i]);
  printf(" value %d\n", VALUE);
  return argc > 3 ? 3 : 0;
}
EOF

stamp() { find cache/programs -name p -printf '%T@\n'; }

case_run() {
  local first
  "$strata" run p.cu --flag 'two words' >out
  contains out '[--flag][two words] value 1'
  first=$(stamp)
  "$strata" run p.cu >out
  [[ $(stamp) == "$first" ]] || fail "compiled again without need"
  echo '#define VALUE 2' >value.h
  "$strata" run p.cu >out
  contains out 'value 2'
  "$strata" run --nvcc='-DNDEBUG -O0' p.cu >out
  [[ $(stamp | wc -l) == 2 ]] || fail "other options, same program"
  local status=0
  "$strata" run p.cu a b c >out || status=$?
  [[ $status == 3 ]] || fail "exit status $status, not 3"
  "$strata" run "$(find cache/programs -name p | head -n 1)" x >out
  contains out '[x]'
  "$strata" run p.cu kernel || fail "the kernel's result"
  "$1/bin/nvcc" p.cu -o ls
  "$strata" run ls y >out  # of this folder, and not the one in PATH
  contains out '[y] value'
  # Faults name the user's line, also where a function of the device library has been inlined.
  cat >fault.cu <<'EOF'
__device__ void both(float x, float *p) {
  sincosf(x, p, p + 1);
}
__global__ void k(float *p) {
  both(threadIdx.x, p);
}
__global__ void plain(float *p) {
  p[threadIdx.x] = 1;
}
int main(int argc, char **) {
  if (argc > 1) plain<<<1, 32>>>((float *)0x12345000);
  else k<<<1, 32>>>((float *)0x12345000);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1;
}
EOF
  "$strata" run fault.cu >out 2>&1 || fail "no illegal address: $(cat out)"
  contains out 'illegal address 0x12345000 at fault.cu:2'
  "$strata" run fault.cu plain >out 2>&1 || fail "no illegal address: $(cat out)"
  contains out 'at fault.cu:8'
}

case_run_errors() {
  refuses missing.cu run missing.cu
  echo 'nonsense' >bad.cu
  refuses "'bad.cu' does not compile" run bad.cu
  touch k.ptx
  refuses 'strata inspect' run k.ptx
  refuses "cannot run 'no-such-program'" run no-such-program
  refuses FILE run
  echo text >README.md
  refuses "'README.md' is neither a CUDA source (.cu, .cpp, .cc) nor a program" run README.md
  refuses "'$work/README.md' is neither" run "$work/README.md"
  refuses "'.' is a folder" run .
  refuses "no command 'no-such-command'; there are: run inspect precompile smi knobs" no-such-command
  refuses_usage "no command 'frob'" frob --help
  refuses_usage 'strata inspect --help' inspect
  refuses "no stage 'frob': there are ptx, lane, vector, asm, why, passes, and the passes' names" inspect p.cu --stage frob
  refuses_usage '--frob' smi --frob
  refuses_usage 'subcommand'
  STRATA_CACHE_DIR=/proc/nowhere refuses 'no folder for compiled programs: /proc/nowhere' run p.cu
}

case_inspect() {
  local stage
  "$strata" inspect p.cu >out
  contains out '.visible .entry _Z3setPi'
  for stage in lane vector asm; do
    "$strata" inspect p.cu --kernel set --stage $stage >out
    contains out '// set(int*)'
    if grep -qF '// other' out; then fail "a kernel that was not asked for"; fi
    [[ $(wc -l <out) -gt 3 ]] || fail "nothing shown for $stage"
  done
  "$strata" inspect p.cu --stage why >out
  contains out '// other(float*), for blocks of rows of 32 (--block X,Y,Z for others)'
  contains out 'nothing to report'
  "$strata" inspect p.cu --stage why --block any >out
  contains out '// other(float*), for any block'
  "$strata" inspect p.cu --stage why --block 48 >out
  contains out '// other(float*), for blocks of 48,1,1'
  echo '__global__ void tile(float *p) { p[threadIdx.y * 16 + threadIdx.x] += 1; }' >tile.cu
  "$strata" inspect tile.cu --stage why >out
  contains out '// tile(float*), for blocks of 16,16,1'
  if grep -q gather out; then fail "contiguous in a block of 16 by 16"; fi
  echo '__global__ void __launch_bounds__(8) few(float *p) { p[threadIdx.x] += 1; }' >few.cu
  "$strata" inspect few.cu --stage why >out
  contains out '// few(float*), for blocks of 8,1,1'
  cat >spills.cu <<'EOF'
__global__ void many(float *p, int rounds) {
  float v[64];
  for (int i = 0; i < 64; ++i) v[i] = p[i * 32 + threadIdx.x];
  for (int k = 0; k < rounds; ++k)
#pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i + 1) % 64] + 1;
  if (threadIdx.x < 7)
    for (int i = 0; i < 64; ++i) p[i * 32 + threadIdx.x] = v[i];
}
EOF
  "$strata" inspect spills.cu --stage why >out
  grep -qE '^spills.cu:[46]: [0-9]+ registers spilled, [0-9]+ reloaded \(in the loop\)$' out || fail "no spills shown"
  contains out 'spills.cu:7: both sides run, under masks'
  # Code behind a loop is run by full warps, too; only the loop has a version for them.
  cat >behind.cu <<'EOF'
__global__ void sum(int *h, int n) {
  int s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += h[i];
  h[threadIdx.x * threadIdx.x] = s;
}
__global__ void clear(int *h, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) h[i] = 0;
  __syncthreads();
  atomicAdd(&h[threadIdx.x * 7], 3);
}
__global__ void guarded(const int *at, int *h, int n) {
  if (threadIdx.x >= n) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) h[at[i]] = 0;
  h[at[threadIdx.x]] = 3;
}
EOF
  "$strata" inspect behind.cu --stage why >out
  contains out 'behind.cu:4: scatter in parameter 1 (the address varies)'
  contains out 'behind.cu:9: one atomic per lane in parameter 1 (addresses vary'
  contains out 'behind.cu:14: scatter in parameter 2 (the address varies)'
  contains out 'behind.cu:3: loop under a mask, only where lanes part'
  [[ $(grep -E '^(kernel|behind.cu:.*): code without masks' out | sort) == "$(printf 'behind.cu:%s: code without masks for full warps (taken where all 32 lanes go the same way)\n' 12 13 3 7)" ]] ||
    fail "versions: $(cat out)"
  if grep 'unknown line' out; then fail "a loop without a line"; fi
  contains out 'behind.cu:13: loop under a mask, only where lanes part'
  cat >names.cu <<'EOF'
__device__ float table[256];
__global__ void look(const float *in, const int *at, float *out, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    part[threadIdx.x] = in[at[i]];
    __syncwarp();
    float x = part[at[i] & 255] + sinf(part[threadIdx.x]);
    out[at[i]] = x + table[at[i] & 255];
  }
}
EOF
  "$strata" inspect names.cu --stage why >out
  contains out 'names.cu:5: code without masks for full warps'
  contains out 'names.cu:5: both sides run, under masks, only where lanes part'
  contains out 'names.cu:6: gather in parameter 1 (the address varies)'
  contains out 'names.cu:8: gather in shared part (the address varies)'
  contains out 'inside __nv_sinf'
  contains out 'names.cu:9: scatter in parameter 3 (the address varies)'
  contains out 'names.cu:9: gather in table (the address varies)'
  if grep -F '<ptx>' out; then fail "a place that nobody knows"; fi
  if grep -F lineinfo out; then fail "lines are known"; fi
  "$1/bin/nvcc" -c names.cu -o names.o
  "$strata" inspect names.o --stage why >out
  contains out 'kernel: gather in parameter 1'
  contains out 'compile with -lineinfo'
  if grep -F '<ptx>' out; then fail "a place that nobody knows"; fi
  "$strata" inspect names.cu --stage why --mode lane >out
  contains out 'kernel: lane mode (as asked for'
  PATH=$(dirname "$strata"):$PATH strata inspect p.cu --kernel set --stage asm >out  # argv[0] is not a path
  contains out '// set(int*)'
  "$1/bin/nvcc" p.cu -o p
  "$strata" inspect p --kernel other >out
  contains out '// other(float*)'
  refuses "has no kernel 'third'; there are: other, set" inspect p --kernel third
  cat >fft.cu <<'EOF'
namespace ns {
template <int N, class T> __global__ void fft(T *p) { p[threadIdx.x] = N; }
template __global__ void fft<512, float>(float *);
template __global__ void fft<256, int>(int *);
}
EOF
  local name
  for name in fft ns::fft; do
    "$strata" inspect fft.cu --stage why --kernel $name >out
    [[ $(grep -c '^// void ns::fft<' out) == 2 ]] || fail "not both kernels by $name"
  done
  for name in 'fft<512,float>' 'fft<512, float>' 'ns::fft<512, float>' 'ns::fft<512, float>(float*)' _ZN2ns3fftILi512EfEEvPT0_; do
    "$strata" inspect fft.cu --stage why --kernel "$name" >out
    [[ $(grep '^// void' out) == '// void ns::fft<512, float>'* && $(grep -c '^// void' out) == 1 ]] || fail "by $name: $(cat out)"
  done
  refuses "there are: ns::fft<256, int>, ns::fft<512, float>" inspect fft.cu --kernel 'fft<3>' --stage why
  refuses 'holds no PTX' inspect "$strata"
  refuses 'cannot read' inspect missing
  STRATA_CACHE_DIR=$work/small STRATA_CACHE_SIZE=100 refuses 'the cache is too small' precompile p
  echo '.version 8.0 .target sm_90 .entry' >bad.ptx
  refuses strata: inspect bad.ptx --stage lane
}

images() { find cache -name '*.image' | wc -l; }

case_precompile() {
  local before
  "$1/bin/nvcc" p.cu -o p
  "$strata" precompile p >out
  contains out '2 kernels are in the machine-code cache'
  before=$(images)
  [[ $before == 3 ]] || fail "$before images: not a module and two kernels"
  "$strata" precompile -q p >out
  [[ ! -s out && $(images) == "$before" ]] || fail "compiled twice, or not quiet"
  "$strata" precompile --block 1 --block 64,1,1 p >out
  contains out '2 kernels, in 4 versions by block shape, are in the machine-code cache'
  [[ $(images) == $((before + 2)) ]] || fail "$(images) images with a block shape"
  STRATA_LOG=debug ./p kernel >log 2>&1 || fail "the kernel's result: $(tail -n 3 log)"
  contains log cuLaunchKernel
  if grep -F 'compiled ' log; then fail "compiled at the launch what was precompiled"; fi
  "$1/bin/nvcc" -rdc=true -arch=sm_80 p.cu -o linked
  "$strata" precompile --block 1,1 linked >out
  contains out '2 kernels, in 4 versions'
  STRATA_LOG=debug ./linked kernel >log 2>&1 || fail "the kernel's result, linked: $(tail -n 3 log)"
  if grep -F 'compiled ' log; then fail "compiled at the launch what was precompiled and linked"; fi
  "$strata" inspect p >p.ptx
  "$strata" precompile p.ptx p >out
  contains out '2 kernels are'  # of one text
  "$strata" precompile --kernel set --block 7 p >out
  contains out '1 kernel, in 2 versions by block shape, is in the machine-code cache'
  "$strata" precompile --help >out
  contains out STRATA_CACHE_SIZE
}

case_precompile_errors() {
  refuses 'BINARY' precompile
  refuses "cannot read 'missing'" precompile missing
  refuses 'holds no PTX' precompile "$strata"
  "$1/bin/nvcc" -dc p.cu -o p.o
  refuses 'only relocatable device code' precompile p.o
  "$1/bin/nvcc" p.cu -o p
  refuses "'p' has no kernel 'third'; there are: other, set" precompile --kernel third p
  refuses "--block 5,2,: not a block shape" precompile --block 5,2, p
  refuses "--block 1,1,65: a block has at most" precompile --block 1,1,65 p
  STRATA_CACHE_SIZE=0 refuses 'STRATA_CACHE_SIZE turns it off' precompile p
  STRATA_CACHE_DIR=/proc/nowhere refuses 'no machine-code cache: /proc/nowhere' precompile p
  STRATA_CACHE_DIR=/proc/self refuses 'image: No such file or directory' precompile p
  STRATA_CACHE_DIR=$work/small STRATA_CACHE_SIZE=4000 refuses 'the cache is too small' precompile p
  echo '.version 8.0 .target sm_90 .address_size 64 .entry good() { ret; }' >some.ptx
  echo '.entry bad() { cp.async.bulk.commit_group; ret; }' >>some.ptx  # an instruction that parses only
  refuses "kernel 'bad'" precompile some.ptx
  contains out '1 of 2 kernels do not compile'
  refuses '1 of 2 kernels do not compile' precompile --block 5 --block 6,2 some.ptx
  [[ $(grep -c "kernel 'bad'" out) == 1 ]] || fail "one kernel's error, said for each block shape"
}

case_precompile_elsewhere() {
  mkdir -p other/lib64/strata
  touch other/lib64/strata/libcuda.so.1 other/lib64/libstrata_codegen.so
  "$1/bin/nvcc" p.cu -o p
  "$strata" precompile -q p >out 2>&1
  [[ ! -s out ]] || fail "warned of its own copy: $(cat out)"
  "$1/bin/nvcc" p.cu -o p -Xlinker '-rpath=$ORIGIN/other/lib64'
  "$strata" precompile -q p >out 2>&1
  contains out "'p' runs with another build of Strata, in $work/other/lib64"
}

case_visible_devices() {
  cat >visible.cu <<'EOF'
#include <cstdio>
int main() {
  int count = 7;
  cudaError_t error = cudaGetDeviceCount(&count);
  printf("%s", cudaGetErrorName(error));
  for (int i = 0; !error && i < count; ++i) {
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, i);
    printf(" GPU-");
    for (int b = 0; b < 16; ++b) printf("%s%02x", b == 4 || b == 6 || b == 8 || b == 10 ? "-" : "", static_cast<unsigned char>(prop.uuid.bytes[b]));
  }
  puts("");
}
EOF
  "$1/bin/nvcc" visible.cu -o visible
  export STRATA_DEVICE_COUNT=2
  local all first second none=cudaErrorNoDevice
  all=$(env -u CUDA_VISIBLE_DEVICES ./visible)
  read -r _ first second <<<"$all"
  [[ $first == GPU-* && $second == GPU-* && $first != "$second" ]] || fail "$all"
  sees() {
    local got
    got=$(CUDA_VISIBLE_DEVICES=$1 ./visible)
    [[ $got == "$2" ]] || fail "CUDA_VISIBLE_DEVICES='$1': $got, not $2"
  }
  sees '' "$none"
  sees -1 "$none"
  sees 2 "$none"
  sees 0 "cudaSuccess $first"
  sees 1 "cudaSuccess $second"
  sees 0,1 "$all"
  sees 1,0 "cudaSuccess $second $first"
  sees 0,2,1 "cudaSuccess $first"
  sees 0,0 "$none"
  sees "${second:0:14}" "cudaSuccess $second"
  sees GPU- "$none"
  sees "MIG-$second" "$none"
  sees GPU-00000000 "$none"
  sees one "$none"
}

case_smi() {
  "$strata" smi >out
  contains out 'CPU driver: CUDA 13'
  contains out 'compute capability 9.0'
}

case_knobs() {
  "$1/bin/nvcc" p.cu -o p
  STRATA_WORKERS=5 "$strata" knobs >out
  contains out 'STRATA_WORKERS  (number, default 0), now 5'
  contains out STRATA_SIMD
  local command
  for command in "$strata knobs" "./p kernel" "$strata smi" "$strata run ./p kernel"; do  # several libraries, one warning
    STRATA_SIMD=avx STRATA_WORKER=2 NO_STRATA_WORKER=2 $command >out 2>&1 || fail "$command"
    [[ $(grep -c STRATA_SIMD=avx out) == 1 ]] || fail "$command: not one warning: $(cat out)"
    [[ $(grep -c 'did you mean STRATA_WORKERS' out) == 1 ]] || fail "$command: not one warning: $(cat out)"
  done
  STRATA_LOG=error STRATA_WORKER=2 ./p kernel >out 2>&1
  [[ ! -s out ]] || fail "warned below the log's level"
  "$strata" --version >out
  contains out 'strata '
}

"case_$2" "$1"
