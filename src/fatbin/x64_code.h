#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/bytes.h"

// x86-64 code by its bytes, without a disassembler: any byte may be taken for the beginning of an
// instruction.
namespace archguard::fatbin {

inline constexpr unsigned kCallX64 = 0xe8, kJumpX64 = 0xe9;

// Bytes of code before a call that are looked at.
inline constexpr std::size_t kLooksBack = 4096;

// What the code before a call does to its first argument, rdi.
struct FirstArgument {
  std::optional<std::size_t> set;  // to something, by the instruction that begins there
  bool kept = false;               // nothing, so that it is the first one of what makes the call
};
// In these bytes, from `first` on. The last instruction that is seen to set it decides. What follows a byte
// that may be REX is a part of that instruction, but for what sets null, whichever of them it is. `starts`:
// of functions, whose addresses are numbers of 4 bytes in a program that is linked for its place in memory.
// `calls`: is a call of a function there? `is_distance`: is it a part of another instruction's distance?
FirstArgument first_argument(const unsigned char* code, std::size_t first, std::size_t call,
                             const std::vector<std::uint64_t>& starts,
                             const std::function<bool(std::size_t at)>& calls,
                             const std::function<bool(std::size_t at)>& is_distance);

// How far behind `at` a jump goes that begins there. Of one byte the conditional ones count behind what
// compares (test, cmp), since any byte may look like one. Nothing where it is ModRM behind REX.W.
std::optional<std::int64_t> jump_at(ByteView bytes, std::size_t at);

}  // namespace archguard::fatbin
