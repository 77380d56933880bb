#include "coverage/device_refusal.h"

#include <algorithm>

#include "compat/rules.h"
#include "coverage/judge_fatbin.h"

namespace archguard {
namespace {

constexpr const char* kSynchronize = "cudaDeviceSynchronize";

}  // namespace

bool wants_device_sync(const Image& image) {
  if (image.entry.kind != EntryKind::ptx || !image.code) return false;
  const auto& wanted = image.code->names.wanted;
  return std::find(wanted.begin(), wanted.end(), kSynchronize) != wanted.end();
}

std::optional<DeviceRefusal> device_refusal_of(const Image& image, ComputeCapability device) {
  if (image.entry.kind != EntryKind::ptx || !image.code) return std::nullopt;
  if (lacks_device_sync(device) && wants_device_sync(image))
    return DeviceRefusal{
        kUnsupportedDeviceSync,
        std::string("its PTX calls ") + kSynchronize +
            " on the device, which devices of 9.0 and newer do not have",
        std::string("leave that call of ") + kSynchronize +
            " out for 9.0 and newer (#if __CUDA_ARCH__ < 900), and compile for compute_90 as well",
        {}};
  if (!image.code->refused) return std::nullopt;
  return DeviceRefusal{kInvalidPtx, image.code->refused->reason, image.code->refused->mend,
                       image.code->refused->taken_from};
}

}  // namespace archguard
