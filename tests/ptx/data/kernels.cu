// SPDX-License-Identifier: Apache-2.0
// What kernels_*.ptx were compiled from, by clang 19: -O2 -gline-tables-only for sm_90a, -O0 for sm_90, -O3 -fgpu-rdc for sm_80,
// with -x cuda --cuda-device-only -S -nocudainc -nocudalib -Xclang -target-sdk-version=12.5.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __managed__ __attribute__((managed))
extern "C" __device__ int vprintf(const char *, const char *);
static __device__ inline int tid() { return __nvvm_read_ptx_sreg_tid_x(); }
__constant__ float coef[4] = {1, 2, 3, 4};
__device__ int counter;
__device__ int *pcounter = &counter;
struct S { int a; double b; char c[3]; const char *s; };
__device__ S gs = {1, 2.5, {'a', 'b', 'c'}, "hello"};
struct __attribute__((packed)) P { char c; const void *p; };
__device__ P packed = {'x', &gs};
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
  int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + tid();
  if (i < n) c[i] = a[i] + b[i] * coef[i & 3];
}
extern __shared__ float dyn[];
extern "C" __global__ void __launch_bounds__(256, 2) reduce(const float *a, float *out, int n) {
  __shared__ float s[32];
  int t = tid();
  float v = 0;
  for (int i = t; i < n; i += 256) v += a[i];
  for (int o = 16; o; o >>= 1)
    v += __builtin_bit_cast(float, __nvvm_shfl_sync_bfly_i32(-1, __builtin_bit_cast(int, v), o, 31));
  if ((t & 31) == 0) s[t >> 5] = v;
  __nvvm_bar_sync(0);
  dyn[t] = s[t & 7];
  __nvvm_bar_sync(0);
  if (t == 0) { float r = 0; for (int i = 0; i < 8; i++) r += s[i] + dyn[i]; out[0] = r; __nvvm_atom_add_gen_i(&counter, 1); }
}
__device__ __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
typedef int (*F)(int);
__device__ __attribute__((noinline)) int dbl(int n) { return n * 2; }
__device__ F table[2] = {fib, dbl};
struct V { __device__ virtual int f(int) = 0; };
struct A : V { __device__ int f(int x) override { return x + 1; } };
struct B : V { int k; __device__ int f(int x) override { return x * k; } };
extern "C" __global__ void calls(int *o, int k, S s) {
  o[0] = fib(k);
  o[1] = table[k](3);
  o[2] = s.a + s.c[1];
  int x[2] = {k, 1};
  vprintf("hi %d %d\n", (const char *)x);
  A a; B b; b.k = k;
  V *v = k > 3 ? (V *)&a : (V *)&b;
  o[9] = v->f(k);
  switch (k) { case 0: o[3] = 5; break; case 1: o[3] = fib(1); break; case 2: o[7] = 7; break; case 3: o[3] = o[4] * 2; break; case 4: o[5] = 1; break; case 5: __builtin_trap(); case 6: o[1]=3; break; case 7: o[2]=8; }
  __int128 q = (__int128)o[1] * o[2];
  q *= q;
  o[8] = (int)(q >> 64);
}
extern "C" __global__ void math(double *d, float *f, _Float16 *h, long long *l, unsigned char *u, __bf16 *bf) {
  d[0] = d[1] / d[2] + __builtin_sqrt(d[3]);
  f[0] = __builtin_fminf(f[1], f[2]) + f[3] / f[4];
  f[1] = (float)d[1];
  h[0] = h[1] * h[2] + h[3];
  l[0] = (long long)d[0];
  l[1] = l[2] / l[3] % 7;
  u[0] = u[1] + u[2];
  f[5] = __builtin_floorf(f[6]) + __builtin_truncf(f[9]) + __builtin_rintf(f[10]);
  f[7] = __builtin_fabsf(f[8]);
  l[4] = __builtin_popcountll(l[5]) + __builtin_clz((int)l[6]) + __builtin_ctzll(l[9]) + __builtin_bitreverse32(l[9]) + __builtin_bswap32(l[8]);
  d[7] = (double)l[7];
  h[4] = (_Float16)f[9];
  f[10] = u[4];
  u[5] = f[11];
  f[12] = (float)(unsigned long long)l[3];
  d[3] = (double)f[3];
  bf[0] = (__bf16)f[1]; f[14] = (float)bf[1];
  f[13] = __builtin_elementwise_max(f[1], f[2]);
  l[12] = (unsigned)l[1] << (l[2] & 31) | (unsigned)l[1] >> (32 - (l[2] & 31));
  asm volatile("{ .reg .u32 t; mov.u32 t, %%tid.x; add.u32 %0, t, 1; }" : "=r"(*(int *)l));
  asm volatile("{ .reg .pred p; LOOP: setp.eq.u32 p, %0, 0; @p bra LOOP; }" ::"r"((int)l[1]));
  asm volatile("{ .reg .pred p; LOOP: setp.eq.u32 p, %0, 1; @p bra LOOP; }" ::"r"((int)l[1]));
}
extern "C" __global__ void warp(unsigned *o, unsigned long long *l) {
  int t = tid();
  o[0] = __nvvm_vote_ballot_sync(-1, t & 1);
  o[1] = __nvvm_vote_all_sync(-1, t & 2);
  o[2] = __nvvm_match_any_sync_i32(-1, t);
  int p; o[3] = __nvvm_match_all_sync_i32p(-1, t, &p) + p;
  o[4] = __nvvm_redux_sync_add(t, -1);
  o[5] = __nvvm_atom_cas_gen_i((int *)o, 1, 2);
  l[0] = __nvvm_atom_add_gen_ll((long long *)l, 5);
  __nvvm_membar_gl(); __nvvm_membar_cta(); __nvvm_membar_sys();
  o[6] = __nvvm_bar0_popc(t);
  __nvvm_bar_warp_sync(-1);
  __atomic_fetch_add((int *)o, 1, __ATOMIC_RELAXED);
  o[7] = __nvvm_read_ptx_sreg_laneid() + __nvvm_read_ptx_sreg_lanemask_lt();
  l[1] = __nvvm_read_ptx_sreg_clock64();
  *(volatile int *)(o + 8) = 3;
  typedef float float4 __attribute__((ext_vector_type(4)));
  float4 *v = (float4 *)o; v[5] = v[6] * 2;
}
