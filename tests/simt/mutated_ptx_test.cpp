// SPDX-License-Identifier: Apache-2.0
// PTX that a compiler did not write: kernels with lines left out, doubled and moved, and with tokens changed. Each
// is refused by the reader, or its kernels compile or are refused with a reason; nothing ends in an internal error.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "simt/pipeline.h"

namespace strata::simt {
namespace {

using Lines = std::vector<std::string>;

std::string join(const Lines &lines) {
  std::string text;
  for (const std::string &line : lines) text += line + "\n";
  return text;
}

Lines read(const char *name) {
  std::ifstream file(std::string(STRATA_SOURCE_DIR "/tests/ptx/data/") + name);
  EXPECT_TRUE(file) << name;
  Lines lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool isInstruction(const std::string &line) {
  return line.find(';') != line.npos && line.find('.') != line.npos && line[0] == '\t';
}

// Words, and what is between them.
std::vector<std::string> tokens(const std::string &line) {
  std::vector<std::string> parts;
  for (char c : line) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$' || c == '.';
    const bool goesOn = !parts.empty() && word && c != '.' &&
                        (std::isalnum(static_cast<unsigned char>(parts.back().back())) || parts.back() == "." ||
                         parts.back() == "%" || parts.back() == "_");
    if (goesOn) parts.back() += c;
    else parts.push_back(std::string(1, c));
  }
  return parts;
}

class Mutator {
public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  Lines operator()(Lines lines) {
    for (std::size_t left = 1 + below(3); left; --left) mutate(lines);
    return lines;
  }
  // The kernels in which something is new; where it is in a function, those that may call it.
  std::set<std::string> changed;

private:
  std::size_t below(std::size_t n) { return random_() % n; }

  std::size_t anInstruction(const Lines &lines) {
    for (;;)
      if (std::size_t i = below(lines.size()); isInstruction(lines[i])) return i;
  }

  static std::string kernelOf(const Lines &lines, std::size_t at) {
    for (;; --at) {
      if (lines[at].find(".func") != std::string::npos || at == 0) return "calls";
      if (std::size_t entry = lines[at].find(".entry "); entry != std::string::npos)
        return lines[at].substr(entry + 7, lines[at].find('(') - entry - 7);
    }
  }

  void mutate(Lines &lines) {
    const std::size_t i = anInstruction(lines), j = anInstruction(lines);
    changed.insert(kernelOf(lines, i));
    switch (below(6)) {
      case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i)); return;
      case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), lines[j]); return;
      case 2:
        changed.insert(kernelOf(lines, j));
        std::swap(lines[i], lines[j]);
        return;
      case 3: lines[i] = withNumber(lines[i]); return;
      default: lines[i] = withToken(lines[i], tokens(lines[j])); return;
    }
  }

  std::string withToken(const std::string &line, const std::vector<std::string> &others) {
    auto parts = tokens(line);
    std::size_t at = below(parts.size());
    // Mostly like for like: a register for a register, a modifier for a modifier.
    for (int tries = 0; tries < 20; ++tries) {
      const std::string &other = others[below(others.size())];
      if (other[0] != parts[at][0] && tries < 15) continue;
      parts[at] = other;
      break;
    }
    std::string text;
    for (const std::string &part : parts) text += part;
    return text;
  }

  std::string withNumber(const std::string &line) {
    constexpr const char *kNumbers[] = {"0",
                                        "-1",
                                        "1",
                                        "31",
                                        "32",
                                        "64",
                                        "65535",
                                        "4294967295",
                                        "-2147483648",
                                        "9223372036854775807",
                                        "0d7FF0000000000000"};
    auto parts = tokens(line);
    std::string text;
    for (const std::string &part : parts)
      text += std::isdigit(static_cast<unsigned char>(part[0])) ? kNumbers[below(std::size(kNumbers))] : part;
    return text;
  }

  std::mt19937_64 random_;
};

std::uint64_t volatile seedNow = 0;
void reportSeed(int signal) {
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "signal %d with seed %llu\n", signal, static_cast<unsigned long long>(seedNow));
  [[maybe_unused]] auto written = write(2, text, static_cast<std::size_t>(length));
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// The kernels of one mutated text; how many of them compiled.
int compileAll(const std::string &text, const std::set<std::string> &kernels, bool lanes) {
  auto module = ptx::parse(text);
  if (!module) {
    EXPECT_NE(module.error().blame, Blame::internal) << module.error().message;
    return 0;
  }
  int compiled = 0;
  for (const std::string &kernel : kernels) {
    CompileOptions options;
    options.simd = Simd::avx2;
    options.mode = lanes ? Mode::lane : Mode::vector;
    options.blockMultipleOf32 = true;
    auto result = compileKernel(*module, kernel, options);
    compiled += static_cast<bool>(result);
    if (!result) EXPECT_NE(result.error().blame, Blame::internal) << kernel << ": " << result.error().message << "\n";
  }
  return compiled;
}

// STRATA_TEST_SEED runs one seed, STRATA_TEST_SECONDS runs longer.
TEST(MutatedPtx, IsRefusedOrCompiles) {
  for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM}) signal(number, reportSeed);
  const Lines sources[] = {read("kernels_o0.ptx"), read("kernels_o2_lines.ptx")};
  const char *only = std::getenv("STRATA_TEST_SEED"), *seconds = std::getenv("STRATA_TEST_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds ? std::atoi(seconds) : 3);
  int texts = 0, compiled = 0;
  std::random_device fresh;
  do {
    const std::uint64_t seed = only ? std::strtoull(only, nullptr, 10) : fresh();
    seedNow = seed;
    SCOPED_TRACE("seed " + std::to_string(seed));
    alarm(60);
    Mutator mutator(seed);
    const std::string text = join(mutator(sources[seed % 2]));
    compiled += compileAll(text, mutator.changed, seed % 8 < 2);
    ++texts;
    if (only && ::testing::Test::HasFailure()) std::ofstream("/tmp/strata_mutated.ptx") << text;
  } while (!only && std::chrono::steady_clock::now() < end);
  alarm(0);
  std::printf("%d texts, %d kernels compiled\n", texts, compiled);
  if (!only) EXPECT_GT(compiled, 0);
}

}  // namespace
}  // namespace strata::simt
