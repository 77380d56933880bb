// Files of kernels and variables: what is said of them.
#include <doctest/doctest.h>

#include "coverage/verify.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/program_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

Device device(const std::string& capability) {
  Device device;
  device.capability = parse_capability(capability);
  return device;
}

FileResult verify_bytes(const test::Bytes& bytes, const std::vector<Device>& devices,
                        Scope scope = Scope::fatbin, const std::string& waived = {}) {
  const MemorySource source(bytes);
  const DeviceCode code = read_device_code(source, "t.fatbin");
  VerifyRequest request;
  request.classes = classes_of(devices);
  request.policy.scope = scope;
  Waivers waivers = *Waivers::parse(waived, "w.csv");
  return verify_file(code, source, "t.fatbin", request, waivers);
}

CubinBuilder kernel(int sm) {
  return CubinBuilder{}.sm(sm).kernel("k", sass::join({sass::store(), sass::exit()}));
}

CubinBuilder variable(int sm, const char* name = "dv", std::size_t size = 4) {
  return CubinBuilder{}
      .sm(sm)
      .toolkit_info("13.0", "-arch sm_" + std::to_string(sm))
      .variable(name, ".nv.global", size);
}

test::Bytes join(test::Bytes one, const test::Bytes& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

}  // namespace

TEST_CASE("variables for one arch beside kernels for two: the other device is not covered") {
  const auto bytes = join(FatbinBuilder{}.cubin(80, kernel(80).bytes()).cubin(86, kernel(86).bytes()).bytes(),
                          FatbinBuilder{}.cubin(86, variable(86).bytes()).bytes());
  const FileResult result = verify_bytes(bytes, {device("8.0"), device("8.6")});
  CHECK(result.devices[1].coverage == Coverage::covered);
  CHECK(result.devices[1].variables.total == 1);
  const DeviceResult& other = result.devices[0];
  CHECK(other.coverage == Coverage::not_covered);
  REQUIRE(other.failures.size() == 1);
  CHECK(other.failures[0].code == kNoKernelImage);
  CHECK(other.failures[0].variable == "dv");
  CHECK(other.failures[0].found == "sm_86 cubin, no PTX");
}

TEST_CASE("variables alone are device code; those of the toolkit's headers ask for nothing") {
  const FileResult alone =
      verify_bytes(FatbinBuilder{}.cubin(80, variable(80).bytes()).bytes(), {device("9.0")});
  CHECK(alone.has_code);
  CHECK(alone.devices[0].coverage == Coverage::not_covered);

  const char* of_libcupp = "_ZN28_INTERNAL_e5804319_4_v_cu_cv4cuda3std3__47nulloptE";
  const FileResult own =
      verify_bytes(FatbinBuilder{}.cubin(80, variable(80, of_libcupp, 1).bytes()).bytes(), {device("9.0")});
  CHECK_FALSE(own.has_code);
  CHECK(own.has_fatbins);
  CHECK(own.devices[0].fatbins.total == 0);

  const auto cub =
      CubinBuilder{}.sm(80).kernel("_ZN3cub17CUB_200802_SM_80011EmptyKernelIvEEvv", sass::exit());
  CHECK_FALSE(verify_bytes(FatbinBuilder{}.cubin(80, cub.bytes()).bytes(), {device("9.0")}).has_code);
  CHECK(verify_bytes(FatbinBuilder{}.cubin(80, cub.bytes()).cubin(86, kernel(86).bytes()).bytes(),
                     {device("8.0")})
            .devices[0]
            .kernels.missing == std::vector<std::string>{"k"});
}

TEST_CASE("a missing variable is error 500 with its line to waive it") {
  const auto bytes = FatbinBuilder{}
                         .cubin(80, kernel(80).variable("dv", ".nv.global", 4).bytes())
                         .cubin(86, kernel(86).bytes())
                         .bytes();
  const FileResult result = verify_bytes(bytes, {device("8.6")});
  const DeviceResult& lacking = result.devices[0];
  CHECK(lacking.coverage == Coverage::not_covered);
  CHECK(lacking.variables.missing == std::vector<std::string>{"dv"});
  REQUIRE(lacking.failures.size() == 1);
  CHECK(lacking.failures[0].code == kSymbolNotFound);
  CHECK(lacking.failures[0].reason ==
        "the sm_86 image that this device takes lacks it; another image of the same fat binary has it");
  CHECK(lacking.fix ==
        "compile every source file that holds these variables for sm_86 too, with no #if on __CUDA_ARCH__ "
        "that leaves them out, or waive them: --waivers FILE "
        "with "
        "the "
        "line 'dv,8.6,why it may be absent'");
  CHECK(verify_bytes(bytes, {device("8.6")}, Scope::fatbin, "dv,8.6,for 8.0 alone").devices[0].coverage ==
        Coverage::covered);
}

TEST_CASE("a missing variable that no host code registers or uses is a warning") {
  const auto code = FatbinBuilder{}
                        .cubin(80, kernel(80).variable("dv", ".nv.global", 4).bytes())
                        .cubin(86, kernel(86).bytes())
                        .bytes();
  const auto judged = [&](const ProgramBuilder& program, const char* texts, Scope scope = Scope::fatbin,
                          const std::string& waived = {}) {
    const test::Bytes constants(texts, texts + 8);
    return verify_bytes(ProgramBuilder(program).constants(constants).bytes(), {device("8.0"), device("8.6")},
                        scope, waived);
  };
  const ProgramBuilder whole = ProgramBuilder{}.whole(code).register_all();
  constexpr std::uint64_t kCopyAt = 0x70001000;
  const auto named_in_code = ProgramBuilder(whole)
                                 .symbol("_ZL2dv", 1, kCopyAt, 16)
                                 .code(test::ByteWriter{}.zeros(3).u64(kCopyAt).zeros(9).bytes());
  const FileResult named = judged(named_in_code, "\0k\0dv\0\0");
  CHECK(named.devices[1].coverage == Coverage::not_covered);
  CHECK(named.devices[1].failures[0].code == kInvalidSymbol);
  CHECK(named.devices[1].variables.unregistered == std::vector<std::string>{"dv"});
  CHECK(named.devices[1].variables.missing.empty());
  CHECK(named.devices[1].variables.unnamed.empty());

  const FileResult unnamed = judged(whole, "\0k\0dw\0\0");
  CHECK(unnamed.devices[0].variables.unnamed.empty());
  CHECK(unnamed.devices[1].coverage == Coverage::covered);
  CHECK(unnamed.devices[1].variables.missing.empty());
  CHECK(unnamed.devices[1].variables.unnamed == std::vector<std::string>{"dv"});
  CHECK(unnamed.devices[1].variables.unnamed_in == "sm_86");
  CHECK(judged(whole, "\0k\0dw\0\0", Scope::fatbin, "dv,8.6,for 8.0").devices[1].variables.unnamed.empty());
  CHECK(judged(whole, "\0k\0dw\0\0", Scope::library).devices[1].variables.unnamed.empty());

  CHECK_MESSAGE(judged(whole, "\0k\0dv\0\0").devices[1].variables.unnamed.size() == 1, "no copy to register");
  const FileResult untold = judged(whole, "\0x\0dw\0\0");
  CHECK_MESSAGE(untold.devices[1].coverage == Coverage::not_covered, "names nothing at all of it");
  CHECK_MESSAGE(
      judged(ProgramBuilder{}.whole(code), "\0k\0dw\0\0").devices[1].coverage == Coverage::not_covered,
      "stripped");
  const auto nowhere = ProgramBuilder(whole).pointers(ProgramBuilder::Pointers::nowhere);
  CHECK(judged(nowhere, "\0k\0dw\0\0").devices[1].coverage == Coverage::not_covered);
}

TEST_CASE("a missing kernel that no host code registers is not asked for, but of templates") {
  const auto missing = [](const char* name, const char* registered, const char* wanted = "cudaMalloc") {
    const auto code = FatbinBuilder{}
                          .cubin(80, kernel(80).kernel(name, sass::exit()).bytes())
                          .cubin(86, kernel(86).bytes())
                          .bytes();
    test::ByteWriter texts;
    for (const std::string_view text : {std::string_view("k"), std::string_view(registered)})
      texts.u8(0).text(text).u8(0);
    const FileResult result = verify_bytes(
        ProgramBuilder{}.whole(code).constants(texts.bytes()).wants(wanted).bytes(), {device("8.6")});
    const KernelCounts& kernels = result.devices[0].kernels;
    CHECK(kernels.covered + kernels.missing.size() + kernels.unlaunchable.size() == kernels.total);
    if (result.devices[0].coverage == Coverage::covered) return std::string("covered");
    return std::to_string(result.devices[0].failures.at(0).code);
  };
  for (const char* name : {"dv", "_Z2dvPf", "_ZL2dvPf", "_ZN1a2dvEPf", "_ZN12_GLOBAL__N_12dvEv"}) {
    CHECK(missing(name, "x") == "covered");
    CHECK(missing(name, name) == "500");
    CHECK_MESSAGE(missing(name, "x", name) == "500", "its launch links into a library");
  }
  for (const char* name : {"_Z2dvIfEvT_", "_ZN1SIfE2dvEv", "_ZN1a2dvIfEEvT_", "_Z2dvB3tagB1aIfEvT_"})
    CHECK_MESSAGE(missing(name, "x") == "98", "launched without it");
  for (const char* name : {"_ZZ1fvEN1S2dvEv", "_Z99dvv", "_ZNSt2dvEv", "_Z2dvB9tagIfEvT_"})
    CHECK_MESSAGE(missing(name, "x") == "500", "may be one of a template");
  const auto code = FatbinBuilder{}
                        .cubin(80, kernel(80).kernel("dv", sass::exit()).bytes())
                        .cubin(86, kernel(86).bytes())
                        .bytes();
  CHECK_MESSAGE(verify_bytes(ProgramBuilder{}.whole(code).bytes(), {device("8.6")}).devices[0].coverage ==
                    Coverage::not_covered,
                "names nothing at all of it");
}

TEST_CASE("an instance of a template that host code does not register cannot be launched on any device") {
  const std::string instance = "_Z3oldIfEvPT_", newer = "_Z5newerIfEvPT_";
  const auto verify = [&](const std::string& registered, const std::string& waiver = "") {
    const auto code = FatbinBuilder{}
                          .cubin(80, kernel(80).kernel(instance, sass::exit()).bytes())
                          .cubin(86, kernel(86).kernel(newer, sass::exit()).bytes())
                          .cubin(90, kernel(90).bytes())
                          .bytes();
    const auto texts = test::ByteWriter{}.u8(0).text("k").u8(0).text(registered).u8(0).bytes();
    return verify_bytes(ProgramBuilder{}.whole(code).constants(texts).bytes(),
                        {device("8.0"), device("8.6"), device("9.0")}, Scope::fatbin, waiver);
  };
  const FileResult result = verify(newer);
  for (const DeviceResult& each : result.devices) {
    CHECK(each.coverage == Coverage::not_covered);
    CHECK(each.kernels.unlaunchable == std::vector<std::string>{instance});
    CHECK(each.failures.back().code == kInvalidDeviceFunction);
    CHECK(each.failures.back().reason.find("and the sm_90 image of the same") != std::string::npos);
  }
  CHECK(result.devices[0].kernels.covered == 1);
  CHECK(result.devices[0].kernels.missing == std::vector<std::string>{newer});
  CHECK(result.devices[1].kernels.covered == 2);
  CHECK(result.devices[1].failures.size() == 1);
  CHECK(verify(newer, instance + ",8.6,for 8.0 alone").devices[1].coverage == Coverage::covered);
  CHECK_MESSAGE(verify("_Z3ol2IfEvPT_").devices[0].kernels.unlaunchable.size() == 2, "neither of both");
  CHECK_MESSAGE(verify(instance).devices[0].coverage == Coverage::not_covered, "the other one");
  CHECK(verify(instance).devices[0].kernels.unlaunchable == std::vector<std::string>{newer});
}

TEST_CASE("where host code registers no kernel of a fat binary, the file has to tell in another way") {
  const auto only = FatbinBuilder{}
                        .cubin(80, CubinBuilder{}.sm(80).kernel("_Z3oldIfEvPT_", sass::exit()).bytes())
                        .cubin(90, CubinBuilder{}.sm(90).bytes())
                        .bytes();
  const auto judged = [](const ProgramBuilder& program) {
    return verify_bytes(program.bytes(), {device("8.0")}).devices[0].coverage;
  };
  const auto alone =
      ProgramBuilder{}.whole(only).constants(test::ByteWriter{}.u8(0).text("text").u8(0).bytes());
  CHECK(judged(alone) == Coverage::covered);
  CHECK_MESSAGE(judged(ProgramBuilder(alone).register_all()) == Coverage::not_covered, "and launches how?");
  CHECK_MESSAGE(judged(ProgramBuilder(alone).register_all().wants("__cudaLaunchKernel")) == Coverage::covered,
                "and launches what is registered");
  const auto launching =
      ProgramBuilder(alone).register_all().symbol("cudaLaunchKernel", 2, ProgramBuilder::kCodeAt + 64);
  CHECK_MESSAGE(judged(launching) == Coverage::covered, "and calls nothing that launches");
  const auto launch_of = [&](const ProgramBuilder& program, std::initializer_list<unsigned> before,
                             unsigned call = 0xe8) {
    test::ByteWriter code;
    for (const unsigned each : before) code.u8(each);
    code.u8(call);
    code.u32(64 - static_cast<std::uint32_t>(code.size()) - 4).zeros(64 - code.size()).u8(0xc3).zeros(16);
    return judged(ProgramBuilder(program).code(code.bytes()));
  };
  const auto launch = [&](std::initializer_list<unsigned> before, unsigned call = 0xe8) {
    return launch_of(launching, before, call);
  };
  for (const auto& nothing : std::initializer_list<std::initializer_list<unsigned>>{
           {0x31, 0xff},                                                        // xor edi, edi
           {0x33, 0xff},                                                        // xor edi, edi
           {0xbf, 0, 0, 0, 0},                                                  // mov edi, 0
           {0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x8b, 0x75, 0x49, 0xbf, 0, 0, 0, 0},  // …; mov esi, […]; mov edi, 0
           {0x48, 0xc7, 0xc7, 0, 0, 0, 0},                                      // mov rdi, 0
           {0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x31, 0xff, 0x6a, 0x00},  // lea rdi, […]; xor edi, edi; push 0
           {0x31, 0xc0, 0x41, 0x89, 0xc1, 0x4c, 0x89, 0xcf},        // xor eax, eax; mov r9d, eax; mov rdi, r9
           {0x45, 0x31, 0xc9, 0x4c, 0x89, 0xcf},                    // xor r9d, r9d; mov rdi, r9
           {0xbf, 0x10, 0x40, 0x40, 0x00, 0x90},  // mov edi, 0x404010: no address in a library
           {0x48, 0x89, 0xdf, 0x6a, 0x00},        // mov rdi, rbx; push 0: of what is not told
           {0x90, 0x90, 0x90},                    // nop: not told
           {}}) {
    CHECK_MESSAGE(launch(nothing) == Coverage::not_covered, "launches what is not registered");
    CHECK(launch(nothing, 0xe9) == Coverage::not_covered);
  }
  for (const auto& something : std::initializer_list<std::initializer_list<unsigned>>{
           {0x31, 0xff, 0x48, 0x8d, 0x3d, 1, 2, 3, 4},        // xor edi, edi; lea rdi, [rip + …]
           {0x48, 0x8b, 0x45, 0xf8, 0x48, 0x89, 0xc7},        // mov rax, [rbp - 8]; mov rdi, rax
           {0x4c, 0x8d, 0x25, 1, 2, 3, 4, 0x4c, 0x89, 0xe7},  // lea r12, [rip + …]; mov rdi, r12
           {0x31, 0xff, 0x74, 0x24, 0x40, 0x48, 0x8d, 0x3d, 1, 2, 3, 4},  // push [rsp + 64]; lea rdi, […]
           {0x49, 0x8b, 0x7c, 0x24, 0x08},                                // mov rdi, [r12 + 8]
           {0x48, 0x8b, 0x3d, 1, 2, 3, 4}}) {                             // mov rdi, [rip + …]
    CHECK_MESSAGE(launch(something) == Coverage::covered, "launches what is registered");
    CHECK(launch(something, 0xe9) == Coverage::covered);
  }
  // lea rdi, […], or xor edi, edi, the end of one function; another hands on what it was called with.
  const auto wrapper = ProgramBuilder(launching).symbol("wrapper", 2, ProgramBuilder::kCodeAt + 7);
  CHECK(launch_of(wrapper, {0x90, 0x90, 0x90, 0x90, 0x90, 0x31, 0xff, 0x90}) == Coverage::covered);
  CHECK(launch_of(wrapper, {0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x31, 0xff}) == Coverage::not_covered);
  CHECK_MESSAGE(launch_of(wrapper, {0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x48, 0x89, 0xf7}) == Coverage::not_covered,
                "mov rdi, rsi: not its first argument");
  CHECK(launch_of(wrapper, {0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x48, 0x8d, 0x3d, 1, 2, 3, 4}) ==
        Coverage::covered);
  // lea rdi, […]; call of a function, which may set it: of clang's -enable-machine-outliner.
  const auto outlined =
      ProgramBuilder(launching).symbol("OUTLINED_FUNCTION_1", 2, ProgramBuilder::kCodeAt + 48);
  CHECK(launch_of(outlined, {0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0xe8, 48 - 12, 0, 0, 0}) == Coverage::not_covered);
  // lea rbx, […]; call of it; mov rdi, rbx.
  CHECK(launch_of(outlined, {0x48, 0x8d, 0x1d, 1, 2, 3, 4, 0xe8, 48 - 12, 0, 0, 0, 0x48, 0x89, 0xdf}) ==
        Coverage::covered);
  // wrapper: test esi, esi; je to the call; nop; call. Then xor edi, edi; jmp to the call, in the part of it
  // that GCC splits off, or bytes that look so in another function.
  const auto branching = ProgramBuilder(launching).symbol("wrapper", 2, ProgramBuilder::kCodeAt);
  CHECK(launch_of(branching, {0x85, 0xf6, 0x74, 0x01, 0x90}) == Coverage::covered);
  const auto shared = ProgramBuilder(launching).symbol("wrapper", 2, ProgramBuilder::kCodeAt + 5);
  const std::initializer_list<unsigned> jumping{0x31, 0xff, 0xeb, 0x02, 0x90, 0x90, 0x90};
  CHECK(launch_of(ProgramBuilder(shared).symbol("wrapper.cold", 2, ProgramBuilder::kCodeAt), jumping) ==
        Coverage::not_covered);
  CHECK(launch_of(ProgramBuilder(shared).symbol("another", 2, ProgramBuilder::kCodeAt), jumping) ==
        Coverage::covered);
  // lea rdi, […]; test eax, eax; je to the call: from where it is set.
  CHECK(launch_of(branching, {0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x85, 0xc0, 0x74, 0x01, 0x90}) ==
        Coverage::covered);
  // lea rdi, [rip + …], whose distance looks like mov edi, 0, with what follows (add al, al).
  // Behind cudaLaunchKernel's `ret`: lea rdi, or rbx, […], and nothing of it for long; mov rdi, rbx; the
  // call.
  const auto set_long_before = [&](unsigned lea, std::size_t bytes, std::initializer_list<unsigned> end) {
    test::ByteWriter code;
    code.zeros(64).u8(0xc3);
    for (const unsigned each : {0x48U, 0x8dU, lea, 1U, 2U, 3U, 4U}) code.u8(each);
    for (std::size_t i = 0; i < bytes; ++i) code.u8(0x90);
    for (const unsigned each : end) code.u8(each);
    code.u8(0xe8);
    code.u32(64 - static_cast<std::uint32_t>(code.size()) - 4);
    return judged(ProgramBuilder(launching).code(code.bytes()));
  };
  CHECK(set_long_before(0x3d, 400, {}) == Coverage::covered);
  CHECK(set_long_before(0x3d, 2000, {}) == Coverage::not_covered);
  CHECK(set_long_before(0x1d, 2000, {0x48, 0x89, 0xdf}) == Coverage::covered);
  CHECK_MESSAGE(set_long_before(0x1d, 2000, {0x31, 0xdb, 0x48, 0x89, 0xdf}) == Coverage::not_covered,
                "xor ebx, ebx");
  test::ByteWriter far;
  for (const unsigned each : {0x48, 0x8d, 0x3d, 0xbf, 0, 0, 0, 0, 0xc0, 0xe8}) far.u8(each);
  far.u32(64 - 14).zeros(64 - 14).u8(0xc3).zeros(256);
  CHECK(judged(ProgramBuilder(launching).code(far.bytes())) == Coverage::covered);
  // lea rdi, […]; push [rsp + 96], behind what looks like test; mov rsi, [rsp + 96]; likewise.
  CHECK(launch_of(branching, {0x31, 0xff, 0x48, 0x8d, 0x3d, 1, 2, 3, 0xf6, 0x04, 0x0e, 0xff, 0x74, 0x02, 0x60,
                              0x90}) == Coverage::covered);
  const auto runtime = ProgramBuilder(launching).symbol("__cudaLaunchKernel", 2, ProgramBuilder::kCodeAt);
  CHECK_MESSAGE(launch_of(runtime, {}, 0xe9) == Coverage::covered,
                "the runtime's own, of what is registered");
  // ld --wrap=cudaLaunchKernel, whose calls go to another.
  const auto wrapped =
      ProgramBuilder(alone).register_all().symbol("__wrap_cudaLaunchKernel", 2, ProgramBuilder::kCodeAt + 64);
  CHECK(launch_of(wrapped, {0x31, 0xff}) == Coverage::not_covered);
  CHECK(launch_of(wrapped, {0x48, 0x8d, 0x3d, 1, 2, 3, 4}) == Coverage::covered);
  // xor edi, edi; mov rax, [rip + 0x784bf], in whose distance an address seems to follow mov edi.
  const std::initializer_list<unsigned> hidden{0x31, 0xff, 0x48, 0x8b, 0x05, 0xbf, 0x84, 0x07, 0x00, 0x90};
  CHECK(launch_of(ProgramBuilder(launching).fixed(), hidden) == Coverage::not_covered);
  // mov edi, the address of a function.
  const std::initializer_list<unsigned> address{0xbf, 0x30, 0, 0, 0x60};
  const auto stub = ProgramBuilder(launching).symbol("stub", 2, ProgramBuilder::kCodeAt + 48);
  CHECK(launch_of(ProgramBuilder(stub).fixed(), address) == Coverage::covered);
  CHECK(launch_of(stub, address) == Coverage::not_covered);
  CHECK_MESSAGE(launch({0x31, 0xff, 0x0f}, 0x84) == Coverage::not_covered, "a jump on a condition");
  CHECK(launch({0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x0f}, 0x84) == Coverage::covered);
  // xor edi, edi; jmp to the call; lea rdi, […]: or over it, to what sets the argument.
  const auto jump = [&](unsigned distance) {
    return launch({0x31, 0xff, 0xeb, distance, 0x90, 0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x6a, 0x00});
  };
  // lea rdi, [rip + …]; lea r9, […], whose distance has what looks like a jump to behind the first.
  CHECK_MESSAGE(
      launch({0x48, 0x8d, 0x3d, 1, 2, 3, 4, 0x4c, 0x8d, 0x0d, 0xe0, 0xeb, 0xff, 0xff}) == Coverage::covered,
      "not from within another instruction");
  CHECK_MESSAGE(jump(10) == Coverage::not_covered, "from where it is null");
  CHECK_MESSAGE(jump(8) == Coverage::not_covered, "behind what sets it");
  CHECK_MESSAGE(jump(1) == Coverage::covered, "to what sets it");
  CHECK_MESSAGE(jump(15) == Coverage::covered, "behind the call");
  CHECK_MESSAGE(launch({0x48, 0x8d}, 0x05) == Coverage::not_covered, "takes its address");
  CHECK_MESSAGE(
      judged(ProgramBuilder(alone).register_all().wants("cudaLaunchKernel")) == Coverage::not_covered,
      "calls it nobody knows where");
  CHECK_MESSAGE(judged(ProgramBuilder(alone).symbol("_Z3oldIfEvPT_", 2, 0x1000)) == Coverage::not_covered,
                "a function that launches it");
  const auto other =
      FatbinBuilder{}.cubin(80, CubinBuilder{}.sm(80).kernel("_Z5otherv", sass::exit()).bytes()).bytes();
  const auto beside = ProgramBuilder{}.whole(only).whole(other).constants(
      test::ByteWriter{}.u8(0).text("_Z5otherv").u8(0).bytes());
  CHECK_MESSAGE(judged(beside) == Coverage::not_covered, "names of another fat binary");
}

TEST_CASE("a kernel that is compiled for 80, 86 and 89 and absent on 86 is missing there") {
  const auto bytes = FatbinBuilder{}
                         .cubin(80, kernel(80).bytes())
                         .cubin(86, CubinBuilder{}.sm(86).bytes())
                         .cubin(89, kernel(89).bytes())
                         .bytes();
  const FileResult result = verify_bytes(bytes, {device("8.6"), device("8.9")});
  CHECK(result.devices[0].coverage == Coverage::not_covered);
  CHECK(result.devices[0].failures[0].code == kSymbolNotFound);
  CHECK(result.devices[1].coverage == Coverage::covered);
}

TEST_CASE("with scope library an image counts for its kernels, not for variables or for being there") {
  const auto kernels_for_86 = FatbinBuilder{}.cubin(86, kernel(86).bytes()).bytes();
  const auto variables_for_80 = FatbinBuilder{}.cubin(80, variable(80).bytes()).bytes();
  CHECK(verify_bytes(join(kernels_for_86, variables_for_80), {device("8.0")}, Scope::library)
            .devices[0]
            .coverage == Coverage::not_covered);
  CHECK(verify_bytes(variables_for_80, {device("8.0")}, Scope::library).devices[0].coverage ==
        Coverage::covered);
  const auto empty_on_80 =
      FatbinBuilder{}.cubin(80, CubinBuilder{}.sm(80).bytes()).cubin(86, kernel(86).bytes()).bytes();
  CHECK(verify_bytes(empty_on_80, {device("8.0")}, Scope::library).devices[0].coverage ==
        Coverage::not_covered);
}

TEST_CASE("variables for every device do not make up for kernels that are for other devices only") {
  const auto bytes = join(FatbinBuilder{}.cubin("90a", kernel(90).marked_a().bytes()).bytes(),
                          FatbinBuilder{}.cubin(80, variable(80).bytes()).bytes());
  CHECK(verify_bytes(bytes, {device("8.0")}).devices[0].coverage == Coverage::not_covered);
}

TEST_CASE("textures ask for an image where there is nothing else, and are not compared beside it") {
  const auto texture = [](CubinBuilder cubin) { return cubin.reference("t", 10).bytes(); };
  const FileResult alone = verify_bytes(FatbinBuilder{}.cubin(80, texture(CubinBuilder{}.sm(80))).bytes(),
                                        {device("8.0"), device("9.0")});
  CHECK(alone.has_code);
  CHECK(alone.devices[0].coverage == Coverage::covered);
  CHECK(alone.devices[1].coverage == Coverage::not_covered);
  const FileResult beside =
      verify_bytes(FatbinBuilder{}.cubin(80, texture(kernel(80))).cubin(86, kernel(86).bytes()).bytes(),
                   {device("8.0"), device("8.6")});
  for (const DeviceResult& each : beside.devices) {
    CHECK(each.coverage == Coverage::covered);
    CHECK(each.variables.total == 0);
  }
}

TEST_CASE("the kernel of Perfworks is for the devices that it supports, where the file has that library") {
  const auto judged = [](std::string_view function, const std::string& kernel) {
    const std::string ptx = ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry " + kernel +
                            "(.param .u64 p)\n{\n ret;\n}\n";
    const auto program = ProgramBuilder{}
                             .constants(test::ByteWriter{}.u8(0).text(ptx).u8(0).bytes())
                             .symbol(function, 2, ProgramBuilder::kCodeAt);
    return verify_bytes(program.bytes(), {device("6.1")});
  };
  const FileResult perfworks = judged("NVPW_InitializeTarget", "WaitNs");
  CHECK(perfworks.devices[0].coverage == Coverage::covered);
  CHECK(perfworks.devices[0].embedded.total == 0);
  CHECK(perfworks.warnings.size() == 1);
  CHECK(judged("NVPW_InitializeTarget", "other").devices[0].embedded.total == 1);
  CHECK(judged("main", "WaitNs").devices[0].coverage == Coverage::not_covered);
}
