#pragma once

#include <string>
#include <vector>

#include "coverage/any_of.h"
#include "coverage/verify.h"
#include "fatbin/passed_over.h"

namespace archguard {

enum class Outcome { covered, not_covered, unknown, no_device_code };

// A device that was left out when the architectures were chosen; read from the selection's JSON.
struct ExcludedDevice {
  std::string name;
  ComputeCapability capability;
  std::string reason;
  std::optional<Version> first_toolkit, last_toolkit;
  std::string uuid = {};                    // empty where the fleet tells none
  std::optional<Version> driver_cuda = {};  // likewise
  int count = 1;                            // equal devices, as Device's
};

// What is to be said of the libraries that files need, beside their own results.
struct NeededOutcome {
  std::vector<std::string>
      passed_over;            // that hold no code for the program: the driver's, missing ones of compilers
  std::vector<Error> errors;  // libraries that were not found, or are not to be followed
  // Paths where libraries were looked for, which the answer rests on beside the files; `tried_whole` is false
  // where it rests on more than these.
  std::vector<std::string> tried = {};
  bool tried_whole = true;
};

// Everything that a report shows.
struct Verification {
  DeviceList devices;                    // that are judged, or could not be
  std::vector<DeviceClass> classes;      // of `devices`
  std::vector<ExcludedDevice> excluded;  // that the fleet names and that were left out on purpose
  std::vector<std::string> looked_in;    // the paths and lists that were asked for, where all are judged
  std::vector<FileResult> files;
  std::vector<AnyOf> any_of;  // in the order of the command line, those of one glob in that of their files
  std::vector<UnusedWaiver> unused_waivers;
  PassedOver passed_over;               // without it, no file is known to hold no device code
  std::optional<NeededOutcome> needed;  // nothing where nobody asked
  std::string asked;                    // options that judge in another way than by default, or nothing
  bool one_build = false;               // CMake asked, of the files of one build or installation
  bool expects = false;                 // images were expected (--expect)
  std::vector<Error> owner_errors;      // lists of packages that could not be read, or say what cannot be
};

// A device whose capability is not known cannot be judged; one that the environment hides, or
// its fleet leaves out, is nobody's business.
bool is_unjudged(const Device& device);

// Has the file been read, and holds no device code? It may fail all the same, where it does not load.
bool is_without_code(const Verification& verification, const FileResult& file);

// Of this file alone, whatever its alternatives say.
Outcome outcome_of(const Verification& verification, const FileResult& file);

// Of files of which a device needs one. A glob that none with device code matches is a mistake: unknown.
Outcome outcome_of(const Verification& verification, const AnyOf& group);

// Images were expected, there is device code, and no fat binary that they could be in: not covered. Either
// every fat binary of every file is exempt (ExpectVerdict::specific), or the code is no fat binary at all.
bool expects_in_vain(const Verification& verification);
// The latter: the files hold images as data alone, which nothing is expected of.
bool expects_of_data_alone(const Verification& verification);

// The strongest over all files wins: unknown, not covered, no device code, covered. A file without device
// code does not spoil the others: no device code is the answer only where no file holds any.
Outcome outcome_of(const Verification& verification);

}  // namespace archguard
