// SPDX-License-Identifier: Apache-2.0
// Walks api.def: every entry is exported, survives nulls, and says so if it is not there.
#include <dlfcn.h>

#include "runtime/api_undef.h"
#include "tests/runtime/mock.h"

namespace {

struct Row {
  const char *name;
  const char *suffix;
  bool absent;
};
const Row kRows[] = {
#define RT_TOPIC(title)
#define RT(name, parameters, arguments) {#name, "", false},
#define RT_STREAM(name, suffix, parameters, arguments) {#name, #suffix, false},
#define RT_FORWARD(name, parameters, entry, arguments) {#name, "", false},
#define RT_FORWARD_STREAM(name, suffix, parameters, entry, arguments) {#name, #suffix, false},
#define RT_PLAIN(result, name, parameters, arguments) {#name, "", false},
#define RT_ABSENT(name, parameters) {#name, "", true},
#define RT_ABSENT_STREAM(name, suffix, parameters) {#name, #suffix, true},
#include "runtime/api.def"
#include "runtime/api_undef.h"
};

using Entry = cudaError_t (*)(long, long, long, long, long, long, long, long, long, long, long, long);

}  // namespace

class Entries : public RuntimeTest {
protected:
  static Entry find(const std::string &name) {
    return reinterpret_cast<Entry>(dlsym(RTLD_DEFAULT, name.c_str()));
  }
};

TEST_F(Entries, EveryEntryIsExported) {
  EXPECT_GT(std::size(kRows), 300u);
  for (const Row &row : kRows) {
    EXPECT_NE(find(row.name), nullptr) << row.name;
    EXPECT_NE(find(std::string(row.name) + row.suffix), nullptr) << row.name << row.suffix;
  }
}

// All arguments null or 0. What the driver lacks answers too; no entry may crash or leave the thread's error
// open.
TEST_F(Entries, EveryEntrySurvivesNulls) {
  for (const Row &row : kRows) {
    std::string name = row.name;
    // cudaCreateChannelDesc and the error texts return no error code; cudaGetLastError takes the error away.
    if (name == "cudaCreateChannelDesc" || name.starts_with("cudaGetError") || name == "cudaGetLastError")
      continue;
    for (const std::string &symbol : {name, name + row.suffix}) {
      cudaGetLastError();
      cudaError_t error = find(symbol)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
      EXPECT_STRNE(cudaGetErrorName(error), "unrecognized error code") << symbol << " returned " << error;
      EXPECT_EQ(cudaPeekAtLastError(), error) << symbol;
      if (row.absent) EXPECT_EQ(error, cudaErrorNotSupported) << symbol;
    }
  }
}
