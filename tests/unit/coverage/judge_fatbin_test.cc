#include "coverage/judge_fatbin.h"

#include <doctest/doctest.h>

#include "coverage/fix.h"
#include "fatbins.h"

using namespace archguard;
using namespace archguard::test;

namespace {

Judgement judge_on(const Device& on, std::vector<Image> images, const JudgePolicy& policy = {}) {
  return judge(fatbin_of(std::move(images)), on, policy);
}

}  // namespace

TEST_CASE("SASS of the device's own arch covers it, whatever else is there") {
  const Judgement judgement = judge_on(device("8.0"), {sass("75"), sass("80"), ptx("80", "9.0")});
  CHECK(judgement.verdict == Verdict::sass);
  CHECK(judgement.image == 1);
  CHECK(judge_on(device("8.0"), {unknown_kind("80"), sass("80")}).verdict == Verdict::sass);
}

TEST_CASE("SASS serves later minor versions of its major version, and no earlier ones") {
  CHECK(judge_on(device("8.9"), {sass("80")}).verdict == Verdict::sass);
  CHECK(judge_on(device("8.0"), {sass("86")}).code == kNoKernelImage);
  CHECK(judge_on(device("9.0"), {sass("80")}).code == kNoKernelImage);
  CHECK(judge_on(device("8.7"), {sass("80")}).code == kNoKernelImage);  // Jetson Orin
  CHECK(judge_on(device("9.0"), {sass("90a")}).verdict == Verdict::sass);
}

TEST_CASE("the nearest SASS is taken, of one arch `a` before `f` before neither, the first among equals") {
  CHECK(judge_on(device("8.9"), {sass("80"), sass("86"), sass("75")}).image == 1);
  CHECK(judge_on(device("9.0"), {sass("90"), sass("90a")}).image == 1);
  CHECK(judge_on(device("9.0"), {sass("90a"), sass("90")}).image == 0);
  CHECK(judge_on(device("10.0"), {sass("100"), sass("100f"), sass("100a")}).image == 2);
  CHECK(judge_on(device("10.3"), {sass("100"), sass("100f")}).image == 1);
  CHECK(judge_on(device("9.0"), {sass("90"), sass("90")}).image == 0);
}

TEST_CASE("without SASS the nearest PTX is compiled, the first among equals but for the very device") {
  const Judgement judgement =
      judge_on(device("9.0", "13.0"), {sass("80"), ptx("70", "9.0"), ptx("80", "9.0"), ptx("80", "8.0")});
  CHECK(judgement.verdict == Verdict::jit);
  CHECK(judgement.image == 2);
  CHECK(judge_on(device("9.0", "13.0"), {ptx("90", "9.0"), ptx("90", "8.0")}).image == 1);
  CHECK(judge_on(device("9.0", "13.0"), {ptx("90a", "9.0"), ptx("90a", "8.0")}).image == 0);
  CHECK(judge_on(device("9.0", "13.0"), {ptx("90a", "9.0"), ptx("90", "8.0")}).image == 0);
  CHECK(judge_on(device("9.0", "13.0"), {ptx("90", "9.0"), ptx("90a", "8.0")}).image == 1);
}

TEST_CASE("PTX that is newer than the driver's compiler is error 222, and older PTX beside it is no rescue") {
  const Judgement judgement = judge_on(device("9.0", "12.4"), {ptx("70", "8.0"), ptx("90", "9.0")});
  CHECK(judgement.code == kUnsupportedPtxVersion);
  CHECK(judgement.reason == "its PTX has ISA 9.0; the driver offers CUDA 12.4 and takes PTX up to ISA 8.4");
  CHECK(judge_on(device("9.0", "12.4"), {ptx("90", "8.4")}).verdict == Verdict::jit);
}

TEST_CASE("the environment can make the driver pass over SASS, or keep it from compiling PTX") {
  JudgePolicy forced, disabled;
  forced.environment.forces_jit = "CUDA_FORCE_PTX_JIT";
  disabled.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";

  CHECK(judge_on(device("8.0"), {sass("80"), ptx("80", "8.0")}, forced).verdict == Verdict::jit);
  const Judgement no_ptx = judge_on(device("8.0"), {sass("80")}, forced);
  CHECK(no_ptx.code == kNoKernelImage);
  CHECK(no_ptx.reason ==
        "CUDA_FORCE_PTX_JIT makes the driver pass over SASS, so it needs PTX of compute_80 or older");

  CHECK(judge_on(device("9.0"), {sass("90a")}, forced).code == kNoKernelImage);
  CHECK(judge_on(device("8.0"), {sass("90a")}, forced).verdict == Verdict::specific);

  CHECK(judge_on(device("8.0"), {sass("80"), ptx("80", "8.0")}, disabled).verdict == Verdict::sass);
  const Judgement only_ptx = judge_on(device("8.0"), {ptx("80", "8.0")}, disabled);
  CHECK(only_ptx.code == kJitDisabled);
  CHECK(only_ptx.reason == "only its PTX fits, and CUDA_DISABLE_PTX_JIT keeps the driver from compiling PTX");
  CHECK(judge_on(device("9.0"), {sass("80")}, disabled).code == kNoKernelImage);

  // Nor is a cubin passed over that a program hands to the driver by itself.
  FatbinCode alone = fatbin_of({sass("80")});
  alone.fatbin.size = alone.fatbin.entries[0].stored_size = 64;
  CHECK(judge(alone, device("8.0"), forced).verdict == Verdict::sass);
  CHECK(judge(alone, device("9.0"), forced).code == kNoKernelImage);

  // What is still to be linked is nothing that a driver loads.
  CHECK(judge(fatbin_of({sass("80")}, false, true), device("8.0"), forced).verdict == Verdict::sass);
}

TEST_CASE("an old driver does no harm where SASS is taken") {
  CHECK(judge_on(device("8.0", "12.4"), {sass("80"), ptx("80", "9.0")}).verdict == Verdict::sass);
}

TEST_CASE(
    "a driver that is not known: PTX counts, and the lowest driver is told; or it is unknown on request") {
  const Judgement judgement = judge_on(device("9.0"), {ptx("90", "9.0")});
  CHECK(judgement.verdict == Verdict::jit);
  CHECK(judgement.needs_driver == Version{13, 0});
  const Judgement strict = judge_on(device("9.0"), {ptx("90", "9.0")}, {false, false, true});
  CHECK(strict.verdict == Verdict::unknown);
  CHECK(strict.reason == "the driver of this device is not given; it must offer CUDA 13.0 or newer");
}

TEST_CASE("what a driver newer than the table does not offer for certain is unknown, not refused") {
  Device newer = device("9.0", "13.4");
  newer.cuda_at_least = true;
  CHECK(judge_on(newer, {ptx("90", "9.4")}).verdict == Verdict::jit);
  const Judgement open = judge_on(newer, {ptx("90", "9.5")});
  CHECK(open.verdict == Verdict::unknown);
  CHECK(open.reason ==
        "its PTX has ISA 9.5; the driver is newer than any that is known, and offers CUDA 13.4 at least: the "
        "column driver_cuda of the fleet file can tell");
}

TEST_CASE("zstd needs a driver of CUDA 12.4: else error 200") {
  CHECK(judge_on(device("8.0", "12.2"), {zstd(sass("80"))}).code == kInvalidKernelImage);
  CHECK(judge_on(device("8.0", "12.4"), {zstd(sass("80"))}).verdict == Verdict::sass);
  CHECK(judge_on(device("8.0"), {zstd(sass("80"))}).needs_driver == Version{12, 4});
  CHECK(judge_on(device("8.0", "12.2"), {sass("80"), zstd(ptx("80", "8.2"))}).verdict == Verdict::sass);
}

TEST_CASE("what it needs of a driver is what its image needs; the runtime is the file's affair") {
  const auto needs = [](const Device& on, const Image& image) { return judge_on(on, {image}).needs_driver; };
  Image of_13 = sass("80");
  of_13.code->toolkit = Version{13, 0};
  CHECK(needs(device("8.0"), zstd(of_13)) == Version{13, 0});
  CHECK(needs(device("8.0", "12.2"), zstd(of_13)) == Version{13, 0});
  CHECK(needs(device("8.0"), zstd(ptx("80", "8.8"))) == Version{12, 9});
  CHECK(needs(device("8.0", "12.2"), zstd(ptx("80", "8.8"))) == Version{12, 9});
  CHECK(needs(device("8.0"), of_13) == Version{13, 0});
  CHECK(needs(device("8.0", "12.9"), of_13) == Version{13, 0});
  Image of_12 = sass("80");
  of_12.code->toolkit = Version{12, 4};
  CHECK(needs(device("8.0"), of_12) == Version{12, 0});
  of_12.code->toolkit = Version{11, 8};
  CHECK_FALSE(needs(device("8.0"), of_12));  // goes without saying
}

TEST_CASE("SASS of a newer major version of CUDA is error 200 where that was seen, else unknown") {
  const auto of = [](Version toolkit, int abi) {
    Image made = sass("80");
    made.code->toolkit = toolkit;
    made.code->cubin_abi = abi;
    return made;
  };
  const Judgement refused = judge_on(device("8.0", "12.2"), {of({13, 0}, 8)});
  CHECK(refused.verdict == Verdict::uncovered);
  CHECK(refused.code == kInvalidKernelImage);
  CHECK(refused.reason ==
        "its sm_80 image was made by CUDA 13.0, which drivers load from CUDA 13.0 on; this one offers CUDA "
        "12.2");
  CHECK(judge_on(device("8.0", "12.2"), {of({13, 0}, 8), ptx("80", "8.0")}).code == kInvalidKernelImage);
  CHECK(judge_on(device("8.0", "12.9"), {of({13, 0}, 8)}).verdict == Verdict::unknown);
  CHECK(judge_on(device("8.0", "13.0"), {of({13, 5}, 8)}).verdict == Verdict::sass);
  CHECK(judge_on(device("8.0", "11.4"), {of({12, 3}, 7)}).code == kInvalidKernelImage);
  CHECK(judge_on(device("8.0", "12.0"), {of({12, 9}, 7)}).verdict == Verdict::sass);
  JudgePolicy warned;
  warned.newer_sass = true;
  CHECK(judge_on(device("8.0", "12.2"), {of({13, 0}, 8)}, warned).verdict == Verdict::sass);
}

TEST_CASE("more than 4352 bytes of parameters need a driver of CUDA 12.1, or PTX ISA 8.1") {
  Image large = sass("80");
  large.code->toolkit = Version{12, 9};
  large.code->cubin_abi = 7;
  large.code->parameters = 4352;
  CHECK(judge_on(device("8.0", "12.0"), {large}).verdict == Verdict::sass);
  CHECK(judge_on(device("8.0"), {large}).needs_driver == Version{12, 0});
  large.code->parameters = 4356;
  const Judgement open = judge_on(device("8.0", "12.0"), {large});
  CHECK(open.verdict == Verdict::unknown);
  CHECK(open.reason ==
        "a kernel of its sm_80 image takes 4356 bytes of parameters; more than 4352 need a driver of CUDA "
        "12.1 or "
        "newer; this one offers CUDA 12.0");
  CHECK(open.needs_driver == Version{12, 1});
  CHECK(judge_on(device("8.0", "12.1"), {large}).verdict == Verdict::sass);
  CHECK(judge_on(device("8.0"), {large}).needs_driver == Version{12, 1});
  const Judgement older = judge_on(device("8.0", "11.8"), {large});
  CHECK(older.code == kInvalidKernelImage);
  CHECK(older.needs_driver == Version{12, 1});

  const auto compiled = [](const char* target, const char* isa, std::uint64_t bytes) {
    Image image = ptx(target, isa);
    image.code->parameters = bytes;
    return judge_on(device("8.0", "13.0"), {image});
  };
  CHECK(compiled("80", "8.0", 4352).verdict == Verdict::jit);
  CHECK(compiled("80", "8.1", 8008).verdict == Verdict::jit);
  CHECK(compiled("80", "8.1", 32764).verdict == Verdict::jit);
  CHECK(compiled("80", "8.0", 8008).code == kInvalidPtx);
  CHECK(
      compiled("80", "8.0", 8008).reason ==
      "a kernel of its PTX takes 8008 bytes of parameters; more than 4352 need PTX ISA 8.1 and a target from "
      "sm_70 on");
  CHECK(compiled("60", "8.1", 8008).code == kInvalidPtx);
  CHECK(compiled("80", "8.1", 32768).code == kInvalidPtx);
}

TEST_CASE("an image that calls a function of newer drivers needs one of them") {
  Image cubin = sass("80");
  cubin.code->toolkit = Version{12, 4};
  cubin.code->cubin_abi = 7;
  cubin.code->newest_call = DriverFunction{"cudaGraphSetConditional", {12, 3}};
  const Judgement open = judge_on(device("8.0", "12.2"), {cubin});
  CHECK(open.verdict == Verdict::unknown);
  CHECK(
      open.reason ==
      "its sm_80 image calls cudaGraphSetConditional, which drivers bring along from CUDA 12.3 on; this one "
      "offers CUDA 12.2");
  CHECK(open.needs_driver == Version{12, 3});
  CHECK(judge_on(device("8.0", "12.3"), {cubin}).verdict == Verdict::sass);
  CHECK(judge_on(device("8.0"), {cubin}).needs_driver == Version{12, 3});
  cubin.code->parameters = 4356;  // asks for less
  CHECK(judge_on(device("8.0", "12.2"), {cubin}).reason == open.reason);

  Image text = ptx("80", "8.0");
  text.code->newest_call = cubin.code->newest_call;
  const Judgement refused = judge_on(device("9.0", "12.2"), {text});
  CHECK(refused.code == kInvalidPtx);
  CHECK(refused.reason ==
        "its PTX calls cudaGraphSetConditional, which drivers bring along from CUDA 12.3 on");
  CHECK(refused.needs_driver == Version{12, 3});
  CHECK(judge_on(device("9.0", "12.3"), {text}).verdict == Verdict::jit);
  CHECK(judge_on(device("9.0"), {text}).needs_driver == Version{12, 3});
}

TEST_CASE("no fix adds an image that calls what the driver lacks") {
  Image text = ptx("80", "8.0");
  text.code->newest_call = DriverFunction{"cudaGraphSetConditional", {12, 3}};
  const FatbinCode code = fatbin_of({text});
  const Device on = device("9.0", "12.2");
  CHECK(text_of(find_fix({code, on, {}}, judge(code, on, {})), on, {}, {}) ==
        "update the driver to branch 545 (CUDA 12.3) or newer");
  const Device jetson = device("8.7", "12.2");
  CHECK(text_of(find_fix({code, jetson, {}}, judge(code, jetson, {})), jetson, {}, {}).find("JetPack") !=
        std::string::npos);
}

TEST_CASE("where no driver is told, the last of the device decides") {
  CHECK(judge_on(device("6.1"), {ptx("61", "9.0")}).needs_driver == Version{13, 0});
  const Judgement pascal = judge_on(device("6.1"), {ptx("61", "9.2")});
  CHECK(pascal.code == kUnsupportedPtxVersion);
  CHECK(pascal.reason ==
        "its PTX has ISA 9.2; the last driver of 6.1 offers CUDA 13.0 and takes PTX up to ISA 9.0");
  CHECK(judge_on(device("10.1"), {ptx("80", "9.0")}).code == kUnsupportedPtxVersion);
  CHECK(judge_on(device("3.5"), {ptx("35", "7.8")}).code == kUnsupportedPtxVersion);  // 470 offers 11.4
  Image nano = sass("53");
  nano.code->toolkit = Version{12, 9};
  nano.code->cubin_abi = 7;
  CHECK(judge_on(device("5.3"), {nano}).code == kInvalidKernelImage);
  nano.code->toolkit = Version{10, 2};
  CHECK(judge_on(device("5.3"), {nano}).verdict == Verdict::sass);
}

TEST_CASE("what is not understood never covers") {
  CHECK(judge_on(device("8.6"), {sass("80"), unknown_kind("86")}).verdict == Verdict::unknown);
  CHECK(judge_on(device("9.0"), {unknown_kind("90")}).reason == "image of unknown kind 0x55");
  CHECK(judge_on(device("13.1"), {sass("130f")}).verdict == Verdict::unknown);
  CHECK(judge_on(device("10.5"), {ptx("100f", "9.0")}).reason ==
        "whether compute_100f runs on 10.5 is not known");
  CHECK(judge_on(device("10.5"), {sass("103"), ptx("100f", "9.0")}).verdict == Verdict::sass);
  CHECK(judge_on(device("9.0", "99.0"), {ptx("90", "99.0")}).verdict == Verdict::unknown);
}

TEST_CASE("a suffix that the image does not tell matters where the answers differ") {
  const auto judged = [](const std::string& on, std::vector<std::string> others) {
    Image image = sass("100");
    for (const std::string& other : others) image.entry.or_archs.push_back(*parse_arch(other));
    return judge_on(device(on), {image});
  };
  CHECK(judged("10.0", {"100a", "100f"}).verdict == Verdict::sass);
  CHECK(judged("10.3", {"100f"}).verdict == Verdict::sass);
  CHECK(judged("9.0", {"100a", "100f"}).code == kNoKernelImage);
  CHECK(judged("12.0", {"100f"}).code == kNoKernelImage);
  const Judgement differ = judged("10.3", {"100a", "100f"});
  CHECK(differ.verdict == Verdict::unknown);
  CHECK(differ.reason ==
        "it does not tell whether it is sm_100 or sm_100a or sm_100f, and these differ on 10.3");
  Image of_another_header = ptx("90a", "8.3");
  of_another_header.entry.or_archs = {*parse_arch("90")};
  CHECK(judge_on(device("9.0"), {of_another_header}).verdict == Verdict::jit);
  CHECK(judge_on(device("12.0"), {of_another_header}).reason ==
        "its header says 90, the PTX itself sm_90a, and these differ on 12.0");
}

TEST_CASE("a container without kernels asks for nothing") {
  CHECK(judge_on(device("9.0"), {sass("75", {})}).verdict == Verdict::nothing);
  CHECK(judge_on(device("9.0"), {sass("75", {}), ptx("75", "9.0", {})}).verdict == Verdict::nothing);
}

TEST_CASE("the image is chosen by its arch, and what it lacks is missing") {
  const auto lacking = fatbin_of({sass("80"), sass("86", {}), sass("89")});
  const Judgement judgement = judge(lacking, device("8.6"), {});
  CHECK(judgement.verdict == Verdict::sass);
  CHECK(judgement.image == 1);
  CHECK(compare_kernels(lacking, 1).missing == std::vector<std::string>{"k"});

  const Judgement compiled = judge_on(device("12.0"), {ptx("80", "8.0"), ptx("90", "8.0", {}), sass("90")});
  CHECK(compiled.verdict == Verdict::jit);
  CHECK(compiled.image == 1);
  CHECK(judge_on(device("9.0"), {sass("90", {}), sass("80")}).image == 0);
  CHECK(judge_on(device("10.5"), {image(EntryKind::ptx, "100f", {}), sass("90")}).verdict ==
        Verdict::unknown);
  CHECK(judge(fatbin_of({sass("80", {}), sass("90")}, false, true), device("8.0"), {}).image == 0);

  JudgePolicy plain_ptx;
  plain_ptx.require_ptx = true;
  CHECK(judge_on(device("8.0"), {sass("80"), ptx("80", "8.0", {})}, plain_ptx).reason ==
        "it holds no plain PTX, which is required");
}

TEST_CASE("LTO-IR is nothing that a driver loads") {
  CHECK(judge_on(device("8.0"), {ltoir("80")}).code == kNoKernelImage);
  CHECK(judge(fatbin_of({ltoir("80")}, false, true), device("8.0"), {}).verdict == Verdict::sass);
}

TEST_CASE("containers of a and f images only are asked of the devices they fit") {
  CHECK(judge_on(device("9.0"), {sass("90a")}).verdict == Verdict::sass);
  CHECK(judge_on(device("8.0"), {sass("90a"), sass("120a")}).verdict == Verdict::specific);
  CHECK(judge_on(device("8.0"), {sass("90a"), sass("75", {})}).verdict == Verdict::specific);
  CHECK(judge_on(device("8.0"), {sass("90a"), sass("80", {})}).image == 1);  // compiled for it, and lacks it
  CHECK(judge_on(device("8.0"), {sass("90a"), sass("90")}).code == kNoKernelImage);
  CHECK(judge_on(device("10.3"), {sass("100f")}).verdict == Verdict::sass);
}

TEST_CASE("relocatable containers: nothing in a linked file, SASS or PTX before the link") {
  CHECK(judge(fatbin_of({sass("80")}, true, true), device("9.0"), {}).verdict == Verdict::nothing);
  CHECK(judge(fatbin_of({sass("80"), ptx("80", "9.0")}, false, true), device("8.0"), {}).verdict ==
        Verdict::sass);
  CHECK(judge(fatbin_of({sass("80"), ptx("80", "9.0")}, false, true), device("9.0"), {}).verdict ==
        Verdict::jit);
  CHECK(judge(fatbin_of({sass("80")}, false, true), device("9.0"), {}).code == kNoKernelImage);
}

TEST_CASE("an object of functions alone is asked for too, and nvlink needs no driver") {
  const auto judged = [&](std::vector<Image> images, const char* capability) {
    return judge(fatbin_of(std::move(images), false, true), device(capability), {}).verdict;
  };
  CHECK(judged({sass("80"), ptx("80", "9.0")}, "8.0") == Verdict::sass);
  CHECK(judged({sass("80"), ptx("80", "9.0")}, "9.0") == Verdict::jit);
  CHECK(judged({sass("80")}, "9.0") == Verdict::uncovered);
  Image functions = sass("80", {});
  CHECK(judged({functions}, "8.0") == Verdict::nothing);
  functions.code->names.defines = true;
  CHECK(judged({functions}, "8.0") == Verdict::sass);
  CHECK(judged({functions}, "9.0") == Verdict::uncovered);
  Image of_functions = ptx("80", "9.0", {});
  of_functions.code->names.defines = true;
  CHECK(judged({of_functions}, "9.0") == Verdict::jit);
  // nvlink needs no driver: neither for its compression nor for its PTX ISA.
  CHECK(judge(fatbin_of({zstd(sass("80")), zstd(ptx("80", "9.0"))}, false, true), device("9.0", "12.2"), {})
            .verdict == Verdict::jit);
}

TEST_CASE("PTX for linking is nothing that a driver compiles: error 218") {
  Image image = ptx("80", "9.0");
  image.code->relocatable = true;
  image.code->unresolved = "_Z3foof";
  const Judgement alone = judge_on(device("8.0"), {image});
  CHECK(alone.code == kInvalidPtx);
  CHECK(alone.reason == "its PTX is made for linking: '_Z3foof' is declared in it and not defined");
  CHECK(judge_on(device("8.0"), {sass("80"), image}).verdict == Verdict::sass);
  // No second choice.
  CHECK(judge_on(device("8.0"), {ptx("75", "9.0"), image}).code == kInvalidPtx);
  // A call that newer drivers serve does not hide it.
  image.code->newest_call = DriverFunction{"cudaGraphLaunch", {12, 0}};
  CHECK(judge_on(device("8.0", "13.0"), {image}).reason == alone.reason);
}

TEST_CASE("whether a driver compiles PTX that lacks variables alone is not known") {
  Image image = ptx("80", "9.0");
  image.code->relocatable = image.code->lacks_variables_alone = true;
  image.code->unresolved = "g";
  const Judgement judgement = judge_on(device("8.0"), {image});
  CHECK(judgement.verdict == Verdict::unknown);
  CHECK(judgement.reason ==
        "its PTX is made for linking: 'g' is declared in it and not defined; that is a variable, of which "
        "ptxas "
        "only warns, and which nvJitLink refuses");
}

TEST_CASE("the cause names the older SASS that would serve where some of that major version does not") {
  const auto needs = [](const char* on, const char* held) {
    return judge(fatbin_of({sass(held)}), device(on), {}).reason;
  };
  CHECK(needs("8.9", "90") == "it needs SASS of sm_89 or of an older 8.x, or PTX of compute_89 or older");
  for (const char* held : {"87", "88"})
    CHECK(needs("8.9", held) == "it needs SASS of sm_89, sm_86 or sm_80, or PTX of compute_89 or older");
  for (const char* alone : {"8.7", "8.8"}) {
    const std::string own = std::string("8") + alone[2];
    CHECK(needs(alone, "80") == "it needs SASS of sm_" + own + ", or PTX of compute_" + own + " or older");
  }
}

TEST_CASE("PTX by itself is compiled, whatever its target: error 218 where a fat binary is 209") {
  FatbinCode file = fatbin_of({ptx("90", "8.0")});
  CHECK(judge(file, device("8.0"), {}).code == kNoKernelImage);
  file.fatbin.size = file.fatbin.entries[0].stored_size = 100;
  CHECK(judge(file, device("8.0"), {}).code == kInvalidPtx);
  CHECK(judge(file, device("8.0"), {}).reason == "it needs SASS of sm_80, or PTX of compute_80 or older");
  CHECK(judge(file, device("9.0"), {}).verdict == Verdict::jit);
  FatbinCode cubin = fatbin_of({sass("90")});
  cubin.fatbin.size = cubin.fatbin.entries[0].stored_size = 100;
  CHECK(judge(cubin, device("8.0"), {}).code == kNoKernelImage);
  FatbinCode specific = fatbin_of({ptx("90a", "8.0")});
  specific.fatbin.size = specific.fatbin.entries[0].stored_size = 100;
  CHECK(judge(specific, device("10.0"), {}).verdict == Verdict::specific);
  CHECK(judge(specific, device("10.0"), {}).code == kInvalidPtx);
}

TEST_CASE("PTX by itself that fits nothing is error 222 where its ISA is too new for the driver") {
  FatbinCode file = fatbin_of({ptx("90", "8.4")});
  file.fatbin.size = file.fatbin.entries[0].stored_size = 100;
  const Judgement older = as_seen(judge(file, device("8.0", "12.2"), {}));
  CHECK(older.code == kUnsupportedPtxVersion);
  CHECK(older.reason ==
        "it needs SASS of sm_80, or PTX of compute_80 or older; its ISA 8.4 is newer than the "
        "driver's compiler, too, which says so first");
  CHECK_MESSAGE(!older.needs_driver, "a newer one says 218");
  CHECK(as_seen(judge(file, device("8.0", "12.4"), {})).code == kInvalidPtx);
  CHECK(as_seen(judge(file, device("8.0"), {})).code == kInvalidPtx);
  CHECK_MESSAGE(as_seen(judge(file, device("3.5"), {})).code == kUnsupportedPtxVersion, "its last driver");
  CHECK(as_seen(judge(fatbin_of({ptx("90", "8.4")}), device("8.0", "12.2"), {})).code == kNoKernelImage);
  JudgePolicy policy;
  CHECK(judge(file, device("8.0", "12.4"), policy).numbered);
  policy.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";
  for (const char* driver : {"12.2", "12.4"}) {
    const Judgement disabled = as_seen(judge(file, device("8.0", driver), policy));
    CHECK_MESSAGE(disabled.code == kJitDisabled, "nothing is compiled");
    CHECK(disabled.numbered);
    CHECK(disabled.reason ==
          "it needs SASS of sm_80, or PTX of compute_80 or older; CUDA_DISABLE_PTX_JIT keeps the driver from "
          "compiling PTX, which comes first");
  }
  CHECK_FALSE(judge(file, device("8.0", "11.4"), policy).numbered);
}

TEST_CASE("whether anything links PTX for linking that stands among data is not known") {
  Image image = ptx("80", "9.0");
  image.code->relocatable = true;
  image.code->unresolved = "_Z3foof";
  FatbinCode code = fatbin_of({image});
  code.fatbin.in_data = true;
  const Judgement judgement = judge(code, device("8.0"), {});
  CHECK(judgement.verdict == Verdict::unknown);
  CHECK(judgement.reason ==
        "its PTX is made for linking: '_Z3foof' is declared in it and not defined; whether something links "
        "it, at "
        "the latest when the program runs (nvJitLink, cuLinkAddData), the file does not tell");
  CHECK(judge(code, device("7.5"), {}).code == kNoKernelImage);
}

TEST_CASE("whether a driver loads a relocatable cubin by itself is not known") {
  Image image = sass("80");
  image.code->relocatable = true;
  const Judgement alone = judge_on(device("8.6"), {image});
  CHECK(alone.verdict == Verdict::unknown);
  CHECK(alone.reason ==
        "its sm_80 image is relocatable: CUDA does not document that a driver loads one by itself");
  CHECK(judge_on(device("9.0"), {image}).code == kNoKernelImage);
  CHECK_MESSAGE(judge_on(device("8.6"), {image, ptx("80", "9.0")}).verdict == Verdict::unknown,
                "SASS comes first");
  CHECK(judge_on(device("9.0"), {image, ptx("80", "9.0")}).verdict == Verdict::jit);
  CHECK(judge_on(device("8.6"), {image, sass("86")}).verdict == Verdict::sass);
  JudgePolicy forced;
  forced.environment.forces_jit = "CUDA_FORCE_PTX_JIT";
  CHECK(judge_on(device("8.0"), {image, ptx("80", "9.0")}, forced).verdict == Verdict::jit);
  const FatbinCode code = fatbin_of({image});
  const Device on = device("8.6");
  const JudgePolicy policy;
  const Fix fix = find_fix({code, on, policy}, alone);
  REQUIRE(fix.ways.size() == 1);
  CHECK(fix.ways[0].link);
}

TEST_CASE("policies of the caller fail without a CUDA error") {
  const Judgement only_ptx = judge_on(device("9.0"), {ptx("90", "9.0")}, {true, false, false});
  CHECK(only_ptx.verdict == Verdict::uncovered);
  CHECK(only_ptx.code == 0);
  CHECK(judge_on(device("9.0"), {sass("90")}, {false, true, false}).verdict == Verdict::uncovered);
  CHECK(judge_on(device("9.0"), {sass("90"), ptx("90a", "9.0")}, {false, true, false}).verdict ==
        Verdict::uncovered);
  CHECK(judge_on(device("9.0"), {sass("90"), ptx("80", "9.0")}, {false, true, false}).verdict ==
        Verdict::sass);
}

TEST_CASE("kernels that the taken image lacks are missing; those that do nothing there are hollow") {
  const Kernels all{{"a", KernelState::real},
                    {"b", KernelState::real},
                    {"c", KernelState::real},
                    {"d", KernelState::empty}};
  const Kernels some{{"a", KernelState::trap}, {"c", KernelState::real}, {"d", KernelState::empty}};
  const KernelGaps gaps = compare_kernels(fatbin_of({sass("80", all), sass("90", some)}), 1);
  CHECK(gaps.missing == std::vector<std::string>{"b"});
  CHECK(gaps.hollow == std::vector<std::string>{"a"});  // d is empty everywhere: meant so
}

TEST_CASE("messages say what a container holds") {
  Image either = sass("100");
  either.entry.or_archs.push_back(*parse_arch("100f"));
  CHECK(describe_images(fatbin_of({either})) == "sm_100 or sm_100f cubin, no PTX");
  CHECK(describe_images(fatbin_of({sass("80"), sass("90a"), sass("75", {})})) ==
        "sm_80 cubin, sm_90a cubin, sm_75 cubin without kernels, no PTX");
  CHECK(describe_images(fatbin_of({ptx("90", "9.0"), ltoir("80"), unknown_kind("30")})) ==
        "PTX compute_90 (ISA 9.0), LTO-IR lto_80, unknown kind 0x55");
}
