#include "device/probe.h"

#include "base/bytes.h"
#include "base/text.h"
#include "base/write_file.h"
#include "device/answer_cache.h"
#include "device/answers.h"
#include "device/diagnose.h"
#include "device/drivers.h"
#include "device/elf_section.h"
#include "device/isolated_child.h"
#include "device/system.h"

namespace archguard {
namespace {

constexpr IsolatedBody kAskCudaDriver{"cuda", ask_cuda_driver};
constexpr IsolatedBody kAskNvml{"nvml", ask_nvml};

std::string kind_of_build() {
  if (environment("NIX_BUILD_TOP")) return "a Nix build";
  if (environment("CONDA_BUILD").value_or("") == "1") return "a conda build";
  if (path_exists("/.dockerenv") || path_exists("/run/.containerenv")) return "a container";
  return {};
}

bool is_wsl() {
  const std::string release = to_lower(read_small_file("/proc/sys/kernel/osrelease"));
  return release.find("microsoft") != std::string::npos;
}

// NVIDIA's package of a newer libcuda for an older kernel driver: told by its note, or by its folder.
bool is_forward_compatible(const std::string& library) {
  if (library.empty()) return false;
  const std::string path = real_path(library);
  const auto file = FileSource::open(path);
  return (file && names_elf_section(*file, ".note.cuda.fwd_compatibility")) ||
         path.find("/compat/") != std::string::npos || path.find("/cuda-compat") != std::string::npos;
}

// libcuda.so.580.95.05 → 580.95.05; one number alone is that of the interface, not a version.
std::string version_in_name(const std::string& library) {
  const std::string path = real_path(library);
  const auto at = path.rfind(".so.");
  if (library.empty() || at == std::string::npos) return {};
  const std::string version = path.substr(at + 4);
  const bool digits = version.find_first_not_of("0123456789.") == std::string::npos;
  return digits && version.find('.') >= 3 && version.find('.') != std::string::npos ? version : std::string();
}

// https://docs.kernel.org/PCI/sysfs-pci.html. 0x10de is NVIDIA, class 0x03 a display controller; its audio
// and USB functions have others.
std::vector<PciGpu> gpus_on_bus() {
  const std::string bus = "/sys/bus/pci/devices";
  std::vector<PciGpu> gpus;
  for (const auto& name : list_folder(bus)) {
    const std::string folder = bus + "/" + name;
    if (trim(read_small_file(folder + "/vendor")) != "0x10de") continue;
    if (starts_with(read_small_file(folder + "/class"), "0x03"))
      gpus.push_back({normal_pci_bus_id(name), link_name(folder + "/driver")});
  }
  return gpus;
}

}  // namespace

bool became_driver_child(const std::vector<std::string>& arguments) {
  return became_isolated_child(arguments, {kAskCudaDriver, kAskNvml});
}

ProbeResult probe_this_machine(std::chrono::milliseconds timeout, const std::string& cache_file) {
  MachineState before;
  std::vector<ChildOutcome> outcomes;
  std::string dropped;
  const bool use_cache = !cache_file.empty() && !is_windows();
  if (use_cache) {
    before = machine_state();
    dropped = read_cache(cache_file, before, outcomes);
  } else if (!cache_file.empty()) {
    dropped = "Windows does not tell whether it still holds";
  }
  const bool from_cache = !outcomes.empty();
  if (!from_cache) outcomes = run_isolated({kAskCudaDriver, kAskNvml}, timeout);
  if (!from_cache && use_cache) write_cache(cache_file, before, outcomes);
  const LibraryAnswers cuda = read_answers(outcomes[0]), nvml = read_answers(outcomes[1]);
  Surroundings around;
  around.cuda_visible_devices = environment("CUDA_VISIBLE_DEVICES");
  around.nvidia_visible_devices = environment("NVIDIA_VISIBLE_DEVICES");
  around.cuda_device_order = environment("CUDA_DEVICE_ORDER");
  around.driver_capabilities = environment("NVIDIA_DRIVER_CAPABILITIES");
  around.windows = is_windows();
  around.wsl = is_wsl();
  around.build_kind = kind_of_build();
  around.uvm_node = path_exists("/dev/nvidia-uvm");
  around.forward_compatible = is_forward_compatible(cuda.path);
  around.library_version = version_in_name(cuda.path);
  around.nvml_version = version_in_name(nvml.path);
  if (!cuda.initialised || cuda.devices.empty()) around.pci_gpus = gpus_on_bus();
  around.timeout = timeout;
  ProbeResult result = judge_answers(cuda, nvml, around);
  result.from_cache = from_cache;
  result.cache_dropped = dropped;
  return result;
}

}  // namespace archguard
