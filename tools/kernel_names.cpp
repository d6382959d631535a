// SPDX-License-Identifier: Apache-2.0
#include "tools/kernel_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace strata::tools {
namespace {

// Where the bracket that ends the text was opened; npos if it ends in none of this kind.
std::size_t opening(std::string_view text, char open, char close) {
  if (text.empty() || text.back() != close) return text.npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += (text[i] == close) - (text[i] == open);
    if (!depth) return i;
  }
  return text.npos;
}

// Cuts off what `separator` ends, where no bracket is open: a return type, namespaces.
std::string_view behindLast(std::string_view text, std::string_view separator) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '<' || text[i] == '(';
    depth -= text[i] == '>' || text[i] == ')';
    if (!depth && text.substr(i).starts_with(separator)) begin = i + separator.size();
  }
  return text.substr(begin);
}

std::string withoutSpaces(std::string_view text) {
  std::string result(text);
  std::erase(result, ' ');
  return result;
}

}  // namespace

std::string plainName(const std::string &mangled) {
  int status = 0;
  char *text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status ? mangled : text;
  std::free(text);
  return name;
}

std::string shortName(const std::string &mangled) {
  const std::string plain = plainName(mangled);
  const std::string_view named = std::string_view(plain).substr(0, opening(plain, '(', ')'));
  return std::string(behindLast(named, " "));
}

bool isCalled(const std::string &mangled, const std::string &wanted) {
  if (wanted.empty() || wanted == mangled) return true;
  const std::string asked = withoutSpaces(wanted), plain = plainName(mangled), name = shortName(mangled);
  const std::string signature = name + plain.substr(std::min(plain.size(), opening(plain, '(', ')')));
  if (asked == withoutSpaces(plain) || asked == withoutSpaces(signature)) return true;
  for (const std::string_view form : {std::string_view(name), behindLast(name, "::")})
    if (asked == withoutSpaces(form) || asked == withoutSpaces(form.substr(0, opening(form, '<', '>')))) return true;
  return false;
}

Error noSuchKernel(const std::string &files, const std::string &wanted, const std::set<std::string> &others) {
  std::string message = "'" + files + "' has no kernel" + (wanted.empty() ? "" : " '" + wanted + "'");
  const char *before = "; there are: ";
  for (const std::string &name : others) message += std::exchange(before, ", ") + name;
  return userError(message);
}

}  // namespace strata::tools
