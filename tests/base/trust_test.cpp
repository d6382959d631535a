// SPDX-License-Identifier: Apache-2.0
// Paths in others' hands, and folders for temporary files. What belongs to others can only be made by root.
#include "base/trust.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOther = 65534;

class TrustTest : public testing::Test {
protected:
  std::string at(const std::string &name) const { return folder.path() + "/" + name; }
  void makeFolder(const std::string &name, mode_t mode) {
    ASSERT_EQ(mkdir(at(name).c_str(), 0700), 0);
    ASSERT_EQ(chmod(at(name).c_str(), mode), 0);
  }
  void giveAway(const std::string &name) { ASSERT_EQ(lchown(at(name).c_str(), kOther, kOther), 0); }
  // Empty, or what is wrong.
  std::string refusal(const std::string &name, const Trust &trust = Trust()) const {
    const Result<Descriptor> opened = trust.open(at(name));
    return opened ? "" : opened.error().message;
  }

  const TemporaryFolder folder = *TemporaryFolder::make("trust-test");
};

TEST_F(TrustTest, WalksLikeTheKernel) {
  makeFolder("a", 0755);
  makeFolder("a/b", 0755);
  std::ofstream(at("a/b/file")) << "text";
  fs::create_symlink("b", at("a/relative"));
  fs::create_symlink(at("a"), at("absolute"));
  fs::create_symlink("loop", at("loop"));
  for (const char *name : {"a/b/file", "a//b/./file", "a/b/../b/file", "a/relative/file", "absolute/relative/file",
                           "absolute/../a/b/file"}) {
    const Result<Descriptor> opened = Trust().open(at(name));
    ASSERT_TRUE(opened) << opened.error().message;
    struct stat found{}, expected{};
    ASSERT_EQ(fstat(opened->number(), &found), 0);
    ASSERT_EQ(stat(at("a/b/file").c_str(), &expected), 0);
    EXPECT_EQ(found.st_ino, expected.st_ino) << name;
  }
  EXPECT_EQ(refusal("a/none/file"), at("a/none") + ": No such file or directory");
  EXPECT_EQ(refusal("a/b/file/x"), at("a/b/file/x") + ": Not a directory");
  EXPECT_EQ(refusal("loop"), at("loop") + ": Too many levels of symbolic links");
}

TEST_F(TrustTest, NamesTheFirstPartInOtherHands) {
  makeFolder("open", 0777);
  makeFolder("open/in", 0755);
  makeFolder("sticky", 01777);
  makeFolder("sticky/in", 0755);
  std::ofstream(at("sticky/in/file")) << "text";
  EXPECT_EQ(refusal("open/in"), at("open") + " can be written by others");
  EXPECT_EQ(refusal("sticky/in/file"), "");
  chmod(at("sticky/in/file").c_str(), 0646);
  EXPECT_EQ(refusal("sticky/in/file"), at("sticky/in/file") + " can be written by others");
  if (geteuid() != 0) GTEST_SKIP() << "the rest needs root";
  giveAway("sticky/in");
  EXPECT_EQ(refusal("sticky/in/file"), at("sticky/in") + " belongs to user 65534");
  fs::create_symlink(at("sticky"), at("link"));
  EXPECT_EQ(refusal("link"), "");
  giveAway("link");
  EXPECT_EQ(refusal("link"), at("link") + " belongs to user 65534");
}

// Who could replace a program is trusted with what the program loads.
TEST_F(TrustTest, ReplacersOfAProgram) {
  makeFolder("theirs", 0755);
  makeFolder("theirs/lib", 0755);
  std::ofstream(at("theirs/program")) << "";
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  giveAway("theirs");
  giveAway("theirs/lib");
  EXPECT_NE(refusal("theirs/lib"), "");
  Trust trust;
  trust.includeReplacersOf(at("theirs/program"));
  EXPECT_EQ(refusal("theirs/lib", trust), "");
  Trust own;
  own.includeReplacersOf("/proc/self/exe");
  own.includeReplacersOf(at("missing/program"));
  EXPECT_NE(refusal("theirs/lib", own), "");
}

TEST_F(TrustTest, OwnFolders) {
  const mode_t before = umask(0002);
  EXPECT_TRUE(Trust::openOwnFolder(at("new/deep")));
  umask(before);
  struct stat status{};
  ASSERT_EQ(stat(at("new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  std::ofstream(at("file")) << "";
  EXPECT_EQ(Trust::openOwnFolder(at("file")).error().message, at("file") + " is not a folder");
  makeFolder("sticky", 01777);  // good on the way, but not as one's own
  EXPECT_EQ(Trust::openOwnFolder(at("sticky")).error().message, at("sticky") + " can be written by others");
}

TEST(TemporaryFolders, AreFreshAndGo) {
  std::string path;
  {
    Result<TemporaryFolder> one = TemporaryFolder::make("strata-test"), two = TemporaryFolder::make("strata-test");
    ASSERT_TRUE(one && two);
    EXPECT_NE(one->path(), two->path());
    const TemporaryFolder moved = *std::move(one);
    path = moved.path();
    struct stat status{};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    fs::create_directories(path + "/a/b");
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace strata
