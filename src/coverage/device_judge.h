#pragma once

#include <memory>
#include <vector>

#include "coverage/device_link.h"
#include "coverage/driver_calls.h"
#include "coverage/library_census.h"
#include "coverage/runtime.h"
#include "coverage/shared_stubs.h"
#include "coverage/verify.h"
#include "fatbin/host_names.h"

namespace archguard {

// One file's answer for one class of devices, fat binary after fat binary.
class DeviceJudge {
 public:
  // `census` is there with scope library alone, and has counted a fat binary when it comes here. All that is
  // handed over outlives this.
  DeviceJudge(const DeviceClass& devices, const VerifyPolicy& policy, Waivers& waivers,
              const DeviceLinks& links, HostNames& host_names, SharedStubs& stubs, LibraryCensus* census);
  ~DeviceJudge();
  DeviceJudge(DeviceJudge&&) noexcept;

  // `role`: the fat binary's in a device link, or nullptr.
  void add(const DeviceObject& object, const FatbinCode& code, const LinkRole* role);

  // `held`: the images of the whole file, for fixes. `whole`: all of the file was read and understood; else
  // nothing is covered. `runtime_code`: the functions with which the file compiles code, or loads some that
  // it is handed, when it runs. `bare`: what the file holds as data.
  DeviceResult finish(const std::vector<ExpectedImage>& held, bool whole,
                      const std::vector<std::string>& runtime_code, const BareImages& bare,
                      RuntimeUse& runtime, DriverFunctions& functions);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace archguard
