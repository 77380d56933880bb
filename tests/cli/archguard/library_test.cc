// What archguard verify says of a library that has less for one device than for others.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "running.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard::test;

namespace {

std::string name_of(const std::string& name, int number) {
  return name + std::to_string(1000 + number);
}

Bytes cubin(int sm, const std::string& name, int count, const Bytes& code) {
  CubinBuilder builder;
  builder.sm(sm);
  if (sm <= 90) builder.generation7(120);
  for (int i = 0; i < count; ++i) builder.kernel(name_of(name, i), code);
  return builder.bytes();
}

Bytes works(int sm, const std::string& name, int count) {
  return cubin(sm, name, count, sass::join({sass::store(), sass::exit()}));
}

Bytes idles(int sm, const std::string& name, int count) {
  return cubin(sm, name, count, sass::exit());
}

std::string ptx(const std::string& name, int count, const std::string& body, const std::string& isa = "8.0") {
  std::string text = ".version " + isa + "\n.target sm_80\n.address_size 64\n";
  for (int i = 0; i < count; ++i) text += ".visible .entry " + name_of(name, i) + "()\n{\n" + body + "\n}\n";
  return text;
}
const std::string kStores = " st.global.u32 [0], 1;\n ret;", kReturns = " ret;";

Bytes joined(const std::vector<Bytes>& fatbins) {
  Bytes all;
  for (const Bytes& each : fatbins) all.insert(all.end(), each.begin(), each.end());
  return all;
}

std::string file_of(const std::vector<Bytes>& fatbins) {
  return text_of(ElfBuilder{}.section(".nv_fatbin", joined(fatbins)).bytes());
}

// `compiled` of 20 kernels are there as PTX, the others for 8.x and 9.0 alone.
Bytes fatbins_of(int compiled) {
  return joined({FatbinBuilder{}
                     .cubin(80, works(80, "a", 20 - compiled))
                     .cubin(90, works(90, "a", 20 - compiled))
                     .bytes(),
                 FatbinBuilder{}
                     .cubin(80, works(80, "b", compiled))
                     .ptx("80", "8.0", ptx("b", compiled, kStores))
                     .bytes()});
}
std::string library(int compiled) {
  return file_of({fatbins_of(compiled)});
}

RunOutput verify(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"verify", "l.so", "--scope", "library"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_archguard(arguments, folder.path());
}

nlohmann::json result_of(const TemporaryFolder& folder, std::vector<std::string> more) {
  more.insert(more.end(), {"--format", "json"});
  return nlohmann::json::parse(verify(folder, more).out)["files"][0]["results"][0];
}

}  // namespace

TEST_CASE("the JSON tells the counts beside the verdict") {
  const TemporaryFolder folder;
  folder.file("l.so", library(2));
  const auto failed = result_of(folder, {"--device", "8.7"});
  CHECK(failed["verdict"] == "not-covered");
  CHECK(failed["partly"]["kernels"] == 2);
  CHECK(failed["partly"]["best"] == 20);
  CHECK(failed["partly"]["best_compute_capability"] == "8.0");
  CHECK(failed["partly"]["clear"] == true);
  CHECK(failed["errors"][0]["code"] == nullptr);
  CHECK(failed["kernels"]["covered"] == 2);
  CHECK(failed["kernels"]["total"] == 20);
  CHECK(result_of(folder, {"--device", "8.7", "--partly", "warn"})["verdict"] == "covered");
  CHECK(result_of(folder, {"--device", "8.7", "--partly", "warn"})["partly"]["kernels"] == 2);
  CHECK(result_of(folder, {"--device", "8.7", "--partly", "off"})["partly"] == nullptr);
  CHECK(result_of(folder, {"--device", "9.0"})["partly"] == nullptr);
}

TEST_CASE("a kernel that does nothing covers no device, whatever --partly says") {
  const TemporaryFolder folder;
  folder.file("l.so", file_of({FatbinBuilder{}.cubin(80, works(80, "a", 9)).bytes(),
                               FatbinBuilder{}
                                   .cubin(80, idles(80, "nop", 1))
                                   .ptx("80", "8.0", ptx("nop", 1, kReturns))
                                   .bytes()}));
  for (const char* policy : {"error", "warn", "off"}) {
    const RunOutput run = verify(folder, {"--device", "12.0", "--brief", "--partly", policy});
    CHECK(run.exit_code == 1);
  }
  CHECK(result_of(folder, {"--device", "12.0"})["partly"]["kernels"] == 1);
}

TEST_CASE("what a newer driver would support is said with the driver's error") {
  const TemporaryFolder folder;
  folder.file("l.so", file_of({FatbinBuilder{}.cubin(80, works(80, "a", 1)).bytes(),
                               FatbinBuilder{}.ptx("80", "9.0", ptx("b", 19, kStores, "9.0")).bytes()}));
  const RunOutput run = verify(folder, {"--device", "8.0@12.4", "--brief"});
  CHECK(run.out.find("archguard: error 222: l.so(.nv_fatbin+0x") == 0);
  CHECK(run.out.find("not made for") == std::string::npos);
  CHECK(run.exit_code == 1);
  CHECK(verify(folder, {"--device", "8.0@13.0", "--brief"}).out == "l.so: 1 of 1 covered\n");
  CHECK(verify(folder, {"--device", "8.0@12.4", "--partly", "off"}).exit_code == 0);
}

TEST_CASE("a library of which it cannot be told whether the driver loads it is unknown") {
  CubinBuilder newer;
  newer.sm(90).toolkit_info("13.0", "-arch sm_90");
  for (int i = 0; i < 9; ++i) newer.kernel(name_of("a", i), sass::join({sass::store(), sass::exit()}));
  const Bytes all = FatbinBuilder{}.cubin(90, newer.bytes()).bytes();
  const Bytes few = FatbinBuilder{}.cubin(90, works(90, "b", 1)).bytes();
  const TemporaryFolder folder;
  for (const std::string& file : {file_of({all}), file_of({all, few})}) {
    folder.file("l.so", file);
    const RunOutput run = verify(folder, {"--device", "9.0@12.8", "--brief"});
    CHECK(run.exit_code == 2);
    CHECK(run.out.find("which NVIDIA promises to run on drivers from CUDA 13.0 on") != std::string::npos);
    CHECK(run.out.find("not made for") == std::string::npos);
    CHECK(verify(folder, {"--device", "9.0@12.2", "--brief"}).exit_code == 1);
    CHECK(verify(folder, {"--device", "9.0@13.0", "--brief"}).exit_code == 0);
  }
}

TEST_CASE("a library that compiles at run time is warned of") {
  const TemporaryFolder folder;
  const Bytes symbols = ByteWriter{}.zeros(24).u32(1).u8(0x12).u8(0).u16(0).zeros(16).bytes();
  const Bytes names = ByteWriter{}.u8(0).text("nvrtcCompileProgram").u8(0).bytes();
  ElfBuilder elf;
  elf.section(".nv_fatbin", fatbins_of(2)).section(".dynsym", symbols, 11).section(".dynstr", names, 3);
  folder.file("l.so", text_of(elf.bytes()));
  const RunOutput run = verify(folder, {"--device", "8.7", "--brief"});
  CHECK(run.out ==
        "archguard: warning: l.so: perhaps not made for 8.7 (--device 8.7): 2 of 20 kernels\n"
        "  fix: none, if the library compiles the rest when it runs; --partly off then\n"
        "l.so: 1 of 1 covered\n");
  CHECK(result_of(folder, {"--device", "8.7"})["partly"]["compiles_at_run_time"] == true);
}

TEST_CASE("hollow kernels are told with scope library, too") {
  const TemporaryFolder folder;
  folder.file(
      "l.so",
      file_of({FatbinBuilder{}.cubin(80, works(80, "a", 3)).cubin(90, works(90, "a", 3)).bytes(),
               FatbinBuilder{}.cubin(80, idles(80, "fp8", 1)).cubin(90, works(90, "fp8", 1)).bytes()}));
  const std::string told =
      "l.so: 1 kernel does no work on 8.0 (--device 8.0), while another image holds real code: 'fp81000'\n"
      "  fix: --hollow off, if the library chooses other kernels for this device\n";
  CHECK(verify(folder, {"--device", "8.0", "--brief"}).out ==
        "archguard: warning: " + told + "l.so: 1 of 1 covered\n");
  CHECK(verify(folder, {"--device", "8.0", "--hollow", "error"}).exit_code == 1);
  CHECK(verify(folder, {"--device", "8.0", "--hollow", "off", "--brief"}).out == "l.so: 1 of 1 covered\n");
  CHECK(result_of(folder, {"--device", "8.0"})["kernels"]["hollow"][0] == "fp81000");
}

TEST_CASE("containers for other devices count in the total, so that no count exceeds it") {
  const TemporaryFolder folder;
  folder.file("l.so",
              file_of({FatbinBuilder{}.cubin(80, works(80, "a", 2)).cubin(90, works(90, "a", 2)).bytes(),
                       FatbinBuilder{}
                           .cubin("90a", CubinBuilder{}
                                             .sm(90)
                                             .marked_a()
                                             .kernel("w", sass::join({sass::store(), sass::exit()}))
                                             .bytes())
                           .bytes()}));
  for (const char* device : {"8.0", "9.0"})
    CHECK(result_of(folder, {"--device", device})["kernels"]["total"] == 3);
  CHECK(result_of(folder, {"--device", "9.0"})["kernels"]["covered"] == 3);
  CHECK(result_of(folder, {"--device", "8.0"})["kernels"]["covered"] == 2);
}
