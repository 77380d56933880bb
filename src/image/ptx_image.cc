#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "image/builtin_functions.h"
#include "image/cubin.h"
#include "image/image.h"
#include "image/ptx_ascii.h"
#include "image/ptx_body.h"
#include "image/ptx_directives.h"
#include "image/ptx_lexer.h"
#include "image/ptx_limits.h"
#include "image/ptx_name.h"
#include "image/ptx_parameters.h"
#include "image/ptx_pragma.h"
#include "image/ptx_target.h"
#include "image/ptx_text.h"
#include "image/ptx_variables.h"
#include "image/symbol_name.h"

namespace archguard {
namespace {

// No limits of PTX: what keeps a hostile text from costing memory.
constexpr std::size_t kKernelsMost = std::size_t{1} << 20, kVariablesMost = kKernelsMost,
                      kFilesMost = kKernelsMost;

// In front of `.version`, of GCC's back end for PTX: since GCC 5 (gcc/config/nvptx/nvptx.cc).
constexpr std::string_view kGccMark = "// BEGIN PREAMBLE";

// Reads what stands outside of bodies: kernels, `.entry name(…) … { … }`, variables, and what a link has to
// add. PTX that nvcc makes for linking (-rdc=true) declares the functions and variables of other files
// `.extern`; the driver compiles a module alone and refuses such a variable, a function that is used, and
// one, or a kernel, that is declared without `.extern` and has no body. `.extern .shared` is shared memory
// whose size the launch gives. What no compiler takes, or this reader does not know, is refused.
class PtxReader {
 public:
  PtxReader(std::string_view text, Version isa) : text_(text), isa_(isa), lexer_(text), target_(isa) {}

  Status read(ImageKernels& code) {
    std::string_view before;
    for (std::string_view token = lexer_.next(); !token.empty(); before = token, token = lexer_.next()) {
      if (!in_statement_) {
        before = {};
        ARCHGUARD_CHECK(begin_statement(token));
      }
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
    if (target_.is_debug() && !sections_ && Version{2, 0} <= isa_)
      return Error{{}, "PTX has `.target debug` and no debug information", {}};
    check_constants(code);
    for (const std::string_view name : declared_)
      if (defined_.count(name) == 0) want(name, code);
    add_used_functions(code);
    code.relocatable = !externs_.empty();
    if (code.relocatable) code.unresolved = *externs_.begin();
    for (const std::string_view name : externs_) add_wanted(code.names, name);
    return Done{};
  }

 private:
  enum class Stage { version, target, size, body };  // what may come next: each once, `.target` several times

  Error found(std::string_view token) const {
    return Error{{},
                 "PTX must hold statements alone, found '" + std::string(token.substr(0, 40)) + "' at " +
                     hex(static_cast<std::size_t>(token.data() - text_.data())),
                 {}};
  }

  Status begin_statement(std::string_view token) {
    linking_ = {};
    if (token[0] == '.') {
      in_statement_ = true;
      const bool head = token == ".version" || token == ".target" || token == ".address_size";
      if (head) ARCHGUARD_CHECK(begin_head(token));
      if (head && token != ".address_size") return Done{};
      if (!head) stage_ = Stage::body;
      return check_ptx_directive(token, PtxPlace::statement, level());
    }
    // `@@DWARF`, of old compilers
    if (token != "@" || isa_ >= Version{2, 0} || lexer_.next() != "@" || lexer_.next() != "DWARF")
      return found(token);
    lexer_.skip_line();
    return Done{};
  }

  Status begin_head(std::string_view token) {
    if (token == ".version" && stage_ != Stage::version)
      return Error{{}, "PTX must be one module, found another `.version` at " + hex(lexer_.position()), {}};
    const bool in_place = token == ".target" ? stage_ == Stage::target || stage_ == Stage::size
                                             : token == ".version" || stage_ == Stage::size;
    if (!in_place)
      return Error{{},
                   "PTX must have `" + std::string(token) + "` in its head alone, found another at " +
                       hex(lexer_.position()),
                   {}};
    stage_ = token == ".version" ? Stage::target : token == ".target" ? Stage::size : Stage::body;
    return Done{};
  }

  Status read_directive(std::string_view token, std::string_view before, ImageKernels& code) {
    if (!before.empty())
      ARCHGUARD_CHECK(
          check_ptx_directive(token, is_linking(before) ? PtxPlace::linked : PtxPlace::variable, level()));
    if (before == ".common" && token != ".global" && token != ".align" && token != ".attribute")
      return Error{{}, "PTX has `.common` before what is no `.global` variable", {}};
    if (is_linking(token)) linking_ = token;
    if (token == ".version") return take_word();
    if (token == ".entry") return add_kernel(code);
    if (token == ".target") return add_target(code);
    if (token == ".func") return add_function(code);
    if (is_space(token)) return add_variables(token, code);
    if (token == ".address_size") return add_address_size(code);
    if (token == ".file") return add_file();
    if (token == ".pragma") return read_ptx_pragma(lexer_, PtxPlace::statement);
    if (token == ".section") {
      sections_ = true;
      lexer_.next();
    } else if (token == ".alias") {  // `.alias other, function;`
      const std::string_view name = lexer_.next();
      if (!name.empty()) ARCHGUARD_CHECK(check_ptx_name(name));
      defined_.insert(name);
    }
    return Done{};
  }

  Status take_word() {
    lexer_.next();
    in_statement_ = false;
    return Done{};
  }

  Status add_address_size(ImageKernels& code) {
    in_statement_ = false;
    const std::string_view size = lexer_.next();
    code.is32 = size == "32";
    if (size == "32" || size == "64") return Done{};
    return Error{{}, "PTX must have an `.address_size` of 32 or 64, found '" + std::string(size) + "'", {}};
  }

  Status add_target(ImageKernels& code) {
    in_statement_ = false;
    ARCHGUARD_CHECK(target_.read(lexer_));
    code.archs.clear();
    if (target_.arch()) code.archs.push_back(*target_.arch());
    return Done{};
  }

  // `.file 1 "k.cu", 1700000000, 42`: ends without a mark.
  Status add_file() {
    const std::string_view word = lexer_.next();
    if (word.empty()) return Done{};  // the text ends
    const auto number = parse_number(word, UINT32_MAX);
    if (!number) return found(word);
    if (!files_.insert(*number).second)
      return Error{{}, "PTX has `.file " + std::to_string(*number) + "` twice", {}};
    if (files_.size() == kFilesMost)
      return Error{{}, "PTX has more than " + std::to_string(kFilesMost) + " files", {}};
    for (PtxLexer ahead = lexer_; ahead.next() == ","; ahead = lexer_) {
      lexer_ = ahead;
      lexer_.next();
    }
    in_statement_ = false;
    return Done{};
  }

  // Moves behind the head of a kernel or function, its body included, and tells where the body stands;
  // nothing where it is only declared.
  Result<std::optional<std::string_view>> read_body(std::string_view kind, std::string_view name) {
    const auto cut = [&] {
      return Error{{}, "PTX ends inside the " + std::string(kind) + " '" + std::string(name) + "'", {}};
    };
    in_statement_ = false;
    const PtxPlace place = kind == "kernel" ? PtxPlace::kernel : PtxPlace::function;
    PtxFunctionHead head;
    std::string_view token = next_outside();
    for (; token != "{" && token != ";"; token = next_outside()) {
      if (token.empty()) return cut();
      if (token[0] == '.') ARCHGUARD_CHECK(check_ptx_directive(token, place, level()));
      ARCHGUARD_CHECK(head.add(token));
      if (token != ".pragma") continue;
      ARCHGUARD_CHECK(read_ptx_pragma(lexer_, place));
      // `.entry k() .pragma "nounroll"; { … }`; a function ends there.
      if (place == PtxPlace::kernel && lexer_.next().empty()) return cut();
    }
    if (token == ";") return std::optional<std::string_view>();
    const std::size_t begin = lexer_.position();
    if (!lexer_.skip_block()) return cut();
    return std::optional(text_.substr(begin, lexer_.position() - 1 - begin));
  }

  // Declared, `.func name (…);`, or with a body.
  Status add_function(ImageKernels& code) {
    const bool external = linking_ == ".extern";
    PtxParameters parameters(false, level());
    ARCHGUARD_TRY(name, name_of_function(parameters));
    if (name.empty() && external) return Error{{}, "PTX ends inside an `.extern` declaration", {}};
    if (!name.empty()) ARCHGUARD_CHECK(check_ptx_name(name));
    ARCHGUARD_CHECK(read_parameters(parameters));
    ARCHGUARD_TRY(body, read_body("function", name));
    if (external) {
      ++extern_functions_[name];
    } else if (body) {
      ARCHGUARD_CHECK(parameters.check_definition());
      check_limits(*body, {}, code);
      ARCHGUARD_CHECK(define(name));
      defined_.insert(name);
      if (is_visible(linking_)) add_defined(code.names, name);
    } else {
      declared_.insert(name);
    }
    return Done{};
  }

  PtxLevel level() const { return target_.level(); }

  // Variables, functions and kernels share one list of names. Kernels of one name are told at the end.
  Status define(std::string_view name, bool kernel = false) {
    if (names_.size() == kVariablesMost)
      return Error{{}, "PTX has more than " + std::to_string(kVariablesMost) + " names", {}};
    const auto [known, is_new] = names_.emplace(name, kernel);
    if (is_new || (known->second && kernel)) return Done{};
    return Error{{}, "PTX defines '" + std::string(name) + "' twice", {}};
  }

  static bool is_space(std::string_view word) {
    return word == ".global" || word == ".const" || word == ".shared";
  }

  static bool is_visible(std::string_view linking) {
    return linking == ".visible" || linking == ".weak" || linking == ".common";
  }

  static bool is_linking(std::string_view word) { return is_visible(word) || word == ".extern"; }

  void check_limits(std::string_view body, std::string_view kernel, ImageKernels& code) {
    if (!limits_ && target_.arch()) limits_.emplace(*target_.arch(), isa_);  // bodies end the head
    if (!limits_ || (code.refused && !code.refused->taken_from)) return;
    if (auto refusal = limits_->check(body, kernel)) code.refused = std::move(refusal);
  }

  void check_constants(ImageKernels& code) const {
    if (constants_ <= kConstantsMost || (code.refused && !code.refused->taken_from)) return;
    code.refused =
        PtxRefusal{"its PTX has " + std::to_string(constants_) + " bytes of constants (__constant__), and " +
                       std::to_string(kConstantsMost) + " are the most",
                   "keep what is more than 64 KB of them in global memory (__device__)",
                   {}};
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
    ARCHGUARD_TRY(body, read_body("kernel", name));
    if (!body) {
      if (linking_ != ".extern") declared_.insert(name);
      return Done{};
    }
    ARCHGUARD_CHECK(parameters.check_definition());
    if (kernels.size() == kKernelsMost)
      return Error{{}, "PTX has more than " + std::to_string(kKernelsMost) + " kernels", {}};
    ARCHGUARD_CHECK(define(name, true));
    defined_.insert(name);
    code.parameters = std::max(code.parameters, parameters.bytes());
    check_limits(*body, name, code);
    kernels.push_back({std::string(name), state_of_ptx_body(*body), 0, lexer_.position() - begin});
    return Done{};
  }

  Status add_variables(std::string_view space, ImageKernels& code) {
    const bool external = linking_ == ".extern";
    PtxVariables declared(lexer_, space, level(), external);
    while (const auto variable = declared.next())
      if (external)
        declare(*variable, space);
      else
        ARCHGUARD_CHECK(add_variable(*variable, space, code));
    in_statement_ = false;
    if (declared.error()) return *declared.error();
    return Done{};
  }

  // Textures and their like are no matter of linking, and shared memory is what the launch gives.
  void declare(const PtxVariable& variable, std::string_view space) {
    if (space == ".shared" || variable.space == VariableSpace::reference) return;
    if (names_.count(variable.name) == 0) externs_.insert(variable.name);
  }

  Status add_variable(const PtxVariable& variable, std::string_view space, ImageKernels& code) {
    ARCHGUARD_CHECK(define(variable.name));
    if (space == ".shared") return Done{};
    if (variable.space == VariableSpace::constant)
      constants_ += std::min(variable.size, UINT64_MAX - constants_);
    externs_.erase(variable.name);
    if (is_visible(linking_) && variable.space != VariableSpace::reference)
      add_defined(code.names, variable.name);
    if (variable.sampler || !host_can_name(variable.name)) return Done{};
    if (code.variables.size() == kVariablesMost)
      return Error{{}, "PTX has more than " + std::to_string(kVariablesMost) + " variables", {}};
    code.variables.push_back({std::string(variable.name), variable.space, variable.size});
    return Done{};
  }

  // Of what is declared `.extern`, ptxas and nvJitLink ask only for the functions that something names.
  void add_used_functions(ImageKernels& code) {
    if (extern_functions_.empty()) return;
    PtxLexer lexer(text_);
    auto unseen = extern_functions_;  // how often each stands in its declarations
    for (auto token = lexer.next(); !token.empty(); token = lexer.next())
      if (const auto found = unseen.find(token); found != unseen.end() && found->second-- == 0) {
        want(found->first, code);
        unseen.erase(found);
      }
  }

  // A function that the module lacks.
  void want(std::string_view name, ImageKernels& code) {
    const auto since = builtin_function_since(name);
    if (!since) {
      externs_.insert(name);
      return;
    }
    const bool refused = code.refused && (!code.refused->taken_from || !(*code.refused->taken_from < *since));
    if (*since == Version{} || refused) return;
    code.refused = PtxRefusal{"its PTX calls " + std::string(name) +
                                  ", which drivers bring along from CUDA " + to_string(*since) + " on",
                              "update the driver to one that offers CUDA " + to_string(*since), *since};
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
  Result<std::string_view> name_of_function(PtxParameters& parameters) {
    std::string_view token = lexer_.next();
    for (; !token.empty() && (token[0] == '.' || token == "("); token = lexer_.next()) {
      if (token == "(") {
        ARCHGUARD_CHECK(parameters.add(lexer_));
        continue;
      }
      ARCHGUARD_CHECK(check_ptx_directive(token, PtxPlace::function, level()));
      if (token == ".attribute") ARCHGUARD_CHECK(check_attributes(PtxPlace::function_attribute));
    }
    return token;
  }

  // Behind `.attribute`.
  Status check_attributes(PtxPlace place) {
    bool managed = false;
    PtxLexer ahead = lexer_;
    if (ahead.next() != "(") return Done{};
    lexer_ = ahead;
    return check_ptx_attributes(lexer_, place, level(), managed);
  }

  std::string_view text_;
  Version isa_;
  PtxLexer lexer_;
  PtxTarget target_;
  std::optional<PtxLimits> limits_;
  Stage stage_ = Stage::version;
  std::uint64_t constants_ = 0;  // bytes of them, without what aligning takes
  bool in_statement_ = false, sections_ = false;
  std::string_view linking_;                                  // of the statement: `.extern`, `.visible`, …
  std::map<std::string_view, bool> names_;                    // what is defined; is it a kernel?
  std::set<std::string_view> externs_;                        // not defined so far
  std::set<std::string_view> declared_, defined_;             // functions and kernels
  std::map<std::string_view, std::size_t> extern_functions_;  // how often each is declared
  std::set<std::uint64_t> files_;
};

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
  const auto twice = std::adjacent_find(code.kernels.begin(), code.kernels.end(),
                                        [](const Kernel& a, const Kernel& b) { return a.name == b.name; });
  if (twice != code.kernels.end()) return Error{{}, "PTX defines the kernel '" + twice->name + "' twice", {}};
  return code;
}

}  // namespace archguard
