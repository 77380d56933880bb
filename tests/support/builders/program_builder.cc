#include "program_builder.h"

#include "elf_builder.h"

namespace archguard::test {
namespace {

constexpr std::uint64_t kLinkedAt = 0x10000000, kRelocatableAt = 0x20000000, kSegmentAt = 0x30000000;
constexpr std::size_t kFirstSectionAt = 0x40;

}  // namespace

// The bytes of both sections of device code, and where each part is in its own.
class ProgramBuilder::Layout {
 public:
  explicit Layout(const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      ByteWriter& section = part.relocatable ? relocatable : linked;
      within.push_back(section.size());
      section.append(part.fatbin).align(8);
    }
  }
  ByteWriter linked, relocatable;
  std::vector<std::size_t> within;
};

ProgramBuilder& ProgramBuilder::object(std::string_view id, Bytes fatbin) {
  ids_.align(16).text(id).u8(0);
  parts_.push_back({true, 1, std::move(fatbin)});
  return *this;
}

ProgramBuilder& ProgramBuilder::whole(Bytes fatbin) {
  ids_.align(16).text("__NV_MODULE_ID").u8(0);
  parts_.push_back({false, 1, std::move(fatbin)});
  return *this;
}

ProgramBuilder& ProgramBuilder::link(const std::vector<std::string>& ids, Bytes fatbin) {
  for (const std::string& id : ids) ids_.text("def ").text(id).u8(0);
  parts_.push_back({false, 2, std::move(fatbin)});
  return *this;
}

ProgramBuilder& ProgramBuilder::pointers(Pointers where) {
  pointers_ = where;
  return *this;
}

ProgramBuilder& ProgramBuilder::machine(unsigned machine) {
  machine_ = machine;
  return *this;
}

ProgramBuilder& ProgramBuilder::without_ids() {
  has_ids_ = false;
  return *this;
}

ProgramBuilder& ProgramBuilder::without_section_table() {
  has_sections_ = false;
  return *this;
}

ProgramBuilder& ProgramBuilder::objects_in(std::string section) {
  objects_in_ = std::move(section);
  return *this;
}

ProgramBuilder& ProgramBuilder::host_names(const std::vector<std::string>& kernels,
                                           const std::vector<std::string>& variables) {
  names_ = true;
  for (const std::string& name : kernels) named_kernels_.text(name).u8(0);
  for (const std::string& name : variables) named_variables_.text(name).u8(0);
  return *this;
}

ProgramBuilder& ProgramBuilder::constants(Bytes bytes) {
  constants_ = std::move(bytes);
  return *this;
}

ProgramBuilder& ProgramBuilder::symbol(std::string_view name, unsigned type, std::uint64_t value,
                                       std::uint64_t size) {
  if (symbols_.size() == 0) {
    symbols_.zeros(24);
    symbol_names_.u8(0);
  }
  symbols_.u32(symbol_names_.size()).u8(type).u8(0).u16(1).u64(value).u64(size);
  symbol_names_.text(name).u8(0);
  return *this;
}

ProgramBuilder& ProgramBuilder::wants(std::string_view name) {
  if (wanted_.size() == 0) {
    wanted_.zeros(24);
    wanted_names_.u8(0);
  }
  wanted_.u32(wanted_names_.size()).u8(0x12).u8(0).u16(0).zeros(16);
  wanted_names_.text(name).u8(0);
  return *this;
}

ProgramBuilder& ProgramBuilder::code(Bytes bytes) {
  code_ = std::move(bytes);
  return *this;
}

ProgramBuilder& ProgramBuilder::compiled_by(std::string compiler) {
  compiler_ = std::move(compiler);
  return *this;
}

ProgramBuilder& ProgramBuilder::program() {
  program_ = true;
  return *this;
}

ProgramBuilder& ProgramBuilder::fixed() {
  fixed_ = true;
  return *this;
}

std::size_t ProgramBuilder::offset_of(std::size_t nth) const {
  const Layout layout(parts_);
  return kFirstSectionAt + layout.within[nth] + (parts_[nth].relocatable ? layout.linked.size() : 0);
}

Bytes ProgramBuilder::bytes() const {
  const Layout layout(parts_);
  ByteWriter segment, relocations;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::uint64_t address = (parts_[i].relocatable ? kRelocatableAt : kLinkedAt) + layout.within[i];
    if (pointers_ == Pointers::relocations)
      relocations.u64(kSegmentAt + segment.size() + 8).u32(machine_ == 62 ? 8 : 1027).u32(0).u64(address);
    segment.u32(0x466243b1).u32(parts_[i].version);
    segment.u64(pointers_ == Pointers::in_place ? address : 0).u64(0);
  }
  ElfBuilder elf;
  elf.machine(machine_);
  elf.section(".nv_fatbin", layout.linked.bytes()).at(kLinkedAt);
  elf.section(objects_in_, layout.relocatable.bytes()).at(kRelocatableAt);
  elf.section(".nvFatBinSegment", segment.bytes()).at(kSegmentAt);
  if (!constants_.empty()) elf.section(".rodata", constants_).at(0x50000000);
  if (!code_.empty()) elf.section(".text", code_, 1, 6).at(kCodeAt);
  if (symbols_.size() != 0) {
    elf.section(".symtab", symbols_.bytes(), 2, 0);
    elf.section(".strtab", symbol_names_.bytes(), 3, 0);
    elf.section(".comment", ByteWriter{}.text(compiler_).u8(0).bytes(), 1, 0);
  }
  if (wanted_.size() != 0)
    elf.section(".dynsym", wanted_.bytes(), 11).section(".dynstr", wanted_names_.bytes(), 3);
  if (has_ids_) elf.section("__nv_module_id", ids_.bytes()).at(0x40000000);
  if (relocations.size() != 0) elf.section(".rela.dyn", relocations.bytes(), 4);
  if (fixed_) elf.executable();
  if (program_) elf.section(".interp", ByteWriter{}.text("/lib64/ld-linux-x86-64.so.2").u8(0).bytes());
  if (names_) {
    elf.section(".nvHRKE", ByteWriter{}.u8(0).append(named_kernels_.bytes()).bytes());
    elf.section(".nvHRDE", ByteWriter{}.u8(0).append(named_variables_.bytes()).bytes());
    for (const char* none : {".nvHRKI", ".nvHRDI", ".nvHRCE", ".nvHRCI"})
      elf.section(none, ByteWriter{}.u8(0).bytes());
  }
  if (!has_sections_) elf.without_section_table();
  return elf.bytes();
}

}  // namespace archguard::test
