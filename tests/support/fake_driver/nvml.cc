// libnvidia-ml.so.1 of a played machine: it shows every GPU, whatever CUDA_VISIBLE_DEVICES says.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

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

// nvmlInit and nvmlShutdown count, and any thread may call them.
std::mutex mutex;
std::atomic<int> users = 0;
std::vector<FakeDevice> listed;

int enter(const char* function) {
  if (const int code = play(function); code != 0) return code;
  return users > 0 ? 0 : 1;
}

int copy_text(const char* function, const std::string& text, char* target, unsigned size) {
  if (text.empty()) return 3;
  give_text(function, target, size, text);
  return 0;
}

}  // namespace

EXPORT int nvmlInit_v2() {
  if (const int code = play("nvmlInit_v2"); code != 0) return code;
  const std::lock_guard<std::mutex> held(mutex);
  ++users;
  if (!listed.empty()) return 0;
  for (const auto& device : fake_machine().devices)
    if (device.in_nvml) listed.push_back(device);
  std::stable_sort(listed.begin(), listed.end(),
                   [](const FakeDevice& a, const FakeDevice& b) { return a.nvml_place < b.nvml_place; });
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
  return listed[index].handle;
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

// A partitioned GPU has one instance. Its UUID is what cuDeviceGetUuid_v2 gives: that of the GPU with another
// end.
EXPORT int nvmlDeviceGetMaxMigDeviceCount(const FakeDevice* device, unsigned* count) {
  if (const int code = enter("nvmlDeviceGetMaxMigDeviceCount"); code != 0) return code;
  *count = device->mig ? 7 : 0;
  return 0;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(const FakeDevice* device, unsigned index,
                                               FakeDevice** instance) {
  if (const int code = enter("nvmlDeviceGetMigDeviceHandleByIndex"); code != 0) return code;
  if (!device->mig || !device->has_instance || index != 0 || device->uuid.size() < 6) return 6;  // NVML_ERROR_NOT_FOUND
  static std::vector<std::unique_ptr<FakeDevice>> instances;
  instances.push_back(std::make_unique<FakeDevice>(*device));
  std::string& uuid = instances.back()->uuid;
  char end[3];
  std::snprintf(end, sizeof end, "%02x",
                ~static_cast<unsigned>(std::stoul(uuid.substr(uuid.size() - 2), nullptr, 16)) & 0xff);
  uuid = "MIG-" + uuid.substr(4, uuid.size() - 6) + end;
  *instance = instances.back().get();
  return 0;
}

EXPORT int nvmlShutdown() {
  if (const int code = enter("nvmlShutdown"); code != 0) return code;
  --users;
  return 0;
}

EXPORT const char* nvmlErrorString(int code) {
  static thread_local char text[32];
  std::snprintf(text, sizeof text, "played error %d", code);
  return text;
}
