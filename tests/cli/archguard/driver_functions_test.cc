// Programs that call functions of the driver API by name.
#include <doctest/doctest.h>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;

namespace {

constexpr std::uint64_t kFlags1 = 0x6ffffffb, kNow = 1;
constexpr std::uint8_t kGlobal = 0x12, kWeak = 0x22;

Bytes cubin() {
  return CubinBuilder{}
      .sm(80)
      .generation7(120)
      .kernel("k", sass::join({sass::store(), sass::exit()}))
      .bytes();
}

ElfBuilder calling(std::string_view function, const std::string& library = "libcuda.so.1",
                   std::uint8_t binding = kGlobal) {
  return ElfBuilder{}
      .executable()
      .section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes())
      .section(".dynsym", ByteWriter{}.zeros(24).u32(1).u8(binding).u8(0).u16(0).zeros(16).bytes(), 11)
      .section(".dynstr", ByteWriter{}.u8(0).text(function).u8(0).bytes(), 3)
      .needed(library);
}

}  // namespace

TEST_CASE("a program whose driver lacks a function that it calls does not start") {
  const TemporaryFolder folder;
  folder.file("p", text_of(calling("cuGreenCtxCreate").dynamic_value(kFlags1, kNow).bytes()));
  RunOutput run =
      run_archguard({"verify", "p", "--device", "8.0@12.2", "--device", "8.0@12.4"}, folder.path());
  CHECK(
      run.out ==
      "archguard: error: p: it does not load on 8.0 (--device 8.0@12.2)\n"
      "  found: undefined symbol: cuGreenCtxCreate\n"
      "  cause: it calls cuGreenCtxCreate, which drivers have from CUDA 12.4 on; this one offers CUDA 12.2\n"
      "  fix: update the driver to branch 550 (CUDA 12.4) or newer\n"
      "  error      8.0 (--device 8.0@12.2)  1 fat binary: 1 SASS\n"
      "  covered    8.0 (--device 8.0@12.4)  1 fat binary: 1 SASS\n"
      "p: 1 of 2 covered\n");
  CHECK(run.exit_code == 1);
  run = run_archguard({"verify", "p", "--device", "8.0"}, folder.path());
  CHECK(run.out.find("needs a driver that offers CUDA 12.4") != std::string::npos);
  CHECK(run.exit_code == 0);
}

TEST_CASE("a function that is looked for when it is called is warned of") {
  const TemporaryFolder folder;
  folder.file("p", text_of(calling("cuGreenCtxCreate").bytes()));
  RunOutput run = run_archguard({"verify", "p", "--device", "8.0@12.2"}, folder.path());
  CHECK(run.out.find(
            "archguard: warning: p: calls cuGreenCtxCreate, which drivers have from CUDA 12.4 on: where the "
            "driver offers CUDA 12.2, the program ends at the call\n"
            "  fix: ask for it with cuGetProcAddress, or update the driver to one of CUDA 12.4\n") == 0);
  CHECK(run.exit_code == 0);
  run = run_archguard({"verify", "p", "--device", "8.0@12.4"}, folder.path());
  CHECK(run.out.find("warning") == std::string::npos);
}

TEST_CASE("a function whose address the program holds is looked for at the start") {
  const TemporaryFolder folder;
  const auto addresses = ByteWriter{}.u64(0x1000).u64(std::uint64_t{1} << 32 | 6).u64(0).bytes();
  folder.file("p", text_of(calling("cuGreenCtxCreate").section(".rela.dyn", addresses, 4).bytes()));
  const RunOutput run = run_archguard({"verify", "p", "--device", "8.0@12.2"}, folder.path());
  CHECK(run.out.find("archguard: error: p: it does not load on 8.0 (--device 8.0@12.2)") == 0);
  CHECK(run.exit_code == 1);
}

TEST_CASE("what is weak, of another library, or old is not missed") {
  const TemporaryFolder folder;
  folder.file(
      "weak",
      text_of(calling("cuGreenCtxCreate", "libcuda.so.1", kWeak).dynamic_value(kFlags1, kNow).bytes()));
  folder.file("other",
              text_of(calling("cuGreenCtxCreate", "libwrap.so").dynamic_value(kFlags1, kNow).bytes()));
  folder.file("old", text_of(calling("cuInit").dynamic_value(kFlags1, kNow).bytes()));
  const RunOutput run =
      run_archguard({"verify", "weak", "other", "old", "--device", "8.0@12.0"}, folder.path());
  CHECK(run.out.find("cuGreenCtxCreate") == std::string::npos);
  CHECK(run.exit_code == 0);
}
