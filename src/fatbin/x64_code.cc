#include "fatbin/x64_code.h"

#include <algorithm>
#include <iterator>

namespace archguard::fatbin {
namespace {

// What a function need not keep, it sets nearby.
constexpr std::size_t kLooksBackForScratch = 1024;

// What an instruction does to a register, as far as its bytes tell.
enum class Sets { nothing, something, perhaps_null, copies };

// Of the instruction that begins at `in`, of which `size` bytes are there. (Intel 64 Architectures Manual,
// volume 2: REX 40 to 4f, whose bits W, R, X and B widen operands and numbers of registers; ModRM.) `starts`:
// of functions, whose addresses are numbers of 4 bytes in a program that is linked for its place in memory.
Sets what_is_set(const unsigned char* in, std::size_t size, const std::vector<std::uint64_t>& starts,
                 unsigned& reg) {
  const auto number = [&](std::size_t at) {
    const std::uint32_t value = Cursor({in, size}).u32(at);
    if (value == 0) return Sets::perhaps_null;
    const bool is_function = std::binary_search(starts.begin(), starts.end(), std::uint64_t{value});
    return is_function ? Sets::something : Sets::nothing;  // any bytes may look like it
  };
  const bool has_rex = size >= 2 && (in[0] & 0xf0) == 0x40;
  const unsigned rex = has_rex ? in[0] : 0;
  const std::size_t at = has_rex ? 1 : 0;
  const bool wide = (rex & 8) != 0;
  const unsigned rm_high = (rex & 1) != 0 ? 8 : 0, reg_high = (rex & 4) != 0 ? 8 : 0;
  if (size >= at + 5 && in[at] == 0xb8 + (reg & 7) && (reg & 8) == rm_high)  // mov reg, number
    return wide ? Sets::perhaps_null : number(at + 1);
  if (size < at + 2) return Sets::nothing;
  const unsigned op = in[at], modrm = in[at + 1];
  const unsigned rm = (modrm & 7) | rm_high, other = ((modrm >> 3) & 7) | reg_high;
  const bool to_register = modrm >> 6 == 3;
  if ((op == 0x31 && to_register && rm == reg) || (op == 0x33 && other == reg))  // xor
    return Sets::perhaps_null;
  if (op == 0xc7 && to_register && rm == reg && size >= at + 6) return number(at + 2);  // mov reg, number
  if (op == 0x8d && wide && other == reg) return Sets::something;                       // lea reg, …
  const bool from_register = op == 0x89 && to_register && rm == reg, to_reg = op == 0x8b && other == reg;
  if (!from_register && !to_reg) return Sets::nothing;
  if (!wide) return Sets::perhaps_null;
  if (to_reg && !to_register) return Sets::something;  // mov reg, […]
  reg = from_register ? other : rm;
  return Sets::copies;
}

// Is it `xor` of registers, or `mov` of the number 0 to rdi?
bool may_set_null(const unsigned char* in, std::size_t size) {
  constexpr unsigned char kMoves[] = {0xbf, 0, 0, 0, 0}, kMovesByModrm[] = {0xc7, 0xc7, 0, 0, 0, 0};
  const auto is = [&](const auto& bytes) {
    return size >= std::size(bytes) && std::equal(std::begin(bytes), std::end(bytes), in);
  };
  return in[0] == 0x31 || in[0] == 0x33 || is(kMoves) || is(kMovesByModrm);
}

// A register that a function need not keep: all but rbx, rsp, rbp and r12 to r15. (System V ABI, AMD64
// supplement, "Register Usage".)
bool is_scratch(unsigned reg) {
  return reg != 3 && reg != 4 && reg != 5 && reg < 12;
}

// Does an instruction end before `at` that compares, as one stands before a jump on a condition: test, cmp,
// or with a number of one byte? None compares a register with itself, or tests all bits of a byte.
bool is_behind_comparison(const unsigned char* code, std::size_t at) {
  const auto compares = [](unsigned op, unsigned modrm) {
    const bool with_itself = modrm >> 6 == 3 && ((modrm >> 3) & 7) == (modrm & 7);
    return op == 0x84 || op == 0x85 || (op >= 0x38 && op <= 0x3b && !with_itself);
  };
  const auto has_number = [](unsigned op, unsigned number) {
    return op == 0x80 || op == 0x83 || (op == 0xf6 && number != 0xff);
  };
  if (at >= 2 && (code[at - 2] == 0xa8 || code[at - 2] == 0x3c) && code[at - 1] != 0xff)
    return true;  // of al
  // By ModRM: so many bytes of an address follow it.
  const auto has_behind = [](unsigned modrm, std::size_t bytes) {
    const unsigned mod = modrm >> 6, rm = modrm & 7;
    if (mod == 0 && rm == 5) return bytes == 4;
    const std::size_t address = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    return bytes == address + (mod != 3 && rm == 4 ? 1 : 0);
  };
  for (std::size_t behind = 0; behind < 6 && at >= behind + 2; ++behind) {
    const unsigned op = code[at - behind - 2], modrm = code[at - behind - 1];
    const bool jumps = at >= behind + 3 && code[at - behind - 3] == 0x0f;  // that byte and `op`
    if (!jumps && compares(op, modrm) && has_behind(modrm, behind)) return true;
    if (behind >= 1 && has_number(op, code[at - 1]) && has_behind(modrm, behind - 1)) return true;
  }
  return false;
}

// Behind REX.W, of what compilers write most: add, sub, xor, cmp, test, mov, lea, movslq.
bool takes_modrm(unsigned op) {
  constexpr unsigned kOps[] = {0x01, 0x03, 0x29, 0x2b, 0x31, 0x33, 0x39, 0x3b, 0x63, 0x85, 0x89, 0x8b, 0x8d};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

}  // namespace

FirstArgument first_argument(const unsigned char* code, std::size_t first, std::size_t call,
                             const std::vector<std::uint64_t>& starts,
                             const std::function<bool(std::size_t at)>& calls,
                             const std::function<bool(std::size_t at)>& is_distance) {
  constexpr unsigned kRdi = 7;
  unsigned reg = kRdi;
  for (std::size_t at = call; at-- > first;) {
    if (is_scratch(reg) && call - at > kLooksBackForScratch) return {};
    const auto is_rex = [](unsigned char each) { return (each & 0xf0) == 0x40; };
    const bool behind_rex = at != first && is_rex(code[at - 1]) && !is_rex(code[at]);
    if (behind_rex && !may_set_null(code + at, call - at)) continue;
    if (is_scratch(reg) && calls(at)) return {};
    const Sets sets = what_is_set(code + at, call - at, starts, reg);
    if (sets == Sets::something) return {at, false};
    if (sets == Sets::perhaps_null && !is_distance(at)) return {};
  }
  return {std::nullopt, reg == kRdi};
}

std::optional<std::int64_t> jump_at(ByteView bytes, std::size_t at) {
  const unsigned char* code = bytes.data;
  const std::size_t left = bytes.size - at;
  if (at >= 2 && (code[at - 2] & 0xf8) == 0x48 && takes_modrm(code[at - 1])) return std::nullopt;
  const bool conditional = (code[at] & 0xf0) == 0x70 && is_behind_comparison(code, at);
  if (left >= 2 && (code[at] == 0xeb || conditional))
    return std::int64_t{static_cast<signed char>(code[at + 1])} + 2;
  const Cursor words(bytes);
  if (left >= 5 && code[at] == kJumpX64)
    return std::int64_t{static_cast<std::int32_t>(words.u32(at + 1))} + 5;
  if (left >= 6 && code[at] == 0x0f && (code[at + 1] & 0xf0) == 0x80)
    return std::int64_t{static_cast<std::int32_t>(words.u32(at + 2))} + 6;
  return std::nullopt;
}

}  // namespace archguard::fatbin
