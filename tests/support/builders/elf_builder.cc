#include "elf_builder.h"

namespace archguard::test {

ElfBuilder& ElfBuilder::type(unsigned type) {
  type_ = type;
  return *this;
}

ElfBuilder& ElfBuilder::machine(unsigned machine) {
  machine_ = machine;
  return *this;
}

ElfBuilder& ElfBuilder::bits32() {
  is64_ = false;
  return *this;
}

ElfBuilder& ElfBuilder::identity(unsigned osabi, unsigned abi_version, unsigned version,
                                 std::uint32_t flags) {
  osabi_ = osabi;
  abi_version_ = abi_version;
  version_ = version;
  flags_ = flags;
  return *this;
}

ElfBuilder& ElfBuilder::section(std::string_view name, Bytes bytes, unsigned type, std::uint64_t flags) {
  const std::uint64_t size = bytes.size();
  sections_.push_back({std::string(name), std::move(bytes), type, flags, size, 0});
  return *this;
}

ElfBuilder& ElfBuilder::linked_section(std::string_view name, Bytes bytes, unsigned type, unsigned link) {
  section(name, std::move(bytes), type, 0);
  sections_.back().link = link;
  return *this;
}

ElfBuilder& ElfBuilder::no_bits(std::string_view name, std::uint64_t size) {
  sections_.push_back({std::string(name), {}, 8, 2, size, 0});
  return *this;
}

ElfBuilder& ElfBuilder::load_segment(std::uint64_t offset, std::uint64_t size) {
  segments_.push_back({offset, size});
  return *this;
}

ElfBuilder& ElfBuilder::without_section_table() {
  section_table_ = false;
  return *this;
}

std::size_t ElfBuilder::first_byte() const {
  const std::size_t header = is64_ ? 64 : 52, segment = is64_ ? 56 : 32;
  return (header + segments_.size() * segment + 7) / 8 * 8;
}

std::size_t ElfBuilder::offset_of_last() const {
  std::size_t offset = first_byte(), last = offset;
  for (const Section& section : sections_) {
    last = offset;
    offset += (section.content.size() + 7) / 8 * 8;
  }
  return last;
}

Bytes ElfBuilder::bytes() const {
  ByteWriter names;
  names.u8(0);
  std::vector<std::size_t> name_at, offset_at;
  ByteWriter content;
  content.zeros(first_byte());
  for (const Section& section : sections_) {
    name_at.push_back(names.size());
    names.text(section.name).u8(0);
    offset_at.push_back(content.size());
    content.append(section.content).align(8);
  }
  const std::size_t names_name = names.size();
  names.text(".shstrtab").u8(0);
  const std::size_t names_at = content.size();
  content.append(names.bytes()).align(8);
  const std::size_t table_at = section_table_ ? content.size() : 0;
  const std::size_t count = section_table_ ? sections_.size() + 2 : 0;

  // Fields whose size is the class's.
  const auto address = [this](ByteWriter& out, std::uint64_t value) -> ByteWriter& {
    return is64_ ? out.u64(value) : out.u32(value);
  };
  ByteWriter header;
  header
      .text(
          "\x7f"
          "ELF")
      .u8(is64_ ? 2 : 1)
      .u8(1)
      .u8(1)
      .u8(osabi_)
      .u8(abi_version_)
      .zeros(7);
  header.u16(type_).u16(machine_).u32(version_);
  address(header, 0);
  address(header, segments_.empty() ? 0 : (is64_ ? 64 : 52));
  address(header, table_at);
  header.u32(flags_).u16(is64_ ? 64 : 52).u16(is64_ ? 56 : 32).u16(segments_.size());
  header.u16(is64_ ? 64 : 40).u16(count).u16(section_table_ ? count - 1 : 0);
  for (const Segment& segment : segments_) {
    header.u32(1);
    if (is64_)
      header.u32(5).u64(segment.offset).u64(0).u64(0).u64(segment.size).u64(segment.size).u64(4096);
    else
      header.u32(segment.offset).u32(0).u32(0).u32(segment.size).u32(segment.size).u32(5).u32(4096);
  }
  header.align(8);

  ByteWriter file;
  file.append(header.bytes());
  file.append(
      Bytes(content.bytes().begin() + static_cast<std::ptrdiff_t>(first_byte()), content.bytes().end()));
  if (!section_table_) return file.bytes();
  const auto entry = [&](std::size_t name, unsigned type, std::uint64_t flags, std::size_t offset,
                         std::uint64_t size, unsigned link) {
    file.u32(name).u32(type);
    address(file, flags);
    address(file, 0);
    address(file, offset);
    address(file, size);
    file.u32(link).u32(0);
    address(file, type == 0 ? 0 : 8);
    address(file, 0);
  };
  entry(0, 0, 0, 0, 0, 0);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    entry(name_at[i], section.type, section.flags, offset_at[i], section.size, section.link);
  }
  entry(names_name, 3, 0, names_at, names.size(), 0);
  return file.bytes();
}

}  // namespace archguard::test
