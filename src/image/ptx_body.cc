#include "image/ptx_body.h"

#include <optional>

#include "base/text.h"
#include "image/builtin_functions.h"
#include "image/ptx_lexer.h"

namespace archguard {
namespace {

// A kernel with more statements, or more text, is no hollow one.
constexpr std::size_t kHollowMost = 256, kHollowTextMost = std::size_t{8} * 1024;

bool is_trap(std::string_view opcode) {
  return opcode == "trap" || opcode == "brkpt";
}

bool has_part(std::string_view opcode, std::string_view part) {
  return opcode.find(part) != std::string_view::npos;
}

// Writes that others can see (PTX ISA, "Data Movement", "Surface", "Parallel Synchronization").
bool has_effect(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  if (base == "st" || base == "atom" || base == "red")
    return !has_part(opcode, ".local") && !has_part(opcode, ".shared") && !has_part(opcode, ".param");
  return base == "sust" || base == "sured" || base == "multimem" || starts_with(opcode, "cp.async.bulk") ||
         starts_with(opcode, "cp.reduce");
}

// From the token behind `call`: `vprintf, (…)` or `(retval0), vprintf, (…)`.
std::string_view called_function(PtxLexer& lexer, std::string_view& token) {
  if (token == "(") {
    while (!token.empty() && token != ")" && token != ";") token = lexer.next();
    if (token == ")" && lexer.next() == ",") token = lexer.next();
  }
  return token;
}

// A store that only threads of the block or cluster see.
bool writes_shared(std::string_view opcode) {
  if (opcode.empty() || (opcode[0] != 's' && opcode[0] != 'a' && opcode[0] != 'r')) return false;
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  return (base == "st" || base == "atom" || base == "red") && has_part(opcode, ".shared");
}

}  // namespace

// Inner blocks only delimit names.
KernelState state_of_ptx_body(std::string_view body) {
  PtxLexer lexer(body);
  bool straight = true, empty = true;
  bool prints = false, does_more = false;  // calls of printf or assert; other calls, stores to shared memory
  std::optional<bool> may_trap;            // further on; looked for where all else is said
  std::size_t statements = 0;
  std::string_view token = lexer.next();
  while (!token.empty()) {
    if (token == "{" || token == "}" || token == ";") {
      token = lexer.next();
      continue;
    }
    if (token == ".loc" || token == ".file") {  // end with their line
      lexer.skip_line();
      token = lexer.next();
      continue;
    }
    if (token[0] == '.') {
      token = lexer.end_of_statement(token);
      continue;
    }
    bool always = true;
    if (token == "@") {
      always = false;
      if (lexer.next() == "!") lexer.next();
      token = lexer.next();
    }
    const std::string_view opcode = token;
    token = lexer.next();
    if (token == ":") {  // a label
      token = lexer.next();
      continue;
    }
    if (has_effect(opcode)) return KernelState::real;
    const bool leaves = opcode == "exit" || starts_with(opcode, "ret");
    if (straight) {
      if (is_trap(opcode) && always) return KernelState::trap;
      if (leaves && always && empty) return KernelState::empty;
      if (leaves && always && prints && !does_more) return KernelState::prints;
      if (leaves || !always || starts_with(opcode, "br")) straight = false;
    }
    empty = false;
    does_more = does_more || writes_shared(opcode);
    if (opcode == "call" || starts_with(opcode, "call.")) {
      const bool is_printing = is_printing_function(called_function(lexer, token));
      prints |= is_printing;
      does_more |= !is_printing;
    }
    ++statements;
    token = lexer.end_of_statement(token);
    // What is left to come out of a long body is real, unless its first run of statements ends in a trap.
    if (statements <= kHollowMost && body.size() <= kHollowTextMost) continue;
    if (prints && !does_more) continue;
    if (straight && !may_trap) {
      const std::string_view rest = body.substr(lexer.position());
      may_trap = has_part(rest, "trap") || has_part(rest, "kpt");  // brkpt: `k` is rare
    }
    if (!straight || !*may_trap) return KernelState::real;
  }
  if (straight && empty) return KernelState::empty;  // the end of the body returns
  if (prints && !does_more) return straight ? KernelState::prints : KernelState::unknown;
  return statements > kHollowMost ? KernelState::real : KernelState::unknown;
}

}  // namespace archguard
