#include "coverage/fatbin_code.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "base/parallel.h"
#include "base/text.h"
#include "coverage/fit.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

test::Bytes cubin(const std::string& kernel) {
  return CubinBuilder{}.kernel(kernel, sass::join({sass::store(), sass::exit()})).bytes();
}

// "0: kernels of its images | errors", a line for each fat binary.
std::string contents_of(const test::Bytes& bytes, Keep keep = Keep::all) {
  const MemorySource source(bytes);
  const DeviceCode code = read_device_code(source, "t.fatbin", {}, keep);
  FatbinCodeReader codes(code, source);
  std::string text;
  for (const DeviceObject& object : code.objects)
    for (std::size_t i = 0; i < object.fatbins.size() + object.packed.count; ++i) {
      const FatbinCode fatbin = codes.next();
      text += std::to_string(i) + ":";
      for (const KernelName& kernel : fatbin.kernels) text += " " + kernel.name;
      for (const Error& error : fatbin.errors) text += " | " + error.text();
      text += "\n";
    }
  return text;
}

std::string contents_on_one_thread(const test::Bytes& bytes) {
  return InOrder<std::string>(
             1, 1, [&](std::size_t, unsigned) { return contents_of(bytes); }, 1)
      .next();
}

}  // namespace

TEST_CASE("containers come in order, with their own kernels and errors, on any number of threads") {
  test::Bytes bytes;
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    const std::string name = std::to_string(i);
    auto fatbin = FatbinBuilder{}
                      .cubin(80, cubin("k" + name))
                      .zstd()
                      .ltoir("90")
                      .cubin(80, i % 7 == 0 ? filler(1 << 15) : cubin("l" + name))
                      .bytes();
    const std::string place = i == 0 ? "t.fatbin" : "t.fatbin(+" + hex(bytes.size()) + ")";
    expected += name + ": k" + name;
    expected += i % 7 == 0 ? " | " + place + ": cubin has no ELF magic" : " l" + name;
    expected += "\n";
    bytes.insert(bytes.end(), fatbin.begin(), fatbin.end());
  }
  CHECK(contents_of(bytes) == expected);
  CHECK(contents_on_one_thread(bytes) == expected);
}

TEST_CASE("the images of a file with very many are read the same when not all of them are kept") {
  test::Bytes bytes;
  std::string expected;
  for (int i = 0; i < 9000; ++i) {
    const std::string name = std::to_string(i % 50);
    const auto fatbin = FatbinBuilder{}.cubin(80, i % 999 == 0 ? filler(64) : cubin("k" + name)).bytes();
    const std::string place = i == 0 ? "t.fatbin" : "t.fatbin(+" + hex(bytes.size()) + ")";
    expected += std::to_string(i) + ":";
    expected += i % 999 == 0 ? " | " + place + ": cubin has no ELF magic" : " k" + name;
    expected += "\n";
    bytes.insert(bytes.end(), fatbin.begin(), fatbin.end());
  }
  CHECK(contents_of(bytes, Keep::first) == expected);
  CHECK(contents_of(bytes) == expected);
}

TEST_CASE("an image that says another arch than its header is an error") {
  const auto made = [](const CubinBuilder& cubin) {
    return CubinBuilder(cubin).kernel("k", sass::join({sass::store(), sass::exit()})).bytes();
  };
  const auto text = [](const std::string& head) { return head + ".entry k() { ret; }"; };
  const auto ptx = [&](const std::string& target, const std::string& version = "9.0") {
    return text(".version " + version + "\n.target " + target + "\n.address_size 64\n");
  };
  const std::string fine = "0: k\n", wrong = "0: | t.fatbin: ";

  CHECK(contents_of(FatbinBuilder{}.cubin(80, made(CubinBuilder{}.sm(80))).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.cubin(86, made(CubinBuilder{}.sm(80))).bytes()) ==
        wrong + "its header says 86, the cubin itself sm_80\n");
  CHECK(contents_of(FatbinBuilder{}.cubin(100, made(CubinBuilder{}.sm(100))).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.cubin(120, made(CubinBuilder{}.sm(100).marked_a())).bytes()) ==
        wrong + "its header says 120, the cubin itself sm_100a\n");
  CHECK(contents_of(FatbinBuilder{}.cubin("100f", made(CubinBuilder{}.sm(100).marked_a())).bytes()) ==
        wrong + "its header says 100f, the cubin itself sm_100a\n");

  const Bytes plain{2, 9, 0, 0};
  CHECK(contents_of(FatbinBuilder{}.cubin(90, made(CubinBuilder{}.sm(90).compat(plain))).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.cubin("100f", made(CubinBuilder{}.sm(100).compat(plain))).bytes()) ==
        fine);
  // NVIDIA's own assembler "nvasm_internal" gives the section the type of data.
  CHECK(contents_of(
            FatbinBuilder{}.cubin("103a", made(CubinBuilder{}.sm(103).compat({2, 9, 1, 0}, 1))).bytes()) ==
        fine);
  // nvcc 13.5, of compute_90: `ptxas -arch=sm_100`.
  const CubinBuilder told = CubinBuilder{}.sm(100).toolkit_info("13.5", "-arch sm_100");
  CHECK(contents_of(FatbinBuilder{}.cubin("100f", made(told)).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.cubin("100a", made(told)).bytes()) ==
        wrong + "its header says 100a, the cubin itself sm_100\n");
  CHECK(contents_of(FatbinBuilder{}.cubin("100a", made(CubinBuilder{}.sm(100).compat(plain))).bytes()) ==
        wrong + "its header says 100a, the cubin itself sm_100\n");
  CHECK(contents_of(FatbinBuilder{}
                        .cubin(60, made(CubinBuilder{}.sm(60).generation7(80).flags(0xd00)))
                        .cubin(90, made(CubinBuilder{}.sm(90).generation7(124).flags(0xd00)))
                        .bytes()) == fine);

  CHECK(contents_of(FatbinBuilder{}.ptx("90", "9.0", ptx("sm_90")).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.ptx("90", "9.0", ptx("sm_80")).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.ptx("90a", "9.0", ptx("sm_90a")).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.ptx("90", "9.0", ptx("sm_90a")).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.ptx("90a", "9.0", ptx("sm_90")).bytes()) == fine);
  CHECK(contents_of(FatbinBuilder{}.ptx("100", "9.0", ptx("sm_90a")).bytes()) ==
        wrong + "its header says 100, the PTX itself sm_90a\n");
  CHECK(contents_of(FatbinBuilder{}.ptx("80", "9.0", ptx("sm_90")).bytes()) ==
        wrong + "its header says 80, the PTX itself sm_90\n");
  CHECK(contents_of(FatbinBuilder{}.ptx("80", "8.0", ptx("sm_80", "8.4")).bytes()) ==
        wrong + "its header says PTX ISA 8.0, the PTX itself 8.4\n");
  CHECK(contents_of(FatbinBuilder{}.ptx("80", "9.0", ptx("none")).bytes()) ==
        wrong + "PTX has a `.target` of 'none', which is not known\n");
}

TEST_CASE("LTO-IR is read: what is damaged or no LTO-IR is an error") {
  const auto said = [](const FatbinBuilder& builder) {
    const std::string text = contents_of(builder.bytes()), place = "0: | t.fatbin: ";
    return text == "0:\n" ? "fine" : text.substr(text.find(place) == 0 ? place.size() : 0);
  };
  const test::Bytes whole = raw_ltoir("90");
  const auto spoiled = [&](std::size_t begin, std::size_t count, std::uint8_t byte = 0) {
    test::Bytes bytes = whole;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), count, byte);
    return bytes;
  };
  const auto in = [](const test::Bytes& bytes) { return FatbinBuilder{}.ltoir("90", bytes); };
  CHECK(said(in(whole)) == "fine");
  CHECK(said(in(whole).lz4()) == "fine");
  CHECK(said(in(whole).zstd()) == "fine");
  const std::string none = "LTO-IR has no NVVM magic\n";
  CHECK(said(in(test::Bytes(whole.size()))) == none);
  CHECK(said(in(test::Bytes(whole.size())).zstd()) == none);
  CHECK(said(in({})) == none);
  CHECK(said(in(spoiled(8, 32))) == "LTO-IR has a head that is damaged\n");
  CHECK(said(in(test::Bytes(whole.begin(), whole.begin() + 44)).zstd()) ==
        "LTO-IR has a head that is damaged\n");

  // What is enciphered holds no long run of equal bytes, wherever it begins.
  for (std::size_t at = 44; at < 80; ++at) {
    CHECK(said(in(spoiled(at, 31))) == "fine");
    CHECK(said(in(spoiled(at, 32))) == "LTO-IR is damaged: 32 bytes of it in a row are 0x0\n");
  }
  CHECK(said(in(spoiled(whole.size() - 40, 40, 0xff))) ==
        "LTO-IR is damaged: 40 bytes of it in a row are 0xff\n");
  CHECK(said(in(spoiled(100, 200)).zstd()) == "LTO-IR is damaged: 200 bytes of it in a row are 0x0\n");
  CHECK(said(in(spoiled(100, 200)).lz4().code_version(1, 50)) == "fine");  // CUDA 11.7: zeros shine through

  // Of what is obfuscated no more is known, neither what it begins with nor what it inflates to.
  CHECK(said(in(filler(900)).zstd().obfuscated()) == "fine");
  CHECK(said(in(test::Bytes(900)).obfuscated().uncompressed_size(1200).compressed_size(900).flags(0x8000)) ==
        "LTO-IR is damaged: 900 bytes of it in a row are 0x0\n");
  CHECK(said(in(filler(8))
                 .obfuscated()
                 .uncompressed_size(std::uint64_t{1} << 30)
                 .compressed_size(8)
                 .flags(0x2000)) == "entry at 0x10: 8 stored bytes cannot inflate to 1073741824\n");
}

TEST_CASE("a cubin whose header leaves its suffix out is to fit as both") {
  const Bytes cubin =
      CubinBuilder{}.sm(100).marked_a().kernel("k", sass::join({sass::store(), sass::exit()})).bytes();
  const Bytes fatbin = FatbinBuilder{}.cubin(100, cubin).bytes();
  const MemorySource source(fatbin);
  const DeviceCode code = read_device_code(source, "t.fatbin");
  FatbinCodeReader reader(code, source);
  const FatbinCode one = reader.next();
  CHECK(one.errors.empty());
  REQUIRE(one.images.size() == 1);
  const FatbinEntry& entry = one.images[0].entry;
  CHECK(image_name(entry) == "sm_100a or sm_100");
  CHECK(fit_of(entry, {10, 0}) == Fit::yes);
  CHECK(fit_of(entry, {10, 3}) == Fit::unknown);
  CHECK(fit_of(entry, {12, 0}) == Fit::no);
}

TEST_CASE("a 32-bit cubin is for 32-bit programs") {
  const auto bytes = ElfBuilder{}
                         .bits32()
                         .type(2)
                         .machine(190)
                         .identity(0x33, 7, 118, 80U | 80U << 16 | 0x100)
                         .section(".strtab", Bytes(1), 3, 0)
                         .linked_section(".symtab", Bytes(16), 2, 1)
                         .bytes();
  CHECK(contents_of(FatbinBuilder{}.cubin(80, bytes).bytes()) ==
        "0: | t.fatbin: 32-bit cubin, which a 64-bit program cannot load\n");
}

TEST_CASE("a warning of images is told once, with the first place") {
  const auto odd = [](std::uint32_t flags) {
    return CubinBuilder{}.flags(flags).kernel("k", sass::exit()).bytes();
  };
  auto bytes = FatbinBuilder{}.cubin(80, odd(0x10)).cubin(80, odd(0x10)).bytes();
  const auto second = FatbinBuilder{}.cubin(80, odd(0x10)).cubin(80, odd(0x20)).bytes();
  bytes.insert(bytes.end(), second.begin(), second.end());
  const MemorySource source(bytes);
  const DeviceCode code = read_device_code(source, "t.fatbin");
  FatbinCodeReader codes(code, source);
  std::vector<Error> warnings;
  for (int i = 0; i < 2; ++i) add_warnings(codes.next(), warnings);
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].text() == "t.fatbin: cubin has e_flags 0x10, whose meaning is not known");
  CHECK(warnings[1].what == "cubin has e_flags 0x20, whose meaning is not known");
}

TEST_CASE("containers that nobody asks for any more hold nothing up") {
  test::Bytes bytes;
  for (int i = 0; i < 100; ++i) {
    const auto fatbin = FatbinBuilder{}.cubin(80, cubin("k")).zstd().cubin(80, filler(1 << 14)).bytes();
    bytes.insert(bytes.end(), fatbin.begin(), fatbin.end());
  }
  const MemorySource source(bytes);
  const DeviceCode code = read_device_code(source, "t.fatbin");
  CHECK(FatbinCodeReader(code, source).next().kernels.size() == 1);
}

TEST_CASE("PTX under a header with a suffix that it lacks is for both") {
  const test::Bytes bytes =
      FatbinBuilder{}
          .ptx("80a", "9.0", ".version 9.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }")
          .bytes();
  const MemorySource source(bytes);
  const DeviceCode code = read_device_code(source, "t.fatbin");
  const FatbinCode fatbin = FatbinCodeReader(code, source).next();
  REQUIRE(fatbin.images.size() == 1);
  CHECK(to_string(fatbin.images[0].entry.arch) == "80");
  REQUIRE(fatbin.images[0].entry.or_archs.size() == 1);
  CHECK(to_string(fatbin.images[0].entry.or_archs[0]) == "80a");
}
