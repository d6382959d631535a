// SPDX-License-Identifier: Apache-2.0
// printf of device code against the host's: random formats of every flag, width, precision, length and conversion, as literals and as strings
// made at run time; what CUDA has otherwise: the result, long double, 32 arguments at most.
#include <unistd.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "check.h"

static unsigned seed = std::random_device{}();
static std::mt19937_64 engine(seed);
static unsigned below(unsigned n) { return engine() % n; }

// What the device prints while `run` and all it has launched run.
template <class F>
std::string printed(F run) {
  std::fflush(stdout);
  std::FILE *file = std::tmpfile();
  CHECK(file);
  const int out = dup(1);
  CHECK(dup2(fileno(file), 1) == 1);
  run();
  const cudaError_t status = cudaDeviceSynchronize();
  std::fflush(stdout);
  dup2(out, 1);
  close(out);
  CHECK_CUDA(status);
  std::string text;
  char buffer[4096];
  std::fseek(file, 0, SEEK_SET);
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  std::fclose(file);
  return text;
}

struct Case {
  std::string format, arguments, want;  // arguments: as vprintf reads them
  int count = 0;

  template <class T>
  void add(T value) {
    while (arguments.size() % sizeof(T)) arguments += '\xa5';
    arguments.append(reinterpret_cast<const char *>(&value), sizeof value);
    ++count;
  }
};

template <class T>
std::string formatted(const std::string &spec, const std::vector<int> &stars, T value) {
  std::string text(30000, 0);
  const char *s = spec.c_str();
  const int size = stars.empty()       ? std::snprintf(text.data(), text.size(), s, value)
                   : stars.size() == 1 ? std::snprintf(text.data(), text.size(), s, stars[0], value)
                                       : std::snprintf(text.data(), text.size(), s, stars[0], stars[1], value);
  CHECK(size >= 0);
  text.resize(size);
  return text;
}

static const char *strings[] = {"", "a", "text", "a longer text of words", nullptr};
static char *deviceStrings;  // the same, 64 bytes apart

static double anyDouble() {
  static const double special[] = {0.0, -0.0, 1.0, 0.5, 1e100, -1e-100, 5e-324, INFINITY, -INFINITY, NAN, 123456.789, 9.9999999, 2.5};
  if (below(2)) return special[below(std::size(special))];
  std::uint64_t bits = engine();
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value != value ? NAN : std::ldexp(value, -std::ilogb(value) + static_cast<int>(below(60)) - 30);
}

template <class T>
void addInteger(Case &c, const std::string &spec, const std::vector<int> &stars) {
  const T value = below(3) ? static_cast<T>(engine() >> below(64)) : static_cast<T>(INT_MIN >> below(32));
  c.want += formatted(spec, stars, value);
  c.add(value);
}

static void addConversion(Case &c) {
  std::string spec = "%";
  std::vector<int> stars;
  for (unsigned n = below(4); n > 0; --n) spec += "-+ #0"[below(5)];
  auto number = [&](bool width) {
    if (below(4) == 0) {
      stars.push_back(static_cast<int>(below(40)) - (below(3) ? 0 : 20));
      c.add(stars.back());
      spec += '*';
    } else if (!width || below(2)) {
      spec += std::to_string(below(30) + width);
    }
  };
  if (below(2)) number(true);
  if (below(2)) spec += '.', below(5) ? number(false) : void();
  const char letter = "dioxXucspeEfFgGaA%"[below(18)];
  static const char *lengths[] = {"", "h", "hh", "l", "ll", "j", "z", "t"};
  const unsigned length = std::strchr("dioxXu", letter) ? below(8) : 0;
  spec += lengths[length];
  spec += letter;
  switch (letter) {
    case '%': c.want += '%'; break;
    case 'c': {
      const int value = 33 + below(90);
      c.want += formatted(spec, stars, value);
      c.add(value);
      break;
    }
    case 's': {
      const unsigned which = below(std::size(strings));
      c.want += formatted(spec, stars, strings[which]);
      c.add(strings[which] ? deviceStrings + 64 * which : nullptr);
      break;
    }
    case 'p': {
      void *value = reinterpret_cast<void *>(engine() >> below(64));
      c.want += formatted(spec, stars, value);
      c.add(value);
      break;
    }
    default:
      if (!std::strchr("dioxXu", letter)) {
        const double value = anyDouble();
        c.want += formatted(spec, stars, value);
        c.add(value);
      } else if (length >= 3) {
        addInteger<long long>(c, spec, stars);
      } else {
        addInteger<int>(c, spec, stars);
      }
  }
  c.format += spec;
}

static Case anyCase() {
  Case c;
  for (unsigned n = 1 + below(5); n > 0; --n) {
    for (unsigned k = below(4); k > 0; --k) c.format += 'a' + below(26), c.want += c.format.back();
    addConversion(c);
  }
  c.format += '\n';
  c.want += '\n';
  return c;
}

__global__ void printAll(const char *text, const unsigned *at, int *result, unsigned count) {
  for (unsigned i = 0; i < count; ++i) result[i] = vprintf(text + at[2 * i], text + at[2 * i + 1]);
}

static int compare(const std::vector<Case> &cases, bool verbose = true) {
  std::string text;
  std::vector<unsigned> at;
  std::string want;
  auto place = [&](const std::string &bytes) {
    text.resize((text.size() + 15) / 16 * 16);
    at.push_back(text.size());
    text += bytes;
    text += '\0';
  };
  for (const Case &c : cases) place(c.format), place(c.arguments), want += c.want;
  char *deviceText;
  unsigned *deviceAt;
  int *result;
  CHECK_CUDA(cudaMalloc(&deviceText, text.size()));
  CHECK_CUDA(cudaMalloc(&deviceAt, at.size() * 4));
  CHECK_CUDA(cudaMallocManaged(&result, cases.size() * 4));
  std::memset(result, 0xa5, cases.size() * 4);
  CHECK_CUDA(cudaMemcpy(deviceText, text.data(), text.size(), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(deviceAt, at.data(), at.size() * 4, cudaMemcpyHostToDevice));
  std::string got = printed([&] { printAll<<<1, 1>>>(deviceText, deviceAt, result, cases.size()); });
  int wrong = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < cases.size() && wrong < 12; ++i) {
    const Case &c = cases[i];
    const std::string line = got.substr(std::min(from, got.size()), c.want.size());
    if (line != c.want || result[i] != c.count) {
      ++wrong;
      if (verbose) std::printf("format %s  got  %s  want %s  result %d, want %d\n", c.format.c_str(), line.c_str(), c.want.c_str(), result[i], c.count);
      const std::size_t end = got.find('\n', from);  // go on behind it
      from = end == std::string::npos ? got.size() : end + 1;
    } else {
      from += c.want.size();
    }
  }
  if (from != got.size()) ++wrong;
  CHECK_CUDA(cudaFree(deviceText));
  CHECK_CUDA(cudaFree(deviceAt));
  CHECK_CUDA(cudaFree(result));
  return wrong;
}

__global__ void literals(int *result) {
  int *r = result;
  *r++ = printf("%5%|%c%c%c|\n", 'a', 'b', 'c');
  *r++ = printf("%-3%|%d|%d\n", 1, 2);
  *r++ = printf("nothing\n");
  *r++ = printf("%hhd %hd %d %ld %lld %zu %jd %td\n", 300, 70000, -1, -2l, -3ll, size_t(4), 5l, 6l);
  *r++ = printf("%s %.3s %10s|\n", static_cast<const char *>(nullptr), "abcdef", "right");
  *r++ = printf("%f %.2f %c %p\n", 1.5f, 2.25, 'x', static_cast<void *>(nullptr));
  *r++ = printf(nullptr);
}
static const char *literalWant = "%|abc|\n%|1|2\nnothing\n44 4464 -1 -2 -3 4 5 6\n(null) abc      right|\n1.500000 2.25 x (nil)\n";
static const int literalResults[] = {3, 2, 0, 8, 3, 4, -1};

// More than 32 arguments: what is beyond them is printed as it stands. So are conversions that do not exist.
static Case special(int which) {
  Case c;
  if (which == 0) {
    for (int i = 0; i < 40; ++i) {
      c.format += "%d ";
      c.add(i);
      c.want += i < 32 ? std::to_string(i) + " " : "%d ";
    }
    c.count = 32;
  } else if (which == 1) {
    c.format = "%y %-08k|%d";
    c.add(7);
    c.want = "%y %-08k|7";
  } else {
    c.format = "%d%n|%d|%";
    c.add(1), c.add<void *>(nullptr), c.add(2);
    c.want = "1|2|%";
  }
  c.format += '\n';
  c.want += '\n';
  return c;
}

int main() {
  int wrong = 0;
  CHECK_CUDA(cudaMalloc(&deviceStrings, 64 * std::size(strings)));
  for (std::size_t i = 0; i < std::size(strings); ++i)
    if (strings[i]) CHECK_CUDA(cudaMemcpy(deviceStrings + 64 * i, strings[i], std::strlen(strings[i]) + 1, cudaMemcpyHostToDevice));
  for (int round = 0; round < 20; ++round) {
    std::vector<Case> cases(250);
    for (Case &c : cases) c = anyCase();
    wrong += compare(cases);
  }
  for (int which = 0; which < 3; ++which) wrong += compare({special(which)});
  int *result;
  CHECK_CUDA(cudaMallocManaged(&result, sizeof literalResults));
  const std::string got = printed([&] { literals<<<1, 1>>>(result); });
  if (got != literalWant) ++wrong, std::printf("got\n%swant\n%s", got.c_str(), literalWant);
  for (std::size_t i = 0; i < std::size(literalResults); ++i)
    if (result[i] != literalResults[i]) ++wrong, std::printf("literal %zu: result %d, want %d\n", i, result[i], literalResults[i]);
  std::printf("seed %u: %s\n", seed, wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
