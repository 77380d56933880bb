#include "image/symbol_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::string_view kFileMark = "__nv_static_";

// How names begin that compilers make.
constexpr std::array<std::string_view, 10> kCompilersOwn = {
    "$",                   // nvcc, NVRTC: $str, $str$1, texts
    "__unnamed_",          // nvcc: __func__, what a reference refers to
    "__cudart_",           // tables of sin, cos and the like
    "_ZZ",                 // static in a function
    "_ZTV",       "_ZTT",  // vtables
    "_ZTI",       "_ZTS",  // type information
    "_ZGV",       "_ZGR",  // guards, what a reference refers to
};
// clang: _$_str, __func___$__Z1kPf, __const_$__Z1kPf_$_table, where LLVM's name has a dot.
constexpr std::string_view kDot = "_$_";

// nvcc: _Z12kgetRowStatsPf$296, what a function keeps; the number differs by arch.
bool is_numbered(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < name.size() && name[last] == '$';
}

// nvcc of CUDA 8: __T21, the text of __PRETTY_FUNCTION__.
bool is_old_text(std::string_view name) {
  return starts_with(name, "__T") && parse_number(name.substr(3), UINT32_MAX).has_value();
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
  const auto begins = [&](std::string_view own) { return starts_with(name, own); };
  return std::none_of(kCompilersOwn.begin(), kCompilersOwn.end(), begins) &&
         name.find(kDot) == std::string_view::npos && !is_numbered(name) && !is_old_text(name);
}

}  // namespace archguard
