#include "coverage/device_refusal.h"

#include <algorithm>

#include "compat/rules.h"
#include "coverage/judge_fatbin.h"

namespace archguard {
namespace {

constexpr const char* kSynchronize = "cudaDeviceSynchronize";

}  // namespace

std::string call_text(const std::string& image, const DriverFunction& call) {
  return image + " calls " + call.name + ", which drivers bring along from CUDA " + to_string(call.since) +
         " on";
}

bool wants_device_sync(const Image& image) {
  if (image.entry.kind != EntryKind::ptx || !image.code) return false;
  const auto& wanted = image.code->names.wanted;
  return std::find(wanted.begin(), wanted.end(), kSynchronize) != wanted.end();
}

std::optional<DeviceRefusal> device_refusal_of(const Image& image, ComputeCapability device) {
  if (image.entry.kind != EntryKind::ptx || !image.code) return std::nullopt;
  if (image.code->is32) {
    const std::string mend = "compile it for 64 bits (nvcc -m64)";
    if (lacks_32_bits(device))
      return DeviceRefusal{kInvalidPtx,
                           "its PTX has addresses of 32 bits, which no compiler takes for 9.0 and newer",
                           mend,
                           {}};
    return DeviceRefusal{kInvalidPtx,
                         "whether the driver of a 64-bit program takes PTX of 32 bits is not known",
                         mend,
                         {},
                         true};
  }
  if (lacks_device_sync(device) && wants_device_sync(image))
    return DeviceRefusal{
        kUnsupportedDeviceSync,
        std::string("its PTX calls ") + kSynchronize +
            " on the device, which devices of 9.0 and newer do not have",
        std::string("leave that call of ") + kSynchronize +
            " out for 9.0 and newer (#if __CUDA_ARCH__ < 900), and compile for compute_90 as well",
        {}};
  const auto& refused = image.code->refused;
  const auto& call = image.code->newest_call;
  if (call && (!refused || (refused->taken_from && *refused->taken_from < call->since)))
    return DeviceRefusal{kInvalidPtx, call_text("its PTX", *call), {}, call->since};
  if (!refused) return std::nullopt;
  return DeviceRefusal{kInvalidPtx,         refused->reason,   refused->mend,
                       refused->taken_from, refused->in_doubt, refused->not_refused};
}

}  // namespace archguard
