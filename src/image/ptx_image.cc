#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.h"
#include "image/builtin_functions.h"
#include "image/cubin.h"
#include "image/image.h"
#include "image/ptx_address_size.h"
#include "image/ptx_ascii.h"
#include "image/ptx_body.h"
#include "image/ptx_calls.h"
#include "image/ptx_directives.h"
#include "image/ptx_head.h"
#include "image/ptx_lexer.h"
#include "image/ptx_limits.h"
#include "image/ptx_name.h"
#include "image/ptx_names.h"
#include "image/ptx_parameters.h"
#include "image/ptx_pragma.h"
#include "image/ptx_target.h"
#include "image/ptx_text.h"
#include "image/ptx_values.h"
#include "image/ptx_variables.h"
#include "image/symbol_name.h"

namespace archguard {
namespace {

// No limit of PTX: what keeps a hostile text from costing memory.
constexpr std::size_t kVariablesMost = std::size_t{1} << 20;

// In front of `.version`, of GCC's back end for PTX: since GCC 5 (gcc/config/nvptx/nvptx.cc).
constexpr std::string_view kGccMark = "// BEGIN PREAMBLE";

// Reads what stands outside of bodies: kernels, `.entry name(…) … { … }`, variables, and what a link has to
// add. PTX that nvcc makes for linking (-rdc=true) declares the functions and variables of other files
// `.extern`; the driver compiles a module alone and refuses such a variable, a function that is used, and
// one, or a kernel, that is declared without `.extern` and has no body. `.extern .shared` is shared memory
// whose size the launch gives. What no compiler takes, or this reader does not know, is refused.
class PtxReader {
 public:
  PtxReader(std::string_view text, Version isa)
      : text_(text), isa_(isa), lexer_(text), target_(isa), calls_(isa) {}

  Status read(ImageKernels& code) {
    std::string_view before;
    for (std::string_view token = lexer_.next(); !token.empty(); before = token, token = lexer_.next()) {
      if (stray_ || lexer_.strings() != strings_) return stray_string();
      if (!in_statement_) {
        before = {};
        ARCHGUARD_CHECK(begin_statement(token));
      }
      if ((is_linking(before) || before == "(") && token[0] != '.') return found(token);
      if (token == "(" && before != ".attribute") return found(token);
      if (token[0] == '.')
        ARCHGUARD_CHECK(read_directive(token, before, code));
      else if (token == "{" && !skip_block())
        return ptx_ends_inside("a block");
      else if (token == "(")
        skip_parentheses();  // of `.attribute`
      else if (token == ";" && !ends_with_semicolon_)
        return Error{{}, "PTX has a statement that declares nothing, at " + hex(lexer_.position() - 1), {}};
      if (token == ";" || (token == "{" && before != "=")) in_statement_ = false;
    }
    if (lexer_.broken()) return ptx_ends_inside("a comment or string");
    if (in_statement_) return ptx_ends_inside("a statement");
    if (stray_ || lexer_.strings() != strings_) return stray_string();
    if (target_.is_debug() && !sections_ && Version{2, 0} <= isa_)
      return Error{{}, "PTX has `.target debug` and no debug information", {}};
    if (code.without_abi) calls_.forget_small_registers();
    for (const std::string_view name : names_.extern_functions()) calls_.add_extern(name);
    if (target_.arch() && !is_sure(code.refused)) take_graver(code.refused, calls_.check(*target_.arch()));
    check_constants(code);
    if (!sized_) code.is32 = has_32_bit_addresses(text_);
    if (unified_) take_graver(code.refused, unified_refusal());
    add_missing(code);
    if (code.relocatable || code.names.defines) {
      calls_.tell(code.names);
      if (code.names.surely.size() < code.names.wanted.size()) calls_.tell_needs(code.names);
    }
    return Done{};
  }

 private:
  Error found(std::string_view token) const {
    return Error{{},
                 "PTX must hold statements alone, found '" + std::string(token.substr(0, 40)) + "' at " +
                     hex(static_cast<std::size_t>(token.data() - text_.data())),
                 {}};
  }

  Error stray_string() const {
    return Error{{}, "PTX has a string where none belongs, before " + hex(lexer_.position()), {}};
  }

  // Strings in it are none of a statement's.
  bool skip_block() {
    stray_ = stray_ || lexer_.strings() != strings_;
    const bool whole = lexer_.skip_block();
    strings_ = lexer_.strings();
    return whole;
  }

  // `.debug_abbrev`, `.x$1`
  static bool is_section_name(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return name.size() > 1 && name[0] == '.' && is_letter(name[1]) &&
           name.find('%') == std::string_view::npos;
  }

  Status begin_statement(std::string_view token) {
    linking_ = {};
    ends_with_semicolon_ = false;
    if (token[0] == '.') {
      in_statement_ = true;
      ARCHGUARD_CHECK(head_.begin(token, lexer_.position()));
      if (is_ptx_head(token) && token != ".address_size") return Done{};
      return check_ptx_directive(token, PtxPlace::statement, level());
    }
    // `@@DWARF`, of old compilers
    if (token != "@" || isa_ >= Version{2, 0} || lexer_.next() != "@" || lexer_.next() != "DWARF")
      return found(token);
    lexer_.skip_line();
    return Done{};
  }

  Status read_directive(std::string_view token, std::string_view before, ImageKernels& code) {
    if (!before.empty())
      ARCHGUARD_CHECK(
          check_ptx_directive(token, is_linking(before) ? PtxPlace::linked : PtxPlace::variable, level()));
    if (before == ".common" && token != ".global" && token != ".align" && token != ".attribute")
      return Error{{}, "PTX has `.common` before what is no `.global` variable", {}};
    if (is_linking(token)) linking_ = token;
    // Those of old PTX, and what ends so.
    if (token == ".reg" || token == ".local" || token == ".tex" || token == ".pragma" || token == ".alias")
      ends_with_semicolon_ = true;
    if (token == ".version") return take_version();
    if (token == ".entry") return add_kernel(code);
    if (token == ".target") return add_target(code);
    if (token == ".func") return add_function(code);
    if (is_space(token)) return add_variables(token, code);
    if (token == ".address_size") return add_address_size(code);
    if (token == ".file") return add_file();
    if (token == ".pragma") return read_ptx_pragma(lexer_, PtxPlace::statement);
    if (token == ".section") {
      sections_ = true;
      const std::string_view name = lexer_.next();
      if (!name.empty() && !is_section_name(name)) return found(name);
      if (PtxLexer ahead = lexer_; !name.empty()) {
        const std::string_view brace = ahead.next();
        if (!brace.empty() && brace != "{") return found(brace);
      }
    } else if (token == ".alias") {
      return add_alias(code);
    } else if (token == ".align") {
      return check_ptx_alignment(lexer_.next());
    }
    return Done{};
  }

  // `.alias other, function;`
  Status add_alias(ImageKernels& code) {
    const std::string_view name = lexer_.next();
    if (name.empty()) return Done{};  // the text ends
    ARCHGUARD_CHECK(check_ptx_name(name));
    if (const std::string_view comma = lexer_.next(); comma != ",")
      return comma.empty() ? Status(Done{}) : found(comma);
    const std::string_view of = lexer_.next();
    ARCHGUARD_CHECK(names_.add_alias(name, of));
    // It is linked as the function is that it stands for (nvJitLink 12.0 to 13.5).
    if (is_visible(names_.linking(of))) add_defined(code.names, name, false);
    calls_.add_alias(name, of);
    return Done{};
  }

  Status take_version() {
    lexer_.next_in_head();
    in_statement_ = false;
    return Done{};
  }

  Status add_address_size(ImageKernels& code) {
    in_statement_ = false;
    const std::string_view size = lexer_.next();
    const auto bits = parse_ptx_integer(size);
    sized_ = true;
    code.is32 = bits == 32;
    if (bits == 32 || bits == 64) return Done{};
    return Error{{}, "PTX must have an `.address_size` of 32 or 64, found '" + std::string(size) + "'", {}};
  }

  Status add_target(ImageKernels& code) {
    in_statement_ = false;
    ARCHGUARD_CHECK(target_.read(lexer_));
    code.archs.clear();
    if (target_.arch()) code.archs.push_back(*target_.arch());
    return Done{};
  }

  Status add_file() {
    bool whole = false;
    ARCHGUARD_CHECK(files_.read(lexer_, whole));
    in_statement_ = !whole;
    return Done{};
  }

  // Moves behind the head of a kernel or function, its body included, and tells where the body stands;
  // nothing where it is only declared. A function's declaration may end without `;` before the next
  // statement.
  Result<std::optional<std::string_view>> read_body(std::string_view kind, std::string_view name,
                                                    PtxFunctionHead& head) {
    const auto cut = [&] {
      return ptx_ends_inside("the " + std::string(kind) + " '" + std::string(name) + "'");
    };
    in_statement_ = false;
    const PtxPlace place = kind == "kernel" ? PtxPlace::kernel : PtxPlace::function;
    PtxLexer before = lexer_;
    std::string_view token = lexer_.next();
    for (; token != "{" && token != ";"; before = lexer_, token = lexer_.next()) {
      if (token.empty()) return cut();
      if (place == PtxPlace::function && begins_ptx_statement(token)) {
        lexer_ = before;
        break;
      }
      if (token[0] == '.') ARCHGUARD_CHECK(check_ptx_directive(token, place, level()));
      ARCHGUARD_CHECK(head.add(token));
      if (token != ".pragma") continue;
      ARCHGUARD_CHECK(read_ptx_pragma(lexer_, place));
      // `.entry k() .pragma "nounroll"; { … }`; a function ends there.
      if (place == PtxPlace::kernel && lexer_.next().empty()) return cut();
    }
    ARCHGUARD_CHECK(head.finish(token == "{"));
    if (token != "{") return std::optional<std::string_view>();
    const std::size_t begin = lexer_.position();
    if (!skip_block()) return cut();
    return std::optional(text_.substr(begin, lexer_.position() - 1 - begin));
  }

  // Declared, `.func name (…)`, or with a body.
  Status add_function(ImageKernels& code) {
    PtxParameters parameters(false, level());
    ARCHGUARD_TRY(name, name_of_function(parameters));
    if (name.empty() && linking_ == ".extern") return ptx_ends_inside("an `.extern` declaration");
    if (!name.empty()) ARCHGUARD_CHECK(check_ptx_name(name));
    ARCHGUARD_CHECK(read_parameters(parameters));
    if (parameters.any_small_register()) calls_.add_small_registers(name);
    code.without_abi |= parameters.without_abi();
    PtxFunctionHead head(false);
    ARCHGUARD_TRY(body, read_body("function", name, head));
    if (head.never_returns() && parameters.any_results())
      return Error{{}, "PTX has '" + std::string(name) + "' with `.noreturn` and a result", {}};
    const std::uint64_t prototype = mix_ptx_hash(parameters.prototype(), head.never_returns() ? 1 : 0);
    ARCHGUARD_CHECK(names_.add_function({name, linking_, false, body.has_value(), prototype}));
    if (!body) return Done{};
    ARCHGUARD_CHECK(parameters.check_definition());
    check_limits(*body, name, false, code);
    if (is_visible(linking_)) add_defined(code.names, name, linking_ == ".visible");
    return Done{};
  }

  PtxLevel level() const { return target_.level(); }

  static bool is_space(std::string_view word) {
    return word == ".global" || word == ".const" || word == ".shared";
  }

  static bool is_visible(std::string_view linking) {
    return linking == ".visible" || linking == ".weak" || linking == ".common";
  }

  static bool is_linking(std::string_view word) { return is_visible(word) || word == ".extern"; }

  void check_limits(std::string_view body, std::string_view name, bool kernel, ImageKernels& code) {
    if (!limits_ && target_.arch()) limits_.emplace(*target_.arch(), isa_);  // bodies end the head
    if (!limits_ || is_sure(code.refused)) return;
    PtxBodySizes sizes;
    take_graver(code.refused, limits_->check(body, kernel, sizes));
    calls_.add_body(name, kernel, body, sizes.shared);
    constants_ += std::min(sizes.constants, UINT64_MAX - constants_);
  }

  // ptxas 12.0 to 13.5 take it for linking alone, and nvJitLink does not.
  static PtxRefusal unified_refusal() {
    return {"its PTX has the attribute `.unified`, which drivers do not compile",
            "leave `.attribute(.unified(…))` out of it",
            {}};
  }

  void check_constants(ImageKernels& code) const {
    if (constants_ <= kConstantsMost) return;
    take_graver(code.refused, PtxRefusal{"its PTX has " + std::to_string(constants_) +
                                             " bytes of constants (__constant__), and " +
                                             std::to_string(kConstantsMost) + " are the most",
                                         "keep what is more than 64 KB of them in global memory (__device__)",
                                         {}});
  }

  // Behind the name of a kernel or function.
  Status read_parameters(PtxParameters& parameters) {
    PtxLexer ahead = lexer_;
    if (ahead.next() != "(") return Done{};
    lexer_ = ahead;
    return parameters.add(lexer_);
  }

  Status add_kernel(ImageKernels& code) {
    std::vector<Kernel>& kernels = code.kernels;
    const std::size_t begin = lexer_.position() - std::string_view(".entry").size();
    const std::string_view name = lexer_.next();
    if (!name.empty()) ARCHGUARD_CHECK(check_ptx_name(name));
    PtxParameters parameters(true, level());
    ARCHGUARD_CHECK(read_parameters(parameters));
    PtxFunctionHead head(true);
    ARCHGUARD_TRY(body, read_body("kernel", name, head));
    ARCHGUARD_CHECK(names_.add_function({name, linking_, true, body.has_value(), parameters.prototype()}));
    if (!body) return Done{};
    ARCHGUARD_CHECK(parameters.check_definition());
    code.parameters = std::max(code.parameters, parameters.bytes());
    check_limits(*body, name, true, code);
    kernels.push_back({std::string(name), state_of_ptx_body(*body), 0, lexer_.position() - begin});
    return Done{};
  }

  Status add_variables(std::string_view space, ImageKernels& code) {
    const bool external = linking_ == ".extern";
    const std::size_t begin = lexer_.position();
    PtxVariables declared(lexer_, space, level(), external);
    while (const auto variable = declared.next()) {
      if (declared.error()) break;
      ARCHGUARD_CHECK(add_variable(*variable, space, code));
    }
    in_statement_ = false;
    if (declared.error()) return *declared.error();
    unified_ |= declared.is_unified();
    const std::string_view text = text_.substr(begin, lexer_.position() - begin);
    if (text.find('=') != std::string_view::npos) calls_.add_values(text);
    return Done{};
  }

  Status add_variable(const PtxVariable& variable, std::string_view space, ImageKernels& code) {
    // Textures and their like are no matter of linking, and shared memory is what the launch gives.
    const bool linked = space != ".shared" && variable.space != VariableSpace::reference;
    if (linking_ == ".common" && variable.space == VariableSpace::reference)
      return Error{{}, "PTX has `.common` before a texture or the like", {}};
    const std::vector<std::uint64_t>& sizes = variable.sizes;
    ARCHGUARD_CHECK(names_.add_variable({variable.name, linking_, type_of(variable),
                                         sizes.empty() ? 0 : sizes.front(), space == ".shared", linked}));
    if (variable.value && linking_ == ".extern")
      return Error{{}, "PTX has '" + std::string(variable.name) + "' with `.extern` and a value", {}};
    if (variable.value) ARCHGUARD_CHECK(check_ptx_values(variable, space, names_));
    if (linking_ == ".extern") return Done{};
    if (space == ".shared") {
      calls_.add_shared(variable.name, variable.size);
      return Done{};
    }
    if (variable.space == VariableSpace::constant)
      constants_ += std::min(variable.size, UINT64_MAX - constants_);
    if (is_visible(linking_) && variable.space != VariableSpace::reference)
      add_defined(code.names, variable.name, linking_ == ".visible");
    if (variable.sampler || !host_can_name(variable.name)) return Done{};
    if (code.variables.size() == kVariablesMost)
      return Error{{}, "PTX has more than " + std::to_string(kVariablesMost) + " variables", {}};
    code.variables.push_back({std::string(variable.name), variable.space, variable.size});
    return Done{};
  }

  // The number of dimensions counts, and all sizes but the first, which may be open.
  static std::uint64_t type_of(const PtxVariable& variable) {
    std::uint64_t type = mix_ptx_hash(hash_of_ptx_type(variable.type), variable.lanes);
    type = mix_ptx_hash(type, variable.sizes.size());
    for (std::size_t i = 1; i < variable.sizes.size(); ++i) type = mix_ptx_hash(type, variable.sizes[i]);
    return type;
  }

  // What the module lacks, and a link has to add: functions of the driver apart.
  void add_missing(ImageKernels& code) {
    for (const PtxNames::Missing& each : names_.missing(text_)) {
      if (each.function && add_call(code.newest_call, each.name)) continue;
      if (!code.relocatable || (each.function && code.lacks_variables_alone)) code.unresolved = each.name;
      code.lacks_variables_alone = !each.function && (!code.relocatable || code.lacks_variables_alone);
      code.relocatable = true;
      add_wanted(code.names, each.name, each.surely);
    }
  }

  void skip_parentheses() {
    for (std::size_t depth = 1; depth != 0;) {
      const std::string_view token = lexer_.next();
      if (token.empty()) return;
      if (token == "(") ++depth;
      if (token == ")") --depth;
    }
  }

  // `.func (.param .b32 result) name (…)`: the first word outside of parentheses that is no attribute.
  Result<std::string_view> name_of_function(PtxParameters& parameters) {
    bool any = false;
    std::string_view token = lexer_.next();
    for (; !token.empty() && (token[0] == '.' || token == "("); token = lexer_.next()) {
      if (token == "(") {
        if (std::exchange(any, true)) return found(token);
        ARCHGUARD_CHECK(parameters.add(lexer_, true));
        continue;
      }
      ARCHGUARD_CHECK(check_ptx_directive(token, PtxPlace::function, level()));
      if (token == ".attribute") ARCHGUARD_CHECK(check_attributes());
    }
    return token;
  }

  // Behind `.attribute`.
  Status check_attributes() {
    const std::string_view first = lexer_.next();
    if (first != "(") return first.empty() ? Status(Done{}) : found(first);
    PtxAttributes attributes;
    ARCHGUARD_CHECK(check_ptx_attributes(lexer_, PtxPlace::function_attribute, level(), attributes));
    unified_ |= attributes.unified;
    return Done{};
  }

  std::string_view text_;
  Version isa_;
  PtxLexer lexer_;
  PtxTarget target_;
  PtxCalls calls_;
  std::optional<PtxLimits> limits_;
  PtxHeadOrder head_;
  std::uint64_t constants_ = 0;  // bytes of them, without what aligning takes
  std::size_t strings_ = 0;      // that were skipped where they may stand
  bool in_statement_ = false, ends_with_semicolon_ = false, stray_ = false, sections_ = false, sized_ = false,
       unified_ = false;
  std::string_view linking_;  // of the statement: `.extern`, `.visible`, …
  PtxNames names_;
  PtxFiles files_;
};

// In bodies too. In comments and strings they may stand.
Status check_vertical_tabs(std::string_view text) {
  if (text.find('\v') == std::string_view::npos) return Done{};
  PtxLexer lexer(text);
  for (auto token = lexer.next(); !token.empty(); token = lexer.next())
    if (token == "\v")
      return Error{
          {}, "PTX has a vertical tab at " + hex(lexer.position() - 1) + ", which no compiler takes", {}};
  return Done{};
}

}  // namespace

Result<ImageKernels> read_ptx(ByteView bytes) {
  // Compressed PTX ends in a NUL, raw PTX is padded with them.
  std::string_view text = bytes.text();
  const std::size_t end = std::min(text.find('\0'), text.size());
  if (const std::size_t more = text.find_first_not_of('\0', end); more != std::string_view::npos)
    return Error{
        {}, "PTX must hold nothing behind a NUL, found one at " + hex(end) + " and text at " + hex(more), {}};
  text = text.substr(0, end);
  ARCHGUARD_CHECK(check_ptx_ascii(text));
  ARCHGUARD_CHECK(check_vertical_tabs(text));
  const std::string_view module = skip_ptx_blanks(text);
  const std::string_view above = text.substr(0, text.size() - module.size());
  const auto version = parse_version(read_ptx_head(module).version);
  if (!starts_with(module, ".version")) return Error{{}, "PTX begins without `.version`", {}};
  if (!version) return Error{{}, "PTX must begin with `.version X.Y`, in one line and without a comment", {}};
  if (has_line_marker(above))
    return Error{
        {},
        "PTX begins with a line of a preprocessor, '# 1 \"…\"', which drivers from CUDA 12.3 on may refuse",
        "remove that line, or preprocess with -P"};
  ImageKernels code;
  code.toolkit = find_toolkit_release(above);
  code.ptx_isa = version;
  code.by_gcc = above.find(kGccMark) != std::string_view::npos;
  ARCHGUARD_CHECK(PtxReader(text, *version).read(code));
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(code.kernels.begin(), code.kernels.end(), by_name);
  std::sort(code.variables.begin(), code.variables.end(), by_name);
  return code;
}

}  // namespace archguard
