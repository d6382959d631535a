// SPDX-License-Identifier: Apache-2.0
// Reading objects and archives, whole, cut and damaged.
#include "toolkit/nvcc/objects.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/fatbin.h"
#include "toolkit/nvcc/device_link.h"

namespace strata::nvcc {
namespace {

namespace fs = std::filesystem;

class ObjectFiles : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string &name) const { return (folder_ / name).string(); }
  void write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string read(const std::string &name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // An object as `nvcc -dc` makes it: device code, and a registration call that is left open.
  void makeObject(const std::string &name, const std::string &id, const std::string &ptx) const {
    fatbin::Entry entry;
    entry.arch = 75;
    entry.relocatable = true;
    entry.payload.assign(ptx.begin(), ptx.end());
    std::vector<std::uint8_t> bytes = fatbin::write({entry}, true);
    write(name + ".fatbin", std::string(bytes.begin(), bytes.end()));
    write(name + ".c", "__asm__(\".section __nv_relfatbin,\\\"a\\\"\\n.balign 8\\n.incbin \\\"" +
                           path(name + ".fatbin") + "\\\"\\n.text\");\nvoid __cudaRegisterLinkedBinary_" + id +
                           "(void);\nvoid f_" + id + "(void) { __cudaRegisterLinkedBinary_" + id + "(); }\n");
    run(STRATA_CLANG " -c " + path(name + ".c") + " -o " + path(name));
  }
  static void run(const std::string &command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

  fs::path folder_ = fs::temp_directory_path() / ("objects_test_" + std::to_string(getpid()));
};

TEST_F(ObjectFiles, DeviceLinkGathersObjectsAndArchiveMembers) {
  makeObject("a.o", "a", "// PTX of a");
  makeObject("a_rather_long_name_of_a_member.o", "b", "// PTX of b");
  write("plain.c", "int x;");
  run(STRATA_CLANG " -c " + path("plain.c") + " -o " + path("plain.o"));
  run(STRATA_AR " rcs " + path("libb.a") + " " + path("plain.o") + " " + path("a_rather_long_name_of_a_member.o"));
  DeviceLinkInput input{{path("a.o"), path("plain.o")}, {"b"}, {folder_.string()}};
  ASSERT_TRUE(*needsDeviceLink(input));
  ASSERT_TRUE(deviceLink(input, path("all.fatbin"), path("all.c"), true, {}));
  std::string bytes = read("all.fatbin");
  auto entries = fatbin::read({reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()});
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ(std::string((*entries)[0].payload.begin(), (*entries)[0].payload.end()), "// PTX of a");
  EXPECT_TRUE((*entries)[0].relocatable && (*entries)[1].relocatable);
  EXPECT_NE((*entries)[0].name, (*entries)[1].name);
  // Once linked, the functions are defined, and a later link has nothing to do.
  run(STRATA_CLANG " -c " + path("all.c") + " -o " + path("all.o"));
  input.files.push_back(path("all.o"));
  EXPECT_FALSE(*needsDeviceLink(input));
}

TEST_F(ObjectFiles, NothingRelocatableNeedsNoDeviceLink) {
  write("plain.c", "int x;");
  run(STRATA_CLANG " -c " + path("plain.c") + " -o " + path("plain.o"));
  EXPECT_FALSE(*needsDeviceLink({{path("plain.o")}, {}, {}}));
  write("script.so", "GROUP ( /lib/libc.so.6 )");
  EXPECT_TRUE(readObjects(path("script.so"))->empty());
  EXPECT_TRUE(readObjects("/proc/self/exe")->empty());
  EXPECT_EQ(readObjects("/proc/self/exe", Objects::linkedToo)->size(), 1u);
}

TEST_F(ObjectFiles, CutAndDamagedFilesAreErrorsOrHarmless) {
  makeObject("a.o", "a", "// PTX of a");
  run(STRATA_AR " rcs " + path("liba.a") + " " + path("a.o"));
  std::random_device device;
  unsigned seed = device();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (const char *name : {"a.o", "liba.a"}) {
    const std::string whole = read(name);
    for (int i = 0; i < 300; ++i) {
      std::string bytes = whole.substr(0, random() % whole.size());
      if (i % 2) (bytes = whole)[random() % whole.size()] ^= static_cast<char>(1 << random() % 8);
      write("damaged.o", bytes);
      DeviceLinkInput input{{path("damaged.o")}, {}, {}};
      Result<void> linked = deviceLink(input, path("out.fatbin"), path("out.c"), false, {});
      if (!linked) EXPECT_NE(linked.error().message.find("damaged.o"), std::string::npos) << linked.error().message;
    }
  }
  EXPECT_FALSE(readObjects(path("missing.o")));
  write("thin.a", "!<thin>\n");
  EXPECT_EQ(readObjects(path("thin.a")).error().blame, Blame::unsupported);
}

}  // namespace
}  // namespace strata::nvcc
