#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "base/result.h"
#include "image/ptx_lexer.h"

namespace archguard {

// `.version`, `.target` and `.address_size` stand in the head of a module, in this order, each once but
// `.target`. (ptxas and nvJitLink of 11.8 to 13.5, real.ptx.)
class PtxHeadOrder {
 public:
  // A statement begins with `word`, one of these or another, before `at`.
  Status begin(std::string_view word, std::size_t at);

 private:
  enum class Stage { version, target, size, body };  // what may come next
  Stage stage_ = Stage::version;
};

bool is_ptx_head(std::string_view word);

// The statements `.file 1 "k.cu", 1700000000, 42`, which end without a mark.
class PtxFiles {
 public:
  // From behind `.file`. An error where no compiler takes it, with the files before it. Not whole where the
  // text ends first.
  Status read(PtxLexer& lexer, bool& whole);

 private:
  std::set<std::uint64_t> numbers_;
};

}  // namespace archguard
