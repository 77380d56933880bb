#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/version.h"
#include "compat/arch.h"
#include "image/ptx_directives.h"
#include "image/ptx_lexer.h"

namespace archguard {

// What the `.target` statements of a module say: `.target sm_90a, debug`. Of several targets the last counts,
// and `compute_80` is `sm_80`: so ptxas and nvJitLink go (real.ptx).
class PtxTarget {
 public:
  explicit PtxTarget(Version isa) : isa_(isa) {}

  // From behind `.target` to the end of its list. An error where no compiler of this ISA takes one of them.
  Status read(PtxLexer& lexer);

  std::optional<Arch> arch() const { return arch_; }  // nothing where it is not known, or before any
  PtxLevel level() const { return {isa_, arch_ ? arch_->number : 0, texmode_ == "texmode_independent"}; }
  bool is_debug() const { return debug_; }

 private:
  Status add(std::string_view word);
  Status check_isa() const;

  Version isa_;
  bool any_ = false, debug_ = false;
  std::optional<Arch> arch_;
  std::string_view texmode_;
};

}  // namespace archguard
