// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/objects.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace strata::nvcc {

namespace {

using Bytes = std::vector<std::uint8_t>;

template <class T>
bool readAt(const Bytes &bytes, std::uint64_t offset, T &value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

bool isElf(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= sizeof(Elf64_Ehdr) && !std::memcmp(bytes.data(), ELFMAG, SELFMAG);
}

std::string textAt(const Bytes &bytes, std::uint64_t offset) {
  std::string text;
  while (offset < bytes.size() && bytes[offset]) text += static_cast<char>(bytes[offset++]);
  return text;
}

Error malformed(const std::string &name) { return userError("'" + name + "' is truncated or malformed"); }

// An archive: "!<arch>\n", then headers of 60 bytes, each followed by its member, padded to even offsets.
Result<std::vector<Object>> readArchive(const std::string &path, const Bytes &bytes) {
  struct Header {
    char name[16], date[12], uid[6], gid[6], mode[8], size[10], end[2];
  };
  std::vector<Object> objects;
  Bytes longNames;
  for (std::uint64_t offset = 8; offset + 1 < bytes.size();) {
    Header header;
    if (!readAt(bytes, offset, header) || std::memcmp(header.end, "`\n", 2)) return malformed(path);
    std::uint64_t size = std::strtoull(std::string(header.size, sizeof header.size).c_str(), nullptr, 10);
    offset += sizeof header;
    if (size > bytes.size() - offset) return malformed(path);
    Bytes member(bytes.begin() + offset, bytes.begin() + offset + size);
    offset += size + size % 2;
    std::string name(header.name, sizeof header.name);
    if (name.starts_with("// ")) longNames = member;
    if (name[0] == '/' && std::isdigit(static_cast<unsigned char>(name[1])))
      name = textAt(longNames, std::strtoull(name.c_str() + 1, nullptr, 10));
    name = name.substr(0, name.find('/'));
    if (isElf(member)) objects.push_back({path + "(" + name + ")", std::move(member)});
  }
  return objects;
}

// Calls visit(section header, its name) for all sections.
template <class Visit>
Result<void> forSections(const Object &object, Visit visit) {
  Elf64_Ehdr header;
  if (!readAt(object.bytes, 0, header) || header.e_ident[EI_CLASS] != ELFCLASS64) return malformed(object.name);
  Elf64_Shdr names;
  if (!readAt(object.bytes, header.e_shoff + std::uint64_t(header.e_shstrndx) * sizeof names, names))
    return malformed(object.name);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr one;
    if (!readAt(object.bytes, header.e_shoff + i * sizeof one, one)) return malformed(object.name);
    bool inFile = one.sh_type != SHT_NOBITS;
    if (inFile && (one.sh_offset > object.bytes.size() || one.sh_size > object.bytes.size() - one.sh_offset))
      return malformed(object.name);
    visit(one, textAt(object.bytes, names.sh_offset + one.sh_name));
  }
  return {};
}

}  // namespace

Result<std::vector<Object>> readObjects(const std::string &path, Objects which) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return userError("cannot read '" + path + "'");
  Bytes bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() >= 8 && !std::memcmp(bytes.data(), "!<arch>\n", 8)) return readArchive(path, bytes);
  if (bytes.size() >= 8 && !std::memcmp(bytes.data(), "!<thin>\n", 8))
    return unsupported("'" + path + "' is a thin archive");
  if (!isElf(bytes)) return std::vector<Object>{};
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_type != ET_REL && which == Objects::relocatable) return std::vector<Object>{};
  return std::vector<Object>{{path, std::move(bytes)}};
}

Result<Bytes> section(const Object &object, const std::string &name) {
  Bytes contents;
  Result<void> read = forSections(object, [&](const Elf64_Shdr &header, const std::string &found) {
    if (found != name || header.sh_type == SHT_NOBITS) return;
    auto begin = object.bytes.begin() + header.sh_offset;
    contents.insert(contents.end(), begin, begin + header.sh_size);
  });
  if (!read) return read.error();
  return contents;
}

Result<std::vector<std::string>> symbols(const Object &object, const std::string &prefix, bool defined) {
  std::vector<Elf64_Shdr> sections;
  Result<void> read =
      forSections(object, [&](const Elf64_Shdr &header, const std::string &) { sections.push_back(header); });
  if (!read) return read.error();
  std::vector<std::string> names;
  for (const Elf64_Shdr &table : sections) {
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections.size()) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!readAt(object.bytes, table.sh_offset + at, symbol)) return malformed(object.name);
      if ((symbol.st_shndx != SHN_UNDEF) != defined || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      std::string name = textAt(object.bytes, sections[table.sh_link].sh_offset + symbol.st_name);
      if (name.starts_with(prefix)) names.push_back(name);
    }
  }
  return names;
}

}  // namespace strata::nvcc
