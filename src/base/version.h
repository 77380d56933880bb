#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace archguard {

// A two-part version: of a CUDA toolkit ("13.0"), of the CUDA that a driver offers ("12.8"), of the PTX ISA
// ("9.0").
struct Version {
  int major = 0;
  int minor = 0;
};

inline bool operator==(Version a, Version b) {
  return a.major == b.major && a.minor == b.minor;
}
inline bool operator!=(Version a, Version b) {
  return !(a == b);
}
inline bool operator<(Version a, Version b) {
  return a.major != b.major ? a.major < b.major : a.minor < b.minor;
}
inline bool operator>(Version a, Version b) {
  return b < a;
}
inline bool operator<=(Version a, Version b) {
  return !(b < a);
}
inline bool operator>=(Version a, Version b) {
  return !(a < b);
}

// Exactly "X.Y", digits only, each part at most 9999; anything else is nothing.
std::optional<Version> parse_version(std::string_view text);

std::string to_string(Version version);

// The first two parts of a version of any number of parts: "2.7" of "2.7.1", "2" of "2".
std::string major_minor(const std::string& version);

// The spelling of cuDriverGetVersion: 12080 → 12.8. Outside 1000…99990 it is garbage (a driver that answers
// nonsense).
std::optional<Version> version_from_cuda_number(int number);

}  // namespace archguard
