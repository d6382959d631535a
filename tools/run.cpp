// SPDX-License-Identifier: Apache-2.0
// strata run: a .cu file is compiled into a cache folder and compiled again only if the compiler, the options, the
// file or something that it includes has changed.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/knobs.h"
#include "toolkit/nvcc/shell.h"
#include "tools/tools.h"

namespace strata::tools {

namespace fs = std::filesystem;

int fail(const Error &error) {
  std::fprintf(stderr, "strata: %s\n", error.message.c_str());
  return 1;
}

std::string prefix() {
  std::error_code ignored;
  return fs::canonical("/proc/self/exe", ignored).parent_path().parent_path().string();
}

namespace {

fs::path cacheFolder() {
  if (const std::string &set = knobs::get().STRATA_CACHE_DIR; !set.empty()) return set;
  if (const char *xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "strata";
  if (const char *home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "strata";
  return fs::temp_directory_path() / ("strata-" + std::to_string(getuid()));
}

std::string stampOf(const fs::path &file) {
  std::error_code error;
  auto size = fs::file_size(file, error);
  auto time = fs::last_write_time(file, error).time_since_epoch().count();
  return error ? file.string() + " missing\n"
               : file.string() + " " + std::to_string(size) + " " + std::to_string(time) + "\n";
}

std::string readText(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Size and time of everything that the make rule in `rule` names, and of the compiler.
std::string stampsOf(const fs::path &rule, const fs::path &nvcc) {
  std::string text = readText(rule), stamps = stampOf(nvcc);
  std::size_t colon = text.find(": ");
  if (colon == text.npos) return "";
  std::string files = text.substr(colon + 2);
  for (std::size_t at; (at = files.find("\\\n")) != files.npos;) files.replace(at, 2, " ");
  for (const std::string &file : nvcc::shellWords(files)) stamps += stampOf(file);
  return stamps;
}

int compile(const fs::path &nvcc, const RunOptions &options, const fs::path &program, const fs::path &rule) {
  std::vector<std::string> words = {nvcc, "-O3", "-lineinfo", "-arch=native", "-MD", "-MF", rule};
  for (const std::string &word : nvcc::shellWords(options.nvccOptions)) words.push_back(word);
  words.insert(words.end(), {fs::absolute(options.file), "-o", program});
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    execv(arguments[0], arguments.data());
    std::fprintf(stderr, "strata: cannot run %s: %s\n", arguments[0], std::strerror(errno));
    _exit(127);
  }
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// The compiled program, made if need be.
Result<std::string> programFor(const RunOptions &options) {
  std::error_code error;
  fs::path source = fs::canonical(options.file, error);
  if (error) return userError("cannot read '" + options.file + "': " + error.message());
  fs::path nvcc = fs::path(prefix()) / "bin" / "nvcc";
  std::string key = source.string() + "\n" + nvcc.string() + "\n" + options.nvccOptions;
  fs::path folder =
      cacheFolder() / "programs" / (source.stem().string() + "-" + std::to_string(std::hash<std::string>{}(key)));
  fs::create_directories(folder, error);
  if (error) return resourceError("cannot make folder '" + folder.string() + "': " + error.message());
  fs::path program = folder / source.stem(), rule = folder / "rule.d", stamps = folder / "stamps";

  // Two processes may want the same program at once: one compiles, the other waits.
  int lock = open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock >= 0) flock(lock, LOCK_EX);
  int status = 0;
  if (!fs::exists(program) || readText(stamps) != stampsOf(rule, nvcc)) {
    fs::remove(stamps, error);
    // The new program gets a file of its own: the old one may be running.
    fs::remove(program, error);
    status = compile(nvcc, options, program, rule);
    if (!status) std::ofstream(stamps) << stampsOf(rule, nvcc);
  }
  if (lock >= 0) close(lock);
  if (status) return userError("'" + options.file + "' does not compile");
  return program.string();
}

void prepend(const char *variable, std::string path) {
  if (const char *before = std::getenv(variable); before && *before) path += ":" + std::string(before);
  setenv(variable, path.c_str(), 1);
}

// A program that links libcuda finds NVIDIA's in the system, or else ours. Python finds the package that brings PyTorch
// and Triton to the CPU device (python/sitecustomize.py).
void preferCpuDriverIfNeeded() {
  const std::string &device = knobs::get().STRATA_DEVICE;
  bool nvidia = false;
  if (device == "auto")
    if (void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) nvidia = true, dlclose(driver);
  if (nvidia || device == "nvidia") return;
  prepend("LD_LIBRARY_PATH", prefix() + "/lib64/strata");
  prepend("PYTHONPATH", prefix() + "/python");
}

bool isSource(const std::string &file) {
  std::string extension = fs::path(file).extension();
  return extension == ".cu" || extension == ".cpp" || extension == ".cc";
}

// A file of the current folder needs no "./"; other names are looked up in PATH.
std::string programOf(const std::string &file) {
  std::error_code ignored;
  return file.find('/') == file.npos && fs::is_regular_file(file, ignored) ? "./" + file : file;
}

std::string whyNot(const std::string &program, int error) {
  std::error_code ignored;
  const std::string name = program.starts_with("./") ? program.substr(2) : program;
  if (fs::is_directory(program, ignored)) return "'" + name + "' is a folder";
  if (fs::exists(program, ignored) && (error == ENOEXEC || (error == EACCES && access(program.c_str(), R_OK) == 0)))
    return "'" + name + "' is neither a CUDA source (.cu, .cpp, .cc) nor a program";
  return "cannot run '" + name + "': " + std::strerror(error);
}

}  // namespace

int run(const RunOptions &options) {
  if (fs::path(options.file).extension() == ".ptx")
    return fail(userError("'" + options.file + "' has kernels but no program to start them; see `strata inspect`"));
  std::string program = programOf(options.file);
  if (isSource(options.file)) {
    Result<std::string> made = programFor(options);
    if (!made) return fail(made.error());
    program = *made;
  }
  setenv("STRATA_HOME", prefix().c_str(), 0);
  preferCpuDriverIfNeeded();
  std::vector<char *> arguments = {program.data()};
  for (const std::string &argument : options.arguments) arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return fail(userError(whyNot(program, errno)));
}

}  // namespace strata::tools
