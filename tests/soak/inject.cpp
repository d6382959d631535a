// SPDX-License-Identifier: Apache-2.0
// Lets each call of the driver and the runtime to the system fail once, one a run:
//   inject PROGRAM SHIM FOLDER STEP [SEED]
// PROGRAM is survives.cu, SHIM is fail_nth.cpp, FOLDER is for the program's caches; of each kind of call every STEP-th
// is tried, from one that the seed chooses. Prints survived ÷ tried, and each run that was not survived.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Kind {
  const char *name;
  bool cold;  // with an empty cache: the calls are those of a first run
};
constexpr Kind kKinds[] = {{"allocation", false}, {"mmap", false}, {"open", false}, {"thread", false}, {"write", true}};

struct Setup {
  std::string program, shim, folder, counter;
  volatile std::uint64_t *count;
};

[[noreturn]] void fail(const char *what) {
  std::perror(what);
  std::exit(2);
}

// The exit status, or 256 + the signal that ended the run.
int run(const Setup &setup, const Kind &kind, std::uint64_t nth) {
  const std::string cache = setup.folder + (kind.cold ? "/cold" : "/warm"), errors = setup.folder + "/errors";
  if (kind.cold) fs::remove_all(cache);
  *setup.count = 0;
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    setenv("FAIL_KIND", kind.name, 1);
    setenv("FAIL_NTH", std::to_string(nth).c_str(), 1);
    setenv("FAIL_COUNT", setup.counter.c_str(), 1);
    setenv("STRATA_CACHE_DIR", cache.c_str(), 1);
    setenv("LD_PRELOAD", setup.shim.c_str(), 1);
    dup2(open("/dev/null", O_WRONLY), 1);
    dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    execl(setup.program.c_str(), setup.program.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) fail("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

void printErrors(const Setup &setup) {
  std::FILE *file = std::fopen((setup.folder + "/errors").c_str(), "r");
  char line[300];
  for (int i = 0; file && i < 4 && std::fgets(line, sizeof line, file); ++i) std::printf("    %s", line);
  if (file) std::fclose(file);
}

// Whether all were survived.
bool tryKind(const Setup &setup, const Kind &kind, std::uint64_t step, std::uint64_t seed) {
  if (int status = run(setup, kind, 0)) {
    std::printf("%s: without a failure the program ends with %d\n", kind.name, status);
    printErrors(setup);
    return false;
  }
  const std::uint64_t calls = *setup.count;
  unsigned tried = 0, survived = 0, unnoticed = 0, reset = 0;
  for (std::uint64_t n = 1 + seed % step; n <= calls; n += step) {
    const int status = run(setup, kind, n);
    ++tried;
    if (status == 0 || status == 10 || status == 11) {
      ++survived;
      unnoticed += status == 0;
      reset += status == 11;
      continue;
    }
    std::printf("%s %llu of %llu: %s %d\n", kind.name, static_cast<unsigned long long>(n),
                static_cast<unsigned long long>(calls), status < 256 ? "status" : "signal", status % 256);
    printErrors(setup);
  }
  std::printf("%s: %llu calls, survived %u of %u, without an error %u, after a reset %u\n", kind.name,
              static_cast<unsigned long long>(calls), survived, tried, unnoticed, reset);
  return survived == tried && calls > 0;  // else nothing was counted
}

}  // namespace

int main(int count, char **arguments) {
  if (count < 5) {
    std::fprintf(stderr, "usage: inject PROGRAM SHIM FOLDER STEP [SEED]\n");
    return 2;
  }
  const std::uint64_t step = std::strtoull(arguments[4], nullptr, 10);
  const std::uint64_t seed = count > 5 ? std::strtoull(arguments[5], nullptr, 10) : std::random_device{}();
  Setup setup{arguments[1], arguments[2], arguments[3], std::string(arguments[3]) + "/count", nullptr};
  fs::create_directories(setup.folder);
  const int file = open(setup.counter.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, 4096)) fail(setup.counter.c_str());
  void *mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  setup.count = static_cast<std::uint64_t *>(mapped);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  run(setup, {"allocation", false}, 0);  // fills the cache
  bool all = true;
  for (const Kind &kind : kKinds) all = tryKind(setup, kind, kind.cold ? 1 : step, seed) && all;
  return all ? 0 : 1;
}
