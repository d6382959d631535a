// SPDX-License-Identifier: Apache-2.0
// Walks api.def: every entry is exported, survives nulls, says so if it is not there, and stands in
// docs/runtime_api.md. The page is written anew by running this test with STRATA_TEST_UPDATE_DOCS=1.
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/runtime/mock.h"

namespace {

struct Row {
  const char *name;
  const char *suffix;
  enum { body, forward, absent, topic } state;
  cudaError_t (*call)(void *symbol) = nullptr;  // with all arguments null or 0
};

template <class... Arguments>
cudaError_t callWithZeros(cudaError_t (*entry)(Arguments...)) {
  return entry(Arguments{}...);
}
#define CALL(parameters) \
  [](void *symbol) { return callWithZeros(reinterpret_cast<cudaError_t(*) parameters>(symbol)); }

const Row kAll[] = {
#define RT_TOPIC(title) {title, "", Row::topic},
#define RT(name, parameters, arguments) {#name, "", Row::body, CALL(parameters)},
#define RT_STREAM(name, suffix, parameters, arguments) {#name, #suffix, Row::body, CALL(parameters)},
#define RT_FORWARD(name, parameters, entry, arguments) {#name, "", Row::forward, CALL(parameters)},
#define RT_FORWARD_STREAM(name, suffix, parameters, entry, arguments) \
  {#name, #suffix, Row::forward, CALL(parameters)},
#define RT_PLAIN(result, name, parameters, arguments) {#name, "", Row::body},
#define RT_ABSENT(name, parameters) {#name, "", Row::absent, CALL(parameters)},
#define RT_ABSENT_STREAM(name, suffix, parameters) {#name, #suffix, Row::absent, CALL(parameters)},
#include "runtime/api.def"
#include "runtime/api_undef.h"
};

std::vector<Row> entries() {
  std::vector<Row> found;
  for (const Row &row : kAll)
    if (row.state != Row::topic) found.push_back(row);
  return found;
}

std::string page() {
  std::ostringstream out;
  out << "# Runtime API\n\n"
         "Every entry of libcudart at the level of CUDA 13.0, made from `runtime/api.def`. *Yes*: Strata's "
         "runtime has\n"
         "the entry. *Driver*: it is what the driver below answers; for the CPU device see `driver_api.md`. "
         "*No*: returns\n"
         "`cudaErrorNotSupported` and names itself in the log once. Entries with a stream, or that work on "
         "the default\n"
         "one, have a second symbol for programs whose default stream is per thread.\n";
  for (const Row &row : kAll) {
    if (row.state == Row::topic) {
      out << "\n## " << row.name << "\n\n| entry | per thread | state |\n|---|---|---|\n";
      continue;
    }
    const char *state = row.state == Row::body ? "yes" : row.state == Row::forward ? "driver" : "no";
    out << "| `" << row.name << "` | " << (*row.suffix ? row.suffix : "") << " | " << state << " |\n";
  }
  return out.str();
}

}  // namespace

class Entries : public RuntimeTest {
protected:
  static void *find(const std::string &name) { return dlsym(RTLD_DEFAULT, name.c_str()); }
};

TEST_F(Entries, EveryEntryIsExported) {
  EXPECT_GT(entries().size(), 300u);
  for (const Row &row : entries()) {
    EXPECT_NE(find(row.name), nullptr) << row.name;
    EXPECT_NE(find(std::string(row.name) + row.suffix), nullptr) << row.name << row.suffix;
  }
}

// What the driver lacks answers too; no entry may crash or leave the thread's error open. Entries that return
// no error of their own are not called.
TEST_F(Entries, EveryEntrySurvivesNulls) {
  for (const Row &row : entries()) {
    if (!row.call) continue;
    for (const std::string &symbol : {std::string(row.name), row.name + std::string(row.suffix)}) {
      cudaGetLastError();
      cudaError_t error = row.call(find(symbol));
      EXPECT_STRNE(cudaGetErrorName(error), "unrecognized error code") << symbol << " returned " << error;
      EXPECT_EQ(cudaPeekAtLastError(), error) << symbol;
      if (row.state == Row::absent) EXPECT_EQ(error, cudaErrorNotSupported) << symbol;
    }
  }
}

TEST_F(Entries, PageIsFresh) {
  const char *path = STRATA_SOURCE_DIR "/docs/runtime_api.md";
  if (std::getenv("STRATA_TEST_UPDATE_DOCS")) std::ofstream(path) << page();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page());
}

// The libraries of published wheels find each name that they import.
TEST_F(Entries, WheelsFindWhatTheyImport) {
  std::ifstream file(STRATA_SOURCE_DIR "/tests/runtime/data/wheel_imports.txt");
  std::string line;
  int names = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) continue;
    const std::string name = line.substr(0, line.find(' '));
    EXPECT_NE(dlsym(RTLD_DEFAULT, name.c_str()), nullptr) << line;
    ++names;
  }
  EXPECT_GT(names, 90);
}
