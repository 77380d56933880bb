#include "coverage/shared_stubs.h"

#include <doctest/doctest.h>

#include "coverage/verify.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/program_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr const char* kInstance = "_Z4fillIfEvPT_";

test::Bytes holding(const char* arch, const char* name) {
  auto cubin = CubinBuilder{}.sm(arch[0] == '9' ? 90 : 80).kernel(name, sass::exit());
  if (arch == std::string_view("90a")) cubin.marked_a();
  return FatbinBuilder{}.cubin(arch, cubin.bytes()).bytes();
}

// What 8.0 gets of it: "covered", "unknown", or the error.
std::string on_80(const ProgramBuilder& program) {
  const test::Bytes bytes = program.bytes();
  const MemorySource source(bytes);
  const DeviceCode code = read_device_code(source, "t.so");
  Device device;
  device.capability = parse_capability("8.0");
  VerifyRequest request;
  request.classes = classes_of({device});
  Waivers waivers = *Waivers::parse("", "w.csv");
  const FileResult result = verify_file(code, source, "t.so", request, waivers);
  const DeviceResult& of = result.devices[0];
  if (of.coverage == Coverage::covered) return "covered";
  return of.coverage == Coverage::unknown ? "unknown" : std::to_string(of.failures.at(0).code);
}

// Of a library that registers these in this order.
std::string on_80(const std::vector<std::pair<const char*, const char*>>& registered, int stubs,
                  const char* locals = "all") {
  ProgramBuilder program;
  for (const auto& [arch, name] : registered) program.whole(holding(arch, name));
  if (locals != std::string_view("none")) program.symbol("other", 2);
  for (std::size_t i = 0; locals == std::string_view("all") && i < registered.size(); ++i)
    program.register_all();
  for (int i = 0; i < stubs; ++i) program.symbol(kInstance, 2, 0x1000 + static_cast<std::uint64_t>(i));
  return on_80(program);
}

}  // namespace

TEST_CASE("of an instance that two fat binaries hold the one runs that was registered first") {
  CHECK(on_80({{"90a", kInstance}, {"80", kInstance}}, 1) == "209");
  CHECK(on_80({{"80", kInstance}, {"90a", kInstance}}, 1) == "covered");
  CHECK(on_80({{"80", "k"}, {"90a", kInstance}, {"80", kInstance}}, 1) == "209");
  CHECK(on_80({{"80", kInstance}, {"90a", kInstance}, {"80", kInstance}}, 1) == "covered");
  CHECK_MESSAGE(on_80({{"90a", kInstance}, {"80", kInstance}}, 2) == "covered", "a host function each");
  CHECK_MESSAGE(on_80({{"90a", kInstance}, {"80", kInstance}}, 0) == "unknown", "none that is told");
  CHECK(on_80({{"90a", kInstance}, {"80", kInstance}}, 0, "none") == "unknown");
  CHECK_MESSAGE(on_80({{"90a", kInstance}, {"80", kInstance}}, 1, "stripped") == "unknown",
                "one of them may be local");
}

TEST_CASE("functions of internal linkage are each their own, whatever they are called") {
  const std::pair<const char*, const char*> names[] = {{"_Z4fillIfEvPT_", "_ZL4fillIfEvPT_"},
                                                       {"_ZN2ns4fillIfEEvPT_", "_ZN2nsL4fillIfEEvPT_"},
                                                       {"_ZN2ns1a4fillEPf", "_ZN2ns1aL4fillEPf"}};
  for (const auto& [name, internal] : names) {
    const auto judged = [name = name](const std::vector<const char*>& functions) {
      ProgramBuilder program;
      program.whole(holding("90a", name)).whole(holding("80", name)).register_all().register_all();
      for (const char* function : functions) program.symbol(function, 2, 0x1000);
      return on_80(program);
    };
    CHECK(judged({name}) == "209");
    CHECK(judged({internal, internal}) == "covered");
    CHECK(judged({name, internal}) == "covered");
    CHECK(judged({}) == "unknown");
  }
}

TEST_CASE("GCC spells out that a pack is expanded, and nvcc does not") {
  const char *name = "_Z1kIJLi0EEEvSt16integer_sequenceIiJXT0_EEE",
             *function = "_Z1kIJLi0EEEvSt16integer_sequenceIiJXspT0_EEE";
  ProgramBuilder program;
  program.whole(holding("90a", name)).whole(holding("80", name)).register_all().register_all();
  CHECK(on_80(ProgramBuilder(program).symbol(function, 2, 0x1000)) == "209");
  CHECK(on_80(ProgramBuilder(program).symbol(function, 2, 0x1000).symbol(function, 2, 0x1000)) == "covered");
  const char* own_name = "_Z4Xsp1IfEvv";
  ProgramBuilder own;
  own.whole(holding("90a", own_name)).whole(holding("80", own_name)).register_all().register_all();
  CHECK(on_80(own.symbol(own_name, 2, 0x1000)) == "209");
}

TEST_CASE("no other kernels share a host function") {
  for (const char* name : {"k", "_ZN12_GLOBAL__N_14fillIfEvPT_"})
    CHECK(on_80({{"90a", name}, {"80", name}}, 1) == "covered");
  for (const char* name : {"_Z16my_INTERNAL_fillPf"})
    CHECK_MESSAGE(on_80({{"90a", name}, {"80", name}}, 1) == "unknown", "may be inline");
  CHECK_MESSAGE(on_80(ProgramBuilder{}
                          .whole(holding("80", kInstance))
                          .link({"_a"}, holding("90a", kInstance))
                          .object("_a", holding("90a", kInstance))
                          .symbol(kInstance, 2, 0x1000)
                          .register_all()
                          .register_all()) == "unknown",
                "registered with its last object");
  CHECK_MESSAGE(on_80({{"90a", "_Z4fillPf"}, {"80", "_Z4fillPf"}}, 1) == "unknown", "may be inline");
  CHECK(on_80({{"90a", kInstance}, {"80", "_Z4fillIdEvPT_"}}, 1) == "covered");
  CHECK_MESSAGE(on_80({{"90a", kInstance}}, 1) == "209", "nothing for this device");
}
