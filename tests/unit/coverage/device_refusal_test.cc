#include "coverage/device_refusal.h"

#include <doctest/doctest.h>

#include "coverage/fix.h"
#include "coverage/judge_fatbin.h"
#include "fatbins.h"

using namespace archguard;
using namespace archguard::test;

namespace {

Image synchronizing(const std::string& arch) {
  Image image = ptx(arch, "7.8");
  image.code->names.wanted.emplace_back("cudaDeviceSynchronize");
  image.code->relocatable = true;
  image.code->unresolved = "cudaDeviceSynchronize";
  return image;
}

Image refused(const std::string& arch, const std::string& isa) {
  Image image = ptx(arch, isa);
  image.code->refused = PtxRefusal{"its PTX is no good", "write it anew", {}};
  return image;
}

std::string fix_of(const FatbinCode& code, const Device& on) {
  return text_of(find_fix({code, on, {}}, judge(code, on, {})), on, {}, {});
}

}  // namespace

TEST_CASE("PTX that waits for its own kernels fits no device of 9.0 and newer") {
  const auto object = fatbin_of({sass("80"), synchronizing("80")}, false, true);
  CHECK(judge(object, device("8.0"), {}).verdict == Verdict::sass);
  CHECK(judge(object, device("8.7"), {}).verdict == Verdict::jit);
  const Judgement refused = judge(object, device("9.0"), {});
  CHECK(refused.code == 225);
  CHECK(refused.reason ==
        "its PTX calls cudaDeviceSynchronize on the device, which devices of 9.0 and newer do not have");
  CHECK(judge(object, device("12.0", "13.0"), {}).code == 225);
  CHECK(fix_of(object, device("9.0")) ==
        "leave that call of cudaDeviceSynchronize out for 9.0 and newer (#if __CUDA_ARCH__ < 900), and "
        "compile for compute_90 as well");
  CHECK(judge_part(object, device("9.0", "13.0"), {}).verdict == Verdict::uncovered);
  CHECK(judge_part(object, device("8.7", "13.0"), {}).verdict == Verdict::jit);
  CHECK(judge(fatbin_of({synchronizing("80")}), device("9.0", "13.0"), {}).code == 225);
  CHECK(judge(fatbin_of({synchronizing("80")}), device("8.0", "13.0"), {}).code == 218);
  CHECK_FALSE(judge(fatbin_of({synchronizing("80")}), device("9.0", "12.0"), {}).numbered);
}

TEST_CASE("PTX of 32 bits fits no device of 9.0 and newer, and nobody knows of older ones") {
  Image narrow = ptx("75", "7.0");
  narrow.code->is32 = true;
  const auto code = fatbin_of({sass("80"), narrow});
  CHECK(judge(code, device("8.6", "13.0"), {}).verdict == Verdict::sass);
  CHECK(judge(code, device("9.0", "13.0"), {}).code == 218);
  CHECK(judge(code, device("7.5", "13.0"), {}).verdict == Verdict::unknown);
  CHECK(fix_of(fatbin_of({narrow}), device("9.0", "13.0")) == "compile it for 64 bits (nvcc -m64)");
}

TEST_CASE("no linker takes PTX that has a function of several results") {
  Image several = ptx("75", "7.0");
  several.code->without_abi = true;
  CHECK(judge(fatbin_of({several}), device("9.0", "13.0"), {}).verdict == Verdict::jit);
  const auto object = fatbin_of({several}, false, true);
  CHECK(judge(object, device("9.0"), {}).verdict == Verdict::unknown);
  CHECK(judge_part(object, device("9.0", "13.0"), {}).verdict == Verdict::unknown);
}

TEST_CASE("PTX that every compiler refuses is error 218, where it would be compiled") {
  const auto code = fatbin_of({sass("80"), refused("80", "8.0")});
  CHECK(judge(code, device("8.6", "13.0"), {}).verdict == Verdict::sass);
  CHECK(judge(code, device("9.0", "13.0"), {}).code == 218);
  CHECK(judge(code, device("9.0"), {}).reason == "its PTX is no good");
  CHECK(judge(code, device("9.0", "11.8"), {}).code == 222);
  CHECK(fix_of(code, device("9.0", "13.0")) == "write it anew");
  CHECK(judge(fatbin_of({refused("80", "8.0")}, false, true), device("8.0"), {}).code == 218);
}

TEST_CASE("what compilers take from some release on needs a driver of it") {
  Image image = refused("90a", "8.0");
  image.code->refused->taken_from = Version{13, 0};
  const auto code = fatbin_of({image});
  CHECK(judge(code, device("9.0", "12.9"), {}).code == 218);
  CHECK(judge(code, device("9.0", "13.0"), {}).verdict == Verdict::jit);
  const Judgement untold = judge(code, device("9.0"), {});
  CHECK(untold.verdict == Verdict::jit);
  CHECK(untold.needs_driver == Version{13, 0});
}

TEST_CASE("what the compiler of a driver lets pass is unknown there") {
  Image image = refused("80", "8.0");
  image.code->refused->not_refused = CudaRange{{12, 4}, {12, 8}};
  const auto code = fatbin_of({image});
  CHECK(judge(code, device("8.0", "12.3"), {}).code == 218);
  CHECK(judge(code, device("8.0", "12.8"), {}).code == 218);
  CHECK(judge(code, device("8.0"), {}).code == 218);
  for (const std::string cuda : {"12.4", "12.6", "12.7"}) {
    const Judgement judgement = judge(code, device("8.0", cuda), {});
    CHECK(judgement.verdict == Verdict::unknown);
    CHECK(judgement.reason == "its PTX is no good, but the compiler of this driver, CUDA " + cuda +
                                  ", may let it pass, and what then happens is not known");
  }
}

TEST_CASE("what compilers of some releases let pass is unknown without a driver, and refused by others") {
  Image image = refused("80", "8.0");
  image.code->refused->not_refused = CudaRange{{12, 8}, {13, 1}};
  image.code->refused->in_doubt = true;
  const auto code = fatbin_of({image});
  CHECK(judge(code, device("8.0"), {}).verdict == Verdict::unknown);
  CHECK(judge(code, device("8.0"), {}).reason == "its PTX is no good");
  CHECK(judge(code, device("8.0", "12.9"), {}).verdict == Verdict::unknown);
  CHECK(judge(code, device("8.0", "12.6"), {}).code == 218);
  CHECK(judge(code, device("8.0", "13.1"), {}).code == 218);
  // nvlink is that of a toolkit.
  CHECK(judge(fatbin_of({image}, false, true), device("8.0", "13.1"), {}).verdict == Verdict::unknown);
}

TEST_CASE("LTO-IR is linked for what PTX is compiled for") {
  const auto links = [](const std::string& arch, const std::string& on) {
    return judge(fatbin_of({ltoir(arch)}, false, true), device(on), {}).verdict == Verdict::sass;
  };
  CHECK_FALSE(links("80", "7.5"));
  for (const std::string on : {"8.0", "8.6", "8.7", "9.0", "10.0", "12.1"})
    CHECK_MESSAGE(links("80", on), on);
  CHECK(links("90a", "9.0"));
  CHECK_FALSE(links("90a", "10.0"));
  CHECK(links("100f", "10.3"));
  CHECK_FALSE(links("100f", "11.0"));
  CHECK(judge(fatbin_of({ltoir("80")}, false, true), device("7.5"), {}).reason ==
        "it needs SASS of sm_75 or of an older 7.x, or LTO-IR or PTX of compute_75 or older");
  // The linkers that take it: of CUDA 11 alone, of 12 and newer, of 13 and newer.
  const auto takes = [](std::uint16_t container, const std::string& on) {
    Image image = ltoir("80");
    image.entry.ltoir_version = container;
    return judge(fatbin_of({image}, false, true), device(on), {}).verdict == Verdict::sass;
  };
  CHECK(takes(54, "9.0"));
  CHECK_FALSE(takes(54, "10.0"));
  CHECK_FALSE(takes(54, "12.1"));
  CHECK(takes(57, "10.1"));
  CHECK(takes(64, "12.1"));
  CHECK_FALSE(takes(65, "10.1"));
  CHECK(takes(65, "11.0"));
  CHECK(takes(56, "12.1"));
  Image image = ltoir("80");
  image.entry.ltoir_version = 65;
  CHECK(toolkit_of(image) == Version{13, 0});
}
