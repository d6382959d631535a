// SPDX-License-Identifier: Apache-2.0
// Checks the backward pass of the GPT: along random directions, the gradient's slope must equal the
// loss's finite difference.
#include "model.cuh"

static double directionalLoss(Gpt &gpt, const std::vector<float> &weights, const std::vector<float> &direction, float step,
                              const std::vector<int> &tokens, const std::vector<int> &targets) {
  std::vector<float> moved(weights);
  for (size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
  CHECK(cudaMemcpy(gpt.weights().data(), moved.data(), moved.size() * sizeof(float), cudaMemcpyHostToDevice));
  gpt.forward(tokens);
  return gpt.loss(targets);
}

int main() {
  Shape shape;
  shape.batch = 2, shape.context = 12, shape.channels = 32, shape.heads = 2, shape.layers = 2;
  Gpt gpt(shape);
  std::vector<int> tokens(shape.rows()), targets(shape.rows());
  for (int i = 0; i < shape.rows(); ++i) tokens[i] = generator()() % 256, targets[i] = generator()() % 256;

  gpt.forward(tokens);
  gpt.loss(targets);
  gpt.backward();
  auto weights = toHost(gpt.weights().data(), gpt.parameterCount());
  auto gradients = toHost(gpt.gradients().data(), gpt.parameterCount());

  // One direction per parameter array, so that an error in any layer shows.
  Verdict verdict;
  std::map<size_t, std::string> byOffset;
  for (auto &[name, offset] : gpt.weights().offsets()) byOffset[offset] = name;
  size_t index = 0;
  for (auto it = byOffset.begin(); it != byOffset.end(); ++it, ++index) {
    size_t begin = it->first, end = std::next(it) == byOffset.end() ? weights.size() : std::next(it)->first;
    std::vector<float> direction(weights.size(), 0.0f);
    double norm = 0, slope = 0;
    for (size_t i = begin; i < end; ++i) norm += (double)gradients[i] * gradients[i];
    norm = std::sqrt(norm);
    // Along the gradient itself the slope is its norm: the largest, so least disturbed by rounding.
    for (size_t i = begin; i < end; ++i) direction[i] = norm > 0 ? (float)(gradients[i] / norm) : 0;
    for (size_t i = begin; i < end; ++i) slope += (double)gradients[i] * direction[i];
    auto central = [&](float h) {
      return (directionalLoss(gpt, weights, direction, h, tokens, targets) -
              directionalLoss(gpt, weights, direction, -h, tokens, targets)) / (2 * h);
    };
    // Two steps cancel the third derivative's part (Richardson), which is large for the small arrays.
    const float h = 0.02f;
    double difference = (4 * central(h) - central(2 * h)) / 3;
    verdict.expect(std::fabs(difference - slope) <= 0.02 * std::fabs(slope) + 1e-4, it->second.c_str(), index, slope, difference);
    verdict.expect(norm > 0, it->second.c_str(), index, norm, 1);
  }
  return verdict.report("gradients");
}
