#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>

#include "base/text.h"
#include "compat/toolkit.h"
#include "container/cubin.h"
#include "container/ptx_text.h"
#include "image/image.h"
#include "image/ptx_lexer.h"
#include "image/ptx_variables.h"
#include "image/symbol_name.h"

namespace archguard {
namespace {

// A kernel with more statements, or more text, is no hollow one.
constexpr std::size_t kHollowMost = 256, kHollowTextMost = std::size_t{8} * 1024;

// No limits of PTX: what keeps a hostile text from costing memory.
constexpr std::size_t kKernelsMost = std::size_t{1} << 20, kVariablesMost = kKernelsMost;

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

// What the text between a kernel's braces comes to. Inner blocks only delimit names.
KernelState state_of_body(std::string_view body) {
  PtxLexer lexer(body);
  bool straight = true, empty = true;
  std::optional<bool> may_trap;  // further on; looked for where all else is said
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
      if (leaves || !always || starts_with(opcode, "br")) straight = false;
    }
    empty = false;
    ++statements;
    token = lexer.end_of_statement(token);
    // What is left to come out of a long body is real, unless its first run of statements ends in a trap.
    if (statements <= kHollowMost && body.size() <= kHollowTextMost) continue;
    if (straight && !may_trap) {
      const std::string_view rest = body.substr(lexer.position());
      may_trap = has_part(rest, "trap") || has_part(rest, "kpt");  // brkpt: `k` is rare
    }
    if (!straight || !*may_trap) return KernelState::real;
  }
  if (straight && empty) return KernelState::empty;  // the end of the body returns
  return statements > kHollowMost ? KernelState::real : KernelState::unknown;
}

// What the driver brings along when it compiles PTX; ptxas knows the same names.
bool is_drivers_own(std::string_view function) {
  return function == "vprintf" || function == "malloc" || function == "free" || function == "__assertfail" ||
         function == "__cuda_syscall";
}

// The first byte that is no ASCII, or npos.
std::size_t find_non_ascii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::array<std::uint64_t, 4> run;
  std::size_t at = 0;
  for (; text.size() - at >= sizeof run; at += sizeof run) {
    std::memcpy(run.data(), text.data() + at, sizeof run);
    if (((run[0] | run[1] | run[2] | run[3]) & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at == text.size() ? std::string_view::npos : at;
}

// ptxas and nvJitLink refuse a byte order mark in each release, and from CUDA 12.8 on other bytes, in strings
// always and in comments in some releases (13.0, not 13.5). nvcc writes the paths of `.file` with escapes; a
// comment of inline assembly it copies.
Status check_ascii(std::string_view text) {
  const std::size_t at = find_non_ascii(text);
  if (at == std::string_view::npos) return Done{};
  if (starts_with(text, "\xef\xbb\xbf"))
    return Error{{}, "PTX begins with a byte order mark, which the driver refuses", {}};
  return Error{{},
               "PTX must be ASCII, found the byte " + hex(static_cast<unsigned char>(text[at])) + " at " +
                   hex(at) + ": drivers from CUDA 12.8 on may refuse it",
               {}};
}

// Reads what stands outside of bodies: kernels, `.entry name(…) … { … }`, variables, and what a link has to
// add. What stands between the name of a kernel and its body are parameters and limits (`.maxntid`); a
// declaration ends in `;` and is no kernel. PTX that nvcc makes for linking (-rdc=true) declares the
// functions and variables of other files `.extern`; the driver compiles a module alone and refuses such a
// function, as it does one that is declared without `.extern` and has no body. `.extern .shared` is shared
// memory whose size the launch gives. Text that is part of no statement is refused, as ptxas does.
class PtxReader {
 public:
  explicit PtxReader(std::string_view text) : text_(text), lexer_(text) {}

  Status read(ImageCode& code) {
    std::string_view before;
    for (std::string_view token = lexer_.next(); !token.empty(); before = token, token = lexer_.next()) {
      if (!in_statement_) ARCHGUARD_CHECK(begin_statement(token));
      if (token[0] == '.')
        ARCHGUARD_CHECK(read_directive(token, before, code));
      else if (token == "{" && !lexer_.skip_block())
        return Error{{}, "PTX ends inside a block", {}};
      else if (token == "(")
        skip_parentheses();  // parameters may be `.ptr .global`
      if (token == ";" || (token == "{" && before != "=")) in_statement_ = false;
    }
    if (lexer_.broken()) return Error{{}, "PTX ends inside a comment or string", {}};
    if (in_statement_) return Error{{}, "PTX ends inside a statement", {}};
    for (const std::string_view name : declared_)
      if (defined_.count(name) == 0) externs_.insert(name);
    code.relocatable = !externs_.empty();
    if (code.relocatable) code.unresolved = *externs_.begin();
    for (const std::string_view name : externs_) add_wanted(code.names, name);
    return Done{};
  }

 private:
  Status begin_statement(std::string_view token) {
    const std::size_t at = lexer_.position() - token.size();
    in_statement_ = token[0] == '.';
    if (in_statement_) return Done{};
    const bool line = token == "#" && is_digit(lexer_.next());  // `# 1 "k.cu"`, of a preprocessor
    if (!line && token != "@")                                  // `@@DWARF`, of old compilers
      return Error{
          {},
          "PTX must hold statements alone, found '" + std::string(token.substr(0, 40)) + "' at " + hex(at),
          {}};
    lexer_.skip_line();
    return Done{};
  }

  static bool is_digit(std::string_view token) {
    return !token.empty() && token[0] >= '0' && token[0] <= '9';
  }

  Status read_directive(std::string_view token, std::string_view before, ImageCode& code) {
    if (token == ".version") return add_version();
    if (token == ".entry") return add_kernel(code.kernels);
    if (token == ".target") return add_target(code);
    if (token == ".extern") return add_extern();
    if (token == ".func") return add_function(is_visible(before), code);
    if (is_variable(token)) return add_variables(token, is_visible(before), code);
    if (token == ".address_size") {
      code.is32 = lexer_.next() == "32";
      in_statement_ = false;
    } else if (token == ".file") {
      skip_file();
    } else if (token == ".alias") {  // `.alias other, function;`
      defined_.insert(lexer_.next());
    }
    return Done{};
  }

  Status add_version() {
    if (std::exchange(versioned_, true))
      return Error{{}, "PTX must be one module, found another `.version` at " + hex(lexer_.position()), {}};
    lexer_.next();
    in_statement_ = false;
    return Done{};
  }

  // `.file 1 "k.cu", 1700000000, 42`: ends without a mark.
  void skip_file() {
    lexer_.next();
    for (PtxLexer ahead = lexer_; ahead.next() == ","; ahead = lexer_) {
      lexer_ = ahead;
      lexer_.next();
    }
    in_statement_ = false;
  }

  // Declared, `.func name (…);`, or with a body.
  Status add_function(bool visible, ImageCode& code) {
    const std::string_view name = name_of_function();
    std::string_view token = next_outside();
    while (!token.empty() && token != "{" && token != ";") token = next_outside();
    if (token.empty() || (token == "{" && !lexer_.skip_block()))
      return Error{{}, "PTX ends inside the function '" + std::string(name) + "'", {}};
    in_statement_ = false;
    if (token == "{") {
      defined_.insert(name);
      if (visible) add_defined(code.names, name);
    } else if (!is_drivers_own(name)) {
      declared_.insert(name);
    }
    return Done{};
  }

  // `.target sm_90a, debug`: one arch, and options. ptxas takes several, and goes by the highest.
  Status add_target(ImageCode& code) {
    in_statement_ = false;
    for (PtxLexer ahead = lexer_;; ahead = lexer_) {
      const std::string_view word = ahead.next();
      if (starts_with(word, "sm_")) {
        if (!target_.empty() && word != target_)
          return Error{
              {},
              "PTX must have one target, found " + std::string(target_) + " and " + std::string(word),
              {}};
        target_ = word;
        const auto arch = parse_arch(word.substr(3));
        code.archs.assign(arch ? 1 : 0, arch.value_or(Arch{}));
      }
      lexer_ = ahead;
      if (ahead.next() != ",") return Done{};
      lexer_ = ahead;
    }
  }

  static bool is_variable(std::string_view space) { return space == ".global" || space == ".const"; }

  static bool is_visible(std::string_view linking) {
    return linking == ".visible" || linking == ".weak" || linking == ".common";
  }

  Status add_kernel(std::vector<Kernel>& kernels) {
    const std::string name(lexer_.next());
    std::string_view token = next_outside();
    while (!token.empty() && token != "{" && token != ";") token = next_outside();
    in_statement_ = false;
    if (token == ";") return Done{};
    if (kernels.size() == kKernelsMost)
      return Error{{}, "PTX has more than " + std::to_string(kKernelsMost) + " kernels", {}};
    const std::size_t begin = lexer_.position();
    if (token.empty() || !lexer_.skip_block())
      return Error{{}, "PTX ends inside the kernel '" + name + "'", {}};
    kernels.push_back({name, state_of_body(text_.substr(begin, lexer_.position() - 1 - begin))});
    return Done{};
  }

  Status add_extern() {
    const std::string_view kind = lexer_.next();
    const bool function = kind == ".func";
    if (!function && !is_variable(kind)) return Done{};
    const std::string_view name = function ? name_of_function() : name_of_variable();
    if (name.empty()) return Error{{}, "PTX ends inside an `.extern` declaration", {}};
    if (!function || !is_drivers_own(name)) externs_.insert(name);
    return Done{};
  }

  Status add_variables(std::string_view space, bool visible, ImageCode& code) {
    std::vector<DeviceVariable>& variables = code.variables;
    PtxVariables declared(lexer_, space);
    while (const auto variable = declared.next()) {
      externs_.erase(variable->name);
      if (visible) add_defined(code.names, variable->name);
      if (!host_can_name(variable->name)) continue;
      if (variables.size() == kVariablesMost)
        return Error{{}, "PTX has more than " + std::to_string(kVariablesMost) + " variables", {}};
      variables.push_back({std::string(variable->name), variable->space, variable->size});
    }
    in_statement_ = false;
    return declared.broken() ? Status(Error{{}, "PTX ends inside a variable", {}}) : Done{};
  }

  void skip_parentheses() {
    for (std::size_t depth = 1; depth != 0;) {
      const std::string_view token = lexer_.next();
      if (token.empty()) return;
      if (token == "(") ++depth;
      if (token == ")") --depth;
    }
  }

  // The next token outside of parentheses; empty where the text ends first.
  std::string_view next_outside() {
    for (std::size_t parentheses = 0;;) {
      const std::string_view token = lexer_.next();
      if (token == "(")
        ++parentheses;
      else if (token == ")" && parentheses != 0)
        --parentheses;
      else if (token.empty() || parentheses == 0)
        return token;
    }
  }

  // `.func (.param .b32 result) name (…)`: the first word outside of parentheses that is no attribute.
  std::string_view name_of_function() {
    std::string_view token = next_outside();
    while (!token.empty() && token[0] == '.') token = next_outside();
    return token;
  }

  // `.global .align 4 .b8 name[16] = …`, `.global .attribute(.managed) .u32 name;`: the last word before what
  // is no word.
  std::string_view name_of_variable() {
    std::string_view name;
    for (std::string_view token = next_outside(); !token.empty(); token = next_outside()) {
      if (token == ";") in_statement_ = false;
      if (token == ";" || token == "[" || token == "=" || token == ",") break;
      name = token;
    }
    return name;
  }

  std::string_view text_;
  PtxLexer lexer_;
  std::string_view target_;
  bool versioned_ = false, in_statement_ = false;
  std::set<std::string_view> externs_;             // not defined so far
  std::set<std::string_view> declared_, defined_;  // functions
};

// A compiler refuses a module whose `.version` does not have its `.target` yet.
Status check_isa(const ImageCode& code) {
  const auto first = code.archs.empty() ? std::nullopt : first_ptx_for(code.archs[0]);
  if (!first || !code.ptx_isa || *first <= *code.ptx_isa) return Done{};
  return Error{{},
               "PTX ISA " + to_string(*code.ptx_isa) + " has no target sm_" + to_string(code.archs[0]) +
                   ", which came with ISA " + to_string(*first),
               {}};
}

}  // namespace

Result<ImageCode> read_ptx(ByteView bytes) {
  // Compressed PTX ends in a NUL, raw PTX is padded with them.
  std::string_view text = bytes.text();
  const std::size_t end = std::min(text.find('\0'), text.size());
  if (const std::size_t more = text.find_first_not_of('\0', end); more != std::string_view::npos)
    return Error{
        {}, "PTX must hold nothing behind a NUL, found one at " + hex(end) + " and text at " + hex(more), {}};
  text = text.substr(0, end);
  ARCHGUARD_CHECK(check_ascii(text));
  const std::string_view module = skip_ptx_blanks(text);
  if (!starts_with(module, ".version")) return Error{{}, "PTX begins without `.version`", {}};
  ImageCode code;
  code.toolkit = find_toolkit_release(text.substr(0, text.size() - module.size()));
  code.ptx_isa = parse_version(read_ptx_head(module).version);
  ARCHGUARD_CHECK(PtxReader(text).read(code));
  ARCHGUARD_CHECK(check_isa(code));
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(code.kernels.begin(), code.kernels.end(), by_name);
  std::sort(code.variables.begin(), code.variables.end(), by_name);
  const auto twice = std::adjacent_find(code.kernels.begin(), code.kernels.end(),
                                        [](const Kernel& a, const Kernel& b) { return a.name == b.name; });
  if (twice != code.kernels.end()) return Error{{}, "PTX defines the kernel '" + twice->name + "' twice", {}};
  return code;
}

}  // namespace archguard
