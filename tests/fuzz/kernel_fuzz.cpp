// SPDX-License-Identifier: Apache-2.0
// Runs generated kernels through the driver API and compares what they leave in memory.
//   kernel_fuzz run DRIVER FIRST COUNT            one line per seed: "seed hash" (or the error)
//   kernel_fuzz compare DRIVER FIRST COUNT [FILE] runs itself in lane mode (the reference) and in vector mode
//                                                 on each SIMD target; with FILE also against recorded lines
//   kernel_fuzz print SEED                        the PTX
//   kernel_fuzz census FIRST COUNT                of how many kernels what is a part: control flow, and each
//   instruction with its type
// DRIVER is a library with the CUDA driver's ABI, so that the lines can be recorded on NVIDIA hardware.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/kernel_generator.h"
#include "toolkit/include/cuda.h"

namespace strata::fuzz {
namespace {

// The few driver functions that are needed, by name.
struct Driver {
  void *library;
  explicit Driver(const char *path) : library(dlopen(path, RTLD_NOW)) {
    if (!library) fail(dlerror());
  }
  [[noreturn]] static void fail(const std::string &what) {
    std::fprintf(stderr, "kernel_fuzz: %s\n", what.c_str());
    std::exit(2);
  }
  template <class... A>
  CUresult call(const char *name, A... arguments) const {
    auto *function = reinterpret_cast<CUresult (*)(A...)>(dlsym(library, name));
    if (!function) fail(std::string("no ") + name);
    return function(arguments...);
  }
};

std::uint64_t hash(const std::vector<std::uint32_t> &words, std::uint64_t h) {
  for (std::uint32_t w : words) h = (h ^ w) * 0x100000001B3ull;
  return h;
}

// Inputs mix small numbers, edges and random bits; the same on every machine.
std::vector<std::uint32_t> inputs(std::uint64_t seed, std::size_t count) {
  static const std::uint32_t edges[] = {0, 1, 2, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 31, 32, 0x0000FFFF, 0x3F800000};
  std::vector<std::uint32_t> words(count);
  std::uint64_t state = seed + 0x1234567;
  for (std::uint32_t &w : words) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::uint32_t bits = static_cast<std::uint32_t>(state >> 32);
    w = bits % 5 == 0 ? edges[(bits >> 8) % 10] : bits % 5 == 1 ? (bits >> 8) % 100 : bits * 2654435761u;
  }
  return words;
}

std::string runSeed(const Driver &d, std::uint64_t seed) {
  GeneratedKernel k = generateKernel(seed);
  std::size_t threads = std::size_t(k.grid) * k.block * k.blockY;
  std::vector<std::uint32_t> in = inputs(seed, threads * kInputWords), out(threads * kOutputWords, 0xCDCDCDCD),
                             counters(k.counters, 0x55);
  for (std::size_t i = 16; i < k.counters; ++i) counters[i] = 0;
  CUmodule module;
  CUfunction function;
  if (CUresult r = d.call("cuModuleLoadData", &module, static_cast<const void *>(k.ptx.c_str())))
    return "load error " + std::to_string(r);
  if (CUresult r = d.call("cuModuleGetFunction", &function, module, "k")) return "function error " + std::to_string(r);
  CUdeviceptr buffers[3];
  std::vector<std::uint32_t> *hosts[] = {&in, &out, &counters};
  for (int i = 0; i < 3; ++i) {
    d.call("cuMemAlloc_v2", &buffers[i], hosts[i]->size() * 4);
    d.call("cuMemcpyHtoD_v2", buffers[i], static_cast<const void *>(hosts[i]->data()), hosts[i]->size() * 4);
  }
  void *arguments[] = {&buffers[0], &buffers[1], &buffers[2]};
  CUresult launched =
      d.call("cuLaunchKernel", function, k.grid, 1u, 1u, k.block, k.blockY, 1u, 0u, static_cast<CUstream>(nullptr),
             static_cast<void **>(arguments), static_cast<void **>(nullptr));
  CUresult finished = launched ? launched : d.call("cuCtxSynchronize");
  if (finished) return "launch error " + std::to_string(finished);
  for (int i = 1; i < 3; ++i)
    d.call("cuMemcpyDtoH_v2", static_cast<void *>(hosts[i]->data()), buffers[i], hosts[i]->size() * 4);
  for (CUdeviceptr buffer : buffers) d.call("cuMemFree_v2", buffer);
  d.call("cuModuleUnload", module);
  char text[32];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash(counters, hash(out, 0xCBF29CE484222325ull))));
  return text;
}

int run(const char *path, std::uint64_t first, std::uint64_t count) {
  Driver d(path);
  CUdevice device;
  CUcontext context;
  if (d.call("cuInit", 0u) || d.call("cuDeviceGet", &device, 0) ||
      d.call("cuDevicePrimaryCtxRetain", &context, device) || d.call("cuCtxSetCurrent", context))
    Driver::fail("no device");
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::printf("%llu %s\n", static_cast<unsigned long long>(seed), runSeed(d, seed).c_str());
    std::fflush(stdout);
  }
  return 0;
}

using Lines = std::map<std::uint64_t, std::string>;

Lines parse(std::istream &text) {
  Lines lines;
  for (std::string line; std::getline(text, line);)
    if (std::size_t space = line.find(' '); space != std::string::npos && line[0] != '#')
      lines[std::stoull(line)] = line.substr(space + 1);
  return lines;
}

// This program's own "run" in another process, since mode and target are fixed for a process.
Lines runIn(const std::string &environment, const std::string &arguments) {
  std::string command = environment + " /proc/" + std::to_string(getpid()) + "/exe run " + arguments, text;
  FILE *pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  if (int status = pclose(pipe)) std::printf("%s: exit status %d\n", environment.c_str(), status);
  std::istringstream stream(text);
  return parse(stream);
}

// What a seed gives where STRATA_MODE=vector is asked for and the kernel runs in lane mode only.
const std::string kNotVectorised = "launch error " + std::to_string(CUDA_ERROR_NOT_SUPPORTED);

struct Compared {
  int wrong = 0;
  std::uint64_t vectorised = 0;
};

Compared compareLines(const std::string &who, const Lines &got, const Lines &want, std::uint64_t first,
                      std::uint64_t count) {
  Compared found;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto g = got.find(seed), w = want.find(seed);
    if (w == want.end()) continue;
    if (g != got.end() && g->second == kNotVectorised) continue;
    ++found.vectorised;
    if (g != got.end() && g->second == w->second && w->second.find("error") == std::string::npos) continue;
    if (++found.wrong <= 10)
      std::printf("seed %llu: %s gives %s, reference %s\n", static_cast<unsigned long long>(seed), who.c_str(),
                  g == got.end() ? "nothing" : g->second.c_str(), w->second.c_str());
  }
  return found;
}

// What was not vectorised must run, and be right, where lane mode may be chosen.
int compareOthers(const std::string &driver, const std::string &environment, const Lines &vector, const Lines &want) {
  int wrong = 0;
  for (const auto &[seed, result] : vector) {
    if (result != kNotVectorised) continue;
    const Lines got = runIn(environment, "'" + driver + "' " + std::to_string(seed) + " 1");
    wrong += compareLines(environment, got, want, seed, 1).wrong;
  }
  return wrong;
}

// `leastShare`: of the kernels, in percent, that vector mode must have vectorised.
int compare(const std::string &driver, std::uint64_t first, std::uint64_t count, unsigned leastShare,
            const char *recorded) {
  std::string arguments = "'" + driver + "' " + std::to_string(first) + " " + std::to_string(count);
  Lines reference = runIn("STRATA_MODE=lane", arguments);
  int wrong = reference.size() == count ? 0 : 1;
  const auto shown = static_cast<unsigned long long>(count);
  if (recorded) {
    std::ifstream file(recorded);
    Lines hardware = parse(file);
    const Compared found = compareLines("lane mode against hardware", reference, hardware, first, count);
    std::printf("%-28s %d of %llu seeds differ\n", "lane mode against hardware", found.wrong, shown);
    wrong += found.wrong;
    if (hardware.empty()) return std::printf("%s: nothing recorded there\n", recorded), 1;
  }
  for (const char *simd : {"avx512", "avx2", "portable"}) {
    if (std::strcmp(simd, "avx512") == 0 && !__builtin_cpu_supports("avx512vbmi2")) continue;
    const std::string who = std::string("vector mode, ") + simd;
    const Compared found = compareLines(who, runIn(std::string("STRATA_MODE=vector STRATA_SIMD=") + simd, arguments),
                                        reference, first, count);
    const bool enough = found.vectorised * 100 >= count * leastShare;
    std::printf("%-28s %llu of %llu vectorised%s, %d of these differ\n", who.c_str(),
                static_cast<unsigned long long>(found.vectorised), shown, enough ? "" : " (TOO FEW)", found.wrong);
    wrong += found.wrong + !enough;
  }
  return wrong ? 1 : 0;
}

// "add" and "f32" of "  @%p0 add.rn.ftz.f32 %f0, …"; empty where the line is no instruction.
std::string instruction(const std::string &line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (!word.empty() && word[0] == '@') words >> word;
  if (word.empty() || line.compare(0, 2, "  ") != 0 || !std::isalpha(static_cast<unsigned char>(word[0]))) return {};
  std::size_t end = word.find_first_of(".;"), type = word.find_last_of('.');
  std::string name = word.substr(0, end), space;
  for (const char *where : {".global", ".shared", ".local", ".const", ".sync"})
    if (word.find(where) != std::string::npos && name != "bar") space = where;
  return type == std::string::npos ? name : name + space + word.substr(type, word.find(';') - type);
}

int census(std::uint64_t first, std::uint64_t count) {
  std::map<std::string, int> kernels;  // that have it
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    GeneratedKernel k = generateKernel(seed);
    std::set<std::string> parts;
    for (const auto &[construct, times] : k.constructs) parts.insert(construct);
    std::istringstream lines(k.ptx);
    for (std::string line; std::getline(lines, line);)
      if (std::string part = instruction(line); !part.empty()) parts.insert(part);
    for (const std::string &part : parts) ++kernels[part];
  }
  for (const auto &[part, n] : kernels) std::printf("%6d %s\n", n, part.c_str());
  return 0;
}

}  // namespace
}  // namespace strata::fuzz

int main(int argc, char **argv) {
  using namespace strata::fuzz;
  std::string verb = argc > 1 ? argv[1] : "";
  auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 0); };
  if (verb == "run" && argc == 5) return run(argv[2], number(3), number(4));
  if (verb == "compare" && argc >= 6)
    return compare(argv[2], number(3), number(4), static_cast<unsigned>(number(5)), argc > 6 ? argv[6] : nullptr);
  if (verb == "print" && argc == 3) return std::fputs(generateKernel(number(2)).ptx.c_str(), stdout) < 0;
  if (verb == "census" && argc == 4) return census(number(2), number(3));
  std::fprintf(stderr,
               "usage: kernel_fuzz run DRIVER FIRST COUNT | compare DRIVER FIRST COUNT LEAST-VECTORISED-% [FILE] | "
               "print SEED | census "
               "FIRST COUNT\n");
  return 2;
}
