#include <cstdio>
#include <string>

#include "device/answers.h"
#include "device/driver_library.h"
#include "device/drivers.h"
#include "device/isolated_child.h"

namespace archguard {
namespace {

// Types and numbers of NVIDIA's nvml.h (NVML API reference). nvmlPciInfo_t begins with the 16 letters of the
// old bus id and these three numbers in all its versions; the rest is room for what follows.
struct NvmlPciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device;
  char rest[128];
};
using NvmlDevice = void*;

struct NvmlApi {
  int (*init)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*cuda_version)(int*) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*pci_info)(NvmlDevice, NvmlPciInfo*) = nullptr;
  int (*capability)(NvmlDevice, int*, int*) = nullptr;
  int (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = nullptr;
};

// Each function under the first of its names that the library has.
template <class Function>
void bind_nvml(const DynamicLibrary& library, std::initializer_list<const char*> names, Function& function) {
  for (const char* name : names)
    if (function == nullptr) function = reinterpret_cast<Function>(library.symbol(name));
}

NvmlApi bind_nvml_api(const DynamicLibrary& library) {
  NvmlApi api;
  bind_nvml(library, {"nvmlInit_v2", "nvmlInit"}, api.init);
  bind_nvml(library, {"nvmlSystemGetDriverVersion"}, api.driver_version);
  bind_nvml(library, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"},
            api.cuda_version);
  bind_nvml(library, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, api.count);
  bind_nvml(library, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, api.handle);
  bind_nvml(library, {"nvmlDeviceGetName"}, api.name);
  bind_nvml(library, {"nvmlDeviceGetUUID"}, api.uuid);
  bind_nvml(library, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"},
            api.pci_info);
  bind_nvml(library, {"nvmlDeviceGetCudaComputeCapability"}, api.capability);
  bind_nvml(library, {"nvmlDeviceGetMigMode"}, api.mig_mode);
  return api;
}

DeviceAnswer read_nvml_device(const NvmlApi& api, NvmlDevice device) {
  DeviceAnswer answer;
  char text[256] = {};
  if (api.name != nullptr && api.name(device, text, sizeof text - 1) == 0) answer.name.assign(text);
  char uuid[128] = {};
  if (api.uuid != nullptr && api.uuid(device, uuid, sizeof uuid - 1) == 0) answer.uuid.assign(uuid);
  if (NvmlPciInfo pci{}; api.pci_info != nullptr && api.pci_info(device, &pci) == 0) {
    char bus_id[32];
    std::snprintf(bus_id, sizeof bus_id, "%x:%x:%x.0", pci.domain, pci.bus, pci.device);
    answer.pci_bus_id = normal_pci_bus_id(bus_id);
  }
  int major = 0, minor = 0;
  if (api.capability != nullptr && api.capability(device, &major, &minor) == 0) {
    answer.major = major;
    answer.minor = minor;
  }
  unsigned current = 0, pending = 0;
  answer.mig = api.mig_mode != nullptr && api.mig_mode(device, &current, &pending) == 0 && current == 1;
  return answer;
}

}  // namespace

void ask_nvml(const RecordSink& sink) {
  AnswerWriter out(sink);
  out.stage("load");
  const auto library = DynamicLibrary::open(nvml_library_names());
  const NvmlApi api = bind_nvml_api(library);
  out.loaded(library);
  if (api.init == nullptr || api.count == nullptr || api.handle == nullptr) return;
  out.stage("nvmlInit");
  if (const int code = api.init(); code != 0) return out.failure("nvmlInit", code);
  out.initialised();

  char version[96] = {};
  if (api.driver_version != nullptr && api.driver_version(version, sizeof version - 1) == 0)
    out.driver_version(version);
  int number = 0;
  if (api.cuda_version != nullptr && api.cuda_version(&number) == 0) out.cuda_number(number);

  out.stage("nvmlDeviceGetCount");
  unsigned count = 0;
  if (const int code = api.count(&count); code != 0) return out.failure("nvmlDeviceGetCount", code);
  if (count > kMostDevices) return out.bad_count(std::to_string(count));
  for (unsigned i = 0; i < count; ++i) {
    out.stage("nvmlDeviceGetHandleByIndex");
    NvmlDevice device = nullptr;
    if (const int code = api.handle(i, &device); code != 0) {
      out.failure("nvmlDeviceGetHandleByIndex", code);
      continue;
    }
    out.device(read_nvml_device(api, device));
  }
}

}  // namespace archguard
