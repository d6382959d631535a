// SPDX-License-Identifier: Apache-2.0
// Layout of a loaded image, one mapping:
//   code sections, stubs (one `jmp *slot` per external function) | constants, address slots | data
// Each of the three parts starts on a page and gets its own protection once relocations are applied.
#include "simt/exec/image.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "simt/exec/codegen_library.h"
#include "simt/target/relocations.h"

namespace strata::simt {
namespace {

constexpr std::uint64_t kMaxObjectBytes = std::uint64_t{1} << 28;
constexpr std::uint64_t kMaxLoadedBytes = std::uint64_t{1} << 29;
constexpr std::uint32_t kMaxSections = 4096;
constexpr std::uint64_t kMaxAlignment = 4096;
constexpr std::uint64_t kSlotBytes = 8;
using machine::kStubBytes;
constexpr std::string_view kEntryName = "strata_entry";

enum Part : unsigned { code, constants, data, partCount };

std::uint64_t alignUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// The C library functions that generated code may call.
void *externalFunction(std::string_view name) {
  if (name == "memcpy")
    return reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, std::size_t)>(std::memcpy));
  if (name == "memmove")
    return reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, std::size_t)>(std::memmove));
  if (name == "memset") return reinterpret_cast<void *>(static_cast<void *(*)(void *, int, std::size_t)>(std::memset));
  return nullptr;
}

Error damaged(const std::string &what) { return internalError("kernel image: " + what); }

}  // namespace

class ImageLoader {
public:
  explicit ImageLoader(std::vector<std::uint8_t> object) : object_(std::move(object)) {}
  Result<std::shared_ptr<const CodeImage>> load();

private:
  struct Section {
    Elf64_Shdr header{};
    std::string_view name;
    bool loaded = false;
    Part part = code;
    std::uint64_t offset = 0;  // in the mapping
  };
  struct External {
    std::uint64_t address = 0;
    std::uint64_t slot = 0;  // offset in the mapping
    std::uint64_t stub = 0;  // offset in the mapping
  };

  Result<void> readHeaders();
  Result<void> readSection(Section &section, std::string_view names);
  Result<void> readSymbols();
  Result<void> collectSlots();
  Result<void> place();
  Result<void> fill();
  Result<void> relocate(const Section &relocations);
  Result<void> apply(const Section &target, const Elf64_Rela &relocation);
  Result<std::uint64_t> symbolAddress(std::uint32_t index);
  Result<std::shared_ptr<const CodeImage>> finish();

  bool inside(std::uint64_t offset, std::uint64_t size) const {
    return offset <= object_.size() && size <= object_.size() - offset;
  }
  Result<std::string_view> stringAt(std::string_view table, std::uint64_t offset) const {
    if (offset >= table.size()) return damaged("a name lies outside its table");
    std::size_t end = table.find('\0', offset);
    if (end == std::string_view::npos) return damaged("a name is not terminated");
    return table.substr(offset, end - offset);
  }
  std::string_view contents(const Section &section) const {
    return {reinterpret_cast<const char *>(object_.data()) + section.header.sh_offset,
            static_cast<std::size_t>(section.header.sh_size)};
  }
  std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(image_->mapping_); }
  std::uint8_t *at(std::uint64_t offset) const { return static_cast<std::uint8_t *>(image_->mapping_) + offset; }

  std::vector<std::uint8_t> object_;
  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::vector<std::string_view> symbolNames_;
  std::map<std::uint32_t, External> slots_;  // by symbol: all that need an address slot
  std::uint64_t partOffset_[partCount + 1] = {}, partEnd_[partCount] = {};
  std::shared_ptr<CodeImage> image_;
};

Result<std::shared_ptr<const CodeImage>> ImageLoader::load() {
  if (auto r = readHeaders(); !r) return r.error();
  if (auto r = readSymbols(); !r) return r.error();
  if (auto r = collectSlots(); !r) return r.error();
  if (auto r = place(); !r) return r.error();
  if (auto r = fill(); !r) return r.error();
  return finish();
}

Result<void> ImageLoader::readHeaders() {
  Elf64_Ehdr header;
  if (object_.size() < sizeof header || object_.size() > kMaxObjectBytes) return damaged("size is out of range");
  std::memcpy(&header, object_.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL || header.e_machine != machine::kElfMachine)
    return damaged("not a relocatable object of this processor's");
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shnum > kMaxSections ||
      header.e_shstrndx >= header.e_shnum || !inside(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)))
    return damaged("section table is out of range");

  sections_.resize(header.e_shnum);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    Elf64_Shdr &h = sections_[i].header;
    std::memcpy(&h, object_.data() + header.e_shoff + i * sizeof h, sizeof h);
    if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL && !inside(h.sh_offset, h.sh_size))
      return damaged("section " + std::to_string(i) + " lies outside the object");
  }
  if (sections_[header.e_shstrndx].header.sh_type != SHT_STRTAB) return damaged("section names are missing");
  std::string_view names = contents(sections_[header.e_shstrndx]);
  for (std::size_t i = 1; i < sections_.size(); ++i)
    if (auto r = readSection(sections_[i], names); !r) return r;
  return {};
}

Result<void> ImageLoader::readSection(Section &section, std::string_view names) {
  const Elf64_Shdr &h = section.header;
  auto name = stringAt(names, h.sh_name);
  if (!name) return name.error();
  section.name = *name;
  std::string quoted = "section " + std::string(section.name);
  if (h.sh_type == SHT_GROUP) return damaged("section groups are not supported");
  if (!(h.sh_flags & SHF_ALLOC)) return {};
  // Unwind tables: kernels are left by switching stacks, never by unwinding.
  if (section.name == ".eh_frame" || machine::isUnwindSection(h.sh_type)) return {};
  if (h.sh_type != SHT_PROGBITS && h.sh_type != SHT_NOBITS) return damaged(quoted + " has an unknown type");
  if (h.sh_flags & (SHF_TLS | SHF_COMPRESSED)) return damaged(quoted + " has unsupported flags");
  if (h.sh_size > kMaxLoadedBytes) return damaged(quoted + " is too large");
  std::uint64_t alignment = h.sh_addralign ? h.sh_addralign : 1;
  if (alignment > kMaxAlignment || (alignment & (alignment - 1))) return damaged(quoted + " has a bad alignment");
  bool writable = h.sh_flags & SHF_WRITE, executable = h.sh_flags & SHF_EXECINSTR;
  // .data.rel.ro is constant once relocated.
  if (section.name.substr(0, 12) == ".data.rel.ro") writable = false;
  if (executable && (writable || h.sh_type == SHT_NOBITS)) return damaged(quoted + " is writable code");
  section.loaded = true;
  section.part = executable ? code : writable ? data : constants;
  return {};
}

Result<void> ImageLoader::readSymbols() {
  const Section *table = nullptr;
  for (const Section &section : sections_) {
    if (section.header.sh_type != SHT_SYMTAB) continue;
    if (table) return damaged("two symbol tables");
    table = &section;
  }
  if (!table) return damaged("no symbol table");
  const Elf64_Shdr &h = table->header;
  if (h.sh_entsize != sizeof(Elf64_Sym) || h.sh_size % sizeof(Elf64_Sym)) return damaged("symbol table has a bad size");
  if (h.sh_link >= sections_.size() || sections_[h.sh_link].header.sh_type != SHT_STRTAB)
    return damaged("symbol names are missing");
  std::string_view names = contents(sections_[h.sh_link]);
  symbols_.resize(h.sh_size / sizeof(Elf64_Sym));
  if (!symbols_.empty()) std::memcpy(symbols_.data(), object_.data() + h.sh_offset, h.sh_size);
  symbolNames_.resize(symbols_.size());
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    auto name = stringAt(names, symbols_[i].st_name);
    if (!name) return name.error();
    symbolNames_[i] = *name;
  }
  return {};
}

// External functions get a slot and a stub, other symbols a slot if code reads their address from one.
Result<void> ImageLoader::collectSlots() {
  for (const Section &section : sections_) {
    const Elf64_Shdr &h = section.header;
    if (h.sh_type != SHT_RELA && h.sh_type != SHT_REL) continue;
    if (h.sh_info >= sections_.size()) return damaged("relocations of no section");
    if (!sections_[h.sh_info].loaded) continue;
    if (h.sh_type == SHT_REL) return damaged("relocations without addends");
    if (h.sh_entsize != sizeof(Elf64_Rela) || h.sh_size % sizeof(Elf64_Rela))
      return damaged("relocation table has a bad size");
    for (std::uint64_t at = 0; at < h.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela r;
      std::memcpy(&r, object_.data() + h.sh_offset + at, sizeof r);
      std::uint32_t symbol = ELF64_R_SYM(r.r_info), type = ELF64_R_TYPE(r.r_info);
      if (symbol >= symbols_.size()) return damaged("relocation against no symbol");
      bool external = symbol != 0 && symbols_[symbol].st_shndx == SHN_UNDEF;
      const std::optional<machine::Relocation> kind = machine::relocationOf(type);
      if (!external && !(kind && kind->slot)) continue;
      External &entry = slots_[symbol];
      if (!external) continue;
      void *function = externalFunction(symbolNames_[symbol]);
      if (!function) return damaged("unknown external symbol '" + std::string(symbolNames_[symbol]) + "'");
      entry.address = reinterpret_cast<std::uint64_t>(function);
    }
  }
  return {};
}

Result<void> ImageLoader::place() {
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t offset = 0;
  for (unsigned part = 0; part < partCount; ++part) {
    offset = alignUp(offset, page);
    partOffset_[part] = offset;
    for (Section &section : sections_) {
      if (!section.loaded || section.part != part) continue;
      offset = alignUp(offset, section.header.sh_addralign ? section.header.sh_addralign : 1);
      section.offset = offset;
      offset += section.header.sh_size;
      if (offset > kMaxLoadedBytes) return damaged("too large");
    }
    if (part == code || part == constants) offset = alignUp(offset, kStubBytes);
    for (auto &[symbol, entry] : slots_) {
      if (part == code && entry.address) entry.stub = offset, offset += kStubBytes;
      if (part == constants) entry.slot = offset, offset += kSlotBytes;
    }
    partEnd_[part] = offset;
  }
  partOffset_[partCount] = alignUp(offset, page);
  if (partEnd_[code] == partOffset_[code]) return damaged("no code");

  image_.reset(new CodeImage);
  void *mapping = mmap(nullptr, partOffset_[partCount], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return resourceError("no memory for machine code: " + std::string(std::strerror(errno)));
  image_->mapping_ = mapping;
  image_->mappingBytes_ = partOffset_[partCount];
  return {};
}

Result<void> ImageLoader::fill() {
  std::memset(at(partOffset_[code]), machine::kTrap, partEnd_[code] - partOffset_[code]);
  for (const Section &section : sections_)
    if (section.loaded && section.header.sh_type != SHT_NOBITS && section.header.sh_size)
      std::memcpy(at(section.offset), object_.data() + section.header.sh_offset, section.header.sh_size);
  for (auto &[symbol, entry] : slots_) {
    if (entry.address) {
      machine::writeStub(at(entry.stub), static_cast<std::int64_t>(entry.slot - entry.stub));
    } else {
      auto address = symbolAddress(symbol);
      if (!address) return address.error();
      entry.address = *address;
    }
    std::memcpy(at(entry.slot), &entry.address, kSlotBytes);
  }
  for (const Section &section : sections_)
    if (section.header.sh_type == SHT_RELA && sections_[section.header.sh_info].loaded)
      if (auto r = relocate(section); !r) return r;
  return {};
}

Result<void> ImageLoader::relocate(const Section &relocations) {
  const Elf64_Shdr &h = relocations.header;
  for (std::uint64_t offset = 0; offset < h.sh_size; offset += sizeof(Elf64_Rela)) {
    Elf64_Rela r;
    std::memcpy(&r, object_.data() + h.sh_offset + offset, sizeof r);
    if (auto result = apply(sections_[h.sh_info], r); !result) return result;
  }
  return {};
}

// The value of a symbol of this object; for an external function that of its stub, which is in reach.
Result<std::uint64_t> ImageLoader::symbolAddress(std::uint32_t index) {
  const Elf64_Sym &symbol = symbols_[index];
  if (index == 0) return std::uint64_t{0};
  if (symbol.st_shndx == SHN_UNDEF) return base() + slots_.at(index).stub;
  if (symbol.st_shndx == SHN_ABS) return symbol.st_value;
  if (symbol.st_shndx >= sections_.size() || !sections_[symbol.st_shndx].loaded ||
      symbol.st_value > sections_[symbol.st_shndx].header.sh_size)
    return damaged("symbol '" + std::string(symbolNames_[index]) + "' has no place");
  return base() + sections_[symbol.st_shndx].offset + symbol.st_value;
}

Result<void> ImageLoader::apply(const Section &target, const Elf64_Rela &relocation) {
  std::uint32_t symbol = ELF64_R_SYM(relocation.r_info), type = ELF64_R_TYPE(relocation.r_info);
  const std::optional<machine::Relocation> kind = machine::relocationOf(type);
  const std::uint64_t width = kind ? kind->width : 1;
  std::uint64_t size = target.header.sh_type == SHT_NOBITS ? 0 : target.header.sh_size;
  if (relocation.r_offset > size || width > size - relocation.r_offset)
    return damaged("a relocation lies outside its section");
  std::uint8_t *where = at(target.offset + relocation.r_offset);
  auto address = symbolAddress(symbol);
  if (!address) return address.error();
  if (!kind) return damaged("unsupported relocation type " + std::to_string(type));
  // Unsigned arithmetic: damaged addends may wrap, the range check below finds them.
  std::uint64_t value =
      (kind->slot ? base() + slots_.at(symbol).slot : *address) + static_cast<std::uint64_t>(relocation.r_addend);
  if (kind->relative) value -= reinterpret_cast<std::uint64_t>(where);
  if (kind->width == 4) {
    const bool fits = kind->isSigned ? static_cast<std::int64_t>(value) ==
                                           static_cast<std::int32_t>(static_cast<std::uint32_t>(value))
                                     : value <= std::numeric_limits<std::uint32_t>::max();
    if (!fits) return damaged("relocation type " + std::to_string(type) + " is out of range");
  }
  std::memcpy(where, &value, kind->width);  // of a narrow one the low half
  return {};
}

Result<std::shared_ptr<const CodeImage>> ImageLoader::finish() {
  for (std::uint32_t i = 1; i < symbols_.size() && !image_->entry_; ++i) {
    if (symbolNames_[i] != kEntryName || symbols_[i].st_shndx == SHN_UNDEF) continue;
    std::uint16_t section = symbols_[i].st_shndx;
    if (section >= sections_.size() || !sections_[section].loaded || sections_[section].part != code ||
        symbols_[i].st_value >= sections_[section].header.sh_size)
      return damaged("the entry is not code");
    image_->entry_ = at(sections_[section].offset + symbols_[i].st_value);
  }
  if (!image_->entry_) return damaged("no symbol " + std::string(kEntryName));

  const int protections[partCount] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  for (unsigned part = 0; part < partCount; ++part) {
    std::uint64_t bytes = partOffset_[part + 1] - partOffset_[part];
    if (bytes && mprotect(at(partOffset_[part]), bytes, protections[part]) != 0)
      return resourceError("cannot protect machine code: " + std::string(std::strerror(errno)));
  }
  image_->codeBegin_ = base() + partOffset_[code];
  image_->codeEnd_ = base() + partEnd_[code];
  for (std::uint32_t i = 0; i < sections_.size(); ++i)
    if (sections_[i].loaded && sections_[i].part == code)
      image_->codeSections_.push_back(
          {i, base() + sections_[i].offset, base() + sections_[i].offset + sections_[i].header.sh_size});
  image_->object_ = std::move(object_);
  return std::shared_ptr<const CodeImage>(std::move(image_));
}

Result<std::shared_ptr<const CodeImage>> CodeImage::load(std::vector<std::uint8_t> object) {
  return ImageLoader(std::move(object)).load();
}

CodeImage::~CodeImage() {
  if (mapping_) munmap(mapping_, mappingBytes_);
}

std::string CodeImage::sourceLine(std::uintptr_t pc) const {
  for (const CodeSection &section : codeSections_)
    if (pc >= section.begin && pc < section.end) return codegenSourceLine(object_, section.index, pc - section.begin);
  return {};
}

}  // namespace strata::simt
