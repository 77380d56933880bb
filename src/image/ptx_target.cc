#include "image/ptx_target.h"

#include <string>

#include "base/text.h"
#include "compat/toolkit.h"
#include "image/ptx_text.h"

namespace archguard {
namespace {

// The table has all targets from here on.
constexpr int kTargetsKnown = 20;
constexpr int kFirstWithF64 = 13;

}  // namespace

Status PtxTarget::read(PtxLexer& lexer) {
  for (PtxLexer ahead = lexer;; ahead = lexer) {
    ARCHGUARD_CHECK(add(ahead.next_in_head()));
    lexer = ahead;
    if (ahead.next() != ",") return Done{};
    lexer = ahead;
  }
}

Status PtxTarget::add(std::string_view word) {
  if (starts_with(word, "sm_") || starts_with(word, "compute_")) {
    any_ = true;
    arch_ = parse_ptx_target(word);
    return check_isa();
  }
  const bool texmode = word == "texmode_unified" || word == "texmode_independent";
  const bool map = word == "map_f64_to_f32" && arch_ && arch_->number < kFirstWithF64;
  if (!any_ || !(map || texmode || word == "debug"))
    return Error{
        {}, "PTX has a `.target` of '" + std::string(word.substr(0, 40)) + "', which is not known", {}};
  debug_ = debug_ || word == "debug";
  if (!texmode) return Done{};
  if (!texmode_.empty() && texmode_ != word)
    return Error{{}, "PTX has a `.target` of both texmode_unified and texmode_independent", {}};
  texmode_ = word;
  return Done{};
}

// A compiler refuses a module whose `.version` does not have its `.target`.
Status PtxTarget::check_isa() const {
  if (!arch_) return Done{};
  const auto first = first_ptx_for(*arch_);
  const std::string what = "PTX ISA " + to_string(isa_) + " has no target sm_" + to_string(*arch_);
  if (!first && arch_->number >= kTargetsKnown && isa_ <= newest_known_toolkit().ptx_isa)
    return Error{{}, what, {}};
  if (!first || *first <= isa_) return Done{};
  return Error{{}, what + ", which came with ISA " + to_string(*first), {}};
}

}  // namespace archguard
