// SPDX-License-Identifier: Apache-2.0
// Example instructions made from rows of the table: each option of each suffix at least once, optional
// parts absent and present.
#pragma once

#include <string>
#include <vector>

#include "ptx/isa/pattern.h"

namespace strata::ptx::examples {

// Registers that the examples use, four of each width, and what else they name.
inline std::string prologue() {
  return "\t.reg .pred %p<5>;\n\t.reg .b8 %c<9>;\n\t.reg .b16 %h<9>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n"
         "\t.reg .b128 %q<9>;\n";
}

class Maker {
public:
  explicit Maker(const Pattern &pattern) : pattern_(pattern) {}

  std::vector<std::string> lines() {
    std::vector<int> plain(pattern_.suffixes.size(), -1);
    for (std::size_t s = 0; s < plain.size(); ++s)
      if (pattern_.suffixes[s].group == 0) plain[s] = 0;
    emit(plain);
    for (std::size_t s = 0; s < plain.size(); ++s)
      for (std::size_t o = 0; o < pattern_.suffixes[s].options.size(); ++o) {
        std::vector<int> fills = plain;
        useGroup(fills, pattern_.suffixes[s].group);
        fills[s] = static_cast<int>(o);
        emit(fills);
      }
    return std::move(lines_);
  }

private:
  void useGroup(std::vector<int> &fills, int group) {
    for (; group > 0; group = pattern_.groupParents[static_cast<std::size_t>(group)])
      for (std::size_t s = 0; s < fills.size(); ++s)
        if (pattern_.suffixes[s].group == group && fills[s] < 0) fills[s] = 0;
  }

  void emit(const std::vector<int> &fills) {
    std::string text(name(pattern_.opcode));
    Instruction instruction;
    std::vector<Suffix> suffixes;
    for (std::size_t s = 0; s < fills.size(); ++s) {
      if (fills[s] < 0) continue;
      const Suffix &suffix = pattern_.suffixes[s].options[static_cast<std::size_t>(fills[s])];
      text += "." + std::string(name(suffix));
      suffixes.push_back(suffix);
      if (!suffix.isType) instruction.modifiers.push_back(suffix.mod);
    }
    SuffixMismatch mismatch;
    auto fit = fitSuffixes(pattern_, suffixes, mismatch);
    if (!fit) {
      lines_.push_back(text + " ???");  // a row that does not accept its own suffixes
      return;
    }
    std::size_t optional = 0;
    for (const OperandSlot &slot : pattern_.operands) optional += slot.optional && !slot.condition;
    for (std::size_t used = 0; used <= optional; ++used) addLine(text, *fit, instruction, used);
  }

  void addLine(std::string text, const SuffixFit &fit, const Instruction &instruction, std::size_t optional) {
    used_ = 0;
    const char *separator = " ";
    for (std::size_t k = 0; k < pattern_.operands.size(); ++k) {
      const OperandSlot &slot = pattern_.operands[k];
      if (slot.condition && !instruction.has(*slot.condition)) continue;
      if (slot.optional && !slot.condition) {
        if (optional == 0) continue;
        --optional;
      }
      text += separator + operand(slot, fit.operandTypes[k], fit.vector);
      separator = ", ";
    }
    lines_.push_back(text + ";");
  }

  std::string operand(const OperandSlot &slot, Type type, unsigned vector) {
    using Shape = OperandSlot::Shape;
    switch (slot.shape) {
      case Shape::address: return slot.coordinates ? "[%rd1, {%r0, %r1}]" : "[%rd1]";
      case Shape::label: return "here";
      case Shape::labelList: return "targets";
      case Shape::call: return "callee";
      case Shape::pair: return reg(slot, type) + "|" + reg(slot, Type::pred);
      case Shape::value: break;
    }
    unsigned count = slot.vector && vector > 1 ? vector : slot.elements;
    if (slot.list) count = 2;
    if (!count && !slot.selector.empty()) return reg(slot, type) + selector(slot.selector);
    if (!count) return reg(slot, type);
    std::string text = "{";
    for (unsigned e = 0; e < count; ++e) text += (e ? ", " : "") + reg(slot, type);
    return text + "}";
  }

  // Every other operand has one.
  std::string selector(std::string_view kind) {
    bool plain = ++selected_ % 2 && kind != "merge";
    if (plain) return "";
    if (kind == "select2") return ".h03";
    if (kind == "select4") return ".b7012";
    if (kind == "mask2") return ".h1";
    if (kind == "mask4") return ".b31";
    return ".b3";
  }

  std::string reg(const OperandSlot &slot, Type type) {
    if (slot.immediateOnly) return std::to_string(slot.step ? slot.low : 1);
    std::string number = std::to_string(used_++ % 4);
    switch (bitWidth(type)) {
      case 1: return "%p" + number;
      case 8: return slot.wide ? "%r" + number : "%c" + number;
      case 16: return "%h" + number;
      case 32: return "%r" + number;
      case 64: return "%rd" + number;
      default: return "%q" + number;
    }
  }

  const Pattern &pattern_;
  std::vector<std::string> lines_;
  unsigned used_ = 0, selected_ = 0;
};

}  // namespace strata::ptx::examples
