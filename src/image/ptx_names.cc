#include "image/ptx_names.h"

#include <string>

#include "image/ptx_body_words.h"
#include "image/ptx_directives.h"

namespace archguard {
namespace {

// No limit of PTX: what keeps a hostile text from costing memory.
constexpr std::size_t kPtxNamesMost = std::size_t{1} << 20;

std::string quoted(std::string_view name) {
  return "'" + std::string(name.substr(0, 40)) + "'";
}

Error no_agreement(std::string_view name, const std::string& what) {
  return Error{{}, "PTX has two declarations of " + quoted(name) + " that do not agree: " + what, {}};
}

Error defined_twice(std::string_view name, bool kernel) {
  return Error{{}, "PTX defines " + std::string(kernel ? "the kernel " : "") + quoted(name) + " twice", {}};
}

Error too_many() {
  return Error{{}, "PTX has more than " + std::to_string(kPtxNamesMost) + " names", {}};
}

// May a function that was declared like the first be declared, or defined, like the second?
bool may_follow(std::string_view first, std::string_view second, bool body) {
  if (first == ".extern") return second == first && !body;
  return second.empty() || second == first;
}

}  // namespace

Status PtxNames::add_variable(const Variable& variable) {
  if (names_.size() == kPtxNamesMost) return too_many();
  const bool external = variable.linking == ".extern";
  const auto [found, is_new] = names_.try_emplace(variable.name);
  Name& known = found->second;
  if (!is_new) {
    if (known.defined && !external) return defined_twice(variable.name, false);
    if (known.kind != Kind::variable)
      return no_agreement(variable.name, "a variable and a function or kernel");
    const bool sizes = known.elements != 0 && variable.elements != 0 && known.elements != variable.elements;
    if (known.type != variable.type || sizes) return no_agreement(variable.name, "types or sizes");
    if (!external && variable.linking.empty())
      return no_agreement(variable.name,
                          "`.extern`, and a definition that is neither `.visible` nor `.weak`");
  }
  known.type = variable.type;
  known.elements = variable.elements;
  known.linking = variable.linking;
  known.shared = variable.shared;
  known.linked = variable.linked;
  known.defined = known.defined || !external;
  return Done{};
}

Status PtxNames::add_function(const PtxFunction& function) {
  if (names_.size() == kPtxNamesMost) return too_many();
  const bool external = function.linking == ".extern";
  if (external && function.body)
    return Error{{}, "PTX has " + quoted(function.name) + " with `.extern` and a body", {}};
  const Kind kind = function.kernel ? Kind::kernel : Kind::function;
  const auto [found, is_new] = names_.try_emplace(function.name);
  Name& known = found->second;
  if (is_new) {
    known.kind = kind;
    known.linking = function.linking;
    known.type = function.prototype;
  } else {
    if (known.defined && function.body)
      return defined_twice(function.name, known.kind == Kind::kernel && kind == Kind::kernel);
    if (known.kind != kind) return no_agreement(function.name, "a kernel, a function or a variable");
    if (known.defined)
      return Error{{}, "PTX declares " + quoted(function.name) + " behind its definition", {}};
    if (!may_follow(known.linking, function.linking, function.body))
      return no_agreement(function.name,
                          "`" + std::string(known.linking) + "` and `" + std::string(function.linking) + "`");
    if (known.type != function.prototype)
      return no_agreement(function.name, "parameters, results or `.noreturn`");
  }
  known.defined = function.body;
  known.externs += external ? 1 : 0;
  return Done{};
}

Status PtxNames::add_alias(std::string_view name, std::string_view of) {
  const auto refused = [&](const char* why) {
    return Error{{},
                 "PTX has `.alias " + std::string(name.substr(0, 40)) + ", " + std::string(of.substr(0, 40)) +
                     "`" + why,
                 {}};
  };
  const auto alias = names_.find(name), function = names_.find(of);
  if (alias == names_.end() || function == names_.end() || alias->second.kind != Kind::function ||
      function->second.kind != Kind::function)
    return refused(", where both must be functions that are declared before");
  if (alias->second.defined || alias->second.aliased) return refused(", whose first is defined before");
  if (function->second.linking == ".weak" || function->second.linking == ".extern")
    return refused(", whose second is `.weak` or `.extern`");
  if (alias->second.type != function->second.type) return refused(", whose parameters or results differ");
  alias->second.aliased = true;
  return Done{};
}

std::vector<PtxNames::Missing> PtxNames::missing(std::string_view text) const {
  std::map<std::string_view, std::size_t> unseen;  // how often each stands in its declarations
  std::map<std::string_view, Missing> all;
  for (const auto& [name, known] : names_) {
    if (!is_unsolved(known)) continue;
    if (known.kind == Kind::variable) {
      if (known.linked) all.emplace(name, Missing{name, false, true});
    } else if (known.linking != ".extern") {
      all.emplace(name, Missing{name, true, true});  // no compiler takes it, called or not
    } else if (known.kind == Kind::function) {
      unseen.emplace(name, known.externs);
    }
  }
  PtxBodyWords words(unseen.empty() ? std::string_view() : text, false);
  std::size_t depth = 0;
  bool in_function = false;  // else in a kernel, or among the values of a variable
  bool in_section = false;   // of debug information
  for (auto token = words.next(); !token.empty(); token = words.next()) {
    if (depth == 0 && token == ".section") in_section = true;
    if (depth == 1 && token == "}") in_section = false;
    if (token == "{" || token == "(") ++depth;
    if ((token == "}" || token == ")") && depth != 0) --depth;
    if (depth == 0 && (token == "}" || token == ";" || begins_ptx_statement(token)))
      in_function = token == ".func";
    const bool is_use = words.opcode() != ".calltargets" && words.opcode() != ".callprototype" && !in_section;
    if (!is_use || !words.is_outer() || words.before() == "[") continue;
    const auto found = unseen.find(token);
    if (found == unseen.end()) continue;
    if (found->second != 0) {
      --found->second;
      continue;
    }
    all.emplace(found->first, Missing{found->first, true, false}).first->second.surely |= !in_function;
    if (!in_function) unseen.erase(found);
  }
  std::vector<Missing> missing;
  for (const auto& [name, each] : all) missing.push_back(each);
  return missing;
}

std::vector<std::string_view> PtxNames::extern_functions() const {
  std::vector<std::string_view> functions;
  for (const auto& [name, known] : names_)
    if (known.kind == Kind::function && known.linking == ".extern" && is_unsolved(known))
      functions.push_back(name);
  return functions;
}

}  // namespace archguard
