// What holds the two programs together: what `arch_probe select` chooses, `archguard verify` finds to cover
// every device that was not left out. The choice takes the way of a build: its text in CMake's spelling is
// read back, and each element becomes an image of one fat binary as that toolkit would make it.

#include <doctest/doctest.h>
#include <random>

#include "compat/driver.h"
#include "compat/toolkit.h"
#include "coverage/judge_fatbin.h"
#include "select/check_list.h"
#include "select/select.h"
#include "unit/coverage/fatbins.h"

using namespace archguard;

namespace {

constexpr unsigned kSeed = 20251121;
constexpr int kFleetsPerPolicy = 24;
constexpr std::size_t kMostDevices = 6;

struct Case {
  Compiler compiler;
  SelectPolicy policy;
  std::vector<Device> devices;
  Selection selection;
  std::vector<ArchEntry> built;  // the choice as a build reads it
};

class Generator {
 public:
  Case make(const Toolkit& toolkit, SassPolicy sass, PtxPolicy ptx) {
    Case made;
    made.compiler = compiler_of_toolkit(toolkit.version).value();
    made.policy.sass = sass;
    made.policy.ptx = ptx;
    made.policy.suffix = any_of(suffixes_);
    if (ptx == PtxPolicy::given) made.policy.given_ptx = any_of(made.compiler.ptx);
    made.devices.resize(1 + roll(kMostDevices));
    for (Device& device : made.devices) fill(device, toolkit);
    made.selection = select_architectures(made.devices, made.compiler, made.policy);
    if (!made.selection.entries.empty()) made.built = parse_arch_list(format_cmake(made.selection)).value();
    return made;
  }

  // A list that nobody chose with care: any entries that this toolkit makes, with any suffix.
  Case careless(const Toolkit& toolkit) {
    Case made;
    made.compiler = compiler_of_toolkit(toolkit.version).value();
    made.devices.resize(1 + roll(kMostDevices));
    for (Device& device : made.devices) fill(device, toolkit);
    const std::size_t entries = 1 + roll(4);
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t kind = roll(3);
      made.built.push_back({any_of(made.compiler.sass), kind != 0, kind != 1});
    }
    return made;
  }

 private:
  std::size_t roll(std::size_t sides) {
    return std::uniform_int_distribution<std::size_t>(0, sides - 1)(engine_);
  }
  template <class T>
  const T& any_of(const std::vector<T>& all) {
    return all[roll(all.size())];
  }

  // Half of the devices are of this toolkit's own time, so that fleets are not mostly left out.
  void fill(Device& device, const Toolkit& toolkit) {
    device.origin = "generated";
    device.visible = roll(20) != 0;
    if (roll(20) == 0) device.excluded = "display card";
    if (roll(20) != 0) {
      const Toolkit& of_its_time = roll(2) == 0 ? toolkit : any_of(known_toolkits());
      device.capability = roll(8) == 0 ? any_of(beyond_) : capability_of(any_of(of_its_time.archs));
    }
    const std::size_t driver = roll(4);
    if (driver == 0) device.driver_cuda = any_of(known_toolkits()).version;
    if (driver == 1) device.driver_cuda = any_of(odd_drivers_);
  }

  std::mt19937 engine_{kSeed};
  const std::vector<ComputeCapability> beyond_{{1, 3},  {4, 0},  {7, 3},  {8, 1},  {8, 8},  {9, 9},
                                               {10, 5}, {11, 5}, {12, 5}, {13, 0}, {13, 1}, {99, 9}};
  const std::vector<Suffix> suffixes_{Suffix::none, Suffix::none, Suffix::a, Suffix::f};
  const std::vector<Version> odd_drivers_{{7, 5}, {10, 9}, {12, 7}, {14, 0}, {99, 9}};
};

FatbinCode fatbin_of(const std::vector<ArchEntry>& entries, const Compiler& compiler) {
  std::vector<Image> images;
  for (const ArchEntry& entry : entries) {
    const std::string arch = to_string(entry.arch);
    if (entry.real) images.push_back(test::sass(arch));
    if (entry.virtual_) images.push_back(test::ptx(arch, to_string(compiler.ptx_isa)));
  }
  for (Image& image : images) image.code->toolkit = compiler.version;
  return test::fatbin_of(std::move(images));
}

bool covered(const FatbinCode& code, const Device& device) {
  const Verdict verdict = judge(code, device, {}).verdict;
  return verdict == Verdict::sass || verdict == Verdict::jit;
}

std::vector<bool> left_out(const Case& of) {
  std::vector<bool> excluded(of.devices.size(), false);
  for (const std::size_t each : of.selection.excluded) excluded[each] = true;
  return excluded;
}

std::string device_text(const Device& device) {
  return std::string(is_wanted(device) ? "" : "-") +
         (device.capability ? to_string(*device.capability) : std::string("?")) +
         (device.driver_cuda ? "@" + to_string(*device.driver_cuda) : std::string());
}

// "CUDA 12.4, minimal, ptx 90a: 8.0 12.0@12.2 -> 80-real;90a-virtual"
std::string case_text(const Case& of) {
  static const std::vector<std::string> ptx_names{"newest", "oldest", "none", "given "};
  std::string text = "CUDA " + to_string(of.compiler.version) +
                     (of.policy.sass == SassPolicy::exact ? ", exact" : ", minimal") + ", ptx " +
                     ptx_names[static_cast<std::size_t>(of.policy.ptx)];
  if (of.policy.suffix != Suffix::none) text += ", suffix " + suffix_text(of.policy.suffix);
  if (of.policy.ptx == PtxPolicy::given) text += to_string(of.policy.given_ptx);
  text += ":";
  for (const Device& device : of.devices) text += " " + device_text(device);
  return text + " -> " + format_cmake(of.selection);
}

// The device's driver, or the last that it ever gets, need not load SASS of this toolkit.
bool is_too_old_for_programs(const Device& device, Version toolkit) {
  const auto driver = device.driver_cuda ? device.driver_cuda : last_driver_cuda_for(*device.capability);
  return driver && *driver < lowest_driver_cuda_for_toolkit(toolkit);
}

std::string judgement_text(const Judgement& judgement) {
  return "verdict " + std::to_string(static_cast<int>(judgement.verdict)) + ", code " +
         std::to_string(judgement.code) + ": " + judgement.reason;
}

}  // namespace

TEST_CASE("what was selected is judged to cover every device that was not left out, and no other") {
  int sass = 0, jit = 0, out = 0, strict = 0;
  Generator generator;
  const auto check = [&](const Case& generated) {
    INFO(case_text(generated));
    const FatbinCode code = fatbin_of(generated.built, generated.compiler);
    const std::vector<bool> excluded = left_out(generated);
    for (std::size_t i = 0; i < generated.devices.size(); ++i) {
      const Device& device = generated.devices[i];
      if (!device.capability || !is_wanted(device)) {
        CHECK_MESSAGE(excluded[i], device_text(device));
        continue;
      }
      out += excluded[i] ? 1 : 0;
      const Judgement judgement = judge(code, device, {});
      INFO(device_text(device) << ": " << judgement_text(judgement));
      const bool runs = judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit;
      // Selection warns of that.
      if (is_too_old_for_programs(device, generated.compiler.version)) {
        CHECK((!runs || !excluded[i]));
        continue;
      }
      CHECK(runs == !excluded[i]);
      sass += judgement.verdict == Verdict::sass ? 1 : 0;
      jit += judgement.verdict == Verdict::jit ? 1 : 0;
      if (excluded[i] || !device.driver_cuda) continue;
      // Where the driver is given, a verification that requires it has nothing left to ask for.
      CHECK(judge(code, device, {false, false, true}).verdict == judgement.verdict);
      ++strict;
    }
  };
  for (const Toolkit& toolkit : known_toolkits())
    for (const SassPolicy sass_policy : {SassPolicy::exact, SassPolicy::minimal})
      for (const PtxPolicy ptx_policy :
           {PtxPolicy::newest, PtxPolicy::oldest, PtxPolicy::none, PtxPolicy::given})
        for (int i = 0; i < kFleetsPerPolicy; ++i) check(generator.make(toolkit, sass_policy, ptx_policy));
  // The cases reach every outcome often.
  CHECK(sass > 2000);
  CHECK(jit > 1000);
  CHECK(out > 2000);
  CHECK(strict > 2000);
}

TEST_CASE("of a minimal selection without PTX no image can go") {
  int removed = 0;
  Generator generator;
  for (const Toolkit& toolkit : known_toolkits())
    for (int round = 0; round < 6 * kFleetsPerPolicy; ++round) {
      const Case generated = generator.make(toolkit, SassPolicy::minimal, PtxPolicy::none);
      INFO(case_text(generated));
      const std::vector<bool> excluded = left_out(generated);
      for (std::size_t gone = 0; gone < generated.built.size(); ++gone) {
        auto rest = generated.built;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(gone));
        const FatbinCode code = fatbin_of(rest, generated.compiler);
        bool all_covered = true;
        for (std::size_t i = 0; i < generated.devices.size(); ++i)
          if (!excluded[i]) all_covered = all_covered && covered(code, generated.devices[i]);
        CHECK_FALSE_MESSAGE(all_covered, "without " << to_string(generated.built[gone]));
        ++removed;
      }
    }
  CHECK(removed > 2000);
}

// archguard_select_architectures judges a user's list before the build, archguard the images after it.
TEST_CASE("a list is judged as the images that it makes are") {
  int sass = 0, jit = 0, uncovered = 0, unknown = 0, unserved = 0;
  Generator generator;
  for (const Toolkit& toolkit : known_toolkits())
    for (int round = 0; round < 6 * kFleetsPerPolicy; ++round) {
      const Case generated = generator.careless(toolkit);
      const FatbinCode code = fatbin_of(generated.built, generated.compiler);
      const DeviceList devices(generated.devices);
      const auto judgements = judge_list(devices, generated.compiler, generated.built);
      for (std::size_t i = 0; i < devices.size(); ++i) {
        const Device& device = generated.devices[i];
        if (!is_wanted(device)) continue;
        const ListJudgement& judged = judgements[devices.kind_number(i)];
        if (!device.capability) {
          CHECK(judged.verdict == ListVerdict::unknown);
          continue;
        }
        const Fit known =
            device.driver_cuda ? driver_knows(*device.capability, *device.driver_cuda) : Fit::yes;
        if (known != Fit::yes) {  // as verify says of the device, whatever the images are
          CHECK(judged.verdict == (known == Fit::no ? ListVerdict::uncovered : ListVerdict::unknown));
          CHECK(judged.code == (known == Fit::no ? kNoDevice : 0));
          ++unserved;
          continue;
        }
        if (is_too_old_for_programs(device, generated.compiler.version)) continue;
        const Judgement judgement = judge(code, device, {});
        std::string list;
        for (const ArchEntry& entry : generated.built) list += to_string(entry) + " ";
        INFO("CUDA " << to_string(toolkit.version) << ", " << list << "on " << device_text(device) << ": "
                     << to_string(judged.verdict) << " " << judged.code << ", " << judgement_text(judgement));
        switch (judgement.verdict) {
          case Verdict::sass:
            CHECK(judged.verdict == ListVerdict::sass);
            ++sass;
            break;
          case Verdict::jit:
            CHECK(judged.verdict == ListVerdict::jit);
            ++jit;
            break;
          case Verdict::unknown:
            CHECK(judged.verdict == ListVerdict::unknown);
            ++unknown;
            break;
          case Verdict::uncovered:
          case Verdict::specific:  // of a file with that fat binary alone, error 209
            CHECK(judged.verdict == ListVerdict::uncovered);
            CHECK(judged.code == (judgement.code != 0 ? judgement.code : kNoKernelImage));
            ++uncovered;
            break;
          case Verdict::nothing:
            FAIL("a container with kernels asks for something");
        }
      }
    }
  CHECK(sass > 800);
  CHECK(jit > 1000);
  CHECK(uncovered > 1000);
  CHECK(unknown > 5);
  CHECK(unserved > 1000);
}
