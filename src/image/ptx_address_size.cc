#include "image/ptx_address_size.h"

#include <set>

#include "base/text.h"
#include "image/ptx_lexer.h"

namespace archguard {
namespace {

bool has_64_bit_integer(std::string_view token) {
  for (const char* type : {".u64", ".b64", ".s64"})
    if (token.find(type) != std::string_view::npos) return true;
  return false;
}

bool takes_wide_address(std::string_view opcode) {
  for (const char* space : {".shared", ".local", ".param", ".const"})
    if (opcode.find(space) != std::string_view::npos) return false;
  for (const char* begin : {"ld.", "ldu.", "st.", "atom.", "red.", "prefetch"})
    if (starts_with(opcode, begin)) return true;
  return false;
}

// Registers of 32 bits by their names; of `%r<4>` what stands before the number.
class NarrowRegisters {
 public:
  // `token` follows `before`; both are read in order.
  void read(std::string_view before, std::string_view token) {
    if (token == ".reg") in_ = true, narrow_ = false;
    if (!in_) return;
    if (token == ";" || token == ")" || token == "{") in_ = false;
    if (token == ".u32" || token == ".s32" || token == ".b32") narrow_ = true;
    if (token == "<" && narrow_) ranges_.insert(before);
    if (narrow_ && token[0] != '.' && (before == "," || before[0] == '.')) names_.insert(token);
  }

  bool has(std::string_view name) const {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    return names_.count(name) != 0 || (digits < name.size() && ranges_.count(name.substr(0, digits)) != 0);
  }

 private:
  bool in_ = false, narrow_ = false;
  std::set<std::string_view> names_, ranges_;
};

}  // namespace

bool has_32_bit_addresses(std::string_view ptx) {
  PtxLexer lexer(ptx);
  NarrowRegisters registers;
  bool narrow = false;
  std::string_view before = ";", opcode;
  for (auto token = lexer.next(); !token.empty(); before = token, token = lexer.next()) {
    if (has_64_bit_integer(token)) return false;
    if (takes_wide_address(token)) opcode = token;
    if (token == ";") opcode = {};
    registers.read(before, token);
    narrow |= !opcode.empty() && before == "[" && registers.has(token);
    narrow |= starts_with(token, "cvta.to.global") || starts_with(token, "cvta.global");
  }
  return narrow;
}

}  // namespace archguard
