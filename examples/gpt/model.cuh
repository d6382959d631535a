// SPDX-License-Identifier: Apache-2.0
// A byte-level GPT: the order of the kernels in a forward and a backward pass, and the memory they use.
#pragma once

#include <map>
#include <string>

#include "../check.h"
#include "kernels.cuh"

struct Shape {
  int batch = 8, context = 64, channels = 96, heads = 4, layers = 3;
  static constexpr int vocabulary = 256;
  int rows() const { return batch * context; }
};

// Float arrays in one device allocation, by name ("3.qkv.w" is in layer 3).
class Arena {
public:
  void add(const std::string &name, size_t count) {
    offsets_[name] = size_;
    size_ += count;
  }
  void allocate() {
    CHECK(cudaMalloc(&data_, size_ * sizeof(float)));
    zero();
  }
  void zero() { CHECK(cudaMemset(data_, 0, size_ * sizeof(float))); }
  float *operator[](const std::string &name) const { return data_ + offsets_.at(name); }
  float *data() const { return data_; }
  size_t size() const { return size_; }
  const std::map<std::string, size_t> &offsets() const { return offsets_; }
  ~Arena() { cudaFree(data_); }

private:
  std::map<std::string, size_t> offsets_;
  size_t size_ = 0;
  float *data_ = nullptr;
};

class Gpt {
public:
  explicit Gpt(Shape shape) : s_(shape) {
    for (Arena *arena : {&weights_, &gradients_, &first_, &second_}) addParameters(*arena);
    for (Arena *arena : {&acts_, &dacts_}) addActivations(*arena);
    for (Arena *arena : {&weights_, &gradients_, &first_, &second_, &acts_, &dacts_}) arena->allocate();
    CHECK(cudaMalloc(&tokens_, s_.rows() * sizeof(int)));
    CHECK(cudaMalloc(&targets_, s_.rows() * sizeof(int)));
    initialise();
  }
  ~Gpt() {
    cudaFree(tokens_);
    cudaFree(targets_);
  }

  size_t parameterCount() const { return weights_.size(); }
  Arena &weights() { return weights_; }
  Arena &gradients() { return gradients_; }

  // Logits [rows, 256] of the tokens stay in acts "logits".
  void forward(const std::vector<int> &tokens) {
    CHECK(cudaMemcpy(tokens_, tokens.data(), tokens.size() * sizeof(int), cudaMemcpyHostToDevice));
    int C = s_.channels, R = s_.rows();
    embed<<<blocks(R * C), 256>>>(tokens_, weights_["tokens"], weights_["positions"], acts_["0.in"], R, s_.context, C);
    for (int l = 0; l < s_.layers; ++l) layerForward(std::to_string(l) + ".", std::to_string(l + 1) + ".");
    std::string last = std::to_string(s_.layers) + ".in";
    norm("final", last, "final.out");
    linear("final.out", "head", "logits", s_.vocabulary, C, false);
  }

  std::vector<float> logits(int row) const { return toHost(acts_["logits"] + (size_t)row * s_.vocabulary, s_.vocabulary); }

  // Mean loss in nats per byte; leaves the logits' gradient in their place.
  float loss(const std::vector<int> &targets) {
    CHECK(cudaMemcpy(targets_, targets.data(), targets.size() * sizeof(int), cudaMemcpyHostToDevice));
    crossEntropy<<<(s_.rows() + 7) / 8, dim3(32, 8)>>>(acts_["logits"], targets_, acts_["losses"], s_.rows(), s_.vocabulary);
    double sum = 0;
    for (float v : toHost(acts_["losses"], s_.rows())) sum += v;
    return (float)(sum / s_.rows());
  }

  // Gradients of all parameters; call after forward() and loss().
  void backward() {
    gradients_.zero();
    dacts_.zero();
    int C = s_.channels, R = s_.rows();
    CHECK(cudaMemcpy(dacts_["logits"], acts_["logits"], (size_t)R * s_.vocabulary * sizeof(float), cudaMemcpyDeviceToDevice));
    linearBackward("final.out", "head", "logits", s_.vocabulary, C, false);
    normBackward("final", std::to_string(s_.layers) + ".in", "final.out");
    for (int l = s_.layers; l-- > 0;) layerBackward(std::to_string(l) + ".", std::to_string(l + 1) + ".");
    embedBackward<<<blocks(R * C), 256>>>(tokens_, dacts_["0.in"], gradients_["tokens"], gradients_["positions"], R, s_.context, C);
  }

  void update(float rate, int step) {
    adamw<<<blocks((int)weights_.size()), 256>>>(weights_.data(), gradients_.data(), first_.data(), second_.data(), (int)weights_.size(), rate, 0.01f, step);
    CHECK(cudaGetLastError());
  }

private:
  static int blocks(int n) { return (n + 255) / 256; }

  void addParameters(Arena &a) const {
    size_t C = s_.channels;
    a.add("tokens", s_.vocabulary * C);
    a.add("positions", s_.context * C);
    auto dense = [&](const std::string &name, size_t out, size_t in) {
      a.add(name + ".w", out * in);
      a.add(name + ".b", out);
    };
    auto gainAndBias = [&](const std::string &name) {
      a.add(name + ".g", C);
      a.add(name + ".b", C);
    };
    for (int l = 0; l < s_.layers; ++l) {
      std::string p = std::to_string(l) + ".";
      gainAndBias(p + "norm1");
      dense(p + "qkv", 3 * C, C);
      dense(p + "project", C, C);
      gainAndBias(p + "norm2");
      dense(p + "up", 4 * C, C);
      dense(p + "down", C, 4 * C);
    }
    gainAndBias("final");
    a.add("head.w", s_.vocabulary * C);
  }

  void addActivations(Arena &a) const {
    size_t C = s_.channels, R = s_.rows(), square = (size_t)s_.batch * s_.heads * s_.context * s_.context;
    for (int l = 0; l <= s_.layers; ++l) {
      std::string p = std::to_string(l) + ".";
      a.add(p + "in", R * C);
      if (l == s_.layers) break;
      for (const char *name : {"norm1.out", "mixed", "projected", "middle", "norm2.out", "fromMlp"}) a.add(p + name, R * C);
      for (const char *name : {"norm1", "norm2"})
        for (const char *part : {".mean", ".rstd"}) a.add(p + name + part, R);
      a.add(p + "qkv", R * 3 * C);
      a.add(p + "att", square);
      a.add(p + "up", R * 4 * C);
      a.add(p + "gelu", R * 4 * C);
    }
    a.add("final.out", R * C);
    a.add("final.mean", R);
    a.add("final.rstd", R);
    a.add("logits", R * s_.vocabulary);
    a.add("losses", R);
  }

  // Normal(0, 0.02) matrices, gains 1, biases 0.
  void initialise() {
    std::vector<float> values(weights_.size(), 0.0f);
    std::normal_distribution<float> normal(0, 0.02f);
    size_t end = values.size();
    std::map<size_t, std::string> byOffset;
    for (auto &[name, offset] : weights_.offsets()) byOffset[offset] = name;
    for (auto it = byOffset.rbegin(); it != byOffset.rend(); end = it->first, ++it)
      for (size_t i = it->first; i < end; ++i) {
        const std::string kind = it->second.substr(it->second.rfind('.') + 1);
        if (kind == "g") values[i] = 1;
        else if (kind != "b") values[i] = normal(generator());
      }
    CHECK(cudaMemcpy(weights_.data(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  }

  // acts[out] = acts[in]·Wᵀ + b, W: [outs, ins]
  void linear(const std::string &in, const std::string &layer, const std::string &out, int outs, int ins, bool bias = true) {
    dim3 grid((outs + kTile - 1) / kTile, (s_.rows() + kTile - 1) / kTile), block(kTile, kTile);
    matmul<false, true><<<grid, block>>>(acts_[in], weights_[layer + ".w"], bias ? weights_[layer + ".b"] : nullptr, acts_[out], s_.rows(), outs, ins, false);
  }

  void linearBackward(const std::string &in, const std::string &layer, const std::string &out, int outs, int ins, bool bias = true) {
    int R = s_.rows();
    dim3 block(kTile, kTile), toInput((ins + kTile - 1) / kTile, (R + kTile - 1) / kTile), toWeight((ins + kTile - 1) / kTile, (outs + kTile - 1) / kTile);
    matmul<false, false><<<toInput, block>>>(dacts_[out], weights_[layer + ".w"], nullptr, dacts_[in], R, ins, outs, false);
    matmul<true, false><<<toWeight, block>>>(dacts_[out], acts_[in], nullptr, gradients_[layer + ".w"], outs, ins, R, true);
    if (bias) biasBackward<<<blocks(outs), 256>>>(dacts_[out], gradients_[layer + ".b"], R, outs);
  }

  void norm(const std::string &name, const std::string &in, const std::string &out) {
    layerNorm<<<(s_.rows() + 7) / 8, dim3(32, 8)>>>(acts_[in], weights_[name + ".g"], weights_[name + ".b"], acts_[out], acts_[name + ".mean"], acts_[name + ".rstd"], s_.rows(), s_.channels);
  }

  void normBackward(const std::string &name, const std::string &in, const std::string &out) {
    layerNormBackward<<<(s_.rows() + 7) / 8, dim3(32, 8)>>>(acts_[in], weights_[name + ".g"], acts_[name + ".mean"], acts_[name + ".rstd"], dacts_[out], dacts_[in], s_.rows(), s_.channels);
    layerNormBackwardParameters<<<blocks(s_.channels), 256>>>(acts_[in], acts_[name + ".mean"], acts_[name + ".rstd"], dacts_[out], gradients_[name + ".g"], gradients_[name + ".b"], s_.rows(), s_.channels);
  }

  void layerForward(const std::string &p, const std::string &next) {
    int C = s_.channels, R = s_.rows(), B = s_.batch, T = s_.context, H = s_.heads, D = C / H;
    norm(p + "norm1", p + "in", p + "norm1.out");
    linear(p + "norm1.out", p + "qkv", p + "qkv", 3 * C, C);
    attentionWeights<<<(B * H * T + 7) / 8, dim3(32, 8)>>>(acts_[p + "qkv"], acts_[p + "att"], B, T, H, D);
    attentionValues<<<blocks(R * C), 256>>>(acts_[p + "qkv"], acts_[p + "att"], acts_[p + "mixed"], B, T, H, D);
    linear(p + "mixed", p + "project", p + "projected", C, C);
    add<<<blocks(R * C), 256>>>(acts_[p + "in"], acts_[p + "projected"], acts_[p + "middle"], R * C);
    norm(p + "norm2", p + "middle", p + "norm2.out");
    linear(p + "norm2.out", p + "up", p + "up", 4 * C, C);
    gelu<<<blocks(R * 4 * C), 256>>>(acts_[p + "up"], acts_[p + "gelu"], R * 4 * C);
    linear(p + "gelu", p + "down", p + "fromMlp", C, 4 * C);
    add<<<blocks(R * C), 256>>>(acts_[p + "middle"], acts_[p + "fromMlp"], acts_[next + "in"], R * C);
  }

  void layerBackward(const std::string &p, const std::string &next) {
    int C = s_.channels, R = s_.rows(), B = s_.batch, T = s_.context, H = s_.heads, D = C / H;
    size_t bytes = (size_t)R * C * sizeof(float);
    auto pass = [&](const std::string &from, const std::string &to) { CHECK(cudaMemcpyAsync(dacts_[to], dacts_[from], bytes, cudaMemcpyDeviceToDevice)); };
    pass(next + "in", p + "fromMlp");
    pass(next + "in", p + "middle");
    linearBackward(p + "gelu", p + "down", p + "fromMlp", C, 4 * C);
    geluBackward<<<blocks(R * 4 * C), 256>>>(acts_[p + "up"], dacts_[p + "gelu"], dacts_[p + "up"], R * 4 * C);
    linearBackward(p + "norm2.out", p + "up", p + "up", 4 * C, C);
    normBackward(p + "norm2", p + "middle", p + "norm2.out");
    pass(p + "middle", p + "projected");
    pass(p + "middle", p + "in");
    linearBackward(p + "mixed", p + "project", p + "projected", C, C);
    attentionBackwardScores<<<(B * H * T + 7) / 8, dim3(32, 8)>>>(acts_[p + "qkv"], acts_[p + "att"], dacts_[p + "mixed"], dacts_[p + "att"], B, T, H, D);
    attentionBackwardInputs<<<blocks(R * C), 256>>>(acts_[p + "qkv"], acts_[p + "att"], dacts_[p + "att"], dacts_[p + "mixed"], dacts_[p + "qkv"], B, T, H, D);
    linearBackward(p + "norm1.out", p + "qkv", p + "qkv", 3 * C, C);
    normBackward(p + "norm1", p + "in", p + "norm1.out");
  }

  Shape s_;
  Arena weights_, gradients_, first_, second_, acts_, dacts_;
  int *tokens_ = nullptr, *targets_ = nullptr;
};
