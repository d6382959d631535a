/* SPDX-License-Identifier: Apache-2.0 */
/* nvcuda::wmma: matrix fragments of a warp, by PTX's wmma instructions. A fragment's elements are spread over the
   lanes as the hardware likes; only whole-fragment operations and elementwise ones are meaningful. */
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__
#pragma GCC system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32 {};
}  // namespace precision

// Elements as stored in a fragment.
template <typename Element, int count>
struct __frag_base {
  typedef Element element_type;
  typedef Element storage_element_type;
  static constexpr int num_elements = count;
  static constexpr int num_storage_elements = count;
  Element x[count];
};

template <typename Use, int m, int n, int k, typename Element, typename Layout = void>
class fragment;

// A fragment's 32-bit words, as the instructions want them; programs access the same memory as elements.
typedef unsigned __attribute__((may_alias)) __frag_word;
#define STRATA_WORDS(f) reinterpret_cast<__frag_word *>((f).x)
#define STRATA_CONST_WORDS(f) reinterpret_cast<const __frag_word *>((f).x)

#define STRATA_OUT1(r) "=r"((r)[0])
#define STRATA_OUT2(r) STRATA_OUT1(r), "=r"((r)[1])
#define STRATA_OUT4(r) STRATA_OUT2(r), "=r"((r)[2]), "=r"((r)[3])
#define STRATA_OUT8(r) STRATA_OUT4(r), "=r"((r)[4]), "=r"((r)[5]), "=r"((r)[6]), "=r"((r)[7])
#define STRATA_IN1(r) "r"((r)[0])
#define STRATA_IN2(r) STRATA_IN1(r), "r"((r)[1])
#define STRATA_IN4(r) STRATA_IN2(r), "r"((r)[2]), "r"((r)[3])
#define STRATA_IN8(r) STRATA_IN4(r), "r"((r)[4]), "r"((r)[5]), "r"((r)[6]), "r"((r)[7])
// Operand lists {%first, …} of a load's result and a store's source.
#define STRATA_LOAD1 "{%0}, [%1], %2;"
#define STRATA_LOAD2 "{%0, %1}, [%2], %3;"
#define STRATA_LOAD4 "{%0, %1, %2, %3}, [%4], %5;"
#define STRATA_LOAD8 "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
#define STRATA_STORE4 "[%0], {%2, %3, %4, %5}, %1;"
#define STRATA_STORE8 "[%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;"

// A fragment class and its load; letter is a or b, words the number of 32-bit registers.
#define STRATA_MULTIPLICAND(Use, letter, M, N, K, Element, Storage, ptx, words, Layout, order)                       \
  template <>                                                                                                        \
  class fragment<Use, M, N, K, Element, Layout>                                                                      \
      : public __frag_base<Storage, words * 4 / static_cast<int>(sizeof(Storage))> {};                               \
  STRATA_DEVICE void load_matrix_sync(fragment<Use, M, N, K, Element, Layout> &f, const Storage *from, unsigned stride) { \
    asm volatile("wmma.load." letter ".sync.aligned." order ".m" #M "n" #N "k" #K "." ptx " " STRATA_LOAD##words      \
                 : STRATA_OUT##words(STRATA_WORDS(f))                                                                \
                 : "l"(from), "r"(stride)                                                                            \
                 : "memory");                                                                                        \
  }
#define STRATA_MULTIPLICANDS(M, N, K, Element, Storage, ptx, aWords, bWords)                                         \
  STRATA_MULTIPLICAND(matrix_a, "a", M, N, K, Element, Storage, ptx, aWords, row_major, "row")                       \
  STRATA_MULTIPLICAND(matrix_a, "a", M, N, K, Element, Storage, ptx, aWords, col_major, "col")                       \
  STRATA_MULTIPLICAND(matrix_b, "b", M, N, K, Element, Storage, ptx, bWords, row_major, "row")                       \
  STRATA_MULTIPLICAND(matrix_b, "b", M, N, K, Element, Storage, ptx, bWords, col_major, "col")

#define STRATA_ACCUMULATOR(M, N, K, Element, ptx, words)                                                             \
  template <>                                                                                                        \
  class fragment<accumulator, M, N, K, Element, void>                                                                \
      : public __frag_base<Element, words * 4 / static_cast<int>(sizeof(Element))> {};                               \
  STRATA_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, Element> &f, const Element *from, unsigned stride, \
                                      layout_t layout) {                                                             \
    if (layout == mem_row_major)                                                                                     \
      asm volatile("wmma.load.c.sync.aligned.row.m" #M "n" #N "k" #K "." ptx " " STRATA_LOAD##words                   \
                   : STRATA_OUT##words(STRATA_WORDS(f))                                                              \
                   : "l"(from), "r"(stride)                                                                          \
                   : "memory");                                                                                      \
    else                                                                                                             \
      asm volatile("wmma.load.c.sync.aligned.col.m" #M "n" #N "k" #K "." ptx " " STRATA_LOAD##words                   \
                   : STRATA_OUT##words(STRATA_WORDS(f))                                                              \
                   : "l"(from), "r"(stride)                                                                          \
                   : "memory");                                                                                      \
  }                                                                                                                  \
  STRATA_DEVICE void store_matrix_sync(Element *to, const fragment<accumulator, M, N, K, Element> &f, unsigned stride, \
                                       layout_t layout) {                                                            \
    if (layout == mem_row_major)                                                                                     \
      asm volatile("wmma.store.d.sync.aligned.row.m" #M "n" #N "k" #K "." ptx " " STRATA_STORE##words ::"l"(to),      \
                   "r"(stride), STRATA_IN##words(STRATA_CONST_WORDS(f))                                              \
                   : "memory");                                                                                      \
    else                                                                                                             \
      asm volatile("wmma.store.d.sync.aligned.col.m" #M "n" #N "k" #K "." ptx " " STRATA_STORE##words ::"l"(to),      \
                   "r"(stride), STRATA_IN##words(STRATA_CONST_WORDS(f))                                              \
                   : "memory");                                                                                      \
  }

// Operand lists of mma by the words of D, A, B and C (D and C have 4 or 8).
#define STRATA_MMA_8888 "{%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9,%10,%11,%12,%13,%14,%15},{%16,%17,%18,%19,%20,%21,%22,%23},{%24,%25,%26,%27,%28,%29,%30,%31};"
#define STRATA_MMA_4884 "{%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15,%16,%17,%18,%19},{%20,%21,%22,%23};"
#define STRATA_MMA_4888 "{%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15,%16,%17,%18,%19},{%20,%21,%22,%23,%24,%25,%26,%27};"
#define STRATA_MMA_8884 "{%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9,%10,%11,%12,%13,%14,%15},{%16,%17,%18,%19,%20,%21,%22,%23},{%24,%25,%26,%27};"
#define STRATA_MMA_8448 "{%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9,%10,%11},{%12,%13,%14,%15},{%16,%17,%18,%19,%20,%21,%22,%23};"
#define STRATA_MMA_8828 "{%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9,%10,%11,%12,%13,%14,%15},{%16,%17},{%18,%19,%20,%21,%22,%23,%24,%25};"
#define STRATA_MMA_8288 "{%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13,%14,%15,%16,%17},{%18,%19,%20,%21,%22,%23,%24,%25};"
#define STRATA_MMA_8228 "{%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11},{%12,%13,%14,%15,%16,%17,%18,%19};"
#define STRATA_MMA_8418 "{%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9,%10,%11},{%12},{%13,%14,%15,%16,%17,%18,%19,%20};"
#define STRATA_MMA_8148 "{%0,%1,%2,%3,%4,%5,%6,%7},{%8},{%9,%10,%11,%12},{%13,%14,%15,%16,%17,%18,%19,%20};"

// d = a b + c for one pair of layouts; suffix: types after the shape; dWords aWords bWords cWords.
#define STRATA_MMA(M, N, K, D, A, C, ALayout, aOrder, BLayout, bOrder, suffix, dw, aw, bw, cw)                        \
  STRATA_DEVICE void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, ALayout> &a, \
                              const fragment<matrix_b, M, N, K, A, BLayout> &b,                                      \
                              const fragment<accumulator, M, N, K, C> &c) {                                          \
    asm volatile("wmma.mma.sync.aligned." aOrder "." bOrder ".m" #M "n" #N "k" #K suffix " " STRATA_MMA_##dw##aw##bw##cw \
                 : STRATA_OUT##dw(STRATA_WORDS(d))                                                                   \
                 : STRATA_IN##aw(STRATA_CONST_WORDS(a)), STRATA_IN##bw(STRATA_CONST_WORDS(b)),                       \
                   STRATA_IN##cw(STRATA_CONST_WORDS(c)));                                                            \
  }
#define STRATA_MMAS(M, N, K, D, A, C, suffix, dw, aw, bw, cw)                                                        \
  STRATA_MMA(M, N, K, D, A, C, row_major, "row", row_major, "row", suffix, dw, aw, bw, cw)                           \
  STRATA_MMA(M, N, K, D, A, C, row_major, "row", col_major, "col", suffix, dw, aw, bw, cw)                           \
  STRATA_MMA(M, N, K, D, A, C, col_major, "col", row_major, "row", suffix, dw, aw, bw, cw)                           \
  STRATA_MMA(M, N, K, D, A, C, col_major, "col", col_major, "col", suffix, dw, aw, bw, cw)

// half, sm_70
#define STRATA_HALF_SHAPE(M, N, K)                                                \
  STRATA_MULTIPLICANDS(M, N, K, __half, __half, "f16", 8, 8)                      \
  STRATA_ACCUMULATOR(M, N, K, __half, "f16", 4)                                   \
  STRATA_ACCUMULATOR(M, N, K, float, "f32", 8)                                    \
  STRATA_MMAS(M, N, K, float, __half, float, ".f32.f32", 8, 8, 8, 8)              \
  STRATA_MMAS(M, N, K, __half, __half, __half, ".f16.f16", 4, 8, 8, 4)            \
  STRATA_MMAS(M, N, K, __half, __half, float, ".f16.f32", 4, 8, 8, 8)             \
  STRATA_MMAS(M, N, K, float, __half, __half, ".f32.f16", 8, 8, 8, 4)
STRATA_HALF_SHAPE(16, 16, 16)
STRATA_HALF_SHAPE(32, 8, 16)
STRATA_HALF_SHAPE(8, 32, 16)
#undef STRATA_HALF_SHAPE

// 8-bit integers, sm_72
#define STRATA_BYTE_SHAPE(M, N, K, aw, bw)                                                                      \
  STRATA_MULTIPLICANDS(M, N, K, signed char, signed char, "s8", aw, bw)                                         \
  STRATA_MULTIPLICANDS(M, N, K, unsigned char, unsigned char, "u8", aw, bw)                                     \
  STRATA_ACCUMULATOR(M, N, K, int, "s32", 8)                                                                    \
  STRATA_MMAS(M, N, K, int, signed char, int, ".s32.s8.s8.s32", 8, aw, bw, 8)                                   \
  STRATA_MMAS(M, N, K, int, unsigned char, int, ".s32.u8.u8.s32", 8, aw, bw, 8)
STRATA_BYTE_SHAPE(16, 16, 16, 2, 2)
STRATA_BYTE_SHAPE(32, 8, 16, 4, 1)
STRATA_BYTE_SHAPE(8, 32, 16, 1, 4)
#undef STRATA_BYTE_SHAPE

// bfloat16 and tf32, sm_80
#define STRATA_BFLOAT_SHAPE(M, N, K, aw, bw)                                         \
  STRATA_MULTIPLICANDS(M, N, K, __nv_bfloat16, __nv_bfloat16, "bf16", aw, bw)        \
  STRATA_MMAS(M, N, K, float, __nv_bfloat16, float, ".f32.bf16.bf16.f32", 8, aw, bw, 8)
STRATA_BFLOAT_SHAPE(16, 16, 16, 4, 4)
STRATA_BFLOAT_SHAPE(32, 8, 16, 8, 2)
STRATA_BFLOAT_SHAPE(8, 32, 16, 2, 8)
#undef STRATA_BFLOAT_SHAPE
STRATA_MULTIPLICANDS(16, 16, 8, precision::tf32, float, "tf32", 4, 4)
STRATA_ACCUMULATOR(16, 16, 8, float, "f32", 8)
STRATA_MMAS(16, 16, 8, float, precision::tf32, float, ".f32.tf32.tf32.f32", 8, 4, 4, 8)

// The tf32 number nearest to x, as a float.
STRATA_DEVICE float __float_to_tf32(float x) {
  float result;
  asm("{.reg .b32 t; cvt.rna.tf32.f32 t, %1; mov.b32 %0, t;}" : "=f"(result) : "f"(x));
  return result;
}

// double, sm_80: one element of A and B and two of C in each lane.
#define STRATA_DOUBLE_MULTIPLICAND(Use, letter, Layout, order)                                                    \
  template <>                                                                                                     \
  class fragment<Use, 8, 8, 4, double, Layout> : public __frag_base<double, 1> {};                                \
  STRATA_DEVICE void load_matrix_sync(fragment<Use, 8, 8, 4, double, Layout> &f, const double *from, unsigned stride) { \
    asm volatile("wmma.load." letter ".sync.aligned." order ".m8n8k4.f64 {%0}, [%1], %2;"                         \
                 : "=d"(f.x[0])                                                                                   \
                 : "l"(from), "r"(stride)                                                                         \
                 : "memory");                                                                                     \
  }
STRATA_DOUBLE_MULTIPLICAND(matrix_a, "a", row_major, "row")
STRATA_DOUBLE_MULTIPLICAND(matrix_a, "a", col_major, "col")
STRATA_DOUBLE_MULTIPLICAND(matrix_b, "b", row_major, "row")
STRATA_DOUBLE_MULTIPLICAND(matrix_b, "b", col_major, "col")
#undef STRATA_DOUBLE_MULTIPLICAND
template <>
class fragment<accumulator, 8, 8, 4, double, void> : public __frag_base<double, 2> {};
#define STRATA_DOUBLE_MEMORY(order, condition)                                                                    \
  if (condition)                                                                                                  \
    asm volatile("wmma.load.c.sync.aligned." order ".m8n8k4.f64 {%0, %1}, [%2], %3;"                              \
                 : "=d"(f.x[0]), "=d"(f.x[1])                                                                     \
                 : "l"(from), "r"(stride)                                                                         \
                 : "memory");
STRATA_DEVICE void load_matrix_sync(fragment<accumulator, 8, 8, 4, double> &f, const double *from, unsigned stride,
                                    layout_t layout){STRATA_DOUBLE_MEMORY("row", layout == mem_row_major)
                                                         STRATA_DOUBLE_MEMORY("col", layout == mem_col_major)}
#undef STRATA_DOUBLE_MEMORY
#define STRATA_DOUBLE_MEMORY(order, condition)                                                              \
  if (condition)                                                                                            \
    asm volatile("wmma.store.d.sync.aligned." order ".m8n8k4.f64 [%0], {%1, %2}, %3;" ::"l"(to), "d"(f.x[0]), \
                 "d"(f.x[1]), "r"(stride)                                                                   \
                 : "memory");
STRATA_DEVICE void store_matrix_sync(double *to, const fragment<accumulator, 8, 8, 4, double> &f, unsigned stride,
                                     layout_t layout){STRATA_DOUBLE_MEMORY("row", layout == mem_row_major)
                                                          STRATA_DOUBLE_MEMORY("col", layout == mem_col_major)}
#undef STRATA_DOUBLE_MEMORY
#define STRATA_DOUBLE_MMA(ALayout, aOrder, BLayout, bOrder)                                                        \
  STRATA_DEVICE void mma_sync(fragment<accumulator, 8, 8, 4, double> &d,                                           \
                              const fragment<matrix_a, 8, 8, 4, double, ALayout> &a,                               \
                              const fragment<matrix_b, 8, 8, 4, double, BLayout> &b,                               \
                              const fragment<accumulator, 8, 8, 4, double> &c) {                                   \
    asm volatile("wmma.mma.sync.aligned." aOrder "." bOrder ".m8n8k4.rn.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};" \
                 : "=d"(d.x[0]), "=d"(d.x[1])                                                                      \
                 : "d"(a.x[0]), "d"(b.x[0]), "d"(c.x[0]), "d"(c.x[1]));                                            \
  }
STRATA_DOUBLE_MMA(row_major, "row", row_major, "row") STRATA_DOUBLE_MMA(row_major, "row", col_major, "col")
    STRATA_DOUBLE_MMA(col_major, "col", row_major, "row") STRATA_DOUBLE_MMA(col_major, "col", col_major, "col")
#undef STRATA_DOUBLE_MMA

        template <typename Use, int m, int n, int k, typename Element, typename Layout, typename Value>
        STRATA_DEVICE void fill_fragment(fragment<Use, m, n, k, Element, Layout> &f, const Value &value) {
  for (int i = 0; i < f.num_elements; ++i)
    f.x[i] = static_cast<typename fragment<Use, m, n, k, Element, Layout>::storage_element_type>(value);
}

#undef STRATA_WORDS
#undef STRATA_CONST_WORDS
#undef STRATA_OUT1
#undef STRATA_OUT2
#undef STRATA_OUT4
#undef STRATA_OUT8
#undef STRATA_IN1
#undef STRATA_IN2
#undef STRATA_IN4
#undef STRATA_IN8
#undef STRATA_LOAD1
#undef STRATA_LOAD2
#undef STRATA_LOAD4
#undef STRATA_LOAD8
#undef STRATA_STORE4
#undef STRATA_STORE8
#undef STRATA_MULTIPLICAND
#undef STRATA_MULTIPLICANDS
#undef STRATA_ACCUMULATOR
#undef STRATA_MMA
#undef STRATA_MMAS
#undef STRATA_MMA_8888
#undef STRATA_MMA_4884
#undef STRATA_MMA_4888
#undef STRATA_MMA_8884
#undef STRATA_MMA_8448
#undef STRATA_MMA_8828
#undef STRATA_MMA_8288
#undef STRATA_MMA_8228
#undef STRATA_MMA_8418
#undef STRATA_MMA_8148

}  // namespace wmma
}  // namespace nvcuda

#endif

#endif
