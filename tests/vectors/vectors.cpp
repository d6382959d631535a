// SPDX-License-Identifier: Apache-2.0
// Executes every line of instructions.txt on edge and pseudo-random operands through the driver API.
//   vectors record DRIVER INSTRUCTIONS FILE    writes the results (on real hardware)
//   vectors compare DRIVER INSTRUCTIONS FILE   executes and compares with recorded results
// FILE: for each line of instructions.txt a 64-bit hash of the line, then kThreads results of 8 bytes.
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "toolkit/include/cuda.h"

namespace {

constexpr int kThreads = 192, kPerKernel = 16;
using Results = std::vector<std::uint64_t>;  // kThreads values, zero-extended

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "vectors: %s\n", what.c_str());
  std::exit(2);
}

struct Driver {
  void *library;
  explicit Driver(const char *path) : library(dlopen(path, RTLD_NOW)) {
    if (!library) fail(dlerror());
  }
  template <class... A>
  CUresult call(const char *name, A... arguments) const {
    auto *function = reinterpret_cast<CUresult (*)(A...)>(dlsym(library, name));
    if (!function) fail(std::string("no ") + name);
    return function(arguments...);
  }
};

struct Case {
  std::string line, result, tolerance, code;
  std::vector<std::string> operands;
};

unsigned width(const std::string &type) {
  if (type.ends_with("x2")) return 32;
  return static_cast<unsigned>(std::atoi(type.c_str() + type.find_first_of("0123456789")));
}

std::uint64_t hashOf(const std::string &text) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001B3ull;
  return h;
}

std::vector<Case> readCases(const char *path) {
  std::ifstream file(path);
  if (!file) fail(std::string("cannot read ") + path);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Case c;
    std::string operands;
    words >> c.result >> operands >> c.tolerance;
    std::getline(words, c.code);
    std::istringstream list(operands);
    for (std::string type; std::getline(list, type, ',');) c.operands.push_back(type);
    c.line = line;
    cases.push_back(c);
  }
  return cases;
}

// --- operands --------------------------------------------------------------------------------------

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

// Twelve values where things go wrong, per type.
std::uint64_t edge(const std::string &type, unsigned i) {
  static const std::uint64_t f32[] = {0,          0x80000000, 0x3F800000, 0xBFC00000, 0x7F800000, 0xFF800000,
                                      0x7FC00000, 1,          0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x4F000000};
  static const std::uint64_t f64[] = {0,
                                      1ull << 63,
                                      0x3FF0000000000000,
                                      0xBFF8000000000000,
                                      0x7FF0000000000000,
                                      0xFFF0000000000000,
                                      0x7FF8000000000000,
                                      1,
                                      0x000FFFFFFFFFFFFF,
                                      0x0010000000000000,
                                      0x7FEFFFFFFFFFFFFF,
                                      0x41E0000000000000};
  static const std::uint64_t f16[] = {0,      0x8000, 0x3C00, 0xBE00, 0x7C00, 0xFC00,
                                      0x7E00, 1,      0x03FF, 0x0400, 0x7BFF, 0x4248};
  static const std::uint64_t bf16[] = {0,      0x8000, 0x3F80, 0xBFC0, 0x7F80, 0xFF80,
                                       0x7FC0, 1,      0x007F, 0x0080, 0x7F7F, 0x4049};
  static const std::uint64_t integer[] = {0,  1,    2,    ~0ull,  ~1ull,      31,
                                          32, 0x7F, 0x80, 0xFF00, 0x55555555, 0x123456789ABCDEF0};
  if (type == "f32") return f32[i];
  if (type == "f64") return f64[i];
  if (type == "f16") return f16[i];
  if (type == "bf16") return bf16[i];
  if (type == "f16x2") return f16[i] | f16[(i * 5 + 3) % 12] << 16;
  if (type == "bf16x2") return bf16[i] | bf16[(i * 5 + 3) % 12] << 16;
  unsigned w = width(type);
  if (i == 7) return 1ull << (w - 1);  // the most negative
  if (i == 8) return (1ull << (w - 1)) - 1;
  return integer[i];
}

std::uint64_t operand(const std::string &type, unsigned thread, unsigned which) {
  unsigned w = width(type);
  std::uint64_t mask = w == 64 ? ~0ull : (1ull << w) - 1;
  if (thread < 144) {
    unsigned i = which == 0 ? thread % 12 : which == 1 ? thread / 12 : static_cast<unsigned>(mix(thread + 7) % 12);
    return edge(type, i) & mask;
  }
  std::uint64_t random = mix(thread * 0x9E3779B97F4A7C15ull + which * 0xD1B54A32D192ED03ull + 1);
  if (type == "f32" && thread % 2) {  // a number of everyday size
    float f = (static_cast<std::int32_t>(random >> 32)) * 0x1p-24f;
    std::uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return bits;
  }
  if (type == "f64" && thread % 2) {
    double d = static_cast<std::int64_t>(random) * 0x1p-52;
    std::memcpy(&random, &d, 8);
  }
  return random & mask;
}

// --- kernels ----------------------------------------------------------------------------------------

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

char registerLetter(const std::string &type) {
  unsigned w = width(type);
  if (type == "f32") return 'f';
  if (type == "f64") return 'e';
  return w == 16 ? 'h' : w == 64 ? 'l' : 'r';
}

std::string bits(unsigned w) { return "b" + std::to_string(w); }

// One kernel for cases [first, last): operands at in + ((case·3 + which)·kThreads + thread)·8, results at
// out + (case·kThreads + thread)·8.
std::string kernelText(const std::vector<Case> &cases, std::size_t first, std::size_t last) {
  std::string text =
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
      "  .reg .b64 %in, %out, %o, %bits;\n  .reg .b32 %t;\n"
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n  mul.wide.u32 %o, %t, 8;\n"
      "  add.u64 %in, %in, %o;\n  add.u64 %out, %out, %o;\n";
  for (std::size_t i = first; i < last; ++i) {
    const Case &c = cases[i];
    std::string code = c.code;
    text +=
        "  {\n  .reg .b16 %h<4>;\n  .reg .b32 %r<4>;\n  .reg .b64 %l<4>;\n  .reg .f32 %f<4>;\n  .reg .f64 %e<4>;\n  "
        ".reg .b32 %x;\n  .reg .f32 %g;\n  .reg .pred %p, %q;\n";
    for (unsigned k = 0; k < c.operands.size(); ++k) {
      std::string reg = std::string("%") + registerLetter(c.operands[k]) + std::to_string(k);
      std::string type = c.operands[k] == "f32" || c.operands[k] == "f64" ? c.operands[k] : bits(width(c.operands[k]));
      text +=
          "  ld.global." + type + " " + reg + ", [%in+" + std::to_string(((i - first) * 3 + k) * kThreads * 8) + "];\n";
      code = replaceAll(code, std::string("%") + "abc"[k], reg);
    }
    std::string reg = std::string("%") + registerLetter(c.result) + "3";
    text += "  " + replaceAll(code, "%d", reg) + "\n";
    std::string type = c.result == "f32" || c.result == "f64" ? c.result : bits(width(c.result));
    text += "  st.global." + type + " [%out+" + std::to_string((i - first) * kThreads * 8) + "], " + reg + ";\n  }\n";
  }
  return text + "  ret;\n}\n";
}

// Results of cases [first, last), or an error text.
std::string execute(const Driver &d, const std::vector<Case> &cases, std::size_t first, std::size_t last,
                    std::vector<Results> &all) {
  std::string text = kernelText(cases, first, last);
  std::size_t count = last - first;
  std::vector<std::uint64_t> in(count * 3 * kThreads), out(count * kThreads, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (unsigned k = 0; k < cases[first + i].operands.size(); ++k)
      for (unsigned t = 0; t < kThreads; ++t)
        in[(i * 3 + k) * kThreads + t] = operand(cases[first + i].operands[k], t, k);
  char log[2048] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUmodule module;
  CUfunction function;
  if (CUresult r = d.call("cuModuleLoadDataEx", &module, static_cast<const void *>(text.c_str()), 2u,
                          static_cast<CUjit_option *>(options), static_cast<void **>(values)))
    return "error " + std::to_string(r) + " " + log;
  if (CUresult r = d.call("cuModuleGetFunction", &function, module, "k")) return "error " + std::to_string(r);
  CUdeviceptr din, dout;
  d.call("cuMemAlloc_v2", &din, in.size() * 8);
  d.call("cuMemAlloc_v2", &dout, out.size() * 8);
  d.call("cuMemcpyHtoD_v2", din, static_cast<const void *>(in.data()), in.size() * 8);
  d.call("cuMemcpyHtoD_v2", dout, static_cast<const void *>(out.data()), out.size() * 8);
  void *arguments[] = {&din, &dout};
  CUresult r = d.call("cuLaunchKernel", function, 1u, 1u, 1u, unsigned(kThreads), 1u, 1u, 0u,
                      static_cast<CUstream>(nullptr), static_cast<void **>(arguments), static_cast<void **>(nullptr));
  if (!r) r = d.call("cuCtxSynchronize");
  if (r) return "launch error " + std::to_string(r);
  d.call("cuMemcpyDtoH_v2", static_cast<void *>(out.data()), dout, out.size() * 8);
  d.call("cuMemFree_v2", din);
  d.call("cuMemFree_v2", dout);
  d.call("cuModuleUnload", module);
  for (std::size_t i = 0; i < count; ++i)
    all[first + i] = Results(out.begin() + i * kThreads, out.begin() + (i + 1) * kThreads);
  return {};
}

// Kernels of several cases; where one is refused, its cases one by one, so that the error names the line.
int executeAll(const Driver &d, const std::vector<Case> &cases, std::vector<Results> &all) {
  CUdevice device;
  CUcontext context;
  if (d.call("cuInit", 0u) || d.call("cuDeviceGet", &device, 0) ||
      d.call("cuDevicePrimaryCtxRetain", &context, device) || d.call("cuCtxSetCurrent", context))
    fail("no device");
  all.assign(cases.size(), {});
  int refused = 0;
  for (std::size_t first = 0; first < cases.size(); first += kPerKernel) {
    std::size_t last = std::min(first + kPerKernel, cases.size());
    if (execute(d, cases, first, last, all).empty()) continue;
    for (std::size_t i = first; i < last; ++i)
      if (std::string error = execute(d, cases, i, i + 1, all); !error.empty()) {
        ++refused;
        std::printf("refused: %s\n  %s\n", cases[i].line.c_str(), error.c_str());
      }
  }
  return refused;
}

// --- comparison ---------------------------------------------------------------------------------------

double asDouble(const std::string &type, std::uint64_t bits) {
  if (type == "f64") {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  if (type == "f16") {
    int exponent = bits >> 10 & 31;
    double m = bits & 1023, v = exponent == 31 ? (m ? NAN : INFINITY)
                                : exponent     ? std::ldexp(1024 + m, exponent - 25)
                                               : std::ldexp(m, -24);
    return bits & 0x8000 ? -v : v;
  }
  std::uint32_t word = static_cast<std::uint32_t>(type == "bf16" ? bits << 16 : bits);
  float f;
  std::memcpy(&f, &word, 4);
  return f;
}

bool within(const std::string &tolerance, const std::string &type, double got, double want) {
  if (std::isinf(want) || std::isinf(got)) return got == want;
  double difference = std::fabs(got - want), allowed = 0;
  for (std::size_t at = 0; at < tolerance.size();) {
    std::size_t colon = tolerance.find(':', at);
    std::string kind = tolerance.substr(at, colon - at);
    double amount = std::strtod(tolerance.c_str() + colon + 1, nullptr);
    int exponent;
    std::frexp(want, &exponent);
    if (kind == "abs") allowed += amount;
    else if (kind == "rel") allowed += amount * std::fabs(want);
    else if (kind == "half") allowed += amount * std::ldexp(1, std::max(exponent - (type == "bf16" ? 8 : 11), -24));
    else if (kind == "ulp") allowed += amount * std::ldexp(1, std::max(exponent - 24, -149));
    at = tolerance.find_first_of("+", colon);
    if (at == std::string::npos) break;
    ++at;
  }
  return difference <= allowed;
}

bool agrees(const Case &c, const std::string &type, std::uint64_t got, std::uint64_t want) {
  if (type.ends_with("x2")) {
    std::string half = type.substr(0, type.size() - 2);
    return agrees(c, half, got & 0xFFFF, want & 0xFFFF) && agrees(c, half, got >> 16, want >> 16);
  }
  if (got == want) return true;
  if (type[0] != 'f' && type != "bf16") return false;
  double g = asDouble(type, got), w = asDouble(type, want);
  if (std::isnan(g) || std::isnan(w)) return std::isnan(g) && std::isnan(w);
  return c.tolerance != "=" && within(c.tolerance, type, g, w);
}

// The range in which PTX bounds the error: of a division's divisor, of a function's only operand.
bool outOfRange(const Case &c, unsigned thread) {
  if (c.tolerance.find(":range") == std::string::npos) return false;
  const auto last = static_cast<unsigned>(c.operands.size()) - 1;
  const double v = std::fabs(asDouble(c.operands[last], operand(c.operands[last], thread, last)));
  const int limit = c.operands[last] == "f64" ? 1022 : 126;
  return v != 0 && std::isfinite(v) && (v > std::ldexp(1, limit) || v < std::ldexp(1, -limit));
}

int compareWith(const std::vector<Case> &cases, const std::vector<Results> &all, const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::map<std::uint64_t, Results> recorded;
  for (std::uint64_t h; file.read(reinterpret_cast<char *>(&h), 8);) {
    Results r(kThreads);
    if (!file.read(reinterpret_cast<char *>(r.data()), kThreads * 8)) fail("truncated record");
    recorded[h] = r;
  }
  int wrong = 0, compared = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case &c = cases[i];
    auto it = recorded.find(hashOf(c.line));
    if (it == recorded.end()) {
      std::printf("not recorded: %s\n", c.line.c_str());
      ++wrong;
      continue;
    }
    if (all[i].empty()) continue;  // refused, counted already
    ++compared;
    int bad = 0;
    for (unsigned t = 0; t < kThreads; ++t) {
      if (outOfRange(c, t) || agrees(c, c.result, all[i][t], it->second[t])) continue;
      if (!bad++) {
        std::printf("%s\n  operands", c.line.c_str());
        for (unsigned k = 0; k < c.operands.size(); ++k)
          std::printf(" %llx", (unsigned long long)operand(c.operands[k], t, k));
        std::printf(": got %llx, hardware %llx", (unsigned long long)all[i][t], (unsigned long long)it->second[t]);
      }
    }
    if (bad) std::printf("; %d of %d operands wrong\n", bad, kThreads);
    wrong += bad != 0;
  }
  std::printf("%d instructions compared, %d wrong\n", compared, wrong);
  return wrong;
}

void record(const std::vector<Case> &cases, const std::vector<Results> &all, const char *path) {
  std::ofstream file(path, std::ios::binary);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (all[i].empty()) continue;
    std::uint64_t h = hashOf(cases[i].line);
    file.write(reinterpret_cast<const char *>(&h), 8);
    file.write(reinterpret_cast<const char *>(all[i].data()), kThreads * 8);
  }
}

}  // namespace

int main(int argc, char **argv) {
  std::string verb = argc == 5 ? argv[1] : "";
  if (verb != "record" && verb != "compare")
    return std::fprintf(stderr, "usage: vectors record|compare DRIVER INSTRUCTIONS FILE\n"), 2;
  std::vector<Case> cases = readCases(argv[3]);
  std::vector<Results> all;
  int refused = executeAll(Driver(argv[2]), cases, all);
  if (verb == "record") return record(cases, all, argv[4]), refused != 0;
  int wrong = compareWith(cases, all, argv[4]);
  std::printf("%d refused\n", refused);
  return refused || wrong;
}
