#pragma once

#include <cstdint>
#include <string_view>

#include "host/host_file.h"

// The fat binary on disk, little-endian; docs/reference/fatbin.md says what was verified on which bytes.
namespace archguard::fatbin {

// A fat binary: this header, then entries back to back, each a header and its payload.
constexpr std::uint32_t kMagic = kFatbinMagic, kOldMagic = kOldFatbinMagic;
constexpr std::size_t kHeaderSize = 16;
constexpr std::uint64_t kVersionAt = 4;     // u16, 1
constexpr std::uint64_t kHeaderSizeAt = 6;  // u16, 16
constexpr std::uint64_t kSizeAt = 8;        // u64, of the entries, a multiple of 8

// An entry's header: 64 bytes of fields, then the identifier and options that some offsets below point at.
constexpr std::size_t kEntryFieldsSize = 64;
constexpr std::uint64_t kKindAt = 0;               // u16
constexpr std::uint64_t kEntryVersionAt = 2;       // u16, 0x0101
constexpr std::uint64_t kEntryHeaderSizeAt = 4;    // u32, a multiple of 8
constexpr std::uint64_t kPayloadSizeAt = 8;        // u64, a multiple of 8
constexpr std::uint64_t kCompressedSizeAt = 16;    // u32, 0 where raw
constexpr std::uint64_t kOptionsAt = 20;           // u32, from the entry's start; 0 for none
constexpr std::uint64_t kCodeMinorAt = 24;         // u16
constexpr std::uint64_t kCodeMajorAt = 26;         // u16
constexpr std::uint64_t kArchAt = 28;              // u32, decimal
constexpr std::uint64_t kIdentifierAt = 32;        // u32, from the entry's start; 0 for none
constexpr std::uint64_t kIdentifierSizeAt = 36;    // u32
constexpr std::uint64_t kFlagsAt = 40;             // u64
constexpr std::uint64_t kUncompressedSizeAt = 56;  // u64, 0 where raw
constexpr std::uint16_t kEntryVersion = 0x0101;

// What a host object hands to the runtime, one for each fat binary: magic, version (1, or 2 where the device
// linker made it), two addresses. They stand back to back in a section of their own, whose name the linkers
// of PE images cut.
constexpr const char* kRegistrationSection = ".nvFatBinSegment";
constexpr const char* kCutRegistrationSection = ".nvFatBi";
constexpr const char* kModuleIdSection = "__nv_module_id";
constexpr const char* kCutModuleIdSection = "__nv_mod";
constexpr std::uint32_t kRegistrationMagic = 0x466243B1;
// And the id of an object: the function of a device link which that object calls.
constexpr std::string_view kLinkedRegistration = "__cudaRegisterLinkedBinary_";
// … and what it takes an object's own fat binary by.
constexpr std::string_view kObjectRegistration = "__fatbinwrap_";
// Ids of libcudadevrt's objects have this part.
constexpr std::string_view kDeviceRuntimeId = "_cuda_device_runtime_";
constexpr const char* kKeepDeviceRuntime =
    "link the shared library so that it keeps libcudadevrt to itself: nvcc -Xlinker -Bsymbolic -Xlinker "
    "--exclude-libs -Xlinker libcudadevrt.a";
constexpr std::uint64_t kRegistrationAlignment = 8;
constexpr std::uint64_t kRegistrationSize = 24, kSmallRegistrationSize = 16;  // of 64-bit and of 32-bit files
constexpr std::uint64_t kRegistrationVersionAt = 4;                           // u32
constexpr std::uint64_t kRegistrationAddressAt = 8;                           // u64, of the fat binary
constexpr std::uint32_t kRegistrationLinked = 2;                              // version

constexpr std::uint16_t kKindPtx = 1, kKindElf = 2, kKindLtoir = 8, kKindRelocatablePtx = 0x40;
constexpr std::uint16_t kKindTileIr =
    0x80;  // of CUDA Tile, which drivers of 13.1 and newer compile; not judged
constexpr std::uint16_t kKindConcatenated = 0x100;  // several images, compressed as one; not read

// What a file of it begins with, and where it stands as data.
constexpr std::string_view kTileIrMagic{"\x7fTileIR\0", 8};

// What FatbinEntry::unknown says of Tile IR of which all else is known.
constexpr const char* kTileIrUnknown = "CUDA Tile IR, which is not judged";

constexpr std::uint64_t kOptionsLeast = 8;  // bytes of what stands there, in each entry seen

constexpr std::uint64_t kFlag64 = 0x1, kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagObfuscated = 0x10000;
constexpr std::uint64_t kFlagA = 0x100000, kFlagF = 0x200000;
// 64-bit, debug, "for CUDA" (nvFatbin -cuda), Linux, Mac, Windows; carries a copy of .nv.compat.
constexpr std::uint64_t kFlagsOther = kFlag64 | 0x2 | 0x4 | 0x10 | 0x20 | 0x40 | 0x1000000;
constexpr std::uint64_t kFlagsKnown = kFlagsOther | kFlagLz4 | kFlagZstd | kFlagObfuscated | kFlagA | kFlagF;

// Sections that hold nothing but fat binaries. Linkers of PE images cut names to eight bytes.
constexpr bool is_linked_section(std::string_view name) {
  return name == ".nv_fatbin" || name == ".nv_fatb";
}
constexpr bool is_relocatable_section(std::string_view name) {
  return name == "__nv_relfatbin" || name == "__nv_rel";
}

// No limits of the format: what keeps a hostile file from costing memory. The largest seen: 144 and 23,984.
constexpr std::uint32_t kEntryHeaderMost = 1 << 20;
constexpr std::size_t kEntriesMost = 1 << 20;

}  // namespace archguard::fatbin
