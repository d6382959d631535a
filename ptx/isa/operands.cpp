// SPDX-License-Identifier: Apache-2.0
// Matching operands against a row: number, shape, and PTX's rules of type agreement (manual:
// "Operand Type Checking", "Operand Size Exceeding Instruction-Type Size").
#include "ptx/isa/pattern.h"

namespace strata::ptx {
namespace {

enum class Class { predicate, bits, integer, floating, packed };

Class classOf(Type type) {
  switch (type) {
    case Type::pred: return Class::predicate;
    case Type::b8:
    case Type::b16:
    case Type::b32:
    case Type::b64:
    case Type::b128: return Class::bits;
    case Type::u8:
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s8:
    case Type::s16:
    case Type::s32:
    case Type::s64: return Class::integer;
    case Type::f16:
    case Type::f32:
    case Type::f64: return Class::floating;
    default: return Class::packed;  // packed and alternate formats live in .b registers or their own kind
  }
}

bool registerAgrees(Type registerType, Type needed, bool wide) {
  Class have = classOf(registerType), want = classOf(needed);
  if (have == Class::predicate || want == Class::predicate) return have == want;
  std::uint32_t haveBits = bitWidth(registerType), wantBits = bitWidth(needed);
  if (wide ? haveBits < wantBits : haveBits != wantBits) return false;
  if (have == Class::bits || want == Class::bits) return true;
  if (have == Class::integer && want == Class::integer) return true;
  return registerType == needed;
}

class Fitter {
public:
  Fitter(const SuffixFit &fit, const Instruction &instruction, const Function &function, OperandMismatch &mismatch)
      : fit_(fit), instruction_(instruction), function_(function), mismatch_(mismatch) {}

  bool run() {
    std::vector<unsigned> slots;
    if (!alignOperands(fit_, instruction_, slots)) return failCount();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      slot_ = &fit_.pattern->operands[slots[i]];
      type_ = fit_.operandTypes[slots[i]];
      if (!fits(instruction_.operands[i])) return false;
    }
    return true;
  }

private:
  using Kind = Operand::Kind;
  using Shape = OperandSlot::Shape;

  bool fail(const Operand &operand, std::string what) {
    mismatch_ = {operand.place, "operand '" + std::string(slot_->name) + "' " + std::move(what), false};
    return false;
  }
  bool failCount() {
    std::size_t least = 0, most = 0;
    for (const OperandSlot &slot : fit_.pattern->operands) {
      ++most;
      if (!slot.optional) ++least;
    }
    std::string range = std::to_string(least);
    if (most != least) range += " to " + std::to_string(most);
    mismatch_ = {instruction_.place,
                 "takes " + range + " operands, not " + std::to_string(instruction_.operands.size()), true};
    return false;
  }

  bool fits(const Operand &operand) {
    if (operand.negated && !(slot_->negatable && type_ == Type::pred)) return fail(operand, "may not be negated");
    std::string_view selector(operand.selector.data());
    if (!selector.empty() && !isSelector(slot_->selector, selector))
      return fail(operand, "may not have the selector ." + std::string(selector));
    if (selector.empty() && slot_->selector == "merge") return fail(operand, "needs a selector such as .h1");
    switch (slot_->shape) {
      case Shape::address:
        return operand.kind == Kind::address ? fitsCoordinates(operand)
                                             : fail(operand, "must be an address in brackets");
      case Shape::label: return operand.kind == Kind::label || fail(operand, "must be a label");
      case Shape::labelList: return operand.kind == Kind::labelList || fail(operand, "must name .branchtargets");
      case Shape::pair: return fitsPair(operand);
      case Shape::value:
      case Shape::call: break;
    }
    unsigned count = slot_->vector && fit_.vector > 1 ? fit_.vector : slot_->elements;
    if (slot_->list) {
      if (operand.kind != Kind::vector || operand.elements.empty()) return fail(operand, "must be a vector in braces");
      count = static_cast<unsigned>(operand.elements.size());
    }
    return count ? fitsVector(operand, count) : fitsScalar(operand, type_, slot_->sink);
  }

  bool fitsCoordinates(const Operand &address) {
    if (!slot_->coordinates) return address.elements.empty() || fail(address, "takes no coordinates");
    bool one = address.elements.size() == 1 && address.elements[0].kind == Kind::vector;
    if (!one || address.elements[0].elements.empty()) return fail(address, "needs coordinates: [map, {x, …}]");
    for (const Operand &coordinate : address.elements[0].elements)
      if (!fitsScalar(coordinate, type_, false)) return false;
    return true;
  }

  bool fitsPair(const Operand &operand) {
    if (operand.kind != Kind::pair) {
      if (!slot_->secondOptional) return fail(operand, "must be a pair d|p");
      return fitsScalar(operand, type_, slot_->sink);
    }
    return fitsScalar(operand.elements[0], type_, true) && fitsScalar(operand.elements[1], Type::pred, true);
  }

  bool fitsVector(const Operand &operand, unsigned count) {
    if (operand.kind != Kind::vector || operand.elements.size() != count)
      return fail(operand, "must be a vector of " + std::to_string(count) + " elements in braces");
    for (const Operand &element : operand.elements)
      if (!fitsScalar(element, type_, slot_->written)) return false;
    return true;
  }

  bool fitsScalar(const Operand &operand, Type type, bool sink) {
    switch (operand.kind) {
      case Kind::reg: {
        if (slot_->immediateOnly) return fail(operand, "must be a constant");
        const Register &reg = function_.registers[operand.reg];
        return registerAgrees(reg.type, type, slot_->wide) || failType(operand, reg.name, reg.type, type);
      }
      case Kind::immediate: return fitsImmediate(operand, type);
      case Kind::sink: return sink || fail(operand, "may not be '_' here");
      case Kind::symbol:
        if (!slot_->symbol) return fail(operand, "may not be a symbol here");
        return bitWidth(type) >= 32 || fail(operand, "is an address and needs a type of 32 or 64 bits");
      case Kind::special: return fitsSpecial(operand, type);
      default: return fail(operand, slot_->written ? "must be a register" : "must be a register or a constant");
    }
  }

  bool failType(const Operand &operand, std::string_view what, Type have, Type want) {
    return fail(operand, "is " + std::string(what) + " of type " + std::string(name(have)) + ", but " +
                             std::string(name(want)) + " is needed");
  }

  bool fitsImmediate(const Operand &operand, Type type) {
    if (slot_->written || slot_->registerOnly) return fail(operand, "must be a register");
    if (slot_->step &&
        (operand.bits < slot_->low || operand.bits > slot_->high || (operand.bits - slot_->low) % slot_->step))
      return fail(operand, "must be a constant from " + std::to_string(slot_->low) + " to " +
                               std::to_string(slot_->high) +
                               (slot_->step > 1 ? " in steps of " + std::to_string(slot_->step) : ""));
    bool isFloat = operand.type == Type::f32 || operand.type == Type::f64;
    bool wantFloat = type == Type::f32 || type == Type::f64;
    bool agrees = isFloat == wantFloat;
    if (classOf(type) == Class::bits) agrees = !isFloat || bitWidth(operand.type) == bitWidth(type);
    if (classOf(type) == Class::packed || type == Type::f16) agrees = false;  // no literal has such a type
    if (agrees) return true;
    return failType(operand, isFloat ? "a floating-point constant" : "an integer constant", operand.type, type);
  }

  bool fitsSpecial(const Operand &operand, Type type) {
    if (!slot_->special) return fail(operand, "may not be a special register here");
    Type have = typeOf(operand.special);
    if (have == Type::pred || type == Type::pred)
      return have == type || failType(operand, name(operand.special), have, type);
    // Old code reads the low half of %tid and its kin.
    bool agrees = bitWidth(type) == bitWidth(have) || (bitWidth(type) == 16 && bitWidth(have) == 32);
    return (agrees && classOf(type) != Class::floating) || failType(operand, name(operand.special), have, type);
  }

  const SuffixFit &fit_;
  const Instruction &instruction_;
  const Function &function_;
  OperandMismatch &mismatch_;
  const OperandSlot *slot_ = nullptr;
  Type type_ = Type::none;
};

}  // namespace

bool isSelector(std::string_view kind, std::string_view selector) {
  if (kind.empty() || selector.size() < 2) return false;
  bool bytes = selector[0] == 'b';
  std::string_view digits = selector.substr(1);
  auto below = [&](char end) {
    return digits.find_first_not_of(std::string_view("01234567").substr(0, static_cast<std::size_t>(end - '0'))) ==
           std::string_view::npos;
  };
  if (kind == "select1" || kind == "merge") return digits.size() == 1 && below(bytes ? '4' : '2');
  if (kind == "select2") return !bytes && digits.size() == 2 && below('4');
  if (kind == "select4") return bytes && digits.size() == 4 && below('8');
  // A mask names each lane once, the highest first.
  for (std::size_t k = 1; k < digits.size(); ++k)
    if (digits[k] >= digits[k - 1]) return false;
  return kind == "mask2" ? !bytes && below('2') : bytes && below('4');
}

bool alignOperands(const SuffixFit &fit, const Instruction &instruction, std::vector<unsigned> &slots) {
  const auto &operands = fit.pattern->operands;
  std::size_t count = instruction.operands.size();
  if (instruction.form && (instruction.form->effects & (carryIn | carryOut))) --count;  // %cc
  // What the modifiers decide comes first; the free optional operands take what is left, left to right.
  std::size_t fixed = 0;
  for (const OperandSlot &slot : operands)
    if (slot.condition ? instruction.has(*slot.condition) : !slot.optional) ++fixed;
  if (count < fixed) return false;
  std::size_t free = count - fixed;
  slots.clear();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    bool present = operands[i].condition ? instruction.has(*operands[i].condition) : !operands[i].optional;
    if (!present && !operands[i].condition && free) {
      --free;
      present = true;
    }
    if (present) slots.push_back(static_cast<unsigned>(i));
  }
  return free == 0;
}

bool fitOperands(const SuffixFit &fit, const Instruction &instruction, const Function &function,
                 OperandMismatch &mismatch) {
  return Fitter(fit, instruction, function, mismatch).run();
}

}  // namespace strata::ptx
