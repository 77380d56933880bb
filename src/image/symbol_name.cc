#include "image/symbol_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::string_view kFileMark = "__nv_static_";

// How mangled names begin of what compilers make.
constexpr std::array<std::string_view, 6> kMangledOwn = {
    "_ZTV", "_ZTT",  // vtables
    "_ZTI", "_ZTS",  // type information
    "_ZGV", "_ZGR",  // guards, what a reference refers to
};
// Tables of sin, cos and the like: all that the mathematical functions of CUDA 11.8 and 13.0 bring.
constexpr std::array<std::string_view, 3> kSymbolTables = {"__cudart_i2opi_f", "__cudart_i2opi_d",
                                                           "__cudart_sin_cos_coeffs"};
// nvcc, NVRTC: $str, $str$1, texts; __unnamed_1, __func__ and what a reference refers to.
// clang: _$_str, __func___$__Z1kPf, __const_$__Z1kPf_$_table, where LLVM's name has a dot.
constexpr std::string_view kDot = "_$_";

// nvcc: _Z12kgetRowStatsPf$296, what a function keeps; the number differs by arch.
bool is_numbered(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < name.size() && name[last] == '$';
}

bool is_numbered_as(std::string_view name, std::string_view prefix) {
  return starts_with(name, prefix) && parse_number(name.substr(prefix.size()), UINT32_MAX).has_value();
}

// "_ZTV" and a mangled type or name behind it: a length, N…E, St…, or one letter of a type that is built in.
// C code can call a variable _ZTVtable.
bool is_mangled_own(std::string_view name) {
  const auto begins = [&](std::string_view own) { return starts_with(name, own); };
  if (std::none_of(kMangledOwn.begin(), kMangledOwn.end(), begins) || name.size() == 4) return false;
  const char next = name[4];
  return (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z') || name.size() == 5;
}

// Static in a function: _ZZ, the function, E, the name.
bool is_local(std::string_view name) {
  return starts_with(name, "_ZZ") && name.find('E') != std::string_view::npos;
}

// nvcc of CUDA 8: __T21, the text of __PRETTY_FUNCTION__.
bool is_old_text(std::string_view name) {
  return is_numbered_as(name, "__T");
}

}  // namespace

std::string_view without_file_mark(std::string_view variable) {
  if (!starts_with(variable, kFileMark)) return variable;
  std::size_t at = kFileMark.size(), length = 0;
  for (; at < variable.size() && variable[at] >= '0' && variable[at] <= '9'; ++at) {
    length = length * 10 + static_cast<std::size_t>(variable[at] - '0');
    if (length > variable.size()) return variable;
  }
  const std::size_t name = at + 1 + length + 1;  // `_`, the mark, `_`
  return name < variable.size() && variable[name - 1] == '_' ? variable.substr(name) : variable;
}

bool host_can_name(std::string_view variable) {
  const std::string_view name = without_file_mark(variable);
  const bool is_text = starts_with(name, "$") || is_numbered_as(name, "__unnamed_") || is_old_text(name);
  const bool is_table = std::find(kSymbolTables.begin(), kSymbolTables.end(), name) != kSymbolTables.end();
  return !is_text && !is_table && !is_local(name) && !is_mangled_own(name) &&
         name.find(kDot) == std::string_view::npos && !is_numbered(name);
}

}  // namespace archguard
