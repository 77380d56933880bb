#include "fatbin/dynamic_symbols.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text.h"
#include "fatbin/host_function_names.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

constexpr std::uint64_t kSymbolsMost = std::uint64_t{1} << 22;  // far more than any library has
constexpr std::uint64_t kSymbolsAtOnce = 256;
constexpr std::size_t kNamesAtOnce = std::size_t{4} * 1024;

constexpr unsigned kFunctionSymbol = 2;  // STT_FUNC

struct SymbolKind {
  unsigned section = 0, type = 0;  // section 0: to be found elsewhere
  std::uint64_t value = 0;
};
using WantedKind = std::function<bool(const SymbolKind&)>;

bool is_elsewhere(const SymbolKind& symbol) {
  return symbol.section == 0;
}

bool is_defined_function(const SymbolKind& symbol) {
  return symbol.section != 0 && symbol.type == kFunctionSymbol;
}

// A program that is linked for its place in memory has an address of what it calls elsewhere, too.
bool has_address(const SymbolKind& symbol) {
  return symbol.type == kFunctionSymbol && (symbol.section != 0 || symbol.value != 0);
}

struct VisitedSymbol {
  std::string_view name;
  std::uint64_t index = 0, value = 0;
};

// ELF's symbols: u32 name, u8 binding and type at 4, u16 section (0: to be found elsewhere) at 6, u64 value
// at 8 of 24 bytes; of 16 in 32-bit files at 12 and 14, with u32 value at 4.
bool visit_symbols(const ByteSource& source, const HostObject& host, const char* table_name,
                   const char* texts_name, const WantedKind& is_wanted, std::size_t most,
                   const std::function<bool(const VisitedSymbol&)>& visit) {
  if (host.format != HostFormat::elf) return false;
  const Section *symbols = section_of(host, table_name), *texts = section_of(host, texts_name);
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(5, source.size()));
  if (symbols == nullptr || texts == nullptr || !start || start->size() < 5) return false;
  const bool is64 = (*start)[4] == 2;
  const std::size_t each = is64 ? 24 : 16, type_at = is64 ? 4 : 12, section_at = type_at + 2;
  struct Place {
    std::uint32_t name, index;  // the name: where it begins among the texts
    std::uint64_t value;
  };
  std::vector<Place> places;
  Window table(source, each * kSymbolsAtOnce, each * kSymbolsAtOnce);
  const std::uint64_t count = std::min(symbols->size / each, kSymbolsMost);
  bool whole = count == symbols->size / each;
  for (std::uint64_t first = 1; first < count; first += kSymbolsAtOnce) {
    const auto some = static_cast<std::size_t>(std::min(kSymbolsAtOnce, count - first));
    const auto bytes = table.at(symbols->offset + first * each, some * each);
    whole &= bool(bytes);
    if (!bytes) break;  // the file shrank: whoever reads images says so
    const Cursor in(*bytes);
    for (std::size_t at = 0; at < bytes->size; at += each) {
      const std::uint64_t value = is64 ? in.u64(at + 8) : in.u32(at + 4);
      if (!is_wanted({in.u16(at + section_at), in.u8(at + type_at) & 15U, value})) continue;
      whole &= in.u32(at) < texts->size;
      const std::uint64_t index = first + at / each;
      if (in.u32(at) < texts->size) places.push_back({in.u32(at), static_cast<std::uint32_t>(index), value});
    }
  }
  // Millions of others may stand between them: in their own order each block is read once.
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.name < b.name; });
  Window in(source, kNamesAtOnce, kNamesAtOnce);
  for (const Place& place : places) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, texts->size - place.name));
    const auto bytes = in.at(texts->offset + place.name, size);
    if (!bytes) return false;
    const std::string_view text = bytes->text();
    if (!visit({text.substr(0, text.find('\0')), place.index, place.value})) break;
  }
  return whole;
}

// Of a mangled name, a pack that is expanded: `XspT0_E`, of std::integer_sequence<int, I...>. The front end
// of nvcc (EDG) leaves the `sp` away, GCC and clang do not.
constexpr std::string_view kExpanded = "Xsp";

std::string edg_name(std::string_view text) {
  std::string name;
  name.reserve(text.size());
  while (!text.empty()) {
    const auto at = text.find(kExpanded);
    if (at == std::string_view::npos) return name.append(text);
    name.append(text.substr(0, at + 1));
    text.remove_prefix(at + kExpanded.size());
  }
  return name;
}

}  // namespace

const Section* section_of(const HostObject& host, std::string_view name) {
  const auto found = std::find_if(host.sections.begin(), host.sections.end(),
                                  [&](const Section& each) { return each.name == name && each.has_bytes; });
  return found == host.sections.end() ? nullptr : &*found;
}

bool visit_wanted_symbols(const ByteSource& source, const HostObject& host, std::size_t most,
                          const std::function<bool(std::string_view)>& visit) {
  return visit_symbols(source, host, ".dynsym", ".dynstr", is_elsewhere, most,
                       [&](const VisitedSymbol& each) { return visit(each.name); });
}

bool visit_wanted_data(const ByteSource& source, const HostObject& host, std::size_t most,
                       const std::function<bool(std::string_view)>& visit) {
  std::set<unsigned> empty;  // sections without bytes: what the loader copies into a program is there
  for (const Section& each : host.sections)
    if (!each.has_bytes) empty.insert(each.index);
  return visit_symbols(
      source, host, ".dynsym", ".dynstr",
      [&](const SymbolKind& each) { return is_elsewhere(each) || empty.count(each.section) != 0; }, most,
      [&](const VisitedSymbol& each) { return visit(each.name); });
}

bool wants_symbol(const ByteSource& source, const HostObject& host, std::string_view name) {
  bool wants = false;
  visit_wanted_symbols(source, host, name.size() + 1, [&](std::string_view each) {
    wants |= each == name;
    return !wants;
  });
  return wants;
}

// What is linked for no loader wants nothing, and Windows' linker leaves nothing open.
std::optional<std::set<std::string>> wanted_kernels(const ByteSource& source, const HostObject& host,
                                                    const std::set<std::string>& kernels) {
  if (host.sections.empty()) return std::nullopt;
  if (host.linked && (host.format == HostFormat::pe || section_of(host, ".dynsym") == nullptr))
    return std::set<std::string>();
  std::multimap<std::string, const std::string*> by_name;
  for (const std::string& kernel : kernels)
    for (std::string& name : host_function_names(kernel)) by_name.emplace(std::move(name), &kernel);
  std::set<std::string> wanted;
  std::set<std::size_t> cut_ones;  // their hashes
  const auto take = [&](std::string_view text) {
    const bool cut = text.size() == kNamesAtOnce;
    if (cut && !cut_ones.insert(std::hash<std::string_view>()(text)).second) return true;
    for (auto each = by_name.lower_bound(std::string(text)); each != by_name.end(); ++each) {
      if (cut ? !starts_with(each->first, text) : each->first != text) break;
      wanted.insert(*each->second);
    }
    return true;
  };
  const bool told = host.linked
                        ? visit_wanted_symbols(source, host, kNamesAtOnce, take)
                        : visit_symbols(source, host, ".symtab", ".strtab", is_elsewhere, kNamesAtOnce,
                                        [&](const VisitedSymbol& each) { return take(each.name); });
  if (!told) return std::nullopt;
  return wanted;
}

std::optional<std::map<std::string, std::size_t>> functions_among(const ByteSource& source,
                                                                  const HostObject& host,
                                                                  const std::set<std::string>& names) {
  std::map<std::string, std::size_t> found;
  const auto take = [&](const VisitedSymbol& each) {
    auto name = names.find(std::string(each.name));
    if (name == names.end() && each.name.find(kExpanded) != std::string_view::npos)
      name = names.find(edg_name(each.name));
    if (name != names.end()) ++found[*name];
    return true;
  };
  const bool local = section_of(host, ".symtab") != nullptr;
  if (!visit_symbols(source, host, local ? ".symtab" : ".dynsym", local ? ".strtab" : ".dynstr",
                     is_defined_function, kNamesAtOnce, take))
    return std::nullopt;
  return found;
}

std::optional<FunctionPlaces> places_of_functions(const ByteSource& source, const HostObject& host,
                                                  const std::set<std::string>& names) {
  FunctionPlaces places;
  const auto is_asked = [&](const VisitedSymbol& each) { return names.count(std::string(each.name)) != 0; };
  const auto take = [&](const VisitedSymbol& each) {
    const bool cold = each.name.find(".cold") != std::string_view::npos;
    const bool part = each.name.find(".part.") != std::string_view::npos;
    (cold ? places.cold : part ? places.parts : places.starts).push_back(each.value);
    if (is_asked(each)) places.defined.insert(each.value);
    return true;
  };
  const auto take_wanted = [&](const VisitedSymbol& each) {
    if (is_asked(each)) places.wanted.insert(each.index);
    return true;
  };
  if (!host.linked || !visit_symbols(source, host, ".symtab", ".strtab", has_address, kNamesAtOnce, take))
    return std::nullopt;
  for (auto* each : {&places.starts, &places.parts, &places.cold}) std::sort(each->begin(), each->end());
  const bool dynamic = section_of(host, ".dynsym") != nullptr;
  if (dynamic && !visit_symbols(source, host, ".dynsym", ".dynstr", is_elsewhere, kNamesAtOnce, take_wanted))
    return std::nullopt;
  return places;
}

std::optional<std::map<std::string, std::set<std::uint64_t>>> functions_beginning(
    const ByteSource& source, const HostObject& host, const std::set<std::string>& beginnings) {
  std::map<std::string, std::set<std::uint64_t>> found;
  const auto take = [&](const VisitedSymbol& each) {
    const auto behind = beginnings.upper_bound(std::string(each.name));
    if (behind != beginnings.begin() && starts_with(each.name, *std::prev(behind)))
      found[std::string(each.name)].insert(each.value);
    return true;
  };
  if (!host.linked ||
      !visit_symbols(source, host, ".symtab", ".strtab", is_defined_function, kNamesAtOnce, take))
    return std::nullopt;
  return found;
}

bool visit_symbols_at(const ByteSource& source, const HostObject& host, const std::set<std::uint64_t>& places,
                      const std::function<void(std::uint64_t index, std::uint64_t place)>& visit) {
  return visit_symbols(
      source, host, ".dynsym", ".dynstr",
      [&](const SymbolKind& each) { return !is_elsewhere(each) && places.count(each.value) != 0; }, 1,
      [&](const VisitedSymbol& each) {
        visit(each.index, each.value);
        return true;
      });
}

}  // namespace archguard::fatbin
