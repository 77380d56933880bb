#include "base/hex.h"

namespace archguard {

std::optional<std::string> bytes_of_hex(std::string_view digits) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto high = kHexDigits.find(digits[i]), low = kHexDigits.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace archguard
