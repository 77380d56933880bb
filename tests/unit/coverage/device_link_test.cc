#include "coverage/device_link.h"

#include <doctest/doctest.h>
#include <initializer_list>

#include "coverage/verify.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/program_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

using test::Bytes;

Device device(const std::string& capability, const std::string& driver_cuda = {}) {
  Device device;
  device.name = "GPU";
  device.capability = parse_capability(capability);
  if (!driver_cuda.empty()) device.driver_cuda = parse_version(driver_cuda);
  return device;
}

const Bytes kCode = sass::join({sass::store(), sass::exit()});

Bytes cubin(int sm, const std::string& kernel) {
  return CubinBuilder{}.sm(sm).kernel(kernel, kCode).bytes();
}

// What nvcc leaves of one source file.
Bytes object_cubin(int sm, const std::string& kernel, int toolkit = 0) {
  CubinBuilder builder;
  if (toolkit != 0)
    builder.generation7(toolkit);
  else
    builder.toolkit_info("13.0", "-arch sm_" + std::to_string(sm));
  return builder.relocatable().sm(sm).kernel(kernel, kCode).bytes();
}

std::string object_ptx(const std::string& arch, const std::string& kernel, const std::string& isa = "9.0",
                       const std::string& wants = "vprintf") {
  return ".version " + isa + "\n.target sm_" + arch +
         "\n.address_size 64\n.extern .func (.param .b32 func_retval0) " + wants + " ();\n.visible .entry " +
         kernel + "() { call (%r1), " + wants + "; st.global.u32 [%rd1], %r1; ret; }\n";
}

// SASS and PTX of compute capability 8.0.
Bytes object(const std::string& kernel, const std::string& wants = "vprintf") {
  return FatbinBuilder{}
      .cubin(80, object_cubin(80, kernel))
      .ptx("80", "9.0", object_ptx("80", kernel, "9.0", wants))
      .bytes();
}
Bytes object_without_ptx(const std::string& kernel) {
  return FatbinBuilder{}.cubin(80, object_cubin(80, kernel)).bytes();
}
Bytes linked() {
  return FatbinBuilder{}.cubin(80, CubinBuilder{}.kernel("ka", kCode).kernel("kb", kCode).bytes()).bytes();
}
const Bytes kNoImages = FatbinBuilder{}.bytes();

// libcudadevrt's fat binary, without what is for the device.
Bytes runtime(int sm) {
  return FatbinBuilder{}
      .cubin(sm, CubinBuilder{}
                     .relocatable()
                     .sm(sm)
                     .toolkit_info("13.0", "-arch sm_" + std::to_string(sm))
                     .kernel("internal", kCode)
                     .function("cudaGetParameterBuffer", kCode)
                     .function("cudaGetParameterBufferV2", kCode)
                     .bytes())
      .bytes();
}

ProgramBuilder program(const Bytes& a, const Bytes& b, const Bytes& made = linked()) {
  return ProgramBuilder{}.link({"_a", "_b"}, made).object("_a", a).object("_b", b);
}

FileResult result_of(const Bytes& file, const Device& on, const VerifyPolicy& policy = {},
                     const std::vector<ExpectedImage>& expected = {}) {
  const MemorySource source{ByteView(file)};
  Waivers waivers;
  return verify_file(read_device_code(source, "t"), source, "t", {classes_of({on}), expected, policy},
                     waivers);
}

// "covered sass 1", "not covered 209: reason", "… ?: reason" where CUDA does not document the number.
std::string verdict(const Bytes& file, const Device& on, const VerifyPolicy& policy = {}) {
  const FileResult file_result = result_of(file, on, policy);
  for (const Error& error : file_result.errors) FAIL_CHECK(error.text());
  CHECK(file_result.has_code);
  const DeviceResult& result = file_result.devices.at(0);
  std::string text = result.coverage == Coverage::covered       ? "covered"
                     : result.coverage == Coverage::not_covered ? "not covered"
                                                                : "unknown";
  const FatbinCounts& counts = result.fatbins;
  CHECK(counts.total == counts.specific + counts.sass + counts.jit + counts.uncovered + counts.unknown);
  if (counts.sass != 0) text += " sass " + std::to_string(counts.sass);
  if (counts.jit != counts.linked_at_load)
    text += " jit " + std::to_string(counts.jit - counts.linked_at_load);
  if (counts.linked_at_load != 0) text += " linked " + std::to_string(counts.linked_at_load);
  for (const Failure& failure : result.failures)
    text += "; " + (failure.numbered ? std::to_string(failure.code) : "?") + ": " + failure.kernel + ": " +
            failure.reason;
  CHECK(result.kernels.covered <= result.kernels.total);
  return text;
}
std::string verdict(const ProgramBuilder& builder, const Device& on, const VerifyPolicy& policy = {}) {
  return verdict(builder.bytes(), on, policy);
}

VerifyPolicy policy_of(JudgePolicy judge) {
  VerifyPolicy policy;
  policy.judge = std::move(judge);
  return policy;
}

const std::string kAgain =
    "no SASS that the device linker made fits, and to link again when the program is loaded, the driver "
    "needs "
    "code of each object: ";

}  // namespace

TEST_CASE("where no linked SASS fits, the driver links the objects again from their PTX") {
  const ProgramBuilder both = program(object("ka"), object("kb"));
  CHECK(verdict(both, device("8.0")) == "covered sass 1");
  CHECK(verdict(both, device("8.6")) == "covered sass 1");
  for (const char* newer : {"8.7", "8.9", "9.0", "12.1"})
    CHECK(verdict(both, device(newer)) ==
          (std::string(newer) == "8.9" ? "covered sass 1" : "covered linked 1"));
  const std::string needed = "it needs SASS of sm_75 or of an older 7.x, or PTX of compute_75 or older";
  CHECK(verdict(both, device("7.5", "12.4")) == "not covered; 209: ka: " + needed);
  CHECK_MESSAGE(verdict(both, device("7.5")) == "not covered; ?: ka: " + needed +
                                                    "; a driver of CUDA 13.0 answers with error 500, "
                                                    "cudaErrorSymbolNotFound",
                "code of CUDA 13.0 runs on no older one");
  CHECK(result_of(both.bytes(), device("9.0")).devices[0].needs_driver == Version{13, 0});
  CHECK(verdict(both, device("9.0", "13.0")) == "covered linked 1");
  CHECK(verdict(both, device("9.0", "12.9")) ==
        "not covered; ?: ka: " + kAgain +
            "object t(__nv_relfatbin+0x0), '_a', holds sm_80 cubin, PTX compute_80 (ISA 9.0) (and 1 more "
            "like it); its PTX "
            "has ISA 9.0; the driver offers CUDA 12.9 and takes PTX up to ISA 8.8");
  CHECK(verdict(both, device("9.0"), policy_of({true})) ==
        "not covered; 0: ka: only linking it when it is loaded serves, and SASS is required");
  JudgePolicy disabled;
  disabled.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";
  CHECK(verdict(both, device("9.0"), policy_of(disabled)).find("CUDA_DISABLE_PTX_JIT keeps the driver") !=
        std::string::npos);
  JudgePolicy forced;
  forced.environment.forces_jit = "CUDA_FORCE_PTX_JIT";
  CHECK(verdict(both, device("8.0"), policy_of(forced)) == "covered linked 1");
}

TEST_CASE("a file that is a fat binary of functions alone, which want others, is for a linker") {
  const auto file = [](const std::string& code) {
    return FatbinBuilder{}
        .ptx("80", "8.0",
             ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func allocate ();\n.global .b32 v;\n" +
                 code)
        .bytes();
  };
  const Bytes functions = file(".visible .func f() { call allocate; st.global.u32 [v], 1; ret; }\n");
  CHECK(verdict(functions, device("8.6")).substr(0, 7) == "covered");
  CHECK(verdict(functions, device("7.5")).substr(0, 16) == "not covered; 209");
  const Bytes kernel = file(".visible .entry k() { call allocate; st.global.u32 [v], 1; ret; }\n");
  CHECK(verdict(kernel, device("8.6")).substr(0, 16) == "not covered; 218");
}

TEST_CASE("another toolkit builds the whole link: the fix of error 35 names all that it does not make") {
  const auto fix = [](const Bytes& made, const Bytes& part, const char* capability, const char* driver) {
    const Bytes file = program(part, part, made).bytes();
    return result_of(file, device(capability, driver)).devices[0].runtime_fix;
  };
  const auto part = [](bool sass, bool ptx) {
    FatbinBuilder builder;
    builder.cubin(80, object_cubin(80, "ka", 130));
    if (sass) builder.cubin(120, object_cubin(120, "ka", 130));
    if (ptx) builder.ptx("120", "9.0", object_ptx("120", "ka"));
    return builder.zstd().bytes();  // as nvcc of CUDA 13 does by itself
  };
  const auto made = [](bool newer) {
    FatbinBuilder builder;
    builder.cubin(80, CubinBuilder{}.generation7(130).kernel("ka", kCode).bytes());
    if (newer) builder.cubin(120, CubinBuilder{}.sm(120).generation7(130).kernel("ka", kCode).bytes());
    return builder.bytes();
  };
  const std::string build = "build with CUDA 11.8", less = " without 120, which it does not make",
                    out = ", or leave this device out of the fleet";  // it may cost other devices something
  CHECK(fix(made(false), part(false, false), "3.5", "11.8") == build);
  CHECK(fix(made(true), part(true, false), "3.5", "11.8") == build + less + out);
  CHECK(fix(made(false), part(false, true), "3.5", "11.8") == build + less + out);
  // Beside a link that serves the device, too.
  CHECK(fix(made(true), part(true, false), "8.0", "11.8").find(build + less) != std::string::npos);
  CHECK(fix(made(false), part(false, true), "8.0", "11.8").find(build + less) != std::string::npos);
  const auto older =
      result_of(program(part(false, true), part(false, true), made(false)).bytes(), device("3.5"));
  CHECK(older.devices[0].failures.at(0).fix.find(build + less + ", and add 35-real") == 0);
}

TEST_CASE("objects are told by what registers them where their section has another name") {
  ProgramBuilder both = program(object("ka"), object("kb"));
  both.objects_in(".relf");
  CHECK(verdict(both, device("8.0")) == "covered sass 1");
  CHECK(verdict(both, device("9.0")) == "covered linked 1");
  CHECK(verdict(both, device("7.5", "12.4")).find("not covered; 209: ka: ") == 0);
}

TEST_CASE("without a section table nobody knows what is linked again") {
  ProgramBuilder both = program(object("ka", "_Z6helperi"), object_without_ptx("kb"));
  both.without_section_table();
  const std::string untold =
      "; the file has code of -rdc=true and no section table, so that it does not tell what the driver links "
      "again "
      "when it loads the program";
  CHECK(verdict(both, device("8.0")) ==
        "unknown sass 1; 0: ka: its sm_80 image is relocatable: CUDA does not document that a driver loads "
        "one by "
        "itself");
  const std::string newer = verdict(both, device("9.0"));
  CHECK_MESSAGE(
      newer.find("unknown; 0: ka: it needs SASS of sm_90, or PTX of compute_90 or older" + untold) == 0,
      newer);
  CHECK_MESSAGE(newer.find("218") == std::string::npos, newer);
  ProgramBuilder whole = ProgramBuilder{}.whole(linked());
  whole.without_section_table();
  CHECK(verdict(whole, device("8.0")) == "covered sass 1");
  CHECK(verdict(whole, device("9.0")).find("not covered; 209: ") == 0);
}

TEST_CASE("an object that lacks PTX is named, and no number is claimed") {
  const ProgramBuilder lacking = program(object("ka"), object_without_ptx("kb"));
  CHECK(verdict(lacking, device("8.0")) == "covered sass 1");
  const std::string at = "object t(__nv_relfatbin+0x";
  const std::string text = verdict(lacking, device("9.0"));
  CHECK_MESSAGE(text.find("not covered; ?: ka: " + kAgain + at) == 0, text);
  CHECK_MESSAGE(
      text.find("'_b', holds sm_80 cubin, no PTX; it needs SASS of sm_90, or PTX of compute_90 or older") !=
          std::string::npos,
      text);
  CHECK_MESSAGE(verdict(program(object_without_ptx("ka"), object_without_ptx("kb")), device("9.0", "12.4")) ==
                    "not covered; 209: ka: it needs SASS of sm_90, or PTX of compute_90 or older",
                "nothing is special where no object has any");
  CHECK(verdict(program(object_without_ptx("ka"), object_without_ptx("kb")), device("9.0", "13.0")) ==
        "not covered; ?: ka: it needs SASS of sm_90, or PTX of compute_90 or older; a driver of CUDA 13.0 "
        "answers "
        "with error 500, cudaErrorSymbolNotFound");
}

TEST_CASE("an object without kernels is needed by the link all the same") {
  const Bytes helper = FatbinBuilder{}
                           .cubin(80, CubinBuilder{}
                                          .relocatable()
                                          .toolkit_info("13.0", "-arch sm_80")
                                          .function("_Z6helperi", kCode)
                                          .bytes())
                           .bytes();
  const std::string text = verdict(program(object("ka"), helper), device("9.0"));
  CHECK_MESSAGE(text.find("'_b', holds sm_80 cubin without kernels, no PTX;") != std::string::npos, text);
  CHECK(verdict(program(object("ka"),
                        FatbinBuilder{}
                            .ptx("80", "9.0",
                                 ".version 9.0\n.target sm_80\n.visible .func _Z6helperi() { ret; }\n")
                            .bytes()),
                device("9.0")) == "covered linked 1");
}

TEST_CASE("what only an image defines that is not taken is not there when the driver links again") {
  const auto helper = [](bool in_ptx) {
    return FatbinBuilder{}
        .cubin(80, CubinBuilder{}
                       .relocatable()
                       .toolkit_info("13.0", "-arch sm_80")
                       .function("_Z6helperi", kCode)
                       .bytes())
        .ptx("80", "9.0",
             std::string(".version 9.0\n.target sm_80\n.visible .func ") + (in_ptx ? "_Z6helperi" : "other") +
                 "() { ret; }\n")
        .bytes();
  };
  const Bytes calling = object("ka", "_Z6helperi");
  CHECK(verdict(program(calling, helper(true)), device("9.0")) == "covered linked 1");
  const std::string text = verdict(program(calling, helper(false)), device("9.0"));
  CHECK_MESSAGE(text.find("not covered; ?: ka: " + kAgain +
                          "object t(__nv_relfatbin+0x0), '_a', uses "
                          "'_Z6helperi', which no image that fits this device defines") == 0,
                text);
}

TEST_CASE("what no object defines keeps the driver from linking again, where a kernel reaches it") {
  const auto object = [](const std::string& kernel, const std::string& text) {
    return FatbinBuilder{}
        .cubin(80, object_cubin(80, kernel))
        .ptx("80", "8.0", ".version 8.0\n.target sm_80\n.address_size 64\n" + text)
        .bytes();
  };
  const auto two = [&](const std::string& first, const std::string& second = "") {
    return verdict(program(object("ka", first), object("kb", second + ".visible .entry kb() { ret; }\n")),
                   device("9.0"));
  };
  const std::string f = ".extern .func f ();\n", calls = ".visible .entry ka() { call f; ret; }\n";
  const std::string ka = ".visible .entry ka() { ret; }\n";
  const std::string lacks = "not covered; ?: ka: " + kAgain +
                            "object t(__nv_relfatbin+0x0), '_a', uses 'f', which no object of its link "
                            "defines";
  CHECK(two(f + calls) == lacks);
  CHECK(two(f + ka) == "covered linked 1");
  CHECK(two(f + calls, ".visible .func f() { ret; }\n") == "covered linked 1");
  CHECK(two(f + calls, ".func f() { ret; }\n") == lacks);
  const std::string aliased = ".visible .func g() { ret; }\n.visible .func f();\n.alias f, g;\n";
  CHECK(two(f + calls, aliased) == "covered linked 1");
  CHECK(two(f + calls, ".func g() { ret; }\n.visible .func f();\n.alias f, g;\n") == lacks);
  CHECK(two(".weak .func f ();\n" + ka) == lacks);  // declared without `.extern`: called or not
  // Of a function: where a kernel reaches that.
  const std::string through = f + ".visible .func h() { call f; ret; }\n";
  CHECK(two(through + ka) == "covered linked 1");
  CHECK(two(through + ".visible .entry ka() { call h; ret; }\n") == lacks);
  CHECK(two(through + ka, ".extern .func h ();\n.visible .entry kc() { call h; ret; }\n") == lacks);
  CHECK(two(through + ka, ".extern .func h ();\n") == "covered linked 1");
  CHECK(two(f + ".func h() { call f; ret; }\n" + ka) == "covered linked 1");
  // Variables, and functions that are their values.
  CHECK(two(".extern .global .u32 f;\n" + ka) == lacks);
  CHECK(two(f + ".visible .global .u64 p = f;\n" + ka) == lacks);
  CHECK(two(f + ka + ".visible .global .u64 p[2] = {f, 0};\n") == lacks);
  CHECK(two(".extern .shared .b8 f[];\n" + ka) == "covered linked 1");
  CHECK(two(".extern .global .texref f;\n" + ka) == "covered linked 1");
  // libcudadevrt's, which is not in this link.
  const std::string launches =
      two(".extern .func cudaLaunchDeviceV2 ();\n.visible .entry ka() { call cudaLaunchDeviceV2; ret; }\n");
  CHECK_MESSAGE(
      launches.find("uses 'cudaLaunchDeviceV2', which no object of its link defines") != std::string::npos,
      launches);
  // The driver's own.
  CHECK(two(".extern .func vprintf ();\n.visible .entry ka() { call vprintf; ret; }\n") ==
        "covered linked 1");
}

TEST_CASE("LTO-IR is not linked by the driver; PTX beside it is") {
  const auto lto = [](const char* kernel, bool ptx) {
    FatbinBuilder builder = FatbinBuilder{}.ltoir("80");
    if (ptx) builder.ptx("80", "9.0", object_ptx("80", kernel));
    return builder.bytes();
  };
  CHECK(verdict(program(lto("ka", false), lto("kb", false)), device("9.0"))
            .find("not covered; 209: ka: it needs SASS") == 0);
  CHECK(verdict(program(lto("ka", true), lto("kb", true)), device("9.0")) == "covered linked 1");
}

TEST_CASE("relocatable SASS that fits is linked by a driver as new as its toolkit") {
  const auto of_90 = [](const char* kernel) {
    return FatbinBuilder{}.cubin(90, object_cubin(90, kernel, 124)).code_version(1, 7).bytes();
  };
  const Bytes ptx = FatbinBuilder{}.ptx("80", "8.0", object_ptx("80", "ka", "8.0")).bytes();
  CHECK(verdict(program(ptx, of_90("kb")), device("9.0")) == "covered linked 1");
  CHECK(verdict(program(ptx, of_90("kb")), device("9.0", "12.4")) == "covered linked 1");
  const std::string text = verdict(program(ptx, of_90("kb")), device("9.0", "12.2"));
  CHECK_MESSAGE(
      text.find("its sm_90 image was made by CUDA 12.4; a driver links images up to its own CUDA, 12.2") !=
          std::string::npos,
      text);
  CHECK(verdict(program(ptx, of_90("kb")), device("10.0")).find("not covered; ?: ka: ") == 0);
}

TEST_CASE("a link for no architecture holds no image: the objects are all there is") {
  const auto of_ptx = [](const char* kernel) {
    return FatbinBuilder{}.ptx("80", "9.0", object_ptx("80", kernel)).bytes();
  };
  const ProgramBuilder only_ptx = program(of_ptx("ka"), of_ptx("kb"), kNoImages);
  CHECK(verdict(only_ptx, device("8.0")) == "covered linked 1");
  CHECK(verdict(only_ptx, device("12.0")) == "covered linked 1");
  CHECK(verdict(only_ptx, device("7.5")) ==
        "not covered; 209: ka: it needs SASS of sm_75 or of an older 7.x, or PTX of compute_75 or older");
  CHECK(result_of(only_ptx.bytes(), device("8.0")).devices[0].kernels.total == 2);
}

TEST_CASE("the device runtime is needed where an object calls it") {
  const auto with_runtime = [&](const Bytes& a) {
    return ProgramBuilder{}.link({"_a", "_rt"}, linked()).object("_a", a).object("_rt", runtime(75));
  };
  // Left among the objects, without code for the device: nvJitLink refuses them all.
  const std::string left = verdict(with_runtime(object("ka")), device("9.0"));
  CHECK_MESSAGE(
      left.find("nothing calls it, and whether the driver leaves it out is not known") != std::string::npos,
      left);
  CHECK(verdict(with_runtime(object("ka")), device("7.5")) != left);
  const Bytes launches =
      FatbinBuilder{}.ptx("80", "9.0", object_ptx("80", "ka", "9.0", "cudaGetParameterBufferV2")).bytes();
  const std::string text = verdict(with_runtime(launches), device("9.0"));
  CHECK_MESSAGE(text.find("'_rt', holds sm_75 cubin, no PTX;") != std::string::npos, text);
}

TEST_CASE("an object that is not in the file cannot be linked again") {
  const Bytes alone = ProgramBuilder{}.link({"_a"}, linked()).bytes();
  const FileResult result = result_of(alone, device("9.0"));
  REQUIRE(result.devices[0].failures.size() == 1);
  CHECK(result.devices[0].failures[0].code == kNoKernelImage);
  // In an archive it is found in another member.
  const Bytes archive =
      ArchiveBuilder{}.member("link.o", program(object("ka"), object("kb")).bytes()).bytes();
  CHECK(verdict(archive, device("9.0")).find("linked 1") != std::string::npos);
}

TEST_CASE(
    "kernels that the device linker left out, since their object has nothing for that arch, are missing") {
  const Bytes made = FatbinBuilder{}.cubin(90, cubin(90, "ka")).bytes();
  const Bytes of_90 = FatbinBuilder{}.cubin(90, object_cubin(90, "ka")).bytes();
  CHECK(verdict(program(of_90, object_without_ptx("kb"), made), device("9.0")) ==
        "not covered sass 1; 500: kb: the device linker left it out of sm_90: this object holds nothing for "
        "that arch");
  CHECK_MESSAGE(verdict(program(of_90, object("kb"), made), device("9.0")) == "covered sass 1",
                "dropped for another reason: its object has PTX");
}

TEST_CASE("what is asked beyond devices is asked of the objects") {
  const ProgramBuilder both = program(object("ka"), object("kb")),
                       lacking = program(object("ka"), object_without_ptx("kb"));
  JudgePolicy ptx;
  ptx.require_ptx = true;
  CHECK(verdict(both, device("8.0"), policy_of(ptx)) == "covered sass 1");
  CHECK(verdict(both, device("9.0"), policy_of(ptx)) == "covered linked 1");
  CHECK(verdict(lacking, device("8.0"), policy_of(ptx))
            .find("0: ka: it holds no plain PTX, which is required, in t(__nv_relfatbin+0x") !=
        std::string::npos);
  const std::vector<ExpectedImage> expected{{*parse_arch("80"), true}, {*parse_arch("80"), false}};
  const ExpectResult holds = result_of(both.bytes(), device("8.0"), {}, expected).expect;
  CHECK(holds.fatbins == 1);
  CHECK(holds.failures.empty());
  const ExpectResult lacks = result_of(lacking.bytes(), device("8.0"), {}, expected).expect;
  REQUIRE(lacks.failures.size() == 1);
  REQUIRE(lacks.failures[0].absent.size() == 1);
  CHECK(to_string(lacks.failures[0].absent[0]) == "PTX of compute_80");
}

TEST_CASE("what a driver does with PTX of -reloc-ptx is not known") {
  const Bytes made = FatbinBuilder{}
                         .cubin(80, cubin(80, "ka"))
                         .image(0x40, "80", bytes_of_text(object_ptx("80", "ka")))
                         .code_version(9, 0)
                         .bytes();
  CHECK(verdict(program(object_without_ptx("ka"), object_without_ptx("kb"), made), device("8.0")) ==
        "covered sass 1");
  CHECK(verdict(program(object_without_ptx("ka"), object_without_ptx("kb"), made), device("9.0")) ==
        "unknown; 0: ka: what a driver does with PTX of -reloc-ptx is not known");
}

TEST_CASE("two links that cannot be told apart need the objects of both") {
  const auto side_by_side = [&](const Bytes& b) {
    return ProgramBuilder{}
        .object("_a", object("ka"))
        .object("_b", b)
        .link({"_a"}, FatbinBuilder{}.cubin(80, cubin(80, "ka")).bytes())
        .link({"_b"}, FatbinBuilder{}.cubin(80, cubin(80, "kb")).bytes());
  };
  CHECK(verdict(side_by_side(object("kb")), device("9.0")) == "covered linked 2");
  CHECK(verdict(side_by_side(object_without_ptx("kb")), device("9.0")).find("not covered; ?: ka: ") == 0);
}

TEST_CASE(
    "a kernel that no arch of the link has, though its object was there for one, was left out on purpose") {
  const Bytes made = FatbinBuilder{}.cubin(80, cubin(80, "ka")).cubin(90, cubin(90, "ka")).bytes();
  const Bytes a = FatbinBuilder{}.cubin(80, object_cubin(80, "ka")).cubin(90, object_cubin(90, "ka")).bytes();
  const Bytes of_90 = FatbinBuilder{}.cubin(90, object_cubin(90, "kb")).bytes();
  CHECK(verdict(program(a, of_90, made), device("8.0")) == "covered sass 1");
  const Bytes of_86 = FatbinBuilder{}.cubin(86, object_cubin(86, "kb")).bytes();
  CHECK(verdict(program(a, of_86, made), device("8.0"))
            .find("500: kb: the device linker left it out of sm_80") != std::string::npos);
}

TEST_CASE("what host code names and the device linker was given is missing where it was not read") {
  const Bytes made = FatbinBuilder{}.cubin(80, cubin(80, "ka")).bytes();
  const auto named = [&](const std::vector<std::string>& kernels, const Bytes& b) {
    return verdict(ProgramBuilder{}
                       .link({"_a", "_b"}, made)
                       .object("_a", object("ka"))
                       .object("_b", b)
                       .host_names(kernels, {}),
                   device("8.0"));
  };
  constexpr const char* kUsed =
      "--kernels-used and --variables-used of nvlink keep what they name alone, or the device link is older "
      "than the object";
  const std::string unread =
      "not covered sass 1; 500: kb: the device linker left it out of sm_80, though this object holds it for "
      "that arch and host code names it: of an object that `ld -r` joined, nvlink reads the first fat binary "
      "alone, " +
      std::string(kUsed);
  CHECK(named({"ka", "kb"}, object("kb")) == unread);
  CHECK(named({"ka", "k*"}, object("kb")) == unread);
  CHECK(named({"ka", "*b"}, object("kb")) == unread);
  CHECK(named({"ka", "kb*"}, FatbinBuilder{}.ptx("80", "9.0", object_ptx("80", "kb")).bytes()) == unread);
  CHECK_MESSAGE(named({"ka"}, object("kb")) == "covered sass 1", "no host code names it");
  CHECK_MESSAGE(named({"ka", "k*c"}, object("kb")) == "covered sass 1", "another name begins so");
  CHECK_MESSAGE(named({"ka", "k"}, object("kb")) == "covered sass 1", "another name begins so");
}

TEST_CASE(
    "what host code names and an object of the link has is missing where the device linker was told what to "
    "keep") {
  const auto both = [](bool relocatable) {
    CubinBuilder builder;
    if (relocatable) builder.relocatable();
    return builder.sm(80).toolkit_info("13.0", "-arch sm_80").kernel("ka", kCode).kernel("kb", kCode).bytes();
  };
  const auto made_of = [&](const Bytes& linked) {
    return verdict(ProgramBuilder{}
                       .link({"_a"}, FatbinBuilder{}.cubin(80, linked).bytes())
                       .object("_a", FatbinBuilder{}.cubin(80, both(true)).bytes())
                       .host_names({"ka", "kb"}, {}),
                   device("8.0"));
  };
  CHECK(made_of(both(false)) == "covered sass 1");
  CHECK(
      made_of(cubin(80, "ka")) ==
      "not covered sass 1; 500: kb: the device linker left it out of sm_80, though this object holds it for "
      "that arch and host code names it: --kernels-used and --variables-used of nvlink keep what they name "
      "alone, or the device link is older than the object");
}

TEST_CASE("of an object that `ld -r` joined, what stands behind the first fat binary is unknown") {
  const auto joined = [](const char* section, ElfBuilder elf) {
    const Bytes both = ByteWriter{}.append(object("ka")).align(8).append(object("kb")).bytes();
    return verdict(elf.section(section, both).bytes(), device("8.0"));
  };
  const std::string text = joined("__nv_relfatbin", ElfBuilder{}.relocatable());
  CHECK_MESSAGE(
      text.find("unknown sass 1; 0: kb: of the fat binaries of an object, nvlink reads the first") == 0,
      text);
  const std::string whole = joined(".nv_fatbin", ElfBuilder{}.relocatable());
  CHECK_MESSAGE(whole.find("nvlink") == std::string::npos, whole);
}

TEST_CASE("a variable that no host code names may be missing, with a warning") {
  const auto with_variable = [](int sm, bool relocatable) {
    CubinBuilder builder;
    if (relocatable) builder.relocatable();
    return builder.sm(sm)
        .toolkit_info("13.0", "-arch sm_" + std::to_string(sm))
        .kernel("ka", kCode)
        .variable("dv", ".nv.global", 4)
        .bytes();
  };
  const auto result = [&](const char* id, const std::vector<std::string>& named, bool is_program,
                          bool lto = false) {
    const Bytes made = FatbinBuilder{}.cubin(80, cubin(80, "ka")).cubin(90, with_variable(90, false)).bytes();
    FatbinBuilder object =
        FatbinBuilder{}.cubin(80, object_cubin(80, "ka")).cubin(90, with_variable(90, true));
    if (lto) object.ltoir("80");
    ProgramBuilder builder =
        ProgramBuilder{}.link({id}, made).object(id, object.bytes()).host_names({"ka"}, named);
    if (is_program) builder.program();
    const DeviceResult on_80 = result_of(builder.bytes(), device("8.0")).devices.at(0);
    const std::string verdict = on_80.coverage == Coverage::covered ? "covered" : "not covered";
    return verdict + (on_80.variables.missing.empty() ? "" : ", missing " + on_80.variables.missing[0]) +
           (on_80.variables.unnamed.empty() ? "" : ", unnamed " + on_80.variables.unnamed[0]);
  };
  CHECK(result("_a", {}, true) == "covered, unnamed dv");
  for (const char* named : {"dv", "d*", "*v", "*d*v*"})
    CHECK(result("_a", {named}, true) == "not covered, missing dv");
  for (const char* named : {"d", "dv2", "d*2", "k*"})
    CHECK_MESSAGE(result("_a", {named}, true) == "covered, unnamed dv", "another one");
  CHECK_MESSAGE(result("__nv_a", {}, true) == "not covered, missing dv", "clang lists nothing");
  CHECK_MESSAGE(result("_a", {}, false) == "not covered, missing dv", "another file may name a library's");
  CHECK(result("_a", {}, false, true) == "covered, unnamed dv");
}

TEST_CASE("PTX of --relocatable-ptx asks for nothing that the device linker left out of the SASS beside it") {
  constexpr unsigned kRelocatablePtx = 0x40;
  const std::string text = object_ptx("80", "ka") + ".visible .entry kb() { ret; }\n";
  const auto made = [&](const Bytes& sass) {
    return FatbinBuilder{}
        .cubin(80, sass)
        .image(kRelocatablePtx, "80", bytes_of_text(text))
        .code_version(9, 0)
        .bytes();
  };
  const Bytes one = made(cubin(80, "ka"));
  CHECK(verdict(program(object("ka"), object("kb"), one), device("8.0")) == "covered sass 1");
  // An object without code for that arch: the linker could not have it.
  const Bytes newer = FatbinBuilder{}.cubin(90, object_cubin(90, "kb")).bytes();
  CHECK(verdict(program(object("ka"), newer, one), device("8.0")).substr(0, 11) == "not covered");
}

TEST_CASE("no build for the device is advised that nvlink refuses") {
  const auto fix_on = [](const ProgramBuilder& builder, const char* on) {
    return result_of(builder.bytes(), device(on, "13.0")).devices.at(0).fix;
  };
  const auto launches = [](bool sass) {
    const std::string text = object_ptx("80", "ka", "9.0", "cudaGetParameterBufferV2");
    FatbinBuilder object = FatbinBuilder{}.ptx("80", "9.0", text);
    if (sass) object.cubin(80, object_cubin(80, "ka"));
    return object.bytes();
  };
  const auto with_runtime = [&](int sm) {
    const Bytes made = FatbinBuilder{}.cubin(80, cubin(80, "ka")).bytes();
    return ProgramBuilder{}.link({"_a", "_rt"}, made).object("_a", launches(true)).object("_rt", runtime(sm));
  };
  CHECK(
      fix_on(with_runtime(86), "8.7") ==
      "build it with CUDA 13.2 or newer, for sm_87, too: the linkers of older ones refuse its libcudadevrt");
  const auto on_orin = [&](const char* driver) { return verdict(with_runtime(86), device("8.7", driver)); };
  CHECK(on_orin("13.1").substr(0, 11) == "not covered");
  CHECK(on_orin("13.2").substr(0, 7) == "unknown");
  CHECK(on_orin("").substr(0, 7) == "unknown");
  CHECK(fix_on(with_runtime(86), "8.9") == "");
  // Its PTX for 8.0 lacks a function; that for a newer device may have it.
  const auto helper = [](const char* arch, bool in_ptx) {
    return FatbinBuilder{}
        .cubin(90, CubinBuilder{}
                       .relocatable()
                       .sm(90)
                       .toolkit_info("13.0", "-arch sm_90")
                       .function("_Z6helperi", kCode)
                       .bytes())
        .ptx(arch, "9.0",
             std::string(".version 9.0\n.target sm_") + arch + "\n.visible .func " +
                 (in_ptx ? "_Z6helperi" : "other") + "() { ret; }\n")
        .bytes();
  };
  const Bytes made = FatbinBuilder{}.cubin(90, CubinBuilder{}.sm(90).kernel("ka", kCode).bytes()).bytes();
  const Bytes of_ptx = FatbinBuilder{}.ptx("80", "9.0", object_ptx("80", "ka", "9.0", "_Z6helperi")).bytes();
  CHECK(fix_on(program(of_ptx, helper("80", false), made), "8.0") ==
        "define '_Z6helperi' for 8.0, too: its code for that is there and lacks it (#if on __CUDA_ARCH__)");
  CHECK(fix_on(program(of_ptx, helper("80", false), made), "10.0").find("100-real") != std::string::npos);
  CHECK(fix_on(program(of_ptx, helper("80", true), made), "8.0") == "");
}

TEST_CASE("constants of objects that are linked when loaded count together, each name once") {
  const auto object_with = [](const std::string& kernel, const std::string& constant) {
    return FatbinBuilder{}
        .cubin(80, object_cubin(80, kernel))
        .ptx("80", "9.0",
             object_ptx("80", kernel, "9.0", "vprintf") + ".weak .const .b8 " + constant + "[40000];\n")
        .bytes();
  };
  const std::string text =
      verdict(program(object_with("ka", "c"), object_with("kb", "d")), device("9.0", "13.0"));
  CHECK_MESSAGE(
      text.find("constants (__constant__) of all objects have 80000 bytes, and 65536 are the most") !=
          std::string::npos,
      text);
  CHECK(text.substr(0, 7) == "unknown");
  CHECK(verdict(program(object_with("ka", "c"), object_with("kb", "d")), device("8.0")).substr(0, 14) ==
        "covered sass 1");
  CHECK(verdict(program(object_with("ka", "c"), object_with("kb", "c")), device("9.0", "13.0")) ==
        "covered linked 1");
}

TEST_CASE("static shared memory of a kernel and of functions of other objects counts together") {
  const auto shared = [](int bytes) {
    return bytes == 0 ? std::string()
                      : ".shared .b8 s[" + std::to_string(bytes) + "]; st.shared.u32 [s], 1; ";
  };
  const auto of = [](const std::string& kernel, const std::string& ptx, const std::string& arch = "80") {
    return FatbinBuilder{}
        .cubin(80, object_cubin(80, kernel))
        .ptx(arch, "8.0", ".version 8.0\n.target sm_" + arch + "\n.address_size 64\n" + ptx)
        .bytes();
  };
  const auto calling = [&](int bytes, const std::string& arch = "80") {
    return of("ka", ".extern .func f ();\n.visible .entry ka() { " + shared(bytes) + "call f; ret; }\n",
              arch);
  };
  const auto called = [&](int bytes, const std::string& other = "") {
    return of("kb", ".visible .func f() { " + shared(bytes) + "ret; }\n" + other +
                        ".visible .entry kb() { ret; }\n");
  };
  const auto on = [&](const ProgramBuilder& builder, const std::string& cuda) {
    return verdict(builder, device("9.0", cuda));
  };
  CHECK(on(program(calling(30000), called(19000)), "13.0") == "covered linked 1");
  CHECK(on(program(calling(30000), called(0)), "13.0") == "covered linked 1");
  const std::string text = on(program(calling(30000), called(30000)), "13.0");
  CHECK_MESSAGE(text.substr(0, 11) == "not covered", text);
  CHECK_MESSAGE(text.find("the kernel 'ka' has 60000 bytes of static shared memory with functions of other "
                          "objects, and 49152 are the most") != std::string::npos,
                text);
  CHECK(on(program(calling(30000), called(30000)), "12.9").substr(0, 7) == "unknown");
  CHECK(verdict(program(calling(30000), called(30000)), device("9.0")).substr(0, 11) == "not covered");
  CHECK(verdict(program(calling(30000), called(30000)), device("8.0")).substr(0, 14) == "covered sass 1");
  CHECK(on(program(calling(30000, "90a"), called(30000)), "13.0").substr(0, 7) == "unknown");
  // Whoever names no function of the other has none of it.
  const Bytes alone = of("ka", ".visible .entry ka() { " + shared(30000) + "ret; }\n");
  CHECK(on(program(alone, called(30000)), "13.0") == "covered linked 1");
  // A kernel that calls another object may reach all functions of its own.
  const auto back = [&](int bytes) {
    return of("ka", ".extern .func f ();\n.visible .func g() { " + shared(20000) +
                        "ret; }\n.visible .entry ka() { " + shared(bytes) + "call f; ret; }\n");
  };
  CHECK(on(program(back(20000), called(9000)), "13.0") == "covered linked 1");
  CHECK(on(program(back(30000), called(9000)), "13.0").substr(0, 7) == "unknown");
  // But not what other kernels name at module scope.
  const auto beside = [&](const std::string& functions) {
    return of("ka", ".extern .func f ();\n.weak .shared .b8 w[40000];\n" + functions +
                        ".visible .entry kw() { st.shared.u32 [w], 1; ret; }\n.visible .entry ka() { " +
                        shared(20000) + "call f; ret; }\n");
  };
  CHECK(on(program(beside(""), called(9000)), "13.0") == "covered linked 1");
  CHECK(on(program(beside(".visible .func g() { st.shared.u32 [w], 1; ret; }\n"), called(9000)), "13.0")
            .substr(0, 7) == "unknown");
  const Bytes itself = of("ka",
                          ".extern .func f ();\n.weak .shared .b8 w[30000];\n.visible .entry ka() { "
                          "st.shared.u32 [w], 1; call f; ret; }\n");
  CHECK(on(program(itself, called(9000)), "13.0") == "covered linked 1");
  CHECK(on(program(itself, called(30000)), "13.0").substr(0, 7) == "unknown");
  // Functions that are called one after the other may share theirs.
  const Bytes both =
      of("ka", ".extern .func f ();\n.extern .func g ();\n.visible .entry ka() { call f; call g; ret; }\n");
  CHECK(on(program(both, called(30000, ".visible .func g() { " + shared(30000) + "ret; }\n")), "13.0")
            .substr(0, 7) == "unknown");
}

TEST_CASE("two objects define one name for the architecture that is linked when loaded") {
  const auto object_with = [](const std::string& kernel, const std::string& text) {
    return FatbinBuilder{}
        .cubin(80, object_cubin(80, kernel))
        .ptx("80", "8.0", object_ptx("80", kernel, "8.0", "vprintf") + text)
        .bytes();
  };
  const auto both = [&](const std::string& text, const std::string& cuda) {
    return verdict(program(object_with("ka", text), object_with("kb", text)), device("9.0", cuda));
  };
  const std::string function = ".visible .func twice() { ret; }\n";
  const std::string text = both(function, "12.4");
  CHECK_MESSAGE(text.substr(0, 11) == "not covered", text);
  CHECK_MESSAGE(
      text.find("both define 'twice' for this architecture, which drivers before CUDA 12.6 do not link; "
                "this one offers CUDA 12.4") != std::string::npos,
      text);
  CHECK(both(".visible .global .u32 twice;\n", "12.5").substr(0, 11) == "not covered");
  CHECK(both(function, "12.6") == "covered linked 1");
  CHECK(both(".weak .func twice() { ret; }\n", "12.4") == "covered linked 1");
  CHECK(both(".func twice() { ret; }\n", "12.4") == "covered linked 1");
}

TEST_CASE("a link for other devices only has a fix as any fat binary has") {
  const auto of_90a = [](const char* kernel, bool relocatable) {
    CubinBuilder builder;
    builder.sm(90).marked_a().toolkit_info("13.0", "-arch sm_90a").kernel(kernel, kCode);
    if (relocatable) builder.relocatable();
    return FatbinBuilder{}.cubin("90a", builder.bytes()).bytes();
  };
  const ProgramBuilder only =
      ProgramBuilder{}.link({"_a"}, of_90a("ka", false)).object("_a", of_90a("ka", true));
  const FileResult result = result_of(only.bytes(), device("8.0"));
  REQUIRE(result.devices.at(0).failures.size() == 1);
  CHECK(result.devices[0].failures[0].reason ==
        "every fat binary is for other devices only; a driver of CUDA 13.0 answers with error 500, "
        "cudaErrorSymbolNotFound");
  CHECK_FALSE(result.devices[0].failures[0].numbered);
  const Failure older = result_of(only.bytes(), device("8.0", "12.9")).devices.at(0).failures.at(0);
  CHECK(older.reason == "every fat binary is for other devices only");
  CHECK(older.numbered);
  CHECK(result.devices[0].fix.find("80-real") != std::string::npos);
  // Beside what runs it is covered, and said so.
  const ProgramBuilder both =
      ProgramBuilder{}.whole(linked()).link({"_a"}, of_90a("ka", false)).object("_a", of_90a("ka", true));
  const FileResult beside = result_of(both.bytes(), device("8.0"));
  CHECK(beside.devices.at(0).coverage == Coverage::covered);
  REQUIRE(beside.devices[0].for_others);
  CHECK(beside.devices[0].for_others->kernel == "ka");
  CHECK(fix_for_others({&*beside.devices[0].for_others}).find("80-real") != std::string::npos);
}

TEST_CASE("a link for some devices, of objects that are for others as well, is required of each") {
  const auto of_90a = [](bool relocatable) {
    CubinBuilder builder;
    builder.sm(90).marked_a().toolkit_info("13.0", "-arch sm_90a").kernel("ka", kCode);
    if (relocatable) builder.relocatable();
    return builder.bytes();
  };
  const auto with_ptx = [&](const std::string& text) {
    const Bytes object = FatbinBuilder{}.cubin("90a", of_90a(true)).ptx("80", "9.0", text).bytes();
    return ProgramBuilder{}
        .whole(FatbinBuilder{}.cubin(80, cubin(80, "kb")).cubin(90, cubin(90, "kb")).bytes())
        .link({"_a", "_b"}, FatbinBuilder{}.cubin("90a", of_90a(false)).bytes())
        .object("_a", object)
        .object("_b", FatbinBuilder{}.cubin("90a", of_90a(true)).bytes());
  };
  const auto of_kernel = with_ptx(object_ptx("80", "ka"));
  const std::string text = verdict(of_kernel, device("8.0"));
  CHECK_MESSAGE(text.substr(0, 11) == "not covered", text);
  CHECK_MESSAGE(text.find(kAgain) != std::string::npos, text);
  CHECK(verdict(of_kernel, device("9.0")) == "covered sass 2");
  // Functions alone are none that a program launches.
  const auto of_function =
      with_ptx(".version 9.0\n.target sm_80\n.address_size 64\n.visible .func f() { ret; }\n");
  CHECK(verdict(of_function, device("8.0")) == "covered sass 1");
  // So is an image with a suffix that fits the device.
  const Bytes with_120a =
      FatbinBuilder{}.cubin("90a", of_90a(true)).ptx("120a", "9.0", object_ptx("120a", "ka")).bytes();
  const ProgramBuilder fitting = ProgramBuilder{}
                                     .whole(FatbinBuilder{}.cubin(120, cubin(120, "kb")).bytes())
                                     .link({"_a", "_b"}, FatbinBuilder{}.cubin("90a", of_90a(false)).bytes())
                                     .object("_a", with_120a)
                                     .object("_b", FatbinBuilder{}.cubin("90a", of_90a(true)).bytes());
  const std::string of_own = verdict(fitting, device("12.0"));
  CHECK_MESSAGE(of_own.substr(0, 11) == "not covered", of_own);
}

TEST_CASE("libcudadevrt is nobody's to build: its fix is another one, or the programs that take it") {
  const Bytes archive =
      ArchiveBuilder{}
          .member("rt.o", ElfBuilder{}.relocatable().section("__nv_relfatbin", runtime(80)).bytes())
          .bytes();
  const FileResult result = result_of(archive, device("8.7"));
  REQUIRE(result.devices.at(0).failures.size() == 1);
  CHECK(result.devices[0].failures[0].code == 209);
  CHECK(result.devices[0].fix ==
        "verify the programs that are linked with it instead: libcudadevrt is NVIDIA's, and no program takes "
        "it "
        "but one that launches kernels from device code; that needs the libcudadevrt of a toolkit with code "
        "for 8.7");
}

TEST_CASE("what only libcudadevrt holds asks nobody to build a part of the program anew") {
  const Bytes made = FatbinBuilder{}.cubin(80, cubin(80, "ka")).bytes();
  const ProgramBuilder launcher = ProgramBuilder{}
                                      .link({"_a", "_rt"}, made)
                                      .object("_a", object_without_ptx("ka"))
                                      .object("_rt", runtime(90));
  const std::string fix = result_of(launcher.bytes(), device("9.0")).devices.at(0).fix;
  CHECK(fix.find("add 90-real to CMAKE_CUDA_ARCHITECTURES") == 0);
}

TEST_CASE(
    "what is linked of LTO-IR is added where nvcc takes it: in the link step, unless no LTO-IR serves") {
  const Bytes made = FatbinBuilder{}.cubin(86, cubin(86, "ka")).bytes();
  const auto fix_on = [&](const char* capability, const Bytes& first, const Bytes& second) {
    const ProgramBuilder program =
        ProgramBuilder{}.link({"_a", "_b"}, made).object("_a", first).object("_b", second);
    return result_of(program.bytes(), device(capability)).devices.at(0).fix;
  };
  const auto lto = [](const char* arch) { return FatbinBuilder{}.ltoir(arch).bytes(); };
  const auto object_of = [](int sm) { return FatbinBuilder{}.cubin(sm, object_cubin(sm, "kb")).bytes(); };
  const std::string add = "add 90-real to CMAKE_CUDA_ARCHITECTURES (nvcc: ";
  const std::string link = "then link with -dlto, and -gencode=arch=compute_90,code=sm_90 too)";
  const std::string as_before = add + "compile as before, " + link;
  const std::string too = add +
                          "compile with -dc, -gencode=arch=compute_90,code=lto_90 too, and "
                          "code=[lto_<arch>,compute_<arch>] in place of -dlto, " +
                          link;
  CHECK(fix_on("9.0", lto("86"), lto("80")) == as_before);
  CHECK(fix_on("9.0", lto("86"), object_of(90)).find("compile as before, " + link) != std::string::npos);
  CHECK(fix_on("9.0", lto("86"), object_of(80)) == too);
  CHECK(fix_on("9.0", lto("86"), lto("100")) == too);
  CHECK(fix_on("9.0", lto("86"), lto("90a")) == too);
  CHECK(
      fix_on("8.0", lto("86"), lto("80")) ==
      "add 80-real to CMAKE_CUDA_ARCHITECTURES (nvcc: compile with -dc, -gencode=arch=compute_80,code=lto_80 "
      "too, and code=[lto_<arch>,compute_<arch>] in place of -dlto, then link with -dlto, and "
      "-gencode=arch=compute_80,code=sm_80 too)");
  // Of other code nvcc is told as ever.
  CHECK(fix_on("9.0", object_of(86), object_of(80)) ==
        add + "-gencode=arch=compute_90,code=sm_90; TORCH_CUDA_ARCH_LIST: 9.0)");
}
