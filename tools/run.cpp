// SPDX-License-Identifier: Apache-2.0
// strata run: a .cu file is compiled into a cache folder and compiled again only if the compiler, the options, the
// file or something that it includes has changed.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/environment.h"
#include "base/knobs.h"
#include "base/printable.h"
#include "base/temporary_folder.h"
#include "base/trust.h"
#include "simt/exec/cache.h"
#include "toolkit/nvcc/children.h"
#include "toolkit/nvcc/shell.h"
#include "tools/tools.h"

namespace strata::tools {

namespace fs = std::filesystem;

int fail(const Error &error) {
  std::fprintf(stderr, "strata: %s\n", printable(error.message).c_str());
  return 1;
}

std::string prefix() {
  std::error_code ignored;
  return fs::canonical("/proc/self/exe", ignored).parent_path().parent_path().string();
}

namespace {

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

// Where the program of a source is kept, and how its parts are called.
struct Kept {
  fs::path nvcc, folder, program, rule, stamps;

  Kept(const RunOptions &options, const fs::path &source, const fs::path &cache)
      : nvcc(fs::path(prefix()) / "bin" / "nvcc") {
    std::string key = source.string() + "\n" + nvcc.string() + "\n" + options.nvccOptions;
    folder = cache / "programs" / (source.stem().string() + "-" + std::to_string(std::hash<std::string>{}(key)));
    program = folder / source.stem(), rule = folder / "rule.d", stamps = folder / "stamps";
  }
};

Result<void> compile(const RunOptions &options, const Kept &kept) {
  std::vector<std::string> words = {kept.nvcc, "-O3", "-lineinfo", "-arch=native", "-MD", "-MF", kept.rule};
  for (const std::string &word : nvcc::shellWords(options.nvccOptions)) words.push_back(word);
  words.insert(words.end(), {fs::absolute(options.file), "-o", kept.program});
  const Result<int> status = nvcc::spawnAndWait(words);
  if (!status) return status.error();
  if (*status != 0) return userError("'" + options.file + "' does not compile");
  return {};
}

// The program of a source, compiled if need be, in the user's cache.
Result<std::string> keptProgram(const RunOptions &options, const fs::path &source, const fs::path &cache) {
  const Kept kept(options, source, cache);
  const Result<Descriptor> folder = Trust::openOwnFolder(kept.folder);
  if (!folder) return environmentError("no folder for compiled programs: " + folder.error().message);
  // Two processes may want the same program at once: one compiles, the other waits.
  const Descriptor lock(openat(folder->number(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (lock) flock(lock.number(), LOCK_EX);
  const std::string stamps = stampsOf(kept.rule, kept.nvcc);
  if (fs::exists(kept.program) && !stamps.empty() && readText(kept.stamps) == stamps) return kept.program.string();
  const nvcc::EndBySignal atSignals;
  std::error_code ignored;
  fs::remove(kept.stamps, ignored);
  fs::remove(kept.program, ignored);  // the new one gets a file of its own: the old one may be running
  if (Result<void> compiled = compile(options, kept); !compiled) return compiled.error();
  std::ofstream(kept.stamps) << stampsOf(kept.rule, kept.nvcc);
  return kept.program.string();
}

void prepend(const char *variable, std::string path) {
  if (const char *before = environment(variable); before && *before) path += ":" + std::string(before);
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

// Of the program.
void setEnvironment() {
  setenv("STRATA_HOME", prefix().c_str(), 0);
  preferCpuDriverIfNeeded();
}

// Where nothing can be kept, the program is compiled anew each time, and goes when it ends.
int runOnce(const RunOptions &options, const fs::path &source) {
  const nvcc::EndBySignal atSignals;
  const Result<TemporaryFolder> folder = TemporaryFolder::make("strata-run");
  if (!folder) return fail(folder.error());
  const Kept kept(options, source, folder->path());
  std::error_code ignored;
  fs::create_directories(kept.folder, ignored);
  if (Result<void> compiled = compile(options, kept); !compiled) return fail(compiled.error());
  setEnvironment();
  std::vector<std::string> words = {kept.program};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  const Result<int> status = nvcc::spawnAndWait(words);
  return status ? *status : fail(status.error());
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
    std::error_code error;
    const fs::path source = fs::canonical(options.file, error);
    if (error) return fail(userError("cannot read '" + options.file + "': " + error.message()));
    const std::string cache = simt::DiskCache::processFolder();
    if (cache.empty()) return runOnce(options, source);
    Result<std::string> made = keptProgram(options, source, cache);
    if (!made) return fail(made.error());
    program = *made;
  }
  setEnvironment();
  std::vector<char *> arguments = {program.data()};
  for (const std::string &argument : options.arguments) arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return fail(userError(whyNot(program, errno)));
}

}  // namespace strata::tools
