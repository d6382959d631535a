// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/ptx_text.h"

#include <cctype>
#include <functional>
#include <map>
#include <sstream>
#include <vector>

#include "base/device_functions.h"

namespace strata::nvcc {

namespace {

// The text is handled as clang prints it: a declaration begins on a line of its own and ends with the first line
// that ends in ";".
std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joinLines(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines) text += line + "\n";
  return text;
}

bool isName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

// The text with each name replaced by what `change` makes of it.
std::string mapNames(const std::string &text, const std::function<std::string(const std::string &)> &change) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (!isName(text[i])) {
      result += text[i++];
      continue;
    }
    std::size_t begin = i;
    while (i < text.size() && isName(text[i])) ++i;
    result += change(text.substr(begin, i - begin));
  }
  return result;
}

std::map<std::string, int> countNames(const std::string &text) {
  std::map<std::string, int> counts;
  mapNames(text, [&](const std::string &name) { return ++counts[name], name; });
  return counts;
}

// x__static__<id>, x__intern__<id> -> x
std::string bareName(const std::string &name) {
  for (const char *mark : {"__static__", "__intern__"})
    if (std::size_t at = name.find(mark); at != name.npos && at > 0) return name.substr(0, at);
  return name;
}

// The last name on the line; a variable's size is not one.
std::string declaredName(const std::string &line) {
  std::size_t end = line.starts_with(".extern .func") ? line.npos : line.find_first_of(";[");
  std::string last;
  mapNames(line.substr(0, end), [&](const std::string &name) { return last = name; });
  return last;
}

// Leaves out declarations that begin with `head` and whose name is `unwanted`.
std::vector<std::string> dropDeclarations(const std::vector<std::string> &lines, const std::string &head,
                                          const std::function<bool(const std::string &name)> &unwanted) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(head) || !unwanted(declaredName(lines[i]))) {
      kept.push_back(lines[i]);
      continue;
    }
    while (i < lines.size() && !lines[i].ends_with(";")) ++i;
  }
  return kept;
}

}  // namespace

std::string limitRegisters(const std::string &ptx, const std::string &count) {
  std::vector<std::string> result;
  bool inHead = false, bounded = false;
  for (const std::string &line : splitLines(ptx)) {
    if (line.find(".entry ") != line.npos && !line.starts_with("//")) inHead = true, bounded = false;
    if (line.starts_with(".maxntid") || line.starts_with(".reqntid") || line.starts_with(".minnctapersm"))
      bounded = true;
    if (inHead && line == "{") {
      if (!bounded) result.push_back(".maxnreg " + count);
      inHead = false;
    }
    result.push_back(line);
  }
  return joinLines(result);
}

std::string repairRelocatable(const std::string &ptx) {
  std::vector<std::string> lines;
  for (const std::string &line : splitLines(ptx))
    if (line.find(" __clang_gpu_used_external[") == line.npos) lines.push_back(line);
  std::map<std::string, std::string> fullNames;
  for (const auto &[name, uses] : countNames(joinLines(lines)))
    if (std::string bare = bareName(name); bare != name) fullNames[bare] = name;
  if (!fullNames.empty()) {
    lines =
        dropDeclarations(lines, ".extern .global", [&](const std::string &name) { return fullNames.contains(name); });
    lines = splitLines(mapNames(joinLines(lines), [&](const std::string &name) {
      auto found = fullNames.find(name);
      return found == fullNames.end() ? name : found->second;
    }));
  }
  std::map<std::string, int> uses = countNames(joinLines(lines));
  return joinLines(dropDeclarations(lines, ".extern .func", [&](const std::string &name) { return uses[name] == 1; }));
}

std::string unresolvedSymbol(const std::string &ptx) {
  const std::map<std::string, int> uses = countNames(ptx);
  for (const std::string &line : splitLines(ptx)) {
    if (!line.starts_with(".extern .func") && !line.starts_with(".extern .global")) continue;
    const std::string name = declaredName(line);
    if (!isDeviceFunction(name) && uses.at(name) > 1) return name;
  }
  return "";
}

}  // namespace strata::nvcc
