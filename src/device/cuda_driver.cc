#include <cstdio>
#include <string>

#include "device/answers.h"
#include "device/driver_library.h"
#include "device/drivers.h"
#include "device/isolated_child.h"
#include "device/system.h"

namespace archguard {
namespace {

// Types and numbers of NVIDIA's cuda.h (CUDA Driver API reference): CUresult and CUdevice are int, CUuuid is
// 16 bytes, and these two values of CUdevice_attribute give the compute capability.
constexpr int kAttributeMajor = 75;
constexpr int kAttributeMinor = 76;

struct CudaUuid {
  unsigned char bytes[16];
};

struct CudaApi {
  int (*init)(unsigned) = nullptr;
  int (*driver_get_version)(int*) = nullptr;
  int (*device_get_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_get_name)(char*, int, int) = nullptr;
  int (*device_get_attribute)(int*, int, int) = nullptr;
  int (*device_get_uuid)(CudaUuid*, int) = nullptr;
  int (*device_get_uuid_v2)(CudaUuid*, int) = nullptr;
  int (*device_get_pci_bus_id)(char*, int, int) = nullptr;
};

template <class Function>
void bind(const DynamicLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(library.symbol(name));
}

CudaApi bind_cuda(const DynamicLibrary& library) {
  CudaApi api;
  bind(library, "cuInit", api.init);
  bind(library, "cuDriverGetVersion", api.driver_get_version);
  bind(library, "cuDeviceGetCount", api.device_get_count);
  bind(library, "cuDeviceGet", api.device_get);
  bind(library, "cuDeviceGetName", api.device_get_name);
  bind(library, "cuDeviceGetAttribute", api.device_get_attribute);
  bind(library, "cuDeviceGetUuid", api.device_get_uuid);
  bind(library, "cuDeviceGetUuid_v2", api.device_get_uuid_v2);
  bind(library, "cuDeviceGetPCIBusId", api.device_get_pci_bus_id);
  return api;
}

std::string uuid_text(const char* prefix, const CudaUuid& uuid) {
  std::string text = prefix;
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

// cuDeviceGetUuid names the GPU, cuDeviceGetUuid_v2 the MIG instance where there is one.
void read_uuids(const CudaApi& api, int device, DeviceAnswer& answer) {
  CudaUuid whole{}, instance{};
  const bool has_whole = api.device_get_uuid != nullptr && api.device_get_uuid(&whole, device) == 0;
  const bool has_instance =
      api.device_get_uuid_v2 != nullptr && api.device_get_uuid_v2(&instance, device) == 0;
  if (has_whole) answer.uuid = uuid_text("GPU-", whole);
  if (has_instance && !has_whole) answer.uuid = uuid_text("GPU-", instance);
  if (has_whole && has_instance && uuid_text("", whole) != uuid_text("", instance)) {
    answer.mig_uuid = uuid_text("MIG-", instance);
    answer.mig = true;
  }
}

DeviceAnswer read_cuda_device(const CudaApi& api, int device, AnswerWriter& out) {
  DeviceAnswer answer;
  char text[256] = {};
  if (api.device_get_name != nullptr && api.device_get_name(text, sizeof text - 1, device) == 0)
    answer.name.assign(text);
  const auto attribute = [&](int which) -> std::optional<int> {
    int value = 0;
    if (api.device_get_attribute == nullptr) return std::nullopt;
    if (const int code = api.device_get_attribute(&value, which, device); code != 0) {
      out.failure("cuDeviceGetAttribute", code);
      return std::nullopt;
    }
    return value;
  };
  answer.major = attribute(kAttributeMajor);
  answer.minor = attribute(kAttributeMinor);
  read_uuids(api, device, answer);
  char bus_id[64] = {};
  if (api.device_get_pci_bus_id != nullptr &&
      api.device_get_pci_bus_id(bus_id, sizeof bus_id - 1, device) == 0)
    answer.pci_bus_id = normal_pci_bus_id(bus_id);
  return answer;
}

void read_cuda_devices(const CudaApi& api, AnswerWriter& out) {
  out.stage("cuDeviceGetCount");
  int count = 0;
  if (const int code = api.device_get_count(&count); code != 0) return out.failure("cuDeviceGetCount", code);
  if (count < 0 || static_cast<unsigned>(count) > kMostDevices) return out.bad_count(std::to_string(count));
  for (int i = 0; i < count; ++i) {
    out.stage("cuDeviceGet");
    int device = 0;
    if (const int code = api.device_get(&device, i); code != 0) {
      out.failure("cuDeviceGet", code);
      continue;
    }
    out.device(read_cuda_device(api, device, out));
  }
}

}  // namespace

void ask_cuda_driver(const RecordSink& sink) {
  AnswerWriter out(sink);
  out.stage("load");
  out.kernel_version(kernel_driver_version(read_small_file("/proc/driver/nvidia/version")));
  const auto library = DynamicLibrary::open(cuda_library_names());
  const CudaApi api = bind_cuda(library);
  out.loaded(library);
  const bool usable = api.init != nullptr && api.device_get_count != nullptr && api.device_get != nullptr;
  bool failed = !usable;
  if (usable) {
    out.stage("cuInit");
    const int code = api.init(0);
    failed = code != 0;
    if (failed) {
      out.failure("cuInit", code);
    } else {
      out.initialised();
    }
    if (api.driver_get_version != nullptr) {  // answers without cuInit too
      out.stage("cuDriverGetVersion");
      int number = 0;
      if (const int version_code = api.driver_get_version(&number); version_code != 0) {
        out.failure("cuDriverGetVersion", version_code);
      } else {
        out.cuda_number(number);
      }
    }
    if (!failed) read_cuda_devices(api, out);
  }
  if (failed && opens_for_reading("/dev/nvidiactl")) out.control_opens();
}

}  // namespace archguard
