#include "image/ptx_ascii.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "base/text.h"

namespace archguard {
namespace {

// The first byte that is no ASCII, or npos.
std::size_t find_non_ascii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::array<std::uint64_t, 4> run;
  std::size_t at = 0;
  for (; text.size() - at >= sizeof run; at += sizeof run) {
    std::memcpy(run.data(), text.data() + at, sizeof run);
    if (((run[0] | run[1] | run[2] | run[3]) & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at == text.size() ? std::string_view::npos : at;
}

}  // namespace

Status check_ptx_ascii(std::string_view text) {
  const std::size_t at = find_non_ascii(text);
  if (at == std::string_view::npos) return Done{};
  if (starts_with(text, "\xef\xbb\xbf"))
    return Error{{}, "PTX begins with a byte order mark, which the driver refuses", {}};
  return Error{{},
               "PTX must be ASCII, found the byte " + hex(static_cast<unsigned char>(text[at])) + " at " +
                   hex(at) + ": drivers from CUDA 12.8 on may refuse it",
               {}};
}

}  // namespace archguard
