#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compat/toolkit.h"
#include "coverage/expected_images.h"
#include "coverage/fix_target.h"
#include "coverage/judge_fatbin.h"

namespace archguard {

// What is to be built for one arch.
struct Addition {
  Arch arch;
  bool sass = false, ptx = false;
  bool by_lto = false;     // the SASS is linked of LTO-IR (nvcc -dlto), and nvcc's options are others then
  bool lacks_lto = false;  // of none that is there: it is to be compiled, too
};

// One way out of a failure; all of its steps are needed. Data, so that a test can take the steps and judge
// again: the error is gone then, and no other CUDA error has come in its place.
struct Remedy {
  std::vector<std::string> unset;        // variables of the program's environment
  std::optional<Version> driver;         // update the driver to one that offers this CUDA, or a newer one
  std::optional<ToolkitRange> toolkits;  // build with one of these
  std::vector<Arch> drop;                // archs of the file that these toolkits do not make
  std::vector<Addition> add;             // images beside those that are there
  bool apart = false;                    // each is a file of its own: there is no fat binary to hold them
  bool embedded = false;                 // with `apart`: among the data of the file that holds the others
  bool offload = false;                  // the images are clang's: --offload-arch
  bool lz4 = false;                      // compress with LZ4, not with zstd
  bool link = false;                     // link the code for the device, or compile it as a whole
  bool other_library = false;            // another build of the library, for the major version of `toolkits`
  std::vector<Arch> holds;  // another build of the library: with SASS of any one of these, made with
                            // `toolkits` at the newest
};

struct Fix {
  std::vector<Remedy> ways;  // each is enough
  bool leave_out = false;    // the device can also be left out, or there is nothing else to do
  std::string demand;        // the option that asks for what cannot be had: "--require sass"
  bool name_driver = false;  // the device does not tell its driver, and that is asked for
  std::string change;        // of the source: nothing else helps, as each compiler refuses the code
  std::string lacking;       // the image that lacks kernels or variables, or holds kernels empty: "sm_90"

  // Takes the ways away that add images by the toolkit at hand, which cannot build them; `instead` is the
  // change that helps where no other way is left.
  void build_nothing(const std::string& instead);
};

struct FixQuestion {
  const FatbinCode& code;  // or, where it is bare, all images that the file holds as data: see choices.h
  const Device& device;    // has a capability
  const JudgePolicy& policy;
  // Somebody else built the file: another build of it can be had, other images cannot be added.
  bool of_others = false;
  // The CUDA runtime that the file holds or needs, which the driver must serve beside the toolkit that made
  // the images. Nothing where it has none, or where that is not known.
  std::optional<Version> runtime = {};
  std::vector<std::string> excused = {};  // excused_names(): no way has to hold these
};

// What mends a fat binary that `judge` found uncovered, or left unknown for want of a driver. Each way was
// judged: it is none that the tables refuse, that the fat binary has already, or that leads to another error.
Fix find_fix(const FixQuestion& question, const Judgement& judgement);

// Adds to a way that names a toolkit what it takes for that one to build this fat binary, too.
void build_too(Remedy& way, const FatbinCode& code);
// The same for what is built for these archs.
void build_too(Remedy& way, const std::vector<Arch>& archs);

// ---- in fix_text.cc ----

// "update the driver to branch 575 (CUDA 12.9) or newer": one that offers `cuda`. None is newer than the last
// for the device.
std::string update_driver(Version cuda, ComputeCapability device);

// How the fix is said. `held`: what other fat binaries of the file hold, whose build therefore asks for it
// already.
std::string text_of(const Fix& fix, const Device& device, const std::vector<ExpectedImage>& held,
                    const FixTarget& target);

// What is to be added to the build's list, where text_of() says so and no more; else nothing.
std::vector<Addition> entries_to_add(const Fix& fix, const std::vector<ExpectedImage>& held,
                                     const FixTarget& target);

// "add 75-real;90-real to CMAKE_CUDA_ARCHITECTURES (…)", for several devices at once.
std::string fix_by_adding(const std::vector<Addition>& additions, const FixTarget& target);
// "add 75-real to CUDA_ARCHITECTURES of 3 targets ('a', 'b', 'c')"; without any target as above.
std::string fix_by_adding(const std::vector<Addition>& additions, const std::vector<FixTarget>& targets);

// The same for "kernels" or "variables" that an image lacks (500, 13), and for kernels that it holds empty;
// `first` is the one that the report names first, `all` are the file's.
std::string fix_for_missing(const std::string& what, const std::string& image, const std::string& first,
                            const std::vector<std::string>& all, ComputeCapability device);
std::string fix_for_hollow(const std::string& image, const std::string& kernel,
                           const std::vector<std::string>& all, ComputeCapability device);

// The same for fat binaries that are to hold more, whatever the list of the build asks for.
std::string fix_by_building_too(const std::vector<Addition>& additions);

// The same where a library holds less for the device than for others. `asked`: by --partly alone.
std::string fix_for_partly(const Device& device, const JudgePolicy& policy, bool asked);

// The same for images that were asked for and are not there: at least one. `target` is the CMake target whose
// CUDA_ARCHITECTURES asked for them, or empty.
std::string fix_for_absent(const std::vector<ExpectedImage>& absent, const std::string& target,
                           std::optional<Version> toolkit);

}  // namespace archguard
