// SPDX-License-Identifier: Apache-2.0
#include "base/fatbin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace strata;
using fatbin::Entry;
using fatbin::Kind;

namespace {

std::vector<std::uint8_t> bytesOf(const std::string &text) { return {text.begin(), text.end()}; }

Entry ptxEntry(const std::string &text, const std::string &name = "", std::uint32_t arch = 90) {
  return {Kind::ptx, arch, false, name, bytesOf(text)};
}

std::string textOf(const Entry &entry) { return {entry.payload.begin(), entry.payload.end()}; }

const std::string kPtx = ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";

class Fatbin : public testing::Test {
protected:
  std::uint32_t seed = std::random_device{}();
  std::mt19937 random{seed};

  std::vector<Entry> randomEntries() {
    std::vector<Entry> entries(random() % 5);
    for (Entry &entry : entries) {
      entry.kind = random() % 2 ? Kind::ptx : Kind::native;
      entry.arch = 50 + random() % 60;
      entry.relocatable = random() % 2;
      entry.name.assign(random() % 20, 'a');
      // Text that compresses, of a length that needs each amount of padding.
      entry.payload = bytesOf(kPtx);
      entry.payload.resize((entry.payload.size() + random() % 300) / 8 * 8, 'x');
      if (entry.kind == Kind::ptx) entry.payload.resize(entry.payload.size() - random() % 8);
    }
    return entries;
  }
};

template <class T>
void patch(std::vector<std::uint8_t> &bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

TEST_F(Fatbin, RoundTripKeepsEveryField) {
  SCOPED_TRACE(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Entry> entries = randomEntries();
    auto read = fatbin::read(fatbin::write(entries, round % 2));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ((*read)[i].kind, entries[i].kind);
      EXPECT_EQ((*read)[i].arch, entries[i].arch);
      EXPECT_EQ((*read)[i].relocatable, entries[i].relocatable);
      EXPECT_EQ((*read)[i].name, entries[i].name);
      EXPECT_EQ((*read)[i].payload, entries[i].payload);
    }
  }
}

// What CUDA 13's own packer writes for a PTX of 72 bytes, header fields as it sets them.
TEST_F(Fatbin, WritesCudasLayout) {
  std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(){ ret; }\n";
  ASSERT_EQ(ptx.size(), 72u);
  std::vector<std::uint8_t> bytes = fatbin::write({ptxEntry(ptx, "", 80)}, false);
  std::vector<std::uint8_t> header = {0x50, 0xed, 0x55, 0xba, 1,    0, 0x10, 0, 0xa0, 0, 0, 0, 0,    0, 0, 0,  //
                                      1,    0,    1,    1,    0x50, 0, 0,    0, 0x50, 0, 0, 0, 0,    0, 0, 0,  //
                                      0,    0,    0,    0,    0x40, 0, 0,    0, 0,    0, 8, 0, 0x50, 0, 0, 0,  //
                                      0,    0,    0,    0,    0,    0, 0,    0, 0x11, 0, 0, 0, 0,    0, 0, 0,  //
                                      0,    0,    0,    0,    0,    0, 0,    0, 0,    0, 0, 0, 0,    0, 0, 0,  //
                                      0x48, 0,    0,    0,    0,    0, 0,    0, 0,    0, 0, 0, 0,    0, 0, 0};
  ASSERT_EQ(bytes.size(), header.size() + 80);
  EXPECT_EQ(std::vector(bytes.begin(), bytes.begin() + header.size()), header);
  EXPECT_EQ(std::memcmp(bytes.data() + header.size(), ptx.c_str(), 73), 0);
}

TEST_F(Fatbin, MarksArchitectureSpecificTargets) {
  auto flags = [](const std::string &target) {
    std::string ptx = ".version 8.4\n.target " + target + "\n";
    auto bytes = fatbin::write({ptxEntry(ptx)}, false);
    std::uint64_t value;
    std::memcpy(&value, bytes.data() + 16 + 40, sizeof value);
    return value;
  };
  EXPECT_EQ(flags("sm_90"), 0x11u);
  EXPECT_EQ(flags("sm_90a"), 0x100011u);
  EXPECT_EQ(flags("sm_100f, debug"), 0x200011u);
}

TEST_F(Fatbin, CompressionShrinksAndIsRead) {
  std::string ptx;
  for (int i = 0; i < 100; ++i) ptx += kPtx;
  auto packed = fatbin::write({ptxEntry(ptx)}, true);
  EXPECT_LT(packed.size(), ptx.size() / 10);
  auto read = fatbin::read(packed);
  ASSERT_TRUE(read);
  EXPECT_EQ(textOf(read->at(0)), ptx);
  auto claimed = fatbin::claimedSize(packed.data());
  ASSERT_TRUE(claimed);
  EXPECT_EQ(*claimed, packed.size());
}

TEST_F(Fatbin, EveryTruncationIsRefused) {
  for (bool compress : {false, true}) {
    auto bytes = fatbin::write({ptxEntry(kPtx, "a.cu"), ptxEntry(kPtx)}, compress);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(fatbin::read(std::span(bytes).first(size))) << size;
  }
}

TEST_F(Fatbin, BitFlipsNeverReadOutside) {
  SCOPED_TRACE(seed);
  auto bytes = fatbin::write({ptxEntry(kPtx, "a.cu"), ptxEntry(kPtx)}, true);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto flipped = std::make_unique<std::uint8_t[]>(bytes.size());  // exact extent: sanitizers see every overrun
    std::memcpy(flipped.get(), bytes.data(), bytes.size());
    flipped[bit / 8] ^= 1 << bit % 8;
    auto read = fatbin::read({flipped.get(), bytes.size()});
    if (!read) EXPECT_NE(read.error().message.find("fat binary"), std::string::npos);
  }
}

TEST_F(Fatbin, ErrorsSayWhatIsWrong) {
  auto good = fatbin::write({ptxEntry(kPtx + kPtx + kPtx, "a.cu")}, true);
  auto message = [&](auto change) {
    auto bytes = good;
    change(bytes);
    auto read = fatbin::read(bytes);
    return read ? std::string("accepted") : read.error().message;
  };
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(message([](Bytes &) {}), "accepted");
  EXPECT_EQ(message([](Bytes &b) { b[0] = 0; }), "fat binary: bad magic number at offset 0");
  EXPECT_EQ(message([](Bytes &b) { b[4] = 9; }), "fat binary: unknown version at offset 4");
  EXPECT_EQ(message([](Bytes &b) { patch<std::uint64_t>(b, 8, UINT64_MAX); }), "fat binary: absurd size at offset 8");
  EXPECT_EQ(message([](Bytes &b) { b.resize(8); }), "fat binary: truncated header at offset 0");
  EXPECT_EQ(message([](Bytes &b) { b[18] = 7; }), "fat binary: unknown entry version at offset 18");
  EXPECT_EQ(message([](Bytes &b) { patch<std::uint32_t>(b, 20, 8); }),
            "fat binary: entry header does not fit at offset 20");
  EXPECT_EQ(message([](Bytes &b) { patch<std::uint64_t>(b, 24, 1 << 20); }),
            "fat binary: entry data does not fit at offset 24");
  EXPECT_EQ(message([](Bytes &b) { patch<std::uint32_t>(b, 32, 1 << 20); }),
            "fat binary: compressed size does not fit at offset 32");
  EXPECT_EQ(message([](Bytes &b) { patch<std::uint32_t>(b, 48, 1 << 20); }),
            "fat binary: name does not fit at offset 48");
  EXPECT_EQ(message([](Bytes &b) { patch<std::uint64_t>(b, 72, 1ull << 40); }),
            "fat binary: absurd uncompressed size at offset 16");
  EXPECT_EQ(message([](Bytes &b) { patch<std::uint64_t>(b, 72, 5); }),
            "fat binary: wrong uncompressed size at offset 16");
  EXPECT_EQ(message([](Bytes &b) { patch<std::uint64_t>(b, 56, 0x2011); }),
            "fat binary: LZ4 compression, entry at offset 16");
}

// Small files that claim to unpack to more than a machine has.
TEST_F(Fatbin, UnpacksInProportion) {
  const auto one = fatbin::write({ptxEntry(std::string(std::size_t{1} << 25, ' '))}, true);
  ASSERT_LT(one.size(), 8000u);
  EXPECT_TRUE(fatbin::read(one));
  std::vector<std::uint8_t> many(one.begin(), one.begin() + 16);
  for (int i = 0; i < 300; ++i) many.insert(many.end(), one.begin() + 16, one.end());
  patch<std::uint64_t>(many, 8, many.size() - 16);
  auto read = fatbin::read(many);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("absurd uncompressed size"), std::string::npos) << read.error().message;
}

TEST_F(Fatbin, ClaimedSizeRefusesForeignData) {
  std::uint64_t zeros[2] = {};
  EXPECT_FALSE(fatbin::claimedSize(zeros));
}
