// SPDX-License-Identifier: Apache-2.0
// From a place in a kernel's machine code to the line of the CUDA source, for fault messages.
#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <cstdint>
#include <cstdio>

// Writes "file:line" of `offset` in section `section` of an ELF object, terminated, at most `capacity` bytes.
// False if the object does not say.
extern "C" [[gnu::visibility("default")]] bool strata_codegen_source_line(const std::uint8_t *object, std::size_t size,
                                                                          std::uint32_t section, std::uint64_t offset,
                                                                          char *line, std::size_t capacity) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(object), size);
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  auto context = llvm::DWARFContext::create(**file);
  llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue);
  // Inlined functions of libraries have no lines: then it is the innermost caller's.
  const llvm::DIInliningInfo frames = context->getInliningInfoForAddress({offset, section}, wanted);
  for (std::uint32_t i = 0; i < frames.getNumberOfFrames(); ++i) {
    const llvm::DILineInfo &found = frames.getFrame(i);
    if (found.Line == 0 || found.FileName == llvm::DILineInfo::BadString) continue;
    std::snprintf(line, capacity, "%s:%u", found.FileName.c_str(), found.Line);
    return true;
  }
  return false;
}
