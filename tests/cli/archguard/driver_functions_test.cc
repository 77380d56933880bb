// Programs that call functions of the driver API by name.
#include <doctest/doctest.h>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;

namespace {

constexpr std::uint64_t kFlags1 = 0x6ffffffb, kNow = 1;
constexpr std::uint64_t kHash = 4, kSymbols = 6, kRela = 7, kRelaSize = 8, kAnyText = 0x6000000d;
constexpr std::uint64_t kCallsSize = 2, kCallsKind = 20, kCalls = 23;
constexpr std::uint8_t kGlobal = 0x12, kWeak = 0x22;

Bytes cubin() {
  return CubinBuilder{}
      .sm(80)
      .generation7(120)
      .kernel("k", sass::join({sass::store(), sass::exit()}))
      .bytes();
}

// One of `function`, which has a `section` where it is defined.
ElfBuilder with_symbol(ElfBuilder file, std::string_view function, std::uint8_t binding, unsigned section) {
  file.load_segment(0, 0x300).dynamic_text(kAnyText, function);  // the first text: at 1
  file.section(".dynsym", ByteWriter{}.zeros(24).u32(1).u8(binding).u8(0).u16(section).zeros(16).bytes(), 11);
  return file.dynamic_value(kSymbols, file.offset_of_last());
}

enum class Use { call, address, none };

// A program, or another file, that wants the function.
ElfBuilder calling(std::string_view function, const std::string& library = "libcuda.so.1",
                   std::uint8_t binding = kGlobal, Use use = Use::call,
                   const ElfBuilder& kind = ElfBuilder{}.executable(), bool has_code = true) {
  ElfBuilder file = with_symbol(kind, function, binding, 0).needed(library);
  const auto relocation = ByteWriter{}.u64(0x1000).u64(std::uint64_t{1} << 32 | 7).u64(0).bytes();
  if (use != Use::none) file.section(".rela", relocation, 4);
  if (use == Use::call)
    file.dynamic_value(kCalls, file.offset_of_last())
        .dynamic_value(kCallsSize, relocation.size())
        .dynamic_value(kCallsKind, kRela);
  if (use == Use::address)
    file.dynamic_value(kRela, file.offset_of_last()).dynamic_value(kRelaSize, relocation.size());
  return has_code ? file.section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes())
                  : file.section(".data", Bytes(0x300));
}

// A library that defines it.
ElfBuilder defining(std::string_view function) {
  ElfBuilder file = with_symbol(ElfBuilder{}.shared(), function, kGlobal, 1);
  file.section(".hash", ByteWriter{}.u32(1).u32(2).u32(1).u32(0).u32(0).bytes(), 5);
  return file.dynamic_value(kHash, file.offset_of_last()).section(".data", Bytes(0x300));
}

std::string text_of_now(ElfBuilder file) {
  return text_of(file.dynamic_value(kFlags1, kNow).bytes());
}

}  // namespace

TEST_CASE("a program whose driver lacks a function that it calls does not start") {
  const TemporaryFolder folder;
  folder.file("p", text_of_now(calling("cuGreenCtxCreate")));
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

TEST_CASE("what keeps a program from starting comes first, whether the driver knows the device or not") {
  const TemporaryFolder folder;
  folder.file("p", text_of_now(calling("cuGreenCtxCreate").needed("libcudart.so.13")));
  const RunOutput run = run_archguard({"verify", "p", "--device", "12.0@12.2"}, folder.path());
  const auto start = run.out.find("archguard: error: p: it does not load on 12.0");
  CHECK(start == 0);
  CHECK(run.out.find("this one offers CUDA 12.2") < run.out.find("archguard: error 100: "));
  CHECK(run.exit_code == 1);
  const auto empty =
      calling("cuGreenCtxCreate", "libcuda.so.1", kGlobal, Use::call, ElfBuilder{}.executable(), false);
  folder.file("empty", text_of_now(empty));
  CHECK(run_archguard({"verify", "empty", "--device", "12.0@12.2"}, folder.path()).exit_code == 1);
  CHECK(run_archguard({"verify", "empty", "--device", "12.0@12.4"}, folder.path()).exit_code == 3);
}

TEST_CASE("libraries of the driver and of profilers hold code for their own use") {
  const TemporaryFolder folder;
  const Bytes code = FatbinBuilder{}.cubin(80, cubin()).bytes();
  const auto exit_of = [&](std::string_view name, std::string_view function) {
    folder.file("x.so", text_of(defining(function).soname(name).section(".nv_fatbin", code).bytes()));
    return run_archguard({"verify", "x.so", "--device", "7.0@12.2"}, folder.path()).exit_code;
  };
  CHECK(exit_of("libnvoptix.so.1", "optixQueryFunctionTable") == 3);
  CHECK(exit_of("libnvcuvid.so.1", "cuvidCreateDecoder") == 3);
  CHECK(exit_of("libnvidia-opencl.so.1", "clGetExportTable") == 3);
  CHECK(exit_of("libnvidia-glcore.so.535.261.03", "_nv000glcore") == 3);
  CHECK(exit_of("libnvidia-eglcore.so.535.261.03", "NvGlEglApiInit") == 3);
  CHECK(exit_of("libnvperf_host.so", "NVPW_InitializeTarget") == 3);
  CHECK(exit_of("libnvperf_target.so", "NVPW_InitializeTarget") == 3);
  CHECK(exit_of("libnvcuvid.so.1", "mine") == 1);
  CHECK(exit_of("libmine.so.1", "cuvidCreateDecoder") == 1);
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

TEST_CASE("a library's calls are looked for when it is loaded, if who loads it says so") {
  const TemporaryFolder folder;
  const auto library = calling("cuGreenCtxCreate", "libcuda.so.1", kGlobal, Use::call, ElfBuilder{}.shared());
  folder.file("lib.so", text_of(library.bytes()));
  const RunOutput run = run_archguard({"verify", "lib.so", "--device", "8.0@12.2"}, folder.path());
  CHECK(run.out.find(
            "archguard: warning: lib.so: calls cuGreenCtxCreate, which drivers have from CUDA 12.4 on: where "
            "the driver offers CUDA 12.2, it does not load with RTLD_NOW, as Python loads its modules, and "
            "else the program ends at the call\n") == 0);
  CHECK(run.exit_code == 0);
  // Itself it names nothing that has the function.
  const auto plugin = calling("cuGreenCtxCreate", "libc.so.6", kGlobal, Use::call, ElfBuilder{}.shared());
  folder.file("plugin.so", text_of(plugin.bytes()));
  CHECK(run_archguard({"verify", "plugin.so", "--device", "8.0@12.2"}, folder.path())
            .out.find("the program ends at the call, unless what loads it has the function\n") !=
        std::string::npos);
}

TEST_CASE("a library that needs no libcuda is warned of: what loads it may have the function") {
  const TemporaryFolder folder;
  for (const char* needed : {"libc.so.6", "libcudart.so.12", "libtorch_cuda.so"}) {
    const auto library = calling("cuGreenCtxCreate", needed, kGlobal, Use::address, ElfBuilder{}.shared());
    folder.file("lib.so", text_of(library.bytes()));
    RunOutput run = run_archguard({"verify", "lib.so", "--device", "8.0@12.2"}, folder.path());
    CHECK(run.out.find(
              "where the driver offers CUDA 12.2, it does not load, unless what loads it has the function") !=
          std::string::npos);
    run = run_archguard({"verify", "lib.so", "--device", "8.0@12.4"}, folder.path());
    CHECK(run.out.find("cuGreenCtxCreate") == std::string::npos);
  }
}

TEST_CASE("a module of Python is bound when it is imported") {
  const TemporaryFolder folder;
  // Two symbols: the function, and PyInit_m behind it in the texts.
  ElfBuilder file = ElfBuilder{}.shared();
  file.load_segment(0, 0x300).dynamic_text(kAnyText, "cuGreenCtxCreate").dynamic_text(kAnyText, "PyInit_m");
  file.section(".dynsym",
               ByteWriter{}
                   .zeros(24)
                   .u32(1)
                   .u8(kGlobal)
                   .u8(0)
                   .u16(0)
                   .zeros(16)
                   .u32(18)
                   .u8(kGlobal)
                   .u8(0)
                   .u16(1)
                   .zeros(16)
                   .bytes(),
               11);
  file.dynamic_value(kSymbols, file.offset_of_last());
  file.section(".rela", ByteWriter{}.u64(0x1000).u64(std::uint64_t{1} << 32 | 7).u64(0).bytes(), 4);
  file.dynamic_value(kCalls, file.offset_of_last())
      .dynamic_value(kCallsSize, 24)
      .dynamic_value(kCallsKind, 7);
  file.section(".hash", ByteWriter{}.u32(1).u32(3).u32(2).u32(0).u32(0).u32(0).bytes(), 5);
  file.dynamic_value(kHash, file.offset_of_last()).needed("libcuda.so.1");
  file.section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes());
  folder.file("m.so", text_of(file.bytes()));
  const RunOutput run = run_archguard({"verify", "m.so", "--device", "8.0@12.2"}, folder.path());
  CHECK(run.out.find("archguard: error: m.so: it does not load on 8.0 (--device 8.0@12.2)") == 0);
  CHECK(run.exit_code == 1);
}

TEST_CASE("a function whose address the program holds is looked for at the start") {
  const TemporaryFolder folder;
  folder.file("p", text_of(calling("cuGreenCtxCreate", "libcuda.so.1", kGlobal, Use::address).bytes()));
  const RunOutput run = run_archguard({"verify", "p", "--device", "8.0@12.2"}, folder.path());
  CHECK(run.out.find("archguard: error: p: it does not load on 8.0 (--device 8.0@12.2)") == 0);
  CHECK(run.exit_code == 1);
}

TEST_CASE("libcuda is known by a path, and functions without a table of sections") {
  const TemporaryFolder folder;
  folder.file("path", text_of_now(calling("cuGreenCtxCreate", "/opt/driver/libcuda.so.1")));
  folder.file("cut", text_of_now(calling("cuGreenCtxCreate").without_section_table()));
  for (const std::string file : {"path", "cut"}) {
    CAPTURE(file);
    const RunOutput run = run_archguard({"verify", file, "--device", "8.0@12.2"}, folder.path());
    CHECK(run.out.find("archguard: error: " + file + ": it does not load on 8.0") == 0);
    CHECK(run.exit_code == 1);
  }
}

TEST_CASE("what is weak, only named, or old is not missed") {
  const TemporaryFolder folder;
  folder.file("weak", text_of_now(calling("cuGreenCtxCreate", "libcuda.so.1", kWeak)));
  folder.file("named", text_of_now(calling("cuGreenCtxCreate", "libcuda.so.1", kGlobal, Use::none)));
  folder.file("old", text_of_now(calling("cuInit")));
  const RunOutput run =
      run_archguard({"verify", "weak", "named", "old", "--device", "8.0@12.0"}, folder.path());
  CHECK(run.out.find("cuGreenCtxCreate") == std::string::npos);
  CHECK(run.exit_code == 0);
}

TEST_CASE("a needed library may have the function, and may need libcuda") {
  const TemporaryFolder folder;
  const auto verify = [&](const std::string& file) {
    return run_archguard({"verify", file, "--device", "8.0@12.2"}, folder.path());
  };
  const std::string warning =
      ": calls cuGreenCtxCreate, which drivers have from CUDA 12.4 on: where the driver offers CUDA 12.2, "
      "it does not load, unless ";
  auto shimmed = calling("cuGreenCtxCreate").needed("libshim.so").runpath("$ORIGIN");
  folder.file("p", text_of_now(shimmed));
  RunOutput run = verify("p");
  CHECK(run.out.find("archguard: warning: p" + warning +
                     "the function is in what was not found: libshim.so\n") == 0);
  CHECK(run.exit_code == 0);
  folder.file("libshim.so", text_of(defining("cuGreenCtxCreate").bytes()));
  run = verify("p");
  CHECK(run.out.find("cuGreenCtxCreate") == std::string::npos);
  CHECK(run.exit_code == 0);
  folder.file("libshim.so", text_of(defining("cuOther").bytes()));
  CHECK(verify("p").out.find("archguard: error: p: it does not load on 8.0") == 0);

  folder.file("q", text_of_now(calling("cuGreenCtxCreate", "libshim.so").runpath("$ORIGIN")));
  run = verify("q");
  CHECK(run.out.find("archguard: warning: q" + warning + "a library that is preloaded has the function\n") ==
        0);
  CHECK(run.exit_code == 0);
  folder.file("libshim.so", text_of(defining("cuOther").needed("libcuda.so.1").bytes()));
  CHECK(verify("q").out.find("archguard: error: q: it does not load on 8.0") == 0);
}

TEST_CASE("a needed library without device code keeps a program from starting") {
  const TemporaryFolder folder;
  folder.file("p", text_of(ElfBuilder{}
                               .executable()
                               .section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes())
                               .needed("libwrap.so")
                               .runpath("$ORIGIN")
                               .bytes()));
  const auto library =
      calling("cuGreenCtxCreate", "libcuda.so.1", kGlobal, Use::call, ElfBuilder{}.shared(), false);
  folder.file("libwrap.so", text_of_now(library));
  RunOutput run = run_archguard({"verify", "p", "--needed", "--device", "8.0@12.2"}, folder.path());
  CHECK(run.out.find("libwrap.so: it does not load on 8.0 (--device 8.0@12.2)") != std::string::npos);
  CHECK(run.exit_code == 1);
  run = run_archguard({"verify", "p", "--needed", "--device", "8.0@12.4"}, folder.path());
  CHECK(run.out.find("1 needed library without device code") != std::string::npos);
  CHECK(run.exit_code == 0);
}

TEST_CASE("a file without device code that does not load is an error in any scope") {
  const TemporaryFolder folder;
  const auto library =
      calling("cuGreenCtxCreate", "libcuda.so.1", kGlobal, Use::call, ElfBuilder{}.shared(), false);
  folder.file("libwrap.so", text_of_now(library));
  for (const char* scope : {"fatbin", "library"}) {
    const RunOutput run =
        run_archguard({"verify", "libwrap.so", "--device", "8.0@12.2", "--scope", scope}, folder.path());
    CHECK(run.out.find("libwrap.so: it does not load on 8.0 (--device 8.0@12.2)") != std::string::npos);
    CHECK(run.exit_code == 1);
  }
}

TEST_CASE("what a needed library calls may be defined by any library that is loaded with it") {
  const TemporaryFolder folder;
  const auto program = [](std::initializer_list<const char*> libraries) {
    ElfBuilder file = ElfBuilder{}.executable();
    file.section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin()).bytes());
    for (const char* library : libraries) file.needed(library);
    return text_of(file.runpath("$ORIGIN").bytes());
  };
  const auto calls = calling("cuGreenCtxCreate", "libcuda.so.1", kGlobal, Use::call, ElfBuilder{}.shared());
  const auto verify = [&](std::vector<std::string> files) {
    files.insert(files.begin(), "verify");
    files.insert(files.end(), {"--needed", "--device", "8.0@12.2"});
    return run_archguard(files, folder.path());
  };
  folder.file("libcalls.so", text_of_now(calls));
  folder.file("libshim.so", text_of(defining("cuGreenCtxCreate").bytes()));
  folder.file("with", program({"libcalls.so", "libshim.so"}));
  folder.file("without", program({"libcalls.so"}));
  RunOutput run = verify({"with"});
  CHECK_MESSAGE(run.exit_code == 0, run.out);
  CHECK(run.out.find("cuGreenCtxCreate") == std::string::npos);
  run = verify({"without"});
  CHECK_MESSAGE(run.exit_code == 1, run.out);
  CHECK(run.out.find("libcalls.so: it does not load on 8.0") != std::string::npos);
  CHECK(verify({"with", "without"}).exit_code == 1);
}
