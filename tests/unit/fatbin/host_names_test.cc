#include "fatbin/host_names.h"

#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/pe_builder.h"
#include "support/builders/program_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

const std::vector<std::string> kAsked{"k", "table", "other_table", "_ZN1a1bE"};

test::Bytes one() {
  return FatbinBuilder{}.cubin(80, filler(64)).bytes();
}

test::Bytes texts(const std::vector<std::string>& all) {
  test::ByteWriter bytes;
  bytes.u8(0);
  for (const std::string& text : all) bytes.text(text).u8(0);
  return bytes.bytes();
}

// Those that are registered, "-" of a fat binary that is not told of; or those that may be used.
std::string held(const test::Bytes& bytes, const std::vector<std::string>& asked = kAsked,
                 bool used = false) {
  const DeviceCode code = read(bytes, "t.so");
  const MemorySource file(bytes);
  HostNames names(file);
  std::string text;
  for (const DeviceObject& object : code.objects)
    for (const Fatbin& fatbin : object.fatbins) {
      if (!names.tells_of(object, fatbin)) {
        text += "- ";
        continue;
      }
      for (const std::string& name : asked) names.look_for(object, name);
      for (const std::string& name : asked)
        if (used ? names.may_use(object, name) : names.has(object, name)) text += name + " ";
    }
  return text;
}

std::string used(const ProgramBuilder& program, const std::vector<std::string>& asked = kAsked) {
  return held(program.bytes(), asked, true);
}

// A program that registers "k", and has this variable at kCopyAt.
constexpr std::uint64_t kCopyAt = 0x70001000;
ProgramBuilder with_copy(const char* symbol = "_ZL5table") {
  return ProgramBuilder{}.whole(one()).constants(texts({"k"})).register_all().symbol(symbol, 1, kCopyAt, 16);
}

std::string held_in(const test::Bytes& constants) {
  return held(ProgramBuilder{}.whole(one()).constants(constants).bytes());
}

}  // namespace

TEST_CASE("names that host code registers stand in its data, with a NUL behind") {
  CHECK(held_in(texts({"k", "other"})) == "k ");
  CHECK(held_in(texts({"table", "k"})) == "k table ");
  CHECK_MESSAGE(held_in(texts({"other_table"})) == "table other_table ", "linkers merge ends of texts");
  CHECK(held_in(texts({"tables", "_table_", "able"})) == "");
  CHECK(held_in(bytes_of_text("table")) == "");
  CHECK(held_in(texts({"x_ZN1a1bE"})) == "_ZN1a1bE ");
}

TEST_CASE("a name is found wherever the blocks are cut in which it is read") {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (std::size_t before = kMiB - 12; before <= kMiB + 1; ++before) {
    test::ByteWriter bytes;
    for (std::size_t i = 0; i < before; ++i) bytes.u8('x');
    bytes.append(bytes_of_text("other_table")).u8(0);
    CHECK(held_in(bytes.bytes()) == "table other_table ");
  }
}

TEST_CASE("names in device code, in machine code, and in tables of symbols are none of host code") {
  const auto device_code = FatbinBuilder{}.cubin(80, texts(kAsked)).bytes();
  CHECK(held(ProgramBuilder{}.whole(device_code).constants(texts({"k"})).bytes()) == "k ");
  test::ByteWriter wrapper;
  wrapper.u32(0x466243b1).u32(1).u64(0x1000).u64(0);
  const auto program = [&] {
    return ElfBuilder{}
        .executable()
        .section(".nv_fatbin", one())
        .at(0x1000)
        .section(".nvFatBinSegment", wrapper.bytes())
        .at(0x8000)
        .section(".rodata", texts({"k"}))
        .at(0x9000);
  };
  CHECK(held(program().section(".text", texts({"table"}), 1, 6).at(0xa000).bytes()) == "k ");
  CHECK(held(program().section(".strtab", texts({"table"}), 3, 0).bytes()) == "k ");
  CHECK(held(program().section(".debug_str", texts({"table"}), 1, 0x30).bytes()) == "k ");
  CHECK(held(program().section(".data", texts({"table"}), 1, 3).at(0xa000).bytes()) == "k table ");
}

TEST_CASE("only a fat binary that is registered for itself is told of") {
  const auto all = texts(kAsked);
  CHECK(held(ProgramBuilder{}.link({"_a"}, one()).object("_a", one()).constants(all).bytes()) == "- - ");
  CHECK(held(ProgramBuilder{}.link({}, one()).whole(one()).constants(all).bytes()) ==
        "- k table other_table _ZN1a1bE ");
  const auto nowhere =
      ProgramBuilder{}.whole(one()).constants(all).pointers(ProgramBuilder::Pointers::nowhere);
  CHECK(held(nowhere.bytes()) == "- ");
  CHECK(held(ProgramBuilder{}.whole(one()).constants(all).without_section_table().bytes()) == "- ");
  CHECK(held(ElfBuilder{}.section(".nv_fatbin", one()).section(".rodata", all).bytes()) == "- ");
  CHECK(held(one()) == "- ");
}

TEST_CASE("a name that is too long to look for may be used, and one that comes late is looked for") {
  const std::string name(std::size_t{64} * 1024, 'x');
  const auto program = [](const std::string& text) {
    return ProgramBuilder{}.whole(one()).constants(texts({text})).register_all();
  };
  CHECK(held(program(name).bytes(), {name}) == name + " ");
  CHECK(held(program(name + "x").bytes(), {name + "x"}) == "");
  CHECK(used(program(name + "x"), {name + "x"}) == name + "x ");
  const auto bytes = program("k").bytes();
  const DeviceCode code = read(bytes, "t.so");
  const MemorySource file(bytes);
  HostNames names(file);
  names.look_for(code.objects[0], "k");
  CHECK(names.has(code.objects[0], "k"));
  CHECK_FALSE(names.lacks(code.objects[0], "k"));
  CHECK_MESSAGE(!names.lacks(code.objects[0], "table"), "not looked for");
  CHECK(names.may_use(code.objects[0], "table"));
  names.look_for(code.objects[0], "table");
  CHECK_FALSE(names.may_use(code.objects[0], "table"));
  CHECK(names.lacks(code.objects[0], "table"));
}

// The numbers of those that a file may leave open; "-" for the others.
std::string left_open(const test::Bytes& bytes, const std::vector<std::string>& kernels) {
  const DeviceCode code = read(bytes, "t.so");
  const MemorySource file(bytes);
  HostNames names(file);
  for (const std::string& name : kernels) names.look_for(code.objects[0], name);
  CHECK_MESSAGE(!names.leaves_none_open(code.objects[0], "other"), "not looked for");
  std::string text;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    text += names.leaves_none_open(code.objects[0], kernels[i]) ? "-" : std::to_string(i);
  return text;
}

TEST_CASE("a file leaves a symbol open that it wants from elsewhere, and perhaps where that is not told") {
  const std::string longest(4096, 'y');
  const std::vector<std::string> asked{"k", "k2", longest + "a", longest + "b"};
  const auto open = [&](const test::Bytes& bytes) { return left_open(bytes, asked); };
  const auto whole = ProgramBuilder{}.whole(one());
  CHECK(open(whole.bytes()) == "----");
  CHECK(open(ProgramBuilder(whole).wants("").wants("k").wants("k3").bytes()) == "0---");
  CHECK_MESSAGE(open(ProgramBuilder(whole).symbol("k", 2).bytes()) == "----", "defined");
  CHECK_MESSAGE(open(ProgramBuilder(whole).wants(longest + "c").bytes()) == "--23", "cut");
  const auto object = [&](bool named) {
    const auto symbols = test::ByteWriter{}.zeros(24).u32(1).u8(0x12).u8(0).u16(0).zeros(16);
    auto elf = ElfBuilder{}.relocatable().section(".nv_fatbin", one());
    elf.section(".symtab", symbols.bytes(), 2, 0);
    if (named) elf.section(".strtab", texts({"k"}), 3, 0);
    return elf.bytes();
  };
  CHECK(open(object(true)) == "0---");
  CHECK_MESSAGE(open(object(false)) == "0123", "no names");
  CHECK_MESSAGE(open(one()) == "0123", "no host code");
}

TEST_CASE("host code calls static kernels as each compiler does") {
  const std::vector<std::string> kernels{"_Z4fillPf", "_ZN2ns4fillEPf", "_Z6filledPf", "fill"};
  const auto open = [&](const char* wanted) {
    return left_open(ProgramBuilder{}.whole(one()).wants(wanted).bytes(), kernels);
  };
  CHECK(open("_Z4fillPf") == "0---");
  CHECK_MESSAGE(open("_ZL4fillPf") == "0---", "clang");
  CHECK_MESSAGE(open("_ZN2nsL4fillEPf") == "-1--", "clang");
  CHECK_MESSAGE(open("fill") == "0--3", "within extern \"C\"");
  CHECK(open("_ZL4fillPd") == "----");
}

TEST_CASE("what has no symbol is not used, where local symbols are told") {
  const auto whole = ProgramBuilder{}.whole(one()).constants(texts({"k"}));
  const std::string all = "k table other_table _ZN1a1bE ";
  CHECK_MESSAGE(used(whole) == all, "stripped");
  CHECK_MESSAGE(used(ProgramBuilder(whole).symbol("main", 2)) == all, "of local symbols");
  CHECK(used(ProgramBuilder(whole).register_all()) == "");
  CHECK_MESSAGE(used(ProgramBuilder(whole).whole(one()).register_all()) == all + all, "of one object");
  CHECK(used(ProgramBuilder(whole).register_all().symbol("_Z5tablev", 2)) == "");
  CHECK_MESSAGE(used(ProgramBuilder(whole).register_all().symbol("_ZL5table", 0)) == "table ", "no variable");
  CHECK_MESSAGE(used(ProgramBuilder(whole).register_all().symbol("libcudart_static_75table", 0)) == "",
                "not mangled");
  CHECK_MESSAGE(used(ProgramBuilder{}.whole(one()).constants(texts({"k", "table"})).register_all()) == "",
                "a text of other code");
  CHECK(used(ProgramBuilder(whole).register_all().machine(183).symbol("_ZL5table", 1, kCopyAt, 16)) ==
        "table ");
}

TEST_CASE("symbols of the host's copies are those that hold a variable's own name") {
  const auto held_by = [](const char* symbol, const char* variable) {
    return used(with_copy(symbol).machine(183), {variable}) != "";
  };
  CHECK(held_by("_ZL5table", "table"));
  CHECK(held_by("_ZN1aL5tableE", "_ZN1a5tableE"));
  CHECK(held_by("_ZN1a12_GLOBAL__N_1L5tableE", "_ZN13_INTERNAL_0_a1a12_GLOBAL__N_15tableE"));
  CHECK(held_by("_Z5tableIfE", "_Z5tableIfE"));
  CHECK_FALSE(held_by("_ZL6table2", "table"));
  CHECK_FALSE(held_by("_ZL5table", "_ZN1a1bE"));
  CHECK(held_by("_ZN1SIiEL1bE", "_ZN1SIiE1bE"));
  CHECK_MESSAGE(held_by("table", "table"), "-rdc=true");
  CHECK_FALSE(held_by("tables", "table"));
  CHECK_MESSAGE(held_by("_ZL1c", "_ZN99bE"), "not understood");
}

TEST_CASE("a copy that code or data points to is used") {
  const auto with_code = [](const test::ByteWriter& code) { return used(with_copy().code(code.bytes())); };
  const auto distance = [](std::uint64_t from) { return static_cast<std::uint32_t>(kCopyAt - from); };
  constexpr std::uint64_t kCode = ProgramBuilder::kCodeAt;
  CHECK(used(with_copy()) == "");
  CHECK(with_code(test::ByteWriter{}.zeros(64)) == "");
  const auto relative = [&](std::size_t before, std::uint64_t next, unsigned mode = 0x3d) {
    return with_code(test::ByteWriter{}.zeros(before).u8(0x8d).u8(mode).u32(distance(next)).zeros(9));
  };
  CHECK(relative(1, kCode + 7) == "table ");
  CHECK_MESSAGE(relative(1, kCode + 7, 0x3c) == "", "not relative");
  CHECK(relative(1, kCode + 8) == "");
  CHECK(with_code(test::ByteWriter{}.zeros(3).u32(kCopyAt).zeros(9)) == "table ");
  CHECK(with_code(test::ByteWriter{}.zeros(3).u64(kCopyAt).zeros(9)) == "table ");
  const auto data = test::ByteWriter{}.append(texts({"k"})).u64(kCopyAt).bytes();
  CHECK(used(with_copy().constants(data)) == "table ");
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (std::size_t before = kMiB - 9; before <= kMiB + 1; ++before)
    CHECK(with_code(test::ByteWriter{}.zeros(before).u64(kCopyAt).zeros(3)) == "table ");
  for (std::size_t before = kMiB - 9; before <= kMiB + 1; ++before)
    CHECK(relative(before, kCode + before + 6) == "table ");
}

TEST_CASE("a variable is registered where one call takes its name and its copy") {
  constexpr std::uint64_t kTextAt = 0x50000000 + 3;  // behind "\0k\0"
  const auto registered = [&](const test::Bytes& code, std::string_view text = "table",
                              const char* in = "_ZL31__nv_cudaEntityRegisterCallbackPPv") {
    const auto bytes = with_copy()
                           .constants(texts({"k", std::string(text)}))
                           .code(code)
                           .symbol(in, 2, ProgramBuilder::kCodeAt, 200)
                           .bytes();
    const DeviceCode read_code = read(bytes, "t.so");
    const MemorySource file(bytes);
    HostNames names(file);
    names.look_for(read_code.objects.at(0), "table");
    CHECK(names.has(read_code.objects[0], "table"));
    return names.registers(read_code.objects[0], "table");
  };
  const auto both = [](std::uint64_t first, std::uint64_t second, std::size_t between) {
    return test::ByteWriter{}.zeros(3).u64(first).zeros(between).u64(second).zeros(9).bytes();
  };
  CHECK(registered(both(kTextAt, kCopyAt, 20)));
  CHECK(registered(both(kCopyAt, kTextAt, 120)));
  CHECK_FALSE(registered(both(kCopyAt, kTextAt, 121)));
  CHECK_FALSE(registered(both(kCopyAt, kTextAt + 1, 20)));
  CHECK_FALSE(registered(both(kTextAt, kTextAt, 20)));
  CHECK(registered(both(kTextAt, kCopyAt, 20), "table", "_ZL24__sti____cudaRegisterAllv"));
  CHECK_MESSAGE(!registered(both(kTextAt, kCopyAt, 20), "table", "main"), "it tells what failed");
  CHECK_MESSAGE(registered(both(kCopyAt, kTextAt + 6, 20), "other_table"), "linkers merge ends of texts");
  CHECK_FALSE(registered(both(kCopyAt, kTextAt, 20), "other_table"));
}

TEST_CASE("of what others than GCC compiled, each copy counts as used") {
  CHECK(used(with_copy()).find("table") == std::string::npos);
  CHECK(used(with_copy().compiled_by("Linker: LLD 16.0.6")).find("table") != std::string::npos);
  CHECK(used(with_copy().compiled_by("Debian clang version 16.0.6")).find("table") != std::string::npos);
}

TEST_CASE("sections that share bytes are not searched without end") {
  test::ByteWriter wrapper;
  wrapper.u32(0x466243b1).u32(1).u64(0x1000).u64(0);
  auto bytes = ElfBuilder{}
                   .executable()
                   .section(".nv_fatbin", one())
                   .at(0x1000)
                   .section(".nvFatBinSegment", wrapper.bytes())
                   .at(0x8000)
                   .section(".rodata", test::Bytes(4096, 'x'))
                   .at(0x9000)
                   .section(".data", test::Bytes(64, 'y'))
                   .at(0xb000)
                   .bytes();
  CHECK(held(bytes) == "");
  // The last section of the table but that of names: its offset and size are those of .rodata then.
  const std::size_t table = static_cast<std::size_t>(bytes[0x28]) | static_cast<std::size_t>(bytes[0x29])
                                                                        << 8;
  for (std::size_t i = 0x18; i < 0x28; ++i) bytes[table + 4 * 64 + i] = bytes[table + 3 * 64 + i];
  CHECK(held(bytes, kAsked, true) == "k table other_table _ZN1a1bE ");
  const DeviceCode code = read(bytes, "t.so");
  const MemorySource file(bytes);
  HostNames names(file);
  names.look_for(code.objects.at(0), "k");
  CHECK_MESSAGE(!names.lacks(code.objects[0], "k"), "not all of it was searched");
}

TEST_CASE("a DLL's registrations and names") {
  constexpr std::uint64_t kBase = 0x180000000;
  test::ByteWriter wrapper;
  wrapper.u32(0x466243b1).u32(1).u64(kBase + 0x1000).u64(0);
  const auto dll = [&](const std::vector<std::string>& names) {
    return PeBuilder{}
        .section(".nv_fatb", one())
        .section(".nvFatBi", wrapper.bytes())
        .section(".rdata", texts(names))
        .based(kBase)
        .bytes();
  };
  CHECK(held(dll({"k"})) == "k ");
  CHECK(held(dll({"k", "table"})) == "k table ");
}
