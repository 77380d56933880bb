#include "device/failure_words.h"

#include "base/printable.h"
#include "base/text.h"

namespace archguard {
namespace {

std::string on_the_bus(const PciGpu& gpu) {
  return gpu.bus_id +
         (gpu.kernel_driver.empty() ? ", without a kernel driver" : ", bound to " + gpu.kernel_driver);
}

}  // namespace

std::string in_file(const std::string& path) {
  return path.empty() ? std::string() : " (" + path + ")";
}

std::string folder_of_library(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

std::string or_unknown(const std::string& version) {
  return version.empty() ? std::string("of unknown version") : version;
}

std::string value_text(const std::string& value) {
  return value.empty() ? std::string("empty") : "'" + printable(value) + "'";
}

std::string seen_by_nvml(const FailureFacts& facts) {
  const auto count = facts.nvml.devices.size();
  return count == 0 ? std::string() : "; NVML sees " + count_of(count, "GPU");
}

// ", though it has …" where the PCI bus shows GPUs that no driver answers for.
std::string seen_on_bus(const FailureFacts& facts) {
  const auto& gpus = facts.around.pci_gpus;
  if (gpus.empty()) return {};
  if (gpus.size() == 1) return ", though it has an NVIDIA GPU (" + on_the_bus(gpus.front()) + ")";
  return ", though it has " + count_of(gpus.size(), "NVIDIA GPU") + " (the first is " +
         on_the_bus(gpus.front()) + ")";
}

}  // namespace archguard
