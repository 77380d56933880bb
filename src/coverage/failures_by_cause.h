#pragma once

#include <string>
#include <vector>

#include "coverage/device_link.h"
#include "coverage/verify.h"

namespace archguard {

// Why a fat binary fails.
struct Cause {
  int number = 0;        // of CUDA's error
  bool numbered = true;  // false: CUDA does not document which it is
  bool unknown = false;  // it cannot be told whether it fails
  std::string reason;
  FailureCause about = FailureCause::image;
  Fix mend = {};
  bool sooner = false;  // as Failure's
};

// Causes beyond that many are counted with the last: such a file is damaged throughout.
inline constexpr std::size_t kCausesMost = 100;

// Gathers what fails on one device, by cause. Writes into `failures`, which outlives it, as the device does.
class FailuresByCause {
 public:
  FailuresByCause(const Device& device, const FixTarget& target, std::vector<Failure>& failures)
      : device_(device), target_(target), failures_(failures) {}

  // `kernel` and `variable`: one of the fat binary, or empty.
  void add(const DeviceObject& object, const FatbinCode& code, const Cause& cause, const std::string& kernel,
           const std::string& variable);
  void add(const Cause& cause, const std::string& kernel, const std::string& variable,
           const LinkJudge::Subject& subject);

 private:
  Failure* like(const Cause& cause, bool of_variable);

  const Device& device_;
  const FixTarget& target_;
  std::vector<Failure>& failures_;
};

// With scope library: leaves nothing but what was asked of hollow kernels.
void forgive_fatbins(std::vector<Failure>& failures);

// With scope library: where a newer driver, or another environment, would let the library choose an image,
// the fat binaries that have none for this device, or of which it cannot be told whether they run, are not
// what fails; but where no such error is sure, those that may end in one remain. Is it so?
bool forgive_missing_images(std::vector<Failure>& failures);

}  // namespace archguard
