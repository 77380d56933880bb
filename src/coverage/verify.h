#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coverage/arch_sizes.h"
#include "coverage/embedded.h"
#include "coverage/expected_images.h"
#include "coverage/fix.h"
#include "coverage/for_others.h"
#include "coverage/functions_elsewhere.h"
#include "coverage/judge_fatbin.h"
#include "coverage/library_census.h"
#include "coverage/waivers.h"
#include "device/device_list.h"
#include "installed/package.h"

namespace archguard {

// What is asked of a file: see docs/reference/verdicts.md.
enum class Scope {
  fatbin,   // every fat binary that asks for something must run on the device, with all its kernels
  library,  // some image with kernels fits, and the device gets about as much as others do: for libraries
            // that choose among their images at run time
};
enum class HollowPolicy { error, warn, off };
// A driver that cannot support the file's CUDA runtime (35).
enum class DriverPolicy { error, warn };
// A device that gets far less of a library than others; `error` fails in the clear cases, and warns in the
// others.
enum class PartlyPolicy { error, warn, off };
struct VerifyPolicy {
  Scope scope = Scope::fatbin;
  HollowPolicy hollow = HollowPolicy::warn;
  DriverPolicy driver = DriverPolicy::error;
  PartlyPolicy partly = PartlyPolicy::error;  // with scope library
  EmbeddedPolicy embedded = EmbeddedPolicy::warn;
  JudgePolicy judge;
  FixTarget target;  // that the fix names
};

enum class Coverage { covered, not_covered, unknown };

struct FatbinPlace {
  std::uint64_t offset = 0;  // within the member, else the file
  std::string section;
  std::string member;
};

// What a failure is about, where it is not about one image on one device.
enum class FailureCause { image, hollow, partly, start };

// Fat binaries that fail on one device for the same cause.
struct Failure {
  int code = 0;          // 209, 222, 200, 500, 13; 0 where a policy failed
  bool unknown = false;  // not a failure that is known to happen: it cannot be told
  std::string reason;
  std::vector<FatbinPlace> places;
  std::string found;          // what the first of them holds
  std::string where;          // the first of them, for a message
  std::string kernel;         // one kernel of it, mangled; empty where none can be named
  std::string variable = {};  // where it has no kernel, or lacks a variable: likewise
  FailureCause cause = FailureCause::image;
  std::string fix = {};  // the line to type, empty where there is none
  bool numbered = true;  // false: CUDA does not document which error it is; `code` is that of a single image
  Fix mend = {};         // what `fix` says: of the first of the fat binaries, and of the others, too
  std::vector<Addition> add = {};  // entries that the build's list lacks, where `fix` is to add them
  bool sooner = false;             // the driver says it before another error, which what mends `code` leaves
};

struct FatbinCounts {
  std::uint64_t total = 0;  // that ask for an image; the sum of the others
  std::uint64_t specific = 0, sass = 0, jit = 0, uncovered = 0, unknown = 0;
  std::uint64_t linked_at_load = 0;  // of `jit`: the driver links their objects again
};

struct KernelCounts {
  // Kernels of the fat binaries that are asked for, by fat binary; with scope library, of all fat binaries.
  std::uint64_t total = 0;
  std::uint64_t covered = 0;
  std::vector<std::string> missing;  // mangled; waived ones are left out
  std::vector<std::string> hollow;
  std::vector<std::string> unlaunchable;  // that host code does not register
};

struct VariableCounts {
  std::uint64_t total = 0;           // that host code can name, of the fat binaries that are asked for
  std::vector<std::string> missing;  // mangled; waived ones are left out
  std::vector<std::string> unregistered = {};  // likewise, which host code uses and does not register
  // Likewise, missing in the image that the device takes, and no host code that nvcc compiled names them: of
  // separately compiled code by what it lists, of other code by what it registers (fatbin/host_names.h).
  std::vector<std::string> unnamed;
  std::string unnamed_in = {};  // that image
};

// Fat binaries whose end hangs on the order in which an image is chosen: see other_order.h.
struct OtherOrder {
  std::uint64_t fatbins = 0;
  std::string where;  // the first of them, for a message
  std::string text;   // what other_order() says of it
};

struct DeviceResult {
  Coverage coverage = Coverage::unknown;
  FatbinCounts fatbins;
  KernelCounts kernels;
  VariableCounts variables;
  std::optional<Partly> partly;   // with scope library; whether it fails is told by `failures`
  EmbeddedResult embedded;        // the bare images; a failure too where that is an error
  std::vector<Failure> failures;  // in order of appearance
  std::optional<Version>
      needs_driver;  // the device tells no driver; the lowest CUDA that its driver must offer
  // 35: the CUDA runtime is of this toolkit, and the driver too old to serve it. Whether that fails is the
  // policy's affair, but never where the runtime is in another file, of which this one tells nothing.
  std::optional<Version> toolkit_ahead;
  bool runtime_elsewhere = false;
  std::string runtime_fix;                // with toolkit_ahead
  std::optional<OtherOrder> other_order;  // with scope fat binary
  std::optional<ForOthers> for_others;    // likewise; only where the device is covered without them
  std::string hollow_fix;                 // what mends kernels.hollow, as a line to type
  std::string fix;                        // that of the gravest failure, empty where covered
};

// Devices that the rules cannot tell apart are judged once.
struct DeviceClass {
  Device device;                     // the first of them
  std::vector<std::size_t> members;  // indices into the devices of the request
  // The driver of one of them may offer more than its version tells: by the package cuda-compat.
  bool may_have_compat = false;
};
// Only devices that are wanted and have a capability. The others are judged by nobody, and those that are
// wanted must be reported as unknown.
std::vector<DeviceClass> classes_of(const DeviceList& devices);

// What the file lacks of the images that the build asked for.
struct ExpectFailure {
  FatbinPlace place;
  std::string where;  // for a message
  std::vector<ExpectedImage> absent;
  std::string found;
  std::optional<Version> toolkit;  // the newest that made one of its images
};
struct ExpectResult {
  std::uint64_t fatbins = 0;   // that were held against the list
  std::uint64_t specific = 0;  // exempt, see ExpectVerdict
  std::vector<ExpectFailure> failures;
};

// The kernels or variables of the file that fail on the device with this failure's error; empty where that
// is none of single kernels and variables.
const std::vector<std::string>& names_failing(const DeviceResult& result, const Failure& failure);

struct FileResult {
  std::string path;
  std::string member;                 // of a zip file, where the result is that of one of its members
  bool has_fatbins = false;           // fat binaries, whatever is in them
  bool has_code = false;              // kernels or variables, or what may hold them
  bool opened = true;                 // false: only errors are known, of what could not be opened or walked
  bool named = true;                  // by the user; else one of a folder's files
  std::string needed_by;              // the file that needs this library, where it was found so
  bool by_linker = false;             // in a folder of the linker; the loader would not find it here
  bool library = false;               // judged with scope library
  bool objects = false;               // unlinked objects or an archive: judged for linkability
  std::vector<DeviceResult> devices;  // one for each class
  ExpectResult expect;
  std::vector<Error> errors;              // what could not be read
  std::vector<Error> warnings;            // see FatbinCode
  std::vector<std::string> runtime_code;  // see DeviceObject
  std::uint64_t optix = 0;              // bare PTX and entries of fat binaries for OptiX, which is not judged
  std::vector<std::string> needs = {};  // paths of the libraries that it needs, where they were looked for
  std::string found_under = {};         // the folder that was named and walked; empty for a file named itself
  std::vector<std::size_t> any_of = {};  // of which it is one: indices into any_of of the verification
  // Of alternatives, or needed by such alone: its failures are none by themselves. See any_of.h.
  bool alternative = false;
  std::vector<std::size_t> libraries = {};  // `needs` as indices of files
  FixTarget target = {};                    // that made it; no name where none is known
  CodeSizes sizes = {};                     // of its device code; nothing rests on them
  std::optional<Package> package = {};      // that it belongs to, where one is known; nothing rests on it
};

// What is told of the file alone, however it came to be judged: without its place among others.
FileResult of_file_alone(FileResult result);

// Told of each fat binary as it is judged: several that stand as data and are taken for one are one.
using OnJudged = std::function<void(const DeviceObject& object, const FatbinCode& code)>;

struct VerifyRequest {
  std::vector<DeviceClass> classes;
  std::vector<ExpectedImage> expected;  // empty: nothing is expected
  VerifyPolicy policy;
};

// Judges one file for all classes of devices, fat binary by fat binary: memory stays at one image.
// `elsewhere` is asked where a driver lacks a function that the file calls; empty where nobody can tell.
FileResult verify_file(const DeviceCode& code, const ByteSource& file, const std::string& path,
                       const VerifyRequest& request, Waivers& waivers, const AskElsewhere& elsewhere = {},
                       const OnJudged& on_judged = {});

}  // namespace archguard
