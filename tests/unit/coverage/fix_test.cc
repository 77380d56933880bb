#include "coverage/fix.h"

#include <doctest/doctest.h>

#include "fatbins.h"

using namespace archguard;
using namespace archguard::test;

namespace {

Image by(const char* toolkit, Image image) {
  image.code->toolkit = parse_version(toolkit);
  return image;
}

// The fix of a fat binary on a device, as a report has it.
std::string fix_of(const FatbinCode& code, const Device& on, const JudgePolicy& policy = {},
                   bool of_others = false) {
  const Fix fix = find_fix({code, on, policy, of_others}, judge(code, on, policy));
  return text_of(fix, on, {}, {of_others ? "" : "foo"});
}

const std::string kAdd = "add ", kTo = " to CUDA_ARCHITECTURES of target 'foo'";

std::vector<ExpectedImage> images(const std::vector<std::pair<const char*, bool>>& all) {
  std::vector<ExpectedImage> made;
  for (const auto& [arch, sass] : all) made.push_back({*parse_arch(arch), sass});
  return made;
}

}  // namespace

TEST_CASE("the fix for a missing kernel has the line that waives it") {
  CHECK(fix_for_missing("kernels", "sm_90", "_Z6secondPfi", {"_Z6secondPfi"}, {9, 0}) ==
        "compile every source file that holds these kernels for sm_90 too, with no #if on __CUDA_ARCH__ that "
        "leaves them out, or waive them: --waivers FILE "
        "with the "
        "line '\"second(float*, int)\",9.0,why it may be absent'");
  CHECK(fix_for_missing("kernels", "sm_90", "_Z6secondv", {"_Z6secondv", "third"}, {9, 0}) ==
        "compile every source file that holds these kernels for sm_90 too, with no #if on __CUDA_ARCH__ that "
        "leaves them out, or waive them: --waivers FILE "
        "with a "
        "line for each, such as 'second(),9.0,why it may be absent'");
  CHECK(fix_for_hollow("sm_80", "third", {"third"}, {8, 6}) ==
        "give these kernels code for sm_80, where an #if on __CUDA_ARCH__ may leave it out, or waive them: "
        "--waivers "
        "FILE with the line 'third,8.6,why it may be absent'");
}

TEST_CASE("CMake takes no entry beside all-major: it is to be spelled out") {
  const Device on = device("8.7");
  const FatbinCode code = fatbin_of({sass("90")});
  CHECK(
      text_of(find_fix({code, on, {}, false}, judge(code, on, {})), on, {},
              {"foo", true, {"bar"}, "all-major", "80-real;90-real"}) ==
      "add 87-real to CUDA_ARCHITECTURES of target 'foo', with all-major spelled out as 80-real;90-real and "
      "of the CUDA library that it links (bar)");
}

TEST_CASE("the fix for images that were asked for and are absent has the entries to add") {
  CHECK(fix_for_absent(images({{"90", true}}), {}, {}) ==
        "add 90-real to CMAKE_CUDA_ARCHITECTURES (nvcc: -gencode=arch=compute_90,code=sm_90; "
        "TORCH_CUDA_ARCH_LIST: 9.0)");
  CHECK(fix_for_absent(images({{"86", true}, {"90a", true}, {"90", true}, {"90", false}}), {}, {}) ==
        "add 86-real, 90a-real and 90 to CMAKE_CUDA_ARCHITECTURES (nvcc: -gencode=arch=compute_86,code=sm_86 "
        "-gencode=arch=compute_90a,code=sm_90a -gencode=arch=compute_90,code=sm_90 "
        "-gencode=arch=compute_90,code=compute_90; TORCH_CUDA_ARCH_LIST: 8.6 9.0a 9.0+PTX)");
  CHECK(fix_for_absent(images({{"90", true}}), "foo", {}) ==
        "remove -arch and -gencode flags that override CUDA_ARCHITECTURES of target 'foo' for this source "
        "file");
}

TEST_CASE("error 209: what the toolkit makes, or a toolkit that makes it and that the driver runs") {
  CHECK(fix_of(fatbin_of({by("12.4", sass("80"))}), device("9.0")) == kAdd + "90-real" + kTo);
  // Not 12.8 and newer: a driver of 12.8 runs no programs of 13.
  CHECK(fix_of(fatbin_of({by("12.6", sass("50"))}), device("12.0", "12.8")) ==
        kAdd + "90-virtual" + kTo + ", or build with CUDA 12.8 or 12.9 and add 120-real");
  CHECK(fix_of(fatbin_of({by("12.6", sass("80"))}), device("12.0")) ==
        kAdd + "90-virtual" + kTo + ", or build with CUDA 12.8 or newer and add 120-real");
  // 121-real is none that 12.8 makes.
  CHECK(fix_of(fatbin_of({by("12.6", sass("80"))}), device("12.1", "13.0")) ==
        kAdd + "90-virtual" + kTo + ", or build with CUDA 12.8 or newer and add 120-real");
  CHECK(fix_of(fatbin_of({by("13.0", sass("80")), by("13.0", sass("110"))}), device("6.1")) ==
        "build with CUDA 12.9 without 110, which it does not make, and add 61-real" + kTo +
            ", or leave this device out of the fleet");
  CHECK(fix_of(fatbin_of({by("13.0", sass("80"))}), device("6.1", "11.4")).find("build with CUDA 11.8 and") ==
        0);
  CHECK(fix_of(fatbin_of({by("12.4", sass("80"))}), device("1.3")) ==
        "no known toolkit helps 1.3: leave this device out of the fleet");
}

TEST_CASE("a variable is unset only where that is enough") {
  JudgePolicy forced;
  forced.environment.forces_jit = "CUDA_FORCE_PTX_JIT";
  CHECK(fix_of(fatbin_of({by("12.4", sass("80"))}), device("8.0"), forced) == "unset CUDA_FORCE_PTX_JIT");
  CHECK(fix_of(fatbin_of({by("12.4", sass("80"))}), device("9.0"), forced) == kAdd + "90-virtual" + kTo);
  JudgePolicy disabled;
  disabled.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";
  CHECK(fix_of(fatbin_of({by("12.4", ptx("80", "8.4"))}), device("8.0"), disabled) ==
        "unset CUDA_DISABLE_PTX_JIT");
  // Without the variable it would be error 222.
  CHECK(fix_of(fatbin_of({by("12.4", ptx("80", "8.4"))}), device("8.0", "12.2"), disabled) ==
        kAdd + "80-real" + kTo);
}

TEST_CASE("error 222 and 35: one toolkit for a device, whoever asks") {
  CHECK(fix_of(fatbin_of({by("12.4", ptx("75", "8.4"))}), device("8.9", "12.2")) ==
        kAdd + "89-real" + kTo + ", or update the driver to branch 550 (CUDA 12.4) or newer");
  const std::string update = "update the driver to branch 580 (CUDA 13.0) or newer, or build with CUDA 12.9";
  CHECK(fix_of(fatbin_of({by("13.0", sass("80"))}), device("8.0", "12.4")) == update);
  CHECK_MESSAGE(fix_of(fatbin_of({by("13.2", ptx("80", "7.8"))}), device("8.0", "11.4"))
                        .find("update the driver to branch 520 (CUDA 11.8) or newer") == 0,
                "by its ISA, whatever compiler wrote it");
  CHECK(fix_of(fatbin_of({by("13.0", ptx("60", "9.0"))}), device("6.1", "12.4"))
            .find("update the driver to branch 580 (CUDA 13.0), the last for this device") !=
        std::string::npos);
  // SASS of CUDA 13 would be error 35; PTX of 12.9, 222.
  CHECK(fix_of(fatbin_of({by("13.0", ptx("80", "9.0"))}), device("8.0", "12.4")) ==
        update + " and add 80-real" + kTo);
  // 580 is the last branch for 6.1.
  CHECK(fix_of(fatbin_of({by("13.1", ptx("50", "9.1"))}), device("6.1", "13.0")).find("update") ==
        std::string::npos);
}

TEST_CASE("error 200: LZ4 where that is enough, another toolkit where its runtime is too new as well") {
  const std::string lz4 = "compile with nvcc's --compress-mode=speed (LZ4)";
  CHECK(fix_of(fatbin_of({zstd(by("12.9", sass("80")))}), device("8.0", "12.2")) ==
        "update the driver to branch 550 (CUDA 12.4) or newer, or " + lz4);
  CHECK(fix_of(fatbin_of({zstd(by("13.0", sass("80")))}), device("8.0", "12.2")) ==
        "update the driver to branch 580 (CUDA 13.0) or newer, or build with CUDA 12.9 and " + lz4);
  CHECK(fix_of(fatbin_of({zstd(by("13.0", sass("80")))}), device("8.0", "11.4")) ==
        "update the driver to branch 580 (CUDA 13.0) or newer, or build with CUDA 11.8 and compile without "
        "nvcc's "
        "--compress-mode");
}

TEST_CASE("another build of a library: any SASS that serves, of a toolkit that the driver runs") {
  CHECK(fix_of(fatbin_of({by("12.8", sass("70"))}), device("6.1", "13.0"), {}, true) ==
        "use a build of this library that holds sm_60 or sm_61, made with CUDA 12.9 or older");
  CHECK(fix_of(fatbin_of({by("12.8", sass("70"))}), device("8.9"), {}, true) ==
        "use a build of this library that holds sm_80, sm_86 or sm_89");
  CHECK(fix_of(fatbin_of({by("12.8", sass("70"))}), device("8.7", "12.6"), {}, true) ==
        "use a build of this library that holds sm_87, made with CUDA 12.9 or older");
}

TEST_CASE("a policy that nothing meets is to be dropped") {
  JudgePolicy sass_alone;
  sass_alone.require_sass = true;
  CHECK(fix_of(fatbin_of({by("13.0", ptx("80", "9.0"))}), device("13.0"), sass_alone) ==
        "do without --require sass, or leave this device out of the fleet");
  JudgePolicy with_ptx;
  with_ptx.require_ptx = true;
  CHECK(fix_of(fatbin_of({by("12.4", sass("80")), by("12.4", sass("90"))}), device("8.0"), with_ptx) ==
        kAdd + "90-virtual" + kTo);
  JudgePolicy driver;
  driver.require_driver = true;
  CHECK(fix_of(fatbin_of({by("12.4", ptx("80", "8.4"))}), device("8.0"), driver) ==
        "name the driver by the CUDA that it offers: --device 8.0@X.Y, or a column driver_version in the "
        "fleet file");
}

TEST_CASE("an image that other containers of the file hold is asked for already") {
  const FatbinCode code = fatbin_of({by("12.4", sass("70"))});
  const Device on = device("8.0");
  const Fix fix = find_fix({code, on, {}}, judge(code, on, {}));
  CHECK(
      text_of(fix, on, {{{80, Suffix::none}, true}}, {"foo"}) ==
      "build the source file or library that this fat binary comes from for 80-real too: other fat binaries "
      "of the file hold it");
}

TEST_CASE("a target that compiles no CUDA has no list to add to") {
  const FatbinCode code = fatbin_of({by("12.4", sass("70"))});
  const Device on = device("8.0");
  const Fix fix = find_fix({code, on, {}}, judge(code, on, {}));
  const std::string text =
      "build the source file or library that this fat binary comes from for 80-real too (nvcc: "
      "-gencode=arch=compute_80,code=sm_80; TORCH_CUDA_ARCH_LIST: 8.0)";
  CHECK(text_of(fix, on, {}, {"foo", false}) == text);
  CHECK(text_of(fix, on, {}, {"", false}) == text);
  CHECK(text_of(fix, on, {{{80, Suffix::none}, true}}, {"foo", false}) ==
        text + ": other fat binaries of the file hold it");
}

TEST_CASE("torch is told what it takes") {
  const auto said = [](const char* toolkit, const char* capability) {
    const FatbinCode code = fatbin_of({by(toolkit, sass("75"))});
    const Device on = device(capability);
    return text_of(find_fix({code, on, {}}, judge(code, on, {})), on, {}, {});
  };
  CHECK(said("13.0", "8.8") ==
        "add 88-real to CMAKE_CUDA_ARCHITECTURES (nvcc: -gencode=arch=compute_88,code=sm_88)");
  CHECK(said("13.4", "10.7") ==
        "add 107-real to CMAKE_CUDA_ARCHITECTURES (nvcc: -gencode=arch=compute_107,code=sm_107; "
        "TORCH_CUDA_ARCH_LIST: 10.3, as torch takes no 10.7)");
}
