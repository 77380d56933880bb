#include "cubin_builder.h"

#include "elf_builder.h"

namespace archguard::test {
namespace {

Bytes words(std::uint64_t low, std::uint64_t high) {
  return ByteWriter{}.u64(low).u64(high).bytes();
}

constexpr unsigned kLocalFunction = 0x02, kGlobalFunction = 0x12, kLocalObject = 0x01, kEntry = 0x10;

}  // namespace

namespace sass {
Bytes prologue() {
  return words(0x00000a0000017a02, 0x000fe40000000f00);
}
Bytes exit() {
  return words(0x000000000000794d, 0x000fea0003800000);
}
Bytes exit_if() {
  return words(0x000000000000094d, 0x000fea0003800000);
}
Bytes trap() {
  return words(0x000000040000795c, 0x000fea0000300000);
}
Bytes trap_if() {
  return words(0x000000040000095c, 0x000fea0000300000);
}
Bytes store() {
  return words(0x0000000502007986, 0x000fe2000c101904);
}
Bytes store_generic() {
  return words(0x0000000002007985, 0x0033de000c101904);
}
Bytes store_local() {
  return words(0x0000000201007387, 0x000fe40000100800);
}
Bytes store_shared() {
  return words(0x0000000209007388, 0x004fe80000004800);
}
Bytes load() {
  return words(0x0000000402027981, 0x000ea2000c1e1900);
}
Bytes call() {
  return words(0x0000000008007343, 0x003fde0003c00000);
}
Bytes branch() {
  return words(0xfffffff000007947, 0x000fc0000383ffff);
}
Bytes nop() {
  return words(0x0000000000007918, 0x000fc00000000000);
}
Bytes never_shuffle() {
  return words(0x000000fffffff389, 0x000fe200000e00ff);
}

Bytes join(const std::vector<Bytes>& instructions) {
  ByteWriter all;
  for (const Bytes& instruction : instructions) all.append(instruction);
  return all.bytes();
}
}  // namespace sass

CubinBuilder& CubinBuilder::sm(int number) {
  sm_ = number;
  return *this;
}

CubinBuilder& CubinBuilder::generation7(int toolkit) {
  toolkit7_ = toolkit;
  osabi_ = 0x33;
  abi_ = 7;
  return *this;
}

CubinBuilder& CubinBuilder::marked_a() {
  a_ = true;
  return *this;
}

CubinBuilder& CubinBuilder::identity(unsigned osabi, unsigned abi) {
  osabi_ = osabi;
  abi_ = abi;
  return *this;
}

CubinBuilder& CubinBuilder::relocatable() {
  return elf_type(1);
}

CubinBuilder& CubinBuilder::elf_type(unsigned type) {
  type_ = type;
  return *this;
}

CubinBuilder& CubinBuilder::flags(std::uint32_t more) {
  flags_ = more;
  return *this;
}

CubinBuilder& CubinBuilder::compat(Bytes records, unsigned type) {
  compat_ = std::move(records);
  compat_type_ = type;
  return *this;
}

CubinBuilder& CubinBuilder::toolkit_info(std::string_view release, std::string_view command) {
  release_ = release;
  command_ = command;
  return *this;
}

CubinBuilder& CubinBuilder::kernel(std::string_view name, Bytes code) {
  symbols_.push_back({std::string(name), std::move(code), kGlobalFunction, kEntry, true});
  return *this;
}

CubinBuilder& CubinBuilder::local_kernel(std::string_view name, Bytes code) {
  symbols_.push_back({std::string(name), std::move(code), kLocalFunction, kEntry, true});
  return *this;
}

CubinBuilder& CubinBuilder::function(std::string_view name, Bytes code) {
  symbols_.push_back({std::string(name), std::move(code), kGlobalFunction, 0, true});
  return *this;
}

CubinBuilder& CubinBuilder::reference(std::string_view name, unsigned type) {
  symbols_.push_back({std::string(name), {}, 0x10 | type, 0, false});
  return *this;
}

CubinBuilder& CubinBuilder::called(std::string_view name) {
  symbols_.push_back({std::string(name), {}, kGlobalFunction, 0, false});
  return *this;
}

CubinBuilder& CubinBuilder::undefined_kernel(std::string_view name) {
  symbols_.push_back({std::string(name), {}, kGlobalFunction, kEntry, false});
  return *this;
}

CubinBuilder& CubinBuilder::variable(std::string_view name, std::string_view section, std::size_t size,
                                     unsigned other) {
  symbols_.push_back({std::string(name), Bytes(size), kLocalObject, other, true, std::string(section)});
  return *this;
}

CubinBuilder& CubinBuilder::parameters(unsigned bytes) {
  symbols_.back().parameters = bytes;
  return *this;
}

CubinBuilder& CubinBuilder::driver_calls(std::vector<unsigned> symbols, std::vector<unsigned> offsets) {
  symbols_.back().called_symbols = std::move(symbols);
  symbols_.back().call_offsets = std::move(offsets);
  return *this;
}

// Sections 1 and 2 are the strings and symbols, 3 and following the kernels' code; symbols begin with 1.
void CubinBuilder::add_sections_of(const Symbol& symbol, unsigned index, ElfBuilder& elf) {
  const unsigned code = 3 + index;
  if (symbol.parameters != 0) {
    ByteWriter info;  // a record of four bytes of value before
    info.u8(4).u8(0x37).u16(4).u32(129).u8(3).u8(0x19).u16(symbol.parameters);
    elf.linked_section(".nv.info." + symbol.name, info.bytes(), 0x70000000, 2, code);
  }
  if (!symbol.called_symbols.empty()) {
    ByteWriter info;
    info.u8(4).u8(0x0f).u16(4 * static_cast<unsigned>(symbol.called_symbols.size()));
    for (const unsigned each : symbol.called_symbols) info.u32(each);
    info.u8(4).u8(0x46).u16(4 * static_cast<unsigned>(symbol.call_offsets.size()));
    for (const unsigned each : symbol.call_offsets) info.u32(each);
    elf.linked_section(".nv.info." + symbol.name, info.bytes(), 0x70000000, 2, code);
  }
  if (symbol.constants != 0)
    elf.linked_section(".nv.constant0." + symbol.name, Bytes(symbol.constants), 1, 0, code);
  if (symbol.relocations != 0) {
    ByteWriter entries;  // of the first symbol, type 2
    for (std::size_t at = 0; at < symbol.relocations; at += 24) entries.u64(8).u32(2).u32(1).u64(0);
    elf.linked_section(".rela.text." + symbol.name, entries.bytes(), 4, 2, code);
  }
  if (symbol.second_code != 0) {  // a head, the bits of eight instructions, a stream
    Bytes second = ByteWriter{}.u32(32).u32(0xc0000001).u32(8).bytes();
    second.resize(symbol.second_code, 0x50);
    elf.linked_section(".nv.capmerc.text." + symbol.name, second, 0x70000016, 2, 1 + index);
  }
}

CubinBuilder& CubinBuilder::constants(std::size_t size) {
  symbols_.back().constants = size;
  return *this;
}

CubinBuilder& CubinBuilder::relocations(std::size_t size) {
  symbols_.back().relocations = size;
  return *this;
}

CubinBuilder& CubinBuilder::second_code(std::size_t size) {
  symbols_.back().second_code = size;
  return *this;
}

// The section of the kernel that `.nv.constant0.<kernel>` belongs to; 0 of another.
unsigned CubinBuilder::code_of_parameters(const std::string& section) const {
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    if (section == ".nv.constant0." + symbols_[i].name) return static_cast<unsigned>(3 + i);
  return 0;
}

Bytes CubinBuilder::bytes() const {
  const auto sm = static_cast<std::uint32_t>(sm_);
  const bool seven = abi_ == 7;
  std::uint32_t flags = seven ? sm | sm << 16 : sm << 8 | 0x6000004;
  if (seven && a_) flags |= 0x800;
  flags |= flags_;
  ElfBuilder elf;
  elf.type(type_).machine(190).identity(osabi_, abi_, seven ? static_cast<unsigned>(toolkit7_) : 1, flags);

  // The order that add_sections_of() counts on.
  ByteWriter strings, symbols;
  strings.u8(0);
  symbols.zeros(24);
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    const Symbol& symbol = symbols_[i];
    symbols.u32(strings.size()).u8(symbol.info).u8(symbol.other).u16(symbol.defined ? 3 + i : 0);
    symbols.u64(0).u64(symbol.code.size());
    strings.text(symbol.name).u8(0);
  }
  elf.section(".strtab", strings.bytes(), 3, 0);
  elf.linked_section(".symtab", symbols.bytes(), 2, 1);
  for (const Symbol& symbol : symbols_) {
    if (symbol.section.empty())
      elf.section(".text." + symbol.name, symbol.code, 1, 6);
    else
      elf.linked_section(symbol.section, symbol.code, 1, 0, code_of_parameters(symbol.section));
  }
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    add_sections_of(symbols_[i], static_cast<unsigned>(i), elf);
  if (!release_.empty()) {
    ByteWriter note;
    note.u32(12).u32(0).u32(2000).text("NVIDIA Corp").u8(0).text("ptxas").u8(0);
    note.text("Cuda compilation tools, release " + release_ + ", V" + release_ + ".88")
        .u8(0)
        .text(command_)
        .u8(0);
    elf.section(".note.nv.tkinfo", note.bytes(), 7, 0);
  }
  const Bytes marked = {2, 9, 1, 0, 2, 2, 1, 0, 4, 0x0b, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0};
  const Bytes& compat = !seven && a_ ? marked : compat_;
  if (!compat.empty()) elf.section(".nv.compat", compat, compat_type_, 0);
  return elf.bytes();
}

}  // namespace archguard::test
