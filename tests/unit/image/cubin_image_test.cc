#include <algorithm>
#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

CubinBuilder two_kernels() {
  return CubinBuilder{}
      .kernel("gemm", sass::join({sass::store(), sass::exit()}))
      .kernel("copy", sass::join({sass::prologue(), sass::exit()}));
}

}  // namespace

TEST_CASE("kernels are entry functions with code, sorted by name, static ones included") {
  const auto bytes = two_kernels()
                         .local_kernel("asleep", sass::trap())
                         .function("helper", sass::exit())
                         .undefined_kernel("elsewhere")
                         .bytes();
  CHECK(kernels_of(read_cubin(bytes)) == "asleep trap, copy empty, gemm real");
}

TEST_CASE("a device-link stub has no kernels") {
  CHECK(kernels_of(read_cubin(CubinBuilder{}.bytes())) == "");
}

TEST_CASE("a cubin tells how many bytes of parameters its kernels take at the most") {
  auto builder = two_kernels();
  CHECK(read_cubin(builder.bytes())->parameters == 0);
  CHECK(read_cubin(builder.parameters(8008).bytes())->parameters == 8008);
  CHECK(read_cubin(builder.kernel("other", sass::exit()).parameters(64).bytes())->parameters == 8008);
  CHECK(read_cubin(builder.generation7(129).bytes())->parameters == 8008);
}

TEST_CASE("a kernel only prints where its attributes name printf or assert for each call") {
  const auto with = [](std::vector<unsigned> symbols, std::vector<unsigned> offsets) {
    return kernels_of(
        read_cubin(CubinBuilder{}
                       .called("vprintf")
                       .called("malloc")
                       .called("__assertfail")
                       .kernel("gemm", sass::join({sass::store(), sass::exit()}))
                       .kernel("k", sass::join({sass::prologue(), sass::call(), sass::call(), sass::exit()}))
                       .driver_calls(std::move(symbols), std::move(offsets))
                       .kernel("other", sass::join({sass::prologue(), sass::call(), sass::exit()}))
                       .bytes()));
  };
  CHECK(with({1, 3}, {32, 16}) == "gemm real, k prints, other unknown");
  CHECK(with({1}, {16, 32}) == "gemm real, k prints, other unknown");
  CHECK(with({1}, {16}) == "gemm real, k unknown, other unknown");
  CHECK(with({1, 2}, {16, 32}) == "gemm real, k unknown, other unknown");
  CHECK(with({1, 99}, {16, 32}) == "gemm real, k unknown, other unknown");
  CHECK(with({}, {16, 32}) == "gemm real, k unknown, other unknown");
}

TEST_CASE("the instructions of sm_62 and older are not read") {
  CHECK(kernels_of(read_cubin(CubinBuilder{}.sm(61).generation7(124).kernel("k", sass::exit()).bytes())) ==
        "k unknown");
}

TEST_CASE("a cubin tells its toolkit by its version or its notes, and whether it is for linking") {
  const auto old = read_cubin(CubinBuilder{}.generation7(118).bytes());
  CHECK(to_string(*old->toolkit) == "11.8");
  CHECK_FALSE(old->relocatable);
  const auto noted = read_cubin(CubinBuilder{}.toolkit_info("13.0", "-arch sm_80").relocatable().bytes());
  CHECK(to_string(*noted->toolkit) == "13.0");
  CHECK(noted->relocatable);
  CHECK_FALSE(read_cubin(CubinBuilder{}.bytes())->toolkit);
}

TEST_CASE("a cubin tells its arch with its suffix, or that it does not tell the suffix") {
  const auto said = [](const CubinBuilder& cubin) {
    const auto code = read_cubin(cubin.bytes());
    std::string archs;
    for (const Arch arch : code->archs) archs += (archs.empty() ? "" : " ") + to_string(arch);
    return archs;
  };
  CHECK(said(CubinBuilder{}.sm(90).generation7(124).marked_a()) == "90a");
  CHECK(said(CubinBuilder{}.sm(90).generation7(124)) == "90");
  CHECK(said(CubinBuilder{}.sm(100)) == "100 100a 100f");
  CHECK(said(CubinBuilder{}.sm(100).marked_a()) == "100a");
  CHECK(said(CubinBuilder{}.sm(100).toolkit_info("13.0", "-arch sm_100f")) == "100f");
  CHECK(said(CubinBuilder{}.sm(100).toolkit_info("13.0", "-arch sm_100")) == "100");
}

TEST_CASE("what is no cubin, or one of an unknown generation, is an error") {
  CHECK(kernels_of(read_cubin(filler(100))) == "cubin has no ELF magic");
  CHECK(kernels_of(read_cubin(Bytes{})) == "cubin has no ELF magic");
  CHECK(kernels_of(read_cubin(ElfBuilder{}.bytes())) == "cubin must be for ELF machine 190, found 62");
  CHECK(kernels_of(read_cubin(CubinBuilder{}.identity(0x41, 9).bytes())) ==
        "cubin of OS/ABI 0x41, ABI 9 is of an unknown generation");
  CHECK(
      kernels_of(read_cubin(
          ElfBuilder{}.type(2).machine(190).identity(0x41, 8, 1, 80 << 8).without_section_table().bytes())) ==
      "cubin has no section table");
}

TEST_CASE("a cubin one byte short says so") {
  auto bytes = two_kernels().bytes();
  bytes.pop_back();
  CHECK(kernels_of(read_cubin(bytes)) ==
        "ELF section table at 0x110 needs 6 headers of 64 bytes, 383 bytes remain");
}

TEST_CASE("a section outside of the cubin is an error, since it may hold a kernel") {
  auto bytes = two_kernels().bytes();
  const std::size_t table = bytes[40] | bytes[41] << 8;
  bytes[table + 3 * 64 + 33] = 0x40;  // the size of .text.gemm
  CHECK(kernels_of(read_cubin(bytes)) == "section 3 of the cubin needs 16416 bytes at 0x98, " +
                                             std::to_string(bytes.size() - 0x98) + " remain");
}

TEST_CASE("a kernel without a name is an error") {
  CHECK(kernels_of(read_cubin(CubinBuilder{}.kernel("", sass::exit()).bytes())) ==
        "kernel symbol 1 of the cubin has no name");
}

TEST_CASE("a function that is found by its name, and has none, is an error") {
  const auto kernel = [] { return CubinBuilder{}.kernel("k", sass::exit()); };
  CHECK(kernels_of(read_cubin(kernel().function("", sass::exit()).bytes())) ==
        "symbol 2 of the cubin has no name");
  CHECK(kernels_of(read_cubin(kernel().called("").bytes())) == "symbol 2 of the cubin has no name");
  CHECK(read_cubin(kernel().called("vprintf").bytes()).ok());
}

TEST_CASE("a kernel without machine code is an error in a cubin that is loaded as it is") {
  CHECK(kernels_of(read_cubin(CubinBuilder{}.kernel("k", {}).bytes())) ==
        "kernel 'k' of the cubin has no machine code");
  CHECK(kernels_of(read_cubin(CubinBuilder{}.kernel("k", Bytes(64)).bytes())) ==
        "kernel 'k' of the cubin has no machine code");
  CHECK(kernels_of(read_cubin(CubinBuilder{}.relocatable().kernel("k", {}).bytes())) == "k unknown");

  const auto whole = CubinBuilder{}.kernel("k", sass::join({sass::store(), sass::exit()})).bytes();
  const std::size_t table = Cursor(whole).u64(40), symbol = Cursor(whole).u64(table + 2 * 64 + 24) + 24;
  auto nobits = whole, outside = whole;
  nobits[table + 3 * 64 + 4] = 8;
  outside[symbol + 10] = 1;  // the value, by 64 KiB
  for (const auto& bytes : {nobits, outside})
    CHECK(kernels_of(read_cubin(bytes)) == "kernel 'k' of the cubin has no machine code");
}

TEST_CASE("an instruction of zeros anywhere in the code is damage, on each generation's stride") {
  const auto code_of = [](int sm, const Bytes& code, bool relocatable = false) {
    CubinBuilder cubin;
    cubin.sm(sm).kernel("k", sass::join({sass::store(), sass::exit()})).function("helper", code);
    if (sm < 70) cubin.generation7(118);
    if (relocatable) cubin.relocatable();
    return kernels_of(read_cubin(cubin.bytes()));
  };
  const Bytes zeros(16), half(8);
  const Bytes lost = sass::join({sass::store(), zeros, sass::exit()});
  CHECK(code_of(80, lost) == "section '.text.helper' of the cubin has zeros for an instruction at 0x10");
  CHECK(code_of(80, lost, true) ==
        "section '.text.helper' of the cubin has zeros for an instruction at 0x10");
  // Half of an instruction may be zeros from sm_70 on.
  CHECK(code_of(80, sass::join({sass::store(), half, half})) ==
        "section '.text.helper' of the cubin has zeros for an instruction at 0x10");
  CHECK(code_of(80, sass::join({half, sass::exit(), half})) == "k real");
  CHECK(code_of(61, sass::join({half, sass::exit(), half})) ==
        "section '.text.helper' of the cubin has zeros for an instruction at 0x0");
  CHECK(code_of(61, sass::join({sass::store(), sass::exit(), half})) ==
        "section '.text.helper' of the cubin has zeros for an instruction at 0x20");
  Bytes long_code;
  for (int i = 0; i < 1000; ++i) long_code.insert(long_code.end(), 16, 1);
  CHECK(code_of(80, long_code) == "k real");
  std::fill_n(long_code.begin() + 999 * 16, 16, std::uint8_t{0});
  CHECK(code_of(80, long_code) ==
        "section '.text.helper' of the cubin has zeros for an instruction at 0x3e70");
}

TEST_CASE("a type of ELF file that no cubin has is an error, bits of e_flags that none has a warning") {
  CHECK(kernels_of(read_cubin(CubinBuilder{}.elf_type(3).kernel("k", sass::exit()).bytes())) ==
        "cubin must have ELF type 1, 2 or 65280, found 3");
  const auto extensible = read_cubin(
      CubinBuilder{}.elf_type(0xff00).kernel("k", sass::join({sass::store(), sass::exit()})).bytes());
  CHECK(kernels_of(extensible) == "k real");
  CHECK(extensible->relocatable);
  const auto code = read_cubin(CubinBuilder{}.flags(0x50).kernel("k", sass::exit()).bytes());
  CHECK(kernels_of(code) == "k empty");
  REQUIRE(code->warnings.size() == 1);
  CHECK(code->warnings[0].what == "cubin has e_flags 0x50, whose meaning is not known");
  CHECK(read_cubin(CubinBuilder{}.bytes())->warnings.empty());
  // A driver of CUDA 13.0 refused these. Bits 16 to 23 of older cubins are the arch of the PTX.
  for (const auto& [flags, text] : {std::pair{0x10000u, "0x10000"}, {0x800000u, "0x800000"}})
    CHECK(kernels_of(read_cubin(CubinBuilder{}.flags(flags).kernel("k", sass::exit()).bytes())) ==
          "cubin has e_flags " + std::string(text) + ", with which a driver of CUDA 13.0 refused one");
  CHECK(read_cubin(CubinBuilder{}.generation7(118).flags(0x500000).kernel("k", sass::exit()).bytes()));
}

TEST_CASE("SASS that ptxas instrumented for compute-sanitizer has a warning") {
  const Bytes code = sass::join({sass::store(), sass::exit()});
  const auto warnings_of = [&](const CubinBuilder& cubin) { return read_cubin(cubin.bytes())->warnings; };
  const auto kernel = [&] { return CubinBuilder{}.kernel("k", code); };
  const auto linked =
      warnings_of(kernel().function("$__internal_12_$__cuda_sanitizer_memcheck_global", code));
  REQUIRE(linked.size() == 1);
  CHECK(linked[0].what ==
        "SASS is instrumented for compute-sanitizer; what it does without that is undefined");
  CHECK(linked[0].fix ==
        "build it without nvcc's -fdevice-sanitize or -sanitize, or run it under compute-sanitizer alone");
  CHECK(warnings_of(kernel().relocatable().called("__cuda_sanitizer_memcheck_local")).size() == 1);
  CHECK(warnings_of(kernel().function("$__internal_0_$__cuda_sm20_div_u64", code)).empty());
}

TEST_CASE("machine code that no symbol names may be a kernel's") {
  const auto whole = CubinBuilder{}.kernel("k", sass::exit()).bytes();
  const std::size_t table = Cursor(whole).u64(40);
  auto cut = whole;
  cut[table + 2 * 64 + 32] = 24;  // the size of the symbol table
  CHECK(kernels_of(read_cubin(cut)) == "section '.text.k' of the cubin holds code that no symbol names");
  CHECK(kernels_of(read_cubin(CubinBuilder{}.function("f", sass::exit()).bytes())) == "");

  const auto marked = [](unsigned other) {
    const Bytes strings = ByteWriter{}.u8(0).text("k").u8(0).bytes();
    const Bytes symbol = ByteWriter{}.zeros(24).u32(1).u8(0x12).u8(other).u16(3).u64(0).u64(16).bytes();
    ElfBuilder elf;
    elf.type(2).machine(190).identity(0x41, 8, 1, 80U << 8);
    elf.section(".strtab", strings, 3, 0).linked_section(".symtab", symbol, 2, 1);
    elf.section(".text.k", sass::exit(), 1, 6);
    return elf.linked_section(".nv.constant0.k", Bytes(8), 1, 0, 3).bytes();
  };
  CHECK(kernels_of(read_cubin(marked(0x10))) == "k empty");
  CHECK(kernels_of(read_cubin(marked(0))) == "cubin holds parameters of the kernel 'k' and no such kernel");
}

TEST_CASE("a kernel that lost its mark or its name is missed, also beside others") {
  auto cubin = two_kernels().constants(8).relocations(24);  // of 'copy'
  const auto whole = cubin.bytes();
  const auto at = [&](std::size_t section, std::size_t symbol, std::size_t field) {
    return Cursor(whole).u64(Cursor(whole).u64(40) + section * 64 + 24) + symbol * 24 + field;
  };
  const auto with = [&](std::size_t byte, unsigned value) {
    auto bytes = whole;
    bytes[byte] = static_cast<std::uint8_t>(value);
    return kernels_of(read_cubin(bytes));
  };
  CHECK(kernels_of(read_cubin(whole)) == "copy empty, gemm real");
  CHECK(with(at(2, 2, 5), 0) == "cubin holds parameters of the kernel 'copy' and no such kernel");
  CHECK_MESSAGE(
      with(at(2, 2, 0), 1) == "kernel 'gemm' of the cubin is not in a section of its own, '.text.gemm'",
      "two of one name");
  CHECK(with(at(2, 1, 6), 4) == "kernel 'gemm' of the cubin is not in a section of its own, '.text.gemm'");
  CHECK(with(at(2, 1, 7), 9) == "symbol 1 of the cubin is in section 2307 of 8");
  CHECK(kernels_of(read_cubin(cubin.relocatable().function("helper", sass::exit()).bytes())) ==
        "copy empty, gemm real");
}

TEST_CASE("a cubin whose section table is not found, or lacks a section, is damaged") {
  const auto whole = two_kernels().constants(8).bytes();
  const std::uint64_t table = Cursor(whole).u64(40);
  const auto with = [&](std::size_t byte, std::uint64_t value, std::size_t size) {
    auto bytes = whole;
    for (std::size_t i = 0; i < size; ++i) bytes[byte + i] = static_cast<std::uint8_t>(value >> 8 * i);
    return kernels_of(read_cubin(bytes));
  };
  const auto damaged = [](int count, int names) {
    return "section table of the cubin is damaged: of its " + std::to_string(count) + " sections, " +
           std::to_string(names) + " is no table of their names";
  };
  CHECK(with(60, 0, 2) == damaged(0, 6));                                                // e_shnum
  for (const int by : {8, 16, 32, 64}) CHECK(with(40, table - by, 8) == damaged(7, 6));  // e_shoff
  CHECK(with(62, 5, 2) == damaged(7, 5));                                                // e_shstrndx
  CHECK(with(62, 0, 2) == damaged(7, 0));
  CHECK(with(table + 6 * 64 + 4, 1, 4) == damaged(7, 6));  // the type of .shstrtab
  auto zeros = whole;
  std::fill(zeros.begin() + static_cast<std::ptrdiff_t>(table), zeros.end(), std::uint8_t{0});
  CHECK(kernels_of(read_cubin(zeros)) == damaged(7, 6));
  CHECK(with(table + 5 * 64 + 4, 0, 4) == "section 5 of the cubin has no type: its header was lost");
  CHECK(with(table + 2 * 64 + 4, 1, 4) == "cubin has no symbol table that names its kernels");
  CHECK(with(table + 1 * 64 + 4, 1, 4) == "symbol table of the cubin names no string table");
  CHECK(with(table + 2 * 64 + 56, 0, 8) == "symbols of the cubin must have 24 bytes, found 0");
}

TEST_CASE("every cut is an error, every flipped byte some answer") {
  const auto whole = two_kernels().toolkit_info("13.0", "-arch sm_80").bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const test::Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE_MESSAGE(read_cubin(cut).ok(), size);
  }
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 1U << bit);
      const auto code = read_cubin(bytes);
      if (code) CHECK(code->kernels.size() <= 2);
    }
}

TEST_CASE("symbol tables that claim the same bytes again and again are refused, however many they are") {
  ElfBuilder elf;
  const std::string name(200, 'k');
  const Bytes strings = ByteWriter{}.u8(0).text(name).u8(0).bytes();
  const Bytes symbol = ByteWriter{}.zeros(24).u32(1).u8(0x12).u8(0x10).u16(23).u64(0).u64(0).bytes();
  elf.type(1).machine(190).identity(0x41, 8, 1, 80U << 8);
  elf.section(".strtab", strings, 3, 0);
  for (int i = 0; i < 20; ++i) elf.linked_section(".symtab", {}, 2, 1);
  elf.linked_section(".symtab", symbol, 2, 1);
  Bytes bytes = elf.section(".text." + name, {}, 1, 6).bytes();
  // Every table gets the offset and size of the last.
  const std::size_t table = Cursor(bytes).u64(40), last = table + 22 * 64;
  for (std::size_t i = 2; i < 22; ++i)
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(last + 24), 16,
                bytes.begin() + static_cast<std::ptrdiff_t>(table + i * 64 + 24));
  CHECK(kernels_of(read_cubin(bytes)) == "kernel names of the cubin overlap");
}

TEST_CASE("of a cubin a kernel has its code and the sections that belong to it") {
  const auto own_sizes = [](const CubinBuilder& cubin) {
    const auto code = read_cubin(cubin.bytes());
    REQUIRE(code);
    std::string sizes;
    for (const Kernel& kernel : code->kernels)
      sizes += kernel.name + " " + std::to_string(kernel.code_size) + " of " +
               std::to_string(kernel.own_size) + "; ";
    return sizes;
  };
  CHECK(own_sizes(two_kernels()) == "copy 32 of 32; gemm 32 of 32; ");
  // .nv.info.copy has 12 bytes.
  CHECK(own_sizes(two_kernels().parameters(64).constants(1000).relocations(48)) ==
        "copy 32 of 1092; gemm 32 of 32; ");
  CHECK(own_sizes(two_kernels().sm(100).second_code(500)) == "copy 32 of 532; gemm 32 of 32; ");
}

TEST_CASE("a cubin that is loaded as it is tells which functions of newer drivers it calls") {
  const auto called = [](const char* one, const char* other) {
    const auto code = read_cubin(two_kernels().called(one).called(other).bytes());
    REQUIRE(code);
    return code->newest_call ? code->newest_call->name : "none";
  };
  CHECK(called("vprintf", "malloc") == "none");
  CHECK(called("vprintf", "cudaGraphLaunch") == "cudaGraphLaunch");
  CHECK(called("cudaGraphSetConditional", "cudaGraphLaunch") == "cudaGraphSetConditional");
  CHECK(called("cudaGraphLaunch", "somebody_elses") == "cudaGraphLaunch");
}
