// SPDX-License-Identifier: Apache-2.0
// clang's command lines for the device pass, the host pass and plain C and C++.
#pragma once

#include <string>
#include <vector>

#include "toolkit/nvcc/arch.h"
#include "toolkit/nvcc/options.h"
#include "toolkit/nvcc/toolkit.h"

namespace strata::nvcc {

enum class Language { cuda, cxx, c };

struct Compile {
  const CommandLine &line;
  const Toolkit &kit;
  const std::vector<Arch> &archs;
  bool relocatable = false;
  // Of passes over preprocessed text: the file that it was made of. They take no macros, no folders of headers, and
  // name no dependencies.
  const std::string *source = nullptr;

  // Device pass: `input` to PTX.
  std::vector<std::string> device(const std::string &input, const Arch &arch, const std::string &output) const;
  // Host pass: `input` to an object that carries `fatbin` and registers it.
  std::vector<std::string> host(const std::string &input, const std::string &fatbin, const std::string &output) const;
  // Turns a pass over a file into one that writes its preprocessed text.
  static std::vector<std::string> toText(std::vector<std::string> pass, const std::string &output);
  // C or C++ to an object.
  std::vector<std::string> plain(Language language, const std::string &input, const std::string &output) const;
  // Preprocessed text, or with -M or -MM the make rule; to stdout if `output` is empty.
  std::vector<std::string> preprocess(Language language, const std::string &input, const std::string &output) const;

private:
  std::vector<std::string> common(Language language) const;
  std::vector<std::string> cudaMode() const;
  std::vector<std::string> hostOnly() const;
  std::vector<std::string> macros(Language language) const;
  std::vector<std::string> deviceMath() const;
  std::vector<std::string> dependencyOptions(const std::string &output) const;
  std::vector<std::string> unitId(const std::string &input) const;
};

// Values of -Xcompiler as words for clang; forwarded options follow.
std::vector<std::string> hostCompilerOptions(const CommandLine &line);

}  // namespace strata::nvcc
