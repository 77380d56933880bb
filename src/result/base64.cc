#include "result/base64.h"

#include <cstdint>

namespace archguard {
namespace {

constexpr std::string_view kSixBits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kSixBits[three >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  unsigned count = 0;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != '='; ++i) {
    const auto value = kSixBits.find(text[i]);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255U);
    bits &= (1U << count) - 1;
  }
  const std::size_t padding = text.size() - i;
  const bool is_padded = text.size() % 4 == 0 && padding <= 2 && text.substr(i) == std::string(padding, '=');
  if (!is_padded || bits != 0 || count != padding * 2) return std::nullopt;
  return bytes;
}

}  // namespace archguard
