// libcuda.so.1 as a program of a played machine sees it.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "support/fake_driver/machine.h"

#ifdef _WIN32
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif

#ifdef FORWARD_COMPATIBLE
__attribute__((used, section(".note.cuda.fwd_compatibility"))) const char note[] = "forward";
#endif

namespace {

bool initialised = false;
std::vector<FakeDevice> shown;

// The driver takes entries of CUDA_VISIBLE_DEVICES up to the first that names no device, and refuses one that
// is named twice. With a partitioned GPU it shows one instance and nothing else.
int show_devices() {
  std::vector<FakeDevice> all;
  for (const auto& device : fake_machine().devices)
    if (device.in_cuda) all.push_back(device);
  std::vector<std::size_t> order;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
    std::istringstream entries(visible);
    for (std::string entry; std::getline(entries, entry, ',');) {
      std::size_t index = all.size();
      if (!entry.empty() && entry.find_first_not_of("0123456789") == std::string::npos)
        index = std::stoul(entry);
      for (std::size_t i = 0; i < all.size() && entry.rfind("GPU-", 0) == 0; ++i)
        if (all[i].uuid.rfind(entry, 0) == 0) index = i;
      if (index >= all.size()) break;
      if (std::count(order.begin(), order.end(), index) != 0) return 101;
      order.push_back(index);
    }
  } else {
    for (std::size_t i = 0; i < all.size(); ++i) order.push_back(i);
  }
  for (const std::size_t index : order) shown.push_back(all[index]);
  for (const auto& device : shown)
    if (device.mig) {
      shown = {FakeDevice(device)};
      break;
    }
  return shown.empty() ? 100 : 0;
}

int begin(const char* function) {
  if (const int code = play(function); code != 0) return code;
  return initialised ? 0 : 3;
}

int uuid_bytes(const std::string& uuid, unsigned char* bytes) {
  std::string digits;
  for (const char c : uuid.substr(std::min<std::size_t>(4, uuid.size())))
    if (c != '-') digits += c;
  if (digits.size() != 32) return 1;
  for (std::size_t i = 0; i < 16; ++i)
    bytes[i] = static_cast<unsigned char>(std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, 16));
  return 0;
}

}  // namespace

EXPORT int cuInit(unsigned) {
  if (const int code = play("cuInit"); code != 0) return code;
  if (const int code = show_devices(); code != 0) return code;
  initialised = true;
  return 0;
}

EXPORT int cuDriverGetVersion(int* version) {
  if (const int code = play("cuDriverGetVersion"); code != 0) return code;
  *version = fake_machine().cuda;
  return 0;
}

EXPORT int cuDeviceGetCount(int* count) {
  if (const int code = begin("cuDeviceGetCount"); code != 0) return code;
  *count =
      static_cast<int>(fake_machine().lies ? fake_machine().count : static_cast<long long>(shown.size()));
  return 0;
}

EXPORT int cuDeviceGet(int* device, int ordinal) {
  if (const int code = begin("cuDeviceGet"); code != 0) return code;
  *device = ordinal;
  return 0;
}

EXPORT int cuDeviceGetName(char* name, int size, int device) {
  if (const int code = begin("cuDeviceGetName"); code != 0) return code;
  const auto& played = shown[static_cast<std::size_t>(device)];
  give_text("cuDeviceGetName", name, static_cast<unsigned>(size),
            played.name + (played.mig ? " MIG 1g.10gb" : ""));
  return 0;
}

EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (const int code = begin("cuDeviceGetAttribute"); code != 0) return code;
  const auto& played = shown[static_cast<std::size_t>(device)];
  *value = attribute == 75 ? played.major : attribute == 76 ? played.minor : 0;
  return 0;
}

EXPORT int cuDeviceGetUuid(unsigned char* uuid, int device) {
  if (const int code = begin("cuDeviceGetUuid"); code != 0) return code;
  return uuid_bytes(shown[static_cast<std::size_t>(device)].uuid, uuid);
}

EXPORT int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  if (const int code = begin("cuDeviceGetUuid_v2"); code != 0) return code;
  const auto& played = shown[static_cast<std::size_t>(device)];
  if (const int code = uuid_bytes(played.uuid, uuid); code != 0) return code;
  if (played.mig) uuid[15] = static_cast<unsigned char>(~uuid[15]);  // the instance has a UUID of its own
  return 0;
}

EXPORT int cuDeviceGetPCIBusId(char* id, int size, int device) {
  if (const int code = begin("cuDeviceGetPCIBusId"); code != 0) return code;
  const auto& played = shown[static_cast<std::size_t>(device)];
  if (played.pci.empty()) return 1;
  give_text("cuDeviceGetPCIBusId", id, static_cast<unsigned>(size), played.pci);
  return 0;
}
