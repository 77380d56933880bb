#pragma once

#include <cstdint>

#include "coverage/judge_fatbin.h"
#include "fatbin/fatbin.h"

namespace archguard {

// What the headers of fat binaries tell of a device, without the images: which fit, not which kernels are in
// them. A few milliseconds for a library of a gigabyte.
enum class HeaderFit {
  nothing,   // no image that a driver would load
  sass,      // SASS fits
  jit,       // PTX fits, and the driver compiles it
  specific,  // `a` and `f` images alone, for other devices
  none,      // no image fits: 209
  too_new,   // only PTX fits, which the driver does not compile: 222
  packed,    // what fits is compressed in a way that the driver does not know: 200
  jit_off,   // only PTX fits, and the environment forbids to compile it: 223
  unknown,   // an image that is not understood may be the one
};
// Precondition: the device has a capability.
HeaderFit fit_by_headers(const Fatbin& fatbin, const Device& device, const JitEnvironment& environment);
// Is it an object of a device link with an image that the driver could link again for the device?
bool may_link_by_headers(const Fatbin& fatbin, const Device& device);

// How a file's fat binaries fit one device.
struct FileFit {
  std::uint64_t sass = 0, jit = 0, specific = 0, none = 0, too_new = 0, packed = 0, jit_off = 0, unknown = 0;
  std::uint64_t fitting_bytes = 0, best_bytes = 0;  // of images: that fit it, and the device that most fit
  std::uint64_t to_link = 0;     // objects of a device link that the driver may link again for it
  std::uint64_t mixed_gaps = 0;  // of `none`: fat binaries with several architectures, none of them this
  // Set by who has read the kernels, where the headers do not decide.
  enum class State { no_code, served, lacking, partly, unknown };
  State state = State::no_code;
  std::string partly = {};      // "1 of 5078 kernels"
  bool driver_refuses = false;  // where it is partly: a newer driver would load the rest
  bool texts = false;           // `none` are PTX texts by themselves

  std::uint64_t good() const { return sass + jit; }
  std::uint64_t failing() const { return none + too_new + packed + jit_off; }
  int code() const;  // CUDA's number, of a file that is lacking
};

void add_fit(FileFit& fit, HeaderFit of_one);

// By headers alone; false where the kernels have to be read: some fat binaries fit, and not nearly as much
// of the file as fits other devices, or what does not fit may be linked when it is loaded.
bool decide_by_headers(FileFit& fit);

}  // namespace archguard
