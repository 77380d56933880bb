#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/offload_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

Bytes cubin(int sm) {
  return CubinBuilder{}.sm(sm).relocatable().kernel("k", sass::exit()).bytes();
}

Bytes linked_cubin(int sm) {
  return CubinBuilder{}.sm(sm).kernel("k", sass::exit()).bytes();
}

std::string read_section(const Bytes& bytes) {
  const DeviceCode code = read(object_with(".llvm.offloading", bytes), "t.o");
  return outline(code) + errors_of(code);
}

}  // namespace

TEST_CASE("the images of one source file are one fat binary; the next begins where an arch comes again") {
  const Bytes bytes = OffloadBuilder{}
                          .image(OffloadBuilder::object, "sm_70", cubin(70))
                          .image(OffloadBuilder::cubin, "sm_90a", cubin(90))
                          .image(OffloadBuilder::ptx, "sm_90", bytes_of_text(".version 8.0\n.target sm_90\n"))
                          .image(OffloadBuilder::bitcode, "sm_70", filler(20))
                          .image(OffloadBuilder::object, "sm_70", cubin(70))
                          .bytes();
  CHECK(read_section(bytes).find(
            "t.o(.llvm.offloading+0x0) relocatable: sass 70; sass 90a; ptx 90 8.0; ltoir 70;\n"
            "t.o(.llvm.offloading+0x") == 0);
  const DeviceCode file = read(bytes, "t.bin");
  CHECK(outline(file).find("t.bin relocatable: sass 70; sass 90a; ptx 90 8.0; ltoir 70;\n") == 0);
  CHECK_FALSE(file.objects[0].linked);
  const auto& entry = file.objects[0].fatbins[0].entries[0];
  const auto image = inflate(entry, MemorySource(bytes));
  REQUIRE(image.ok());
  CHECK(*image == cubin(70));
}

TEST_CASE("a linked image is no part for a linker, and of a linked file nothing is") {
  const Bytes both = OffloadBuilder{}
                         .image(OffloadBuilder::object, "sm_80", cubin(80))
                         .image(OffloadBuilder::object, "sm_90", linked_cubin(90))
                         .bytes();
  CHECK(read_section(both).find("t.o(.llvm.offloading+0x0) relocatable: sass 80;\nt.o(.llvm.offloading+0x") ==
        0);
  const DeviceCode file = read(ElfBuilder{}.executable().section(".llvm.offloading", both).bytes(), "t");
  CHECK(outline(file) == "t(.llvm.offloading+0x0): sass 80; sass 90;\n");
  CHECK(file.objects[0].fatbins[0].offload);
  CHECK_FALSE(file.objects[0].fatbins[0].in_data);
}

TEST_CASE("a bundle of clang 14 holds relocatable cubins or bitcode") {
  const std::string section = "__CLANG_OFFLOAD_BUNDLE__openmp-nvptx64-nvidia-cuda";
  const auto bundle = [&](const std::string& arch, const Bytes& bytes) {
    const DeviceCode code = read(object_with(section + arch, bytes), "t.o");
    return outline(code) + errors_of(code);
  };
  CHECK(bundle("-sm_80", cubin(80)) == "t.o(" + section + "-sm_80+0x0) relocatable: sass 80;\n");
  const Bytes bitcode = bytes_of_text("BC\xc0\xde----");
  CHECK(bundle("--sm_90a", bitcode) == "t.o(" + section + "--sm_90a+0x0) relocatable: ltoir 90a;\n");
  CHECK(bundle("", bitcode) ==
        "t.o(" + section + "+0x0) relocatable: ltoir 0 (bitcode for no architecture);\n");
  CHECK(bundle("", Bytes(3)).empty());
  CHECK(bundle("", filler(3)) == "t.o(" + section + "+0x0): expected a cubin or LLVM bitcode of clang's\n");
  Bytes cut = cubin(80);
  cut.resize(cut.size() - 1);
  CHECK(bundle("-sm_80", cut)
            .find("t.o(" + section + "-sm_80+0x0): a cubin among the data of the file needs ") == 0);
}

TEST_CASE("images for other vendors' devices are passed over, a fat binary within is read") {
  CHECK(read_section(OffloadBuilder{}
                         .image(OffloadBuilder::object, "gfx90a", filler(8), "amdgcn-amd-amdhsa")
                         .image(OffloadBuilder::fatbinary, "", FatbinBuilder{}.cubin(80, cubin(80)).bytes())
                         .bytes()) == "t.o(.llvm.offloading+0x128) relocatable: sass 80;\n");
}

TEST_CASE("what is not known of an offload image is noted") {
  CHECK(read_section(OffloadBuilder{}.image(OffloadBuilder::object, "generic", cubin(70)).bytes()) ==
        "t.o(.llvm.offloading+0x0) relocatable: sass 0 (arch 'generic');\n");
  CHECK(read_section(OffloadBuilder{}.image(OffloadBuilder::object, "sm_70", filler(9)).bytes()) ==
        "t.o(.llvm.offloading+0x0) relocatable: sass 70 (the image is no cubin);\n");
  CHECK(read_section(
            OffloadBuilder{}.image(static_cast<OffloadBuilder::Kind>(9), "sm_70", cubin(70)).bytes()) ==
        "t.o(.llvm.offloading+0x0) relocatable: other 70 (offload image of kind 9);\n");
}

TEST_CASE("damage of an offload binary names the offset, what was expected and found") {
  const Bytes whole = OffloadBuilder{}.image(OffloadBuilder::object, "sm_70", cubin(70)).bytes();
  const auto with = [&](std::size_t at, unsigned value) {
    Bytes bytes = whole;
    bytes[at] = static_cast<std::uint8_t>(value);
    return read_section(bytes);
  };
  const std::string at = "t.o(.llvm.offloading+0x0): ";
  CHECK(with(0, 1) == at + "expected an offload binary's magic 0xad10ff10, found 0xad10ff01\n");
  CHECK(with(4, 2) == at + "offload version must be 1, found 2\n");
  CHECK(with(15, 1).find(at + "offload binary needs 72057594037928") == 0);
  CHECK(with(17, 0xff).find(at + "offload entry of 40 bytes at 0xff20 lies outside of its binary of ") == 0);
  CHECK(with(49, 0xff) == at + "offload binary has 65282 strings, at most 64 are read\n");
  CHECK(with(58, 0xff).find(at + "offload image of ") == 0);
  for (std::size_t size = 1; size < whole.size(); ++size)
    CHECK_FALSE(
        read(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), "t").errors.empty());
}

TEST_CASE("zeros in place of an image are damage, and a few between two images are none") {
  const Bytes one = OffloadBuilder{}.image(OffloadBuilder::object, "sm_80", cubin(80)).bytes();
  const auto damaged = [](const Bytes& bytes) {
    return read_section(bytes).find("zeros stand here in place of an image of clang's") != std::string::npos;
  };
  const auto joined = [](const Bytes& a, const Bytes& b) { return ByteWriter{}.append(a).append(b).bytes(); };
  CHECK(damaged(Bytes(one.size())));
  CHECK(damaged(joined(one, Bytes(one.size()))));
  CHECK(damaged(joined(Bytes(one.size()), one)));
  CHECK_FALSE(damaged(one));
  CHECK_FALSE(damaged(joined(joined(one, Bytes(24)), one)));
}
