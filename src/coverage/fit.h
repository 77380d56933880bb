#pragma once

#include <string>

#include "compat/rules.h"
#include "fatbin/fatbin.h"

namespace archguard {

// Is it loaded, or linked, as it is? Else it is compiled.
bool is_native(EntryKind kind);

// sass_fits() or ptx_fits() of this image. LTO-IR is code for a virtual arch, as PTX is: nvlink and nvJitLink
// 13.0 and 13.5 link lto_80 for every arch from sm_80 on, lto_90a for sm_90a, lto_100f for its family. What
// clang-linker-wrapper makes SASS of its own arch of serves the devices that this does. Where
// it does not tell its arch whole, each that it may be for is judged, and where they differ the answer is
// unknown.
Fit fit_of(const FatbinEntry& entry, ComputeCapability device);

// Is it a file that is a cubin or PTX, and no fat binary?
bool is_image_by_itself(const Fatbin& fatbin);

// Of two images that fit, both SASS or both PTX: does the driver take `entry` before `earlier`, which stands
// before it? The nearest arch; of one arch `a` before `f` before neither; of equals the first, but the last
// of plain PTX for the very device. (nvJitLink does so, tests/real/other_order.cc; so did a driver of
// CUDA 13.0 on 9.0, which shows neither `f` nor SASS of several minor versions: tests/truth.)
bool is_taken_before(const FatbinEntry& entry, const FatbinEntry& earlier, ComputeCapability device);

// Is it a cubin that a program hands to the driver by itself, as a file or as data? What makes a driver pass
// over SASS in fat binaries does not reach it (recorded on a driver of CUDA 13.0, tests/truth).
bool is_cubin_by_itself(const Fatbin& fatbin);

// Why fit_of() is unknown.
std::string why_unknown(const FatbinEntry& entry, ComputeCapability device);

}  // namespace archguard
