#include "device/diagnose.h"

#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "device/causes.h"
#include "device/driver_library.h"
#include "device/failure_words.h"
#include "device/isolated_child.h"

namespace archguard {
namespace {

// Compute capabilities are X.Y with one digit behind the dot; what a driver answers beyond that is nonsense.
std::optional<ComputeCapability> sane_capability(const DeviceAnswer& answer) {
  if (!answer.major || !answer.minor) return std::nullopt;
  if (*answer.major < 1 || *answer.major > 99 || *answer.minor < 0 || *answer.minor > 9) return std::nullopt;
  return ComputeCapability{*answer.major, *answer.minor};
}

bool same_gpu(const DeviceAnswer& a, const DeviceAnswer& b) {
  if (!a.uuid.empty() && !b.uuid.empty()) return a.uuid == b.uuid;
  return !a.pci_bus_id.empty() && a.pci_bus_id == b.pci_bus_id;
}

bool has_identity(const DeviceAnswer& answer) {
  return !answer.uuid.empty() || !answer.pci_bus_id.empty();
}

// What both libraries say of the driver; the better source first.
struct DriverFacts {
  std::string version, version_source;
  std::optional<Version> cuda;
  std::string cuda_source;
  bool by_branch = false;  // no library told `cuda`
};

DriverFacts driver_facts(const LibraryAnswers& cuda, const LibraryAnswers& nvml) {
  DriverFacts facts;
  facts.version = nvml.driver_version.empty() ? cuda.kernel_version : nvml.driver_version;
  if (!facts.version.empty()) facts.version_source = nvml.driver_version.empty() ? "proc" : "nvml";
  if (cuda.cuda_number) facts.cuda = version_from_cuda_number(*cuda.cuda_number);
  if (facts.cuda) {
    facts.cuda_source = "cuda";
    return facts;
  }
  if (nvml.cuda_number) facts.cuda = version_from_cuda_number(*nvml.cuda_number);
  if (facts.cuda) {
    facts.cuda_source = "nvml";
  } else if (!facts.version.empty()) {
    facts.cuda = driver_cuda_of(facts.version);
    facts.by_branch = facts.cuda.has_value();
    if (facts.cuda) facts.cuda_source = facts.version_source;
  }
  return facts;
}

// The fields of one GPU, from the driver API where it shows the GPU, else from NVML.
Device make_device(const DeviceAnswer* cuda, const DeviceAnswer* nvml, const DriverFacts& driver) {
  Device device;
  device.origin = "this machine";
  device.driver_version = driver.version;
  device.driver_cuda = driver.cuda;
  if (!driver.version.empty()) device.source["driver_version"] = driver.version_source;
  if (driver.cuda) device.source["driver_cuda"] = driver.cuda_source;
  const auto take = [&](const DeviceAnswer* answer, const char* source) {
    if (answer == nullptr) return;
    const auto text = [&](const char* field, std::string& target, const std::string& value) {
      if (!target.empty() || value.empty()) return;
      target = printable(value);
      device.source[field] = source;
    };
    text("name", device.name, answer->name);
    text("uuid", device.uuid, answer->uuid);
    text("pci_bus_id", device.pci_bus_id, answer->pci_bus_id);
    if (const auto capability = sane_capability(*answer); capability && !device.capability) {
      device.capability = capability;
      device.source["compute_capability"] = source;
    }
    if (answer->mig && !device.mig) {
      device.mig = true;
      device.source["mig"] = source;
    }
  };
  // Of a partitioned GPU the driver API shows an instance; NVML speaks of the GPU itself.
  const bool partitioned = (cuda != nullptr && cuda->mig) || (nvml != nullptr && nvml->mig);
  if (partitioned) take(nvml, "nvml");
  take(cuda, "cuda");
  take(nvml, "nvml");
  device.cuda_by_branch = driver.by_branch;
  if (driver.by_branch && device.capability && may_be_tegra(*device.capability)) {
    device.driver_cuda.reset();
    device.cuda_by_branch = false;
    device.source.erase("driver_cuda");
  }
  device.cuda_at_least = device.cuda_by_branch && is_driver_beyond_table(device.driver_version);
  return device;
}

// Devices in CUDA's order, then those that only NVML shows. Numbers never match the two: they count
// differently.
void merge_devices(const LibraryAnswers& cuda, const LibraryAnswers& nvml, const Surroundings& around,
                   const DriverFacts& driver, ProbeResult& result) {
  std::string matched(nvml.devices.size(), 0);  // 1: CUDA shows it too
  bool all_identified = true, instance = false;
  for (const auto& shown : cuda.devices) {
    const DeviceAnswer* same = nullptr;
    for (std::size_t i = 0; i < nvml.devices.size() && same == nullptr; ++i) {
      if (!same_gpu(shown, nvml.devices[i])) continue;
      matched[i] = 1;
      same = &nvml.devices[i];
    }
    all_identified = all_identified && has_identity(shown);
    instance = instance || shown.mig || (same != nullptr && same->mig);
    result.devices.push_back(make_device(&shown, same, driver));
  }
  std::size_t hidden = 0;
  for (std::size_t i = 0; i < nvml.devices.size(); ++i) {
    if (matched[i] != 0 || !all_identified) continue;
    Device device = make_device(nullptr, &nvml.devices[i], driver);
    // CUDA enumerates one MIG instance a process, and then no GPU beside it (MIG User Guide, "CUDA Device
    // Enumeration"): the others are there for other processes.
    device.visible = instance && !around.cuda_visible_devices;
    if (!device.visible) ++hidden;
    result.devices.push_back(device);
  }
  if (!all_identified && !nvml.devices.empty()) {
    result.diagnostics.push_back({"enumerate", std::nullopt, "",
                                  "the CUDA driver tells neither UUID nor PCI bus id, so what NVML says of " +
                                      count_of(nvml.devices.size(), "GPU") + " cannot be matched",
                                  ""});
  }
  if (hidden == 0 || cuda.devices.empty()) return;
  const std::string who =
      around.cuda_visible_devices
          ? "CUDA_VISIBLE_DEVICES is '" + printable(*around.cuda_visible_devices) + "' and hides "
          : "the CUDA driver does not show ";
  result.diagnostics.push_back(
      {"environment", std::nullopt, "",
       who + std::to_string(hidden) + " of " + count_of(result.devices.size(), "GPU"),
       around.cuda_visible_devices ? "unset CUDA_VISIBLE_DEVICES to select for all of them"
                                   : "name every GPU in a fleet file"});
}

// What the PCI bus shows beside, so that nobody takes a machine whose driver fails for one without a GPU.
void add_pci_gpus(const Surroundings& around, ProbeResult& result) {
  const std::size_t answered = result.devices.size();
  for (const auto& gpu : around.pci_gpus) {
    bool known = false;
    for (std::size_t i = 0; i < answered; ++i) known = known || result.devices[i].pci_bus_id == gpu.bus_id;
    if (known) continue;
    Device device;
    device.origin = "this machine";
    device.pci_bus_id = gpu.bus_id;
    device.source["pci_bus_id"] = "sys";
    result.devices.push_back(device);
  }
}

void add_noise(const char* library, const LibraryAnswers& answers, ProbeResult& result) {
  const std::string_view noise = trim(answers.noise);
  if (noise.empty()) return;
  result.diagnostics.push_back(
      {"output", std::nullopt, "", std::string(library) + " printed: " + excerpt(noise, 400), ""});
}

const char* cuda_library_name(const Surroundings& around) {
  return around.windows ? "nvcuda.dll" : "libcuda";
}

// 34 and 100 say that there is nothing to use; every other failure is one of a driver that is there.
bool means_none(int code) {
  return code == 34 || code == 100;
}

Diagnostic explain_bad_count(const char* stage, const std::string& library, const LibraryAnswers& answers) {
  return {stage, std::nullopt, "", library + in_file(answers.path) + " counts " + answers.bad_count + " GPUs",
          "reinstall the NVIDIA driver"};
}

void judge_cuda(const FailureFacts& facts, ProbeResult& result) {
  const LibraryAnswers& cuda = facts.cuda;
  const bool ended_early = cuda.end != ChildOutcome::End::finished;
  if (ended_early) {
    result.status = ProbeStatus::failed;
    result.diagnostics.push_back(explain_end(cuda_library_name(facts.around), cuda, facts.around));
  } else if (!cuda.initialised && cuda.failures.empty()) {
    const bool missing = cuda.state == DynamicLibrary::State::missing;
    result.status = missing && !kernel_driver_present(facts) ? ProbeStatus::none : ProbeStatus::failed;
    result.diagnostics.push_back(explain_load(facts));
  } else if (!cuda.initialised) {
    result.status = means_none(cuda.failures.front().code) ? ProbeStatus::none : ProbeStatus::failed;
    result.diagnostics.push_back(explain_cuda_code(cuda.failures.front(), facts));
  } else if (!cuda.bad_count.empty()) {
    result.status = ProbeStatus::failed;
    result.diagnostics.push_back(
        explain_bad_count("cuDeviceGetCount", cuda_library_name(facts.around), cuda));
  } else if (cuda.devices.empty() && cuda.failures.empty()) {
    result.status = ProbeStatus::none;
    result.diagnostics.push_back(explain_cuda_code({"cuDeviceGetCount", 100}, facts));
    result.diagnostics.back().code.reset();  // the call succeeded, with no device to show
    result.diagnostics.back().name.clear();
  } else {
    result.status = cuda.devices.empty() ? ProbeStatus::failed : ProbeStatus::ok;
    for (const auto& failure : cuda.failures) {
      const Diagnostic* last = result.diagnostics.empty() ? nullptr : &result.diagnostics.back();
      if (last == nullptr || last->stage != failure.call || last->code != failure.code)
        result.diagnostics.push_back(explain_cuda_code(failure, facts));
    }
  }
  if (cuda.cuda_number && !version_from_cuda_number(*cuda.cuda_number)) {
    result.diagnostics.push_back({"cuDriverGetVersion", std::nullopt, "",
                                  "the driver gives " + std::to_string(*cuda.cuda_number) +
                                      " as its CUDA version, which is none (1000…99990)",
                                  "reinstall the NVIDIA driver"});
  }
}

void judge_nvml(const FailureFacts& facts, ProbeResult& result) {
  const LibraryAnswers& nvml = facts.nvml;
  // Without a libcuda there is nothing that NVML's failure could add; a missing NVML is ordinary (Tegra).
  if (facts.cuda.state == DynamicLibrary::State::missing && facts.cuda.end == ChildOutcome::End::finished &&
      result.status == ProbeStatus::none)
    return;
  if (nvml.end != ChildOutcome::End::finished)
    result.diagnostics.push_back(explain_end("NVML", nvml, facts.around));
  if (!nvml.bad_count.empty()) result.diagnostics.push_back(explain_bad_count("nvml", "NVML", nvml));
  for (const auto& failure : nvml.failures) result.diagnostics.push_back(explain_nvml_code(failure, facts));
}

}  // namespace

ProbeResult judge_answers(const LibraryAnswers& cuda, const LibraryAnswers& nvml,
                          const Surroundings& around) {
  ProbeResult result;
  const DriverFacts driver = driver_facts(cuda, nvml);
  const FailureFacts facts{cuda, nvml, around, driver.version};
  result.driver_version = driver.version;
  result.driver_cuda = driver.cuda;
  result.library = cuda.path;
  result.library_version = around.library_version;
  judge_cuda(facts, result);
  judge_nvml(facts, result);
  merge_devices(cuda, nvml, around, driver, result);
  if (driver.by_branch && std::any_of(result.devices.begin(), result.devices.end(),
                                      [](const Device& device) { return !device.driver_cuda; }))
    result.driver_cuda.reset();
  if (result.status != ProbeStatus::ok) {
    add_pci_gpus(around, result);
    for (auto& device : result.devices) device.visible = false;
  }
  if (cuda.state == DynamicLibrary::State::loaded)
    for (auto& diagnostic : explain_environment(around)) {
      const auto tells_it = [&](const Diagnostic& each) { return each.cause == diagnostic.cause; };
      const auto& told = result.diagnostics;
      if (std::none_of(told.begin(), told.end(), tells_it))
        result.diagnostics.push_back(std::move(diagnostic));
    }
  add_noise(cuda_library_name(around), cuda, result);
  add_noise("NVML", nvml, result);
  return result;
}

}  // namespace archguard
