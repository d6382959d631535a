// SPDX-License-Identifier: Apache-2.0
// The kernels of a GPT, forward and backward, one thread per output or one warp per row. Shapes: B
// sequences of T tokens, C channels, V byte values; matrices are row-major; d… is the gradient of ….
// Backward kernels of matrices and vectors that are used once write (=), of parameters add (+=).
#pragma once

#include <cuda_runtime.h>

constexpr int kTile = 16;

__device__ inline float warpSum(float v) {
  for (int offset = 16; offset; offset /= 2) v += __shfl_xor_sync(~0u, v, offset);
  return v;
}

__device__ inline float warpMax(float v) {
  for (int offset = 16; offset; offset /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, offset));
  return v;
}

// out[b,t,:] = tokenTable[token[b,t],:] + positionTable[t,:]
__global__ void embed(const int *tokens, const float *tokenTable, const float *positionTable, float *out, int BT, int T, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BT * C) return;
  int row = i / C, c = i % C;
  out[i] = tokenTable[tokens[row] * C + c] + positionTable[(row % T) * C + c];
}

__global__ void embedBackward(const int *tokens, const float *dout, float *dTokenTable, float *dPositionTable, int BT, int T, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BT * C) return;
  int row = i / C, c = i % C;
  atomicAdd(&dTokenTable[tokens[row] * C + c], dout[i]);
  atomicAdd(&dPositionTable[(row % T) * C + c], dout[i]);
}

// One warp per row; mean and 1/standard deviation are kept for the backward pass.
__global__ void layerNorm(const float *in, const float *gain, const float *bias, float *out, float *mean, float *rstd, int rows, int C) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float *x = in + row * C;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < C; c += 32) sum += x[c];
  float m = warpSum(sum) / C;
  for (int c = threadIdx.x; c < C; c += 32) squares += (x[c] - m) * (x[c] - m);
  float s = rsqrtf(warpSum(squares) / C + 1e-5f);
  for (int c = threadIdx.x; c < C; c += 32) out[row * C + c] = (x[c] - m) * s * gain[c] + bias[c];
  if (threadIdx.x == 0) {
    mean[row] = m;
    rstd[row] = s;
  }
}

// din += the gradient through the norm (the residual path's gradient is in din already).
__global__ void layerNormBackward(const float *in, const float *gain, const float *mean, const float *rstd, const float *dout, float *din, int rows, int C) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float *x = in + row * C, *dy = dout + row * C;
  float m = mean[row], s = rstd[row], sum = 0, dot = 0;
  for (int c = threadIdx.x; c < C; c += 32) {
    float g = dy[c] * gain[c];
    sum += g;
    dot += g * (x[c] - m) * s;
  }
  sum = warpSum(sum) / C;
  dot = warpSum(dot) / C;
  for (int c = threadIdx.x; c < C; c += 32) din[row * C + c] += s * (dy[c] * gain[c] - sum - (x[c] - m) * s * dot);
}

// One thread per channel.
__global__ void layerNormBackwardParameters(const float *in, const float *mean, const float *rstd, const float *dout, float *dgain, float *dbias, int rows, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float gain = 0, bias = 0;
  for (int row = 0; row < rows; ++row) {
    float dy = dout[row * C + c];
    gain += dy * (in[row * C + c] - mean[row]) * rstd[row];
    bias += dy;
  }
  dgain[c] += gain;
  dbias[c] += bias;
}

// c[m,n] (+)= Σ_k a[m,k]·b[k,n] (+ bias[n]). transA: a is stored [k,m]; transB: b is stored [n,k].
template <bool transA, bool transB>
__global__ void matmul(const float *a, const float *b, const float *bias, float *c, int M, int N, int K, bool accumulate) {
  __shared__ float tileA[kTile][kTile + 1], tileB[kTile][kTile + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += kTile) {
    // Neighbouring threads read neighbouring addresses whichever way the operand is stored.
    if (transA) tileA[tx][ty] = m0 + tx < M && k0 + ty < K ? a[(k0 + ty) * M + m0 + tx] : 0;
    else tileA[ty][tx] = m0 + ty < M && k0 + tx < K ? a[(m0 + ty) * K + k0 + tx] : 0;
    if (transB) tileB[tx][ty] = n0 + ty < N && k0 + tx < K ? b[(n0 + ty) * K + k0 + tx] : 0;
    else tileB[ty][tx] = k0 + ty < K && n0 + tx < N ? b[(k0 + ty) * N + n0 + tx] : 0;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tileA[ty][k] * tileB[k][tx];
    __syncthreads();
  }
  int m = m0 + ty, n = n0 + tx;
  if (m >= M || n >= N) return;
  if (bias) sum += bias[n];
  c[m * N + n] = accumulate ? c[m * N + n] + sum : sum;
}

// dbias[n] += Σ_m dout[m,n]
__global__ void biasBackward(const float *dout, float *dbias, int M, int N) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  float sum = 0;
  for (int m = 0; m < M; ++m) sum += dout[m * N + n];
  dbias[n] += sum;
}

// qkv[b,t,3,H,D]. att[b,h,t,:t+1] = softmax(q·k/√D), zero beyond; one warp per (b,h,t).
__global__ void attentionWeights(const float *qkv, float *att, int B, int T, int H, int D) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= B * H * T) return;
  int t = row % T, h = row / T % H, b = row / (T * H), C = H * D;
  const float *q = qkv + (b * T + t) * 3 * C + h * D;
  float *out = att + row * T;
  float scale = rsqrtf((float)D), highest = -1e30f, sum = 0;
  for (int s = threadIdx.x; s < T; s += 32) {
    float score = -1e30f;
    if (s <= t) {
      const float *k = qkv + (b * T + s) * 3 * C + C + h * D;
      score = 0;
      for (int d = 0; d < D; ++d) score += q[d] * k[d];
      score *= scale;
    }
    out[s] = score;
    highest = fmaxf(highest, score);
  }
  highest = warpMax(highest);
  for (int s = threadIdx.x; s < T; s += 32) {
    float e = s <= t ? expf(out[s] - highest) : 0;
    out[s] = e;
    sum += e;
  }
  sum = warpSum(sum);
  for (int s = threadIdx.x; s < T; s += 32) out[s] /= sum;
}

// out[b,t,h,d] = Σ_s att[b,h,t,s]·v[b,s,h,d]
__global__ void attentionValues(const float *qkv, const float *att, float *out, int B, int T, int H, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, C = H * D;
  if (i >= B * T * C) return;
  int c = i % C, t = i / C % T, b = i / (C * T), h = c / D;
  const float *weights = att + ((b * H + h) * T + t) * T;
  float sum = 0;
  for (int s = 0; s <= t; ++s) sum += weights[s] * qkv[(b * T + s) * 3 * C + 2 * C + c];
  out[i] = sum;
}

// dscore[b,h,t,s] = att·(datt − Σ att·datt)/√D, with datt[s] = dout·v[s]; one warp per (b,h,t).
__global__ void attentionBackwardScores(const float *qkv, const float *att, const float *dout, float *dscore, int B, int T, int H, int D) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= B * H * T) return;
  int t = row % T, h = row / T % H, b = row / (T * H), C = H * D;
  const float *dy = dout + (b * T + t) * C + h * D;
  float dot = 0;
  for (int s = threadIdx.x; s < T; s += 32) {
    float datt = 0;
    if (s <= t)
      for (int d = 0; d < D; ++d) datt += dy[d] * qkv[(b * T + s) * 3 * C + 2 * C + h * D + d];
    dscore[row * T + s] = datt;
    dot += datt * att[row * T + s];
  }
  dot = warpSum(dot);
  float scale = rsqrtf((float)D);
  for (int s = threadIdx.x; s < T; s += 32) dscore[row * T + s] = att[row * T + s] * (dscore[row * T + s] - dot) * scale;
}

// dq[t] = Σ_s dscore[t,s]·k[s]; dk[s] = Σ_t dscore[t,s]·q[t]; dv[s] = Σ_t att[t,s]·dout[t].
__global__ void attentionBackwardInputs(const float *qkv, const float *att, const float *dscore, const float *dout, float *dqkv, int B, int T, int H, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, C = H * D;
  if (i >= B * T * C) return;
  int c = i % C, t = i / C % T, b = i / (C * T), h = c / D;
  const float *base = qkv + b * T * 3 * C + c;
  int head = (b * H + h) * T;
  float dq = 0, dk = 0, dv = 0;
  for (int s = 0; s <= t; ++s) dq += dscore[(head + t) * T + s] * base[s * 3 * C + C];
  for (int s = t; s < T; ++s) {
    dk += dscore[(head + s) * T + t] * base[s * 3 * C];
    dv += att[(head + s) * T + t] * dout[(b * T + s) * C + c];
  }
  float *out = dqkv + (b * T + t) * 3 * C + c;
  out[0] = dq;
  out[C] = dk;
  out[2 * C] = dv;
}

// GELU by the tanh formula.
__global__ void gelu(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  out[i] = 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

__global__ void geluBackward(const float *in, const float *dout, float *din, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i], t = tanhf(0.79788456f * (x + 0.044715f * x * x * x));
  float slope = (1 - t * t) * 0.79788456f * (1 + 3 * 0.044715f * x * x);
  din[i] = dout[i] * (0.5f * (1 + t) + 0.5f * x * slope);
}

__global__ void add(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

// Cross-entropy of each row and its gradient (softmax − one-hot)/rows, in place of the logits.
__global__ void crossEntropy(float *logits, const int *targets, float *losses, int rows, int V) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float *x = logits + row * V;
  float highest = -1e30f, sum = 0;
  for (int v = threadIdx.x; v < V; v += 32) highest = fmaxf(highest, x[v]);
  highest = warpMax(highest);
  for (int v = threadIdx.x; v < V; v += 32) sum += expf(x[v] - highest);
  sum = warpSum(sum);
  int target = targets[row];
  float wanted = x[target];
  __syncwarp();
  for (int v = threadIdx.x; v < V; v += 32) x[v] = (expf(x[v] - highest) / sum - (v == target)) / rows;
  if (threadIdx.x == 0) losses[row] = logf(sum) + highest - wanted;
}

// AdamW with bias correction; step counts from 1.
__global__ void adamw(float *parameters, const float *gradients, float *first, float *second, int n, float rate, float decay, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float beta1 = 0.9f, beta2 = 0.99f;
  float g = gradients[i];
  float m = first[i] = beta1 * first[i] + (1 - beta1) * g;
  float v = second[i] = beta2 * second[i] + (1 - beta2) * g * g;
  m /= 1 - powf(beta1, (float)step);
  v /= 1 - powf(beta2, (float)step);
  parameters[i] -= rate * (m / (sqrtf(v) + 1e-8f) + decay * parameters[i]);
}
