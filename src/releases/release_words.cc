#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/rules.h"
#include "releases/companions.h"
#include "releases/releases.h"

namespace archguard {
namespace {

// PyTorch's own index, by its published matrix of releases; not measured here. It is of desktops and servers:
// sm_86 does not run on Orin (8.7).
struct DocumentedBuild {
  const char* package;
  const char* index;
  Version cuda;
  const char* last_release;
  const char* tag;
  ComputeCapability first, last;
};
constexpr DocumentedBuild kDocumented[] = {
    {"torch", "PyTorch's own index (not PyPI)", {12, 6}, "2.14", "cu126", {5, 0}, {9, 0}},
};

// Wheels for each release of JetPack, which brings the driver and the CUDA of a Jetson.
constexpr const char* kTorchForJetson =
    "NVIDIA's own wheels for Jetson, by the release of JetPack: "
    "https://docs.nvidia.com/deeplearning/frameworks/install-pytorch-jetson-platform/";

bool is_documented_for(const DocumentedBuild& build, const ReleasesQuestion& question) {
  return question.package == build.package && question.platform == "x86_64" && !question.devices.empty() &&
         std::all_of(question.devices.begin(), question.devices.end(), [&](const AskedDevice& each) {
           return !is_tegra(each.device) && !(each.device < build.first) && !(build.last < each.device);
         });
}

std::string driver_note(const DocumentedBuild& build, const ReleasesQuestion& question) {
  const Version lowest = lowest_driver_cuda_for_toolkit(build.cuda);
  const bool any_measured = newest_serving(question.package, question.platform, question.devices) != nullptr;
  for (const AskedDevice& each : question.devices)
    if (each.driver && *each.driver < lowest)
      return "; the driver of " + to_string(each.device) + ", " + cuda_text(*each.driver) +
             ", is too old for them: update it to one of " + driver_text(lowest) + " or newer" +
             (any_measured ? ", or take a measured release that it supports" : "");
  return {};
}

}  // namespace

std::string documented_elsewhere(const ReleasesQuestion& question) {
  const auto releases = releases_of(question.package, question.platform);
  if (!releases.empty() &&
      newest_serving(question.package, question.platform, question.devices) == releases.front())
    return {};
  const auto is_on_jetson = [](const AskedDevice& each) { return is_tegra(each.device); };
  if (question.package == "torch" && question.platform == "aarch64" && !question.devices.empty() &&
      std::all_of(question.devices.begin(), question.devices.end(), is_on_jetson))
    return kTorchForJetson;
  for (const DocumentedBuild& each : kDocumented) {
    if (!is_documented_for(each, question)) continue;
    std::string text = std::string(each.index) + " has builds for " + cuda_text(each.cuda) + " up to " +
                       each.last_release + ", " + each.tag + ", which support " + to_string(each.first) +
                       " to " + to_string(each.last) + " (not Jetson)";
    if (question.python &&
        newest_serving(question.package, question.platform, question.devices, question.python) == nullptr)
      text += "; whether for Python " + to_string(*question.python) + " too was not measured";
    return text + driver_note(each, question);
  }
  return {};
}

std::string pythons_text(const Release& release) {
  if (release.pythons.empty()) return "unknown";
  const Version first = release.pythons.front(), last = release.pythons.back();
  if (release.newer_pythons) return to_string(first) + " and newer";
  if (first == last) return to_string(first);
  const bool all = static_cast<int>(release.pythons.size()) == last.minor - first.minor + 1;
  std::vector<std::string> names;
  for (const Version each : release.pythons) names.push_back(to_string(each));
  return all ? to_string(first) + " to " + to_string(last) : join(names, ", ");
}

std::string needs_driver_text(const ReleaseChoice& choice, const ReleasesQuestion& question) {
  if (!choice.needs_driver) return {};
  const auto& [release, asked, driver] = *choice.needs_driver;
  return release->package + " " + release->version + " needs a driver of " + driver_text(driver) +
         " or newer" + (question.devices.size() == 1 ? "" : " for " + to_string(asked.device));
}

std::string pins_another(const ReleaseChoice& choice, const ReleasesQuestion& question) {
  for (const Release* each : releases_of(question.package, question.platform)) {
    if (each == choice.told()) return {};
    const Release* companion = nullptr;
    const bool serves_itself =
        std::all_of(question.devices.begin(), question.devices.end(), [&](const AskedDevice& asked) {
          if (companion == nullptr) companion = companion_without(*each, asked);
          return serves(*each, asked) == Serves::yes;
        });
    if (!serves_itself) continue;
    const std::string has_code = each->package + " " + each->version + " has code for it, but ";
    if (companion != nullptr)
      return has_code + "pins " + companion->package + " " + companion->version + ", which does not";
    for (const RangeChoice& along : choices_in_ranges(*each, question.devices, {}))
      if (along.found == nullptr)
        return has_code + "needs " + along.range + ", and none of those supports it here";
  }
  return {};
}

std::string judge_by_file(std::string_view device) {
  return "archguard verify WHEEL --scope library --device " + std::string(device);
}

std::string refused_by_torch_compile(const Release& release, const std::vector<AskedDevice>& devices) {
  const bool compiles =
      release.package == "triton" || (release.package == "torch" && !starts_with(release.version, "1."));
  std::vector<std::string> refused;
  for (const AskedDevice& each : devices)
    if (is_refused_by_inductor(each.device)) refused.push_back(to_string(each.device));
  if (!compiles || refused.empty()) return {};
  return "torch.compile refuses " + join(refused, " and ") + " all the same: " + kRefusedByInductor;
}

}  // namespace archguard
