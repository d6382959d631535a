// SPDX-License-Identifier: Apache-2.0
// In host code a kernel's name stands for the function that launches it. clang calls that function
// __device_stub__NAME; with nvcc it is NAME, so that files of other compilers may take its address:
//   kernels.cu   __global__ void scale(float *);                                (nvcc)
//   main.cpp     void scale(float *); … cudaLaunchKernel((void *)scale, …);     (any C++ compiler)
// A second symbol would do for one file, but a program that is not position-independent gives a function of a shared
// library another address than the library sees; only the symbol that the library registers itself then agrees. So
// each such function is renamed, where it is defined and where it is called.
//   _Z20__device_stub__scalePf  →  _Z5scalePf
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <cctype>
#include <cstdlib>

#include "toolkit/nvcc/plugin/passes.h"

using namespace llvm;

namespace {

constexpr StringLiteral kPrefix = "__device_stub__";

// Of a mangled function "ns::f<T>(int)": "f"; "" where the name is not one.
std::string baseName(const std::string &mangled) {
  ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(mangled.c_str()) || !demangler.isFunction()) return "";
  char *text = demangler.getFunctionBaseName(nullptr, nullptr);
  std::string name = text ? text : "";
  std::free(text);
  return name;
}

// The kernel's own name, or "" if `stub` is another function (which may have a kernel among its template arguments).
// Identifiers are mangled as length and text, and the digits before may belong to another one: what a candidate
// demangles to decides.
std::string kernelName(StringRef stub) {
  if (stub.starts_with(kPrefix)) return stub.drop_front(kPrefix.size()).str();
  StringRef base = kPrefix;
  std::string stubBase = baseName(stub.str());
  if (!StringRef(stubBase).starts_with(base)) return "";
  std::string wanted = stubBase.substr(base.size());
  for (size_t at = stub.find(kPrefix); at != StringRef::npos; at = stub.find(kPrefix, at + 1)) {
    for (size_t digits = at; digits > 0 && std::isdigit(static_cast<unsigned char>(stub[digits - 1])); --digits) {
      size_t length = 0;
      if (stub.slice(digits - 1, at).getAsInteger(10, length) || length <= kPrefix.size()) continue;
      std::string candidate = stub.take_front(digits - 1).str() + std::to_string(length - kPrefix.size()) +
                              stub.drop_front(at + kPrefix.size()).str();
      if (baseName(candidate) == wanted) return candidate;
    }
  }
  return "";
}

void rename(Module &module, Function &function, const std::string &name) {
  Comdat *old = function.getComdat();
  bool named = old && old->getName() == function.getName();
  function.setName(name);
  if (!named) return;
  Comdat *comdat = module.getOrInsertComdat(name);
  comdat->setSelectionKind(old->getSelectionKind());
  function.setComdat(comdat);
}

}  // namespace

void strata::plugin::nameKernels(Module &module) {
  if (Triple(module.getTargetTriple()).isNVPTX()) return;
  for (Function &function : module) {
    if (!function.getName().contains(kPrefix)) continue;
    std::string name = kernelName(function.getName());
    if (!name.empty() && !module.getNamedValue(name)) rename(module, function, name);
  }
}
