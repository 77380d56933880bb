#include "fatbin/cuda_runtime.h"

#include <doctest/doctest.h>

#include "reading.h"
#include "support/builders/pe_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

std::string runtime_named(const char* name) {
  const auto library = runtime_library(name);
  if (!library) return "another library";
  CHECK(library->name == name);
  return library->version ? to_string(*library->version) : "no version";
}

const test::Bytes& fat_binary() {
  static const test::Bytes bytes = FatbinBuilder{}.cubin(80, filler(64)).bytes();
  return bytes;
}

test::Bytes registration() {
  return ByteWriter{}.u32(0x466243b1).u32(1).u64(0).u64(0).bytes();
}

ElfBuilder program() {
  return ElfBuilder{}.section(".nv_fatbin", fat_binary()).section(".nvFatBinSegment", registration());
}

struct Found {
  bool registers = false, holds = false;
  std::string needed;
  std::string at_least;
};

Found find(const test::Bytes& bytes) {
  const DeviceCode code = read(bytes, "p");
  REQUIRE(code.objects.size() == 1);
  const DeviceObject& object = code.objects[0];
  const MemorySource file(bytes);
  const auto library = needed_runtime(object, file);
  const auto held = held_runtime(object, file);
  return {object.registers, held.has_value(), library ? library->name : "",
          held && held->at_least ? to_string(*held->at_least) : ""};
}

const std::string kText = "CUDA driver version is insufficient for CUDA runtime version";

}  // namespace

TEST_CASE("names of the CUDA runtime, and the version that they tell") {
  CHECK(runtime_named("libcudart.so.13") == "13.0");
  CHECK(runtime_named("libcudart.so.11.0") == "11.0");
  CHECK(runtime_named("libcudart.so.10.2") == "10.2");
  CHECK(runtime_named("libcudart-8774224f.so.12.4.127") == "12.4");  // in a wheel
  CHECK(runtime_named("libcudart.so") == "no version");
  CHECK(runtime_named("libcudart.so.x") == "no version");
  CHECK(runtime_named("cudart64_13.dll") == "13.0");
  CHECK(runtime_named("cudart64_110.dll") == "11.0");
  CHECK(runtime_named("cudart64_102.dll") == "10.2");
  CHECK(runtime_named("CUDART64_65.DLL") == "6.5");
  CHECK(runtime_named("cudart64_12-0123abcd.dll") == "12.0");
  for (const char* other :
       {"libcuda.so.1", "libcudartx.so.1", "libcudart.a", "cudart.dll", "libcudart.sox", ""})
    CHECK_MESSAGE(runtime_named(other) == "another library", other);
}

TEST_CASE("a file that registers fat binaries needs the runtime, holds it, or neither") {
  const Found shared = find(program().needed("libc.so.6").needed("libcudart.so.13").bytes());
  CHECK(shared.registers);
  CHECK(shared.needed == "libcudart.so.13");
  CHECK_FALSE(shared.holds);
  const Found static_ = find(program().section(".rodata", bytes_of_text("..." + kText)).bytes());
  CHECK(static_.registers);
  CHECK(static_.needed.empty());
  CHECK(static_.holds);
  const Found none = find(program().needed("libc.so.6").section(".rodata", filler(100)).bytes());
  CHECK(none.registers);
  CHECK(none.needed.empty());
  CHECK_FALSE(none.holds);
  const Found windows = find(PeBuilder{}
                                 .section(".nv_fatb", fat_binary())
                                 .section(".nvFatBi", registration())
                                 .imports({"KERNEL32.dll", "cudart64_12.dll"})
                                 .bytes());
  CHECK(windows.registers);
  CHECK(windows.needed == "cudart64_12.dll");
  const Found held_by_dll = find(PeBuilder{}
                                     .section(".nv_fatb", fat_binary())
                                     .section(".nvFatBi", registration())
                                     .section(".rdata", bytes_of_text(kText))
                                     .bytes());
  CHECK(held_by_dll.registers);
  CHECK(held_by_dll.holds);
}

TEST_CASE("the runtime of CUDA 13 for Windows looks for its other part in the driver") {
  const Found found = find(PeBuilder{}
                               .section(".nv_fatb", fat_binary())
                               .section(".nvFatBi", registration())
                               .section(".rdata", bytes_of_text("nvcudart_hybrid64.dll"))
                               .bytes());
  CHECK(found.holds);
  CHECK(runtime_named("nvcudart_hybrid64.dll") == "no version");
}

TEST_CASE("texts of a runtime that is linked in tell the oldest release that it can be of") {
  const std::string of_12 = "cudaErrorCdpVersionMismatch";
  const std::string of_13 =
      "Duplicate entry kernels named \"%s\" detected. The Runtime will use the one that was registered first";
  const auto held = [&](const std::string& text) {
    const Found found = find(program().section(".rodata", bytes_of_text(text)).bytes());
    return found.holds ? "since " + found.at_least : "none";
  };
  CHECK(held(kText) == "since ");
  CHECK(held(of_12 + kText) == "since 12.0");
  CHECK(held(kText + of_12) == "since 12.0");
  CHECK(held(of_13 + of_12 + kText) == "since 13.0");
  CHECK(held(of_12) == "none");  // any list of errors may have that
  CHECK(held(of_13) == "since 13.0");
  CHECK(held("nvcudart_hybrid64.dll") == "since 13.0");
  CHECK(newest_release_told() == Version{13, 0});
  SUBCASE("in sections of their own") {
    const Found apart = find(program()
                                 .section(".rodata", bytes_of_text(kText))
                                 .section(".data", bytes_of_text(of_12))
                                 .section(".debug_str", bytes_of_text(of_13), 1, 0x30)
                                 .bytes());
    CHECK(apart.at_least == "12.0");
  }
}

TEST_CASE("a runtime that is needed is called where some function of it is wanted") {
  const auto calls = [&](std::string_view name, unsigned section = 0) {
    const Bytes symbols = ByteWriter{}.zeros(24).u32(1).u8(0x12).u8(0).u16(section).zeros(16).bytes();
    const Bytes bytes = ElfBuilder{}
                            .section(".dynsym", symbols, 11)
                            .section(".dynstr", ByteWriter{}.u8(0).text(name).u8(0).bytes(), 3)
                            .bytes();
    const DeviceCode code = read(bytes, "p");
    return calls_runtime(code.objects.at(0), MemorySource(bytes));
  };
  CHECK(calls("cudaMalloc"));
  CHECK(calls("__cudaRegisterFatBinary"));
  CHECK_FALSE(calls("cuda_of_mine"));
  CHECK_FALSE(calls("cuda"));
  CHECK_FALSE(calls("cuModuleLoadData"));
  CHECK_FALSE(calls("cudaMalloc", 7));  // its own
  const Bytes untold = program().bytes();
  CHECK(calls_runtime(read(untold, "p").objects.at(0), MemorySource(untold)));
}

TEST_CASE("the text of a runtime counts among data, wherever it stands") {
  CHECK_FALSE(find(program().section(".debug_str", bytes_of_text(kText), 1, 0x30).bytes()).holds);
  CHECK_FALSE(find(program().section(".text", bytes_of_text(kText), 1, 6).bytes()).holds);
  CHECK_FALSE(find(program().section(".nv_fatbin", bytes_of_text(kText)).bytes()).holds);
  for (const std::size_t before : {(std::size_t{1} << 20) - 30, std::size_t{1} << 20}) {
    test::Bytes far = filler(before);
    const test::Bytes text = bytes_of_text(kText);
    far.insert(far.end(), text.begin(), text.end());
    CHECK(find(program().section(".rodata", far).bytes()).holds);
  }
}

TEST_CASE("what registers nothing needs no runtime") {
  CHECK_FALSE(find(ElfBuilder{}.section(".nv_fatbin", fat_binary()).bytes()).registers);
  CHECK_FALSE(find(fat_binary()).registers);  // loaded by the driver API
  CHECK_FALSE(
      find(ElfBuilder{}.section(".nvFatBinSegment", {}).section(".text", filler(8)).bytes()).registers);
}

TEST_CASE("without a table of sections whatever the file holds may be registered") {
  const Found found = find(ElfBuilder{}
                               .section(".nv_fatbin", fat_binary())
                               .section(".rodata", bytes_of_text(kText))
                               .needed("libc.so.6")
                               .without_section_table()
                               .bytes());
  CHECK(found.registers);
  CHECK(found.holds);
}

TEST_CASE("what a program keeps among its other data is not registered") {
  const DeviceObject object;
  const auto stands_in = [&](const char* section) {
    Fatbin fatbin;
    fatbin.section = section;
    return Registered(object).has(fatbin);
  };
  for (const char* section : {".nv_fatbin", ".nv_fatb", "__nv_relfatbin", "__nv_rel", ""})
    CHECK(stands_in(section));
  for (const char* section : {".rodata", ".data", ".llvm.offloading"}) CHECK_FALSE(stands_in(section));
}

TEST_CASE("what a registration points at is registered, in whatever section, but no bare image") {
  DeviceObject object;
  object.fatbins.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    object.fatbins[i].section = ".ldata";
    object.fatbins[i].offset = 64 * (i + 1);
  }
  object.registrations.resize(1);
  object.registrations[0].fatbin = 1;
  CHECK_FALSE(Registered(object).has(object.fatbins[0]));
  CHECK(Registered(object).has(object.fatbins[1]));
  object.fatbins[1].bare = true;
  CHECK_FALSE(Registered(object).has(object.fatbins[1]));
}
