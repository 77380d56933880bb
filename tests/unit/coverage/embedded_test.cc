#include "coverage/embedded.h"

#include <doctest/doctest.h>

#include "fatbins.h"

using namespace archguard;
using namespace archguard::test;

namespace {

const std::string kNeeds80 = "it needs SASS of sm_80, or PTX of compute_80 or older; ";
const std::string kACubin = "embed a cubin of sm_80 (nvcc -cubin -arch=sm_80) as well";

FatbinCode bare(Image image) {
  FatbinCode code = fatbin_of({std::move(image)});
  code.fatbin.bare = true;
  return code;
}

FatbinCode relocatable(FatbinCode code) {
  code.fatbin.relocatable = true;
  return code;
}

BareImages held(const std::vector<FatbinCode>& images) {
  BareImages held;
  for (const FatbinCode& code : images) held.add("here", code, false);
  held.finish();
  return held;
}

struct Asked {
  std::string device = "8.0", driver = {};
  JudgePolicy policy = {};
  bool library = false;
};

// "2 of 3", or what is said where none fits.
std::string judged(const std::vector<FatbinCode>& images, const Asked& asked = {}) {
  const Device each = device(asked.device, asked.driver);
  const EmbeddedResult result = judge_embedded(held(images), each, asked.policy, asked.library);
  if (!result.lacking())
    return std::to_string(result.fitting) + " of " + std::to_string(result.total) +
           (result.needs_driver ? ", needs " + to_string(*result.needs_driver) : "");
  CHECK(result.where == "here");
  return std::string(result.undecided() ? "unknown" : std::to_string(result.code)) + ": " + result.found +
         ": " + result.reason + "; " + result.fix;
}

}  // namespace

TEST_CASE("one of the images that fits is enough: the program chooses") {
  CHECK(judged({}) == "0 of 0");
  CHECK(judged({bare(sass("80")), bare(sass("90")), bare(sass("75"))}) == "1 of 3");
  CHECK(judged({bare(sass("90")), bare(ptx("75", "8.0"))}) == "1 of 2, needs 12.0");
  CHECK(judged({bare(sass("80")), bare(ptx("75", "8.0"))}) == "2 of 2");
}

TEST_CASE("functions alone for the device, as tools have them to patch kernels with: it may need no kernel") {
  const auto functions = [](const char* arch) {
    Image image = sass(arch);
    image.code->kernels.clear();
    image.code->functions = true;
    return bare(std::move(image));
  };
  const std::string unknown =
      "unknown: sm_90: " + kNeeds80 +
      "others that the file holds run there and have functions alone, so that it may need no kernel; ";
  CHECK(judged({bare(sass("90")), functions("80")}) == unknown);
  CHECK(judged({bare(sass("90")), functions("90")}).substr(0, 4) == "209:");
  CHECK(judged({bare(sass("90")), relocatable(functions("80"))}).substr(0, 4) == "209:");
  CHECK(judged({functions("90")}) == "0 of 0");
}

TEST_CASE("what makes a driver pass over SASS in fat binaries does not reach a cubin that is held as data") {
  JudgePolicy forced;
  forced.environment.forces_jit = "CUDA_FORCE_PTX_JIT";
  CHECK(judged({bare(sass("80"))}, {"8.6", {}, forced}) == "1 of 1");
}

TEST_CASE("where none fits, all are named, and what comes closest is the cause") {
  const std::string some_ptx = "embed PTX of compute_80 (nvcc -ptx -arch=compute_80) as well";
  CHECK(judged({bare(ptx("90", "9.0")), bare(sass("90a")), bare(sass("90a"))}) ==
        "209: compute_90, sm_90a: " + kNeeds80 + kACubin);
  CHECK(judged({bare(ptx("90", "9.0"))}) == "218: compute_90: " + kNeeds80 + some_ptx);  // texts alone
  CHECK(judged({bare(ptx("90", "9.0"))}, {"8.0", "12.4"}).find("222: compute_90: it needs SASS of sm_80") ==
        0);
  CHECK(judged({bare(ptx("90", "9.0")), bare(sass("90"))}, {"8.0", "12.4"}).find("too, which") ==
        std::string::npos);
  CHECK(judged({bare(ptx("90a", "9.0"))}) ==
        "218: compute_90a: images with an a or f suffix, none for this device; " + some_ptx);
  CHECK(judged({bare(sass("90a"))}) ==
        "209: sm_90a: images with an a or f suffix, none for this device; " + kACubin);
  CHECK(judged({bare(sass("90"))}, {"8.0", {}, {}, true}) ==
        "209: sm_90: " + kNeeds80 + "use a build of this library that holds sm_80");
  JudgePolicy policy;
  policy.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";
  CHECK(judged({bare(ptx("75", "8.0"))}, {"8.0", {}, policy}) ==
        "223: compute_75: only its PTX fits, and CUDA_DISABLE_PTX_JIT keeps the driver from compiling PTX; "
        "unset CUDA_DISABLE_PTX_JIT");
}

TEST_CASE("the fix is nothing that the file has already, and leads to no other error") {
  // What CUDA 13.0 makes needs a driver of CUDA 13.0, a cubin as well.
  CHECK(
      judged({bare(sass("90")), bare(ptx("80", "9.0"))}, {"8.0", "12.4"}) ==
      "222: sm_90, compute_80: its PTX has ISA 9.0; the driver offers CUDA 12.4 and takes PTX up to ISA 8.4; "
      "update the driver to branch 580 (CUDA 13.0) or newer, or build with CUDA 12.9 and embed a cubin of "
      "sm_80 "
      "(nvcc -cubin -arch=sm_80) as well");
  // A cubin is no PTX.
  JudgePolicy policy;
  policy.require_ptx = true;
  CHECK(judged({bare(sass("80"))}, {"8.0", {}, policy}) ==
        "0: sm_80: none of them is plain PTX, which is required; embed PTX of compute_80 (nvcc -ptx "
        "-arch=compute_80) as well");
  CHECK(judged({bare(sass("80")), bare(ptx("75", "8.0"))}, {"8.0", {}, policy}) == "2 of 2");
  // PTX that nobody compiles.
  policy = {};
  policy.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";
  CHECK(judged({bare(ptx("90", "9.0"))}, {"8.0", {}, policy}) ==
        "223: compute_90: it needs SASS of sm_80, or PTX of compute_80 or older; CUDA_DISABLE_PTX_JIT keeps "
        "the "
        "driver from compiling PTX, which comes first; " +
            kACubin);
  // What no toolkit makes.
  CHECK(judged({bare(sass("90"))}, {"1.3", {}, {}, true})
            .find("; no known toolkit helps 1.3: leave this device "
                  "out of the fleet") != std::string::npos);
}

TEST_CASE("an image that nobody understands neither fits nor is ruled out") {
  CHECK(judged({bare(unknown_kind("80")), bare(sass("80"))}) == "1 of 2");
  CHECK(judged({bare(unknown_kind("80")), bare(sass("90"))}) ==
        "unknown: kind 0x55 of 80, sm_90: image of unknown kind 0x55; ");
}

TEST_CASE("LTO-IR is linked when the program runs: unknown, and known as such") {
  const auto ltoir = [] {
    Image image = sass("90");
    image.entry.kind = EntryKind::ltoir;
    image.entry.unknown = image.unknown = "LTO-IR, which the program links when it runs";
    image.code.reset();
    return bare(std::move(image));
  };
  CHECK(judged({ltoir()}) ==
        "unknown: lto_90: LTO-IR, which the program links when it runs; --embedded off, if the program links "
        "it "
        "for the device that it runs on (nvJitLink)");
  CHECK(judged({ltoir(), bare(sass("80"))}) == "1 of 2");
  const Device each = device("8.0");
  CHECK(judge_embedded(held({ltoir()}), each, {}, false).ltoir);
  CHECK_FALSE(judge_embedded(held({ltoir(), bare(sass("90"))}), each, {}, false).ltoir);
}

TEST_CASE("relocatable cubins, PTX for OptiX and images without kernels ask for nothing") {
  Image optix = ptx("90", "9.0");
  optix.entry.optix = true;
  optix.code.reset();
  CHECK(judged({relocatable(bare(sass("90"))), bare(optix), bare(sass("90", {}))}) == "0 of 0");
  CHECK_FALSE(asks_as_embedded(relocatable(bare(sass("90")))));
  CHECK(asks_as_embedded(bare(sass("90"))));
}

TEST_CASE("images that share no kernel are distinct modules: each must run") {
  const Kernels alpha{{"alpha", KernelState::real}}, beta{{"beta", KernelState::real}};
  const std::string other = "; what runs there holds other kernels; ";
  // No image with beta runs there, whatever alpha's do.
  CHECK(judged({bare(sass("80", alpha)), bare(sass("90", beta))}) ==
        "209: sm_90: it needs SASS of sm_80, or PTX of compute_80 or older" + other + kACubin);
  CHECK(judged({bare(sass("80", alpha)), bare(sass("90", beta)), bare(ptx("75", "8.0", beta))}) ==
        "2 of 3, needs 12.0");
  const std::string old =
      judged({bare(ptx("75", "7.8", alpha)), bare(ptx("75", "8.0", beta))}, {"8.0", "11.0"});
  CHECK_MESSAGE(old.find("update the driver to branch 525 (CUDA 12.0) or newer") != std::string::npos, old);
  CHECK(judged({bare(ptx("75", "7.8", alpha)), bare(ptx("75", "8.0", beta)), bare(ptx("75", "8.5", beta))}) ==
        "3 of 3, needs 12.0");
  // What a newer driver mends comes last: the other module fails there, too.
  const Kernels gamma{{"gamma", KernelState::real}};
  CHECK(judged({bare(sass("80", alpha)), bare(ptx("80", "9.0", beta)), bare(sass("90", gamma))},
               {"8.0", "12.4"})
            .substr(0, 10) == "209: sm_90");
  // Others built it: it knows what it needs where.
  CHECK(judged({bare(sass("80", alpha)), bare(sass("90", beta))}, {"8.0", {}, {}, true}) == "1 of 2");
  // An image that nobody understands may hold the kernel.
  const EmbeddedResult open =
      judge_embedded(held({bare(sass("80", alpha)), bare(sass("90", beta)), bare(unknown_kind("80"))}),
                     device("8.0"), {}, false);
  CHECK(open.undecided());
  CHECK(open.in_doubt);
}

TEST_CASE("kernels for some devices only are asked of no other") {
  const auto named = [](const std::string& name) { return Kernels{{name, KernelState::real}}; };
  CHECK(judged({bare(sass("80")), bare(sass("90a", named("wgmma")))}) == "1 of 2");
  CHECK(judged({bare(sass("80")), bare(sass("90", named("fmha_sm90_kernel")))}) == "1 of 2");
  // A cubin that does not tell whether it is one with a suffix.
  Image untold = sass("90", named("beta"));
  untold.entry.or_archs = {*parse_arch("90a")};
  const EmbeddedResult result =
      judge_embedded(held({bare(sass("80")), bare(untold)}), device("8.0"), {}, false);
  CHECK(result.lacking());
  CHECK(result.in_doubt);
  // A name that tells another architecture than the image has is one like any other.
  CHECK(judged({bare(sass("80")), bare(sass("90", named("maxwell_solver")))}).find("209: sm_90: ") == 0);
  CHECK(judged({bare(sass("80")), bare(sass("90", named("gemm_sm80")))}).find("209: sm_90: ") == 0);
  CHECK(judged({bare(sass("80")), bare(sass("70", named("voltage_update")))}).find("209: sm_70: ") == 0);
}

TEST_CASE("kernels for some devices only are asked of those devices") {
  const auto judged_with = [](Image other, const std::string& device) {
    return judged({bare(sass(device.substr(0, 1) + "0")), bare(std::move(other))}, {device, "12.2"})
        .substr(0, 4);
  };
  const auto named = [](const std::string& name) { return Kernels{{name, KernelState::real}}; };
  CHECK(judged_with(ptx("80", "9.0", named("ampere_gemm")), "8.0") == "222:");
  CHECK(judged_with(ptx("80", "9.0", named("sm80_gemm")), "8.6") == "222:");
  CHECK(judged_with(ptx("90a", "9.0", named("fancy")), "9.0") == "222:");
  CHECK(judged_with(ptx("90a", "9.0", named("gemm_sm90a")), "9.0") == "222:");
  CHECK(judged_with(sass("86", named("ampere_gemm")), "8.0") == "209:");
  CHECK(judged_with(sass("86", named("sm86_gemm")), "8.0") == "1 of");
  CHECK(judged_with(ptx("80", "9.0", named("ampere_gemm")), "7.0") == "1 of");
  CHECK(judged_with(ptx("90a", "9.0", named("fancy")), "8.0") == "1 of");
}

TEST_CASE("a kernel that alternatives of its module lack is a matter of doubt, never an error") {
  const Kernels both{{"common", KernelState::real}, {"more", KernelState::real}};
  const Kernels one{{"common", KernelState::real}};
  const EmbeddedResult result =
      judge_embedded(held({bare(sass("80", one)), bare(sass("90", both))}), device("8.0"), {}, false);
  CHECK(result.lacking());
  CHECK(result.in_doubt);
  CHECK(result.without == std::vector<std::string>{"more"});
  CHECK(result.found == "sm_90");
  CHECK_FALSE(judge_embedded(held({bare(sass("80", one)), bare(sass("90", both))}), device("9.0"), {}, false)
                  .lacking());
}
