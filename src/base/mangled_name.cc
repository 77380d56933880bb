#include "base/mangled_name.h"

#include <algorithm>

#include "base/text.h"

namespace archguard {

std::optional<PlainName> last_plain_name(std::string_view mangled) {
  if (!starts_with(mangled, "_Z")) return std::nullopt;
  PlainName last;
  last.nested = mangled.substr(2, 1) == "N";
  for (std::size_t at = last.nested ? 3 : 2;;) {
    const bool is_static = mangled.substr(at, 1) == "L";
    const std::size_t begin = at + (is_static ? 1 : 0);
    std::size_t length = 0, digits = begin;
    for (; digits < mangled.size() && mangled[digits] >= '0' && mangled[digits] <= '9'; ++digits)
      length = std::min(length * 10 + static_cast<std::size_t>(mangled[digits] - '0'), mangled.size());
    if (digits == begin) break;
    if (length > mangled.size() - digits) return std::nullopt;
    at = digits + length;
    last.is_static = is_static;
    last.begin = begin;
    last.end = at;
    last.text = mangled.substr(digits, length);
    if (!last.nested) break;
  }
  if (last.end == 0) return std::nullopt;
  return last;
}

std::optional<std::string_view> within_file_namespace(std::string_view mangled) {
  if (!starts_with(mangled, "_ZN")) return std::nullopt;
  const std::string_view path = mangled.substr(3);
  const auto digits = std::min(path.find_first_not_of("0123456789"), path.size());
  if (!starts_with(path.substr(digits), "_INTERNAL_")) return path;
  const auto length = parse_number(path.substr(0, digits), path.size() - digits);
  if (!length) return std::nullopt;
  return path.substr(digits + static_cast<std::size_t>(*length));
}

}  // namespace archguard
