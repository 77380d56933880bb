#include "image/ptx_limits.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "compat/toolkit.h"
#include "image/ptx_lexer.h"
#include "image/ptx_rules.h"
#include "image/ptx_variables.h"

namespace archguard {

namespace {

bool begins_label(char c) {
  return (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

// What tells the instructions apart that code is full of: its first, second and fourth letter. Below 32^3.
std::size_t letters_of(std::string_view opcode) {
  const auto letter = [&](std::size_t i) {
    return i < opcode.size() ? static_cast<std::size_t>(opcode[i]) % 32 : 0;
  };
  return (letter(0) * 32 + letter(1)) * 32 + letter(3);
}

bool has_instruction(const PtxRule& rule, Arch target) {
  if (target.number < rule.first || (rule.last != 0 && target.number > rule.last)) return false;
  return !rule.specific || target.suffix != Suffix::none;
}

Version ptx_isa_of(int isa) {
  return {isa / 10, isa % 10};
}

// The first release whose nvcc writes that PTX ISA.
Version lowest_toolkit_for(Version isa) {
  for (const Toolkit& toolkit : known_toolkits())
    if (!(toolkit.ptx_isa < isa)) return toolkit.version;
  return newest_known_toolkit().version;
}

// Whose compilers take what is disputed (PtxIsaRule). ptxas and nvJitLink 12.8, 12.9 and 13.0 do, those
// of 12.6 and 13.1 do not.
constexpr CudaRange kTakesDisputed{{12, 8}, {13, 1}};

std::string targets_of(const PtxRule& rule) {
  const std::string first = std::to_string(rule.first);
  if (rule.specific) return "sm_" + first + "a" + (rule.last == rule.first ? "" : " or the like");
  return "sm_" + first + " or newer";
}

bool names_it(std::string_view opcode, std::string_view rule) {
  if (!starts_with(opcode, rule)) return false;
  return opcode.size() == rule.size() || opcode[rule.size()] == '.' || opcode[rule.size()] == ':';
}

bool is_ptx_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// PTX ISA, "shfl (deprecated)" and "vote (deprecated)": from here on not for sm_70 and newer.
constexpr Version kFirstWithSync{6, 4};

// As much of a statement is looked at: one without an end must not cost a search each.
constexpr std::size_t kStatementMost = 512;

// Of a statement, what stands before its operands.
std::string_view opcode_of(std::string_view statement) {
  std::size_t end = 0;
  while (end < statement.size() && !is_ptx_blank(statement[end]) && statement[end] != '/') ++end;
  return statement.substr(0, end);
}

// Is that a load, a store or arithmetic of a type that no rule is about, as most of all code is? Told by few
// of its letters: `ld.shared.`, `st.global.v2`, `add.s32`, `mul.wide`, `fma.rn.f32`.
bool is_common(std::string_view rest) {
  if (rest.size() < 16) return false;
  const auto is_letter = [&](std::size_t at, std::string_view letters) {
    return letters.find(rest[at]) != std::string_view::npos;
  };
  const auto is_type = [&](std::size_t at) {  // of 32 or 64 bits, and the last
    return is_letter(at, "fsu") && is_letter(at + 1, "36") && !is_letter(at + 3, ".x");
  };
  if (rest[2] == '.') {
    if (rest[3] == 's') return rest[4] == 'h' && rest[9] == '.';
    if (rest[3] == 'g') return rest[9] == '.' && (is_type(10) || (rest[10] == 'v' && rest[11] == '2'));
    return is_letter(3, "pc");
  }
  if (rest[3] != '.' || (rest[0] == 'm' && rest[1] != 'u')) return false;
  if (rest[0] == 'm' && is_letter(4, "lwh")) return true;
  return is_type(4) || (rest[4] == 'r' && rest[5] == 'n' && rest[6] == '.' && is_type(7));
}

// The part of the opcode that the rule is about; nothing where there is none.
std::optional<std::string_view> part_of(const PtxRule& rule, std::string_view opcode) {
  for (const PtxRuleWord& part : rule.parts)
    if (!part.empty() && opcode.find(part) != std::string_view::npos) return part;
  return std::nullopt;
}

// The most of all code: what they read ends in a digit, as no special register of kPtxRules does.
bool is_plain_move(std::string_view rest, std::size_t end) {
  return starts_with(rest, "mov.") && rest[end - 1] >= '0' && rest[end - 1] <= '9';
}

// The special register that the statement reads. `%clusterid.x` is one of three in one.
std::optional<std::string_view> register_of(const PtxRule& rule, std::string_view statement) {
  std::size_t at = statement.find(',');
  if (at == std::string_view::npos) return std::nullopt;
  ++at;
  while (at < statement.size() && is_ptx_blank(statement[at])) ++at;
  if (at + 1 >= statement.size() || statement[at] != '%' ||
      std::string_view("acin").find(statement[at + 1]) == std::string_view::npos)
    return std::nullopt;
  for (const PtxRuleWord& part : rule.parts)
    if (!part.empty() && names_it(opcode_of(statement.substr(at)), part)) return part;
  return std::nullopt;
}

// A comment may hold commas.
bool has_three(std::string_view opcode, std::string_view statement) {
  return opcode.size() > 4 && opcode.substr(opcode.size() - 4) == ".f32" &&
         std::count(statement.begin(), statement.end(), ',') == 3 &&
         statement.find('/') == std::string_view::npos;
}

// What a message calls it where the rule is about the statement, which begins with the opcode; else nothing.
std::optional<std::string_view> named_by(const PtxRule& rule, std::string_view opcode,
                                         std::string_view statement) {
  constexpr std::size_t kMostNamed = 64;
  if (opcode[0] != rule.opcode[0] || !names_it(opcode, rule.opcode)) return std::nullopt;
  if (rule.form == PtxForm::reads) return register_of(rule, statement);
  if (rule.form == PtxForm::alone && statement.find(".sync") != std::string_view::npos) return std::nullopt;
  if (rule.form == PtxForm::three)
    return has_three(opcode, statement) ? std::optional(opcode.substr(0, kMostNamed)) : std::nullopt;
  if (rule.parts[0].empty()) return rule.opcode;
  return part_of(rule, opcode) ? std::optional(opcode.substr(0, kMostNamed)) : std::nullopt;
}

// How a message begins that says what of it the target lacks.
std::string held_as(const PtxRule& rule, const std::string& name) {
  if (rule.form == PtxForm::reads) return "reads the register '" + name + "'";
  return "holds the instruction '" + name + "'" + (rule.form == PtxForm::three ? " with three sources" : "");
}

// Of a body, from one of its words on.
std::string_view statement_from(std::string_view body, std::string_view word) {
  const std::string_view rest =
      body.substr(static_cast<std::size_t>(word.data() - body.data()), kStatementMost);
  return rest.substr(0, rest.find(';'));
}

bool declares_memory(std::string_view rest) {
  return starts_with(rest, ".shared") || starts_with(rest, ".const");
}

bool declares_special_register(std::string_view statement) {
  return statement.find("cluster") != std::string_view::npos ||
         statement.find("aggr_smem_size") != std::string_view::npos;
}

}  // namespace

PtxLimits::PtxLimits(Arch target, Version isa) : target_(target), isa_(isa) {
  if (newest_known_toolkit().ptx_isa < isa) return;  // which may have more of them on this target
  for (const PtxRule& rule : kPtxRules) {
    if (has_instruction(rule, target) || (rule.form == PtxForm::alone && isa < kFirstWithSync)) continue;
    add({&rule, {}});
  }
  for (const PtxIsaRule& each : kPtxIsaRules) {
    const Version since = ptx_isa_of(each.isa);
    const bool for_target = each.what.last == 0 || target.number <= each.what.last;
    if (for_target && isa < since) add({&each.what, since, each.disputed});
  }
  std::stable_sort(absent_.begin(), absent_.end(),
                   [](const Absent& a, const Absent& b) { return a.rule->opcode[0] < b.rule->opcode[0]; });
  for (std::size_t i = absent_.size(); i-- != 0;) first_with_[absent_[i].rule->opcode[0] - 'a'] = i;
}

void PtxLimits::add(const Absent& absent) {
  absent_.push_back(absent);
  const std::string_view opcode = absent.rule->opcode;
  const std::size_t letters = letters_of(std::string(opcode) + ".");
  absent_letters_[letters] = true;
  for (std::size_t fourth = 0; fourth < 32 && opcode.size() == 2; ++fourth)  // `ld.`, and any part
    absent_letters_[letters + fourth] = true;
}

// Most bodies hold nothing of the kind, and all of a file's PTX goes through here: so each is looked through
// first, by how its statements begin.
bool PtxLimits::may_refuse(std::string_view body, bool kernel) const {
  // The first from `at` on: labels without any behind them must not cost a search each.
  std::size_t semicolon = std::min(body.find(';'), body.size());
  for (std::size_t at = 0; at < body.size();) {
    const std::string_view rest = body.substr(at);
    std::size_t end = std::string_view::npos;
    if (rest[0] >= 'a' && rest[0] <= 'z') {
      if (semicolon < at) semicolon = std::min(body.find(';', at), body.size());
      end = semicolon - at;
      if (absent_letters_[letters_of(rest)] && !is_common(rest) && !is_plain_move(rest, end)) {
        const std::string_view statement = rest.substr(0, std::min(end, kStatementMost));
        if (find_lack(opcode_of(statement), statement).absent.rule != nullptr) return true;
      }
      const std::size_t label = rest.substr(0, end).find(':');  // or `shared::cta`
      if (label != std::string_view::npos && rest.substr(label, 2) != "::") end = label;
    } else if (rest[0] == '.') {
      if (declares_memory(rest)) return true;
      if (starts_with(rest, ".pragma") && find_pragma(statement_from(body, rest), kernel) != nullptr)
        return true;
      end = rest.find(starts_with(rest, ".loc") ? '\n' : ';');
    } else if (rest[0] == '/') {
      if (!starts_with(rest, "//")) return true;
      end = rest.find('\n');
    } else if (rest[0] == '@') {  // `@!%p1`
      const std::size_t predicate = rest.find_first_not_of("@! \t\r\n");
      if (predicate != std::string_view::npos) end = rest.find_first_of(" \t\r\n", predicate);
    } else if (begins_label(rest[0])) {  // a label
      end = rest.find(':');
    } else {
      end = 0;
    }
    if (end == std::string_view::npos) return false;
    at += end + 1;
  }
  return false;
}

std::optional<PtxRefusal> PtxLimits::check(std::string_view body, bool kernel, PtxBodySizes& sizes) const {
  return may_refuse(body, kernel) ? read(body, kernel, sizes) : std::nullopt;
}

const PtxPragmaRule* PtxLimits::find_pragma(std::string_view statement, bool kernel) const {
  if (newest_known_toolkit().ptx_isa < isa_) return nullptr;
  for (const PtxPragmaRule& rule : kPtxPragmaRules) {
    const bool lacks = rule.isa == 0 ? kernel : isa_ < ptx_isa_of(rule.isa);
    if (lacks && statement.find('"' + std::string(rule.name)) != std::string_view::npos) return &rule;
  }
  return nullptr;
}

std::optional<PtxRefusal> PtxLimits::check_pragma(std::string_view statement, bool kernel) const {
  const PtxPragmaRule* rule = find_pragma(statement, kernel);
  if (rule == nullptr) return std::nullopt;
  const std::string name(rule->name), leave_out = "leave the pragma '" + name + "' out";
  if (rule->isa == 0)
    return PtxRefusal{
        "its PTX has the pragma '" + name + "' in the body of a kernel, where no compiler takes it",
        leave_out,
        {}};
  const Version since = ptx_isa_of(rule->isa);
  const Version first = lowest_toolkit_for(since);
  return PtxRefusal{"its PTX is of PTX ISA " + to_string(isa_) + " and has the pragma '" + name +
                        "', which came with " + to_string(since) + ": compilers from CUDA " +
                        to_string(first) + " on refuse it, and older ones ignore it",
                    "compile it with CUDA " + to_string(first) + " or newer, or " + leave_out,
                    {},
                    true,
                    CudaRange{{}, first}};
}

PtxLimits::Lack PtxLimits::find_lack(std::string_view opcode, std::string_view statement) const {
  if (opcode.empty() || opcode[0] < 'a' || opcode[0] > 'z') return {};
  for (std::size_t i = first_with_[opcode[0] - 'a'];
       i < absent_.size() && absent_[i].rule->opcode[0] == opcode[0]; ++i)
    if (const auto name = named_by(*absent_[i].rule, opcode, statement)) return {absent_[i], *name};
  return {};
}

std::optional<PtxRefusal> PtxLimits::check_statement(std::string_view opcode, std::string_view statement,
                                                     bool own_registers) const {
  const Lack lack = find_lack(opcode, statement);
  const PtxRule* rule = lack.absent.rule;
  if (rule == nullptr || (own_registers && rule->form == PtxForm::reads)) return std::nullopt;
  const std::string name(lack.name), target = to_string(target_), first = targets_of(*rule);
  if (lack.absent.isa) {
    PtxRefusal refusal{"its PTX is of PTX ISA " + to_string(isa_) + " and " + held_as(*rule, name) +
                           ", which came with " + to_string(*lack.absent.isa) +
                           (rule->last == 0 ? "" : " for sm_" + target),
                       "compile it with CUDA " + to_string(lowest_toolkit_for(*lack.absent.isa)) +
                           " or newer, or leave '" + name + "' out",
                       {}};
    if (!lack.absent.disputed) return refusal;
    refusal.reason += ": compilers of CUDA 12.8 to 13.0 take it all the same, and others refuse it";
    refusal.in_doubt = true;
    refusal.not_refused = kTakesDisputed;
    return refusal;
  }
  if (rule->form == PtxForm::alone)
    return PtxRefusal{"its PTX is for sm_" + target + " and holds the instruction '" + name +
                          "' without '.sync', which PTX ISA " + to_string(kFirstWithSync) +
                          " and newer have for older targets alone",
                      "call '" + name + ".sync' in it, in CUDA C++ __shfl_sync and the like",
                      {}};
  return PtxRefusal{"its PTX is for sm_" + target + " and " + held_as(*rule, name) + ", which takes " + first,
                    "leave '" + name + "' out for sm_" + target +
                        " (#if on __CUDA_ARCH__) or, for devices that have it, compile this code for " +
                        first,
                    {}};
}

std::optional<PtxRefusal> PtxLimits::read(std::string_view body, bool kernel, PtxBodySizes& sizes) const {
  PtxLexer lexer(body);
  std::optional<PtxRefusal> found;
  bool own_registers = false;  // called as special ones are: a name of its own hides them
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
    if (token == ".shared" || token == ".const") {
      std::uint64_t& bytes = token == ".shared" ? sizes.shared : sizes.constants;
      PtxVariables variables(lexer, token, {isa_, target_.number}, false);
      while (const auto variable = variables.next()) bytes += std::min(variable->size, UINT64_MAX - bytes);
      token = lexer.next();
      continue;
    }
    if (token == ".pragma") take_graver(found, check_pragma(statement_from(body, token), kernel));
    if (is_sure(found)) return found;
    if (token[0] == '.') {
      own_registers |= token == ".reg" && declares_special_register(statement_from(body, token));
      token = lexer.end_of_statement(token);
      continue;
    }
    if (token == "@") {
      if (lexer.next() == "!") lexer.next();
      token = lexer.next();
    }
    const std::string_view opcode = token;
    token = lexer.next();
    if (token == ":") {  // a label
      token = lexer.next();
      continue;
    }
    if (opcode.empty()) break;
    take_graver(found, check_statement(opcode, statement_from(body, opcode), own_registers));
    if (is_sure(found)) return found;
    token = lexer.end_of_statement(token);
  }
  return found;
}

}  // namespace archguard
