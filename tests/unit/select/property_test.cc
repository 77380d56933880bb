#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <set>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "fleet_builder.h"

using namespace archguard;

namespace {

constexpr unsigned kSeed = 20251121;

// Fleets, toolkits and policies out of everything the table holds and some that it does not.
class Dice {
 public:
  std::vector<Device> fleet_of(std::size_t most) {
    std::vector<Device> devices(1 + roll(most));
    for (Device& device : devices) {
      if (roll(20) != 0) device.capability = capability();
      if (roll(3) == 0) device.driver_cuda = any_of(drivers_);
      device.visible = roll(20) != 0;
      if (roll(20) == 0) device.excluded = "display card";
    }
    return devices;
  }
  Compiler compiler() { return compiler_of_toolkit(any_of(known_toolkits()).version).value(); }
  SelectPolicy policy(const Compiler& compiler) {
    SelectPolicy policy;
    policy.sass = roll(2) == 0 ? SassPolicy::exact : SassPolicy::minimal;
    policy.ptx = any_of(policies_);
    if (policy.ptx == PtxPolicy::given) policy.given_ptx = any_of(compiler.ptx);
    return policy;
  }

 private:
  std::size_t roll(std::size_t sides) {
    return std::uniform_int_distribution<std::size_t>(0, sides - 1)(engine_);
  }
  template <class T>
  const T& any_of(const std::vector<T>& all) {
    return all[roll(all.size())];
  }
  ComputeCapability capability() {
    if (roll(8) == 0) return any_of(strange_);
    return capability_of(any_of(any_of(known_toolkits()).archs));
  }

  std::mt19937 engine_{kSeed};
  const std::vector<ComputeCapability> strange_ = {{1, 3},  {4, 0},  {8, 1}, {10, 5},
                                                   {12, 5}, {13, 0}, {13, 1}};
  const std::vector<Version> drivers_ = {{7, 5},  {9, 1},  {10, 2}, {11, 0}, {11, 4}, {11, 8}, {12, 0},
                                         {12, 2}, {12, 7}, {12, 8}, {13, 0}, {13, 4}, {14, 0}};
  const std::vector<PtxPolicy> policies_ = {PtxPolicy::newest, PtxPolicy::oldest, PtxPolicy::none,
                                            PtxPolicy::given};
};

bool selectable(const Device& device) {
  return is_wanted(device) && device.capability;
}

bool has(const std::vector<Arch>& archs, Arch arch) {
  return std::find(archs.begin(), archs.end(), arch) != archs.end();
}

// The device's, or the last that there is for it.
std::optional<Version> driver_of(const Device& device) {
  return device.driver_cuda ? device.driver_cuda : last_driver_cuda_for(*device.capability);
}

// By the rules alone: does this entry make a program of this compiler run on the device?
bool runs(const ArchEntry& entry, const Device& device, const Compiler& compiler) {
  if (entry.real && sass_fits(entry.arch, *device.capability) == Fit::yes) return true;
  if (!entry.virtual_ || ptx_fits(entry.arch, *device.capability) != Fit::yes) return false;
  const auto driver = driver_of(device);
  return !driver || driver_takes_ptx(compiler.ptx_isa, *driver) == Fit::yes;
}

bool runs(const Selection& selection, const Device& device, const Compiler& compiler) {
  return std::any_of(selection.entries.begin(), selection.entries.end(),
                     [&](const ChosenEntry& chosen) { return runs(chosen.entry, device, compiler); });
}

// All that this compiler could make under this policy, to see that an excluded device is beyond it.
std::vector<ArchEntry> possible_entries(const Compiler& compiler, const SelectPolicy& policy) {
  std::vector<ArchEntry> entries;
  for (const Arch arch : compiler.sass)
    if (arch.suffix == Suffix::none) entries.push_back({arch, true, false});
  if (policy.ptx == PtxPolicy::given) entries.push_back({policy.given_ptx, false, true});
  if (policy.ptx == PtxPolicy::newest || policy.ptx == PtxPolicy::oldest)
    for (const Arch arch : compiler.ptx)
      if (arch.suffix == Suffix::none) entries.push_back({arch, false, true});
  return entries;
}

std::set<std::size_t> excluded_in(const Selection& selection) {
  return {selection.excluded.begin(), selection.excluded.end()};
}

std::string case_text(const std::vector<Device>& devices, const Compiler& compiler,
                      const Selection& selection) {
  std::string text = "CUDA " + to_string(compiler.version) + ":";
  for (const Device& device : devices) {
    text += device.visible ? " " : " -";
    text += device.excluded.empty() ? "" : "!";
    text += device.capability ? to_string(*device.capability) : "?";
    if (device.driver_cuda) text += "@" + to_string(*device.driver_cuda);
  }
  return text + " -> " + format_cmake(selection);
}

// The size of the smallest set of plain SASS that fits all these devices, by trying all sets of each size.
std::size_t fewest_images(const std::vector<Device>& devices, const std::vector<Arch>& sass,
                          std::size_t most) {
  if (devices.empty()) return 0;
  if (most == 0) return 1;  // more than allowed
  std::size_t fewest = most + 1;
  for (const Arch arch : sass) {
    std::vector<Device> left;
    for (const Device& device : devices)
      if (arch.suffix != Suffix::none || sass_fits(arch, *device.capability) != Fit::yes)
        left.push_back(device);
    if (left.size() < devices.size()) fewest = std::min(fewest, 1 + fewest_images(left, sass, most - 1));
  }
  return fewest;
}

}  // namespace

TEST_CASE("each device is served by its entry or excluded for good reason; each entry can be made") {
  Dice dice;
  for (int round = 0; round < 2000; ++round) {
    const Compiler compiler = dice.compiler();
    const SelectPolicy policy = dice.policy(compiler);
    const auto devices = dice.fleet_of(6);
    const Selection selection = select_architectures(devices, compiler, policy);
    INFO(case_text(devices, compiler, selection));

    std::multiset<std::size_t> placed;
    const DeviceList list(devices);
    for (const std::size_t excluded : selection.excluded) {
      placed.insert(excluded);
      CHECK_FALSE(selection.why_excluded[list.kind_number(excluded)].reason.empty());
      const Device& device = devices[excluded];
      if (!selectable(device)) continue;
      for (const ArchEntry& entry : possible_entries(compiler, policy))
        CHECK_FALSE(runs(entry, device, compiler));
    }
    std::set<std::pair<bool, Arch>> order;
    for (const auto& chosen : selection.entries) {
      CHECK(chosen.entry.real != chosen.entry.virtual_);
      CHECK(has(chosen.entry.real ? compiler.sass : compiler.ptx, chosen.entry.arch));
      if (policy.ptx != PtxPolicy::given || chosen.entry.real)
        CHECK(chosen.entry.arch.suffix == Suffix::none);
      const std::pair<bool, Arch> place{chosen.entry.virtual_, chosen.entry.arch};
      CHECK((order.empty() || *order.rbegin() < place));
      order.insert(place);
      CHECK_FALSE(chosen.reason.empty());
      for (const std::size_t i : chosen.devices) {
        placed.insert(i);
        REQUIRE(selectable(devices[i]));
        CHECK(runs(chosen.entry, devices[i], compiler));
      }
    }
    for (std::size_t i = 0; i < devices.size(); ++i) CHECK(placed.count(i) == 1);
  }
}

TEST_CASE("each PTX policy keeps its word") {
  Dice dice;
  for (int round = 0; round < 1000; ++round) {
    const Compiler compiler = dice.compiler();
    const SelectPolicy policy = dice.policy(compiler);
    const auto devices = dice.fleet_of(6);
    const Selection selection = select_architectures(devices, compiler, policy);
    INFO(case_text(devices, compiler, selection));
    std::vector<Arch> sass, ptx;
    for (const auto& chosen : selection.entries)
      (chosen.entry.real ? sass : ptx).push_back(chosen.entry.arch);
    if (selection.entries.empty()) continue;
    const auto excluded = excluded_in(selection);
    switch (policy.ptx) {
      case PtxPolicy::none:
        CHECK(ptx.empty());
        break;
      case PtxPolicy::given:
        CHECK(ptx == std::vector<Arch>{policy.given_ptx});
        break;
      case PtxPolicy::newest:
        REQUIRE_FALSE(ptx.empty());
        if (!sass.empty()) CHECK_FALSE(ptx.back() < sass.back());
        break;
      case PtxPolicy::oldest:
        REQUIRE(ptx.size() == 1);
        for (std::size_t i = 0; i < devices.size(); ++i)
          if (excluded.count(i) == 0) CHECK(ptx_fits(ptx[0], *devices[i].capability) == Fit::yes);
        break;
    }
  }
}

TEST_CASE("minimal without PTX: no image can go, none can be newer, and no smaller set exists") {
  Dice dice;
  for (int round = 0; round < 1000; ++round) {
    const Compiler compiler = dice.compiler();
    const SelectPolicy policy = minimal(with_ptx("none"));
    const auto devices = dice.fleet_of(5);
    const Selection selection = select_architectures(devices, compiler, policy);
    INFO(case_text(devices, compiler, selection));
    std::vector<Device> served;
    const auto excluded = excluded_in(selection);
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (excluded.count(i) == 0) served.push_back(devices[i]);

    const std::size_t images = selection.entries.size();
    if (images > 0 && images <= 4) CHECK(fewest_images(served, compiler.sass, images) == images);
    for (std::size_t i = 0; i < images; ++i) {
      Selection without = selection;
      without.entries.erase(without.entries.begin() + static_cast<std::ptrdiff_t>(i));
      const auto uncovered = std::count_if(served.begin(), served.end(), [&](const Device& device) {
        return !runs(without, device, compiler);
      });
      CHECK(uncovered > 0);
      for (const Arch newer : compiler.sass) {
        if (!(selection.entries[i].entry.arch < newer) || newer.suffix != Suffix::none) continue;
        Selection replaced = selection;
        replaced.entries[i].entry.arch = newer;
        CHECK(std::any_of(served.begin(), served.end(),
                          [&](const Device& device) { return !runs(replaced, device, compiler); }));
      }
    }
  }
}

TEST_CASE("the toolkits for all are those with which nothing is excluded and no driver is too old") {
  Dice dice;
  for (int round = 0; round < 60; ++round) {
    const Compiler compiler = dice.compiler();
    const SelectPolicy policy = dice.policy(compiler);
    const auto devices = dice.fleet_of(4);
    const Selection selection = select_architectures(devices, compiler, policy);
    INFO(case_text(devices, compiler, selection));
    for (const Toolkit& toolkit : known_toolkits()) {
      const auto with = select_architectures(devices, compiler_of_toolkit(toolkit.version).value(), policy);
      const auto excluded = excluded_in(with);
      bool any = false, all = true;
      for (std::size_t i = 0; i < devices.size(); ++i) {
        if (!selectable(devices[i])) continue;
        any = true;
        const auto driver = driver_of(devices[i]);
        if (excluded.count(i) != 0) all = false;
        if (driver && *driver < lowest_driver_cuda_for_toolkit(toolkit.version)) all = false;
      }
      const auto& listed = selection.toolkits_for_all;
      INFO("with CUDA " << to_string(toolkit.version));
      CHECK((std::find(listed.begin(), listed.end(), toolkit.version) != listed.end()) == (any && all));
    }
  }
}

TEST_CASE("the toolkits named for an excluded device do serve it") {
  Dice dice;
  for (int round = 0; round < 600; ++round) {
    const Compiler compiler = dice.compiler();
    const SelectPolicy policy = dice.policy(compiler);
    auto devices = dice.fleet_of(4);
    for (Device& device : devices) device.driver_cuda.reset();
    const DeviceList list(devices);
    const Selection selection = select_architectures(list, compiler, policy);
    for (const std::size_t excluded : selection.excluded) {
      const Exclusion& why = selection.why_excluded[list.kind_number(excluded)];
      for (const auto& version : {why.first_toolkit, why.last_toolkit}) {
        if (!version) continue;
        // That a toolkit makes nothing at all for a device is said without regard to the policy.
        const ComputeCapability device = *devices[excluded].capability;
        const SelectPolicy other = newest_ptx_for(compiler.ptx, device) ? policy : SelectPolicy{};
        CHECK(select_architectures({devices[excluded]}, compiler_of_toolkit(*version).value(), other)
                  .excluded.empty());
      }
    }
  }
}
