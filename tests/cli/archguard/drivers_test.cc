// What archguard verify says where the driver is what stands in the way.
#include <doctest/doctest.h>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;

namespace {

// CUDA 12.4 made it.
Bytes cubin(int sm) {
  return CubinBuilder{}
      .sm(sm)
      .generation7(124)
      .kernel("gemm", sass::join({sass::store(), sass::exit()}))
      .bytes();
}

std::string library(const std::vector<Bytes>& fatbins) {
  Bytes all;
  for (const Bytes& each : fatbins) all.insert(all.end(), each.begin(), each.end());
  return text_of(ElfBuilder{}.section(".nv_fatbin", all).bytes());
}

std::string ptx_with_zstd(std::string_view isa) {
  const std::string text = ".version " + std::string(isa) +
                           "\n.target sm_80\n.address_size 64\n.visible .entry gemm()\n{\n trap;\n}\n";
  return library({FatbinBuilder{}.ptx("80", isa, text).zstd().bytes()});
}

std::string fix_in(const RunOutput& run) {
  const auto at = run.out.find("  fix: ");
  return at == std::string::npos ? "" : run.out.substr(at + 7, run.out.find('\n', at) - at - 7);
}

}  // namespace

TEST_CASE("a line of a fleet counts as many devices as it says") {
  const TemporaryFolder folder;
  folder.file("a.so", library({FatbinBuilder{}.cubin(80, cubin(80)).bytes()}));
  folder.file("fleet.csv", "name, compute_cap, count\nNVIDIA A100, 8.0, 40\nNVIDIA H100, 9.0, 16\n");
  const RunOutput run = run_archguard({"verify", "a.so", "--fleet", "fleet.csv"}, folder.path());
  CHECK(run.out.find("cannot run on NVIDIA H100 (9.0, fleet.csv:3) and 15 more like it\n") !=
        std::string::npos);
  CHECK(run.out.find("a.so: 40 of 56 covered\n") != std::string::npos);
  CHECK(run.exit_code == 1);
}

TEST_CASE("the fix for a compression that the driver does not know leads to no other error") {
  const TemporaryFolder folder;
  folder.file("a.so", library({FatbinBuilder{}.cubin(80, cubin(80)).zstd().bytes()}));
  folder.file("p82.so", ptx_with_zstd("8.2"));
  folder.file("p90.so", ptx_with_zstd("9.0"));
  const auto fix_of = [&](const std::string& name) {
    const RunOutput run = run_archguard({"verify", name, "--device", "8.0@12.2"}, folder.path());
    CHECK(run.out.find("archguard: error 200: ") == 0);
    CHECK(run.exit_code == 1);
    return fix_in(run);
  };
  const std::string without =
      "update the driver to branch 550 (CUDA 12.4) or newer, or compile with nvcc's --compress-mode=speed "
      "(LZ4)";
  CHECK(fix_of("a.so") == without);
  CHECK(fix_of("p82.so") == without);
  CHECK(
      fix_of("p90.so") ==
      "update the driver to branch 580 (CUDA 13.0) or newer, or build with CUDA 12.9 and compile with nvcc's "
      "--compress-mode=speed (LZ4) and add 80-real to CMAKE_CUDA_ARCHITECTURES (nvcc: "
      "-gencode=arch=compute_80,code=sm_80; TORCH_CUDA_ARCH_LIST: 8.0)");
}

TEST_CASE("a Jetson's driver version is no CUDA: nothing fails by it, and the fix is a JetPack") {
  const TemporaryFolder folder;
  folder.file("k.ptx", kPtx90);
  folder.file("fleet.csv", "name, compute_cap, driver_version\nOrin (nvgpu), 8.7, 540.4.0\n");
  const std::vector<std::string> verify = {"verify", "k.ptx", "--brief", "--fleet", "fleet.csv"};
  const RunOutput run = run_archguard(verify, folder.path());
  CHECK(run.exit_code == 0);
  auto strict = verify;
  strict.emplace_back("--require-driver");
  CHECK(fix_in(run_archguard(strict, folder.path())) ==
        "name the driver by the CUDA that it offers: --device 8.7@X.Y, or the column driver_cuda in the "
        "fleet file, with the CUDA of its "
        "JetPack");
  const std::string old = run_archguard({"verify", "k.ptx", "--device", "8.7@12.6"}, folder.path()).out;
  CHECK(old.find("archguard: error 222: ") == 0);
  CHECK(old.find("upgrade to a JetPack that offers CUDA 13.0 or newer") != std::string::npos);
  CHECK(old.find("branch") == std::string::npos);
}

TEST_CASE("a library that a newer driver would support is not said to lack an image") {
  const TemporaryFolder folder;
  folder.file("l.so", library({FatbinBuilder{}.cubin(70, cubin(70)).bytes(),
                               FatbinBuilder{}.cubin(80, cubin(80)).zstd().bytes()}));
  const RunOutput run =
      run_archguard({"verify", "l.so", "--device", "8.0@12.2", "--scope", "library"}, folder.path());
  CHECK(run.out.find("archguard: error 200: l.so(.nv_fatbin+0x") == 0);
  CHECK(run.out.find("209") == std::string::npos);
  CHECK(fix_in(run) == "update the driver to branch 550 (CUDA 12.4) or newer");
  CHECK(run.exit_code == 1);
}

TEST_CASE("where some containers fit and others do not, --scope library is named, unless a target was") {
  const TemporaryFolder folder;
  folder.file("l.so", library({FatbinBuilder{}.cubin(70, cubin(70)).bytes(),
                               FatbinBuilder{}.cubin(80, cubin(80)).bytes()}));
  const std::string hint =
      "  hint: a library that chooses among its images at run time, as NVIDIA's do, is judged with --scope "
      "library\n";
  const auto said = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"verify", "l.so"});
    return run_archguard(arguments, folder.path()).out.find(hint) != std::string::npos;
  };
  CHECK(said({"--device", "8.0"}));
  CHECK_FALSE(said({"--device", "8.0", "--target", "l"}));
  CHECK_FALSE(said({"--device", "9.0"}));
}

TEST_CASE("a verdict that hangs on the order in which an image is chosen is told, and stays what it is") {
  const TemporaryFolder folder;
  const std::string ptx =
      ".version 9.0\n.target sm_86\n.address_size 64\n.visible .entry gemm()\n{\n trap;\n}\n";
  folder.file("a.so", library({FatbinBuilder{}.cubin(80, cubin(80)).ptx("86", "9.0", ptx).bytes()}));
  const RunOutput run = run_archguard({"verify", "a.so", "--device", "8.6@12.4"}, folder.path());
  CHECK(run.exit_code == 0);
  CHECK(run.out.find(
            "archguard: note: a.so(.nv_fatbin+0x0): on 8.6 (--device 8.6@12.4), the verdict goes by sm_80; "
            "by nvJitLink's order compute_86 (ISA 9.0) would be taken, and fail with error 222\n"
            "  fix: compile SASS for this device, which both orders take: 86-real\n") == 0);
  CHECK(run_archguard({"verify", "a.so", "--device", "8.0@12.4"}, folder.path()).out.find("note:") ==
        std::string::npos);
}
