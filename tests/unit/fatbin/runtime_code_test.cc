#include <doctest/doctest.h>

#include "base/text.h"
#include "reading.h"
#include "support/builders/pe_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

struct Symbol {
  std::size_t name = 0;
  unsigned section = 0;
};

// A file with these dynamic symbols; `names` is the table of texts that they point into.
ElfBuilder with_symbols(std::string_view names, const std::vector<Symbol>& symbols, bool is64 = true) {
  ByteWriter table;
  table.zeros(is64 ? 24 : 16);
  for (const Symbol& symbol : symbols) {
    if (is64)
      table.u32(symbol.name).u8(0x12).u8(0).u16(symbol.section).u64(0).u64(0);
    else
      table.u32(symbol.name).u32(0).u32(0).u8(0x12).u8(0).u16(symbol.section);
  }
  ElfBuilder file;
  if (!is64) file.bits32();
  file.section(".dynsym", table.bytes(), 11);
  return file.section(".dynstr", ByteWriter{}.text(names).bytes(), 3);
}

std::string imports_of(const Bytes& bytes) {
  const DeviceCode code = read(bytes, "p");
  REQUIRE(errors_of(code).empty());
  REQUIRE(code.objects.size() == 1);
  return join(code.objects[0].runtime_code, " ");
}

using namespace std::string_view_literals;

}  // namespace

TEST_CASE("a file that imports a compiler's or loader's function says so") {
  const auto names = "\0nvrtcCompileProgram\0cuModuleLoadDataEx\0my_cuLibraryLoadData\0cuModuleLoadings\0"sv;
  const auto at = [&](std::string_view name) { return names.find(name); };
  CHECK(imports_of(with_symbols(names, {{at("nvrtc"), 0}, {at("cuModuleLoadDataEx"), 0}}).bytes()) ==
        "cuModuleLoadDataEx nvrtcCompileProgram");
  CHECK(imports_of(with_symbols(names, {{at("nvrtc"), 0}, {at("nvrtc"), 0}}, false).bytes()) ==
        "nvrtcCompileProgram");
  SUBCASE("cuDNN's own name for NVRTC") {
    const auto own = "\0_ZN11nvrtcHelper4loadEv\0"sv;
    CHECK(imports_of(with_symbols(own, {{1, 0}}).bytes()) == "_ZN11nvrtcHelper4loadEv");
  }
  SUBCASE("a name may be the end of another one") {
    CHECK(imports_of(with_symbols(names, {{at("cuLibrary"), 0}}).bytes()) == "cuLibraryLoadData");
    CHECK(imports_of(with_symbols(names, {{at("my_cu"), 0}}).bytes()).empty());
  }
  SUBCASE("what the file has itself, and other names") {
    CHECK(imports_of(with_symbols(names, {{at("nvrtc"), 7}}).bytes()).empty());
    CHECK(imports_of(with_symbols(names, {{at("cuModuleLoadings"), 0}}).bytes()).empty());
    CHECK(imports_of(with_symbols(names, {}).bytes()).empty());
  }
  SUBCASE("an object is not linked yet") {
    CHECK(imports_of(with_symbols(names, {{at("nvrtc"), 0}}).relocatable().bytes()).empty());
  }
  SUBCASE("across the blocks that are read at once") {
    for (std::size_t before = 65500; before < 65560; ++before) {
      std::string far(before, 'x');
      far += "\0nvrtcCompileProgram\0"sv;
      CHECK(imports_of(with_symbols(far, {{before + 1, 0}}).bytes()) == "nvrtcCompileProgram");
    }
  }
}

TEST_CASE("an image for Windows that imports such functions says so, those of delayed imports too") {
  const PeBuilder::Library nvrtc{"nvrtc64_120_0.dll", {"nvrtcCreateProgram", "nvrtcCompileProgram"}};
  const PeBuilder::Library driver{"nvcuda.dll", {"cuModuleLoadDataEx", "", "cuInit"}};
  CHECK(imports_of(PeBuilder{}.imports({nvrtc, {"KERNEL32.dll", {"Sleep"}}}, {driver}).bytes()) ==
        "cuModuleLoadDataEx nvrtcCompileProgram");
  CHECK(imports_of(PeBuilder{}.imports({{"KERNEL32.dll", {"Sleep", "xcuModuleLoadData"}}}).bytes()).empty());
  CHECK(imports_of(PeBuilder{}.object().section(".text", filler(8)).bytes()).empty());
  SUBCASE("cuDNN's own name for NVRTC") {
    const std::string own = "?getNvrtcVersion@RuntimeKernel@fusion@cudnn@@QEBAHXZ";
    CHECK(imports_of(PeBuilder{}.imports({{"cudnn_graph64_9.dll", {own}}}).bytes()) == own);
  }
}

TEST_CASE("the machine code of a file that loads code is searched for it") {
  const auto names = "\0cuModuleLoadData\0cuModuleLoadings\0"sv;
  const auto found = [&](std::size_t name) {
    ElfBuilder file = with_symbols(names, {{name, 0}});
    file.section(".text", FatbinBuilder{}.cubin(90, filler(8)).bytes(), 1, 6);
    return outline(read(file.section(".rodata", FatbinBuilder{}.cubin(80, filler(8)).bytes()).bytes(), "p"));
  };
  CHECK(found(1) == "p(.text+0x0): sass 90;\np(.rodata+0x0): sass 80;\n");
  CHECK(found(names.find("cuModuleLoadings")) == "p(.rodata+0x0): sass 80;\n");
}
