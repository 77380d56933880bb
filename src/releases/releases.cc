#include "releases/releases.h"

#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "releases/companions.h"
#include "releases/table.h"

namespace archguard {
namespace {

std::vector<std::string> words_of_row(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view each : split(text, ' '))
    if (!each.empty()) words.emplace_back(each);
  return words;
}

std::vector<Arch> archs_of_row(const char* text) {
  std::vector<Arch> archs;
  for (const std::string& each : words_of_row(text))
    if (const auto arch = parse_arch(each)) archs.push_back(*arch);
  return archs;
}

std::vector<ServedDevice> served_devices(const char* text) {
  std::vector<ServedDevice> devices;
  for (std::string each : words_of_row(text)) {
    ServedDevice served;
    for (; !each.empty() && (each.back() == 'j' || each.back() == 'p'); each.pop_back())
      (each.back() == 'j' ? served.jit : served.partly) = true;
    const auto colon = each.find(':');
    const auto device = parse_capability(std::string_view(each).substr(0, colon));
    const auto driver =
        colon == std::string::npos ? std::nullopt : parse_version(std::string_view(each).substr(colon + 1));
    if (!device || !driver) continue;
    served.device = *device;
    served.driver = *driver;
    devices.push_back(served);
  }
  return devices;
}

std::vector<Version> versions_of_row(std::string_view text) {
  std::vector<Version> versions;
  for (const std::string& each : words_of_row(text))
    if (const auto version = parse_version(each)) versions.push_back(*version);
  return versions;
}

Release release_of(const ReleaseRow& row) {
  Release release;
  release.package = row.package;
  release.version = row.version;
  release.platform = row.platform;
  release.cuda = parse_version(row.cuda);
  release.sass = archs_of_row(row.sass);
  release.sass_some = archs_of_row(row.sass_some);
  release.ptx = archs_of_row(row.ptx);
  release.ptx_some = archs_of_row(row.ptx_some);
  release.devices = served_devices(row.devices);
  release.ptxas = versions_of_row(row.ptxas);
  release.lacking = words_of_row(row.lacking);
  std::string_view pythons = row.pythons;
  release.newer_pythons = ends_with(pythons, "+");
  if (release.newer_pythons) pythons.remove_suffix(1);
  release.pythons = versions_of_row(pythons);
  release.glibc = row.glibc;
  release.companions = words_of_row(row.pins);
  release.measured = row.measured;
  return release;
}

bool was_asked(ComputeCapability device) {
  static const std::vector<std::string> kAsked = words_of_row(asked_devices());
  return std::find(kAsked.begin(), kAsked.end(), to_string(device)) != kAsked.end();
}

bool ptxas_knows(Version toolkit, ComputeCapability device) {
  const Toolkit* release = find_toolkit(toolkit);
  return release != nullptr && has_arch(*release, arch_of(device));
}

// The ptxas of a compiler that it takes for the device, where that knows it.
std::optional<Version> ptxas_for(const Release& release, ComputeCapability device) {
  if (release.ptxas.empty()) return std::nullopt;
  const Version used = is_for_second_ptxas_of_triton(device) ? release.ptxas.back() : release.ptxas.front();
  return ptxas_knows(used, device) ? std::optional<Version>(used) : std::nullopt;
}

// Names of all rows.
std::vector<std::string> each_once(std::string Release::*name) {
  std::vector<std::string> names;
  for (const Release& each : measured_releases())
    if (std::find(names.begin(), names.end(), each.*name) == names.end()) names.push_back(each.*name);
  return names;
}

bool serves_all(const Release& release, const std::vector<AskedDevice>& devices,
                std::optional<Version> python) {
  const bool is_for_them =
      (!python || has_python(release, *python)) &&
      std::all_of(devices.begin(), devices.end(), [&](const AskedDevice& asked) {
        return serves(release, asked) == Serves::yes && companion_without(release, asked) == nullptr;
      });
  if (!is_for_them) return false;
  const auto along = choices_in_ranges(release, devices, python);
  return std::all_of(along.begin(), along.end(),
                     [](const RangeChoice& each) { return each.found != nullptr; });
}

// The first of the devices whose driver is too old for a release that supports them all under newer ones.
std::optional<NeedsDriver> needs_driver(const Release& release, const ReleasesQuestion& question) {
  std::vector<AskedDevice> any = question.devices;
  for (AskedDevice& each : any) each.driver.reset();
  if (!serves_all(release, any, question.python)) return std::nullopt;
  for (const AskedDevice& each : question.devices) {
    const auto driver = lowest_driver_for(release, each.device);
    if (each.driver && driver && *each.driver < *driver) return NeedsDriver{&release, each, *driver};
  }
  return std::nullopt;
}

}  // namespace

std::string normal_name(std::string_view name) {
  std::string normal;
  for (const char c : to_lower(name)) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (!separates)
      normal += c;
    else if (!normal.empty() && normal.back() != '-')
      normal += '-';
  }
  return normal;
}

const std::vector<Release>& measured_releases() {
  static const std::vector<Release> kReleases = [] {
    std::vector<Release> releases;
    for (const ReleaseRow& row : release_rows()) releases.push_back(release_of(row));
    return releases;
  }();
  return kReleases;
}

std::vector<const Release*> releases_of(std::string_view package, std::string_view platform) {
  const std::string name = normal_name(package);
  std::vector<const Release*> found;
  for (const Release& each : measured_releases())
    if (each.package == name && each.platform == platform) found.push_back(&each);
  return found;
}

std::vector<std::string> measured_packages() {
  return each_once(&Release::package);
}

std::vector<std::string> measured_platforms_of(std::string_view package) {
  std::vector<std::string> found;
  for (std::string& platform : platforms())
    if (!releases_of(package, platform).empty()) found.push_back(std::move(platform));
  return found;
}

std::vector<std::string> platforms() {
  return {"x86_64", "aarch64", "windows"};
}

const ServedDevice* served_device(const Release& release, ComputeCapability device) {
  for (const ServedDevice& each : release.devices)
    if (each.device == device) return &each;
  return nullptr;
}

std::optional<Version> lowest_driver_for(const Release& release, ComputeCapability device) {
  if (const auto ptxas = ptxas_for(release, device)) return lowest_driver_cuda_for_toolkit(*ptxas);
  const ServedDevice* served = served_device(release, device);
  return served == nullptr ? std::nullopt : std::optional<Version>(served->driver);
}

std::optional<Version> lowest_driver_for(const Release& release, const std::vector<AskedDevice>& devices) {
  std::optional<Version> lowest;
  for (const AskedDevice& each : devices)
    if (const auto driver = lowest_driver_for(release, each.device); driver && (!lowest || *lowest < *driver))
      lowest = driver;
  return lowest;
}

Serves serves(const Release& release, const AskedDevice& asked) {
  if (!was_asked(asked.device)) return Serves::unknown;
  if (asked.driver && driver_knows(asked.device, *asked.driver) == Fit::no) return Serves::no;
  const auto driver = lowest_driver_for(release, asked.device);
  if (!driver || (asked.driver && *asked.driver < *driver)) return Serves::no;
  const ServedDevice* served = served_device(release, asked.device);
  return served != nullptr && served->partly ? Serves::partly : Serves::yes;
}

std::string image_for(const Release& release, ComputeCapability device) {
  if (const auto ptxas = ptxas_for(release, device)) return "ptxas " + to_string(*ptxas);
  const ServedDevice* served = served_device(release, device);
  if (served == nullptr) return {};
  const auto best = [device](const std::vector<Arch>& first, const std::vector<Arch>& second,
                             Fit fits(Arch, ComputeCapability)) {
    std::optional<Arch> found;
    for (const auto* archs : {&first, &second}) {
      if (found) break;  // what all fat binaries hold, before what some do
      for (const Arch arch : *archs)
        if (fits(arch, device) == Fit::yes && (!found || *found < arch)) found = arch;
    }
    return found;
  };
  if (!served->jit)
    if (const auto arch = best(release.sass, release.sass_some, sass_fits)) return "sm_" + to_string(*arch);
  if (const auto arch = best(release.ptx, release.ptx_some, ptx_fits)) return "PTX " + to_string(*arch);
  return {};
}

const Release* companion_without(const Release& release, const AskedDevice& asked) {
  for (const std::string& pin : release.companions) {
    const auto equals = pin.find("==");
    if (equals == std::string::npos) continue;
    const std::string minor = major_minor(pin.substr(equals + 2));
    for (const Release* each : releases_of(pin.substr(0, equals), release.platform))
      if (major_minor(each->version) == minor && serves(*each, asked) == Serves::no) return each;
  }
  return nullptr;
}

bool has_python(const Release& release, Version python) {
  if (std::find(release.pythons.begin(), release.pythons.end(), python) != release.pythons.end()) return true;
  return release.newer_pythons && !release.pythons.empty() && python >= release.pythons.front();
}

const Release* newest_serving(std::string_view package, std::string_view platform,
                              const std::vector<AskedDevice>& devices, std::optional<Version> python) {
  for (const Release* each : releases_of(package, platform))
    if (serves_all(*each, devices, python)) return each;
  return nullptr;
}

ReleaseChoice choose_release(const ReleasesQuestion& question) {
  const auto releases = releases_of(question.package, question.platform);
  ReleaseChoice choice;
  if (releases.empty()) return choice;
  choice.newest = releases.front();
  choice.found = newest_serving(question.package, question.platform, question.devices, question.python);
  ReleasesQuestion asked = question;
  if (choice.found == nullptr) {
    asked.python.reset();
    choice.other_python = newest_serving(question.package, question.platform, question.devices);
  }
  for (const Release* each : releases) {
    if (each == choice.told() || choice.told() == nullptr || choice.needs_driver) break;
    choice.needs_driver = needs_driver(*each, asked);
  }
  return choice;
}

std::vector<std::string> pinned_by(const Release& release) {
  const std::string pin = release.package + "==" + release.version;
  std::vector<std::string> found;
  for (const Release& each : measured_releases()) {
    const bool pins = std::find(each.companions.begin(), each.companions.end(), pin) != each.companions.end();
    if (pins && each.platform == release.platform) found.push_back(each.package + "==" + each.version);
  }
  return found;
}

std::vector<std::string> installed_along(const Release& release) {
  std::vector<std::string> along;
  for (const std::string& each : pinned_by(release))
    if (starts_with(each, "torchvision==")) along.push_back(each);
  return along;
}

std::string install_line(const Release& release, const ReleasesQuestion& question) {
  std::string line = "pip install " + release.package + "==" + release.version;
  for (const std::string& each : installed_along(release)) line += " " + each;
  if (question.keeps_installed) return line;
  for (const RangeChoice& each : choices_in_ranges(release, question.devices, question.python))
    if (each.found != nullptr && !each.is_newest)
      line += " " + each.found->package + "==" + each.found->version;
  return line;
}

std::string install_line(const ReleaseChoice& choice, const ReleasesQuestion& question) {
  ReleasesQuestion asked = question;
  if (choice.found == nullptr) asked.python.reset();
  return install_line(*choice.told(), asked);
}

}  // namespace archguard
