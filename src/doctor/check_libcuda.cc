#include "base/text.h"
#include "compat/driver.h"
#include "doctor/checks.h"
#include "doctor/gather.h"

namespace archguard::doctor {
namespace {

// In WSL the driver's libraries stand in a folder of their own, which a loader may not know.
void check_wsl(const Facts& facts, Findings& findings) {
  if (!facts.probe || facts.probe->status != ProbeStatus::ok || !facts.libcudas.empty()) return;
  const std::string& library = facts.probe->library;
  const auto at = library.find("/usr/lib/wsl/");
  if (at == std::string::npos) return;
  const std::string folder = folder_of(library.substr(at));
  // A program may well ask for it by its path; one that fails does not.
  Finding finding{FindingId::libcuda, facts.error_text.empty() ? Rank::risk : Rank::likely};
  finding.cause =
      "libcuda is in " + folder + ", and neither LD_LIBRARY_PATH nor the loader's cache leads there";
  finding.evidence = {
      "the driver answers by its path: " + library,
      "programs that ask the loader for libcuda.so, or read ldconfig -p as triton does, do not find it"};
  finding.fix = "export LD_LIBRARY_PATH=" + folder + ":$LD_LIBRARY_PATH";
  findings.push_back(std::move(finding));
}

// What a running process has for a driver.
void check_loaded(const ProcessFacts& process, const std::string& path, Findings& findings) {
  if (!starts_with(file_name_of(path), "libcuda.so")) return;
  const bool stub = path.find("/stubs/") != std::string::npos;
  Finding finding{FindingId::libcuda, stub ? Rank::certain : Rank::note};
  finding.code = stub ? 34 : 0;
  finding.cause = "process " + std::to_string(process.id) + " has loaded " +
                  (stub ? "the toolkit's stub of libcuda, which is no driver" : "the driver " + path);
  finding.evidence = {path};
  finding.fix =
      stub ? "remove " + folder_of(path) + " from its LD_LIBRARY_PATH or RPATH, and start it again" : "";
  findings.push_back(std::move(finding));
}

}  // namespace

// A newer libcuda knows newer GPUs, and leaves out those that its own branch of the driver has dropped
// (compat/driver.h), whatever the kernel module supports.
std::optional<Finding> dropped_by_compat(const ProbeResult& probe) {
  const std::string& path = probe.library;
  const bool compat =
      path.find("/compat/") != std::string::npos || path.find("/cuda-compat") != std::string::npos;
  if (!compat || probe.status == ProbeStatus::ok) return std::nullopt;
  for (const Device& device : probe.devices) {
    const auto last = device.capability ? last_driver_branch_for(*device.capability) : std::nullopt;
    if (!last || !is_dropped_by_branch(probe.library_version, *device.capability)) continue;
    Finding finding{FindingId::libcuda, Rank::certain};
    finding.code = kNoDevice;
    finding.cause = "the libcuda of the package cuda-compat " + probe.library_version + " does not know " +
                    archguard::describe(device) + ": branch " + std::to_string(*last) +
                    " is the last that does";
    finding.evidence = {"libcuda " + path, "kernel driver " + probe.driver_version};
    finding.fix = "remove " + folder_of(path) +
                  " from LD_LIBRARY_PATH, or from /etc/ld.so.conf.d and run ldconfig, so that the driver's "
                  "own libcuda is "
                  "found; it serves what is built for its CUDA or an older one";
    finding.errors = {"libcuda-of-another-release"};
    return finding;
  }
  return std::nullopt;
}

// What the probe has met is told by check_driver; this is for what stands in LD_LIBRARY_PATH where the driver
// was not asked, or answered in spite of it.
void check_libcuda(const Facts& facts, Findings& findings) {
  check_wsl(facts, findings);
  if (facts.probe)
    if (auto finding = dropped_by_compat(*facts.probe)) findings.push_back(std::move(*finding));
  for (const ProcessFacts& process : facts.processes)
    for (const std::string& path : process.libraries) check_loaded(process, path, findings);
  const bool asked = facts.probe.has_value();
  for (const LibcudaCopy& copy : facts.libcudas) {
    if (copy.found_by != "LD_LIBRARY_PATH" || !(copy.stub || copy.compat)) continue;
    if (asked && facts.probe->status != ProbeStatus::ok) continue;
    const bool loaded_by_programs = file_name_of(copy.path) == "libcuda.so.1";
    Finding finding{FindingId::libcuda,
                    copy.stub && loaded_by_programs && !asked ? Rank::likely : Rank::risk};
    finding.code = copy.stub ? 34 : 804;
    finding.cause =
        copy.stub ? "LD_LIBRARY_PATH leads to the toolkit's stub of libcuda, which is no driver"
                  : "LD_LIBRARY_PATH leads to the libcuda of the package cuda-compat, which is for data "
                    "centre GPUs";
    finding.evidence = {copy.path + (copy.version.empty() ? "" : ", " + copy.version)};
    if (!loaded_by_programs)
      finding.evidence.push_back("it is found by programs that ask for " + file_name_of(copy.path) +
                                 "; most ask for libcuda.so.1");
    finding.fix = "remove " + folder_of(copy.path) + " from LD_LIBRARY_PATH";
    findings.push_back(std::move(finding));
  }
}

}  // namespace archguard::doctor
