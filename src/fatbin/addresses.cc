#include "fatbin/addresses.h"

#include <algorithm>

#include "elf/elf.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

// A relocation of a 64-bit ELF file: u64 place, u32 type, u32 symbol, u64 addend. A symbol: u16 section at 6,
// u64 value at 8. (System V ABI, "Relocation" and "Symbol Table"; its supplements for each machine.)
constexpr std::uint64_t kRelocationSize = 24, kElfSymbolSize = 24;
constexpr std::size_t kElfBlock = std::size_t{128} * 1024 / kRelocationSize * kRelocationSize;
constexpr std::size_t kRelocationsMost = std::size_t{1} << 21;  // two for each fat binary
constexpr std::size_t kTablesMost = 64;                  // each costs a search of the file's relocations
constexpr std::string_view kPackedRelocations = "APS2";  // of lld's --pack-dyn-relocs=android

// "Base plus addend", and "the symbol's address plus addend".
bool is_relative(std::uint16_t machine, std::uint32_t type) {
  return type == (machine == kElfMachineX64 ? 8U : 1027U);
}
bool is_absolute(std::uint16_t machine, std::uint32_t type) {
  return type == (machine == kElfMachineX64 ? 1U : 257U);
}

}  // namespace

Addresses::Addresses(const ByteSource& source, const HostObject& host) : source_(source), host_(host) {
  fixed_ = host.format == HostFormat::pe;
  if (host.format == HostFormat::elf) {
    const auto header = read_elf_header(source);
    if (header && header->is64 && (header->machine == kElfMachineX64 || header->machine == kElfMachineArm64))
      machine_ = header->machine;
    fixed_ = header && header->type == kElfExecutable;
  }
  for (const Section& section : host.sections)
    if (section.has_bytes && section.address != 0) loaded_.push_back(&section);
  std::sort(loaded_.begin(), loaded_.end(),
            [](const Section* a, const Section* b) { return a->address < b->address; });
}

Pointer Addresses::pointer_at(const Section& section, std::uint64_t offset, std::uint64_t value) {
  const Relocation* relocation = relocation_at(section, offset);
  const bool moves = host_.linked && !fixed_ && section_named(".relr.dyn") == nullptr;
  if (relocation == nullptr && machine_ != 0 && (value == 0 || moves)) {
    if (!all_told_) all_told_ = are_all_told(section);
    relocation = relocation_at(section, offset);  // of more that were read
    if (relocation == nullptr && *all_told_)
      return {value == 0 ? Pointer::To::nowhere : Pointer::To::lost, 0, value};
  }
  if (relocation != nullptr && !relocation->told) return {};
  if (!host_.linked) {
    if (relocation == nullptr) return {};
    return {Pointer::To::place, relocation->target, 0};
  }
  if (relocation != nullptr) return pointer_to(relocation->target);
  const Pointer target = pointer_to(value);
  // Relocations that are packed may leave zeros in place, and those of other machines are not read.
  const bool told = fixed_ || (value != 0 && machine_ != 0);
  return target.to == Pointer::To::place || told ? target : Pointer{};
}

// Has the loader nothing to do where no relocation was read? So all were read, and none is in a form that is
// not. Zeros are a null pointer then, and an address in what the loader moves is none.
bool Addresses::are_all_told(const Section& section) {
  const auto count = [&](const std::string& name) {
    return std::count_if(host_.sections.begin(), host_.sections.end(),
                         [&](const Section& each) { return each.name == name; });
  };
  if (count(".rel" + section.name) + count(".crel" + section.name) != 0) return false;
  if (!host_.linked) return all_read_ && count(section.name) == 1;
  const Section* table = section_named(".rela.dyn");
  if (table == nullptr || count(".rela" + section.name) != 0) return false;
  const auto start =
      read_bytes(source_, table->offset, std::min<std::uint64_t>(kPackedRelocations.size(), table->size));
  if (!start || ByteView(*start).text() == kPackedRelocations) return false;
  if (!all_read_) read_relocations(section, true);
  return all_read_;
}

Pointer Addresses::pointer_to(std::uint64_t address) const {
  if (loaded_.empty()) return {};
  const auto after = std::upper_bound(
      loaded_.begin(), loaded_.end(), address,
      [](std::uint64_t wanted, const Section* section) { return wanted < section->address; });
  if (after == loaded_.begin()) return {Pointer::To::nowhere, 0, address};
  const Section& section = **(after - 1);
  const std::uint64_t within = address - section.address;
  if (within >= section.size) return {Pointer::To::nowhere, 0, address};
  return {Pointer::To::place, section.offset + within, address};
}

const Addresses::Relocation* Addresses::relocation_at(const Section& section, std::uint64_t offset) {
  if (machine_ == 0) return nullptr;
  if (read_for_ != &section) read_relocations(section, false);
  const std::uint64_t at = section.address + offset;  // the address of a section is 0 in objects
  const auto found =
      std::lower_bound(relocations_.begin(), relocations_.end(), at,
                       [](const Relocation& each, std::uint64_t place) { return each.at < place; });
  return found == relocations_.end() || found->at != at ? nullptr : &*found;
}

void Addresses::read_relocations(const Section& section, bool all) {
  read_for_ = &section;
  relocations_.clear();
  all_read_ = false;
  if (!all) all_told_.reset();
  if (++tables_read_ > kTablesMost) return;
  const Section* table = section_named(host_.linked ? ".rela.dyn" : ".rela" + section.name);
  all_read_ = table == nullptr;
  if (table == nullptr) return;
  if (host_.linked)
    read_dynamic(*table, section, all);
  else
    read_of_object(*table);
  std::sort(relocations_.begin(), relocations_.end(),
            [](const Relocation& a, const Relocation& b) { return a.at < b.at; });
}

// Those of one section among all of the file, which are sorted by place in most files and may be many.
void Addresses::read_dynamic(const Section& table, const Section& section, bool all) {
  Window in(source_, kElfBlock, kRelocationSize);
  const std::uint64_t count = table.size / kRelocationSize, end = section.address + section.size;
  // False where the file shrank: whoever reads images says so.
  const auto read = [&](std::uint64_t first, bool to_the_end) {
    for (std::uint64_t i = first; i < count;) {
      const std::uint64_t some = std::min<std::uint64_t>(count - i, kElfBlock / kRelocationSize);
      const auto block =
          in.at(table.offset + i * kRelocationSize, static_cast<std::size_t>(some * kRelocationSize));
      if (!block) return;
      const Cursor bytes(*block);
      for (std::uint64_t at = 0; at < block->size; at += kRelocationSize) {
        const std::uint64_t place = bytes.u64(at);
        if (place >= section.address && place < end && relocations_.size() < kRelocationsMost)
          relocations_.push_back({place, bytes.u64(at + 16), is_relative(machine_, bytes.u32(at + 8))});
        else if (!to_the_end && place >= end)
          return;
      }
      i += some;
    }
    all_read_ = first == 0 && relocations_.size() < kRelocationsMost;
  };
  if (all) return read(0, true);
  // The first of so many of which something does not hold, where it holds of all before that one.
  const auto first_of = [&](std::uint64_t many, const auto& holds) {
    std::uint64_t low = 0;
    while (low < many) {
      const std::uint64_t middle = low + (many - low) / 2;
      const auto bytes = in.at(table.offset + middle * kRelocationSize, kRelocationSize);
      if (bytes && holds(Cursor(*bytes)))
        low = middle + 1;
      else
        many = middle;
    }
    return low;
  };
  // Linkers put the relative ones first, each kind sorted by place.
  const std::uint64_t relative =
      first_of(count, [&](const Cursor& each) { return is_relative(machine_, each.u32(8)); });
  read(first_of(relative, [&](const Cursor& each) { return each.u64(0) < section.address; }), false);
  if (relocations_.empty()) read(0, true);
}

void Addresses::read_of_object(const Section& table) {
  const Section* symbols = section_named(".symtab");
  if (symbols == nullptr) return;
  Window in(source_, kElfBlock, kElfBlock);
  for (std::uint64_t at = 0; at + kRelocationSize <= table.size; at += kRelocationSize) {
    const auto bytes = in.at(table.offset + at, kRelocationSize);
    if (!bytes || relocations_.size() == kRelocationsMost) return;
    const Cursor entry(*bytes);
    const auto target = is_absolute(machine_, entry.u32(8))
                            ? symbol_target(*symbols, entry.u32(12), entry.u64(16))
                            : std::nullopt;
    relocations_.push_back({entry.u64(0), target.value_or(0), target.has_value()});
  }
  all_read_ = true;
}

std::optional<std::uint64_t> Addresses::symbol_target(const Section& symbols, std::uint64_t symbol,
                                                      std::uint64_t addend) {
  if (symbol >= symbols.size / kElfSymbolSize) return std::nullopt;
  const auto bytes = read_bytes(source_, symbols.offset + symbol * kElfSymbolSize, kElfSymbolSize);
  if (!bytes) return std::nullopt;
  const std::uint16_t index = Cursor(*bytes).u16(6);
  if (index == 0 || index >= kElfReservedSections) return std::nullopt;
  const auto section =
      std::lower_bound(host_.sections.begin(), host_.sections.end(), index,
                       [](const Section& each, std::uint16_t wanted) { return each.index < wanted; });
  if (section == host_.sections.end() || section->index != index || !section->has_bytes) return std::nullopt;
  const std::uint64_t within = Cursor(*bytes).u64(8) + addend;
  if (within >= section->size) return std::nullopt;
  return section->offset + within;
}

const Section* Addresses::section_named(const std::string& name) const {
  const auto found = std::find_if(host_.sections.begin(), host_.sections.end(),
                                  [&](const Section& each) { return each.name == name && each.has_bytes; });
  return found == host_.sections.end() ? nullptr : &*found;
}

}  // namespace archguard::fatbin
