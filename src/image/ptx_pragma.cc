#include "image/ptx_pragma.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/text.h"
#include "image/ptx_rules.h"

namespace archguard {
namespace {

// PTX ISA, "Pragma Strings"; `abi_param_reg` is in no documentation. As ptxas 11.8 to 13.5 have them
// (real.ptx).
bool is_of_module(std::string_view pragma) {
  constexpr std::string_view kRegisters = "abi_param_reg ";
  if (pragma == "nounroll") return true;
  if (!starts_with(pragma, kRegisters)) return false;
  pragma.remove_prefix(kRegisters.size());
  return pragma == "all" || parse_number(pragma, 999);
}

bool is_of_body(std::string_view pragma) {
  const std::string_view name = pragma.substr(0, pragma.find(' '));
  return std::any_of(std::begin(kPtxPragmaRules), std::end(kPtxPragmaRules),
                     [&](const PtxPragmaRule& rule) { return rule.isa != 0 && rule.name == name; });
}

}  // namespace

Status read_ptx_pragma(PtxLexer& lexer, PtxPlace place) {
  for (;;) {
    const auto text = lexer.next_string();
    if (!text) {
      PtxLexer ahead = lexer;
      const std::string_view found = ahead.next();
      if (found.empty() || lexer.broken()) return Done{};
      return Error{
          {},
          "PTX must have a string behind `.pragma`, found '" + std::string(found.substr(0, 40)) + "'",
          {}};
    }
    if (place == PtxPlace::statement ? !is_of_module(*text) : is_of_body(*text))
      return Error{{},
                   "PTX has `.pragma \"" + std::string(text->substr(0, 40)) +
                       "\"`, which no compiler takes " +
                       (place == PtxPlace::statement ? "at module scope" : "outside of a body"),
                   {}};
    PtxLexer ahead = lexer;
    if (const auto second = ahead.next_string())
      return Error{{}, "PTX has strings behind `.pragma` without a comma between them", {}};
    ahead = lexer;
    const std::string_view token = ahead.next();
    if (token != ",") {
      if (token == ";" || token.empty()) return Done{};
      return Error{
          {}, "PTX must have a `;` behind `.pragma`, found '" + std::string(token.substr(0, 40)) + "'", {}};
    }
    lexer = ahead;
  }
}

}  // namespace archguard
