#include "image/ptx_limits.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "compat/toolkit.h"
#include "image/ptx_lexer.h"
#include "image/ptx_variables.h"

namespace archguard {

// An instruction, by the words that it begins with, and the targets that have it: from `first` on, or those
// of them with an `a` or `f`, or with one from `first` to `last`. (PTX ISA, "Target ISA Notes" of each
// instruction; ptxas of 11.8, 12.9 and 13.5 refuses each on the targets below, real.ptx_limits.)
struct PtxLimits::Rule {
  std::string_view opcode;
  int first;
  bool specific = false;
  int last = 0;
};

namespace {

constexpr PtxLimits::Rule kRules[] = {
    {"wgmma", 90, true, 90},
    {"tcgen05", 100, true, 119},
    {"setmaxnreg", 90, true},
    {"tensormap.replace", 90, true},
    {"clusterlaunchcontrol", 100},
    {"barrier.cluster", 90},
    {"cp.async.bulk", 90},
    {"cp.reduce.async.bulk", 90},
    {"elect", 90},
    {"getctarank", 90},
    {"griddepcontrol", 90},
    {"mapa", 90},
    {"multimem", 90},
    {"prefetch.tensormap", 90},
    {"red.async", 90},
    {"st.async", 90},
    {"stmatrix", 90},
    {"tensormap.cp_fenceproxy", 90},
    {"applypriority", 80},
    {"cp.async", 80},
    {"createpolicy", 80},
    {"discard", 80},
    {"mbarrier", 80},
    {"redux", 80},
    {"ldmatrix", 75},
    {"movmatrix", 75},
    {"tanh", 75},
    {"bmsk", 70},
    {"match", 70},
    {"mma", 70},
    {"nanosleep", 70},
    {"szext", 70},
    {"wmma", 70},
    {"dp2a", 61},
    {"dp4a", 61},
    {"alloca", 52},
    {"lop3", 50},
};

// Of static shared memory. ptxas 13.0 and newer take more of it for targets with an `a`: as much as the
// device has, 227 KB of sm_90a, 99 KB of sm_120a. (CUDA Programming Guide, "Shared Memory"; real.ptx_limits.)
constexpr Version kFirstMoreShared{13, 0};
constexpr std::uint64_t kSharedMost = 49152;

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

bool has_instruction(const PtxLimits::Rule& rule, Arch target) {
  if (target.number < rule.first || (rule.last != 0 && target.number > rule.last)) return false;
  return !rule.specific || target.suffix != Suffix::none;
}

std::string targets_of(const PtxLimits::Rule& rule) {
  const std::string first = std::to_string(rule.first);
  if (rule.specific) return "sm_" + first + "a" + (rule.last == rule.first ? "" : " or the like");
  return "sm_" + first + " or newer";
}

bool names_it(std::string_view opcode, std::string_view rule) {
  return starts_with(opcode, rule) && (opcode.size() == rule.size() || opcode[rule.size()] == '.');
}

}  // namespace

PtxLimits::PtxLimits(Arch target, Version isa) : target_(target), isa_(isa) {
  if (newest_known_toolkit().ptx_isa < isa) return;  // which may have more of them on this target
  for (const Rule& rule : kRules) {
    if (has_instruction(rule, target)) continue;
    absent_.push_back(&rule);
    absent_letters_[letters_of(std::string(rule.opcode) + ".")] = true;
  }
}

// Most bodies hold nothing of the kind, and all of a file's PTX goes through here: so each is looked through
// first, by how its statements begin.
bool PtxLimits::may_refuse(std::string_view body) const {
  // The first from `at` on: labels without any behind them must not cost a search each.
  std::size_t semicolon = std::min(body.find(';'), body.size());
  for (std::size_t at = 0; at < body.size();) {
    const std::string_view rest = body.substr(at);
    std::size_t end = std::string_view::npos;
    if (rest[0] >= 'a' && rest[0] <= 'z') {
      if (absent_letters_[letters_of(rest)] &&
          std::any_of(absent_.begin(), absent_.end(),
                      [&](const Rule* rule) { return starts_with(rest, rule->opcode); }))
        return true;
      if (semicolon < at) semicolon = std::min(body.find(';', at), body.size());
      end = semicolon - at;
      const std::size_t label = rest.substr(0, end).find(':');  // or `shared::cta`
      if (label != std::string_view::npos && rest.substr(label, 2) != "::") end = label;
    } else if (rest[0] == '.') {
      if (starts_with(rest, ".shared")) return true;
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

std::optional<PtxRefusal> PtxLimits::check(std::string_view body, std::string_view kernel) const {
  return may_refuse(body) ? read(body, kernel) : std::nullopt;
}

std::optional<PtxRefusal> PtxLimits::check_opcode(std::string_view opcode) const {
  for (const Rule* rule : absent_) {
    if (opcode[0] != rule->opcode[0] || !names_it(opcode, rule->opcode)) continue;
    const std::string name(rule->opcode);
    return PtxRefusal{"its PTX is for sm_" + to_string(target_) + " and holds the instruction '" + name +
                          "', which takes " + targets_of(*rule),
                      "leave '" + name + "' out for sm_" + to_string(target_) +
                          " (#if on __CUDA_ARCH__) or, for devices that have it, compile this code for " +
                          targets_of(*rule),
                      {}};
  }
  return std::nullopt;
}

std::optional<PtxRefusal> PtxLimits::read(std::string_view body, std::string_view kernel) const {
  PtxLexer lexer(body);
  std::uint64_t shared = 0;
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
    if (token == ".shared" && !kernel.empty()) {
      PtxVariables variables(lexer, token, {isa_, target_.number}, false);
      while (const auto variable = variables.next()) shared += std::min(variable->size, UINT64_MAX - shared);
      token = lexer.next();
      continue;
    }
    if (token[0] == '.') {
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
    if (auto refusal = check_opcode(opcode)) return refusal;
    token = lexer.end_of_statement(token);
  }
  if (shared <= kSharedMost) return std::nullopt;
  PtxRefusal refusal;
  refusal.reason = "the kernel '" + std::string(kernel) + "' of its PTX has " + std::to_string(shared) +
                   " bytes of static shared memory, and " + std::to_string(kSharedMost) + " are the most";
  refusal.mend = "declare that shared memory without a size (extern __shared__), which the launch gives";
  if (target_.suffix == Suffix::a) {
    refusal.taken_from = kFirstMoreShared;
    refusal.reason += " for drivers before CUDA " + to_string(kFirstMoreShared);
    refusal.mend += ", or update the driver to one that offers CUDA " + to_string(kFirstMoreShared);
  }
  return refusal;
}

}  // namespace archguard
