#include "base/version.h"

#include "base/text.h"

namespace archguard {

std::optional<Version> parse_version(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = parse_number(text.substr(0, dot), 9999);
  const auto minor = parse_number(text.substr(dot + 1), 9999);
  if (!major || !minor) return std::nullopt;
  return Version{static_cast<int>(*major), static_cast<int>(*minor)};
}

std::string to_string(Version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

std::string major_minor(const std::string& version) {
  const auto first = version.find('.');
  return version.substr(0, first == std::string::npos ? first : version.find('.', first + 1));
}

std::optional<Version> version_from_cuda_number(int number) {
  if (number < 1000 || number > 99990) return std::nullopt;
  return Version{number / 1000, number % 1000 / 10};
}

}  // namespace archguard
