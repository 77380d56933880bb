// Over generated releases: diff never says less than verify does of both, nothing is lost from a release to
// itself, and a baseline answers as the files did.
#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <string>

#include "base/json.h"
#include "diff/baseline.h"
#include "diff/difference.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr unsigned kSeed = 20261122;
constexpr int kCases = 1500;

struct Devices {
  Devices() {
    DeviceList devices;
    for (const ComputeCapability capability : {ComputeCapability{7, 5}, {8, 0}, {9, 0}, {12, 0}}) {
      Device device;
      device.origin = "generated";
      device.capability = capability;
      devices.push_back(device);
    }
    request.classes = classes_of(devices);
  }
  VerifyRequest request;
};

class Generator {
 public:
  std::size_t roll(std::size_t sides) {
    return std::uniform_int_distribution<std::size_t>(0, sides - 1)(engine_);
  }

  DiffSide release(const VerifyRequest& request, const std::string& version) {
    DiffSide side;
    side.name = version;
    side.archguard = "1";
    side.scope = "fatbin";
    side.embedded = "warn";
    for (const DeviceClass& each : request.classes) side.devices.push_back(diff_device(each));
    for (std::size_t files = 1 + roll(3); files != 0; --files)
      side.files.push_back(judged(request, "lib" + std::to_string(files) + ".so." + version));
    return side;
  }

 private:
  DiffFile judged(const VerifyRequest& request, const std::string& path) {
    const Bytes bytes = library();
    const MemorySource source(bytes);
    const DeviceCode code = read_device_code(source, path);
    FileContents contents(request.classes, request.policy);
    const auto add = [&](const DeviceObject& object, const FatbinCode& fatbin) {
      contents.add(object, fatbin);
    };
    Waivers waivers;
    return diff_file(verify_file(code, source, path, request, waivers, {}, add), contents, path);
  }

  Bytes library() {
    Bytes section;
    for (std::size_t fatbins = 1 + roll(2); fatbins != 0; --fatbins) {
      FatbinBuilder builder;
      for (std::size_t images = 1 + roll(3); images != 0; --images) add_image(builder);
      const Bytes bytes = builder.bytes();
      section.insert(section.end(), bytes.begin(), bytes.end());
    }
    return ElfBuilder{}.shared().section(".nv_fatbin", section).bytes();
  }

  void add_image(FatbinBuilder& builder) {
    const char* const archs[] = {"75", "80", "90", "90a", "120"};
    const std::string arch = archs[roll(5)];
    if (roll(12) == 0) {
      builder.image(roll(2) == 0 ? 0x40 : 0x7f, arch, Bytes(64, 1));  // that no table knows
      return;
    }
    if (roll(4) == 0) {
      std::string text = ".version 8.8\n.target sm_" + arch + "\n.address_size 64\n";
      for (const char* name : {"a", "b", "c"})
        if (roll(3) != 0)
          text += ".visible .entry " + std::string(name) + "()\n{\n st.global.u32 [%rd1], 0;\n ret;\n}\n";
      builder.ptx(arch, "8.8", text);
      return;
    }
    CubinBuilder cubin;
    cubin.sm(std::stoi(arch));
    if (arch.back() == 'a') cubin.marked_a();
    for (const char* name : {"a", "b", "c"})
      if (roll(3) != 0)
        cubin.kernel(name, roll(6) == 0 ? sass::exit() : sass::join({sass::store(), sass::exit()}));
    builder.cubin(arch, cubin.bytes());
  }

  std::mt19937 engine_{kSeed};
};

// Of all files, as verify's exit status has it.
Coverage coverage_of(const DiffSide& side, std::size_t device) {
  Coverage all = Coverage::covered;
  for (const DiffFile& file : side.files) {
    if (!file.has_code) continue;
    const Coverage one = file.verdicts[device].coverage;
    if (one == Coverage::unknown) return one;
    if (one == Coverage::not_covered) all = one;
  }
  return all;
}

bool has_code(const DiffSide& side) {
  return std::any_of(side.files.begin(), side.files.end(),
                     [](const DiffFile& file) { return file.has_code; });
}

// The devices that a difference is sure of, or not.
std::vector<bool> told(const Difference& difference, bool sure) {
  std::vector<bool> devices(difference.before.devices.size());
  for (const CoverageLoss& loss : difference.losses)
    for (const std::size_t device : loss.devices)
      if (!sure || loss.how != CoverageLoss::How::unknown) devices[device] = true;
  return devices;
}

std::string text_of(const DiffSide& side) {
  HeldText text;
  JsonWriter json(text);
  json.begin_object(JsonLayout::packed);
  json.message("schema", "archguard.inspect/1");
  for (const char* empty : {"errors", "passed_over"}) json.texts(empty, {});
  write_baseline(side, json);
  json.end();
  return text.take();
}

}  // namespace

TEST_CASE("diff never says less than verify of both releases") {
  const Devices devices;
  Generator generator;
  int lost = 0, unknown = 0, kept = 0;
  for (int number = 0; number < kCases; ++number) {
    CAPTURE(number);
    const DiffSide before = generator.release(devices.request, "1"),
                   after = generator.release(devices.request, "2");
    if (!has_code(before)) continue;
    const Difference difference = difference_of(before, after);
    const std::vector<bool> sure = told(difference, true), any = told(difference, false);
    for (std::size_t device = 0; device < sure.size(); ++device) {
      CAPTURE(device);
      const Coverage was = coverage_of(before, device), is = coverage_of(after, device);
      if (was == Coverage::covered && is == Coverage::not_covered) CHECK(sure[device]);
      if (was == Coverage::covered && is == Coverage::unknown) CHECK(any[device]);
      ++(sure[device] ? lost : any[device] ? unknown : kept);
    }
    // Whoever gains loses nothing by it.
    const Difference same = difference_of(before, before);
    for (const CoverageLoss& loss : same.losses) CHECK(loss.how == CoverageLoss::How::unknown);
    CHECK(same.gained.empty());

    const auto again = parse_baseline(text_of(before), "old.json");
    REQUIRE(again);
    const Difference of_baseline = difference_of(*again, after);
    REQUIRE(of_baseline.losses.size() == difference.losses.size());
    for (std::size_t i = 0; i < difference.losses.size(); ++i) {
      CHECK(of_baseline.losses[i].how == difference.losses[i].how);
      CHECK(of_baseline.losses[i].devices == difference.losses[i].devices);
      CHECK(of_baseline.losses[i].names == difference.losses[i].names);
    }
  }
  MESSAGE(lost << " lost, " << unknown << " unknown, " << kept << " kept");
  CHECK(std::min({lost, unknown, kept}) > 50);
}
