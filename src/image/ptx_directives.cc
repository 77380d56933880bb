#include "image/ptx_directives.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "base/text.h"

namespace archguard {
namespace {

constexpr int kStatement = int(PtxPlace::statement), kLinked = int(PtxPlace::linked),
              kPtxFunction = int(PtxPlace::function), kVariable = int(PtxPlace::variable),
              kVariableAttribute = int(PtxPlace::variable_attribute),
              kFunctionAttribute = int(PtxPlace::function_attribute), kPtxKernel = int(PtxPlace::kernel);
constexpr int kSpace = kStatement | kLinked | kVariable, kAnyFunction = kPtxFunction | kPtxKernel;

struct Directive {
  std::string_view name;
  int places;
  Version first;
  int target = 0;         // the first that has it; 0: each that was measured
  Version last = {0, 0};  // 0.0: still there
};

// PTX ISA, "Directives" and "Release Notes". Places, releases and targets as ptxas 11.7 to 13.5 have them: it
// names the ISA and the target that a directive requires (of sm_35 and newer; `.managed` by the PTX ISA).
// `.version` and `.target` stand in the head of each module and are none of these. The last four are in no
// documentation.
constexpr Directive kDirectives[] = {
    {".address_size", kStatement, {2, 3}},
    {".entry", kStatement | kLinked, {1, 0}},
    {".func", kStatement | kLinked, {1, 0}},
    {".visible", kStatement, {1, 0}},
    {".extern", kStatement, {1, 0}},
    {".weak", kStatement, {3, 1}},
    {".common", kStatement, {5, 0}},
    {".alias", kStatement, {6, 3}},
    {".file", kStatement, {1, 0}},
    {".section", kStatement, {2, 0}},
    {".pragma", kStatement | kAnyFunction, {2, 0}},

    {".global", kSpace, {1, 0}},
    {".const", kSpace, {1, 0}},
    {".shared", kSpace, {1, 0}},
    {".local", kSpace, {1, 0}, 0, {2, 3}},
    {".reg", kSpace, {1, 0}, 0, {2, 3}},
    {".tex", kSpace, {1, 0}, 0, {1, 4}},
    {".align", kSpace, {1, 0}},
    {".attribute", kSpace | kAnyFunction, {4, 0}},
    {".managed", kVariableAttribute, {4, 0}, 30},
    {".unified", kVariableAttribute | kFunctionAttribute, {8, 0}, 90},

    {".v2", kVariable, {1, 0}},
    {".v4", kVariable, {1, 0}},
    {".b8", kVariable, {1, 0}},
    {".b16", kVariable, {1, 0}},
    {".b32", kVariable, {1, 0}},
    {".b64", kVariable, {1, 0}},
    {".b128", kVariable, {8, 3}, 70},
    {".u8", kVariable, {1, 0}},
    {".u16", kVariable, {1, 0}},
    {".u32", kVariable, {1, 0}},
    {".u64", kVariable, {1, 0}},
    {".s8", kVariable, {1, 0}},
    {".s16", kVariable, {1, 0}},
    {".s32", kVariable, {1, 0}},
    {".s64", kVariable, {1, 0}},
    {".f16", kVariable, {1, 0}},
    {".f16x2", kVariable, {1, 0}, 53},
    {".f32", kVariable, {1, 0}},
    {".f64", kVariable, {1, 0}},
    {".pred", kVariable, {1, 0}, 0, {2, 3}},
    {".texref", kVariable, {1, 5}},
    {".samplerref", kVariable, {1, 5}},
    {".surfref", kVariable, {1, 5}},

    {".maxnreg", kPtxKernel, {1, 3}},
    {".maxntid", kPtxKernel, {1, 3}},
    {".maxnctapersm", kPtxKernel, {1, 3}, 0, {2, 0}},
    {".minnctapersm", kPtxKernel, {2, 0}},
    {".reqntid", kPtxKernel, {2, 1}},
    {".noreturn", kPtxFunction, {6, 4}},
    {".reqnctapercluster", kPtxKernel, {7, 8}, 90},
    {".explicitcluster", kPtxKernel, {7, 8}, 90},
    {".maxclusterrank", kPtxKernel, {7, 8}, 90},
    {".blocksareclusters", kPtxKernel, {9, 0}, 90},
    {".abi_preserve", kPtxFunction, {9, 0}, 80},
    {".abi_preserve_control", kPtxFunction, {9, 0}, 80},
    {".language", kAnyFunction, {9, 2}},
    {".local_maxnreg", kAnyFunction, {8, 8}},
    {".minperctamemory", kAnyFunction, {9, 4}},
    {".nv_intermediate_source_section", kStatement, {9, 4}},
};

// Those of a module's head, and of parameters.
constexpr std::string_view kOtherDirectives[] = {".version", ".target", ".param", ".ptr", ".loc"};

// As many bytes of a word of the same length are others, at most.
bool is_damaged(std::string_view word, std::string_view directive) {
  if (word.size() != directive.size()) return false;
  std::size_t others = 0;
  for (std::size_t i = 0; i < word.size(); ++i) others += word[i] != directive[i] ? 1 : 0;
  return others <= (word.size() <= 4 ? 1 : 2);
}

}  // namespace

PtxWord look_up_ptx_directive(std::string_view word) {
  PtxWord found = PtxWord::other;
  const auto compare = [&](std::string_view directive) {
    if (word == directive)
      found = PtxWord::directive;
    else if (found != PtxWord::directive && starts_with(directive, word))
      found = PtxWord::beginning;
    else if (found == PtxWord::other && directive.size() > 3 && is_damaged(word, directive))
      found = PtxWord::damaged;
  };
  for (const Directive& each : kDirectives) compare(each.name);
  for (const std::string_view each : kOtherDirectives) compare(each);
  return found;
}

Error no_samplers() {
  return Error{{}, "PTX has a `.samplerref` without `.target texmode_independent`", {}};
}

std::optional<std::uint64_t> parse_ptx_integer(std::string_view number) {
  if (ends_with(number, "U")) number.remove_suffix(1);
  int base = 10;
  if (number.size() > 1 && number[0] == '0') {
    const char kind = number[1];
    base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : 8;
    number.remove_prefix(base == 8 ? 1 : 2);
  }
  std::uint64_t value = 0;
  const char* const end = number.data() + number.size();
  const auto [read, fault] = std::from_chars(number.data(), end, value, base);
  if (fault != std::errc() || read != end) return std::nullopt;
  return value;
}

bool is_ptx_zero(std::string_view number) {
  return parse_ptx_integer(number) == 0;
}

Status check_ptx_directive(std::string_view directive, PtxPlace place, PtxLevel level) {
  const Version isa = level.isa;
  const std::string name(directive.substr(0, 40));
  bool elsewhere = false;
  for (const Directive& each : kDirectives) {
    if (each.name != directive) continue;
    elsewhere = (each.places & int(place)) == 0;
    if (elsewhere) break;
    if (isa < each.first)
      return Error{{},
                   "PTX ISA " + to_string(isa) + " has no `" + name + "`, which came with ISA " +
                       to_string(each.first),
                   {}};
    if (each.last != Version{0, 0} && each.last < isa)
      return Error{{},
                   "PTX ISA " + to_string(isa) + " has no `" + name + "`, which ISA " + to_string(each.last) +
                       " had last",
                   {}};
    if (level.target != 0 && level.target < each.target)
      return Error{{},
                   "PTX for sm_" + std::to_string(level.target) + " has `" + name + "`, which takes sm_" +
                       std::to_string(each.target) + " or newer",
                   {}};
    return Done{};
  }
  return Error{{},
               elsewhere ? "PTX has `" + name + "` in a place where no compiler takes it"
                         : "PTX has `" + name + "`, a directive that ArchGuard does not know",
               {}};
}

bool begins_ptx_statement(std::string_view directive) {
  return std::any_of(std::begin(kDirectives), std::end(kDirectives), [&](const Directive& each) {
    return each.name == directive && (each.places & (kStatement | kPtxFunction)) == kStatement;
  });
}

Status check_ptx_attributes(PtxLexer& lexer, PtxPlace place, PtxLevel level, PtxAttributes& attributes) {
  std::size_t depth = 1, words = 0;
  for (; depth != 0; ++words) {
    const std::string_view word = lexer.next();
    if (word.empty()) return ptx_ends_inside("an `.attribute`");
    const bool is_attribute = word[0] == '.' || word == "," || word == "(" || (word == ")" && words != 0);
    if (depth == 1 && !is_attribute)
      return Error{
          {},
          "PTX has an `.attribute` that no compiler takes, at '" + std::string(word.substr(0, 40)) + "'",
          {}};
    if (word == "(") ++depth;
    if (word == ")") --depth;
    if (word[0] == '.') ARCHGUARD_CHECK(check_ptx_directive(word, place, level));
    attributes.managed |= word == ".managed";
    attributes.unified |= word == ".unified";
  }
  return Done{};
}

namespace {

// How many numbers stand behind a directive of a kernel or function; nothing where that is not known.
std::optional<std::size_t> numbers_behind(std::string_view directive) {
  if (directive == ".maxntid" || directive == ".reqntid" || directive == ".reqnctapercluster") return 3;
  for (const std::string_view one : {".maxnreg", ".minnctapersm", ".maxnctapersm", ".maxclusterrank",
                                     ".abi_preserve", ".abi_preserve_control"})
    if (directive == one) return 1;
  for (const std::string_view none : {".noreturn", ".explicitcluster", ".blocksareclusters", ".pragma"})
    if (directive == none) return 0;
  return std::nullopt;
}

Error wrong_value(std::string_view directive, std::string_view found) {
  return Error{{},
               "PTX has `" + std::string(directive.substr(0, 40)) +
                   "` with what no compiler takes behind it" +
                   (found.empty() ? "" : ", '" + std::string(found.substr(0, 40)) + "'"),
               {}};
}

}  // namespace

// `32`, or `32, 1, 1`
Status PtxFunctionHead::add_number(std::string_view token) {
  if (directive_.empty())
    return Error{
        {}, "PTX must have a body or directives there, found '" + std::string(token.substr(0, 40)) + "'", {}};
  const auto most = numbers_behind(directive_);
  if (!most) return Done{};
  const bool is_comma = token == ",";
  const auto number = parse_ptx_integer(token);
  const bool fits = words_ < 2 * *most && is_comma == (words_ % 2 != 0);
  if (!fits || words_ + 1 > 2 * *most - 1 || (!is_comma && (!number || *number > UINT32_MAX)))
    return wrong_value(directive_, token);
  ++words_;
  const bool positive = directive_ == ".maxntid" || directive_ == ".reqntid" || directive_ == ".maxnreg" ||
                        directive_ == ".minnctapersm";
  if (positive && !is_comma && number == 0)
    return Error{{}, "PTX has `" + std::string(directive_) + "` of 0", {}};
  return Done{};
}

Status PtxFunctionHead::finish(bool body) const {
  if (of_kernel_ && !body && !directive_.empty())
    return Error{{}, "PTX has `" + std::string(directive_) + "` of a kernel without a body", {}};
  if (blocks_are_clusters_ && !(exactly_ && cluster_))
    return Error{{}, "PTX has `.blocksareclusters` without `.reqntid` and `.reqnctapercluster`", {}};
  return end_directive();
}

Status PtxFunctionHead::end_directive() const {
  const auto most = directive_.empty() ? std::nullopt : numbers_behind(directive_);
  if (most && *most != 0 && words_ % 2 == 0) return wrong_value(directive_, {});
  return Done{};
}

Status PtxFunctionHead::add(std::string_view token) {
  if (token[0] != '.') return add_number(token);
  ARCHGUARD_CHECK(end_directive());
  words_ = 0;
  never_returns_ |= token == ".noreturn";
  directive_ = token;
  most_ = most_ || token == ".maxntid";
  exactly_ = exactly_ || token == ".reqntid";
  cluster_ = cluster_ || token == ".reqnctapercluster";
  blocks_are_clusters_ = blocks_are_clusters_ || token == ".blocksareclusters";
  cluster_most_ = cluster_most_ || token == ".maxclusterrank";
  if (most_ && exactly_) return Error{{}, "PTX has `.maxntid` and `.reqntid` for one kernel", {}};
  if (cluster_ && cluster_most_)
    return Error{{}, "PTX has `.reqnctapercluster` and `.maxclusterrank` for one kernel", {}};
  return Done{};
}

Status check_ptx_alignment(std::string_view number) {
  const auto bytes = parse_ptx_integer(number);
  if (!bytes || *bytes == 0 || (*bytes & (*bytes - 1)) != 0)
    return Error{{}, "PTX has an `.align` of " + std::string(number.substr(0, 40)) + ", no power of two", {}};
  return Done{};
}

}  // namespace archguard
