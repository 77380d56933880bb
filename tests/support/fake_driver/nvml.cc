// libnvidia-ml.so.1 of a played machine: it shows every GPU, whatever CUDA_VISIBLE_DEVICES says.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "support/fake_driver/machine.h"

#ifdef _WIN32
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace {

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

bool ready = false;
std::vector<FakeDevice> listed;

int enter(const char* function) {
  if (const int code = play(function); code != 0) return code;
  return ready ? 0 : 1;
}

int copy_text(const char* function, const std::string& text, char* target, unsigned size) {
  if (text.empty()) return 3;
  give_text(function, target, size, text);
  return 0;
}

}  // namespace

EXPORT int nvmlInit_v2() {
  if (const int code = play("nvmlInit_v2"); code != 0) return code;
  for (const auto& device : fake_machine().devices)
    if (device.in_nvml) listed.push_back(device);
  std::stable_sort(listed.begin(), listed.end(),
                   [](const FakeDevice& a, const FakeDevice& b) { return a.nvml_place < b.nvml_place; });
  ready = true;
  return 0;
}

EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  if (const int code = enter("nvmlSystemGetDriverVersion"); code != 0) return code;
  return copy_text("nvmlSystemGetDriverVersion", fake_machine().driver, version, size);
}

EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  if (const int code = enter("nvmlDeviceGetCount_v2"); code != 0) return code;
  *count = static_cast<unsigned>(fake_machine().lies ? fake_machine().count
                                                     : static_cast<long long>(listed.size()));
  return 0;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, FakeDevice** device) {
  if (const int code = enter("nvmlDeviceGetHandleByIndex_v2"); code != 0) return code;
  *device = &listed[index];
  return 0;
}

EXPORT int nvmlDeviceGetName(const FakeDevice* device, char* name, unsigned size) {
  if (const int code = enter("nvmlDeviceGetName"); code != 0) return code;
  return copy_text("nvmlDeviceGetName", device->name, name, size);
}

EXPORT int nvmlDeviceGetUUID(const FakeDevice* device, char* uuid, unsigned size) {
  if (const int code = enter("nvmlDeviceGetUUID"); code != 0) return code;
  return copy_text("nvmlDeviceGetUUID", device->uuid, uuid, size);
}

EXPORT int nvmlDeviceGetPciInfo_v3(const FakeDevice* device, PciInfo* pci) {
  if (const int code = enter("nvmlDeviceGetPciInfo_v3"); code != 0) return code;
  std::memset(pci, 0, sizeof *pci);
  const int found = std::sscanf(device->pci.c_str(), "%x:%x:%x", &pci->domain, &pci->bus, &pci->device);
  return found == 3 ? 0 : 3;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(const FakeDevice* device, int* major, int* minor) {
  if (const int code = enter("nvmlDeviceGetCudaComputeCapability"); code != 0) return code;
  *major = device->major;
  *minor = device->minor;
  return 0;
}

EXPORT int nvmlDeviceGetMigMode(const FakeDevice* device, unsigned* current, unsigned* pending) {
  if (const int code = enter("nvmlDeviceGetMigMode"); code != 0) return code;
  if (device->major < 8) return 3;  // NVML_ERROR_NOT_SUPPORTED
  *current = *pending = device->mig ? 1 : 0;
  return 0;
}
