#include "compat/arch.h"

#include "base/text.h"

namespace archguard {

bool operator==(ComputeCapability a, ComputeCapability b) {
  return a.major == b.major && a.minor == b.minor;
}
bool operator!=(ComputeCapability a, ComputeCapability b) {
  return !(a == b);
}
bool operator<(ComputeCapability a, ComputeCapability b) {
  return a.major != b.major ? a.major < b.major : a.minor < b.minor;
}
bool operator==(Arch a, Arch b) {
  return a.number == b.number && a.suffix == b.suffix;
}
bool operator!=(Arch a, Arch b) {
  return !(a == b);
}
bool operator<(Arch a, Arch b) {
  return a.number != b.number ? a.number < b.number : a.suffix < b.suffix;
}

ComputeCapability capability_of(Arch arch) {
  return {arch.number / 10, arch.number % 10};
}

Arch arch_of(ComputeCapability capability) {
  return {capability.major * 10 + capability.minor, Suffix::none};
}

std::optional<ComputeCapability> parse_capability(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos || text[0] == '0') return std::nullopt;
  const auto major = parse_number(text.substr(0, dot), 99);
  const auto minor = parse_number(text.substr(dot + 1), 9);
  if (!major || !minor || text.size() != dot + 2) return std::nullopt;
  return ComputeCapability{static_cast<int>(*major), static_cast<int>(*minor)};
}

std::optional<Arch> parse_arch(std::string_view text) {
  Arch arch;
  if (ends_with(text, "a")) arch.suffix = Suffix::a;
  if (ends_with(text, "f")) arch.suffix = Suffix::f;
  if (arch.suffix != Suffix::none) text.remove_suffix(1);
  if (text.size() < 2 || text.size() > 3 || text[0] == '0') return std::nullopt;
  const auto number = parse_number(text, 999);
  if (!number) return std::nullopt;
  arch.number = static_cast<int>(*number);
  return arch;
}

std::string to_string(ComputeCapability capability) {
  return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

Suffix suffix_of(char letter) {
  return letter == 'a' ? Suffix::a : letter == 'f' ? Suffix::f : Suffix::none;
}

std::string suffix_text(Suffix suffix) {
  return suffix == Suffix::a ? "a" : suffix == Suffix::f ? "f" : "";
}

std::string to_string(Arch arch) {
  return std::to_string(arch.number) + suffix_text(arch.suffix);
}

}  // namespace archguard
