#include <algorithm>
#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/archive_builder.h"
#include "support/builders/pe_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

test::Bytes operator+(test::Bytes left, const test::Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

test::Bytes zeros(std::size_t count) {
  return test::Bytes(count);
}

// 16 + 64 + 8 bytes.
test::Bytes small(int arch) {
  return FatbinBuilder{}.cubin(arch, filler(8)).bytes();
}

// Counts the bytes that are asked for.
class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(const test::Bytes& bytes) : memory_(bytes) {}
  std::uint64_t size() const override { return memory_.size(); }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override {
    bytes_read += count;
    return memory_.read(offset, out, count);
  }
  mutable std::uint64_t bytes_read = 0;

 private:
  MemorySource memory_;
};

}  // namespace

TEST_CASE("containers stand back to back in their section, with zero bytes between") {
  const auto section = zeros(8) + small(80) + small(90) + zeros(2048) + small(120) + zeros(4);
  const DeviceCode code = read(object_with(".nv_fatbin", section), "t.o");
  CHECK(errors_of(code) == "");
  CHECK(outline(code) ==
        "t.o(.nv_fatbin+0x8): sass 80;\n"
        "t.o(.nv_fatbin+0x60): sass 90;\n"
        "t.o(.nv_fatbin+0x8b8): sass 120;\n");
  CHECK_FALSE(code.objects[0].linked);
}

TEST_CASE("parts for device linking are marked") {
  CHECK(outline(read(object_with("__nv_relfatbin", small(80)), "t.o")) ==
        "t.o(__nv_relfatbin+0x0) relocatable: sass 80;\n");
}

TEST_CASE("an object whose list of what host code names was overwritten by zeros is an error") {
  const auto said = [](const test::Bytes& list, const test::Bytes& code = small(80)) {
    const auto bytes =
        ElfBuilder{}.relocatable().section("__nv_relfatbin", code).section(".nvHRKE", list).bytes();
    return errors_of(read(bytes, "t.o"));
  };
  const auto names = test::bytes_of_text("_Z1kv") + zeros(1);
  const std::string lost =
      "t.o(.nvHRKE+0x0): the list of the device code that host code names, by which nvlink goes, was "
      "overwritten by zeros\n";
  CHECK(said(names) == "");
  CHECK(said(names + names) == "");
  CHECK_MESSAGE(said(zeros(1)) == "", "host code names nothing");
  CHECK(said(zeros(6)) == lost);
  CHECK(said(zeros(6) + names) == lost);
  CHECK_MESSAGE(said(zeros(129) + names, small(80) + small(90)) == "", "of two objects, joined");
  CHECK(said(zeros(130) + names, small(80) + small(90)) == lost);
}

TEST_CASE("a section of device code that the loader does not map is an error") {
  const auto said = [](std::uint64_t offset, std::uint64_t size, std::uint64_t address,
                       const char* section = ".nv_fatbin") {
    ElfBuilder elf;
    elf.load_segment(offset, size, address).section(section, small(80)).at(0x401078);
    CHECK(elf.offset_of_last() == 0x78);
    return errors_of(read(elf.bytes(), "t.so"));
  };
  const auto from = [](const std::string& at) {
    return "t.so(" + at +
           "): the loader does not bring this part of the section into memory: the file's headers disagree "
           "(PT_LOAD)\n";
  };
  CHECK(said(0, 0xd0, 0x401000) == "");
  CHECK(said(0x78, 0x58, 0x401078) == "");
  CHECK(said(0, 0xcf, 0x401000) == from(".nv_fatbin+0x57"));
  CHECK(said(0, 0xcf, 0x401000, ".rodata") == from(".rodata+0x57"));
  CHECK(said(8, 0xd0, 0x401000) == from(".nv_fatbin+0x0"));
  CHECK(said(0, 0xd0, 0x402000) == from(".nv_fatbin+0x0"));
  // No device code is concerned: of a section that holds none, and behind it in its section.
  CHECK(errors_of(read(ElfBuilder{}.load_segment(0, 8, 8).section(".data", filler(64)).at(64).bytes(),
                       "t.so")) == "");
  ElfBuilder behind;
  behind.load_segment(0, 0xd0, 0x401000).section(".rodata", small(80) + filler(64)).at(0x401078);
  CHECK(errors_of(read(behind.bytes(), "t.so")) == "");
}

TEST_CASE("a section of a PE image is in memory as far as its VirtualSize tells, to the end of a page") {
  const auto said = [](unsigned size) {
    test::Bytes bytes =
        PeBuilder{}.section(".nv_fatb", FatbinBuilder{}.cubin(80, filler(8000)).bytes()).bytes();
    const std::string name = ".nv_fatb";
    const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end()) + 8;
    for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(size >> 8 * i);
    return errors_of(read(bytes, "t.dll"));
  };
  for (const unsigned size : {8000U, 4097U, 0U}) CHECK(said(size) == "");  // 0: as in the file
  CHECK(said(16) ==
        "t.dll(.nv_fatb+0x1000): the loader does not bring this part of the section into memory: the "
        "file's headers disagree (VirtualSize)\n");
}

TEST_CASE("the sections of a PE image have their names cut") {
  const auto bytes =
      PeBuilder{}.section(".nv_fatb", small(80) + zeros(8)).section("__nv_rel", small(90)).bytes();
  const DeviceCode code = read(bytes, "t.dll");
  CHECK(errors_of(code) == "");
  CHECK(outline(code) == "t.dll(.nv_fatb+0x0): sass 80;\nt.dll(__nv_rel+0x0) relocatable: sass 90;\n");
}

TEST_CASE("containers are found in any section, at any offset, and without a section table") {
  const auto elf = ElfBuilder{}.section(".rodata", filler(3) + small(80) + filler(5) + small(90));
  CHECK(outline(read(elf.bytes(), "t")) == "t(.rodata+0x3): sass 80;\nt(.rodata+0x60): sass 90;\n");
  CHECK(outline(read(ElfBuilder(elf).without_section_table().bytes(), "t")) ==
        "t(+0x43): sass 80;\nt(+0xa0): sass 90;\n");
}

TEST_CASE("sections in any order give containers in the order of the file") {
  const auto bytes = ElfBuilder{}
                         .section(".data", small(75))
                         .section("__nv_relfatbin", small(80))
                         .section(".ldata", small(86))
                         .section(".nv_fatbin", small(90))
                         .section(".cask_resource", small(120))
                         .bytes();
  const DeviceCode code = read(bytes, "t");
  CHECK(errors_of(code) == "");
  CHECK(outline(code) ==
        "t(.data+0x0): sass 75;\n"
        "t(__nv_relfatbin+0x0) relocatable: sass 80;\n"
        "t(.ldata+0x0): sass 86;\n"
        "t(.nv_fatbin+0x0): sass 90;\n"
        "t(.cask_resource+0x0): sass 120;\n");
  const auto& fatbins = code.objects[0].fatbins;
  CHECK(std::is_sorted(fatbins.begin(), fatbins.end(),
                       [](const Fatbin& a, const Fatbin& b) { return a.offset < b.offset; }));
}

TEST_CASE("a container is found across the blocks of a search") {
  for (const std::size_t before : {4093U, 4096U - 4, 12 * 1024U - 2, 28 * 1024U - 1, 300000U}) {
    const auto bytes = ElfBuilder{}.section(".data", filler(before) + small(80)).bytes();
    CHECK_MESSAGE(read(bytes, "t").objects[0].fatbins.size() == 1, before);
  }
}

TEST_CASE("a magic number in code is no container") {
  const test::Bytes magic = {0x50, 0xed, 0x55, 0xba};
  const test::Bytes header = ByteWriter{}.u32(0xBA55ED50).u16(1).u16(16).u64(72).bytes();
  const DeviceCode code =
      read(ElfBuilder{}.section(".text", magic + filler(80) + header + filler(80), 1, 6).bytes(), "t");
  CHECK(errors_of(code) == "");
  CHECK(code.objects.size() == 1);
  CHECK(outline(code) == "");
}

TEST_CASE("a file made of magic numbers is read once") {
  ByteWriter magics;
  for (int i = 0; i < 100'000; ++i) magics.u32(0xBA55ED50);
  const auto bytes = ElfBuilder{}.section(".data", magics.bytes()).bytes();
  const CountingSource source(bytes);
  CHECK(read_device_code(source, "t").errors.empty());
  CHECK(source.bytes_read < 2 * bytes.size());
}

TEST_CASE("sections of device code that overlap are an error, not read twice") {
  auto bytes = ElfBuilder{}.section(".nv_fatbin", small(80)).section("__nv_relfatbin", small(90)).bytes();
  const std::size_t table = bytes[40] | bytes[41] << 8;
  bytes[table + 2 * 64 + 24] = kFirstSectionAt;  // sh_offset
  const DeviceCode code = read(bytes, "t");
  CHECK(errors_of(code) == "t(__nv_relfatbin+0x0): section overlaps another section of device code\n");
  CHECK(outline(code) == "t(.nv_fatbin+0x0): sass 80;\nt(+0x98): sass 90;\n");
}

TEST_CASE("a section of device code that is never in memory is an error in a linked file") {
  const auto with = [](ElfBuilder builder, std::uint64_t flags) {
    return errors_of(read(builder.section(".nv_fatbin", small(80), 1, flags).bytes(), "t"));
  };
  CHECK(with(ElfBuilder{}, 2) == "");
  CHECK(with(ElfBuilder{}, 1) ==
        "t(.nv_fatbin+0x0): section is no part of the program's memory (no SHF_ALLOC)\n");
  CHECK(with(ElfBuilder{}.relocatable(), 0) == "");
}

TEST_CASE("a section of device code without bytes is no data, which is not no code") {
  const DeviceCode code = read(ElfBuilder{}.no_bits(".nv_fatbin", 4096).bytes(), "t.debug");
  CHECK(errors_of(code) == "");
  REQUIRE(code.warnings.size() == 1);
  CHECK(code.warnings[0] ==
        "t.debug(.nv_fatbin): has a size but no bytes: debug symbols only, without the device code");
  CHECK(code.objects[0].data_missing);
}

TEST_CASE("members of an archive have offsets of their own") {
  const auto bytes = ArchiveBuilder{}
                         .member("x.o", object_with(".nv_fatbin", small(80)))
                         .member("odd", filler(3))
                         .member("y.fatbin", small(90))
                         .bytes();
  const DeviceCode code = read(bytes, "libt.a");
  CHECK(errors_of(code) == "");
  CHECK(code.archive);
  CHECK(outline(code) == "libt.a(x.o)(.nv_fatbin+0x0): sass 80;\nlibt.a(y.fatbin): sass 90;\n");
  REQUIRE(code.objects.size() == 3);

  const MemorySource file(bytes);
  const auto image = inflate(code.objects[2].fatbins[0].entries[0], bytes_of(code.objects[2], file));
  REQUIRE(image);
  CHECK(*image == filler(8));
}

TEST_CASE("a file of no known format is not recognized") {
  const DeviceCode code = read(bytes_of_text("hello"), "README");
  CHECK_FALSE(code.recognized);
  CHECK(errors_of(code) == "README: is no ELF or PE file, archive, fat binary, cubin or PTX\n");
}

TEST_CASE("what an ELF file says is no data is not searched, unless it may hold data after all") {
  constexpr unsigned kBits = 1, kSymbols = 2, kNames = 3;
  constexpr std::uint64_t kLoaded = 2, kCode = 6, kNotLoaded = 0;
  const auto constants = zeros(64) + small(90);
  const auto file = [&](const std::string& name, unsigned type, std::uint64_t flags) {
    return ElfBuilder{}.section(name, small(80), type, flags).section(".rodata", constants).bytes();
  };
  const std::string only = "t.so(.rodata+0x40): sass 90;\n";
  CHECK(outline(read(file(".text", kBits, kCode), "t.so")) == only);
  CHECK(outline(read(file(".symtab", kSymbols, kNotLoaded), "t.so")) == only);
  for (const std::string usual : {".text.hot", ".init", ".fini", ".plt", ".plt.sec"})
    CHECK(outline(read(file(usual, kBits, kCode), "t.so")) == only);
  CHECK(outline(read(file(".mine", kBits, kCode), "t.so")) == "t.so(.mine+0x0): sass 80;\n" + only);
  CHECK(outline(read(file(".strtab", kNames, kNotLoaded), "t.so")) == only);
  CHECK(outline(read(file(".gnu.x", kNames, kLoaded), "t.so")) == "t.so(.gnu.x+0x0): sass 80;\n" + only);
  CHECK(outline(read(file(".debug_info", kBits, kNotLoaded), "t.so")) == only);
  CHECK(outline(read(file(".debug_info", kBits, kLoaded), "t.so")) ==
        "t.so(.debug_info+0x0): sass 80;\n" + only);
  CHECK(outline(read(file(".comment", kBits, kNotLoaded), "t.so")) ==
        "t.so(.comment+0x0): sass 80;\n" + only);
  // Before nothing is found, all is looked at.
  const auto alone = [&](const Bytes& code) {
    return outline(read(
        ElfBuilder{}.section(".text", code, kBits, kCode).section(".rodata", zeros(64)).bytes(), "t.so"));
  };
  CHECK(alone(zeros(24) + small(80)) == "t.so(.text+0x18): sass 80;\n");
  CHECK(alone(zeros(24)).empty());
  // What looks like damage in machine code is a constant of it.
  Bytes damaged = small(80);
  damaged[4] = 7;
  const auto code = ElfBuilder{}.section(".mine", damaged, kBits, kCode).section(".rodata", constants);
  CHECK(errors_of(read(code.bytes(), "t.so")) == "");
  const auto data = ElfBuilder{}.section(".mine", damaged).section(".rodata", constants);
  CHECK(errors_of(read(data.bytes(), "t.so")) ==
        "t.so(.mine+0x0): fat binary's version must be 1, found 7\n");
  // A linker that was told to merge constants into the machine code leaves no section for them.
  const auto merged =
      ElfBuilder{}.section(".text", small(80), kBits, kCode).section(".data", constants).bytes();
  CHECK(outline(read(merged, "t.so")) == "t.so(.text+0x0): sass 80;\nt.so(.data+0x40): sass 90;\n");
  // Device code says itself where it is.
  const auto device =
      ElfBuilder{}.section(".nv_fatbin", small(80), kBits, kCode).section(".rodata", constants);
  CHECK(outline(read(device.bytes(), "t.so")) == "t.so(.nv_fatbin+0x0): sass 80;\n" + only);
}
