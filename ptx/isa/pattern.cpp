// SPDX-License-Identifier: Apache-2.0
#include "ptx/isa/pattern.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

namespace strata::ptx {
namespace {

bool isNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

// Names of the enumerators [0, end) by text.
template <class Enum>
std::unordered_map<std::string_view, Enum> namesUpTo(unsigned end) {
  std::unordered_map<std::string_view, Enum> map;
  for (unsigned i = 0; i < end; ++i) map.emplace(name(static_cast<Enum>(i)), static_cast<Enum>(i));
  return map;
}

constexpr unsigned kOpcodeCount = 0
#define PTX_OPCODE(id, text) +1
#include "ptx/isa/opcodes.def"
#undef PTX_OPCODE
    ;
constexpr unsigned kModCount = 0
#define PTX_MOD(id, text) +1
#include "ptx/isa/modifiers.def"
#undef PTX_MOD
    ;

// Reads one row. `error` is the first thing wrong with it.
class FormReader {
public:
  explicit FormReader(const Form &form) : form_(form) { pattern_.form = &form; }

  Result<Pattern> read() {
    readSuffixes();
    readOperands();
    if (error_.empty()) readTypes();
    if (!error_.empty()) return internalError("row '" + std::string(form_.syntax) + "': " + error_);
    return std::move(pattern_);
  }

private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
    at_ = form_.syntax.size();
  }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < form_.syntax.size() ? form_.syntax[at_ + ahead] : '\0';
  }
  bool take(std::string_view text) {
    if (form_.syntax.substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }
  std::string_view takeName() {
    std::size_t begin = at_;
    while (isNameChar(peek())) ++at_;
    if (begin == at_) fail("a name is expected at column " + std::to_string(at_));
    return form_.syntax.substr(begin, at_ - begin);
  }

  // The clause "name = …" or "name: …" of `where`, without that head; empty if there is none.
  std::string_view clause(std::string_view name, char kind) const {
    std::string_view rest = form_.where;
    while (!rest.empty()) {
      std::string_view one = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      while (!one.empty() && one[0] == ' ') one.remove_prefix(1);
      if (one.substr(0, name.size()) != name) continue;
      one.remove_prefix(name.size());
      while (!one.empty() && one[0] == ' ') one.remove_prefix(1);
      if (!one.empty() && one[0] == kind) return one.substr(1);
    }
    return {};
  }

  static std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> result;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == ' ') {
        ++i;
        continue;
      }
      std::size_t end = std::min(text.find(' ', i), text.size());
      result.push_back(text.substr(i, end - i));
      i = end;
    }
    return result;
  }

  void readSuffixes() {
    std::string_view opcode = takeName();
    if (auto found = findOpcode(opcode)) pattern_.opcode = *found;
    else fail("unknown opcode");
    pattern_.groupParents = {-1};
    int group = 0;
    while (at_ < form_.syntax.size() && peek() != ' ') {
      if (take("{")) {
        pattern_.groupParents.push_back(group);
        group = static_cast<int>(pattern_.groupParents.size()) - 1;
      } else if (take("}")) {
        group = pattern_.groupParents[group];
      } else if (take(".")) {
        addSuffix(takeName(), group);
      } else {
        fail("unexpected character in the suffixes");
      }
    }
  }

  void addSuffix(std::string_view name, int group) {
    SuffixSlot slot{name, {}, false, group};
    std::vector<std::string_view> options = words(clause(name, '='));
    if (options.empty()) options = {name};
    for (std::string_view option : options) {
      auto suffix = findSuffix(option);
      if (!suffix) return fail("unknown suffix ." + std::string(option));
      if (!slot.options.empty() && slot.isType != suffix->isType)
        return fail("." + std::string(name) + " mixes types and modifiers");
      slot.isType = suffix->isType;
      slot.options.push_back(*suffix);
    }
    pattern_.suffixes.push_back(std::move(slot));
  }

  void readOperands() {
    bool optional = false;
    while (at_ < form_.syntax.size()) {
      if (take(" ")) continue;
      if (take("{, ")) {
        optional = true;
      } else if (take(",")) {
        continue;
      } else if (optional && take("}")) {
        optional = false;
        continue;
      }
      OperandSlot slot;
      slot.optional = optional;
      readOperand(slot);
      pattern_.operands.push_back(slot);
    }
  }

  void readOperand(OperandSlot &slot) {
    slot.negatable = take("{!}");
    bool address = take("[");
    slot.name = takeName();
    if (address) {
      slot.shape = OperandSlot::Shape::address;
      if (!take("]")) fail("']' is missing");
    }
    if (take("{|")) slot.secondOptional = true;
    if (slot.secondOptional || take("|")) {
      slot.shape = OperandSlot::Shape::pair;
      takeName();
      if (slot.secondOptional && !take("}")) fail("'}' is missing");
    }
    if (slot.name == "label") slot.shape = OperandSlot::Shape::label;
    if (slot.name == "labels") slot.shape = OperandSlot::Shape::labelList;
    if (slot.name == "call") slot.shape = OperandSlot::Shape::call;
    bool predicate = slot.name == "p" || slot.name == "q";
    slot.written = !address && !slot.negatable && (predicate || slot.name[0] == 'd');
    if (predicate) slot.type = Type::pred;
  }

  int findSlot(std::string_view name) const {
    for (std::size_t i = 0; i < pattern_.suffixes.size(); ++i)
      if (pattern_.suffixes[i].name == name) return static_cast<int>(i);
    return -1;
  }

  void readTypes() {
    for (OperandSlot &slot : pattern_.operands) {
      std::vector<std::string_view> clauseWords = words(clause(slot.name, ':'));
      std::size_t next = 0;
      if (!clauseWords.empty()) readType(slot, clauseWords[next++]);
      for (; next < clauseWords.size(); ++next) {
        if (clauseWords[next] == "if" && next + 1 < clauseWords.size()) {
          auto suffix = findSuffix(clauseWords[++next]);
          if (!suffix || suffix->isType) return fail("unknown modifier in an if clause");
          slot.condition = suffix->mod;
        } else if (clauseWords[next] == "in" && next + 3 < clauseWords.size()) {
          for (std::uint64_t *bound : {&slot.low, &slot.high, &slot.step}) {
            std::string_view word = clauseWords[++next];
            std::from_chars(word.data(), word.data() + word.size(), *bound);
          }
        } else {
          readFlag(slot, clauseWords[next]);
        }
      }
      if (slot.type == Type::none && slot.typeSlot < 0) useDefaultType(slot);
    }
  }

  void readType(OperandSlot &slot, std::string_view text) {
    if (text.ends_with("*2")) {
      slot.factor = 2;
      text.remove_suffix(2);
    }
    slot.typeSlot = findSlot(text);
    slot.type = Type::none;
    if (slot.typeSlot >= 0) return;
    auto suffix = findSuffix(text);
    if (!suffix || !suffix->isType) return fail("unknown type " + std::string(text));
    slot.type = suffix->type;
  }

  void readFlag(OperandSlot &slot, std::string_view flag) {
    if (flag == "vec") slot.vector = true;
    else if (flag.starts_with("select") || flag.starts_with("mask") || flag == "merge") slot.selector = flag;
    else if (flag == "coords") slot.coordinates = true;
    else if (flag == "list") slot.list = true;
    else if (flag == "wide") slot.wide = true;
    else if (flag == "sink") slot.sink = true;
    else if (flag == "imm") slot.immediateOnly = true;
    else if (flag == "reg") slot.registerOnly = true;
    else if (flag == "symbol") slot.symbol = true;
    else if (flag == "special") slot.special = true;
    else if (flag[0] == 'x') slot.elements = static_cast<unsigned>(std::atoi(std::string(flag.substr(1)).c_str()));
    else fail("unknown flag " + std::string(flag));
  }

  void useDefaultType(OperandSlot &slot) {
    std::string typed = std::string(slot.name.substr(0, 1)) + "type";
    slot.typeSlot = findSlot(typed);
    for (std::size_t i = 0; i < pattern_.suffixes.size() && slot.typeSlot < 0; ++i)
      if (pattern_.suffixes[i].isType) slot.typeSlot = static_cast<int>(i);
    bool needsType = slot.shape == OperandSlot::Shape::value || slot.shape == OperandSlot::Shape::pair;
    if (slot.typeSlot < 0 && needsType) fail("operand '" + std::string(slot.name) + "' has no type");
  }

  const Form &form_;
  Pattern pattern_;
  std::size_t at_ = 0;
  std::string error_;
};

// All patterns, grouped by opcode.
struct Table {
  std::vector<std::vector<Pattern>> byOpcode{kOpcodeCount};

  Table() {
    for (const Form *form : allForms()) {
      Result<Pattern> pattern = readForm(*form);
      if (!pattern) {  // a malformed row is caught by the coverage test; nothing sensible can follow
        std::fprintf(stderr, "strata: %s\n", pattern.error().message.c_str());
        std::abort();
      }
      byOpcode[static_cast<std::size_t>(pattern->opcode)].push_back(*std::move(pattern));
    }
  }
};
const Table &table() {
  static const Table instance;
  return instance;
}

Type doubled(Type type) {
  switch (type) {
    case Type::u8: return Type::u16;
    case Type::s8: return Type::s16;
    case Type::b8: return Type::b16;
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::b16: return Type::b32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    case Type::b32: return Type::b64;
    case Type::b64: return Type::b128;
    default: return Type::none;
  }
}

unsigned vectorLength(Mod mod) {
  switch (mod) {
    case Mod::v2: return 2;
    case Mod::v4: return 4;
    case Mod::v8: return 8;
    default: return 1;
  }
}

// Each pair of braces is filled as a whole or not at all, the outermost group always.
const SuffixSlot *missingSlot(const Pattern &pattern, const std::vector<int> &fills) {
  std::vector<bool> used(pattern.groupParents.size());
  for (std::size_t i = 0; i < fills.size(); ++i)
    if (fills[i] >= 0)
      for (int group = pattern.suffixes[i].group; group >= 0; group = pattern.groupParents[group]) used[group] = true;
  used[0] = true;
  for (std::size_t i = 0; i < fills.size(); ++i)
    if (fills[i] < 0 && used[pattern.suffixes[i].group]) return &pattern.suffixes[i];
  return nullptr;
}

}  // namespace

std::optional<Opcode> findOpcode(std::string_view text) {
  static const auto names = namesUpTo<Opcode>(kOpcodeCount);
  auto found = names.find(text);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Suffix> findSuffix(std::string_view text) {
  static const auto mods = namesUpTo<Mod>(kModCount);
  static const auto types = namesUpTo<Type>(static_cast<unsigned>(Type::surfref) + 1);
  if (auto found = mods.find(text); found != mods.end()) return Suffix{false, found->second, Type::none};
  if (auto found = types.find(text); found != types.end() && found->second != Type::none)
    return Suffix{true, {}, found->second};
  return std::nullopt;
}

std::string_view name(const Suffix &suffix) { return suffix.isType ? name(suffix.type) : name(suffix.mod); }

Result<Pattern> readForm(const Form &form) { return FormReader(form).read(); }

std::span<const Pattern> patternsOf(Opcode opcode) { return table().byOpcode[static_cast<std::size_t>(opcode)]; }

const Pattern &patternOf(const Form &form) {
  static const auto byForm = [] {
    std::unordered_map<const Form *, const Pattern *> map;
    for (const auto &patterns : table().byOpcode)
      for (const Pattern &pattern : patterns) map[pattern.form] = &pattern;
    return map;
  }();
  return *byForm.at(&form);
}

std::optional<SuffixFit> fitSuffixes(const Pattern &pattern, std::span<const Suffix> suffixes,
                                     SuffixMismatch &mismatch) {
  SuffixFit fit{&pattern, std::vector<int>(pattern.suffixes.size(), -1), {}, 1, {}};
  std::size_t firstType = 0;  // types keep their order
  for (std::size_t s = 0; s < suffixes.size(); ++s) {
    bool placed = false;
    for (std::size_t i = suffixes[s].isType ? firstType : 0; i < fit.fills.size() && !placed; ++i) {
      const SuffixSlot &slot = pattern.suffixes[i];
      for (std::size_t o = 0; fit.fills[i] < 0 && o < slot.options.size(); ++o)
        if (slot.options[o] == suffixes[s]) {
          fit.fills[i] = static_cast<int>(o);
          placed = true;
          if (slot.isType) firstType = i + 1;
        }
    }
    if (!placed) {
      mismatch = {static_cast<int>(s), nullptr};
      return std::nullopt;
    }
    if (!suffixes[s].isType) fit.vector *= vectorLength(suffixes[s].mod);
  }
  if (const SuffixSlot *missing = missingSlot(pattern, fit.fills)) {
    mismatch = {-1, missing};
    return std::nullopt;
  }
  for (std::size_t i = 0; i < fit.fills.size(); ++i)
    if (fit.fills[i] >= 0 && !pattern.suffixes[i].isType)
      fit.modifiers.push_back(pattern.suffixes[i].options[static_cast<std::size_t>(fit.fills[i])].mod);
  for (const OperandSlot &slot : pattern.operands) {
    Type type = slot.type;
    if (slot.typeSlot >= 0 && fit.fills[slot.typeSlot] >= 0)
      type = pattern.suffixes[slot.typeSlot].options[fit.fills[slot.typeSlot]].type;
    fit.operandTypes.push_back(slot.factor == 2 ? doubled(type) : type);
  }
  return fit;
}

std::vector<Suffix> suffixesOf(const Instruction &instruction) {
  std::vector<Suffix> suffixes;
  for (Mod mod : instruction.modifiers) suffixes.push_back({false, mod, Type::none});
  for (Type type : instruction.types) suffixes.push_back({true, {}, type});
  return suffixes;
}

}  // namespace strata::ptx
