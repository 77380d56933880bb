#include "image/cubin_damage.h"

#include <algorithm>

#include "base/text.h"
#include "image/cubin.h"

namespace archguard {
namespace {

constexpr int kZeros = 128;
constexpr std::string_view kSecondAttributes = ".nv.merc.nv.info", kSecondSymbols = ".nv.merc.symtab",
                           kCallGraph = ".nv.callgraph";

std::optional<std::uint64_t> find_zeros(ByteView section) {
  const auto* const end = section.data + section.size;
  const auto* const found = std::search_n(section.data, end, kZeros, std::uint8_t{0});
  if (found == end) return std::nullopt;
  return static_cast<std::uint64_t>(found - section.data);
}

std::optional<std::uint64_t> find_entry_of_zeros(ByteView table, std::size_t first, std::size_t size = 24) {
  for (std::size_t at = first * size; at + size <= table.size; at += size)
    if (are_zeros({table.data + at, size})) return at;
  return std::nullopt;
}

bool is_small_table(std::string_view name) {
  return name == ".nv.compat" || name == ".nv.prototype" || name == ".nv.rel.action";
}

}  // namespace

bool has_type_of_its_name(std::string_view name, std::uint32_t type) {
  if (type == kElfNoBits) return true;  // what is left for a debugger
  if (starts_with(name, ".text.")) return type == kElfProgramBits;
  if (starts_with(name, ".nv.info")) return type == kKernelInfo;
  if (starts_with(name, ".nv.constant")) return type == kElfProgramBits || type >= kElfMachineTypes;
  return true;
}

std::optional<std::uint64_t> find_broken_attribute(ByteView section) {
  const Cursor in(section);
  for (std::uint64_t at = 0; at < section.size;) {
    const std::uint8_t form = in.u8(at);
    if (form < 1 || form > 4 || !in.holds(at, 4)) return at;
    const std::uint64_t size = 4 + (form == 4 ? in.u16(at + 2) : 0U);
    if (!in.holds(at, size)) return at;
    const auto zeros = find_zeros({section.data + at, static_cast<std::size_t>(size)});
    if (zeros) return at + *zeros;
    at += size;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> find_broken_relocation(ByteView section, const RelocationsOf& of) {
  constexpr std::uint64_t kBeyondTypes = 0x200;
  const std::uint64_t word = of.is64 ? 8 : 4, size = word * (of.type == kElfRelocationsWithAddends ? 3 : 2);
  const Cursor in(section);
  for (std::uint64_t at = 0; at + size <= section.size; at += size) {
    if (are_zeros({section.data + at, static_cast<std::size_t>(size)})) return at;
    if ((of.is64 ? in.u64(at) : in.u32(at)) >= of.size) return at;
    const std::uint64_t info = of.is64 ? in.u64(at + 8) : 0;
    const std::uint64_t type = info & UINT32_MAX;
    if (info >> 32 >= of.symbols || type >= kBeyondTypes || (of.is64 && type == 0)) return at;
  }
  return std::nullopt;
}

bool is_table_of_entries(std::string_view name) {
  return name == kCallGraph || is_small_table(name) || starts_with(name, kSecondAttributes) ||
         starts_with(name, ".nv.merc.rela") || name == kSecondSymbols;
}

std::optional<std::uint64_t> find_broken_entry(std::string_view name, ByteView section) {
  constexpr std::size_t kCall = 8;
  if (name == kCallGraph) return find_entry_of_zeros(section, 0, kCall);
  if (is_small_table(name))
    return section.size != 0 && are_zeros(section) ? std::optional<std::uint64_t>(0) : std::nullopt;
  if (starts_with(name, kSecondAttributes)) return find_broken_attribute(section);
  return find_entry_of_zeros(section, name == kSecondSymbols ? 1 : 0);
}

std::optional<std::uint64_t> find_broken_second_code(ByteView section) {
  constexpr std::uint64_t kForm = 4, kBits = 8, kHead = 12;
  constexpr std::uint32_t kKnownForm = 0xc0000001;
  if (section.size < kHead) return 0;
  const Cursor in(section);
  if (in.u32(kForm) == 0) return kForm;
  if (in.u32(kForm) != kKnownForm) return std::nullopt;
  if (in.u32(kBits) == 0) return kBits;
  const std::uint64_t stream = kHead + (std::uint64_t{in.u32(kBits)} + 7) / 8;
  if (stream >= section.size) return kBits;
  if (section.data[section.size - 1] == 0) return section.size - 1;
  const auto at = find_zeros({section.data + stream, static_cast<std::size_t>(section.size - stream)});
  return at ? std::optional(stream + *at) : std::nullopt;
}

}  // namespace archguard
