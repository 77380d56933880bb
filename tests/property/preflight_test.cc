// The preflight's rules are those of src/compat, and its verdicts those of src/coverage: over every arch,
// device and driver, and over generated fat binaries, whose bytes the one reads and whose description the
// other gets.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <random>
#include <stdarg.h>
#include <stddef.h>
#include <stdexcept>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/judge_fatbin.h"
#include "support/builders/fatbin_builder.h"

// Its functions are static, so the test is one source with it.
namespace preflight {
#include "archguard_preflight.c"  // NOLINT
}

extern "C" void** __real___cudaRegisterFatBinary(void*) {
  return nullptr;
}

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr unsigned kSeed = 20261123;
constexpr int kCases = 40000;

preflight::fit same_fit(Fit fit) {
  return fit == Fit::yes ? preflight::FIT_YES : fit == Fit::no ? preflight::FIT_NO : preflight::FIT_UNKNOWN;
}

preflight::capability same_device(ComputeCapability device) {
  return {device.major, device.minor};
}

char letter(Suffix suffix) {
  return suffix == Suffix::a ? 'a' : suffix == Suffix::f ? 'f' : '\0';
}

int number(Version version) {
  return VERSION(version.major, version.minor);
}

template <class Visit>
void each_version(Visit visit) {
  for (int major = 1; major <= 99; ++major)
    for (int minor = 0; minor <= 9; ++minor) visit(Version{major, minor});
}

std::vector<ComputeCapability> devices() {
  std::vector<ComputeCapability> all = known_devices();
  for (const ComputeCapability beyond :
       {ComputeCapability{1, 3}, ComputeCapability{9, 1}, ComputeCapability{10, 9}, ComputeCapability{12, 5},
        ComputeCapability{13, 0}})
    all.push_back(beyond);
  return all;
}

}  // namespace

TEST_CASE("every arch on every device") {
  std::uint64_t differ = 0;
  each_version([&](Version version) {
    const ComputeCapability device{version.major, version.minor};
    for (int arch = 10; arch <= 999; ++arch)
      for (const Suffix suffix : {Suffix::none, Suffix::a, Suffix::f}) {
        differ += preflight::sass_fits(arch, letter(suffix), same_device(device)) !=
                  same_fit(sass_fits({arch, suffix}, device));
        differ += preflight::ptx_fits(arch, letter(suffix), same_device(device)) !=
                  same_fit(ptx_fits({arch, suffix}, device));
      }
  });
  CHECK(differ == 0);
}

TEST_CASE("every PTX ISA, and every toolkit's program, with every driver") {
  std::uint64_t differ = 0;
  each_version([&](Version driver) {
    differ += preflight::lowest_driver_for_toolkit(number(driver)) !=
              number(lowest_driver_cuda_for_toolkit(driver));
    differ += (number(driver) >= FIRST_ZSTD_DRIVER) != driver_takes_zstd(driver);
    each_version([&](Version isa) {
      differ +=
          preflight::driver_takes_ptx(number(isa), number(driver)) != same_fit(driver_takes_ptx(isa, driver));
    });
  });
  CHECK(differ == 0);
}

TEST_CASE("the last driver of every known device") {
  for (const ComputeCapability device : known_devices()) {
    const auto last = last_driver_cuda_for(device);
    CHECK(preflight::last_driver_for(same_device(device)) == (last ? number(*last) : 0));
  }
}

namespace {

// A fat binary as its bytes, and as what src/coverage reads of them.
struct Case {
  Bytes bytes;
  FatbinCode code;
};

constexpr const char* kKernel = "k";

// The ELF header that tells its toolkit: ABI 7 alone does.
Bytes cubin_header(Version toolkit) {
  Bytes header(128, 0);
  const std::string magic = "\177ELF";
  for (std::size_t i = 0; i < magic.size(); ++i) header[i] = static_cast<std::uint8_t>(magic[i]);
  header[7] = 0x33;
  header[20] = static_cast<std::uint8_t>(toolkit.major * 10 + toolkit.minor);
  return header;
}

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  template <class T>
  T one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

  Case make(bool relocatable) {
    Case made;
    FatbinBuilder builder;
    for (int i = below(5); i >= 0; --i) add(builder, made.code, relocatable);
    made.bytes = builder.bytes();
    made.code.fatbin.relocatable = relocatable;
    made.code.kernels.push_back({kKernel, true});
    return made;
  }

 private:
  void add(FatbinBuilder& builder, FatbinCode& code, bool relocatable) {
    Image image;
    image.entry.arch = one_of(known_toolkits()[static_cast<std::size_t>(below(24))].archs);
    const std::string arch = to_string(image.entry.arch);
    const Version isa = below(12) == 0 ? Version{9, 9} : one_of(known_toolkits()).ptx_isa;
    const Version toolkit{11 + below(2), below(9)};
    const int kind = below(12);
    const bool cubin = kind < 7, ltoir = kind == 7, reloc_ptx = kind == 8;
    const bool zstd = below(4) == 0, new_abi = below(2) == 0;
    if (cubin)
      builder.cubin(arch, cubin_header(toolkit)).code_version(1, new_abi ? 8 : 7);
    else if (ltoir)
      builder.ltoir(arch);
    else if (reloc_ptx)
      builder.image(0x40, arch, Bytes(64, 1)).code_version(unsigned(isa.major), unsigned(isa.minor));
    else
      builder.ptx(arch, to_string(isa), ".version");
    if (zstd) builder.zstd();
    image.entry.kind = cubin       ? EntryKind::sass
                       : ltoir     ? EntryKind::ltoir
                       : reloc_ptx ? EntryKind::reloc_ptx
                                   : EntryKind::ptx;
    image.entry.compression = zstd ? Compression::zstd : Compression::none;
    if (!cubin && !ltoir) image.entry.ptx_isa = isa;
    if (!ltoir) {
      image.code.emplace();
      image.code->kernels.push_back({kKernel, KernelState::real});
      image.code->relocatable = relocatable && cubin;
      image.code->cubin_abi = cubin ? new_abi ? 8 : 7 : 0;
      if (cubin && relocatable && !zstd) image.code->toolkit = toolkit;
    }
    code.images.push_back(std::move(image));
  }

  std::mt19937 random_;
};

// What src/coverage says, in the preflight's words. The preflight reads headers alone: of a relocatable cubin
// that does not tell its toolkit there it says that nobody knows.
struct Answer {
  int answer, code;
};

Answer answer_of(const Judgement& judgement) {
  switch (judgement.verdict) {
    case Verdict::sass:
      return {preflight::ARCHGUARD_PREFLIGHT_SASS, 0};
    case Verdict::jit:
      return {preflight::ARCHGUARD_PREFLIGHT_PTX, 0};
    case Verdict::uncovered:
      return {preflight::ARCHGUARD_PREFLIGHT_FAILS, judgement.code};
    case Verdict::unknown:
      return {preflight::ARCHGUARD_PREFLIGHT_UNKNOWN, 0};
    case Verdict::specific:
      return {preflight::ARCHGUARD_PREFLIGHT_NOTHING, 209};
    case Verdict::nothing:
      break;
  }
  return {preflight::ARCHGUARD_PREFLIGHT_NOTHING, 0};
}

}  // namespace

TEST_CASE("generated fat binaries on every device and driver") {
  Maker maker(kSeed);
  const auto all = devices();
  int answers[5] = {}, differ = 0;
  for (int i = 0; i < kCases && differ < 5; ++i) {
    const bool relink = maker.below(4) == 0;
    const Case made = maker.make(relink);
    Device device;
    device.capability = maker.one_of(all);
    device.driver_cuda = Version{8 + maker.below(7), maker.below(10)};
    JudgePolicy policy;
    if (maker.below(10) == 0) policy.environment.forces_jit = "CUDA_FORCE_PTX_JIT";
    if (maker.below(10) == 0) policy.environment.disables_jit = "CUDA_DISABLE_PTX_JIT";
    const Judgement judgement =
        relink ? judge_part(made.code, device, policy.environment) : judge(made.code, device, policy);
    Answer expected = answer_of(judgement);
    if (relink && expected.answer == preflight::ARCHGUARD_PREFLIGHT_SASS)
      expected.answer = preflight::ARCHGUARD_PREFLIGHT_PTX;
    if (relink && expected.code == 209) expected.code = 0;  // which error it is, nobody documents

    const preflight::place place = {same_device(*device.capability), number(*device.driver_cuda),
                                    !policy.environment.forces_jit.empty(),
                                    !policy.environment.disables_jit.empty(), 0};
    preflight::span entries;
    REQUIRE(preflight::open_fatbin({made.bytes.data(), made.bytes.data() + made.bytes.size()}, &entries) ==
            nullptr);
    REQUIRE(preflight::check_entries(entries) == nullptr);
    const preflight::verdict found = preflight::judge(entries, &place, relink);
    ++answers[found.answer];
    const bool same = found.answer == expected.answer && found.code == expected.code;
    differ += !same;
    if (!same) {
      const std::string text = describe_images(made.code) + " on " + to_string(*device.capability) +
                               ", driver " + to_string(*device.driver_cuda) +
                               (relink ? ", linked again" : "") + policy.environment.forces_jit +
                               policy.environment.disables_jit;
      INFO(text);
      INFO(judgement.reason);
      CHECK(found.answer == expected.answer);
      CHECK(found.code == expected.code);
    }
  }
  for (const int count : answers) CHECK(count > kCases / 400);
}
