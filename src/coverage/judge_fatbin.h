#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compat/error_codes.h"
#include "coverage/fatbin_code.h"
#include "device/device.h"

namespace archguard {

// What becomes of one fat binary on one device.
enum class Verdict {
  sass,       // the driver takes a SASS image
  jit,        // the driver compiles PTX
  uncovered,  // Judgement::code says how it dies
  unknown,    // cannot be told; never passes
  specific,   // holds `a` or `f` images only and none is for this device: not required here
  nothing,    // asks for nothing: no kernel or variable, or the relocatable part of a linked file
};

// Whose drivers have the error of a device that synchronizes, kUnsupportedDeviceSync.
inline constexpr Version kFirstDeviceSyncError{12, 1};

// What the environment of the program tells the driver; empty: the variable is not set. Each holds the name
// of the variable, for messages. (CUDA Programming Guide, "CUDA Environment Variables".)
struct JitEnvironment {
  std::string forces_jit;    // CUDA_FORCE_PTX_JIT, CUDA_FORCE_JIT: SASS is passed over, PTX is compiled
  std::string disables_jit;  // CUDA_DISABLE_PTX_JIT, CUDA_DISABLE_JIT: PTX is never compiled
};

struct JudgePolicy {
  bool require_sass = false;    // PTX is no answer
  bool require_ptx = false;     // each required fat binary holds plain PTX as well
  bool require_driver = false;  // PTX needs a driver that is known to take it
  JitEnvironment environment = {};
  bool newer_sass = false;  // SASS of a newer toolkit than the driver is promised to load passes
  std::optional<Version> stated_driver = {};  // that may not know the device, and is none of it therefore
};

struct Judgement {
  Verdict verdict = Verdict::nothing;
  // With `uncovered`, of compat/error_codes.h; 0 where a policy of the caller failed and not the driver. With
  // `unknown`, what may happen, where there is one such error; with `specific`, where no other runs.
  int code = 0;
  std::string reason;  // for `uncovered` and `unknown`, without place and device
  std::string mend;    // where it takes a change of the source
  std::optional<std::size_t>
      image;  // what the driver takes, or would take and fail with (222, 218, 200), or may: index into images
  std::optional<Version> needs_driver;  // the lowest CUDA that the driver must offer, where it does not tell
                                        // its own or is too old
  bool numbered = true;                 // false: which error this is, CUDA's documentation does not tell
  bool linked_at_load = false;          // `jit` by linking relocatable fat binaries again
  struct Sooner {                       // what the driver says instead, as it comes to that first
    int code = 0;
    std::string reason;
  };
  std::optional<Sooner> sooner = {};  // with kInvalidPtx
};

// With the number that is seen. A compiler reads `.version` of PTX first, and stops there (recorded on CUDA
// 13.0), and where the environment forbids to compile it is not asked (recorded). So a newer driver, or
// another environment, comes to say kInvalidPtx: it mends nothing.
Judgement as_seen(Judgement judgement);

// What the driver answers where none of the images fits: of a fat binary it takes none. A PTX text by itself
// it compiles all the same (rust-gpu/rust-cuda#410).
inline constexpr int error_where_none_fits(bool texts) {
  return texts ? kInvalidPtx : kNoKernelImage;
}

// What mends code that nvlink does not read (Fatbin::behind_another).
inline constexpr const char* kLinkEachObject =
    "give nvcc the objects that `ld -r` or `gcc -r` joined, each by itself or in an archive (ar, nvcc -lib)";

// Which image the driver takes, and what then happens. Pure. `device` has a capability. The rules and what is
// known of their truth: docs/reference/compatibility.md; SASS before PTX, then is_taken_before(), no second
// choice after the first (recorded on 9.0; SASS of an older minor version before nearer PTX: one published
// experiment).
Judgement judge(const FatbinCode& code, const Device& device, const JudgePolicy& policy);

// The same for a relocatable fat binary of a linked file, where the driver links its device link again: it
// needs PTX that fits, or relocatable SASS that fits and was made by a toolkit not newer than the driver's
// CUDA. (CUDA Compiler Driver NVCC, "JIT Linking Support" and "Object Compatibility".)
Judgement judge_part(const FatbinCode& code, const Device& device, const JitEnvironment& environment);

// Has an object's fat binary something that others want of it when they are linked? It may hold no kernel.
bool is_linkable(const FatbinCode& code);

// What is left of a verdict under --require sass and --require-driver.
Judgement require(Judgement judgement, const JudgePolicy& policy);

// The toolkit that made the image, as far as it tells: for PTX the oldest that writes its ISA.
std::optional<Version> toolkit_of(const Image& image);

// The fat binary's kernels and variables against the image that the driver takes: names that it lacks, and
// kernels that do nothing there while another image holds real code. Empty where the image's kernels cannot
// be read (LTO-IR).
struct KernelGaps {
  std::vector<std::string> missing;
  std::vector<std::string> hollow;
  std::vector<std::string> variables;  // that are missing
  std::vector<std::string> idle = {};  // kernels that do nothing, in each image of which that is known

  // `idle` is none, until DeviceLinks::tell_hollow() finds it hollow.
  bool any() const { return !missing.empty() || !hollow.empty() || !variables.empty(); }
};
KernelGaps compare_kernels(const FatbinCode& code, std::size_t taken);

// Precondition: the image has code.
bool has_variable(const Image& image, const std::string& name);
bool has_kernel(const Image& image, const std::string& name);

// "sm_80 cubin, sm_90a cubin, PTX compute_90 (ISA 9.0)", for messages: what the fat binary holds.
std::string describe_images(const FatbinCode& code);

}  // namespace archguard
