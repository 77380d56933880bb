#include "fatbin/relocations.h"

#include <algorithm>

#include "fatbin/dynamic_symbols.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kRelocationBytes = 24;  // u64 place, u32 type, u32 symbol, u64 addend
constexpr std::size_t kRelocationsAtOnce = 512;
constexpr std::size_t kSlotBytes = 8, kSlotsAtOnce = 4096;
constexpr std::size_t kPointersMost = std::size_t{1} << 20;  // far more than any file has

bool is_in(const std::vector<const Section*>& tables, std::uint64_t place) {
  return std::any_of(tables.begin(), tables.end(), [&](const Section* table) {
    return table->address <= place && place - table->address < table->size;
  });
}

// What the linker wrote, where the loader adds nothing or goes by `.relr.dyn`. False where it is not read.
bool add_written_slots(const ByteSource& source, const Section& table, const std::set<std::uint64_t>& places,
                       LoadedPointers& pointers) {
  Window in(source, kSlotBytes * kSlotsAtOnce, kSlotBytes);
  const std::uint64_t count = table.size / kSlotBytes;
  if (count > kPointersMost) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bytes = in.at(table.offset + i * kSlotBytes, kSlotBytes);
    if (!bytes) return false;
    const std::uint64_t value = Cursor(*bytes).u64(0);
    if (value != 0 && places.count(value) != 0) pointers.slots.emplace(table.address + i * kSlotBytes, value);
  }
  return true;
}

}  // namespace

std::vector<const Section*> global_offset_tables(const HostObject& host) {
  std::vector<const Section*> tables;
  for (const char* name : {".got", ".got.plt"})
    if (const Section* table = section_of(host, name)) tables.push_back(table);
  return tables;
}

bool visit_relocations(const ByteSource& source, const HostObject& host,
                       const std::function<void(const RelocationX64&)>& visit) {
  for (const char* name : {".rela.plt", ".rela.dyn"}) {
    const Section* table = section_of(host, name);
    if (table == nullptr) continue;
    Window in(source, kRelocationBytes * kRelocationsAtOnce, kRelocationBytes * kRelocationsAtOnce);
    for (std::uint64_t at = 0; table->size - at >= kRelocationBytes; at += kRelocationBytes) {
      const auto bytes = in.at(table->offset + at, kRelocationBytes);
      if (!bytes) return false;
      const Cursor entry(*bytes);
      visit({entry.u64(0), entry.u32(8), entry.u32(12), entry.u64(16)});
    }
  }
  return true;
}

std::optional<LoadedPointers> find_loaded_pointers(const ByteSource& source, const HostObject& host,
                                                   const std::set<std::uint64_t>& places) {
  LoadedPointers pointers;
  const auto tables = global_offset_tables(host);
  for (const Section* table : tables)
    if (!add_written_slots(source, *table, places, pointers)) return std::nullopt;
  std::map<std::uint64_t, std::uint64_t> symbols;
  if (section_of(host, ".dynsym") != nullptr &&
      !visit_symbols_at(source, host, places,
                        [&](std::uint64_t index, std::uint64_t place) { symbols.emplace(index, place); }))
    return std::nullopt;
  const auto count = [&] { return pointers.slots.size() + pointers.others.size(); };
  const bool whole = visit_relocations(source, host, [&](const RelocationX64& each) {
    const auto symbol = symbols.find(each.symbol);
    const bool is_relative = each.type == RelocationX64::kRelative && places.count(each.addend) != 0;
    const bool is_symbol =
        symbol != symbols.end() && (each.type == RelocationX64::kGlobalData ||
                                    (each.type == RelocationX64::kAbsolute && each.addend == 0));
    if ((!is_relative && !is_symbol) || count() >= kPointersMost) return;
    const std::uint64_t place = is_relative ? each.addend : symbol->second;
    if (is_in(tables, each.place))
      pointers.slots[each.place] = place;
    else if (is_symbol)
      pointers.others.emplace(each.place, place);
  });
  if (!whole || count() >= kPointersMost) return std::nullopt;
  return pointers;
}

}  // namespace archguard::fatbin
