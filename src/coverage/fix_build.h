#pragma once

#include <optional>
#include <vector>

#include "compat/toolkit.h"
#include "coverage/fatbin_code.h"

namespace archguard {

// What toolkits make, for the search of a fix.

// nvcc's --compress-mode, and zstd with it, came with this release. (Release notes of CUDA 12.8.)
inline constexpr Version kFirstCompressMode{12, 8};

// What a list of architectures can ask of it: sm_21, which has no PTX of its own, is for nvcc's flags alone.
std::vector<Arch> listable(const Toolkit& toolkit);
// All that any known toolkit makes, for images that do not tell theirs.
const std::vector<Arch>& archs_of_all();
// Archs of the fat binary that this toolkit does not make.
std::vector<Arch> not_made(const FatbinCode& code, const Toolkit& toolkit);

bool is_zstd(const Image& image);
// Was zstd asked for, by --compress-mode?
bool asks_for_zstd(const FatbinCode& code);

// Is its SASS linked of LTO-IR, or to be?
bool is_of_ltoir(const FatbinCode& code);
// Does nvlink make that SASS of the objects as they are?
bool is_linked_as_is(const FatbinCode& code, Arch sass);

// The images as this toolkit makes them, those that it does not make left out.
void rebuild(std::vector<Image>& images, const Toolkit& toolkit);
// The image made anew, of this kind and for this arch, with all kernels of the fat binary.
Image made(Image image, EntryKind kind, Arch arch, std::optional<Version> toolkit);

}  // namespace archguard
