// What compiles or loads device code at run time is not in the file: it is named.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/pe_builder.h"

using namespace archguard::test;

namespace {

ElfBuilder importing_file(std::string_view function) {
  const Bytes symbols = ByteWriter{}.zeros(24).u32(1).u8(0x12).u8(0).u16(0).zeros(16).bytes();
  const Bytes names = ByteWriter{}.u8(0).text(function).u8(0).bytes();
  return ElfBuilder{}.section(".dynsym", symbols, 11).section(".dynstr", names, 3);
}

Bytes importing(std::string_view function) {
  return importing_file(function).bytes();
}

}  // namespace

TEST_CASE("a file that compiles at run time is noted, with and without device code of its own") {
  const TemporaryFolder folder;
  folder.file("lib/libjit.so", text_of(importing("nvrtcCompileProgram")));
  folder.file("lib/libplain.so", text_of(importing("malloc")));
  const std::string does =
      "compiles or loads code at run time (nvrtcCompileProgram): what it builds there is not judged\n";
  RunOutput run = run_archguard({"verify", "lib/libjit.so", "--device", "8.0"}, folder.path());
  CHECK(run.out == "archguard: note: lib/libjit.so: " + does + "lib/libjit.so: no device code\n");
  CHECK(run.exit_code == 3);
  run = run_archguard({"verify", "lib", "--device", "8.0"}, folder.path());
  CHECK(run.out == "archguard: note: lib/libjit.so: " + does + "2 files without device code\n");
  run = run_archguard({"verify", "lib", "--device", "8.0", "--brief"}, folder.path());
  CHECK(run.out == "2 files without device code\n");
  run = run_archguard({"inspect", "lib"}, folder.path());
  CHECK(run.out == "lib/libjit.so: no device code\n  " + does + "1 file without device code\n");
  for (const std::string command : {"verify", "inspect"}) {
    std::vector<std::string> arguments{command, "lib/libjit.so", "--format", "json"};
    if (command == "verify") arguments.insert(arguments.end(), {"--device", "8.0"});
    const auto json = nlohmann::json::parse(run_archguard(arguments, folder.path()).out);
    CHECK(json["files"][0]["runtime_code"] == nlohmann::json::array({"nvrtcCompileProgram"}));
  }
}

// nvFuser 0.2.36: PTX for 9.0 alone, loaded there to ask how large a cluster may be.
TEST_CASE("what a file holds as data need not be all of its code, if it compiles more when it runs") {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry asked(";
  const std::string nothing = head + ") {\n  ret;\n}\n";
  const std::string works = head +
                            ".param .u64 p) {\n  .reg .b64 %r;\n  ld.param.u64 %r, [p];\n"
                            "  cvta.to.global.u64 %r, %r;\n  st.global.u32 [%r], 1;\n  ret;\n}\n";
  const TemporaryFolder folder;
  for (const char* function : {"nvrtcCompileProgram", "cuModuleLoadData"}) {
    const bool compiles = function[0] == 'n';
    CAPTURE(compiles);
    for (const std::string* text : {&nothing, &works}) {
      const bool does_work = text == &works;
      CAPTURE(does_work);
      folder.file("lib.so",
                  text_of(importing_file(function).section(".rodata", bytes_of_text(*text)).bytes()));
      RunOutput run = run_archguard({"verify", "lib.so", "--device", "8.0"}, folder.path());
      CHECK(run.exit_code == (!compiles ? 1 : does_work ? 2 : 3));
      CHECK((run.out.find("compiles code when it runs (NVRTC)") != std::string::npos) ==
            (compiles && does_work));
      run = run_archguard({"verify", "lib.so", "--device", "8.0", "--embedded", "error"}, folder.path());
      CHECK(run.exit_code == (compiles && !does_work ? 3 : 1));
      run = run_archguard({"verify", "lib.so", "--device", "9.0"}, folder.path());
      CHECK(run.exit_code == (compiles && !does_work ? 3 : 0));
    }
  }
}

TEST_CASE("an image that does nothing counts where another one holds more of the same kernel") {
  const TemporaryFolder folder;
  const auto image = [](int sm, const Bytes& code) {
    return CubinBuilder{}.sm(sm).generation7(120).kernel("gemm", code).bytes();
  };
  folder.file("lib.so", text_of(importing_file("nvrtcCompileProgram")
                                    .section(".data", image(80, sass::join({sass::store(), sass::exit()})))
                                    .section(".rodata", image(90, sass::exit()))
                                    .bytes()));
  for (const char* policy : {"warn", "error"}) {
    const RunOutput run = run_archguard(
        {"verify", "lib.so", "--device", "8.0", "--device", "9.0", "--embedded", policy}, folder.path());
    CHECK(run.out.find("lib.so: 2 of 2 covered\n") != std::string::npos);
    CHECK(run.exit_code == 0);
  }
}

TEST_CASE("of images that do nothing neither their number nor their order tells") {
  const auto image = [](int sm, const std::vector<std::string>& kernels, const Bytes& code) {
    CubinBuilder cubin;
    cubin.sm(sm).generation7(120);
    for (const std::string& kernel : kernels) cubin.kernel(kernel, code);
    return cubin.bytes();
  };
  const TemporaryFolder folder;
  ElfBuilder many = importing_file("nvrtcCompileProgram");
  for (int i = 0; i < 70; ++i)
    many.section(".data" + std::to_string(i), image(90, {"asked" + std::to_string(i)}, sass::exit()));
  folder.file("many.so", text_of(many.bytes()));
  CHECK(run_archguard({"verify", "many.so", "--device", "8.0", "--embedded", "error"}, folder.path())
            .exit_code == 3);
  const Bytes one = image(90, {"k1", "k2"}, sass::exit()), two = image(90, {"k2", "k3"}, sass::exit()),
              works = image(80, {"k3"}, sass::join({sass::store(), sass::exit()}));
  for (const auto& order : {std::vector<Bytes>{one, two, works}, {two, one, works}, {works, one, two}}) {
    ElfBuilder file = importing_file("nvrtcCompileProgram");
    for (std::size_t i = 0; i < order.size(); ++i) file.section(".data" + std::to_string(i), order[i]);
    folder.file("lib.so", text_of(file.bytes()));
    const RunOutput run = run_archguard({"verify", "lib.so", "--device", "9.0", "--brief"}, folder.path());
    CHECK(run.exit_code == 0);
    const auto json = nlohmann::json::parse(
        run_archguard({"verify", "lib.so", "--device", "9.0", "--format", "json"}, folder.path()).out);
    CHECK(json["files"][0]["results"][0]["embedded"]["images"] == 3);
  }
}

TEST_CASE("a DLL that compiles at run time is noted, too") {
  const TemporaryFolder folder;
  folder.file("jit.dll",
              text_of(PeBuilder{}.imports({{"nvrtc64_130_0.dll", {"nvrtcCompileProgram"}}}).bytes()));
  const RunOutput run = run_archguard({"verify", "jit.dll", "--device", "8.0"}, folder.path());
  CHECK(run.exit_code == 3);
}
