// What archguard verify says of a driver that is too old for a program's CUDA runtime.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/pe_builder.h"

using namespace archguard::test;

namespace {

// `toolkit`: 124 is CUDA 12.4.
Bytes cubin(int toolkit, int sm = 80) {
  return CubinBuilder{}
      .sm(sm)
      .generation7(toolkit)
      .kernel("gemm", sass::join({sass::store(), sass::exit()}))
      .bytes();
}

Bytes with_sass(int toolkit, int sm = 80) {
  return FatbinBuilder{}.cubin(sm, cubin(toolkit, sm)).bytes();
}

Bytes with_ptx(std::string_view isa) {
  const std::string text = ".version " + std::string(isa) +
                           "\n.target sm_80\n.address_size 64\n.visible .entry gemm()\n{\n trap;\n}\n";
  return FatbinBuilder{}.ptx("80", isa, text).bytes();
}

Bytes registration() {
  return ByteWriter{}.u32(0x466243b1).u32(1).u64(0).u64(0).bytes();
}

ElfBuilder program(const Bytes& fatbin) {
  return ElfBuilder{}.section(".nv_fatbin", fatbin).section(".nvFatBinSegment", registration());
}

const std::string kText = "CUDA driver version is insufficient for CUDA runtime version";
const std::string kOf13 =
    "Duplicate entry kernels named \"%s\" detected. The Runtime will use the one that was registered first";

std::string with_static(const Bytes& fatbin) {
  return text_of(program(fatbin).section(".rodata", bytes_of_text(kText)).bytes());
}

std::string with_shared(const Bytes& fatbin, std::string_view library) {
  return text_of(program(fatbin).needed(library).bytes());
}

struct Case {
  RunOutput run;
  std::string text;  // less the table and the summary
};

Case verify(const std::string& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "verify");
  arguments.emplace_back("--brief");
  Case result{run_archguard(arguments, folder), {}};
  result.text = result.run.out;
  return result;
}

bool says(const Case& result, std::string_view text) {
  return result.text.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("of two runtimes that a file needs the newer one decides") {
  const TemporaryFolder folder;
  folder.file("two",
              text_of(program(with_sass(118)).needed("libcudart.so.11.0").needed("libcudart.so.12").bytes()));
  CHECK(verify(folder.path(), {"two", "--device", "8.0@11.8"}).run.exit_code == 1);
}

TEST_CASE("a runtime that is linked in and newer than the toolkit of the images decides") {
  const TemporaryFolder folder;
  const std::string of_13 = kText + kOf13;
  const auto holding = [&](ElfBuilder file, const std::string& texts) {
    return text_of(file.section(".rodata", bytes_of_text(texts)).bytes());
  };
  folder.file("mixed", holding(program(with_sass(118)), of_13));
  folder.file("same", holding(program(with_sass(130)), of_13));
  folder.file("older", holding(program(with_sass(118)), kText));
  folder.file("beside", holding(program(with_sass(118)).needed("libcudart.so.11.0"), of_13));
  folder.file("newer", holding(program(with_sass(130)).needed("libcudart.so.12"), of_13));
  for (const char* name : {"mixed", "beside", "newer"}) {
    const Case mixed = verify(folder.path(), {name, "--device", "8.0@12.4"});
    CHECK(says(mixed, "error 35: "));
    CHECK(mixed.run.exit_code == 1);
    CHECK(verify(folder.path(), {name, "--device", "8.0@13.0"}).run.exit_code == 0);
  }
  CHECK(verify(folder.path(), {"older", "--device", "8.0@12.4"}).run.exit_code == 0);
  SUBCASE("a driver that nobody told has to serve it, where one is asked for") {
    folder.file("ptx", holding(program(with_ptx("7.0")), of_13));
    const RunOutput run =
        run_archguard({"verify", "ptx", "--device", "8.0", "--format", "json"}, folder.path());
    CHECK(nlohmann::json::parse(run.out)["files"][0]["results"][0]["needs_driver_cuda"] == "13.0");
  }
}

TEST_CASE("registrations may stand in a section of another name") {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& texts) {
    return text_of(ElfBuilder{}
                       .section(".nv_fatbin", with_sass(124))
                       .section(".mine", registration())
                       .section(".rodata", bytes_of_text(texts))
                       .bytes());
  };
  folder.file("holds", file(kText));
  folder.file("alone", file("the driver API loads it"));
  CHECK(says(verify(folder.path(), {"holds", "--device", "8.0@11.8"}), "error 35: "));
  CHECK_FALSE(says(verify(folder.path(), {"alone", "--device", "8.0@11.8"}), "error 35"));
}

TEST_CASE("images held as data need a runtime that the file calls") {
  const TemporaryFolder folder;
  const auto holding = [](const std::string& texts, std::string_view isa = "7.0") {
    const std::string ptx = ".version " + std::string(isa) +
                            "\n.target sm_80\n.address_size 64\n.visible .entry gemm()\n{\n ret;\n}\n";
    return ElfBuilder{}.section(".rodata", bytes_of_text(ptx + '\0' + texts));
  };
  const auto calling = [&](std::string_view function, unsigned section = 0) {
    return holding("")
        .section(".dynsym", ByteWriter{}.zeros(24).u32(1).u8(0x12).u8(0).u16(section).zeros(16).bytes(), 11)
        .section(".dynstr", ByteWriter{}.u8(0).text(function).u8(0).bytes(), 3)
        .needed("libcudart.so.13");
  };
  folder.file("held", text_of(holding(kText + kOf13).bytes()));
  folder.file("needed", text_of(calling("cudaLibraryLoadData").bytes()));
  folder.file("idle", text_of(calling("cuModuleLoadData").bytes()));  // the linker kept the name
  folder.file("none", text_of(holding("").bytes()));
  folder.file("unknown", text_of(holding(kText).bytes()));
  const auto exit_of = [&](const char* name, const char* device) {
    return verify(folder.path(), {name, "--device", device}).run.exit_code;
  };
  for (const char* name : {"held", "needed"}) {
    const Case old = verify(folder.path(), {name, "--device", "8.0@12.4"});
    CHECK(says(old, "error 35: "));
    CHECK(old.run.exit_code == 1);
    CHECK(exit_of(name, "8.0@13.0") == 0);
    CHECK(verify(folder.path(), {name, "--device", "8.0@12.4", "--driver", "warn"}).run.exit_code == 0);
    CHECK(verify(folder.path(), {name, "--device", "8.0@12.4", "--embedded", "off"}).run.exit_code == 3);
  }
  for (const char* name : {"idle", "none", "unknown"}) CHECK(exit_of(name, "8.0@12.4") == 0);
  SUBCASE("what a newer driver mends as well comes later, and the fix has the newer of both") {
    folder.file("both", text_of(holding(kText + kOf13, "9.1").bytes()));
    const Case both = verify(folder.path(), {"both", "--device", "8.0@12.4"});
    CHECK(says(both, "error 35: "));
    CHECK_FALSE(says(both, "222"));
    CHECK_FALSE(says(both, "warning"));
    CHECK(says(verify(folder.path(), {"both", "--device", "8.0@13.0"}), "error 222: "));
  }
  SUBCASE("what it does not mend is said as well") {
    const Case both = verify(folder.path(), {"held", "--device", "7.5@12.4"});
    CHECK(says(both, "error 35: "));
    CHECK(says(both, "error 218: "));
  }
  SUBCASE("a library that calls a runtime and holds no device code is none to judge") {
    folder.file("plain.so", text_of(ElfBuilder{}.needed("libcudart.so.13").bytes()));
    CHECK(exit_of("plain.so", "8.0@12.4") == 3);
  }
}

TEST_CASE("what a registration points at is the runtime's, whatever its section is called") {
  const TemporaryFolder folder;
  constexpr std::uint64_t kAddress = 0x10000;
  const Bytes text = bytes_of_text("CUDA driver version is insufficient for CUDA runtime version");
  const auto file = [&](std::uint64_t points_at) {
    return text_of(
        ElfBuilder{}
            .section(".lfat", with_sass(124))
            .at(kAddress)
            .section(".nvFatBinSegment", ByteWriter{}.u32(0x466243b1).u32(1).u64(points_at).u64(0).bytes())
            .section(".rodata", text)
            .bytes());
  };
  folder.file("moved", file(kAddress));
  CHECK(verify(folder.path(), {"moved", "--device", "8.0@11.8"}).run.exit_code == 1);
  CHECK(verify(folder.path(), {"moved", "--device", "8.0@12.0"}).run.exit_code == 0);
}

TEST_CASE("a driver too old for the runtime is error 35, with what was found and the driver to install") {
  const TemporaryFolder folder;
  folder.file("static", with_static(with_sass(124)));
  folder.file("shared", with_shared(with_sass(118), "libcudart.so.12"));  // the library decides
  const Case held = verify(folder.path(), {"static", "--device", "8.0@11.8"});
  CHECK(held.run.exit_code == 1);
  const Case needed = verify(folder.path(), {"shared", "--device", "8.0@11.8"});
  CHECK(says(needed, "archguard: error 35: shared: "));
  CHECK(verify(folder.path(), {"static", "shared", "--device", "8.0@12.0"}).text ==
        "static: 1 of 1 covered\nshared: 1 of 1 covered\n");  // minor version compatibility
  CHECK(run_archguard({"verify", "static", "--device", "8.0@11.8"}, folder.path())
            .out.find("  error 35   8.0 (--device 8.0@11.8)  1 fat binary: 1 that cannot run\n") !=
        std::string::npos);
}

TEST_CASE("from CUDA 11 on the major version decides, before it the version") {
  const TemporaryFolder folder;
  folder.file("11", with_shared(with_sass(118), "libcudart.so.11.0"));
  folder.file("102", with_shared(with_sass(102, 70), "libcudart.so.10.2"));
  CHECK(verify(folder.path(), {"11", "--device", "8.0@11.0"}).run.exit_code == 0);
  CHECK(says(verify(folder.path(), {"11", "--device", "7.5@10.2"}), "error 35"));
  CHECK(verify(folder.path(), {"102", "--device", "7.0@10.2"}).run.exit_code == 0);
  CHECK(says(verify(folder.path(), {"102", "--device", "7.0@10.1"}), "error 35"));
  CHECK(verify(folder.path(), {"102", "--device", "7.0@12.4"}).run.exit_code == 0);
}

TEST_CASE("35 comes before what a newer driver mends as well, not before what it does not") {
  const TemporaryFolder folder;
  folder.file("ptx", with_static(with_ptx("9.1")));
  const Case old_major = verify(folder.path(), {"ptx", "--device", "8.0@12.8"});
  CHECK(says(old_major, "error 35: "));
  CHECK_FALSE(says(old_major, "222"));
  CHECK(says(old_major, "  fix: update the driver to one that offers CUDA 13.1 or newer") !=
        says(old_major, "  fix: update the driver to branch 590 (CUDA 13.1) or newer"));
  const Case same_major = verify(folder.path(), {"ptx", "--device", "8.0@13.0"});
  CHECK(says(same_major, "error 222: "));  // that compatibility does not extend to PTX
  CHECK_FALSE(says(same_major, "error 35"));

  folder.file("lacks", with_static(with_sass(124)));
  const Case both = verify(folder.path(), {"lacks", "--device", "9.0@11.8"});
  CHECK(says(both, "error 35: "));
  CHECK(says(both, "error 209: "));
  CHECK(says(both, "update the driver to branch 525"));
  CHECK(says(both, "90-real"));
}

TEST_CASE("--driver warn lets error 35 pass, once said for all files of that runtime") {
  const TemporaryFolder folder;
  for (const char* name : {"a.so", "b.so", "c.so"}) folder.file(name, with_static(with_sass(124)));
  const Case warned =
      verify(folder.path(), {"a.so", "b.so", "c.so", "--device", "8.0@11.8", "--driver", "warn"});
  CHECK(warned.run.exit_code == 0);
  CHECK(run_archguard({"verify", "a.so", "--device", "8.0@11.8", "--driver", "warn"}, folder.path())
            .out.find(
                "  covered    8.0 (--device 8.0@11.8)  1 fat binary: 1 SASS; error 35 from the runtime of "
                "CUDA 12.4\n") != std::string::npos);
  CHECK(verify(folder.path(), {"a.so", "--device", "8.0@11.8", "--driver", "off"}).run.exit_code == 2);
}

TEST_CASE("SASS of a newer CUDA is refused by the driver itself, whoever's the runtime is") {
  const TemporaryFolder folder;
  folder.file("none.so", text_of(program(with_sass(124)).needed("libc.so.6").bytes()));
  folder.file("k.cubin", text_of(cubin(124)));
  const Case none = verify(folder.path(), {"none.so", "--device", "8.0@11.8"});
  CHECK(none.run.exit_code == 1);
  CHECK(says(none, "archguard: error 200: none.so"));
  CHECK(verify(folder.path(), {"k.cubin", "--device", "8.0@12.0"}).run.exit_code == 0);
  // Of CUDA 13, in a format that no driver before 12.7 knows.
  const Bytes of_13 = CubinBuilder{}.sm(80).kernel("k", sass::join({sass::store(), sass::exit()})).bytes();
  folder.file("13.cubin", text_of(of_13));
  CHECK(verify(folder.path(), {"13.cubin", "--device", "8.0@12.2"}).run.exit_code == 1);
}

TEST_CASE("many kernel parameters ask for a driver of CUDA 12.1") {
  const TemporaryFolder folder;
  const auto with = [](unsigned parameters) {
    return text_of(CubinBuilder{}
                       .sm(80)
                       .generation7(129)
                       .kernel("k", sass::join({sass::store(), sass::exit()}))
                       .parameters(parameters)
                       .bytes());
  };
  folder.file("few.cubin", with(4352));
  folder.file("many.cubin", with(8008));
  CHECK(verify(folder.path(), {"few.cubin", "--device", "8.0@12.0"}).run.exit_code == 0);
  CHECK(verify(folder.path(), {"many.cubin", "--device", "8.0@12.1"}).run.exit_code == 0);
  const Case many = verify(folder.path(), {"many.cubin", "--device", "8.0@12.0"});
  CHECK(many.run.exit_code == 2);
  // A driver that does not know the device for certain is to be updated so far, too.
  CHECK(says(verify(folder.path(), {"many.cubin", "--device", "8.9@11.4"}), "branch 530 (CUDA 12.1)"));
  folder.file(
      "k.ptx",
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .align 4 .b8 a[8000])\n"
      "{\nret;\n}\n");
  CHECK(says(verify(folder.path(), {"k.ptx", "--device", "8.0@13.0"}), "archguard: error 218: k.ptx"));
}

TEST_CASE("a stated driver that does not know its device is error 100, with the driver to install") {
  const TemporaryFolder folder;
  folder.file("k.cubin", text_of(cubin(124)));
  folder.file("k.fatbin", text_of(with_ptx("7.0")));
  const Case blackwell = verify(folder.path(), {"k.fatbin", "--device", "12.0@12.0"});
  CHECK(blackwell.run.exit_code == 1);
  CHECK(verify(folder.path(), {"k.fatbin", "--device", "12.0@12.8"}).run.exit_code == 0);
  const Case both = verify(folder.path(), {"k.cubin", "--device", "12.0@12.0"});
  CHECK(says(both, "error 100: "));
  CHECK(says(both, "error 209: "));
  CHECK(verify(folder.path(), {"k.cubin", "--device", "8.6@11.0"}).run.exit_code == 2);
  const Case pascal = verify(folder.path(), {"k.fatbin", "--device", "8.6@11.0", "--device", "6.1@13.2"});
  CHECK(says(pascal, "its driver offers CUDA 13.2, and the last driver for 6.1 is branch 580 (CUDA 13.0)"));
  CHECK(says(verify(folder.path(), {"k.fatbin", "--device", "10.1@13.0"}), "  fix: name this device 11.0\n"));
  CHECK(says(verify(folder.path(), {"k.fatbin", "--device", "5.3@11.0"}),
             "the last driver for 5.3 offers CUDA 10.2"));
}

TEST_CASE("the runtime compares versions before the driver is asked for devices: 35 before 100") {
  const TemporaryFolder folder;
  folder.file("13", with_static(FatbinBuilder{}.cubin(80, cubin(130)).cubin(120, cubin(130, 120)).bytes()));
  const Case ampere = verify(folder.path(), {"13", "--device", "8.0@10.2"});
  CHECK(says(ampere, "error 35: "));
  CHECK(says(ampere,
             "this one offers CUDA 10.2, and drivers know 8.0 from CUDA 11.0 on\n"
             "  fix: update the driver to branch 580 (CUDA 13.0) or newer\n"));
  CHECK_FALSE(says(ampere, "error 100"));
  CHECK_FALSE(says(ampere, "build with"));
  // Whether a driver of 12.8 knows 12.1 is not told, and the runtime fails either way.
  const Case spark = verify(folder.path(), {"13", "--device", "12.1@12.8"});
  CHECK(spark.run.exit_code == 1);
  CHECK(says(spark, "error 35: "));
  CHECK_FALSE(says(spark, "unknown"));
  // One that serves the runtime and is too new for the device, and one that is neither.
  folder.file("12", with_shared(with_sass(120, 35), "libcudart.so.12"));
  const auto first_error = [](const Case& of) { return of.text.substr(0, of.text.find(": 12: ")); };
  CHECK(first_error(verify(folder.path(), {"12", "--device", "3.5@12.0"})) == "archguard: error 100");
  const Case kepler = verify(folder.path(), {"12", "--device", "3.5@11.5"});
  CHECK(first_error(kepler) == "archguard: error 35");
  CHECK(says(kepler, "error 100: "));
  CHECK_FALSE(says(kepler, "warning: "));
  const Case warned = verify(folder.path(), {"13", "--device", "8.0@10.2", "--driver", "warn"});
  CHECK(says(warned, "error 100: "));
  CHECK(says(warned, "the runtime of CUDA 13.0 fails with error 35"));
  CHECK_FALSE(says(verify(folder.path(), {"12", "--device", "3.5@12.0", "--driver", "warn"}), "error 35"));
}

TEST_CASE("a driver older than the device's first compiles PTX by itself before it looks at the device") {
  const TemporaryFolder folder;
  folder.file("k.ptx",
              ".version 9.0\n.target sm_110\n.address_size 64\n.visible .entry gemm()\n{\n ret;\n}\n");
  const Case older = verify(folder.path(), {"k.ptx", "--device", "10.3@12.8"});
  CHECK(says(older, "error 222: "));
  CHECK(says(older, "fix: update the driver to branch 580 (CUDA 13.0) or newer\n"));
  CHECK(says(verify(folder.path(), {"k.ptx", "--device", "10.3@13.0"}), "error 218: "));
}

TEST_CASE("what the driver API loads needs no runtime") {
  const TemporaryFolder folder;
  folder.file("k.fatbin", text_of(with_sass(124)));
  folder.file("k.cubin", text_of(cubin(124)));
  folder.file("unregistered.so", text_of(ElfBuilder{}.section(".nv_fatbin", with_sass(124)).bytes()));
  CHECK(verify(folder.path(), {"k.fatbin", "k.cubin", "unregistered.so", "--device", "8.0@12.0"}).text ==
        "k.fatbin: 1 of 1 covered\nk.cubin: 1 of 1 covered\nunregistered.so: 1 of 1 covered\n");
  // Nor does a program need the runtime of what it keeps among its data for the driver API.
  folder.file(
      "data",
      text_of(
          program(with_sass(118)).section(".rodata.kernels", with_sass(124)).needed("libcudart.so").bytes()));
  CHECK_FALSE(says(verify(folder.path(), {"data", "--device", "8.0@11.8"}), "error 35"));
}

TEST_CASE(
    "objects and archives get the runtime that they are linked with: no older one than their toolkit's") {
  const TemporaryFolder folder;
  const Bytes object = program(with_sass(124))
                           .relocatable()
                           .section(".crel.nvFatBinSegment", Bytes(8))  // in a form that is not read
                           .bytes();
  folder.file("k.o", text_of(object));
  folder.file("k.a", text_of(ArchiveBuilder{}.member("k.o", object).bytes()));
  for (const char* name : {"k.o", "k.a"}) {
    const Case result = verify(folder.path(), {name, "--device", "8.0@11.8"});
    CHECK(result.run.exit_code == 1);
    CHECK(verify(folder.path(), {name, "--device", "8.0@12.0"}).run.exit_code == 0);
  }
}

TEST_CASE("a library is told by its runtime as well, and a newer build of it is none of ours") {
  const TemporaryFolder folder;
  const Bytes text = bytes_of_text("CUDA driver version is insufficient for CUDA runtime version");
  folder.file("l.dll", text_of(PeBuilder{}
                                   .section(".nv_fatb", with_sass(124))
                                   .section(".nvFatBi", registration())
                                   .section(".rdata", text)
                                   .bytes()));
  const Case result = verify(folder.path(), {"l.dll", "--device", "8.0@11.8", "--scope", "library"});
  CHECK(says(result, "archguard: error 35: l.dll: "));
  folder.file("libl.so", with_static(with_sass(124)));
  folder.file("app", with_shared({}, "libl.so"));
  const Case needed =
      verify(folder.path(), {"app", "--needed-only", "--rpath-link", ".", "--device", "8.0@11.8"});
  CHECK(says(needed, "error 35: "));
  CHECK(needed.run.exit_code == 1);
}

TEST_CASE(
    "where cuda-compat may give programs more than the driver's version tells, the fix says how to say it") {
  const TemporaryFolder folder;
  folder.file("a.so", with_static(with_sass(124)));
  const auto fix_on = [&](const std::string& device) {
    folder.file("fleet.csv", "name, compute_cap, driver_version, driver_cuda\n" + device + "\n");
    const Case result = verify(folder.path(), {"a.so", "--fleet", "fleet.csv"});
    const auto at = result.text.find("  fix: ");
    return at == std::string::npos ? "no error"
                                   : result.text.substr(at + 7, result.text.find('\n', at) - at - 7);
  };
  const std::string update = "update the driver to branch 525 (CUDA 12.0) or newer, or build with CUDA 11.8";
  CHECK(fix_on("NVIDIA A100, 8.0, 470.82.01,") ==
        update +
            ", or, where cuda-compat gives programs a newer CUDA than this driver, tell that in the column "
            "driver_cuda of the fleet file");
  CHECK(fix_on("NVIDIA GeForce RTX 3090, 8.6, 470.82.01,") == update);
  CHECK_MESSAGE(fix_on("Tesla K80, 3.7, 470.256.02,").find("cuda-compat") == std::string::npos,
                "whose newer libcuda does not know it");
  CHECK(fix_on("NVIDIA A100, 8.0, 470.82.01, 11.4") == update);
  CHECK(fix_on("NVIDIA A100, 8.0, 470.82.01, 12.4") == "no error");
  CHECK(fix_on("Orin (nvgpu), 8.0, 470.82.01, 12.4") == "no error");
}

TEST_CASE("a driver newer than the table may serve a runtime that is newer, too") {
  const TemporaryFolder folder;
  folder.file("a.so", with_shared(with_sass(124), "libcudart.so.14"));
  folder.file("fleet.csv", "compute_cap, driver_version\n8.0, 700.10\n");
  const Case open = verify(folder.path(), {"a.so", "--fleet", "fleet.csv"});
  CHECK(open.run.exit_code == 2);
  folder.file("fleet.csv", "compute_cap, driver_version, driver_cuda\n8.0, 700.10, 14.0\n");
  CHECK(verify(folder.path(), {"a.so", "--fleet", "fleet.csv"}).run.exit_code == 0);
  folder.file("fleet.csv", "compute_cap, driver_version\n8.0, 580.95.05\n");
  CHECK(says(verify(folder.path(), {"a.so", "--fleet", "fleet.csv"}), "error 35"));
}

TEST_CASE("a driver that is not stated fails nothing, and asks for the runtime's where it asks at all") {
  const TemporaryFolder folder;
  folder.file("a.so", with_static(with_sass(124)));
  CHECK(verify(folder.path(), {"a.so", "--device", "8.0"}).text == "a.so: 1 of 1 covered\n");
  folder.file("z.so", with_static(FatbinBuilder{}.cubin(80, cubin(130)).zstd().bytes()));
  folder.file("z.fatbin", text_of(FatbinBuilder{}.cubin(80, cubin(130)).zstd().bytes()));
  const auto needs = [&](const char* name) {
    const RunOutput run =
        run_archguard({"verify", name, "--device", "8.0", "--format", "json"}, folder.path());
    return nlohmann::json::parse(run.out)["files"][0]["results"][0]["needs_driver_cuda"].get<std::string>();
  };
  CHECK(needs("z.so") == "13.0");
  CHECK(needs("z.fatbin") == "13.0");
}

TEST_CASE("in JSON error 35 has the runtime's toolkit") {
  const TemporaryFolder folder;
  folder.file("a.so", with_static(with_sass(124)));
  const RunOutput run =
      run_archguard({"verify", "a.so", "--device", "8.0@11.8", "--format", "json"}, folder.path());
  const auto result = nlohmann::json::parse(run.out)["files"][0]["results"][0];
  CHECK(result["verdict"] == "not-covered");
  CHECK(result["driver_too_old_for_toolkit"] == "12.4");
  CHECK(result["needs_driver_cuda"] == "12.0");
  REQUIRE(result["errors"].size() == 1);
  CHECK(result["errors"][0]["code"] == 35);
  CHECK(result["errors"][0]["containers"].empty());
}
