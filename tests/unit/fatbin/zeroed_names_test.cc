#include "fatbin/zeroed_names.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/program_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr std::size_t kBlock = 512;

std::string kernel(int number) {
  return "_Z10kernel_" + std::to_string(100 + number) + "PfPKfi";
}

std::vector<std::string> kernels(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(kernel(i));
  return names;
}

test::Bytes texts(const std::vector<std::string>& all) {
  test::ByteWriter bytes;
  for (const std::string& text : all) bytes.append(bytes_of_text(text)).u8(0);
  return bytes.bytes();
}

test::Bytes program(const test::Bytes& constants) {
  return ProgramBuilder{}.whole(FatbinBuilder{}.cubin(80, filler(64)).bytes()).constants(constants).bytes();
}

std::size_t place_of(const test::Bytes& bytes, const std::string& text) {
  const auto found = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  REQUIRE(found != bytes.end());
  return static_cast<std::size_t>(found - bytes.begin());
}

// The first whole block of the file behind this text.
std::size_t block_behind(const test::Bytes& bytes, const std::string& text) {
  return (place_of(bytes, text) + kBlock - 1) / kBlock * kBlock;
}

test::Bytes zero(test::Bytes bytes, std::size_t at, std::size_t size) {
  REQUIRE(at + size <= bytes.size());
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, std::uint8_t{0});
  return bytes;
}

// These, with 2048 zeros between, which are whole blocks of the file.
test::Bytes around_zeros(const test::Bytes& before, const test::Bytes& after) {
  const auto constants = [&](std::size_t fill) {
    test::ByteWriter bytes;
    bytes.append(texts({"first text", std::string(fill, 'x')})).append(before).zeros(2048).append(after);
    return bytes.bytes();
  };
  const std::size_t end =
      place_of(program(constants(0)), "first text") + texts({"first text", ""}).size() + before.size();
  return constants((kBlock - end % kBlock) % kBlock);
}

// What is said of a file whose fat binaries hold these kernels.
std::string said(const test::Bytes& bytes, const std::vector<std::string>& held, bool everywhere = true) {
  const DeviceCode code = read(bytes, "t.so");
  const MemorySource file(bytes);
  HostNames host_names(file);
  ZeroedNames names(file, host_names);
  std::string text;
  for (const DeviceObject& object : code.objects) {
    for (std::size_t i = 0; i < object.fatbins.size(); ++i)
      for (const std::string& name : held) names.note(object, i, name, everywhere);
    if (const auto error = names.find(object)) text += error->text() + "\n";
  }
  return text;
}

bool is_lost(const std::string& text, const std::string& first) {
  return text.find(
             "zeros overwrote names by which host code registers kernels, and the runtime does not "
             "find these: " +
             first) != std::string::npos;
}

}  // namespace

TEST_CASE("a block of zeros over names that host code registers is an error") {
  const auto all = kernels(400);
  const auto whole = program(texts(all));
  CHECK(said(whole, all) == "");
  for (const std::size_t size : {kBlock, 8 * kBlock}) {
    CAPTURE(size);
    const std::string text = said(zero(whole, block_behind(whole, kernel(20)), size), all);
    CHECK(is_lost(text, "kernel_1"));
    CHECK(text.find(".rodata") != std::string::npos);
  }
  CHECK_MESSAGE(said(zero(whole, block_behind(whole, kernel(20)), 500), all) == "", "no whole block");
}

TEST_CASE("what is left of a name beside zeros tells of it, and so does a neighbour") {
  const auto all = kernels(400);
  const std::string lost = kernel(5);
  // The rests of a kernel's name before and behind the zeros, and texts beside these.
  const auto with = [&](const std::string& before, const std::string& after) {
    return said(program(around_zeros(texts({before}), texts({after, "some text", kernel(1)}))),
                {kernel(1), lost});
  };
  CHECK(with("other", "another") == "");
  CHECK(is_lost(with(lost.substr(0, 4), "another"), "kernel_105"));
  CHECK_MESSAGE(is_lost(with("\x4b\xea\xff" + lost.substr(0, 8), "another"), "kernel_105"), "behind a table");
  CHECK(with("_Y" + lost.substr(0, 5), "another") == "");
  CHECK(is_lost(with("other", lost.substr(lost.size() - 8)), "kernel_105"));
  CHECK_MESSAGE(with("other", lost.substr(lost.size() - 5)) == "", "may be of anything");
  CHECK(is_lost(with(kernel(1), "another"), "kernel_105"));
  CHECK(is_lost(with("other", kernel(1)), "kernel_105"));
  const auto rest = program(around_zeros(texts({"a text"}), texts({"fi", kernel(1)})));
  CHECK(is_lost(said(rest, {kernel(1), lost}), "kernel_105"));
  CHECK_MESSAGE(said(rest, kernels(200)) == "", "more names than zeros");
  test::ByteWriter table;  // of zeros, which stands anywhere
  table.append(texts({std::string(99, 'x')}))
      .append(around_zeros(texts({"a text", kernel(1)}), texts({"another text"})));
  CHECK(said(program(table.bytes()), {kernel(1), lost}) == "");
  test::ByteWriter literal;  // that begins as a kernel's name does
  literal.append(texts({std::string(99, 'x')}))
      .append(around_zeros(texts({"use " + lost.substr(0, 9)}), texts({"another text"})));
  CHECK(said(program(literal.bytes()), {kernel(1), lost}) == "");
}

TEST_CASE("names that end where zeros begin tell of lost ones between them") {
  // Names of 16 bytes with their NULs fill each block, so that none is cut.
  std::vector<std::string> all;
  for (int i = 0; i < 300; ++i) all.push_back("_Z10kernel_" + std::to_string(100 + i) + "v");
  REQUIRE(all[0].size() == 15);
  auto bytes = program(texts(all));
  // The table begins at a multiple of 16 in the file, or is moved there by a text before it.
  const std::size_t off = place_of(bytes, all[0]) % 16;
  if (off != 0) {
    std::vector<std::string> moved = all;
    moved.insert(moved.begin(), std::string(15 - off, 'x'));
    bytes = program(texts(moved));
  }
  REQUIRE(place_of(bytes, all[0]) % 16 == 0);
  CHECK(said(bytes, all) == "");
  CHECK(is_lost(said(zero(bytes, block_behind(bytes, all[20]), kBlock), all), "kernel_1"));
}

TEST_CASE("zeros are a table where they stand beside no name, and an absent name tells nothing by itself") {
  auto all = kernels(40);
  const test::Bytes names = texts(all);
  test::ByteWriter before;
  before.append(names).append(texts({"some text"}));
  const auto bytes = program(around_zeros(before.bytes(), texts({"another text"})));
  all.push_back("_Z14of_device_onlyv");
  CHECK(said(program(names), all) == "");
  CHECK(said(bytes, all) == "");
  CHECK_MESSAGE(is_lost(said(bytes, {"_Z14of_device_onlyv"}), "of_device_only"), "no name is left");
  CHECK_MESSAGE(said(bytes, {"_Z14of_device_onlyv"}, false) == "", "the last image may lack it");
  CHECK_MESSAGE(said(program(texts({"some text"})), {"_Z14of_device_onlyv"}) == "", "no zeros");
}

TEST_CASE("device code launches some kernels of -rdc=true, which host code then does not register") {
  const auto one = FatbinBuilder{}.cubin(80, filler(64)).bytes();
  const auto linked = [&](std::size_t fill) {
    test::ByteWriter constants;
    constants.append(texts({"first text", std::string(fill, 'x')})).zeros(2048);
    return ProgramBuilder{}
        .object("_a", one)
        .link({"_a"}, one)
        .constants(constants.append(texts({"x"})).bytes());
  };
  const std::size_t end = place_of(linked(0).bytes(), "first text") + texts({"first text", ""}).size();
  const std::size_t fill = (kBlock - end % kBlock) % kBlock;
  CHECK(said(linked(fill).bytes(), {"_Z5childv"}) == "");
  CHECK(is_lost(said(linked(fill).symbol("_Z5childv", 2).bytes(), {"_Z5childv"}), "child"));
}

TEST_CASE("an object's literals hold no block of zeros") {
  test::ByteWriter symbols, relocations, wrapper;
  symbols.zeros(24).u32(0).u8(3).u8(0).u16(1).u64(0).u64(0);
  relocations.u64(8).u32(1).u32(1).u64(0);
  wrapper.u32(0x466243b1).u32(1).u64(0).u64(0);
  const auto object = [&](const test::Bytes& literals) {
    return ElfBuilder{}
        .relocatable()
        .section(".nv_fatbin", FatbinBuilder{}.cubin(80, filler(64)).bytes())
        .section(".nvFatBinSegment", wrapper.bytes())
        .section(".rela.nvFatBinSegment", relocations.bytes(), 4)
        .section(".symtab", symbols.bytes(), 2)
        .section(".rodata.str1.8", literals)
        .bytes();
  };
  test::ByteWriter literals;
  literals.append(texts({"a text", kernel(0)})).zeros(1200).append(texts({"another text"}));
  CHECK(is_lost(said(object(literals.bytes()), kernels(2)), "kernel_101"));
  CHECK(said(object(texts({"a text", kernel(0), kernel(1)})), kernels(2)) == "");
}
