// SPDX-License-Identifier: Apache-2.0
#include "simt/lower/debug_info.h"

#include <llvm/BinaryFormat/Dwarf.h>

namespace strata::simt {

DebugInfo::DebugInfo(llvm::Module &ir, const ptx::Module &ptx) : ptx_(ptx), builder_(ir) {
  ir.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  ir.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  builder_.createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus_14, file(0), "strata", true, "", 0, "",
                             llvm::DICompileUnit::LineTablesOnly);
  noType_ = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
}

llvm::DIFile *DebugInfo::file(std::uint32_t index) {
  llvm::DIFile *&file = files_[index];
  if (file) return file;
  const std::string path = index < ptx_.files.size() && !ptx_.files[index].empty() ? ptx_.files[index] : kNoSourceFile;
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash);
  return file = builder_.createFile(slash == std::string::npos ? path : path.substr(slash + 1), directory);
}

llvm::DISubprogram *DebugInfo::subprogram(const std::string &name, llvm::DIFile *file, unsigned line) {
  return builder_.createFunction(file, name, name, file, line, noType_, line, llvm::DINode::FlagZero,
                                 llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
}

// The first .loc that is not inlined names the function's file.
static const ptx::SourceLine *ownLine(const ptx::Function &source) {
  for (const ptx::SourceLine &line : source.sourceLines)
    if (line.inlinedAt < 0) return &line;
  return nullptr;
}

void DebugInfo::attach(llvm::Function &function, const ptx::Function &source) {
  const ptx::SourceLine *line = ownLine(source);
  function.setSubprogram(subprogram(source.name, file(line ? line->file : 0), line ? line->line : source.place.line));
}

llvm::DILocation *DebugInfo::location(llvm::Function &function, const ptx::Function &source, std::int32_t index) {
  llvm::LLVMContext &context = function.getContext();
  if (index < 0) return llvm::DILocation::get(context, 0, 0, function.getSubprogram());
  llvm::DILocation *&known = locations_[{&source, index}];
  if (known) return known;
  const ptx::SourceLine &line = source.sourceLines[index];
  if (line.inlinedAt < 0 || line.inlinedAt >= index) {
    llvm::DILocalScope *scope = function.getSubprogram();
    if (file(line.file) != scope->getFile()) scope = builder_.createLexicalBlockFile(scope, file(line.file));
    return known = llvm::DILocation::get(context, line.line, line.column, scope);
  }
  llvm::DISubprogram *&scope = inlined_[{line.function, line.file}];
  if (!scope) scope = subprogram(line.function.empty() ? "<inlined>" : line.function, file(line.file), line.line);
  llvm::DILocation *callSite = location(function, source, line.inlinedAt);
  llvm::DILocation *at = llvm::DILocation::getDistinct(context, callSite->getLine(), callSite->getColumn(),
                                                       callSite->getScope(), callSite->getInlinedAt());
  // `known` may have moved: the map has grown in between.
  return locations_[{&source, index}] = llvm::DILocation::get(context, line.line, line.column, scope, at);
}

}  // namespace strata::simt
