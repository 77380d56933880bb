#include "image/ptx_address_size.h"

#include "base/text.h"
#include "image/ptx_lexer.h"

namespace archguard {
namespace {

bool has_64_bits(std::string_view token) {
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

}  // namespace

bool has_32_bit_addresses(std::string_view ptx) {
  PtxLexer lexer(ptx);
  bool narrow = false;
  std::string_view before, opcode;
  for (auto token = lexer.next(); !token.empty(); before = token, token = lexer.next()) {
    if (has_64_bits(token)) return false;
    if (takes_wide_address(token)) opcode = token;
    if (token == ";") opcode = {};
    narrow |= !opcode.empty() && before == "[" && token[0] == '%';
    narrow |= starts_with(token, "cvta.to.global") || starts_with(token, "cvta.global");
  }
  return narrow;
}

}  // namespace archguard
