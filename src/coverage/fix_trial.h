#pragma once

#include <optional>
#include <vector>

#include "coverage/fix.h"

namespace archguard {

// Takes the steps of a remedy, and judges what comes of it.
class FixTrial {
 public:
  // `code` is light (without_names(), demanded_names.h); `toolkit` made it, where that is known. All are kept
  // by reference.
  FixTrial(const FixQuestion& question, const FatbinCode& code, const std::optional<Version>& toolkit)
      : question_(question), code_(code), toolkit_(toolkit) {}

  // Is the failure gone then, and no other error in its place?
  bool mends(const Remedy& remedy) const;

  // The lowest CUDA that a driver must offer for the remedy to work, where there is such a driver for the
  // device.
  std::optional<Version> driver_for(const Remedy& remedy) const;

 private:
  // The builds that the remedy leaves open: with its oldest toolkit and with its newest, with each arch.
  struct Build {
    std::optional<Version> toolkit;
    std::optional<Arch> only;
  };
  static std::vector<Build> builds_of(const Remedy& remedy);

  // What the fat binary then asks of the driver: nothing where it fails, or has an image already that is to
  // be added.
  std::optional<Version> needs_of(const Remedy& remedy, const Build& build,
                                  std::optional<Version> driver) const;
  std::optional<Version> needs_of(const FatbinCode& code, const Device& device, const JudgePolicy& policy,
                                  const Build& build) const;
  // An image as an added one is compiled: for linking or not, and packed as those that are there.
  Image like() const;

  const FixQuestion& question_;
  const FatbinCode& code_;
  const std::optional<Version>& toolkit_;
};

}  // namespace archguard
