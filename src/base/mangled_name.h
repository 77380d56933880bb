#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace archguard {

// The last of the plain names that a mangled one begins with (Itanium C++ ABI, 5.1): of `_Z5tableIfE`,
// `_ZN1a5tableE` and `_ZN1aL5tableE` "table".
struct PlainName {
  bool nested = false;     // _ZN…
  bool is_static = false;  // L, of internal linkage
  std::size_t begin = 0;   // of its length
  std::size_t end = 0;     // behind it
  std::string_view text = {};
};
// Nothing where the name is not mangled, begins otherwise, or is cut short.
std::optional<PlainName> last_plain_name(std::string_view mangled);

// What of a nested name follows `_ZN` and the namespace in which nvcc puts what is static in a file: of
// `_ZN11_INTERNAL_m1n6spacedE` and `_ZN1n6spacedE` `1n6spacedE`. Nothing where the name is not nested, or
// that is cut short.
std::optional<std::string_view> within_file_namespace(std::string_view mangled);

}  // namespace archguard
