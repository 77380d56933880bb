#include "host/elf_symbols.h"

#include <algorithm>
#include <optional>

#include "io/window.h"

namespace archguard {
namespace {

constexpr unsigned kWeak = 2, kLocalBinding = 0;                       // STB_…
constexpr unsigned kProtected = 3;                                     // STV_…
constexpr std::uint64_t kDynamicSymbolsMost = std::uint64_t{1} << 22;  // far more than any library has
constexpr std::uint64_t kAskedMost = std::uint64_t{1} << 24;           // of one table
constexpr std::size_t kSymbolBlock = 512, kTextBlock = std::size_t{16} * 1024;

struct DynamicSymbol {
  std::uint32_t name = 0;
  unsigned binding = 0;
  unsigned visibility = 0;  // STV_…
  bool defined = false;
};

// u32 name, u8 binding and type at 4, u8 visibility, u16 section (0: to be found elsewhere) at 6 of 24 bytes;
// at 12 and 14 of 16 in 32-bit files.
class Symbols {
 public:
  Symbols(const ByteSource& source, const ElfTables& tables, std::size_t name_most)
      : tables_(tables),
        each_(tables.is64 ? 24 : 16),
        size_(std::min(tables.symbols.size, source.size() - std::min(source.size(), tables.symbols.offset))),
        name_most_(name_most),
        table_(source, each_ * kSymbolBlock, each_ * kSymbolBlock),
        texts_(source, std::max(kTextBlock, name_most + 1), kTextBlock) {}

  std::uint64_t most() const { return std::min(size_ / each_, kDynamicSymbolsMost); }

  std::optional<DynamicSymbol> at(std::uint64_t index) {
    if (index >= most()) return std::nullopt;
    const auto bytes = table_.at(tables_.symbols.offset + index * each_, each_);
    if (!bytes) return std::nullopt;
    const Cursor in(*bytes);
    return DynamicSymbol{in.u32(0), static_cast<unsigned>(in.u8(tables_.is64 ? 4 : 12)) >> 4,
                         in.u8(tables_.is64 ? 5 : 13) & 3U, in.u16(tables_.is64 ? 6 : 14) != 0};
  }

  // Calls `visit` with the name and `of` of each, while it returns true: in the order of the names, which
  // stand in another one than the symbols, so that each block of them is read once.
  struct Named {
    std::uint32_t name = 0, of = 0;
  };
  template <class Visit>
  void visit_names(std::vector<Named> named, Visit visit) {
    std::stable_sort(named.begin(), named.end(),
                     [](const Named& a, const Named& b) { return a.name < b.name; });
    for (const Named& each : named)
      if (!visit(name_at(each.name), each.of)) return;
  }

 private:
  std::string name_at(std::uint32_t place) {
    if (place >= tables_.texts.size) return {};
    auto name = texts_.text_at(tables_.texts.offset + place, name_most_);
    return name ? std::move(*name) : std::string();
  }

  const ElfTables& tables_;
  std::size_t each_;
  std::uint64_t size_;  // of the table, as far as the file holds it
  std::size_t name_most_;
  Window table_, texts_;
};

// A bit for each symbol: 512 KiB where a file claims the most.
struct Asked {
  std::vector<bool> at_start, at_call;
};

// Elf64_Rela: u64 where, u64 type and symbol (the upper half), i64 what to add; Elf32: u32 each, and the
// symbol above 8 bits.
void add_asked(const ByteSource& source, const ElfTables& tables, const ElfRelocations& of, Asked& asked) {
  const std::size_t word = tables.is64 ? 8 : 4, each = word * (of.with_addend ? 3 : 2);
  Window table(source, each * kSymbolBlock, each * kSymbolBlock);
  const std::uint64_t count = std::min(of.place.size / each, kAskedMost);
  std::vector<bool>& marks = of.of_calls ? asked.at_call : asked.at_start;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bytes = table.at(of.place.offset + i * each, each);
    if (!bytes) break;  // the file ends, or shrank: whoever reads images says so
    const Cursor in(*bytes);
    const std::uint64_t symbol = tables.is64 ? in.u64(word) >> 32 : in.u32(word) >> 8;
    if (symbol < marks.size()) marks[symbol] = true;
  }
}

Asked symbols_asked_for(const ByteSource& source, const ElfTables& tables, std::size_t symbols) {
  Asked asked{std::vector<bool>(symbols), std::vector<bool>(symbols)};
  for (const ElfRelocations& each : tables.relocations) add_asked(source, tables, each, asked);
  return asked;
}

// By DT_HASH: u32 buckets, chains, of which there is one for each symbol. By DT_GNU_HASH: u32 buckets, first
// symbol, words of its filter, shift; the filter, the buckets with the first symbol of each, and the chains
// of the symbols from the first on, each ended by an odd value.
std::uint64_t count_of_symbols(const ByteSource& source, const ElfTables& tables) {
  Window in(source, kTextBlock, kTextBlock);
  if (tables.hash.size >= 8) {
    const auto head = in.at(tables.hash.offset, 8);
    return head ? Cursor(*head).u32(4) : 0;
  }
  const auto head = tables.gnu_hash.size < 16 ? Result<ByteView>(Error{}) : in.at(tables.gnu_hash.offset, 16);
  if (!head) return 0;
  const Cursor fields(*head);
  const std::uint64_t buckets = std::min<std::uint64_t>(fields.u32(0), kDynamicSymbolsMost);
  const std::uint64_t first = fields.u32(4);
  const std::uint64_t buckets_at =
      tables.gnu_hash.offset + 16 + std::uint64_t{fields.u32(8)} * (tables.is64 ? 8 : 4);
  const std::uint64_t chains_at = buckets_at + std::uint64_t{fields.u32(0)} * 4;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < buckets; ++i) {
    const auto bucket = in.at(buckets_at + i * 4, 4);
    if (!bucket) return 0;
    last = std::max<std::uint64_t>(last, Cursor(*bucket).u32(0));
  }
  if (last < first) return 0;
  for (; last < kDynamicSymbolsMost; ++last) {
    const auto chain = in.at(chains_at + (last - first) * 4, 4);
    if (!chain || (Cursor(*chain).u32(0) & 1) != 0) break;
  }
  return last + 1;
}

}  // namespace

void visit_wanted_names(const ByteSource& source, const ElfTables& tables, std::size_t name_most,
                        const std::function<void(const WantedName&)>& visit) {
  Symbols symbols(source, tables, name_most);
  const auto most = static_cast<std::size_t>(symbols.most());
  const Asked asked = symbols_asked_for(source, tables, most);
  constexpr std::uint32_t kIsWeak = 1, kIsOfCall = 2;
  std::vector<Symbols::Named> named;
  for (std::size_t i = 1; i < most; ++i) {
    if (!asked.at_start[i] && !asked.at_call[i]) continue;
    const auto symbol = symbols.at(i);
    if (!symbol) break;
    if (symbol->defined) continue;
    named.push_back(
        {symbol->name, (symbol->binding == kWeak ? kIsWeak : 0) | (asked.at_start[i] ? 0 : kIsOfCall)});
  }
  symbols.visit_names(std::move(named), [&](std::string name, std::uint32_t how) {
    visit({std::move(name), (how & kIsWeak) != 0, (how & kIsOfCall) != 0});
    return true;
  });
}

void visit_interposable_names(const ByteSource& source, const ElfTables& tables, std::size_t name_most,
                              const std::function<void(const std::string&)>& visit) {
  Symbols symbols(source, tables, name_most);
  const auto most = static_cast<std::size_t>(symbols.most());
  const Asked asked = symbols_asked_for(source, tables, most);
  std::vector<Symbols::Named> named;
  for (std::size_t i = 1; i < most; ++i) {
    if (!asked.at_start[i] && !asked.at_call[i]) continue;
    const auto symbol = symbols.at(i);
    if (!symbol) break;
    if (symbol->defined && symbol->visibility != kProtected) named.push_back({symbol->name, 0});
  }
  symbols.visit_names(std::move(named), [&](const std::string& name, std::uint32_t) {
    visit(name);
    return true;
  });
}

void visit_defined_names(const ByteSource& source, const ElfTables& tables, std::size_t name_most,
                         const std::function<bool(const std::string&)>& visit) {
  Symbols symbols(source, tables, name_most);
  const std::uint64_t count = std::min(count_of_symbols(source, tables), symbols.most());
  std::vector<Symbols::Named> named;
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto symbol = symbols.at(i);
    if (!symbol) break;
    if (symbol->defined && symbol->binding != kLocalBinding) named.push_back({symbol->name, 0});
  }
  symbols.visit_names(std::move(named), [&](const std::string& name, std::uint32_t) { return visit(name); });
}

}  // namespace archguard
