#include <doctest/doctest.h>
#include <functional>

#include "reading.h"
#include "support/builders/archive_builder.h"
#include "support/builders/pe_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

test::Bytes one_cubin() {
  return FatbinBuilder{}.cubin(80, filler(64)).bytes();
}

// Offsets of fields of one_cubin(), whose entry begins at 16.
constexpr std::size_t kVersion = 4, kHeaderSize = 6, kSize = 8;
constexpr std::size_t kEntryHeaderSize = 16 + 4, kPayloadSize = 16 + 8, kCompressed = 16 + 16;
constexpr std::size_t kIdentifier = 16 + 32, kIdentifierSize = 16 + 36, kFlags = 16 + 40;

std::string fatbin_error(const std::function<void(test::Bytes&)>& damage) {
  test::Bytes bytes = one_cubin();
  damage(bytes);
  return errors_of(read(bytes, "t.fatbin"));
}

std::string section_error(test::Bytes section) {
  return errors_of(read(object_with(".nv_fatbin", section), "t.o"));
}

}  // namespace

TEST_CASE("a payload one byte short names the entry and the offset") {
  CHECK(fatbin_error([](test::Bytes& b) { b.pop_back(); }) ==
        "t.fatbin(+0x10): entry 0 payload needs 64 bytes, 63 remain\n");
  auto bytes = one_cubin();
  bytes.pop_back();
  CHECK(section_error(bytes) == "t.o(.nv_fatbin+0x10): entry 0 payload needs 64 bytes, 63 remain\n");
}

TEST_CASE("a cut between entries is found by the container's size") {
  auto bytes = FatbinBuilder{}.cubin(80, filler(8)).cubin(90, filler(8)).bytes();
  bytes.resize(16 + 72);
  CHECK(errors_of(read(bytes, "t.fatbin")) == "t.fatbin(+0x0): fat binary needs 144 bytes, 72 remain\n");
}

TEST_CASE("each field that cannot be right is named with what was expected and found") {
  using B = test::Bytes;
  CHECK(fatbin_error([](B& b) { b[kVersion] = 2; }) ==
        "t.fatbin(+0x0): fat binary's version must be 1, found 2\n");
  CHECK(fatbin_error([](B& b) { b[kHeaderSize] = 24; }) ==
        "t.fatbin(+0x0): fat binary's header size must be 16, found 24\n");
  CHECK(fatbin_error([](B& b) { b[kSize] = 127; }) ==
        "t.fatbin(+0x0): fat binary's size must be a multiple of 8, found 127\n");
  CHECK(fatbin_error([](B& b) { b[kSize] = 120; }) ==
        "t.fatbin(+0x10): entry 0 payload needs 64 bytes, 56 remain\n"
        "t.fatbin(+0x88): expected a fat binary's magic 0xba55ed50, found "
        "0x1d1c1b1a\n");
  CHECK(fatbin_error([](B& b) { b[kEntryHeaderSize] = 56; }) ==
        "t.fatbin(+0x10): entry 0 header size must be a multiple of 8 from 64 to 1048576, found 56\n");
  CHECK(fatbin_error([](B& b) { b[kEntryHeaderSize] = 68; }) ==
        "t.fatbin(+0x10): entry 0 header size must be a multiple of 8 from 64 to 1048576, found 68\n");
  CHECK(fatbin_error([](B& b) { b[kEntryHeaderSize] = 136; }) ==
        "t.fatbin(+0x10): entry 0 header needs 136 bytes, 128 remain\n");
  CHECK(fatbin_error([](B& b) { b[kPayloadSize] = 63; }) ==
        "t.fatbin(+0x10): entry 0 payload size must be a multiple of 8, found 63\n");
  CHECK(fatbin_error([](B& b) { b[kPayloadSize + 7] = 0x80; }) ==
        "t.fatbin(+0x10): entry 0 payload needs 9223372036854775872 bytes, 64 remain\n");
  CHECK(fatbin_error([](B& b) { b[kPayloadSize] = 56; }) ==
        "t.fatbin(+0x88): entry 1 header needs 64 bytes, 8 remain\n");
  CHECK(fatbin_error([](B& b) { b[kFlags + 1] = 0xa0; }) ==
        "t.fatbin(+0x10): entry 0 claims two compressions, LZ4 and zstd\n");
  CHECK(fatbin_error([](B& b) { b[kFlags + 1] = 0x80; }) ==
        "t.fatbin(+0x10): entry 0 compressed size must be 1 to 64, found 0\n");
  CHECK(fatbin_error([](B& b) {
          b[kFlags + 1] = 0x80;
          b[kCompressed] = 65;
        }) == "t.fatbin(+0x10): entry 0 compressed size must be 1 to 64, found 65\n");
  CHECK(fatbin_error([](B& b) {
          b[kIdentifier] = 60;
          b[kIdentifierSize] = 5;
        }) == "t.fatbin(+0x10): entry 0 identifier lies outside the entry's header\n");
}

TEST_CASE("in its section everything must be a container") {
  const auto with_tail = [](const test::Bytes& tail) {
    auto bytes = one_cubin();
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    return bytes;
  };
  CHECK(section_error(with_tail(filler(8))) ==
        "t.o(.nv_fatbin+0x90): expected a fat binary's magic 0xba55ed50, found 0x4030201\n");
  CHECK(section_error(with_tail({1, 2, 3})) ==
        "t.o(.nv_fatbin+0x90): expected a fat binary's magic 0xba55ed50, found 3 bytes\n");
  CHECK(section_error(with_tail({0x01, 0x5a, 0xe5, 0x1e, 0, 0, 0, 0})) ==
        "t.o(.nv_fatbin+0x90): old fat binary format 0x1ee55a01 is unknown\n");
  CHECK(section_error({0x50, 0xed, 0x55, 0xba}) ==
        "t.o(.nv_fatbin+0x0): fat binary's header needs 16 bytes, 4 remain\n");
}

TEST_CASE("containers behind damage are still read") {
  auto bytes = one_cubin();
  bytes[kEntryHeaderSize] = 56;
  const auto second = FatbinBuilder{}.cubin(90, filler(8)).bytes();
  bytes.insert(bytes.end(), second.begin(), second.end());
  const DeviceCode code = read(object_with(".nv_fatbin", bytes), "t.o");
  CHECK(code.errors.size() == 1);
  CHECK(outline(code) == "t.o(.nv_fatbin+0x90): sass 90;\n");
}

TEST_CASE("outside of its sections a damaged container is an error too, once its first header stands") {
  auto bytes = FatbinBuilder{}.cubin(80, filler(8)).cubin(90, filler(8)).bytes();
  bytes[16 + 72 + 4] = 56;  // header size of the second entry
  CHECK(errors_of(read(object_with(".rodata", bytes), "t.o")) ==
        "t.o(.rodata+0x58): entry 1 header size must be a multiple of 8 from 64 to 1048576, found 56\n");

  auto larger = one_cubin();
  larger[kSize + 1] = 1;  // runs out of its section
  CHECK(errors_of(read(object_with(".rodata", larger), "t.o")) ==
        "t.o(.rodata+0x0): fat binary needs 384 bytes, 128 remain\n");
}

TEST_CASE("a file made of damage ends after a bounded number of errors") {
  test::Bytes bytes;
  for (int i = 0; i < 100; ++i) {
    auto one = one_cubin();
    one[kEntryHeaderSize] = 56;
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  const DeviceCode code = read(bytes, "t.fatbin");
  REQUIRE(code.errors.size() == 17);
  CHECK(code.errors.back().text() == "t.fatbin: is damaged in many places, the rest is not read");
}

TEST_CASE("every cut of a small file is an error") {
  const auto whole =
      FatbinBuilder{}.cubin(80, filler(24)).identifier("a.cu").ptx("90", "8.7", "x").zstd().bytes();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const test::Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_MESSAGE(!read(cut, "t").errors.empty(), size);
    CHECK_MESSAGE(!read(object_with(".nv_fatbin", cut), "t").errors.empty(), size);
  }
}

TEST_CASE("every flipped byte of the headers ends in an error, a note, or another known answer") {
  const auto whole =
      FatbinBuilder{}.cubin(80, filler(24)).identifier("a.cu").ptx("90", "8.7", "x").zstd().bytes();
  const std::size_t size = whole.size();
  for (std::size_t at = 0; at < size; ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 1U << bit);
      const DeviceCode code = read(bytes, "t");
      for (const DeviceObject& object : code.objects)
        for (const Fatbin& fatbin : object.fatbins) {
          CHECK(fatbin.offset + fatbin.size <= size);
          for (const FatbinEntry& entry : fatbin.entries) {
            CHECK(entry.payload_offset + entry.stored_size <= size);
            const MemorySource source(bytes);
            if (const auto image = inflate(entry, source)) CHECK(image->size() == entry.uncompressed_size);
          }
        }
    }
}

namespace {

// A file that has shrunk to nothing after some reads.
class Shrinking final : public ByteSource {
 public:
  Shrinking(ByteView bytes, std::size_t reads) : bytes_(bytes), reads_(reads) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override {
    if (reads_ == 0) return Error{{}, "ends at 0x0 while it is read: it shrank", {}};
    --reads_;
    return bytes_.read(offset, out, count);
  }
  std::size_t left() const { return reads_; }

 private:
  MemorySource bytes_;
  mutable std::size_t reads_;
};

}  // namespace

TEST_CASE("a file that shrinks while it is read is an error, whichever read sees it first") {
  const auto bytes =
      object_with(".nv_fatbin", FatbinBuilder{}.cubin(80, filler(24)).identifier("a.cu").bytes());
  const Shrinking whole(bytes, 1000);
  CHECK(errors_of(read_device_code(whole, "t.o")).empty());
  const std::size_t reads = 1000 - whole.left();
  CHECK(reads > 2);
  for (std::size_t i = 0; i < reads; ++i) {
    const DeviceCode code = read_device_code(Shrinking(bytes, i), "t.o");
    REQUIRE_MESSAGE(!code.errors.empty(), i);
    CHECK(code.errors[0].what.find("it shrank") != std::string::npos);
  }
}

namespace {

// What the host code of so many fat binaries hands to the runtime.
test::Bytes registrations(std::size_t count, std::size_t padding = 0) {
  test::ByteWriter out;
  for (std::size_t i = 0; i < count; ++i) out.u32(0x466243b1).u32(1).u64(0).u64(0);
  return out.zeros(padding).bytes();
}

}  // namespace

TEST_CASE(
    "a file that registers more fat binaries than it holds lost some: removed, or overwritten by zeros") {
  const auto error_of = [&](ElfBuilder elf, std::size_t count) {
    return errors_of(read(elf.section(".nvFatBinSegment", registrations(count)).bytes(), "t.so"));
  };
  const auto held = [] { return ElfBuilder{}.section(".nv_fatbin", one_cubin()); };
  CHECK(error_of(held(), 1) == "");
  CHECK(error_of(held().section("__nv_relfatbin", one_cubin()), 2) == "");
  CHECK(error_of(held(), 0) == "");
  const std::string lost =
      "t.so(.nvFatBinSegment+0x0): registers 2 fat binaries, and the file holds 1: device code was removed "
      "or overwritten\n";
  CHECK(error_of(held(), 2) == lost);
  // An object whose relocations are in a form that is not read.
  const auto object = [] { return ElfBuilder{}.relocatable().section(".crel.nvFatBinSegment", filler(8)); };
  CHECK(error_of(object().section(".nv_fatbin", one_cubin()), 2) == lost);
  CHECK(error_of(object().section(".nv_fatbin", one_cubin()), 1) == "");
  CHECK(error_of(object().section("__nv_relfatbin", one_cubin()), 1) == "");
  CHECK(
      error_of(ElfBuilder{}, 1) ==
      "t.so(.nvFatBinSegment+0x0): registers 1 fat binary, and the file holds 0: device code was removed or "
      "overwritten\n");
  CHECK(error_of(ElfBuilder{}.section(".nv_fatbin", test::Bytes(one_cubin().size())), 1) != "");
}

TEST_CASE("an object in an archive, and a PE image whose names are cut, lost what they register too") {
  const auto object = ElfBuilder{}
                          .relocatable()
                          .section(".nvFatBinSegment", registrations(1))
                          .section(".crel.nvFatBinSegment", filler(8))
                          .bytes();
  const auto good = ElfBuilder{}.relocatable().section(".nv_fatbin", one_cubin()).bytes();
  CHECK(errors_of(read(ArchiveBuilder{}.member("x.o", object).member("y.o", good).bytes(), "t.a")) ==
        "t.a(x.o)(.nvFatBinSegment+0x0): registers 1 fat binary, and the file holds 0: device code was "
        "removed or overwritten\n");
  CHECK(errors_of(read(test::PeBuilder{}.section(".nvFatBi", registrations(1, 488)).bytes(), "t.dll")) ==
        "t.dll(.nvFatBi+0x0): registers 1 fat binary, and the file holds 0: device code was removed or "
        "overwritten\n");
  CHECK(errors_of(read(test::PeBuilder{}
                           .section(".nv_fatb", one_cubin())
                           .section(".nvFatBi", registrations(1, 488))
                           .bytes(),
                       "t.dll")) == "");
}

TEST_CASE("device code that -flto left in the compiler's own form cannot be judged") {
  const auto head = [](unsigned slim) { return test::ByteWriter{}.u16(12).u16(0).u8(slim).zeros(3).bytes(); };
  const auto symbols = [](std::string_view name) {
    return test::ByteWriter{}.text("_Z3runv").zeros(4).text(name).zeros(18).bytes();
  };
  const auto error_of = [&](ElfBuilder elf, unsigned slim, std::string_view name) {
    return errors_of(read(
        elf.section(".gnu.lto_.lto.1f", head(slim)).section(".gnu.lto_.symtab.1f", symbols(name)).bytes(),
        "t.o"));
  };
  const auto object = [] { return ElfBuilder{}.relocatable(); };
  const std::string error =
      "t.o(.gnu.lto_.symtab.1f+0x0): device code in what -flto left for the linker to compile cannot be "
      "judged\n";
  CHECK(error_of(object(), 1, "__cudaRegisterFatBinary") == error);
  CHECK(error_of(object(), 1, "__cudaRegisterLinkedBinary_1c_4_l_cu__Z2klPf") == error);
  CHECK(error_of(object(), 1, "_Z5solveRKSt6vectorIfE") == "");  // a program of C++ alone
  // -ffat-lto-objects: what the linker would compile stands beside it, compiled.
  CHECK(error_of(object().section(".nv_fatbin", one_cubin()), 0, "__cudaRegisterFatBinary") == "");
  // ld -r of such an object and a compiled one.
  CHECK(error_of(object().section(".nv_fatbin", one_cubin()), 1, "__cudaRegisterFatBinary") == error);
  CHECK(error_of(object().section(".text", test::filler(64)), 0, "__cudaRegisterFatBinary") == error);
  CHECK(error_of(ElfBuilder{}.shared(), 1, "__cudaRegisterFatBinary") == "");
  // The name across two blocks of the search.
  const auto far = test::ByteWriter{}.zeros(65530).text("__cudaRegisterFatBinary").zeros(40000).bytes();
  CHECK(errors_of(read(object().section(".gnu.lto_.symtab.1f", far).bytes(), "t.o")) == error);
}

TEST_CASE("relocatable code that was never device-linked is told by the function that nobody made") {
  const std::string_view name = "__cudaRegisterLinkedBinary_1c_4_l_cu__Z2klPf";
  const auto names = test::ByteWriter{}.u8(0).text("malloc").u8(0).text(name).u8(0).bytes();
  // Two symbols behind the one that is none: malloc from elsewhere, and `name` in that section.
  const auto symbols = [](bool is64, unsigned section) {
    test::ByteWriter out;
    out.zeros(is64 ? 24 : 16);
    if (is64) return out.u32(1).zeros(20).u32(8).u16(0x12).u16(section).zeros(16).bytes();
    return out.u32(1).zeros(12).u32(8).zeros(8).u16(0x12).u16(section).bytes();
  };
  const auto error_of = [&](ElfBuilder elf, bool is64, unsigned section) {
    elf.section(".dynsym", symbols(is64, section), 11).section(".dynstr", names, 3);
    return errors_of(read(elf.bytes(), "t.so"));
  };
  const auto held = [] { return ElfBuilder{}.section("__nv_relfatbin", one_cubin()); };
  const std::string error = "t.so(__nv_relfatbin+0x0): was not device-linked: the file needs " +
                            std::string(name) + ", and no kernel of -rdc=true runs without it\n";
  CHECK(error_of(held(), true, 0) == error);
  CHECK(error_of(held().bits32(), false, 0) == error);
  CHECK(error_of(held().section(".nv_fatbin", one_cubin()), true, 0) == error);  // of another object
  CHECK(error_of(held(), true, 7) == "");  // the device linker's stub has it
  CHECK(error_of(held().relocatable(), true, 0) == "");
  CHECK(error_of(ElfBuilder{}.section(".nv_fatbin", one_cubin()), true, 0) == "");
  const auto nameless = held().section(".dynsym", symbols(true, 0), 11).bytes();
  CHECK(errors_of(read(nameless, "t.so")) == "");
}
