#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/toolkit.h"
#include "doctor/checks.h"
#include "doctor/library_names.h"

namespace archguard::doctor {
namespace {

// Which part a diagnostic of the probe is about: what loads as libcuda has numbers of its own
// (docs/reference/machines.md).
FindingId id_of(const Diagnostic& diagnostic) {
  if (diagnostic.stage == "environment") return FindingId::environment;
  if (diagnostic.code && (*diagnostic.code == 34 || *diagnostic.code == 803 || *diagnostic.code == 804))
    return FindingId::libcuda;
  const bool shadowed = starts_with(diagnostic.cause, "a Linux libcuda");
  return shadowed ? FindingId::libcuda : FindingId::driver;  // in WSL (device/causes_cuda.cc)
}

// A machine that has no GPU, and nothing that says that it should have one, has no fault.
bool expects_gpu(const ProbeResult& probe) {
  const Diagnostic& first = probe.diagnostics.front();
  return probe.status == ProbeStatus::failed || !probe.devices.empty() || first.stage == "environment" ||
         id_of(first) == FindingId::libcuda || first.cause.find("WSL") != std::string::npos;
}

// GPUs of the machine that do not tell what they are: the driver does not answer for them.
bool any_untold(const ProbeResult& probe) {
  return probe.devices.empty() || std::any_of(probe.devices.begin(), probe.devices.end(),
                                              [](const Device& device) { return !device.capability; });
}

// Kepler GPUs are rare by now: an untold one is taken for none.
constexpr int kLastBranchOfKepler = 470;

// "GPUs of 5.0, 5.2, … need a driver of branch 580": those that this driver is too new for, and that may be
// here.
std::string left_by_driver(const ProbeResult& probe) {
  const std::string& version = probe.driver_version;
  const auto is_here = [&](ComputeCapability device) {
    return std::any_of(probe.devices.begin(), probe.devices.end(),
                       [&](const Device& each) { return each.capability && *each.capability == device; });
  };
  std::optional<int> newest;
  std::vector<std::string> names;
  for (const ComputeCapability device : known_devices()) {
    const auto last = last_driver_branch_for(device);
    if (!last || !is_dropped_by_branch(version, device)) continue;
    if (!is_here(device) && !(any_untold(probe) && *last > kLastBranchOfKepler)) continue;
    if (!newest || *newest < *last) {
      newest = last;
      names.clear();
    }
    if (*last == *newest) names.push_back(to_string(device));
  }
  if (!newest) return {};
  return "driver " + version + " ignores GPUs of " + join(names, ", ") + ": branch " +
         std::to_string(*newest) +
         " is the last for them; and the open kernel modules support none that is older than Turing";
}

// "For cutting-edge platforms such as NVIDIA Grace Hopper or NVIDIA Blackwell, you must use the open-source
// GPU kernel modules" (NVIDIA, "NVIDIA Transitions Fully Towards Open-Source GPU Kernel Modules"). The first
// branch that knows Blackwell is 570.
bool may_need_open_modules(const ProbeResult& probe) {
  constexpr int kFirstBranchOfBlackwell = 570;
  const auto branch = leading_version(probe.driver_version);
  return branch && branch->major >= kFirstBranchOfBlackwell && any_untold(probe);
}

Finding finding_of(const Diagnostic& diagnostic, const ProbeResult& probe, Rank rank) {
  Finding finding{id_of(diagnostic), rank};
  finding.code = diagnostic.code.value_or(0);
  finding.cause = diagnostic.cause;
  finding.fix = diagnostic.fix;
  if (diagnostic.code)
    finding.evidence.push_back(
        (diagnostic.stage == "environment" ? std::string("cuInit") : diagnostic.stage) + " answers " +
        std::to_string(*diagnostic.code) + (diagnostic.name.empty() ? "" : ", " + diagnostic.name));
  if (!probe.driver_version.empty()) finding.evidence.push_back("kernel driver " + probe.driver_version);
  if (!probe.library.empty())
    finding.evidence.push_back("libcuda " + probe.library +
                               (probe.library_version.empty() ? "" : ", " + probe.library_version));
  return finding;
}

// What a GPU is that stands on the bus, and that a driver which runs does not show.
void add_ignored_gpus(const ProbeResult& probe, Finding& finding) {
  const std::string text = left_by_driver(probe);
  if (!text.empty()) {
    finding.evidence.push_back(text);
    finding.fix += "; for such a GPU install the driver of that branch, not of an \"open\" package";
  }
  if (!may_need_open_modules(probe)) return;
  const std::string branch = probe.driver_version.substr(0, probe.driver_version.find('.'));
  finding.evidence.emplace_back(
      "GPUs of Blackwell (10.0 and newer: RTX 50, RTX PRO Blackwell, B200) need the open kernel modules; the "
      "proprietary ones ignore "
      "them: modinfo -F license nvidia prints Dual MIT/GPL for the open ones");
  finding.fix += "; for a GPU of Blackwell install the driver's open package: apt install nvidia-driver-" +
                 branch + "-open (Ubuntu), or nvidia-open (NVIDIA's packages, Arch)";
}

void check_probe(const ProbeResult& probe, Findings& findings) {
  const bool works = probe.status == ProbeStatus::ok, explained = dropped_by_compat(probe).has_value();
  for (const Diagnostic& diagnostic : probe.diagnostics) {
    const bool first = &diagnostic == &probe.diagnostics.front();
    const Rank rank = works                         ? (diagnostic.code ? Rank::risk : Rank::note)
                      : explained                   ? Rank::note
                      : first && expects_gpu(probe) ? Rank::certain
                                                    : Rank::note;
    Finding finding = finding_of(diagnostic, probe, rank);
    if (first && !works && diagnostic.code == kNoDevice && !probe.devices.empty() &&
        finding.id == FindingId::driver)
      add_ignored_gpus(probe, finding);
    findings.push_back(std::move(finding));
  }
}

}  // namespace

void check_driver(const Facts& facts, Findings& findings) {
  if (facts.probe) return check_probe(*facts.probe, findings);
  for (std::size_t i = 0; i < facts.classes.size(); ++i) {
    const Device& device = facts.classes[i].device;
    if (driver_knows_device(device) != Fit::no) continue;
    Finding finding{FindingId::driver, Rank::certain};
    finding.cause = "the driver of " + archguard::describe(device) + " does not support it";
    finding.evidence.push_back(unknown_to_driver_text(*device.capability, *device.driver_cuda));
    finding.fix = is_beyond_last_driver(*device.capability, *device.driver_cuda)
                      ? last_driver_advice(*device.capability)
                      : "update the driver";
    findings.push_back(std::move(finding));
  }
}

}  // namespace archguard::doctor
