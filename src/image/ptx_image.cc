#include <algorithm>

#include "base/text.h"
#include "container/cubin.h"
#include "container/ptx_text.h"
#include "image/image.h"
#include "image/ptx_lexer.h"

namespace archguard {
namespace {

// A kernel with more statements, or more text, behind its first branch is no hollow one.
constexpr std::size_t kHollowMost = 256, kHollowTextMost = std::size_t{32} * 1024;

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

// Reads kernels, `.entry name(…) … { … }`. What stands between the name and the body are parameters and
// limits
// (`.maxntid`); a declaration ends in `;` and is no kernel.
class PtxReader {
 public:
  explicit PtxReader(std::string_view text) : lexer_(text) {}

  Status read(std::vector<Kernel>& kernels) {
    for (std::string_view token = lexer_.next(); !token.empty(); token = lexer_.next()) {
      if (token == "{" && !lexer_.skip_block()) return Error{{}, "PTX ends inside a block", {}};
      if (token != ".entry") continue;
      const std::string name(lexer_.next());
      std::size_t parentheses = 0;
      do {
        token = lexer_.next();
        if (token == "(") ++parentheses;
        if (token == ")" && parentheses != 0) --parentheses;
      } while (!token.empty() && (parentheses != 0 || (token != "{" && token != ";")));
      if (token == ";") continue;
      const auto state = token == "{" ? read_body() : std::nullopt;
      if (!state) return Error{{}, "PTX ends inside the kernel '" + name + "'", {}};
      kernels.push_back({name, *state});
    }
    if (lexer_.broken()) return Error{{}, "PTX ends inside a comment or string", {}};
    return Done{};
  }

 private:
  // Behind the body's `{` to behind its `}`; nothing where the text ends first. Inner blocks only delimit
  // names.
  std::optional<KernelState> read_body() {
    bool straight = true, empty = true, measured = false;
    std::size_t statements = 0, depth = 1;
    std::string_view token = lexer_.next();
    while (depth != 0) {
      if (token.empty()) return std::nullopt;
      if (token == "{" || token == "}" || token == ";") {
        if (token != ";") depth += token == "{" ? 1 : std::size_t(-1);
        if (depth != 0) token = lexer_.next();
        continue;
      }
      if (token == ".loc" || token == ".file") {  // end with their line
        lexer_.skip_line();
        token = lexer_.next();
        continue;
      }
      if (token[0] == '.') {
        token = lexer_.end_of_statement(token);
        continue;
      }
      bool always = true;
      if (token == "@") {
        always = false;
        if (lexer_.next() == "!") lexer_.next();
        token = lexer_.next();
      }
      const std::string_view opcode = token;
      token = lexer_.next();
      if (token == ":") {  // a label
        token = lexer_.next();
        continue;
      }
      const std::size_t open = depth + (token == "{" ? 1 : 0) - (token == "}" ? 1 : 0);
      if (has_effect(opcode)) return close(open, KernelState::real);
      const bool leaves = opcode == "exit" || starts_with(opcode, "ret");
      if (straight) {
        if (opcode == "trap" && always) return close(open, KernelState::trap);
        if (leaves && always && empty) return close(open, KernelState::empty);
        if (leaves || !always || starts_with(opcode, "br")) straight = false;
      }
      empty = false;
      ++statements;
      token = lexer_.end_of_statement(token);
      const std::size_t left = depth - (token == "}" ? 1 : 0);
      if (straight || left == 0) continue;
      // What is left to come out is real or unknown: the end of a long body says it without its statements.
      if (statements > kHollowMost) return close(left, KernelState::real);
      if (measured) continue;
      measured = true;
      const PtxLexer here = lexer_;
      const auto state = close(left, KernelState::real);
      if (!state || lexer_.position() - here.position() > kHollowTextMost) return state;
      lexer_ = here;
    }
    if (straight && empty) return KernelState::empty;  // the end of the body returns
    return statements > kHollowMost ? KernelState::real : KernelState::unknown;
  }

  // The state is clear: only the end of the body is left to find. An open operand list counts as closed by
  // its own `}`.
  std::optional<KernelState> close(std::size_t depth, KernelState state) {
    for (; depth != 0; --depth)
      if (!lexer_.skip_block()) return std::nullopt;
    return state;
  }

  PtxLexer lexer_;
};

// 90 of "sm_90a, debug".
std::optional<int> number_of_target(std::string_view target) {
  if (!starts_with(target, "sm_")) return std::nullopt;
  target.remove_prefix(3);
  const auto number = parse_number(target.substr(0, target.find_first_not_of("0123456789")), 9999);
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

Result<ImageCode> read_ptx(ByteView bytes) {
  // Compressed PTX ends in a NUL, raw PTX is padded with them.
  std::string_view text = bytes.text();
  text = text.substr(0, text.find('\0'));
  const std::string_view module = skip_ptx_blanks(text);
  if (!starts_with(module, ".version")) return Error{{}, "PTX begins without `.version`", {}};
  ImageCode code;
  code.toolkit = find_toolkit_release(text.substr(0, text.size() - module.size()));
  code.arch_number = number_of_target(read_ptx_head(text).target);
  ARCHGUARD_CHECK(PtxReader(module).read(code.kernels));
  std::sort(code.kernels.begin(), code.kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
  return code;
}

}  // namespace archguard
