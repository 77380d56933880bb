#include "image/ptx_directives.h"

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

bool is_ptx_zero(std::string_view number) {
  return !number.empty() && number[0] == '0' && number.find_first_not_of("0xXbBU") == std::string_view::npos;
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

Status check_ptx_attributes(PtxLexer& lexer, PtxPlace place, PtxLevel level, bool& managed) {
  std::size_t depth = 1;
  while (depth != 0) {
    const std::string_view word = lexer.next();
    if (word.empty()) return Error{{}, "PTX ends inside an `.attribute`", {}};
    if (word == "(") ++depth;
    if (word == ")") --depth;
    if (word[0] == '.') ARCHGUARD_CHECK(check_ptx_directive(word, place, level));
    managed = managed || word == ".managed";
  }
  return Done{};
}

Status PtxFunctionHead::add(std::string_view token) {
  if (token[0] != '.') {
    const bool positive = directive_ == ".maxntid" || directive_ == ".reqntid" || directive_ == ".maxnreg" ||
                          directive_ == ".minnctapersm";
    if (positive && is_ptx_zero(token))
      return Error{{}, "PTX has `" + std::string(directive_) + "` of 0", {}};
    return Done{};
  }
  directive_ = token;
  most_ = most_ || token == ".maxntid";
  exactly_ = exactly_ || token == ".reqntid";
  cluster_ = cluster_ || token == ".reqnctapercluster";
  cluster_most_ = cluster_most_ || token == ".maxclusterrank";
  if (most_ && exactly_) return Error{{}, "PTX has `.maxntid` and `.reqntid` for one kernel", {}};
  if (cluster_ && cluster_most_)
    return Error{{}, "PTX has `.reqnctapercluster` and `.maxclusterrank` for one kernel", {}};
  return Done{};
}

Status check_ptx_alignment(std::string_view number) {
  if (number.size() > 1 && number[0] == '0') return Done{};  // octal, hexadecimal or binary
  const auto bytes = parse_number(number, UINT64_MAX);
  if (!bytes) return Done{};
  if (*bytes == 0 || (*bytes & (*bytes - 1)) != 0)
    return Error{{}, "PTX has an `.align` of " + std::string(number.substr(0, 40)) + ", no power of two", {}};
  return Done{};
}

}  // namespace archguard
