// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/dialect.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace strata::nvcc {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSpecialRegisters[] = {"tid",
                                                  "ntid",
                                                  "laneid",
                                                  "warpid",
                                                  "nwarpid",
                                                  "ctaid",
                                                  "nctaid",
                                                  "smid",
                                                  "nsmid",
                                                  "gridid",
                                                  "clock",
                                                  "clock64",
                                                  "clock_hi",
                                                  "globaltimer",
                                                  "globaltimer_lo",
                                                  "globaltimer_hi",
                                                  "lanemask_eq",
                                                  "lanemask_le",
                                                  "lanemask_lt",
                                                  "lanemask_ge",
                                                  "lanemask_gt",
                                                  "dynamic_smem_size",
                                                  "total_smem_size",
                                                  "clusterid",
                                                  "nclusterid",
                                                  "cluster_ctaid",
                                                  "cluster_nctaid",
                                                  "cluster_ctarank",
                                                  "cluster_nctarank",
                                                  "is_explicit_cluster"};

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// `%laneid` at `at`, not `%%laneid`.
bool isSpecialRegister(std::string_view text, std::size_t at) {
  if (text[at] != '%' || (at > 0 && text[at - 1] == '%')) return false;
  std::size_t end = at + 1;
  while (end < text.size() && isWord(text[end])) ++end;
  return std::ranges::count(kSpecialRegisters, text.substr(at + 1, end - at - 1)) != 0;
}

// ---- Tokens ---------------------------------------------------------------------------------------

struct Token {
  std::size_t begin, end;
  char kind;  // 'a' a word or number, '"' a string, '\'' a character, else the punctuator, one character each
};

// The end of a string or character literal whose quote is at `at`.
std::size_t endOfLiteral(std::string_view text, std::size_t at, bool raw) {
  if (raw) {
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos) return text.size();
    const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
    const std::size_t end = text.find(close, open);
    return end == std::string_view::npos ? text.size() : end + close.size();
  }
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(text.size(), at + 1);
}

// Those of the program's own text: lines of system headers (`# 1 "file" 3`) and directives have none.
std::vector<Token> tokensOf(std::string_view text) {
  std::vector<Token> tokens;
  bool lineStart = true, system = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n') {
      lineStart = true;
      ++at;
    } else if (lineStart && (c == '#' || system)) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      const std::size_t quote = line.rfind('"');
      if (line.starts_with("# ") && quote != std::string_view::npos)
        system = line.substr(quote).find(" 3") != std::string_view::npos;
      at = end;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at;
    } else {
      lineStart = false;
      std::size_t end = at + 1;
      char kind = c;
      if (isWord(c)) {
        while (end < text.size() && isWord(text[end])) ++end;
        kind = 'a';
        const bool raw = text[end - 1] == 'R' && end < text.size() && text[end] == '"';
        const bool number = std::isdigit(static_cast<unsigned char>(c));
        if (number && end < text.size() && text[end] == '\'') ++end;  // 1'000
        else if (raw) end = endOfLiteral(text, end, true), kind = '"';
      } else if (c == '"' || c == '\'') {
        end = endOfLiteral(text, at, false);
      }
      tokens.push_back({at, end, kind});
      at = end;
    }
  }
  return tokens;
}

// ---- Changes --------------------------------------------------------------------------------------

class Rewriter {
public:
  explicit Rewriter(std::string_view text) : text_(text), tokens_(tokensOf(text)) {}

  std::string run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == '<') launch(i);
      else if (tokens_[i].kind == '"') linkage(i);
      else if (word(i) == "asm" || word(i) == "__asm__" || word(i) == "__asm") assembly(i);
    }
    return changed();
  }

private:
  struct Edit {
    std::size_t begin, end;
    std::string text;
  };

  std::string_view word(std::size_t i) const {
    if (i >= tokens_.size() || tokens_[i].kind != 'a') return {};
    return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }
  char kind(std::size_t i) const { return i < tokens_.size() ? tokens_[i].kind : 0; }

  // Three tokens become one; line ends between them follow it.
  void join(std::size_t first, const char *joined) {
    const std::size_t begin = tokens_[first].begin, end = tokens_[first + 2].end;
    if (end - begin == 3) return;
    const auto lines = std::ranges::count(text_.substr(begin, end - begin), '\n');
    edits_.push_back({begin, end, joined + std::string(static_cast<std::size_t>(lines), '\n')});
  }

  // The first of three '>' before a '(', at the depth of what follows `<<<`; 0: this is no launch.
  std::size_t closerOf(std::size_t from, std::vector<std::size_t> &braces) const {
    int depth = 0;
    unsigned argument = 0;
    for (std::size_t i = from; i < tokens_.size(); ++i) {
      const char k = tokens_[i].kind;
      if (k == '{' && depth == 0 && argument < 2 && (i == from || kind(i - 1) == ',')) braces.push_back(i);
      if (k == '(' || k == '[' || k == '{') ++depth;
      if (k == ')' || k == ']' || k == '}') --depth;
      if (depth < 0 || (k == ';' && depth == 0)) return 0;
      if (depth > 0) continue;
      argument += k == ',';
      if (k == '>' && kind(i + 1) == '>' && kind(i + 2) == '>' && kind(i + 3) == '(') return i;
    }
    return 0;
  }

  void launch(std::size_t i) {
    const bool three = kind(i + 1) == '<' && kind(i + 2) == '<' && kind(i + 3) != '<' && (i == 0 || kind(i - 1) != '<');
    if (!three || (i > 0 && word(i - 1) == "operator")) return;
    std::vector<std::size_t> braces;
    const std::size_t closer = closerOf(i + 3, braces);
    if (!closer) return;
    join(i, "<<<");
    for (std::size_t brace : braces) edits_.push_back({tokens_[brace].begin, tokens_[brace].begin, "dim3"});
    join(closer, ">>>");
  }

  // The string of extern "C", where a word follows it at once: macros have not been expanded in it.
  void linkage(std::size_t i) {
    if (i == 0 || word(i - 1) != "extern" || word(i + 1).empty() || tokens_[i + 1].begin != tokens_[i].end) return;
    const std::string_view name = word(i + 1);
    std::string meaning(name);
    for (const char *qualifier : {"global", "device", "host", "constant", "shared", "managed"})
      if (name == "__" + std::string(qualifier) + "__") meaning = "__attribute__((" + std::string(qualifier) + "))";
    edits_.push_back({tokens_[i].end, tokens_[i + 1].end, " " + meaning});
  }

  void assembly(std::size_t i) {
    for (++i; !word(i).empty(); ++i) {  // volatile
    }
    if (kind(i) != '(') return;
    for (++i; kind(i) == '"'; ++i)
      for (std::size_t at = tokens_[i].begin; at < tokens_[i].end; ++at)
        if (isSpecialRegister(text_, at)) edits_.push_back({at, at, "%"});
  }

  std::string changed() {
    std::ranges::stable_sort(edits_, {}, &Edit::begin);
    std::string result;
    std::size_t from = 0;
    for (const Edit &edit : edits_) {
      if (edit.begin < from) continue;  // within another launch
      result.append(text_, from, edit.begin - from);
      result += edit.text;
      from = edit.end;
    }
    return result.append(text_, from);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<Edit> edits_;
};

// ---- What a file looks like before it is preprocessed --------------------------------------------

// Three of `c`, with blanks between some of them.
bool spacedThree(std::string_view text, std::size_t at, char c) {
  std::size_t count = 0;
  bool blank = false;
  for (; at < text.size() && count < 3; ++at) {
    if (text[at] == c) ++count;
    else if (std::isspace(static_cast<unsigned char>(text[at]))) blank = true;
    else return false;
  }
  return count == 3 && blank;
}

bool looksLikeDialect(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    switch (text[at]) {
      case '<':
        if (spacedThree(text, at, '<')) return true;
        if (rest.starts_with("<<<") && rest.substr(0, rest.find(">>>")).find('{') != std::string_view::npos)
          return true;
        break;
      case '>':
        if (spacedThree(text, at, '>')) return true;
        break;
      case '"':
        if (rest.starts_with("\"C\"_")) return true;
        break;
      case '%':
        if (isSpecialRegister(text, at)) return true;
        break;
      case '#': {
        const std::string_view line = text.substr(text.rfind('\n', at) + 1);
        if (rest.starts_with("#pragma") &&
            line.substr(0, line.size() - rest.size()).find("define") != std::string_view::npos)
          return true;
        break;
      }
      default: break;
    }
  }
  return false;
}

std::string contentsOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace

bool mayNeedRewriting(const std::string &file, const std::vector<std::string> &folders) {
  constexpr std::size_t kMostFiles = 400;
  std::vector<fs::path> files = {file};
  std::set<fs::path> seen;
  while (!files.empty() && seen.size() < kMostFiles) {
    std::error_code error;
    const fs::path path = fs::canonical(files.back(), error);
    files.pop_back();
    if (error || !fs::is_regular_file(path, error) || !seen.insert(path).second) continue;
    const std::string text = contentsOf(path);
    if (looksLikeDialect(text)) return true;
    for (std::size_t at = 0; (at = text.find("include", at)) != std::string::npos; ++at) {
      const std::size_t open = text.find_first_not_of(" \t", at + 7);
      if (open == std::string::npos || text[open] != '"') continue;
      const std::string name = text.substr(open + 1, text.find_first_of("\"\n", open + 1) - open - 1);
      files.push_back(path.parent_path() / name);
      for (const std::string &folder : folders) files.push_back(fs::path(folder) / name);
    }
  }
  return false;
}

std::string rewriteDialect(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }

}  // namespace strata::nvcc
