#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"

namespace archguard {

// What a device is: 9.0 for an H100. (CUDA Programming Guide, "Compute Capability".)
struct ComputeCapability {
  int major = 0;
  int minor = 0;
};

// What an image is made for: sm_90a → {90, a}. `number` is ten times the major part plus the minor, as in
// nvcc's names.
enum class Suffix { none, a, f };
struct Arch {
  int number = 0;
  Suffix suffix = Suffix::none;
};

// Before sm_90a no arch had a suffix.
inline constexpr int kFirstArchWithSuffix = 90;

bool operator==(ComputeCapability a, ComputeCapability b);
bool operator!=(ComputeCapability a, ComputeCapability b);
bool operator<(ComputeCapability a, ComputeCapability b);
bool operator==(Arch a, Arch b);
bool operator!=(Arch a, Arch b);
bool operator<(Arch a, Arch b);  // by number, then none < a < f

ComputeCapability capability_of(Arch arch);  // 103f → 10.3
Arch arch_of(ComputeCapability capability);  // 10.3 → 103

// "9.0", "12.1": digits, a dot, one minor digit. Major at most 99.
std::optional<ComputeCapability> parse_capability(std::string_view text);
// "90", "90a", "103f". Two or three digits.
std::optional<Arch> parse_arch(std::string_view text);

Suffix suffix_of(char letter);           // none for any letter but 'a' and 'f'
std::string suffix_text(Suffix suffix);  // "a", "f" or ""
std::string to_string(ComputeCapability capability);
std::string to_string(Arch arch);

}  // namespace archguard
