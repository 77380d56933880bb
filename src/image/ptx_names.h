#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace archguard {

// A function or kernel, as a statement at module scope declares or defines it.
struct PtxFunction {
  std::string_view name, linking;  // `.visible`, `.weak`, `.extern` or nothing
  bool kernel = false, body = false;
  std::uint64_t prototype = 0;  // PtxParameters::prototype()
};

// The names at module scope: variables, functions and kernels share one list. A variable may be declared
// `.extern` around its definition, a function or kernel before its body; all declarations of a name must
// agree. (PTX ISA, "Linking Directives" and `.alias`; what ptxas and nvJitLink of 11.8 to 13.5 take,
// real.ptx.)
class PtxNames {
 public:
  // `type`: what agrees in all declarations. `elements`: of the first dimension, 0 where it is open.
  struct Variable {
    std::string_view name, linking;
    std::uint64_t type = 0, elements = 0;
    bool shared = false;  // memory of a block
    bool linked = false;  // where it is not defined, a link has to add it
  };

  Status add_variable(const Variable& variable);
  Status add_function(const PtxFunction& function);
  // `.alias name, of;`
  Status add_alias(std::string_view name, std::string_view of);

  // ".visible" and the like of a name that is known, as it was declared first.
  std::string_view linking(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? std::string_view() : found->second.linking;
  }

  // May its address be the value of a variable? Not that of shared memory, nor of a name to come.
  bool has_address(std::string_view name) const {
    const auto found = names_.find(name);
    return found != names_.end() && !found->second.shared;
  }

  // Once the module is read: what it does not define, by name. Variables; functions that are declared without
  // `.extern`; and of those with `.extern` the ones that the text names elsewhere, as ptxas and nvJitLink ask
  // for no other.
  struct Missing {
    std::string_view name;
    bool function = false;
    bool surely = false;  // no linker leaves out what wants it: a variable, and what kernels name
  };
  std::vector<Missing> missing(std::string_view text) const;
  std::vector<std::string_view> extern_functions() const;

 private:
  enum class Kind : unsigned char { variable, function, kernel };
  struct Name {
    Kind kind = Kind::variable;
    bool defined = false, aliased = false, shared = false, linked = false;
    std::string_view linking;
    std::uint64_t type = 0, elements = 0;
    std::size_t externs = 0;  // how often it is declared `.extern`
  };

  bool is_unsolved(const Name& name) const { return !name.defined && !name.aliased; }

  std::map<std::string_view, Name> names_;
};

}  // namespace archguard
