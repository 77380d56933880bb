// Images that a program holds as data and hands to the driver itself.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;

namespace {

Bytes cubin(int sm, const std::string& kernel = "gemm") {
  return CubinBuilder{}
      .sm(sm)
      .generation7(120)
      .kernel(kernel, sass::join({sass::store(), sass::exit()}))
      .bytes();
}

// A program with a kernel for 80 of its own, which covers that device.
ElfBuilder program() {
  return ElfBuilder{}.executable().section(".nv_fatbin", FatbinBuilder{}.cubin(80, cubin(80)).bytes());
}

std::string ptx_for(const std::string& arch) {
  std::string text = kPtx90;
  return text.replace(text.find("sm_80"), 5, arch);
}

}  // namespace

TEST_CASE("PTX for newer devices alone, beside a kernel that fits, is warned of by name") {
  const TemporaryFolder folder;
  folder.file("p", text_of(program().section(".rodata", bytes_of_text(ptx_for("sm_90"))).bytes()));
  const auto verify = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", "p", "--device", "8.0@13.0"});
    return run_archguard(more, folder.path());
  };
  RunOutput run = verify({});
  CHECK(run.exit_code == 0);
  run = verify({"--embedded", "error"});
  CHECK(run.exit_code == 1);
  run = verify({"--embedded", "off"});
  CHECK(run.out == "  covered    8.0 (--device 8.0@13.0)  1 fat binary: 1 SASS\np: 1 of 1 covered\n");
  const auto json = nlohmann::json::parse(verify({"--format", "json"}).out);
  CHECK(json["verdict"] == "covered");
  CHECK(json["files"][0]["results"][0]["embedded"]["verdict"] == "not-covered");
  CHECK(json["files"][0]["results"][0]["embedded"]["images"] == 1);
}

TEST_CASE("images that are all the device code of a file must serve every device") {
  const TemporaryFolder folder;
  folder.file("p", text_of(ElfBuilder{}.section(".data", cubin(80)).section(".rodata", cubin(75)).bytes()));
  RunOutput run =
      run_archguard({"verify", "p", "--device", "8.6", "--device", "7.5", "--brief"}, folder.path());
  CHECK(run.out == "p: 2 of 2 covered\n");
  CHECK(run.exit_code == 0);
  run = run_archguard({"verify", "p", "--device", "9.0"}, folder.path());
  CHECK(run.exit_code == 1);
  CHECK(run.out.find("found: sm_80, sm_75 among the data of the file\n") != std::string::npos);
  run = run_archguard({"verify", "p", "--device", "9.0", "--embedded", "off"}, folder.path());
  CHECK(run.exit_code == 3);
}

TEST_CASE("each module must serve the device: a kernel that no image which runs there holds") {
  const TemporaryFolder folder;
  const auto modules = [](ElfBuilder elf) {
    return text_of(elf.section(".data", cubin(80, "alpha")).section(".rodata", cubin(75, "beta")).bytes());
  };
  folder.file("alone", modules(ElfBuilder{}));
  folder.file("beside", modules(program()));
  const auto verify = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "verify");
    return run_archguard(more, folder.path());
  };
  RunOutput run = verify({"alone", "--device", "8.0"});
  CHECK(run.exit_code == 1);
  CHECK(verify({"alone", "--device", "8.0", "--scope", "library"}).exit_code == 0);
  run = verify({"beside", "--device", "8.0"});
  CHECK(run.exit_code == 0);
  CHECK(verify({"beside", "--device", "8.0", "--embedded", "error"}).exit_code == 1);
  const auto json = nlohmann::json::parse(verify({"beside", "--device", "8.0", "--format", "json"}).out);
  CHECK(json["files"][0]["results"][0]["embedded"]["verdict"] == "not-covered");
  CHECK(json["files"][0]["results"][0]["embedded"]["without"] == nlohmann::json::array({"beta"}));
}

TEST_CASE("PTX that no driver takes is found behind PTX that it takes, and before it") {
  const TemporaryFolder folder;
  const std::string good = ptx_for("sm_80");
  std::string refused = ptx_for("sm_80");
  refused.replace(refused.find("gemm"), 4, "lost");
  refused.insert(refused.find(".visible"), ".const .align 1 .b8 table[70000];\n");
  for (const bool first : {true, false}) {
    CAPTURE(first);
    folder.file("p", text_of(ElfBuilder{}
                                 .executable()
                                 .section(".rodata", bytes_of_text(first ? refused : good))
                                 .section(".data", bytes_of_text(first ? good : refused))
                                 .bytes()));
    const RunOutput run = run_archguard({"verify", "p", "--device", "8.0@13.0"}, folder.path());
    CHECK(run.out.find("error 218: p(" + std::string(first ? ".rodata" : ".data")) != std::string::npos);
    CHECK(run.out.find("embedded images: 1 of 2") != std::string::npos);
    CHECK(run.exit_code == 1);
  }
}

TEST_CASE("what images for other devices hold alone is said: it is not asked for") {
  const TemporaryFolder folder;
  std::string other = ptx_for("sm_90a");
  other.replace(other.find("gemm"), 4, "fast");
  folder.file("p", text_of(ElfBuilder{}
                               .executable()
                               .section(".data", cubin(80))
                               .section(".rodata", bytes_of_text(other))
                               .bytes()));
  const auto verify = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", "p", "--device", "8.0@13.0"});
    return run_archguard(more, folder.path());
  };
  const RunOutput run = verify({"--device", "8.6@13.0"});
  CHECK(
      run.out ==
      "archguard: note: p: of the images that it holds as data, 1 kernel is for other devices only, not "
      "asked "
      "for on 8.0 (--device 8.0@13.0), nor on 8.6 (--device 8.6@13.0); the first: 'fast' (compute_90a, "
      "p(.rodata+0x0))\n"
      "  fix: embed images of these kernels for these devices too, unless the program launches them on other "
      "devices alone\n"
      "  covered    8.0 (--device 8.0@13.0)  embedded images: 1 of 2\n"
      "  covered    8.6 (--device 8.6@13.0)  embedded images: 1 of 2\n"
      "p: 2 of 2 covered\n");
  CHECK(run.exit_code == 0);
  CHECK(verify({"--brief"}).out.find("note") == std::string::npos);
  CHECK(verify({"--scope", "library"}).out.find("note") == std::string::npos);
  const auto json = nlohmann::json::parse(verify({"--format", "json"}).out);
  CHECK(json["files"][0]["results"][0]["embedded"]["for_other_devices"] == nlohmann::json::array({"fast"}));
}

TEST_CASE("where none runs and all are for other devices, other code of the file that runs serves") {
  const TemporaryFolder folder;
  const auto held = [](ElfBuilder elf, const char* kernel, int sm) {
    const Bytes specific = CubinBuilder{}.sm(sm).marked_a().kernel(kernel, sass::exit()).bytes();
    return text_of(elf.section(".rodata", sm == 90 ? specific : cubin(sm, kernel)).bytes());
  };
  folder.file("suffixed", held(program(), "gemm", 90));
  folder.file("named", held(program(), "gemm_sm86", 86));
  folder.file("plain", held(program(), "gemm", 86));
  folder.file("alone", held(ElfBuilder{}, "gemm", 90));
  for (const char* name : {"suffixed", "named", "plain", "alone"}) {
    const bool others = name != std::string("plain") && name != std::string("alone");
    const RunOutput run =
        run_archguard({"verify", name, "--device", "8.0@13.5", "--embedded", "error"}, folder.path());
    CHECK_MESSAGE(run.exit_code == (others ? 0 : 1), name);
    const bool told =
        (run.out + run.err).find("fix: none, if the program loads them on other devices alone") !=
        std::string::npos;
    CHECK_MESSAGE(told == others, name);
  }
  const RunOutput run =
      run_archguard({"verify", "suffixed", "--device", "8.6", "--embedded", "error"}, folder.path());
  CHECK(run.exit_code == 0);
}

TEST_CASE("images that were asked for cannot be in a file that holds images as data alone") {
  const TemporaryFolder folder;
  folder.file("p", text_of(ElfBuilder{}.section(".data", cubin(80)).bytes()));
  folder.file("q", text_of(program().bytes()));
  folder.file("none", text_of(ElfBuilder{}.section(".data", Bytes(64)).bytes()));
  const auto verify = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "verify");
    return run_archguard(more, folder.path());
  };
  RunOutput run = verify({"p", "--device", "8.0", "--expect", "75-real;120-virtual"});
  CHECK(run.exit_code == 1);
  const auto json =
      nlohmann::json::parse(verify({"p", "--device", "8.0", "--expect", "80-real", "--format", "json"}).out);
  CHECK(json["verdict"] == "not-covered");
  CHECK(json["expects_in_vain"] == true);
  CHECK(verify({"p", "q", "--device", "8.0", "--expect", "80-real"}).exit_code == 0);
  CHECK(verify({"none", "--device", "8.0", "--expect", "80-real"}).exit_code == 3);
  CHECK(verify({"p", "--device", "8.0", "--expect", "80-real", "--embedded", "off"}).exit_code == 3);
}

TEST_CASE("inspect lists them as what they are") {
  const TemporaryFolder folder;
  const std::string optix =
      ".version 9.0\n.target sm_80\n.entry k() { call (%r1), _optix_get_launch_index_x, (); }\n";
  folder.file("p", text_of(program().section(".rodata", bytes_of_text(optix)).bytes()));
  const RunOutput run = run_archguard({"inspect", "p", "--by", "container"}, folder.path());
  CHECK(run.out.find(": " + std::to_string(optix.size()) + " B, embedded\n  compute_80 ") !=
        std::string::npos);
  CHECK(run.out.find("PTX ISA 9.0  for OptiX\n") != std::string::npos);
  CHECK(run.out.find("in 1 fat binary and 1 embedded image;") != std::string::npos);
  const auto json =
      nlohmann::json::parse(run_archguard({"inspect", "p", "--format", "json"}, folder.path()).out);
  CHECK_FALSE(json["files"][0]["containers"][0].contains("bare"));
  CHECK(json["files"][0]["containers"][1]["bare"] == true);
  CHECK(json["files"][0]["containers"][1]["images"][0]["optix"] == true);
  const RunOutput judged = run_archguard({"verify", "p", "--device", "8.6"}, folder.path());
  CHECK(judged.out.find("archguard: note: p: holds 1 piece of PTX or OptiX-IR for OptiX, which compiles it: "
                        "not judged\n") == 0);
  CHECK(judged.exit_code == 0);
}

TEST_CASE(
    "a fat binary of LTO-IR alone among data is for a linker: unknown, and a warning beside other code") {
  const TemporaryFolder folder;
  const Bytes ltoir = FatbinBuilder{}.ltoir("75").bytes();
  folder.file("alone", text_of(ElfBuilder{}.section(".data", ltoir).bytes()));
  folder.file("alone.o", text_of(ElfBuilder{}.relocatable().section(".data", ltoir).bytes()));
  folder.file("beside", text_of(program().section(".data", ltoir).bytes()));
  folder.file("its_own", text_of(ElfBuilder{}.executable().section(".nv_fatbin", ltoir).bytes()));
  const auto verify = [&](const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"verify", name, "--device", "8.0@13.0"});
    return run_archguard(more, folder.path());
  };
  RunOutput run = verify("alone");
  CHECK(run.exit_code == 2);
  CHECK(verify("alone", {"--scope", "library"}).exit_code == 2);
  CHECK(verify("alone", {"--embedded", "off"}).exit_code == 3);
  folder.file("its_own.fatbin", text_of(ltoir));
  CHECK(verify("its_own.fatbin").out.find("  cause: LTO-IR, which the program links when it runs\n") !=
        std::string::npos);
  CHECK(verify("its_own.fatbin").exit_code == 2);
  folder.file("both.fatbin", text_of(FatbinBuilder{}.ltoir("75").ptx("80", "9.0", ptx_for("sm_80")).bytes()));
  CHECK(verify("both.fatbin").exit_code == 0);
  CHECK(verify("alone.o").exit_code == 2);
  run = verify("beside", {"--embedded", "error"});
  CHECK(run.exit_code == 0);
  // A library knows what it links where.
  CHECK(verify("beside", {"--scope", "library"}).out ==
        "  covered    8.0 (--device 8.0@13.0)  1 fat binary: 1 SASS\nbeside: 1 of 1 covered\n");
  run = verify("its_own");  // which the runtime registers
  CHECK(run.out.find("found: LTO-IR lto_75, no PTX\n") != std::string::npos);
  CHECK(run.exit_code == 1);
}

TEST_CASE(
    "one fat binary for each architecture among data is one of which the program loads the one that fits") {
  const TemporaryFolder folder;
  const auto fatbin = [](int sm, const std::string& kernel = "gemm") {
    return FatbinBuilder{}.cubin(sm, cubin(sm, kernel)).bytes();
  };
  const auto file = [&](const char* name, const Bytes& a, const Bytes& b, const char* section = ".data") {
    folder.file(name, text_of(ElfBuilder{}.section(section, a).section(".rodata", b).bytes()));
  };
  const auto exit_of = [&](const char* name, const char* device, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"verify", name, "--device", device});
    return run_archguard(more, folder.path()).exit_code;
  };
  file("each", fatbin(80), fatbin(90));
  const RunOutput run =
      run_archguard({"verify", "each", "--device", "8.0", "--device", "9.0"}, folder.path());
  CHECK(run.out ==
        "  covered    8.0 (--device 8.0)  1 fat binary: 1 SASS; needs a driver that offers CUDA 12.0\n"
        "  covered    9.0 (--device 9.0)  1 fat binary: 1 SASS; needs a driver that offers CUDA 12.0\n"
        "each: 2 of 2 covered\n");
  CHECK(run.exit_code == 0);
  CHECK(exit_of("each", "8.0", {"--expect", "80-real;90-real"}) == 0);
  const RunOutput lacking = run_archguard({"verify", "each", "--device", "7.5"}, folder.path());
  CHECK(lacking.exit_code == 1);
  // Each is asked for: other kernels, code of the same name for the same architecture, what is registered or
  // may be.
  file("others", fatbin(80), fatbin(90, "conv"));
  CHECK(exit_of("others", "9.0") == 1);
  file("shared", fatbin(80), FatbinBuilder{}.cubin(80, cubin(80)).cubin(90, cubin(90)).bytes());
  CHECK(exit_of("shared", "9.0") == 1);
  file("its_own", fatbin(80), fatbin(90), ".nv_fatbin");
  CHECK(exit_of("its_own", "9.0") == 1);
  folder.file("stripped", text_of(ElfBuilder{}
                                      .section(".data", fatbin(80))
                                      .section(".rodata", fatbin(90))
                                      .without_section_table()
                                      .bytes()));
  CHECK(exit_of("stripped", "9.0") == 1);
}

TEST_CASE("bytecode of CUDA Tile is unknown with its fix, alone or beside what runs") {
  const TemporaryFolder folder;
  const Bytes bytecode =
      ByteWriter{}.text("\x7fTileIR").u8(0).u8(13).u8(1).u16(0).u8(1).u8(2).u16(0).u8(0).bytes();
  folder.file("alone", text_of(ElfBuilder{}.executable().section(".data", bytecode).bytes()));
  folder.file("beside", text_of(program().section(".rodata", bytecode).bytes()));
  const auto result = [&](const char* file) {
    const RunOutput run =
        run_archguard({"verify", file, "--device", "8.0@13.1", "--format", "json"}, folder.path());
    return nlohmann::json::parse(run.out)["files"][0]["results"][0];
  };
  const std::string fix = "verify the cubin that nvcc -tilecubin makes of it, and let the program load that";
  CHECK(result("alone")["verdict"] == "unknown");
  CHECK(result("alone")["errors"][0]["unknown"] == true);
  CHECK(result("alone")["errors"][0]["fix"] == fix);
  CHECK(result("beside")["verdict"] == "covered");
  CHECK(result("beside")["embedded"]["verdict"] == "unknown");
  CHECK(result("beside")["embedded"]["cause"] == "CUDA Tile IR, which is not judged");
}
