#pragma once

#include <string_view>

#include "base/version.h"
#include "compat/arch.h"

namespace archguard {

// The raw tables behind toolkit.h and rules.h, for this folder alone. Sources:
// docs/reference/compatibility.md.

// One release of CUDA: what its ptxas takes, what its driver branch is, and what its toolkit makes.
struct CudaRelease {
  Version cuda;
  Version ptx_isa;
  int driver_branch;    // 0: not known
  const char* changes;  // to the row before: "+90a -35"; nullptr: the table holds no toolkit of this release
};

// Ascending. PTX ISA and driver branch: NVIDIA's PTX ISA release history; 13.5's ISA was measured (its ptxas
// takes 9.5), its branch is not published. Architectures: see kFirstMeasuredToolkit. CUDA 12.7 came with a
// driver and no toolkit. The toolkits before 8.0 are left out: their drivers still occur.
inline constexpr CudaRelease kCudaReleases[] = {
    // CUDA    PTX    driver
    {{1, 0}, {1, 0}, 0, nullptr},
    {{1, 1}, {1, 1}, 0, nullptr},
    {{2, 0}, {1, 2}, 0, nullptr},
    {{2, 1}, {1, 3}, 0, nullptr},
    {{2, 2}, {1, 4}, 0, nullptr},
    {{3, 0}, {2, 0}, 195, nullptr},
    {{3, 1}, {2, 1}, 256, nullptr},
    {{3, 2}, {2, 2}, 260, nullptr},
    {{4, 0}, {2, 3}, 270, nullptr},
    {{4, 1}, {3, 0}, 285, nullptr},
    {{5, 0}, {3, 1}, 302, nullptr},
    {{5, 5}, {3, 2}, 319, nullptr},
    {{6, 0}, {4, 0}, 331, nullptr},
    {{6, 5}, {4, 1}, 340, nullptr},
    {{7, 0}, {4, 2}, 346, nullptr},
    {{7, 5}, {4, 3}, 352, nullptr},
    {{8, 0}, {5, 0}, 361, "+20 +21 +30 +32 +35 +37 +50 +52 +53 +60 +61 +62"},
    {{9, 0}, {6, 0}, 384, "-20 -21 +70"},
    {{9, 1}, {6, 1}, 387, "+72"},
    {{9, 2}, {6, 2}, 396, ""},
    {{10, 0}, {6, 3}, 410, "+75"},
    {{10, 1}, {6, 4}, 418, ""},
    {{10, 2}, {6, 5}, 440, ""},
    {{11, 0}, {7, 0}, 450, "-30 -32 +80"},
    {{11, 1}, {7, 1}, 455, "+86"},
    {{11, 2}, {7, 2}, 460, ""},
    {{11, 3}, {7, 3}, 465, ""},
    {{11, 4}, {7, 4}, 470, "+87"},
    {{11, 5}, {7, 5}, 495, ""},
    {{11, 6}, {7, 6}, 510, ""},
    {{11, 7}, {7, 7}, 515, ""},
    {{11, 8}, {7, 8}, 520, "+89 +90"},
    {{12, 0}, {8, 0}, 525, "-35 -37 +90a"},
    {{12, 1}, {8, 1}, 530, ""},
    {{12, 2}, {8, 2}, 535, ""},
    {{12, 3}, {8, 3}, 545, ""},
    {{12, 4}, {8, 4}, 550, ""},
    {{12, 5}, {8, 5}, 555, ""},
    {{12, 6}, {8, 5}, 560, ""},
    {{12, 7}, {8, 6}, 565, nullptr},
    {{12, 8}, {8, 7}, 570, "+100 +100a +101 +101a +120 +120a"},
    {{12, 9}, {8, 8}, 575, "+100f +101f +103 +103a +103f +120f +121 +121a +121f"},
    {{13, 0}, {9, 0}, 580, "-50 -52 -53 -60 -61 -62 -70 -72 -101 -101a -101f +88 +110 +110a +110f"},
    {{13, 1}, {9, 1}, 590, ""},
    {{13, 2}, {9, 2}, 595, ""},
    {{13, 3}, {9, 3}, 610, ""},
    {{13, 4}, {9, 4}, 615, "+107 +107a +107f"},
    {{13, 5}, {9, 5}, 0, ""},
};
inline constexpr Version kNewestCuda = kCudaReleases[sizeof kCudaReleases / sizeof kCudaReleases[0] - 1].cuda;

// Rows from this release on were measured with that release's ptxas; the older ones are NVIDIA's
// documentation.
inline constexpr Version kFirstMeasuredToolkit{11, 7};

// Targets, plain and `a`, that a PTX ISA had before a toolkit of the table made them: 12.7 came with a driver
// alone. From 35 on measured with ptxas 11.8, 12.9 and 13.5; the older ones are of NVIDIA's PTX ISA release
// history.
struct FirstPtx {
  int number;
  Version ptx_isa;
};
inline constexpr FirstPtx kFirstPtx[] = {
    {20, {2, 0}}, {21, {2, 0}}, {30, {3, 0}}, {32, {4, 0}},  {35, {3, 1}},  {37, {4, 1}},
    {50, {4, 0}}, {52, {4, 1}}, {53, {4, 2}}, {100, {8, 6}}, {101, {8, 6}},
};

// A device that SASS of a family-specific arch runs on. CUDA Programming Guide, table of family-specific
// targets, as of 13.4.
struct FamilyMember {
  int family;  // 100: of sm_100f
  ComputeCapability device;
};
inline constexpr FamilyMember kFamilyMembers[] = {
    {100, {10, 0}}, {100, {10, 3}}, {100, {10, 7}}, {101, {10, 1}}, {103, {10, 3}}, {103, {10, 7}},
    {107, {10, 7}}, {110, {11, 0}}, {120, {12, 0}}, {120, {12, 1}}, {121, {12, 1}},
};

// An arch that got another name: compute_101 is what CUDA 13.0 calls compute_110. ptxas 13 assembles PTX of
// 101, 101a and 101f for 110, 110a and 110f (measured). Of SASS nothing is known.
struct Renaming {
  int from;
  int to;
};
inline constexpr Renaming kRenamings[] = {{101, 110}};

// The last driver branch that supports devices of [first, last], Tegra apart. NVIDIA's driver support
// notices.
struct LastBranch {
  ComputeCapability first, last;
  int branch;
};
inline constexpr LastBranch kLastBranches[] = {
    {{1, 0}, {1, 9}, 340},
    {{2, 0}, {2, 9}, 390},
    {{3, 0}, {3, 9}, 470},
    {{5, 0}, {7, 0}, 580},
};

inline constexpr ComputeCapability kTegraDevices[] = {{3, 2}, {5, 3},  {6, 2}, {7, 2},
                                                      {8, 7}, {10, 1}, {11, 0}};

// The last CUDA of a Tegra chip: that of the last JetPack for its boards, and what NVIDIA's package
// cuda-compat gives them on top. JetPack's release notes (L4T R21 for TK1, JetPack 4.6 for TX1, Nano and TX2,
// JetPack 5 for Xavier); "Simplifying CUDA Upgrades for NVIDIA Jetson Users", and CUDA for Tegra: upgrades
// begin with JetPack 5, those for it end with 12.2. 10.1 is the name of 11.0 before CUDA 13.0.
struct LastTegraCuda {
  ComputeCapability device;
  Version jetpack, compat;
};
inline constexpr LastTegraCuda kLastTegraCudas[] = {
    {{3, 2}, {6, 5}, {6, 5}},   {{5, 3}, {10, 2}, {10, 2}},  {{6, 2}, {10, 2}, {10, 2}},
    {{7, 2}, {11, 4}, {12, 2}}, {{10, 1}, {12, 9}, {12, 9}},
};
// What TORCH_CUDA_ARCH_LIST takes, each also with +PTX, and those that it takes with `a` as well; anything
// else stops the build with "Unknown CUDA arch". PyTorch 2.9.1, torch/utils/cpp_extension.py (read); older
// releases take fewer.
inline constexpr int kTorchArchs[] = {35, 37, 50, 52, 53, 60,  61,  62,  70,  72, 75,
                                      80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
inline constexpr int kTorchArchsWithA[] = {90, 100, 103, 110, 120, 121};
// The names of families that it replaces, in its order (PyTorch 2.12, the same file).
struct TorchFamily {
  std::string_view name, archs;
};
inline constexpr TorchFamily kTorchFamilies[] = {
    {"Kepler+Tesla", "3.7"},     {"Kepler", "3.5+PTX"},
    {"Maxwell+Tegra", "5.3"},    {"Maxwell", "5.0;5.2+PTX"},
    {"Pascal", "6.0;6.1+PTX"},   {"Volta+Tegra", "7.2"},
    {"Volta", "7.0+PTX"},        {"Turing", "7.5+PTX"},
    {"Ampere+Tegra", "8.7"},     {"Ampere", "8.0;8.6+PTX"},
    {"Ada", "8.9+PTX"},          {"Hopper", "9.0+PTX"},
    {"Blackwell+Tegra", "11.0"}, {"Blackwell", "10.0;10.3;12.0;12.1+PTX"}};

// Claimed to be Tegra, not documented: SASS is trusted on an exact match only.
inline constexpr ComputeCapability kSuspectedTegraDevices[] = {{8, 8}};

}  // namespace archguard
