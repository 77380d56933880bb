#include "support/builders/pe_builder.h"

namespace archguard::test {

PeBuilder& PeBuilder::object() {
  form_ = Form::object;
  return *this;
}

PeBuilder& PeBuilder::big_object() {
  form_ = Form::big_object;
  return *this;
}

PeBuilder& PeBuilder::section(std::string_view name, Bytes bytes, std::uint32_t flags) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  sections_.push_back({std::string(name), std::move(bytes), size, flags});
  return *this;
}

PeBuilder& PeBuilder::filled(std::uint32_t size) {
  sections_.back().memory_size = size;
  return *this;
}

PeBuilder& PeBuilder::imports(const std::vector<Library>& libraries, const std::vector<Library>& delayed,
                              bool bound) {
  constexpr std::uint32_t kAddress = 0x20000;
  const std::size_t delayed_at = (libraries.size() + 1) * 20;
  const std::size_t names_at = delayed_at + (delayed.size() + 1) * 32;
  ByteWriter tables, names;
  const auto address = [&] { return kAddress + names_at + names.size(); };
  const auto list_of = [&](const Library& library) {
    std::vector<std::uint64_t> list;
    for (const std::string& function : library.functions) {
      list.push_back(function.empty() ? std::uint64_t{1} << 63 | 7 : address());
      if (!function.empty()) names.u16(1).text(function).u8(0);
    }
    const std::size_t at = address();
    for (const std::uint64_t each : list) names.u64(each);
    names.u64(0);
    return at;
  };
  for (const Library& library : libraries) {
    const std::size_t list = list_of(library);
    tables.u32(bound ? list : 0).zeros(8).u32(address()).u32(bound ? kAddress : list);
    names.text(library.name).u8(0);
  }
  tables.zeros(20);
  for (const Library& library : delayed) {
    const std::size_t list = list_of(library);
    tables.u32(1).u32(address()).zeros(8).u32(list).zeros(12);
    names.text(library.name).u8(0);
  }
  tables.zeros(32).append(names.bytes());
  section(".idata", tables.bytes());
  sections_.back().address = kAddress;
  imports_at_ = kAddress;
  delayed_at_ = kAddress + static_cast<std::uint32_t>(delayed_at);
  return *this;
}

PeBuilder& PeBuilder::relocations(Bytes table) {
  relocations_at_ = 0x30000;
  relocations_size_ = static_cast<std::uint32_t>(table.size());
  section(".reloc", std::move(table));
  sections_.back().address = relocations_at_;
  return *this;
}

PeBuilder& PeBuilder::based(std::uint64_t address) {
  base_ = address;
  return *this;
}

PeBuilder& PeBuilder::no_bytes(std::string_view name, std::uint32_t size) {
  sections_.push_back({std::string(name), {}, size, 0xc0000080});
  return *this;
}

Bytes PeBuilder::bytes() const {
  const bool image = form_ == Form::image, big = form_ == Form::big_object;
  const bool has_pairs = imports_at_ != 0 || relocations_at_ != 0;
  const std::size_t optional = !image ? 0 : !has_pairs ? 112 : 112 + 16 * 8;
  const std::size_t sections_at = image ? 0x80 + 4 + 20 + optional : big ? 56 : 20;
  std::size_t content_at = sections_at + sections_.size() * 40;

  std::uint64_t next = 1;
  ByteWriter names, table, content;  // one symbol's worth of zeros stands for the symbol table
  for (const Section& section : sections_) {
    std::string name = section.name;
    if (!image && name.size() > 8) {
      const std::size_t at = 4 + names.size();
      names.text(name).u8(0);
      name = "/" + std::to_string(at);
    }
    name.resize(8);
    const std::size_t size = section.content.size();
    const std::uint64_t address = base_ == 0 ? section.address : 0x1000 * next++;
    table.text(name).u32(section.memory_size).u32(address).u32(size);
    table.u32(size == 0 ? 0 : content_at + content.size()).u32(0).u32(0).u32(0).u32(section.flags);
    content.append(section.content);
  }
  const std::size_t symbols_at = image ? 0 : content_at + content.size();
  const std::size_t symbols = image ? 0 : 1;

  ByteWriter file;
  if (image) file.text("MZ").zeros(0x3c - 2).u32(0x80).zeros(0x80 - 0x40).text("PE").zeros(2);
  if (big) {
    file.u16(0).u16(0xffff).u16(2).u16(0x8664).u32(0).zeros(16).zeros(16);
    file.u32(sections_.size()).u32(symbols_at).u32(symbols);
  } else {
    file.u16(0x8664)
        .u16(sections_.size())
        .u32(0)
        .u32(symbols_at)
        .u32(symbols)
        .u16(optional)
        .u16(image ? 0x2022 : 0);
  }
  if (has_pairs) {
    file.u16(0x20b).zeros(22).u64(base_).zeros(76).u32(16);
    file.zeros(8).u32(imports_at_).u32(20).zeros(3 * 8).u32(relocations_at_).u32(relocations_size_);
    file.zeros(7 * 8).u32(delayed_at_).u32(32).zeros(2 * 8);
  } else if (base_ != 0) {
    file.u16(0x20b).zeros(22).u64(base_).zeros(80);
  } else {
    file.zeros(optional);
  }
  file.append(table.bytes()).append(content.bytes());
  if (!image) file.zeros(big ? 20 : 18).u32(4 + names.size()).append(names.bytes());
  return file.bytes();
}

}  // namespace archguard::test
