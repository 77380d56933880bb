#include "elf_builder.h"

namespace archguard::test {
namespace {

constexpr std::uint64_t kBase = 0x400000;  // the addresses differ from the offsets, as they do in programs
constexpr std::uint64_t kAllocated = 2;    // SHF_ALLOC

}  // namespace

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
  sections_.push_back({std::string(name), std::move(bytes), type, flags, size, 0, 0, 0});
  return *this;
}

ElfBuilder& ElfBuilder::linked_section(std::string_view name, Bytes bytes, unsigned type, unsigned link,
                                       unsigned info) {
  section(name, std::move(bytes), type, 0);
  sections_.back().link = link;
  sections_.back().info = info;
  return *this;
}

ElfBuilder& ElfBuilder::at(std::uint64_t address) {
  sections_.back().address = address;
  return *this;
}

ElfBuilder& ElfBuilder::no_bits(std::string_view name, std::uint64_t size) {
  sections_.push_back({std::string(name), {}, 8, 2, size, 0, 0, 0});
  return *this;
}

ElfBuilder& ElfBuilder::load_segment(std::uint64_t offset, std::uint64_t size, std::uint64_t address) {
  segments_.push_back({offset, size, 1, address});
  return *this;
}

ElfBuilder& ElfBuilder::without_section_table() {
  section_table_ = false;
  return *this;
}

ElfBuilder& ElfBuilder::dynamic_text(std::uint64_t tag, std::string_view text) {
  dynamic_.emplace_back(tag, texts_.size());
  texts_.insert(texts_.end(), text.begin(), text.end());
  texts_.push_back(0);
  return *this;
}

ElfBuilder& ElfBuilder::dynamic_value(std::uint64_t tag, std::uint64_t value) {
  dynamic_.emplace_back(tag, value);
  return *this;
}

ElfBuilder& ElfBuilder::interpreter(std::string_view path) {
  interpreter_ = path;
  return *this;
}

std::size_t ElfBuilder::first_byte() const {
  const std::size_t header = is64_ ? 64 : 52, segment = is64_ ? 56 : 32;
  const std::size_t count =
      segments_.size() + (dynamic_.empty() ? 0U : 2U) + (interpreter_.empty() ? 0U : 1U);
  return (header + count * segment + 7) / 8 * 8;
}

std::vector<ElfBuilder::Segment> ElfBuilder::append_loader_parts(ByteWriter& content) const {
  std::vector<Segment> segments = segments_;
  if (!interpreter_.empty()) {
    segments.push_back({content.size(), interpreter_.size() + 1, 3, 0});
    content.text(interpreter_).u8(0).align(8);
  }
  if (dynamic_.empty()) return segments;
  const std::uint64_t texts_at = content.size();
  segments.push_back({0, texts_at + texts_.size(), 1, kBase});  // and all sections
  content.append(texts_).align(8);
  auto entries = dynamic_;
  entries.insert(entries.end(), {{5, kBase + texts_at}, {10, texts_.size()}, {0, 0}});
  segments.push_back({content.size(), entries.size() * (is64_ ? 16 : 8), 2, 0});
  for (const auto& [tag, value] : entries) {
    if (is64_)
      content.u64(tag).u64(value);
    else
      content.u32(tag).u32(value);
  }
  content.align(8);
  return segments;
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
  const std::vector<Segment> segments = append_loader_parts(content);
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
  address(header, segments.empty() ? 0 : (is64_ ? 64 : 52));
  address(header, table_at);
  header.u32(flags_).u16(is64_ ? 64 : 52).u16(is64_ ? 56 : 32).u16(segments.size());
  header.u16(is64_ ? 64 : 40).u16(count).u16(section_table_ ? count - 1 : 0);
  for (const Segment& segment : segments) {
    header.u32(segment.type);
    if (is64_)
      header.u32(5)
          .u64(segment.offset)
          .u64(segment.address)
          .u64(0)
          .u64(segment.size)
          .u64(segment.size)
          .u64(4096);
    else
      header.u32(segment.offset)
          .u32(segment.address)
          .u32(0)
          .u32(segment.size)
          .u32(segment.size)
          .u32(5)
          .u32(4096);
  }
  header.align(8);

  ByteWriter file;
  file.append(header.bytes());
  file.append(
      Bytes(content.bytes().begin() + static_cast<std::ptrdiff_t>(first_byte()), content.bytes().end()));
  if (!section_table_) return file.bytes();
  const auto entry = [&](std::size_t name, unsigned type, std::uint64_t flags, std::size_t offset,
                         std::uint64_t size, unsigned link, unsigned info, std::uint64_t memory) {
    file.u32(name).u32(type);
    address(file, flags);
    address(file, memory);
    address(file, offset);
    address(file, size);
    file.u32(link).u32(info);
    address(file, type == 0 ? 0 : 8);
    address(file, type == 2 ? (is64_ ? 24 : 16) : 0);  // SHT_SYMTAB
  };
  entry(0, 0, 0, 0, 0, 0, 0, 0);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const bool placed = section.address == 0 && (section.flags & kAllocated) != 0 && !dynamic_.empty();
    entry(name_at[i], section.type, section.flags, offset_at[i], section.size, section.link, section.info,
          placed ? kBase + offset_at[i] : section.address);
  }
  entry(names_name, 3, 0, names_at, names.size(), 0, 0, 0);
  return file.bytes();
}

}  // namespace archguard::test
