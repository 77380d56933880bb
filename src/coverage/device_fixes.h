#pragma once

#include <map>
#include <string>
#include <vector>

#include "coverage/runtime.h"
#include "coverage/verify.h"

namespace archguard {

// The fixes of one file for one class of devices. There may be thousands of fat binaries that hold the same
// images, which have the same fix: it is looked for once.
class DeviceFixes {
 public:
  // All outlive it; `device` has a capability.
  DeviceFixes(const Device& device, const VerifyPolicy& policy, const Waivers& waivers)
      : device_(device), policy_(policy), waivers_(waivers) {}

  // What mends this fat binary, which was judged so.
  Fix find(const FatbinCode& code, const Judgement& judgement);

  // Enough of it for find_fix(), which needs no more than it does for this device.
  FatbinCode demands_of(const FatbinCode& code, const Judgement& judgement) const;

  // An image that this device takes holds kernels empty: "sm_90".
  void note_hollow(const std::string& image);

  // Keeps what the fix of error 35 has to serve: fat binaries of toolkits whose runtime the driver does not
  // serve.
  void note_kind(const FatbinCode& code, const Judgement& judgement);
  std::vector<KindOfFatbin> take_kinds();

  // Writes the fixes of all failures, and that of the gravest, into the result, once all is judged: only then
  // are all kernels known that are missing. `held`: the images of the whole file.
  void say(DeviceResult& result, const std::vector<ExpectedImage>& held) const;

 private:
  std::vector<std::string> excused(const FatbinCode& code, const Judgement& judgement) const;
  std::string say(const Failure& failure, const DeviceResult& result,
                  const std::vector<ExpectedImage>& held) const;

  const Device& device_;
  const VerifyPolicy& policy_;
  const Waivers& waivers_;
  std::map<std::string, Fix> found_;           // by the fat binary's kind and the reason
  std::map<std::string, KindOfFatbin> kinds_;  // by their kind
  std::vector<std::string> hollow_in_;
};

}  // namespace archguard
