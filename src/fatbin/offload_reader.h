#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fatbin/fatbin.h"
#include "io/window.h"

namespace archguard::fatbin {

// Of clang from 15 on. In objects it has the parts for clang-linker-wrapper; in a linked file, and under a
// longer name in one of `clang -r`, what that made for libomptarget, which loads it as it is. Verified on the
// output of clang 16 and 19.
constexpr const char* kOffloadSection = ".llvm.offloading";

// Of older ones, in objects alone, for clang-offload-bundler: `__CLANG_OFFLOAD_BUNDLE__`, what the code is
// for, and the target, "openmp-nvptx64-nvidia-cuda-sm_80". Its bytes are one relocatable cubin, or LLVM's
// bitcode; several back to back behind `ld -r`. Verified on the output of clang 14.
bool is_cuda_bundle(std::string_view section);
bool is_bundle_for_runtime(std::string_view section);  // of CUDA's code, and not of OpenMP's

// One of the pieces of an offload section: an image for one architecture.
struct OffloadPiece {
  std::uint64_t end = 0;             // of the piece, within the object
  bool cuda = true;                  // else an image for another vendor's devices, which is passed over
  bool for_runtime = false;          // Fatbin::for_runtime
  std::optional<FatbinEntry> entry;  // nothing where the image is a fat binary of its own
  bool whole = false;                // a cubin that is linked: no part for a linker
  std::uint64_t image = 0, image_end = 0;
};

// The piece at `offset`, all of which must stand before `end`. Error::where is the offset within the object,
// in hex.
Result<OffloadPiece> read_offload_piece(Window& in, std::uint64_t offset, std::uint64_t end);

// The rest of a bundle's section, which is LLVM's bitcode; nothing where it is not.
std::optional<Fatbin> read_bitcode_bundle(Window& in, std::uint64_t offset, std::uint64_t end,
                                          std::string_view section);

// The pieces of one source file make one fat binary: an image of the same kind and arch begins the next.
bool holds_like(const Fatbin& fatbin, const FatbinEntry& entry);

}  // namespace archguard::fatbin
