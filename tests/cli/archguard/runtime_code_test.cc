// What compiles or loads device code at run time is not in the file: it is named.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/elf_builder.h"
#include "support/builders/pe_builder.h"

using namespace archguard::test;

namespace {

Bytes importing(std::string_view function) {
  const Bytes symbols = ByteWriter{}.zeros(24).u32(1).u8(0x12).u8(0).u16(0).zeros(16).bytes();
  const Bytes names = ByteWriter{}.u8(0).text(function).u8(0).bytes();
  return ElfBuilder{}.section(".dynsym", symbols, 11).section(".dynstr", names, 3).bytes();
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

TEST_CASE("a DLL that compiles at run time is noted, too") {
  const TemporaryFolder folder;
  folder.file("jit.dll",
              text_of(PeBuilder{}.imports({{"nvrtc64_130_0.dll", {"nvrtcCompileProgram"}}}).bytes()));
  const RunOutput run = run_archguard({"verify", "jit.dll", "--device", "8.0"}, folder.path());
  CHECK(run.exit_code == 3);
}
