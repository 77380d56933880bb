#include <algorithm>
#include <doctest/doctest.h>

#include "base/text.h"
#include "reading.h"
#include "support/builders/archive_builder.h"
#include "support/builders/pe_builder.h"
#include "support/builders/program_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

using Pointers = ProgramBuilder::Pointers;

test::Bytes one(int arch = 80) {
  return FatbinBuilder{}.cubin(arch, filler(64)).bytes();
}

// "1 2: _a _b" of each registration that is resolved: its fat binary and id; a link with `*`.
std::string registered(const DeviceCode& code) {
  std::string text;
  for (const DeviceObject& object : code.objects)
    for (const Registration& each : object.registrations)
      text += (each.fatbin ? std::to_string(*each.fatbin) : "?") + (each.device_linked ? "*" : "") +
              each.module_id + " ";
  return text;
}

// "0 <- 1 2; " of each link, where an object that is not there is "!id".
std::string links(const DeviceCode& code) {
  const auto name = [&](const FatbinRef& ref) {
    return (code.objects.size() == 1 ? "" : std::to_string(ref.object) + ".") + std::to_string(ref.fatbin);
  };
  std::string text;
  for (const DeviceLink& link : code.links) {
    for (const FatbinRef& each : link.linked) text += name(each) + " ";
    text += "<-";
    for (const FatbinRef& each : link.parts) text += " " + name(each);
    for (const std::string& id : link.absent) text += " !" + id;
    text += "; ";
  }
  return text;
}

}  // namespace

TEST_CASE("an object is a part of one device link, once, however often its id stands there") {
  const auto twice = ProgramBuilder{}.link({"_a", "_a"}, one()).object("_a", one()).bytes();
  CHECK(links(read(twice, "t.so")) == "0 <- 1 !_a; ");
}

TEST_CASE("a registration leads to its container, in place or by a relocation") {
  const auto program = [] { return ProgramBuilder{}.link({"_a"}, one()).object("_a", one()).whole(one()); };
  for (const Pointers where : {Pointers::in_place, Pointers::relocations})
    for (const unsigned machine : {62U, 183U}) {
      const DeviceCode code = read(program().pointers(where).machine(machine).bytes(), "t.so");
      CHECK(errors_of(code) == "");
      CHECK(registered(code) == "0* 2_a 1 ");
      CHECK(links(code) == "0 <- 2; ");
    }
  const DeviceCode nowhere = read(program().pointers(Pointers::nowhere).bytes(), "t.so");
  CHECK(errors_of(nowhere) == "");
  CHECK(registered(nowhere) == "?* ? ? ");
  CHECK(links(nowhere) == "");
}

TEST_CASE("registrations behind relocations that are packed for Android are not told") {
  test::ByteWriter wrapper;
  wrapper.u32(0x466243b1).u32(1).u64(0).u64(0);
  const auto program = [&](const char* relocations) {
    return ElfBuilder{}
        .shared()
        .section(".nv_fatbin", one())
        .section(".nvFatBinSegment", wrapper.bytes())
        .section(".rela.dyn", test::bytes_of_text(relocations), 0x60000002)
        .bytes();
  };
  CHECK(errors_of(read(program("APS2\x04"), "t.so")) ==
        "t.so: its relocations are packed for Android, so that which fat binaries it registers cannot be "
        "told\n");
  CHECK(errors_of(read(program("APS"), "t.so")).find("is registered at address 0x0") != std::string::npos);
}

TEST_CASE("a registered container that was overwritten is an error, however many are left") {
  const ProgramBuilder program = ProgramBuilder{}.whole(one()).whole(one()).whole(one(90));
  auto bytes = program.bytes();
  const std::size_t size = one().size();
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(program.offset_of(1)), size, std::uint8_t{0});
  // One more that nobody registers, so that a count would not tell.
  CHECK(errors_of(read(bytes, "t.so")) ==
        "t.so(.nv_fatbin+" + hex(size) +
            "): the file registers a fat binary here, and none can be read: device code was removed or "
            "overwritten\n");
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(program.offset_of(2)), size, std::uint8_t{0});
  CHECK(errors_of(read(bytes, "t.so")) ==
        "t.so(.nv_fatbin+" + hex(size) +
            "): the file registers a fat binary here, and none can be read; and 1 more elsewhere: device "
            "code was removed or overwritten\n");
}

TEST_CASE("a registration that leads to where the file has nothing is an error") {
  const auto said = [](const ProgramBuilder& program, std::uint64_t pointer, unsigned type) {
    test::Bytes bytes = program.bytes();
    const test::Bytes wrapper = test::ByteWriter{}.u32(0x466243b1).u32(1).bytes();
    const auto at = std::search(bytes.begin(), bytes.end(), wrapper.begin(), wrapper.end()) + 8;
    for (int i = 0; i < 8; ++i) at[i] = static_cast<std::uint8_t>(pointer >> 8 * i);
    bytes[16] = static_cast<std::uint8_t>(type);
    return errors_of(read(bytes, "t.so"));
  };
  const auto nowhere = [](const std::string& address) {
    return "t.so(.nvFatBinSegment+0x8): a fat binary is registered at address " + address +
           ", where the file has nothing: device code was removed, or the registration overwritten\n";
  };
  const auto program = ProgramBuilder{}.whole(one());
  constexpr std::uint64_t kThere = 0x10000000;
  CHECK(said(program, kThere, 2) == "");
  CHECK(said(program, 0, 2) == nowhere("0x0"));
  CHECK(said(program, 0x10, 2) == nowhere("0x10"));
  CHECK(said(program, 0x10, 3) == nowhere("0x10"));
  CHECK(said(program, kThere | std::uint64_t{1} << 40, 2) == nowhere("0x10010000000"));
  CHECK_MESSAGE(said(program, 0, 3) == "", "its relocation may be in a table that is not read");
  CHECK_MESSAGE(said(ProgramBuilder(program).machine(21), 0x10, 3) == "", "of a machine that is not known");
}

TEST_CASE("the loader goes by the relocation of a registration, not by what stands in place") {
  const auto whole = ProgramBuilder{}.whole(one()).pointers(Pointers::relocations).bytes();
  const test::Bytes address = test::ByteWriter{}.u64(0x10000000).bytes();
  const auto addend = std::search(whole.begin(), whole.end(), address.begin(), address.end()) - whole.begin();
  const auto wrapper = test::ByteWriter{}.u32(0x466243b1).u32(1).bytes();
  const auto place =
      std::search(whole.begin(), whole.end(), wrapper.begin(), wrapper.end()) - whole.begin() + 8;
  auto bytes = whole;
  std::copy(address.begin(), address.end(), bytes.begin() + place);
  CHECK(errors_of(read(bytes, "t.so")) == "");
  bytes[static_cast<std::size_t>(addend)] = 8;
  CHECK(errors_of(read(bytes, "t.so"))
            .find("(.nv_fatbin+0x8): the file registers a fat binary here, and none") != std::string::npos);
  bytes[static_cast<std::size_t>(addend) + 3] = 0;
  CHECK(errors_of(read(bytes, "t.so")).find("is registered at address 0x8, where the file has nothing") !=
        std::string::npos);
  SUBCASE("an address in place without its relocation is none") {
    bytes = whole;
    std::copy(address.begin(), address.end(), bytes.begin() + place);
    std::fill_n(bytes.begin() + addend - 16, 24, std::uint8_t{0});
    CHECK(errors_of(read(bytes, "t.so")) ==
          "t.so(.nvFatBinSegment+0x8): a fat binary is registered here, and no relocation tells the loader "
          "so: the table of relocations was overwritten, and the runtime gets an address where nothing is\n");
    const auto relocations = test::bytes_of_text(".rela.dyn");
    const auto name = std::search(bytes.begin(), bytes.end(), relocations.begin(), relocations.end());
    REQUIRE(name != bytes.end());
    *(name + 5) = '-';
    CHECK_MESSAGE(errors_of(read(bytes, "t.so")) == "", "in a table that is not read");
    return;
  }
  bytes[static_cast<std::size_t>(addend) - 8] = 1;  // R_X86_64_64: by a symbol
  CHECK(errors_of(read(bytes, "t.so")) == "");
  bytes = whole;
  bytes[static_cast<std::size_t>(addend) - 16] ^= 1;  // its place
  CHECK(errors_of(read(bytes, "t.so")).find("is registered at address 0x0, where the file has nothing") !=
        std::string::npos);
}

TEST_CASE("a registration that was overwritten is an error") {
  const std::string damaged =
      "a fat binary's registration is missing here: it was removed or overwritten, so the runtime never sees "
      "its kernels\n";
  test::ByteWriter whole, twice, small;
  whole.u32(0x466243b1).u32(1).u64(0).u64(0);
  twice.u32(0x466243b1).u32(1).u64(0).u64(0).zeros(24);
  small.u32(0x466243b1).u32(1).zeros(8).u32(0x466243b1).u32(1).zeros(8);  // 32-bit
  const auto said = [](const test::Bytes& section) {
    return errors_of(read(ElfBuilder{}
                              .shared()
                              .section(".nv_fatbin", FatbinBuilder{}.cubin(80, filler(64)).bytes())
                              .section(".nvFatBinSegment", section)
                              .bytes(),
                          "t.so"));
  };
  CHECK(said(whole.bytes()) == "");
  CHECK(said(test::Bytes(24)) == "t.so(.nvFatBinSegment+0x0): " + damaged);
  CHECK(said(twice.bytes()) == "t.so(.nvFatBinSegment+0x18): " + damaged);
  test::Bytes cut = whole.bytes();
  cut.resize(20);
  CHECK(said(cut) == "t.so(.nvFatBinSegment+0x0): " + damaged);
  CHECK(said(small.bytes()).find("registers 2 fat binaries, and the file holds 1") != std::string::npos);
}

TEST_CASE("zeros stand between the registrations of a PE image that was linked incrementally") {
  constexpr std::uint64_t kBase = 0x180000000, kAddress = kBase + 0x1000;
  const auto two = test::ByteWriter{}.append(one()).append(one()).bytes();
  const auto said = [&](std::size_t zeros, std::uint64_t second) {
    test::ByteWriter section;
    section.u32(0x466243b1).u32(1).u64(kAddress).u64(0).zeros(zeros);
    section.u32(0x466243b1).u32(1).u64(second).u64(0).zeros(488 - 24 - zeros);
    const auto filled = static_cast<std::uint32_t>(48 + zeros);
    return read(PeBuilder{}
                    .section(".nv_fatb", two)
                    .section(".nvFatBi", section.bytes())
                    .filled(filled)
                    .based(kBase)
                    .bytes(),
                "t.dll");
  };
  for (const std::size_t zeros : {0, 8, 16, 24, 40}) {
    const DeviceCode code = said(zeros, kAddress + one().size());
    CHECK(errors_of(code) == "");
    CHECK(registered(code) == "0 1 ");
  }
  CHECK(errors_of(said(8, kAddress)) == "");
  // As many as a registration has, and a fat binary that is registered by none.
  CHECK(errors_of(said(32, kAddress)).find("(.nvFatBi+0x18): a fat binary's registration is missing here") !=
        std::string::npos);
}

TEST_CASE("zeros fill the registrations of a PE image up to its alignment, and no further") {
  constexpr std::uint64_t kBase = 0x180000000, kAddress = kBase + 0x1000;
  const auto two = test::ByteWriter{}.append(one()).append(one()).bytes();
  const auto said = [&](std::size_t registered, std::uint32_t filled, const test::Bytes& code) {
    test::ByteWriter section;
    for (std::size_t i = 0; i < registered; ++i)
      section.u32(0x466243b1).u32(1).u64(kAddress + i * one().size()).u64(0);
    section.zeros(512 - 24 * registered);
    return errors_of(read(PeBuilder{}
                              .section(".nv_fatb", code)
                              .section(".nvFatBi", section.bytes())
                              .filled(filled)
                              .based(kBase)
                              .bytes(),
                          "t.dll"));
  };
  const auto missing = [](const std::string& text, const char* at) {
    return text.find("(.nvFatBi+" + std::string(at) + "): a fat binary's registration is missing here") !=
           std::string::npos;
  };
  CHECK(said(2, 48, two) == "");
  CHECK(said(2, 72, two) == "");
  CHECK(missing(said(1, 48, two), "0x18"));
  CHECK(missing(said(0, 48, two), "0x0"));
  CHECK(missing(said(0, 48, test::Bytes(two.size())), "0x0"));
}

TEST_CASE("the registrations of an object lead to its symbols") {
  // Symbols: none, then one of section 1; a relocation of type "absolute" against it.
  test::ByteWriter symbols, relocations, wrapper;
  symbols.zeros(24).u32(0).u8(3).u8(0).u16(1).u64(0).u64(0);
  relocations.u64(8).u32(1).u32(1).u64(0);
  wrapper.u32(0x466243b1).u32(1).u64(0).u64(0);
  const auto object = [&](const test::Bytes& code, const char* table = ".rela.nvFatBinSegment") {
    return ElfBuilder{}
        .relocatable()
        .section("__nv_relfatbin", code)
        .section(".nvFatBinSegment", wrapper.bytes())
        .section(table, relocations.bytes(), 4)
        .section(".symtab", symbols.bytes(), 2)
        .bytes();
  };
  const DeviceCode code = read(object(one()), "t.o");
  CHECK(errors_of(code) == "");
  CHECK(registered(code) == "0 ");
  CHECK(
      errors_of(read(object(test::Bytes(one().size())), "t.o")) ==
      "t.o(__nv_relfatbin+0x0): the file registers a fat binary here, and none can be read: device code was "
      "removed or overwritten\n");
  CHECK(errors_of(read(object(one(), ".rela.data"), "t.o")) ==
        "t.o(.nvFatBinSegment+0x8): a fat binary is registered at address 0x0, where the file has nothing: "
        "device code was removed, or the registration overwritten\n");
  CHECK_MESSAGE(errors_of(read(object(one(), ".crel.nvFatBinSegment"), "t.o")) == "", "in a form not read");
}

TEST_CASE("zeros over the symbols or relocations of an object with device code are an error") {
  const auto table = [](std::size_t before, std::size_t zeros, std::size_t behind) {
    test::ByteWriter out;
    out.zeros(24);
    for (std::size_t i = 0; i < before; ++i) out.u64(i).u32(1).u32(1).u64(i);
    out.zeros(zeros * 24);
    for (std::size_t i = 0; i < behind; ++i) out.u64(i).u32(1).u32(1).u64(i);
    return out.bytes();
  };
  const auto object = [&](const char* name, const test::Bytes& bytes, bool has_code = true) {
    ElfBuilder elf;
    elf.relocatable().section(name, bytes, 4).section("__nv_relfatbin", has_code ? one() : test::Bytes{});
    return errors_of(read(elf.bytes(), "t.o"));
  };
  const auto lost = [](const char* name) {
    return "t.o(" + std::string(name) +
           "+0x0): a part of this table was overwritten by zeros: what the object registers, and what it "
           "calls, is lost\n";
  };
  for (const char* name : {".symtab", ".rela.text", ".rela.text._Z1kv"}) {
    CAPTURE(name);
    CHECK(object(name, table(3, 2, 3)) == lost(name));
    CHECK(object(name, table(3, 2, 0)) == lost(name));
    CHECK(object(name, table(5000, 21, 5000)) == lost(name));
    CHECK(object(name, table(2729, 2, 0)) == lost(name));  // where the first block ends
    CHECK_MESSAGE(object(name, table(3, 1, 3)) == "", "of a section that ld -r dropped");
    CHECK_MESSAGE(object(name, table(3, 2, 3), false) == "", "no device code");
  }
  CHECK_MESSAGE(object(".symtab", table(0, 0, 3)) == "", "the first symbol is zeros");
  CHECK(object(".symtab", table(0, 2, 3)) == lost(".symtab"));
  CHECK(object(".rela.init_array", test::Bytes(24)) == lost(".rela.init_array"));
  CHECK_MESSAGE(object(".rela.debug_info", table(3, 21, 3)) == "", "debuggers alone read it");
  const auto names = [](std::size_t zeros) {
    test::ByteWriter out;
    out.text("_Z1kv").zeros(zeros).text("main").u8(0);
    return out.bytes();
  };
  CHECK(object(".strtab", names(16)) == lost(".strtab"));
  CHECK(object(".strtab", names(1)) == "");
  CHECK(object(".group", test::Bytes{1, 0, 0, 0, 4, 0, 0, 0}) == "");
  CHECK(object(".group", test::Bytes{1, 0, 0, 0, 0, 0, 0, 0}) == lost(".group"));
}

TEST_CASE("zeros over what the loader reads of a linked file with device code are an error") {
  const auto said = [](const char* name, std::size_t before, std::size_t zeros, std::size_t behind,
                       std::uint64_t type = 8) {
    test::ByteWriter table, wrapper;
    table.zeros(24);
    for (std::size_t i = 1; i < before; ++i) table.u64(i).u64(8).u64(i);
    table.zeros(zeros * 24);
    for (std::size_t i = 0; i < behind; ++i) table.u64(i).u64(type).u64(i + 1);
    wrapper.u32(0x466243b1).u32(1).u64(0x1000).u64(0);
    return errors_of(read(ElfBuilder{}
                              .executable()
                              .section(".nv_fatbin", one())
                              .at(0x1000)
                              .section(".nvFatBinSegment", wrapper.bytes())
                              .at(0x8000)
                              .section(name, table.bytes(), 4)
                              .at(0x9000)
                              .bytes(),
                          "t.so"));
  };
  for (const char* name : {".dynsym", ".rela.dyn", ".rela.plt"}) {
    CAPTURE(name);
    CHECK(said(name, 20, 4, 20) ==
          "t.so(" + std::string(name) +
              "+0x0): a part of this table was overwritten by zeros: what the file registers, and what it "
              "calls, is lost\n");
    CHECK(said(name, 20, 3, 20) == "");
    CHECK_MESSAGE(said(name, 20, 4, 0) == "", "an old linker leaves some at the end");
  }
  constexpr std::uint64_t kAbsolute = 1;
  CHECK_MESSAGE(said(".rela.dyn", 20, 4, 20, kAbsolute) == "", "GNU ld has them behind the relative ones");
  CHECK_MESSAGE(said(".rela.text", 20, 4, 20) == "", "of --emit-relocs, which no loader reads");
}

TEST_CASE("the ids tell which objects a device link joined") {
  const auto read_links = [](const ProgramBuilder& program) { return links(read(program.bytes(), "t.so")); };
  // Two links, apart from each other; fat binaries 0 and 1 are linked, 2 to 5 relocatable.
  CHECK(read_links(ProgramBuilder{}
                       .object("_a", one())
                       .object("_b", one())
                       .link({"_a", "_b"}, one())
                       .object("_c", one())
                       .link({"_c"}, one())) == "0 <- 2 3; 1 <- 4; ");
  CHECK_MESSAGE(
      read_links(
          ProgramBuilder{}.object("_a", one()).object("_b", one()).link({"_a"}, one()).link({"_b"}, one())) ==
          "0 1 <- 2 3; ",
      "side by side they read as one: each asks for the objects of both");
  CHECK_MESSAGE(
      read_links(ProgramBuilder{}.link({}, one()).whole(one()).link({"_a"}, one()).object("_a", one())) ==
          "2 <- 3; ",
      "the link of nothing");
  CHECK_MESSAGE(read_links(ProgramBuilder{}.link({"_a", "_x"}, one()).object("_a", one())) == "0 <- 1 !_x; ",
                "an object that is not there");
  CHECK_MESSAGE(
      read_links(
          ProgramBuilder{}.link({"_a"}, one()).object("_a", one()).object("_b", one()).without_ids()) ==
          "0 <- 1 2; ",
      "without ids, all that is relocatable");
  CHECK(read_links(ProgramBuilder{}.link({}, one()).whole(one()).without_ids()) == "");
}

TEST_CASE("what registers a container tells what it is, whatever its section is called") {
  const auto outline_in = [](const std::string& section) {
    return outline(
        read(ProgramBuilder{}.link({"_a"}, one()).object("_a", one(90)).objects_in(section).bytes(), "t"));
  };
  CHECK(outline_in(".relf") == "t(.nv_fatbin+0x0): sass 80;\nt(.relf+0x0) relocatable: sass 90;\n");
  const auto in_data = [](ProgramBuilder builder) {
    std::string text;
    for (const Fatbin& each : read(builder.bytes(), "t").objects[0].fatbins)
      text += each.in_data ? "data " : "- ";
    return text;
  };
  const auto program = [] { return ProgramBuilder{}.link({"_a"}, one()).object("_a", one(90)).whole(one()); };
  CHECK(in_data(program()) == "- - - ");
  CHECK(in_data(program().objects_in(".relf")) == "- - - ");
  CHECK(in_data(program().objects_in(".relf").without_ids()) == "- - data ");
  CHECK(in_data(program().without_section_table()) == "data data data ");
  CHECK(read(ElfBuilder{}.section(".rodata", one()).bytes(), "t").objects[0].fatbins[0].in_data);
  CHECK_FALSE(read(one(), "t.fatbin").objects[0].fatbins[0].in_data);
  CHECK_FALSE(read(ElfBuilder{}.relocatable().section(".rodata", one()).bytes(), "t.o")
                  .objects[0]
                  .fatbins[0]
                  .in_data);
}

TEST_CASE("an object that no device link of a linked file has was not device-linked") {
  const auto error_of = [](const ProgramBuilder& program) { return errors_of(read(program.bytes(), "t")); };
  const auto error = [](const std::string& at, const std::string& told_by) {
    return "t(__nv_relfatbin+" + at + "): was not device-linked: " + told_by +
           ", and no kernel of -rdc=true runs without it\n";
  };
  CHECK(error_of(ProgramBuilder{}.object("_a", one())) == error("0x0", "the file registers no device link"));
  CHECK(error_of(ProgramBuilder{}.object("_a", one()).without_ids()) ==
        error("0x0", "the file registers no device link"));
  CHECK_MESSAGE(error_of(ProgramBuilder{}.link({}, one()).object("_a", one())) ==
                    error("0x0", "no device link of the file has '_a'"),
                "beside the link of nothing");
  CHECK(error_of(ProgramBuilder{}.object("_a", one()).object("_b", one()).link({"_a"}, one())) ==
        error(hex(one().size()), "no device link of the file has '_b'"));
  CHECK(error_of(ProgramBuilder{}.object("_a", one()).object("_b", one()).link({"_a", "_b"}, one())) == "");
  CHECK(error_of(ProgramBuilder{}.link({}, one()).whole(one())) == "");
  CHECK_MESSAGE(error_of(ProgramBuilder{}.link({}, one()).object("_a", one()).without_ids()) == "",
                "without ids it cannot be told");
}

TEST_CASE("what host code names is read where every section of it is there") {
  const auto names = [](ProgramBuilder builder) {
    const auto code = read(builder.object("_a", one()).link({"_a"}, one()).bytes(), "t");
    const HostReferences& references = code.objects[0].references;
    std::string text = references.program ? "program:" : references.told ? "library:" : "untold";
    for (const std::string& each : references.beginnings) text += " " + each;
    return text;
  };
  CHECK(names(ProgramBuilder{}) == "untold");
  CHECK(names(ProgramBuilder{}.host_names({}, {})) == "library:");
  CHECK(names(ProgramBuilder{}.program().host_names({"_Z1k*", "_Z1kPi"}, {"v", "_ZN1a*1b"})) ==
        "program: _Z1k _ZN1a v");
  CHECK(names(ProgramBuilder{}.host_names({"*"}, {"v"})) == "library: ");
  HostReferences references;
  CHECK(references.may_name("x"));
  references.told = true;
  CHECK_FALSE(references.may_name("x"));
  references.beginnings = {"_Z1k", "v"};
  CHECK(references.may_name("_Z1kPi"));
  CHECK(references.may_name("v"));
  CHECK(references.may_name("v2"));  // the `*` of the list was there, for all that is known
  CHECK_FALSE(references.may_name("_Z1"));
  CHECK_FALSE(references.may_name("u"));
}

TEST_CASE("in an archive a device link finds its objects in other members") {
  const auto a = ProgramBuilder{}.object("_a", one()).bytes(),
             b = ProgramBuilder{}.object("_b", one()).bytes();
  const auto link = ProgramBuilder{}.link({"_a", "_b"}, one()).bytes();
  const DeviceCode code =
      read(ArchiveBuilder{}.member("a.o", a).member("b.o", b).member("link.o", link).bytes(), "t.a");
  CHECK(links(code) == "2.0 <- 0.0 1.0; ");
}

TEST_CASE("a container outside of the sections for device code whose header is damaged is an error") {
  const auto data = [](std::size_t at, std::uint8_t value) {
    auto bytes = one();
    bytes[at] = value;
    return bytes;
  };
  const auto error_of = [](const test::Bytes& bytes) {
    return errors_of(read(ElfBuilder{}.section(".rodata", bytes).bytes(), "t.so"));
  };
  const std::size_t end = one().size() - 16;
  CHECK(error_of(one()) == "");
  CHECK(error_of(data(4, 2)) == "t.so(.rodata+0x0): fat binary's version must be 1, found 2\n");
  CHECK(error_of(data(6, 17)) == "t.so(.rodata+0x0): fat binary's header size must be 16, found 17\n");
  CHECK(error_of(data(8, static_cast<std::uint8_t>(end + 1))) ==
        "t.so(.rodata+0x0): fat binary's size must be a multiple of 8, found " + std::to_string(end + 1) +
            "\n");
  CHECK(error_of(data(8, 0)) == "t.so(.rodata+0x0): fat binary's size must not be 0 before an entry\n");
  CHECK(error_of(data(20, 65)) ==
        "t.so(.rodata+0x10): entry 0 header size must be a multiple of 8 from 64 to 1048576, found 65\n");
  CHECK(errors_of(
            read(ElfBuilder{}.section(".rodata", data(4, 2)).without_section_table().bytes(), "t.so")) != "");
  // The constant of a program that makes fat binaries, and one that is not aligned.
  CHECK(error_of(test::ByteWriter{}.u32(0xba55ed50).append(filler(96)).bytes()) == "");
  CHECK(error_of(test::ByteWriter{}.u32(0).append(data(4, 2)).bytes()) == "");
}

TEST_CASE(
    "what is mangled is listed up to its own name, and what is static in a file by that behind the mark") {
  HostReferences references;
  references.told = true;
  const std::string mark = "__nv_static_7__m_a_cu_";
  references.names = {"_Z1k*", "_ZN1n6spaced*", mark + "*1n6spaced*", mark + "*plain", "plain"};
  CHECK(references.lists(mark + "plain"));
  CHECK(references.lists(mark + "_ZN1n6spacedE"));
  CHECK(references.lists(mark + "_ZN11_INTERNAL_m1n6spacedE"));
  for (const char* name : {"_Z1kPi", "_ZN1n6spacedE", "plain"}) CHECK(references.lists(name));
  for (const char* name : {"_Z2k", "_ZN1n5spaceE", "plain2", "_Z99k"}) CHECK_FALSE(references.lists(name));
  for (const char* other : {"my_plain", "_Z6spaced", "_Z0", "_ZN0E", "_Z", "_ZN99_INTERNAL_m1n6spacedE", ""})
    CHECK_FALSE_MESSAGE(references.lists(mark + other), other);
}
