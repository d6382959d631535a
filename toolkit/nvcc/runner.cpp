// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/runner.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

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

int spawnAndWait(const std::vector<std::string> &words) {
  std::vector<char *> arguments;
  for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (int error = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ)) {
    std::fprintf(stderr, "nvcc fatal   : cannot run '%s': %s\n", arguments[0], std::strerror(error));
    return 1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::fprintf(stderr, "nvcc error   : '%s' died due to signal %d\n", arguments[0], WTERMSIG(status));
  return 1;
}

int runStep(const Step &step, Show show) {
  if (show != Show::nothing) std::fprintf(stderr, "#$ %s\n", shellLine(step.words).c_str());
  if (show == Show::commandsOnly) return 0;
  if (!step.work) return spawnAndWait(step.words);
  Result<void> done = step.work();
  if (!done) std::fprintf(stderr, "nvcc error   : %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}

int runChain(const Chain &chain, unsigned threads, Show show) {
  for (const Stage &stage : chain)
    if (int status = runAll(stage.size(), threads, [&](std::size_t i) { return runStep(stage[i], show); }))
      return status;
  return 0;
}

}  // namespace

int runPlan(const Plan &plan, Show show) {
  unsigned threads = plan.threads ? plan.threads : std::max(1u, std::thread::hardware_concurrency());
  if (show != Show::nothing) {
    for (const std::string &variable : plan.variables) std::fprintf(stderr, "#$ %s\n", variable.c_str());
    threads = 1;  // the commands in their order
  }
  // Ctrl-C ends the running commands; nvcc itself goes on to remove its files, and fails like they did.
  std::signal(SIGINT, [](int) {});
  std::error_code error;
  if (show != Show::commandsOnly) fs::create_directories(plan.temporaryFolder, error);
  if (error) {
    std::fprintf(stderr, "nvcc fatal   : cannot make folder '%s': %s\n", plan.temporaryFolder.c_str(),
                 error.message().c_str());
    return 1;
  }
  int status =
      runAll(plan.chains.size(), threads, [&](std::size_t i) { return runChain(plan.chains[i], threads, show); });
  if (!status) status = runChain(plan.last, threads, show);
  if (!plan.keep && show != Show::commandsOnly) fs::remove_all(plan.temporaryFolder, error);
  return status;
}

}  // namespace strata::nvcc
