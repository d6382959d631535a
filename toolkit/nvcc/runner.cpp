// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/runner.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/printable.h"
#include "toolkit/nvcc/children.h"
#include "toolkit/nvcc/shell.h"

namespace strata::nvcc {

namespace fs = std::filesystem;

namespace {

// Calls task(0) … task(count - 1), up to `threads` at a time; stops handing out tasks after a failure.
// Returns the first failing status.
int runAll(std::size_t count, unsigned threads, const std::function<int(std::size_t)> &task) {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> status = 0;
  auto work = [&] {
    for (std::size_t i; !status && (i = next++) < count;) {
      int none = 0;
      if (int failed = task(i)) status.compare_exchange_strong(none, failed);
    }
  };
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < count && i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers) helper.join();
  return status;
}

// As nvcc prints it: scripts look for -o "a.out".
std::string printedLine(const std::vector<std::string> &words) {
  std::string line = "#$";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string quoted = shellQuote(words[i]);
    line += ' ' + (i > 0 && words[i - 1] == "-o" && quoted == words[i] ? '"' + quoted + '"' : quoted);
  }
  return line;
}

int runStep(const Step &step, const std::string &standardInput, Show show) {
  if (show != Show::nothing) std::fprintf(stderr, "%s\n", printable(printedLine(step.words)).c_str());
  if (show == Show::commandsOnly) return 0;
  if (!step.work) {
    const Result<int> status = spawnAndWait(step.words, standardInput);
    if (status) return *status;
    if (!status.error().message.empty())
      std::fprintf(stderr, "nvcc error   : %s\n", printable(status.error().message).c_str());
    return 1;
  }
  Result<void> done = step.work();
  if (!done) std::fprintf(stderr, "nvcc error   : %s\n", printable(done.error().message).c_str());
  return done ? 0 : 1;
}

int runChain(const Chain &chain, const std::string &standardInput, unsigned threads, Show show) {
  for (const Stage &stage : chain)
    if (int status =
            runAll(stage.size(), threads, [&](std::size_t i) { return runStep(stage[i], standardInput, show); }))
      return status;
  return 0;
}

// Several passes read the standard input.
bool keepStandardInput(const std::string &path) {
  std::ofstream file(path, std::ios::binary);
  char bytes[65536];
  ssize_t size;
  while ((size = read(STDIN_FILENO, bytes, sizeof bytes)) > 0 || (size < 0 && errno == EINTR))
    file.write(bytes, std::max<ssize_t>(size, 0));
  return size == 0 && file.flush();
}

// The folder of --keep-dir; another one was made with the plan.
bool makeKeptFolder(const std::string &path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    std::fprintf(stderr, "nvcc fatal   : cannot make folder '%s': %s\n", printable(path).c_str(),
                 error.message().c_str());
  return !error;
}

}  // namespace

int runPlan(const Plan &plan, Show show) {
  unsigned threads = plan.threads ? plan.threads : std::max(1u, std::thread::hardware_concurrency());
  if (show != Show::nothing) {
    for (const std::string &variable : plan.variables) std::fprintf(stderr, "#$ %s\n", variable.c_str());
    threads = 1;  // the commands in their order
  }
  if (show != Show::commandsOnly) {
    if (plan.keep && !makeKeptFolder(plan.temporaryFolder)) return 1;
    if (!plan.standardInput.empty() && !keepStandardInput(plan.standardInput)) {
      std::fprintf(stderr, "nvcc fatal   : cannot read the standard input: %s\n", std::strerror(errno));
      return 1;
    }
  }
  int status = runAll(plan.chains.size(), threads,
                      [&](std::size_t i) { return runChain(plan.chains[i], plan.standardInput, threads, show); });
  if (!status) status = runChain(plan.last, "", threads, show);
  return status;
}

}  // namespace strata::nvcc
