#include "fatbin/dynamic_symbols.h"

#include <algorithm>

#include "io/window.h"

namespace archguard::fatbin {
namespace {

constexpr std::uint64_t kSymbolsMost = std::uint64_t{1} << 22;  // far more than any library has
constexpr std::uint64_t kSymbolsAtOnce = 256;

}  // namespace

const Section* section_of(const HostObject& host, std::string_view name) {
  const auto found = std::find_if(host.sections.begin(), host.sections.end(),
                                  [&](const Section& each) { return each.name == name && each.has_bytes; });
  return found == host.sections.end() ? nullptr : &*found;
}

// ELF's symbols: u32 name, u8 binding and type at 4, u16 section (0: to be found elsewhere) at 6 of 24 bytes;
// at 12 and 14 of 16 in 32-bit files.
bool visit_wanted_symbols(const ByteSource& source, const HostObject& host,
                          const std::function<bool(const WantedSymbol&)>& visit) {
  if (host.format != HostFormat::elf) return false;
  const Section *symbols = section_of(host, ".dynsym"), *texts = section_of(host, ".dynstr");
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(5, source.size()));
  if (symbols == nullptr || texts == nullptr || !start || start->size() < 5) return false;
  const bool is64 = (*start)[4] == 2;
  const std::size_t each = is64 ? 24 : 16, section_at = is64 ? 6 : 14;
  Window table(source, each * kSymbolsAtOnce, each * kSymbolsAtOnce);
  const std::uint64_t count = std::min(symbols->size / each, kSymbolsMost);
  for (std::uint64_t first = 1; first < count; first += kSymbolsAtOnce) {
    const auto some = static_cast<std::size_t>(std::min(kSymbolsAtOnce, count - first));
    const auto bytes = table.at(symbols->offset + first * each, some * each);
    if (!bytes) break;  // the file shrank: whoever reads images says so
    const Cursor in(*bytes);
    for (std::size_t at = 0; at < bytes->size; at += each) {
      if (in.u16(at + section_at) != 0) continue;
      const WantedSymbol wanted{in.u32(at)};
      if (wanted.name < texts->size && !visit(wanted)) return true;
    }
  }
  return true;
}

}  // namespace archguard::fatbin
