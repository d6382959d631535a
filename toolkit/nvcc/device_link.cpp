// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/device_link.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/choose_ptx.h"
#include "base/fatbin.h"
#include "ptx/ptx.h"
#include "toolkit/nvcc/objects.h"

namespace strata::nvcc {

namespace fs = std::filesystem;

namespace {

const std::string kRegister = "__cudaRegisterLinkedBinary_";

struct Gathered {
  std::set<std::string> functions;             // open registration functions
  std::vector<strata::fatbin::Entry> entries;  // device code of the objects that call them
};

// Archives among -l libraries; what is not found is the host linker's to report.
std::vector<std::string> linkFiles(const DeviceLinkInput &input) {
  std::vector<std::string> files = input.files;
  for (const std::string &library : input.libraries) {
    std::string name = library.starts_with(":") ? library.substr(1) : "lib" + library + ".a";
    for (const std::string &folder : input.libraryPaths) {
      std::error_code ignored;
      if (!fs::exists(fs::path(folder) / name, ignored)) continue;
      files.push_back(fs::path(folder) / name);
      break;
    }
  }
  return files;
}

Result<void> addEntries(const Object &object, Gathered &all) {
  Result<std::vector<std::uint8_t>> bytes = section(object, "__nv_relfatbin");
  if (!bytes) return bytes.error();
  // `ld -r` puts several fat binaries into one section, each padded to 8 bytes.
  std::span<const std::uint8_t> rest = *bytes;
  for (int index = 0; !rest.empty(); ++index) {
    if (rest[0] == 0) {
      rest = rest.subspan(1);
      continue;
    }
    constexpr std::size_t kHeader = 16;
    if (rest.size() < kHeader) return userError("'" + object.name + "' has damaged device code");
    Result<std::uint64_t> size = strata::fatbin::claimedSize(rest.data());
    if (!size || *size > rest.size()) return userError("'" + object.name + "' has damaged device code");
    Result<std::vector<strata::fatbin::Entry>> entries = strata::fatbin::read(rest.first(*size));
    if (!entries) return Error{entries.error().blame, "'" + object.name + "': " + entries.error().message};
    for (strata::fatbin::Entry &entry : *entries) {
      entry.name = object.name + (index ? "#" + std::to_string(index) : "");
      entry.relocatable = true;
      all.entries.push_back(std::move(entry));
    }
    rest = rest.subspan(*size);
  }
  return {};
}

Result<Gathered> gather(const DeviceLinkInput &input, bool wantEntries) {
  std::vector<Object> objects;
  std::set<std::string> linked;
  for (const std::string &file : linkFiles(input)) {
    Result<std::vector<Object>> found = readObjects(file);
    if (!found) return found.error();
    for (Object &object : *found) objects.push_back(std::move(object));
  }
  for (const Object &object : objects) {
    Result<std::vector<std::string>> names = symbols(object, kRegister, true);
    if (!names) return names.error();
    linked.insert(names->begin(), names->end());
  }
  Gathered all;
  for (const Object &object : objects) {
    Result<std::vector<std::string>> names = symbols(object, kRegister, false);
    if (!names) return names.error();
    bool open = false;
    for (const std::string &name : *names)
      if (!linked.contains(name)) open = true, all.functions.insert(name);
    if (!open || !wantEntries) continue;
    if (Result<void> added = addEntries(object, all); !added) return added.error();
  }
  return all;
}

// What nvlink would refuse: a name that nothing defines, or that two objects do. Left to who runs it: machine code of
// GPUs, which may define the rest, and PTX that only another version understands.
Result<void> checkLinks(const std::vector<strata::fatbin::Entry> &entries) {
  unsigned newest = 0;
  for (const strata::fatbin::Entry &entry : entries) {
    if (entry.kind == strata::fatbin::Kind::cubin) return {};
    newest = std::max(newest, entry.arch);
  }
  strata::fatbin::ChosenPtx chosen = strata::fatbin::choosePtx(entries, strata::fatbin::kCpuCapability);
  if (chosen.entries.empty()) chosen = strata::fatbin::choosePtx(entries, newest);
  if (chosen.entries.empty()) return {};
  std::vector<ptx::Module> modules;
  for (const std::string &text : chosen.texts()) {
    Result<ptx::Module> module = ptx::parse(text);
    if (!module) return {};
    modules.push_back(std::move(*module));
  }
  Result<ptx::Module> linked = ptx::link(std::move(modules), chosen.names());
  if (linked) return {};
  return Error{linked.error().blame, "device " + linked.error().message};
}

std::string registrationSource(const Gathered &all, const std::string &fatbinFile) {
  if (all.functions.empty()) return "";
  std::string text =
      "/* Made by Strata's nvcc: registers device code that was linked from several objects. */\n"
      "__asm__(\".pushsection .nv_fatbin,\\\"a\\\"\\n.balign 8\\nstrataLinkedFatbin: .incbin \\\"" +
      fatbinFile +
      "\\\"\\n.popsection\");\n"
      "extern const char image[] __asm__(\"strataLinkedFatbin\") __attribute__((visibility(\"hidden\")));\n"
      "static const struct { unsigned magic, version; const void *data; void *unused; } wrapper\n"
      "    __attribute__((section(\".nvFatBinSegment\"), used)) = {0x466243b1, 1, image, 0};\n"
      "extern void **__cudaRegisterFatBinary(const void *);\n"
      "extern void __cudaRegisterFatBinaryEnd(void **);\n"
      "extern void __cudaUnregisterFatBinary(void **);\n"
      "extern int atexit(void (*)(void));\n"
      "static void **handle;\n"
      "static void unregister(void) { __cudaUnregisterFatBinary(handle); }\n"
      "static void enter(void (*registerAll)(void **)) {\n"
      "  int first = !handle;\n"
      "  if (first) handle = __cudaRegisterFatBinary(&wrapper);\n"
      "  registerAll(handle);\n"
      "  __cudaRegisterFatBinaryEnd(handle);\n"
      "  if (first) atexit(unregister);\n"
      "}\n";
  for (const std::string &name : all.functions)
    text += "__attribute__((visibility(\"hidden\"))) void " + name +
            "(void (*registerAll)(void **), void *fatbin, void *id, void *callback) {\n"
            "  (void)fatbin, (void)id, (void)callback;\n  enter(registerAll);\n}\n";
  return text;
}

}  // namespace

Result<bool> needsDeviceLink(const DeviceLinkInput &input) {
  Result<Gathered> all = gather(input, false);
  if (!all) return all.error();
  return !all->functions.empty();
}

Result<void> deviceLink(const DeviceLinkInput &input, const std::string &fatbinFile, const std::string &sourceFile,
                        bool compress, const NativeCode &nativeCode) {
  Result<Gathered> all = gather(input, true);
  if (!all) return all.error();
  if (Result<void> checked = checkLinks(all->entries); !checked) return checked;
  if (Result<void> added = addNativeCode(all->entries, nativeCode); !added) return added;
  std::vector<std::uint8_t> bytes = strata::fatbin::write(all->entries, compress);
  std::ofstream binary(fatbinFile, std::ios::binary), source(sourceFile);
  binary.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  source << registrationSource(*all, fatbinFile);
  if (!binary.flush() || !source.flush()) return resourceError("cannot write '" + fatbinFile + "'");
  return {};
}

}  // namespace strata::nvcc
