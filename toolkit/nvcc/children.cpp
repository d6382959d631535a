// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/children.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "base/temporary_folder.h"

namespace strata::nvcc {

namespace fs = std::filesystem;

namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr auto kPatience = std::chrono::seconds(2);  // then children that do not end are killed

std::mutex gStarting;  // of the next two, and of starting a process
std::set<pid_t> gRunning;
bool gEnded = false;             // no more processes are started
std::atomic<bool> gDone{false};  // the watcher is to leave
std::atomic<bool> gWatching{false};
sigset_t gMaskBefore;  // which children get

bool isIgnored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// This process's children, and the children of those that have ended (it is their subreaper).
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  {
    std::lock_guard lock(gStarting);
    found.assign(gRunning.begin(), gRunning.end());  // for systems that do not list children
  }
  std::error_code error;
  for (fs::directory_iterator it("/proc/self/task", error), end; !error && it != end; it.increment(error)) {
    std::ifstream list(it->path() / "children");
    for (pid_t child; list >> child;) found.push_back(child);
  }
  return found;
}

void endChildren() {
  const auto begin = std::chrono::steady_clock::now();
  for (std::vector<pid_t> left = children(); !left.empty(); left = children()) {
    const bool late = std::chrono::steady_clock::now() - begin > kPatience;
    for (pid_t child : left) {
      kill(child, late ? SIGKILL : SIGTERM);
      waitpid(child, nullptr, WNOHANG);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

[[noreturn]] void endSelf(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  _exit(128 + signal);
}

// What a process is started with: the signals as they were before EndBySignal, and its standard input.
class Attributes {
public:
  explicit Attributes(const std::string &standardInput) {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&files_);
    if (!standardInput.empty())
      posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, standardInput.c_str(), O_RDONLY, 0);
    if (!gWatching) return;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes_, &gMaskBefore);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  Attributes(const Attributes &) = delete;

  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t files_;
};

}  // namespace

EndBySignal::EndBySignal() {
  sigemptyset(&signals_);
  for (int signal : kEnding)
    if (!isIgnored(signal)) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &gMaskBefore);
  pipeBefore_ = std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  gDone = false;
  gWatching = true;
  watcher_ = std::thread([this] { watch(); });
}

EndBySignal::~EndBySignal() {
  gDone = true;
  pthread_kill(watcher_.native_handle(), SIGTERM);
  watcher_.join();  // a signal that came first ends the process instead
  gWatching = false;
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  std::signal(SIGPIPE, pipeBefore_);
  pthread_sigmask(SIG_SETMASK, &gMaskBefore, nullptr);
}

void EndBySignal::watch() {
  sigaddset(&signals_, SIGTERM);  // by which the destructor calls, even where it is ignored
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  int signal = 0;
  sigwait(&signals_, &signal);
  if (gDone && signal == SIGTERM) return;
  {
    std::lock_guard lock(gStarting);
    gEnded = true;
  }
  endChildren();
  TemporaryFolder::removeAll();
  endSelf(signal);
}

Result<int> spawnAndWait(const std::vector<std::string> &words, const std::string &standardInput) {
  std::vector<char *> arguments;
  for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  const Attributes with(standardInput);
  pid_t child = 0;
  {
    std::lock_guard lock(gStarting);
    if (gEnded) return userError("");
    if (int error = posix_spawnp(&child, arguments[0], &with.files_, &with.attributes_, arguments.data(), environ))
      return userError("cannot run '" + words[0] + "': " + std::strerror(error));
    gRunning.insert(child);
  }
  int status = 0, waited = 0;
  while ((waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) {}
  std::lock_guard lock(gStarting);
  gRunning.erase(child);
  if (waited < 0) return userError("");  // the watcher has waited for it
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return userError(gEnded ? "" : "'" + words[0] + "' died due to signal " + std::to_string(WTERMSIG(status)));
}

}  // namespace strata::nvcc
