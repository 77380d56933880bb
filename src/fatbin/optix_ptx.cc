#include "fatbin/optix_ptx.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "image/ptx_text.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kWindow = std::size_t{64} * 1024;
constexpr std::size_t kOverlap = 64;  // ".entry __continuation_callable__" and blanks
constexpr std::string_view kOptixCall = "_optix_", kEntryWord = ".entry";
constexpr std::string_view kOptixPrograms[] = {
    "__raygen__", "__intersection__", "__anyhit__",          "__closesthit__",
    "__miss__",   "__exception__",    "__direct_callable__", "__continuation_callable__"};

bool has_program(std::string_view text) {
  for (auto at = text.find(kEntryWord); at != std::string_view::npos; at = text.find(kEntryWord, at + 1)) {
    const std::string_view name = skip_ptx_blanks(text.substr(at + kEntryWord.size(), kOverlap));
    for (const std::string_view program : kOptixPrograms)
      if (starts_with(name, program)) return true;
  }
  return false;
}

}  // namespace

bool is_for_optix(const ByteSource& ptx) {
  Window in(ptx, kWindow, kWindow);
  for (std::uint64_t at = 0; at < ptx.size(); at += kWindow - kOverlap) {
    const auto bytes = in.at(at, static_cast<std::size_t>(std::min<std::uint64_t>(kWindow, ptx.size() - at)));
    if (!bytes) return false;
    const std::string_view text = bytes->text();
    if (text.find(kOptixCall) != std::string_view::npos || has_program(text)) return true;
  }
  return false;
}

}  // namespace archguard::fatbin
