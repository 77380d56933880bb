#include "image/sass.h"

#include <algorithm>
#include <cstring>

namespace archguard {
namespace {

// From sm_70 on an instruction has 16 bytes, two little-endian words. Low word: bits 0…8 the operation, 9…11
// the form of its operands, 12…15 the predicate (7: always, 15: never), 16…23 the destination register. Read
// off nvdisasm's output for sm_75, 80, 90a, 100a, 103, 110, 120a and 121.
constexpr int kFirstSm = 70, kLastSm = 129;
constexpr std::size_t kInstructionSize = 16, kOldInstructionSize = 8;

struct Instruction {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  unsigned operation() const { return static_cast<unsigned>(low & 0x1ff); }
  unsigned opcode() const { return static_cast<unsigned>(low & 0xfff); }
  bool always() const { return (low >> 12 & 0xf) == 7; }
  bool never() const { return (low >> 12 & 0xf) == 0xf; }
  unsigned destination() const { return static_cast<unsigned>(low >> 16 & 0xff); }
};

// NOP, or a predicate that is never true: Volta's compiler puts `@!PT SHFL` behind the prologue.
bool is_nop(Instruction i) {
  return i.opcode() == 0x918 || i.never();
}

// The stack pointer's set-up, which the compiler emits whether or not there is a stack: MOV, IMAD.MOV or LDC
// of a constant into R1.
bool is_prologue(Instruction i) {
  const unsigned opcode = i.opcode();
  return i.destination() == 1 && i.always() && (opcode == 0xa02 || opcode == 0x624 || opcode == 0xb82);
}

// Bits 87…90 are a predicate of EXIT's own; 7 is always.
bool is_exit(Instruction i) {
  return i.opcode() == 0x94d && i.always() && (i.high >> 23 & 0xf) == 7;
}

// BPT has several kinds in bits 84…86; 3 is TRAP, as __trap() makes.
bool is_sass_trap(Instruction i) {
  return i.opcode() == 0x95c && i.always() && (i.high >> 20 & 7) == 3;
}

// Writes that others can see for sure: to global memory, atomics, surfaces, bulk copies.
bool sass_has_effect(Instruction i) {
  switch (i.operation()) {
    case 0x186:  // STG
    case 0x18a:
    case 0x18b:  // ATOM
    case 0x18e:
    case 0x1a6:  // RED, REDG
    case 0x19d:
    case 0x19f:  // SUST, SURED
    case 0x1a2:  // ATOM of multimem
    case 0x1a8:
    case 0x1a9:  // ATOMG
    case 0x1b5:
    case 0x1b6:  // UTMASTG, UTMAREDG
    case 0x1ba:
    case 0x1bb:  // UBLKCP, UBLKRED
      return true;
    default:
      return false;
  }
}

// ST writes through a generic address: perhaps to global memory, and under -G to the stack, for a printf
// before a trap.
bool is_generic_store(Instruction i) {
  return i.operation() == 0x185;
}

bool is_shared_store(Instruction i) {
  return i.operation() == 0x188;
}

bool is_call(Instruction i) {
  return i.operation() == 0x143 || i.operation() == 0x144;
}

// Does what follows perhaps not run, or not next? Calls return; these do not, or not always. 0x140…0x15f are
// the operations on control flow.
bool leaves_straight_line(Instruction i) {
  const unsigned operation = i.operation();
  if (operation < 0x140 || operation > 0x15f) return false;
  switch (operation) {
    case 0x143:
    case 0x144:  // CALL
    case 0x145:  // BSSY
    case 0x14e:  // LEPC
    case 0x146:
    case 0x15d:  // YIELD, NANOSLEEP
    case 0x155:
    case 0x156:
    case 0x157:  // BMOV
      return !i.always();
    default:
      return true;
  }
}

// A kernel without any effect known here, larger than this, is no hollow one: some generation's new stores.
// The largest hollow ones seen hold a printf before the trap, in 0x380 bytes.
constexpr std::size_t kSassHollowMost = 4096;

constexpr std::size_t kSassBlock = 4096;

// The caller knows that it is there. Only whether it is zero matters, so byte order does not.
std::uint64_t word_at(ByteView bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data + at, sizeof word);
  return word;
}

}  // namespace

KernelState state_of_sass(ByteView code, int sm, const std::vector<std::uint32_t>* printing_calls) {
  if (sm < kFirstSm || sm > kLastSm || code.size == 0 || code.size % kInstructionSize != 0)
    return KernelState::unknown;
  const Cursor in(code);
  bool straight = true, only_prologue = true, called = false, stored = false;
  bool only_prints = printing_calls != nullptr;  // so far
  for (std::uint64_t at = 0; at < code.size; at += kInstructionSize) {
    const Instruction i{in.u64(at), in.u64(at + 8)};
    if (is_nop(i)) continue;
    if (sass_has_effect(i)) return KernelState::real;
    stored = stored || is_generic_store(i);
    only_prints = only_prints && !is_generic_store(i) && !is_shared_store(i) &&
                  (!is_call(i) || std::binary_search(printing_calls->begin(), printing_calls->end(), at));
    if (!straight) continue;
    if (is_sass_trap(i)) return stored ? KernelState::unknown : KernelState::trap;
    if (is_exit(i) && only_prologue) return KernelState::empty;
    if (is_exit(i) && only_prints && called) return KernelState::prints;
    if (!is_prologue(i)) only_prologue = false;
    called = called || is_call(i);
    straight = !leaves_straight_line(i);
    if (!straight && !only_prints && code.size > kSassHollowMost)
      return KernelState::real;  // all that is left to come out
  }
  if (stored && !called) return KernelState::real;
  return code.size > kSassHollowMost && !only_prints ? KernelState::real : KernelState::unknown;
}

std::optional<std::uint64_t> find_zero_instruction(ByteView code, int sm) {
  const std::size_t size = sm < kFirstSm ? kOldInstructionSize : kInstructionSize;
  const std::size_t whole = code.size - code.size % size;
  for (std::size_t block = 0; block < whole; block += kSassBlock) {
    const std::size_t end = std::min(whole, block + kSassBlock);
    // A loop without a way out, of the words that hold the operations: all code of a file goes through it.
    bool any = false;
    for (std::size_t at = block; at < end; at += size) any |= word_at(code, at) == 0;
    if (!any) continue;
    for (std::size_t at = block; at < end; at += size)
      if (word_at(code, at) == 0 && word_at(code, at + size - sizeof(std::uint64_t)) == 0) return at;
  }
  return std::nullopt;
}

}  // namespace archguard
