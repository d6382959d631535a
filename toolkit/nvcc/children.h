// SPDX-License-Identifier: Apache-2.0
// The processes that a command starts, and its end by a signal.
#pragma once

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"

namespace strata::nvcc {

// While one lives (at most one, made before other threads), SIGINT, SIGTERM, SIGHUP and SIGQUIT end what this process
// has started and the children of that, remove all temporary folders, and then end this process by the same signal.
// Signals that were ignored at the start stay so. A closed pipe ends nothing: writing there fails.
class EndBySignal {
public:
  EndBySignal();
  ~EndBySignal();
  EndBySignal(const EndBySignal &) = delete;

private:
  void watch();

  std::thread watcher_;
  sigset_t signals_;
  void (*pipeBefore_)(int) = nullptr;
};

// Starts a command, found by PATH, with its standard input from a file unless that is empty, and waits. Its exit
// status. Errors (user): it does not start, or dies of a signal; without a message if that is this process's end, too.
Result<int> spawnAndWait(const std::vector<std::string> &words, const std::string &standardInput = "");

}  // namespace strata::nvcc
