// SPDX-License-Identifier: Apache-2.0
// Trains a byte-level GPT on a text file, then lets it write.
//   gpt [TEXT] [STEPS] [CHARACTERS]   defaults: proverbs.txt beside the source, 300 steps, 400 characters
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

#include "model.cuh"

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

static std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Random windows of the text: tokens, and the same shifted by one as targets.
static void sampleBatch(const std::string &text, const Shape &shape, std::vector<int> &tokens, std::vector<int> &targets) {
  for (int b = 0; b < shape.batch; ++b) {
    size_t start = generator()() % (text.size() - shape.context - 1);
    for (int t = 0; t < shape.context; ++t) {
      tokens[b * shape.context + t] = (unsigned char)text[start + t];
      targets[b * shape.context + t] = (unsigned char)text[start + t + 1];
    }
  }
}

// Trains and returns {first loss, mean of the last tenth}.
static std::pair<float, float> train(Gpt &gpt, const Shape &shape, const std::string &text, int steps) {
  std::vector<int> tokens(shape.rows()), targets(shape.rows());
  float first = 0, tail = 0;
  int tailSteps = std::max(1, steps / 10);
  bool terminal = isatty(STDOUT_FILENO);
  auto start = Clock::now();
  for (int step = 1; step <= steps; ++step) {
    sampleBatch(text, shape, tokens, targets);
    gpt.forward(tokens);
    float loss = gpt.loss(targets);
    gpt.backward();
    float warmUp = std::min(1.0f, step / 20.0f), decay = 1 - 0.9f * step / steps;
    gpt.update(3e-3f * warmUp * decay, step);
    if (step == 1) first = loss;
    if (step > steps - tailSteps) tail += loss / tailSteps;
    if (step == 1 || step % 10 == 0 || step == steps) {
      std::printf("%sstep %4d/%d  loss %.3f  %.0f tokens/s%s", terminal ? "\r" : "", step, steps, loss,
                  step * (double)shape.rows() / secondsSince(start), terminal && step != steps ? "   " : "\n");
      std::fflush(stdout);
    }
  }
  return {first, tail};
}

static int pick(const std::vector<float> &logits, float temperature) {
  std::vector<double> weights;
  float highest = *std::max_element(logits.begin(), logits.end());
  for (float v : logits) weights.push_back(std::exp((v - highest) / temperature));
  return std::discrete_distribution<int>(weights.begin(), weights.end())(generator());
}

static void write(Gpt &gpt, const Shape &shape, std::string text, int characters) {
  std::printf("\n%s", text.c_str());
  std::vector<int> tokens(shape.rows());
  for (int n = 0; n < characters; ++n) {
    size_t from = text.size() > (size_t)shape.context ? text.size() - shape.context : 0;
    std::fill(tokens.begin(), tokens.end(), ' ');
    for (size_t i = from; i < text.size(); ++i) tokens[i - from] = (unsigned char)text[i];
    gpt.forward(tokens);
    text.push_back((char)pick(gpt.logits((int)(text.size() - from) - 1), 0.7f));
    std::putchar(text.back());
    std::fflush(stdout);
  }
  std::printf("\n");
}

int main(int argc, char **argv) {
  std::string path = argc > 1 ? argv[1] : std::string(__FILE__).substr(0, std::string(__FILE__).rfind('/') + 1) + "proverbs.txt";
  int steps = std::max(1, argument(argc, argv, 2, 300)), characters = argument(argc, argv, 3, 400);
  Shape shape;
  std::string text = readText(path);
  if (text.size() < (size_t)shape.context + 2) {
    std::fprintf(stderr, "gpt: %s: no text of at least %d bytes there\n", path.c_str(), shape.context + 2);
    return 1;
  }

  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  Gpt gpt(shape);
  std::printf("device: %s\nmodel: %zu parameters, %d layers, %d channels, context %d\ntext: %s, %zu bytes\n", device.name,
              gpt.parameterCount(), shape.layers, shape.channels, shape.context, path.c_str(), text.size());

  auto [first, last] = train(gpt, shape, text, steps);
  std::printf("loss %.3f -> %.3f\n", first, last);
  write(gpt, shape, "The ", characters);
  bool learned = steps < 50 || last < 0.6f * first;
  std::printf("%s\n", learned ? "gpt: PASSED" : "gpt: FAILED, the loss did not fall");
  return learned ? 0 : 1;
}
