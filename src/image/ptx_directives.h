#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/version.h"
#include "image/ptx_lexer.h"

namespace archguard {

// What the head of a module says: its `.version`, the number of its `.target`, 0 where none is known, and
// whether samplers are apart from textures (texmode_independent).
struct PtxLevel {
  Version isa;
  int target = 0;
  bool samplers = false;
};

Error no_samplers();  // where they are not

// `16`, `020`, `0x10`, `0b10000`, each also with `U` behind it (PTX ISA, "Integer Constants"). Nothing for
// anything else.
std::optional<std::uint64_t> parse_ptx_integer(std::string_view number);
// `0`, `00`, `0x0`, `0b0`, `0U`
bool is_ptx_zero(std::string_view number);

// Where a directive stands, outside of bodies and parameters.
enum class PtxPlace {
  statement = 1,            // begins one
  linked = 2,               // behind `.visible`, `.weak`, `.common` or `.extern`
  function = 4,             // between `.func` and the body
  variable = 8,             // in a declaration, before the name
  variable_attribute = 16,  // in the parentheses of `.attribute`
  function_attribute = 32,
  kernel = 64,  // between `.entry` and the body
};

// What a word that begins with a dot is: a directive of any PTX ISA that is known, wherever it may stand; one
// of which some bytes are others; the beginning of one; or nothing like these.
enum class PtxWord { directive, damaged, beginning, other };
PtxWord look_up_ptx_directive(std::string_view word);

// An error where no compiler of this PTX ISA takes the directive there for this target, or this table does
// not have it: one of an ISA to come is then not understood, and never passed over.
Status check_ptx_directive(std::string_view directive, PtxPlace place, PtxLevel level);

// Does the directive begin a statement, and never stand behind `.func` (where not in the body)?
bool begins_ptx_statement(std::string_view directive);

// The directives between the name of a kernel or function and its body, one after the other: what no compiler
// takes of their values, or side by side. (ptxas 11.8 to 13.5; real.ptx_limits, real.ptx.)
class PtxFunctionHead {
 public:
  explicit PtxFunctionHead(bool of_kernel) : of_kernel_(of_kernel) {}

  // A directive, or a word behind it. check_ptx_directive() took the directive.
  Status add(std::string_view token);
  // At the body, or the end of a declaration.
  Status finish(bool body) const;

  bool never_returns() const { return never_returns_; }

 private:
  Status add_number(std::string_view token);
  Status end_directive() const;

  bool of_kernel_;
  std::string_view directive_;
  std::size_t words_ = 0;  // behind it
  bool most_ = false, exactly_ = false, cluster_ = false, cluster_most_ = false, blocks_are_clusters_ = false,
       never_returns_ = false;
};

// An error where what stands behind `.align` is no power of two.
Status check_ptx_alignment(std::string_view number);

// Moves behind the `)` that closes a `(` already taken, and checks the attributes up to it:
// `(.managed, .unified(1, 2))`.
struct PtxAttributes {
  bool managed = false, unified = false;
};
Status check_ptx_attributes(PtxLexer& lexer, PtxPlace place, PtxLevel level, PtxAttributes& attributes);

}  // namespace archguard
