#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/version.h"
#include "compat/arch.h"
#include "device/device_list.h"

namespace archguard {

// What a compiler can make: from the table (--toolkit) or from an nvcc that was asked (--nvcc).
struct Compiler {
  Version version;
  Version ptx_isa;         // zero where unknown (an nvcc newer than the table)
  std::vector<Arch> sass;  // ascending, `a` and `f` included
  std::vector<Arch> ptx;
  std::string path;   // of the nvcc, empty for --toolkit
  std::string clang;  // "clang 19.1" where that compiles, with the toolkit of this nvcc; else empty
};

std::string name_of(const Compiler& compiler);  // "CUDA 13.0", "clang 19.1 with CUDA 11.8"

// What that release makes, by the table. 8.0's sm_21 is left out: it has no compute_21, so no list of
// architectures can name it, and sm_20 runs on its devices. Error: "… newest known is 13.5; pass --nvcc".
Result<Compiler> compiler_of_toolkit(Version version);

// What this very nvcc makes: runs it with --version, --list-gpu-code and --list-gpu-arch, each at most until
// the deadline. `command` is a path, a name that is looked up in PATH, or one of these followed by arguments
// ("nvcc -ccbin g++", as CUDACXX may hold). Neither listing prints the `a` and `f` names: they come from the
// table, for an nvcc newer than it from its newest release. An nvcc that does not know these options (CUDA 10
// and older) is judged by the table.
Result<Compiler> compiler_of_nvcc(const std::string& command,
                                  std::chrono::seconds deadline = std::chrono::seconds(30));

// What this clang makes with the toolkit that nvcc belongs to: the architectures that both know, clang as its
// `-print-supported-cpus` lists them for nvptx64. It never makes PTX without SASS.
Result<Compiler> compiler_of_clang(const std::string& command, const Compiler& nvcc,
                                   std::chrono::seconds deadline = std::chrono::seconds(30));

// One element of an architecture list, in CMake's spelling: "80-real", "90a-real", "86-virtual", "75" (both).
struct ArchEntry {
  Arch arch;
  bool real = true;
  bool virtual_ = true;
};
std::string to_string(const ArchEntry& entry);
// CMake's spelling ("80-real;90-virtual", `80` is both) or torch's ("8.0;9.0a;12.0+PTX", `8.0` is SASS
// alone), with `;`, `,` or blanks between; in the order of the text, each once. The error names the first
// wrong token.
Result<std::vector<ArchEntry>> parse_arch_list(std::string_view text);

enum class SassPolicy { exact, minimal };
enum class PtxPolicy { newest, oldest, none, given };
struct SelectPolicy {
  SassPolicy sass = SassPolicy::exact;
  Suffix suffix = Suffix::none;  // `a` or `f`: SASS with it, wherever this compiler makes it and it serves
                                 // the same devices; never PTX
  PtxPolicy ptx = PtxPolicy::newest;
  Arch given_ptx;                   // with PtxPolicy::given
  std::vector<ArchEntry> baseline;  // empty: all-major of the compiler, without Tegra, PTX as `ptx` says
  bool tegra_in_baseline =
      false;  // for an aarch64 target: all of the compiler's Tegra archs beside all-major
};

// Can this compiler make what the policy asks for by name (given_ptx, baseline)? Error: "CUDA 13.0 makes no
// PTX of compute_60". Ask before select_architectures(), which leaves such an entry out and warns.
Status check_policy(const SelectPolicy& policy, const Compiler& compiler);

struct ChosenEntry {
  ArchEntry entry;
  std::string reason;  // "NVIDIA A100 (8.0, fleet.csv:3)"; "PTX fallback for GPUs newer than 9.0"
  std::vector<std::size_t> devices;  // those that the entry is there for, as indices into the request's
                                     // devices; each device that is not excluded stands in one entry
};

// Why devices are left out.
struct Exclusion {
  std::string reason;  // "CUDA 13.0 makes nothing that runs on 6.1; the last toolkit that does is 12.9"
  std::optional<Version> first_toolkit, last_toolkit;
};

struct Selection {
  std::vector<ChosenEntry> entries;     // SASS ascending, then PTX ascending; no entry is both. For clang all
                                        // ascending, and an entry with PTX is both
  std::vector<std::size_t> excluded;    // devices that are left out, ascending, and
  std::vector<Exclusion> why_excluded;  // why those of each kind are, by DeviceList::kind_number()
  // The known toolkits that support every wanted device with a capability, under this policy: an image that
  // fits, and a driver, where it is known, that runs programs of that toolkit (35) and, for PTX, compiles it
  // (222).
  std::vector<Version> toolkits_for_all;
  std::string toolkits_note;  // where a device is excluded: "the toolkits that support the whole fleet:
                              // 11.8 to 12.9"; else empty
  std::vector<std::string> warnings;
  bool baseline = false;  // chosen without any device; why there is none, the caller says
};

// Devices + compiler + policy → list, with a reason for each entry and each device left out. Pure.
// No selectable device among `devices`: the baseline when `devices` is empty, else an empty list (all
// excluded).
Selection select_architectures(const DeviceList& devices, const Compiler& compiler,
                               const SelectPolicy& policy);

// One line each, no line end.
std::string format_cmake(const Selection& selection);  // 80-real;86-real;86-virtual
// 8.0;8.6+PTX, what torch takes alone (compat/torch.h); see torch_notes(). Empty where it takes none of it.
std::string format_torch(const Selection& selection);
std::string format_gencode(const Selection& selection);  // -gencode=arch=compute_80,code=sm_80 …

// What format_torch() could not say: torch does not take every architecture, and another may stand for it;
// and it has no spelling for PTX without SASS of the same architecture, so that PTX brings SASS along. One
// line for each such entry.
std::vector<std::string> torch_notes(const Selection& selection);

}  // namespace archguard
