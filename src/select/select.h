#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/version.h"
#include "compat/arch.h"
#include "device/device.h"

namespace archguard {

// What a compiler can make: from the table (--toolkit) or from an nvcc that was asked (--nvcc).
struct Compiler {
  Version version;
  Version ptx_isa;         // zero where unknown (an nvcc newer than the table)
  std::vector<Arch> sass;  // ascending, `a` and `f` included
  std::vector<Arch> ptx;
  std::string path;  // of the nvcc, empty for --toolkit
};

Result<Compiler> compiler_of_toolkit(Version version);  // error: "newest known is 13.5; pass --nvcc"
Result<Compiler> compiler_of_nvcc(
    const std::string& command);  // runs it with --version, --list-gpu-code, --list-gpu-arch

// One element of an architecture list, in CMake's spelling: "80-real", "90a-real", "86-virtual", "75" (both).
struct ArchEntry {
  Arch arch;
  bool real = true;
  bool virtual_ = true;
};
std::string to_string(const ArchEntry& entry);
// CMake's spelling ("80-real;90-virtual") or torch's ("8.0;9.0a;12.0+PTX"), `;` or `,` between; also tells
// which token is wrong.
Result<std::vector<ArchEntry>> parse_arch_list(std::string_view text);

enum class SassPolicy { exact, minimal };
enum class PtxPolicy { newest, oldest, none, given };
struct SelectPolicy {
  SassPolicy sass = SassPolicy::exact;
  PtxPolicy ptx = PtxPolicy::newest;
  Arch given_ptx;                   // with PtxPolicy::given
  std::vector<ArchEntry> baseline;  // empty: all-major of the compiler, without Tegra
};

struct ChosenEntry {
  ArchEntry entry;
  std::string reason;  // "NVIDIA A100 (8.0, fleet.csv:3)"; "PTX fallback for GPUs newer than 9.0"
  std::vector<std::size_t> devices;  // indices into the request's devices
};

struct ExcludedDevice {
  std::size_t device = 0;
  std::string reason;  // "CUDA 13.0 makes nothing that runs on 6.1; the last toolkit that does is 12.9"
  std::optional<Version> first_toolkit, last_toolkit;
};

struct Selection {
  std::vector<ChosenEntry> entries;  // SASS ascending, then PTX
  std::vector<ExcludedDevice> excluded;
  std::vector<Version> toolkits_for_all;  // known toolkits that serve every device with a capability
  std::vector<std::string> warnings;
  bool baseline = false;  // chosen without any device
};

// Devices + compiler + policy → list, with a reason for each entry and each device left out. Pure.
// No selectable device among `devices`: the baseline when `devices` is empty, else an empty list (all
// excluded).
Selection select_architectures(const std::vector<Device>& devices, const Compiler& compiler,
                               const SelectPolicy& policy);

// One line each, no line end.
std::string format_cmake(const Selection& selection);    // 80-real;86-real;86-virtual
std::string format_torch(const Selection& selection);    // 8.0;8.6+PTX
std::string format_gencode(const Selection& selection);  // -gencode=arch=compute_80,code=sm_80 …

}  // namespace archguard
