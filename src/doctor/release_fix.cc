#include "doctor/release_fix.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "releases/releases.h"

namespace archguard::doctor {
namespace {

std::string capabilities_text(const std::vector<AskedDevice>& devices) {
  std::vector<std::string> texts;
  for (const AskedDevice& each : devices)  // two drivers of one device are one
    if (const std::string text = to_string(each.device);
        std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(text);
  return join(texts, " and ");
}

std::optional<Version> python_of(const Facts& facts) {
  for (const PythonEnvironment& environment : facts.environments)
    if (const auto python = parse_version(environment.python)) return python;
  return std::nullopt;
}

AskedDevice asked_device_of(const DeviceClass& each) {
  return {*each.device.capability, each.device.driver_cuda};
}

// Which driver it was chosen for, and what was passed over for it.
std::string under_driver(const ReleasesQuestion& question, const ReleaseChoice& choice) {
  if (!choice.needs_driver) return {};
  return " under a driver of " + cuda_text(*choice.needs_driver->asked.driver) + "; " +
         needs_driver_text(choice, question);
}

// torchvision is made for one torch: then one line has both. vllm and xformers pin a torch too, and have
// their own line.
std::string made_for(const Facts& facts, const std::string& package, const std::string& platform) {
  if (!facts.torch) return package;
  for (const Release* torch : releases_of("torch", platform))
    for (const std::string& along : installed_along(*torch))
      if (starts_with(along, package + "==")) return "torch";
  return package;
}

// One that serves these devices, said as a line to type.
std::string line_for(const ReleasesQuestion& question) {
  const std::string cc = capabilities_text(question.devices);
  const ReleaseChoice choice = choose_release(question);
  if (choice.told() == nullptr) return {};
  std::string line = install_line(choice, question);
  if (choice.found != nullptr)
    line += std::string(" (") + (choice.found != choice.newest ? "the last" : "the newest") +
            " measured release on PyPI that supports " + cc + under_driver(question, choice) + ")";
  else
    line = "with Python " + pythons_text(*choice.told()) + ": " + line + "; no measured release supports " +
           cc + " on Python " + to_string(*question.python);
  const std::string refused = refused_by_torch_compile(*choice.told(), question.devices);
  return refused.empty() ? line : line + "; " + refused;
}

// Where the driver stands in the way, and not the code: another driver, or code of an older CUDA.
std::string with_another_driver(const ReleasesQuestion& question) {
  const AskedDevice& asked = question.devices.front();
  ReleasesQuestion any = question;
  any.devices.front().driver.reset();
  const std::string line = asked.driver ? line_for(any) : std::string();
  if (line.empty()) return {};
  if (is_beyond_last_driver(asked.device, *asked.driver))
    return "install the last driver for " + to_string(asked.device) + ", branch " +
           std::to_string(last_driver_branch_for(asked.device).value_or(0)) + ", then " + line;
  const auto lowest = lowest_driver_for(*choose_release(any).told(), any.devices);
  const auto older = toolkits_with_sass_for(asked.device, asked.driver);
  return "update the driver" + (lowest ? " to one of " + driver_text(*lowest) + " or newer" : std::string()) +
         ", then " + line +
         (older ? "; or use a build of " + question.package + " for " + cuda_text(older->last) +
                      ", which was not measured"
                : std::string());
}

std::string or_elsewhere(const ReleasesQuestion& question) {
  const std::string elsewhere = documented_elsewhere(question);
  return elsewhere.empty() ? std::string() : "; not measured: " + elsewhere;
}

// Of the machine that is judged: Jetson and its like are aarch64, whatever archguard runs on.
std::string platform_for(const Facts& facts, std::size_t of_class) {
  return is_tegra(*facts.classes[of_class].device.capability) ? "aarch64" : facts.platform;
}

// PyPI's torch for Windows is without CUDA. PyTorch's own index has the release for it too, in the folder of
// its CUDA (pytorch.org/get-started/previous-versions: one line for Linux and Windows).
std::string torch_for_windows(ReleasesQuestion question) {
  question.platform = "x86_64";
  const ReleaseChoice choice = choose_release(question);
  if (choice.told() == nullptr || !choice.told()->cuda) return {};
  const Release& release = *choice.told();
  return "pip install torch==" + release.version + " --index-url https://download.pytorch.org/whl/cu" +
         std::to_string(release.cuda->major) + std::to_string(release.cuda->minor) +
         " (documented by PyTorch, and measured for Linux alone: it supports " +
         capabilities_text(question.devices) + " there" +
         (choice.found == nullptr ? ", with Python " + pythons_text(release) : "") + ")";
}

// For pip, 2.10.0+cu130 is 2.10.0 already (PEP 440, "Version matching"), and it installs nothing.
std::string without_installed(const Facts& facts, std::string line) {
  if (!facts.torch || line.empty()) return line;
  const std::string& version = facts.torch->package.version;
  const std::string same = "pip install torch==" + version.substr(0, version.find('+')) + " ";
  if (version.find('+') == std::string::npos || !starts_with(line + " ", same)) return line;
  return "pip uninstall torch, then " + std::move(line);
}

std::string line_of_release(const Facts& facts, const std::string& of_package, std::size_t of_class) {
  ReleasesQuestion all;
  all.keeps_installed = true;
  all.platform = platform_for(facts, of_class);
  all.package = made_for(facts, of_package, all.platform);
  all.python = python_of(facts);
  for (const DeviceClass& each : facts.classes) all.devices.push_back(asked_device_of(each));
  ReleasesQuestion one = all;
  one.devices = {asked_device_of(facts.classes[of_class])};
  if (all.platform == "windows" && all.package == "torch") {
    const std::string line = torch_for_windows(all);
    return line.empty() ? torch_for_windows(one) : line;
  }
  if (releases_of(all.package, all.platform).empty()) return {};
  if (const std::string line = line_for(all); !line.empty()) return line + or_elsewhere(all);
  if (const std::string line = line_for(one); !line.empty())
    return line + "; none supports every GPU here: " + capabilities_text(all.devices);
  if (std::string line = with_another_driver(one); !line.empty()) return line;
  return "no measured release of " + one.package + " on PyPI supports " +
         to_string(one.devices.front().device) + or_elsewhere(one);
}

}  // namespace

std::string release_fix(const Facts& facts, const std::string& of_package, std::size_t of_class) {
  return without_installed(facts, line_of_release(facts, of_package, of_class));
}

std::string not_measured_here(const Facts& facts, const std::string& of_package, std::size_t of_class) {
  const std::string platform = platform_for(facts, of_class);
  const std::string package = made_for(facts, of_package, platform);
  if (!releases_of(package, platform).empty()) return {};
  const std::string others = join(measured_platforms_of(package), " and ");
  if (others.empty()) return {};
  return "its releases were measured for " + others + " alone: judge a wheel for " + platform +
         " by its file: " + judge_by_file(to_string(*facts.classes[of_class].device.capability));
}

}  // namespace archguard::doctor
