// Compares the table and the rules of src/compat with NVIDIA's own compilers. None needs a GPU.
//
//   real_table nvcc NVCC
//       what this nvcc lists, against the row of its release
//   real_table ptxas CACHE RELEASE
//       the archs and the PTX ISAs that this ptxas takes, against the row of its release
//   real_table matrix CACHE RELEASE
//       every PTX target × every SASS target that this ptxas knows, against ptx_fits
//   real_table sass BIN RELEASE
//       SASS of every arch × every device, as the nvlink in that folder takes it, against sass_fits
//   real_table nvjitlink CACHE RELEASE
//       every PTX ISA of the table, against driver_takes_ptx: a driver of that release has the same JIT
//
// A cell is one question that the tool answered. Exit: 0 no disagreement, 1 disagreements (each printed),
// 2 usage, 77 the tool is not in the cache.

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "nvjitlink.h"
#include "support/run_process/run_process.h"

using namespace archguard;

namespace {

constexpr int kSkipped = 77;

// Cells compared and the disagreements among them. A run that compared nothing fails.
class Tally {
 public:
  void compare(bool agree, const std::string& what) {
    ++cells_;
    if (agree) return;
    ++disagreements_;
    std::printf("disagreement: %s\n", what.c_str());
  }
  int finish(const std::string& what) const {
    std::printf("%s: %s compared, %s\n", what.c_str(), count_of(cells_, "cell").c_str(),
                count_of(disagreements_, "disagreement").c_str());
    return cells_ > 0 && disagreements_ == 0 ? 0 : 1;
  }

 private:
  std::uint64_t cells_ = 0, disagreements_ = 0;
};

std::string fit_text(Fit fit) {
  return fit == Fit::yes ? "yes" : fit == Fit::no ? "no" : "unknown";
}

int skipped(const std::string& tool, const std::string& release) {
  std::printf("SKIPPED: %s of CUDA %s is not in the cache; run tests/support/fetch %s-%s\n", tool.c_str(),
              release.c_str(), release == "11.8" && tool == "nvcc" ? "cuda" : tool.c_str(), release.c_str());
  return kSkipped;
}

bool exists(const std::string& path) {
  return run_process({"/usr/bin/test", "-e", path}).exit_code == 0;
}

// The wheels of CUDA 13 have another folder than those before.
std::string cached(const std::string& cache, const std::string& name, const std::string& old_folder,
                   const std::string& file) {
  for (const std::string& folder : {std::string("cu13"), old_folder})
    if (std::string path = cache + "/" + name + "/nvidia/" + folder + "/" + file; exists(path)) return path;
  return {};
}

std::string ptx(Version isa, Arch target) {
  return ".version " + to_string(isa) + "\n.target sm_" + to_string(target) +
         "\n.address_size 64\n.visible .entry kernel() { ret; }\n";
}

// Every arch that the table has up to this release, once.
std::set<Arch> archs_until(Version release) {
  std::set<Arch> archs;
  for (const Toolkit& toolkit : known_toolkits())
    if (toolkit.version <= release) archs.insert(toolkit.archs.begin(), toolkit.archs.end());
  return archs;
}

// What stands after `prefix` and before a quote or the line's end, wherever it is an arch: 'sm_90a' in a help
// text.
std::set<Arch> archs_named(const std::string& text, const std::string& prefix) {
  std::set<Arch> archs;
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
    const std::size_t begin = at + prefix.size();
    const std::size_t end = text.find_first_of("',\n ", begin);
    if (auto arch = parse_arch(std::string_view(text).substr(begin, end - begin))) archs.insert(*arch);
  }
  return archs;
}

std::string names(const std::set<Arch>& archs) {
  std::vector<std::string> all;
  for (const Arch arch : archs) all.push_back(to_string(arch));
  return join(all, " ");
}

void compare_archs(Tally& tally, const std::string& what, const std::set<Arch>& tool,
                   const std::set<Arch>& table) {
  tally.compare(tool == table, what + " lists " + names(tool) + "; the table has " + names(table));
}

// An nvcc on PATH may be missing or of any release; one from the cache must be of the release that is asked
// for.
int check_nvcc(const std::string& nvcc) {
  const RunOutput version = run_process({nvcc, "--version"});
  const std::size_t at = version.out.find("release ");
  if (version.exit_code != 0 || at == std::string::npos) {
    std::printf(
        "SKIPPED: no nvcc runs as '%s'; install one, or run tests/support/fetch nvcc-13.0 nvcc-13.5 "
        "cuda-11.8\n",
        nvcc.c_str());
    return kSkipped;
  }
  const std::size_t begin = at + 8;
  const auto release =
      parse_version(std::string_view(version.out).substr(begin, version.out.find(',', begin) - begin));
  const Toolkit* toolkit = release ? find_toolkit(*release) : nullptr;
  Tally tally;
  tally.compare(toolkit != nullptr, "the table has no row for this nvcc: " + version.out);
  if (toolkit != nullptr) {
    const std::set<Arch> code = archs_named(run_process({nvcc, "--list-gpu-code"}).out, "sm_");
    const std::set<Arch> arch = archs_named(run_process({nvcc, "--list-gpu-arch"}).out, "compute_");
    for (const Arch each : archs_until(newest_known_toolkit().version)) {
      if (each.suffix != Suffix::none) continue;  // nvcc lists neither `a` nor `f` names
      const bool in_table =
          std::find(toolkit->archs.begin(), toolkit->archs.end(), each) != toolkit->archs.end();
      tally.compare((code.count(each) != 0) == in_table,
                    "--list-gpu-code and the table differ on " + to_string(each));
      tally.compare((arch.count(each) != 0) == in_table,
                    "--list-gpu-arch and the table differ on " + to_string(each));
    }
    for (const std::set<Arch>& listed : {code, arch})
      for (const Arch each : listed)
        tally.compare(archs_until(newest_known_toolkit().version).count(each) != 0,
                      "nvcc lists " + to_string(each) + ", which the table does not know");
  }
  return tally.finish("nvcc " + (release ? to_string(*release) : "?"));
}

class Ptxas {
 public:
  explicit Ptxas(std::string path) : path_(std::move(path)) {}

  RunOutput assemble(Version isa, Arch target, Arch gpu) const {
    return run_process({path_, "-arch=sm_" + to_string(gpu), folder_.file("t.ptx", ptx(isa, target)), "-o",
                        folder_.path() + "/t.cubin"});
  }
  RunOutput assemble_relocatable(Version isa, Arch target, Arch gpu, const std::string& output) const {
    return run_process(
        {path_, "-c", "-arch=sm_" + to_string(gpu), folder_.file("t.ptx", ptx(isa, target)), "-o", output});
  }
  std::string help() const { return run_process({path_, "--help"}).out; }

 private:
  std::string path_;
  TemporaryFolder folder_;
};

// Every ISA that the table has, with the oldest arch of this release that such PTX can name.
std::map<Version, Arch> isas_with_target(const Toolkit& release) {
  std::map<Version, Arch> isas;
  for (const Toolkit& other : known_toolkits())
    for (const Arch arch : other.archs)
      if (std::find(release.archs.begin(), release.archs.end(), arch) != release.archs.end())
        isas.insert({other.ptx_isa, arch});
  return isas;
}

// The newest ISA, as the message about an impossible one names it; and as a program of each ISA of the table,
// and of two that no release writes yet, prove it.
void check_isas(Tally& tally, const Ptxas& ptxas, const Toolkit& toolkit) {
  const Arch gpu = toolkit.archs.back();
  const std::string claim = "current version is '" + to_string(toolkit.ptx_isa) + "'";
  const RunOutput impossible = ptxas.assemble({99, 0}, gpu, gpu);
  tally.compare(impossible.err.find(claim) != std::string::npos,
                "the table says: " + claim + "; ptxas says: " + impossible.err);
  std::map<Version, Arch> isas = isas_with_target(toolkit);
  for (const Version next :
       {Version{toolkit.ptx_isa.major, toolkit.ptx_isa.minor + 1}, Version{toolkit.ptx_isa.major + 1, 0}})
    isas.insert({next, gpu});
  for (const auto& [isa, target] : isas) {
    const bool takes = ptxas.assemble(isa, target, target).exit_code == 0;
    tally.compare(takes == (isa <= toolkit.ptx_isa), "ptxas " + std::string(takes ? "takes" : "refuses") +
                                                         " PTX " + to_string(isa) + " for sm_" +
                                                         to_string(target));
  }
}

// The first ISA of each target, and the one before it.
void check_first_isas(Tally& tally, const Ptxas& ptxas, const Toolkit& toolkit) {
  for (const Arch target : toolkit.archs) {
    const auto first = first_ptx_for(target);
    tally.compare(first && ptxas.assemble(*first, target, target).exit_code == 0,
                  "ptxas refuses PTX " + (first ? to_string(*first) : "?") + " for sm_" + to_string(target));
    std::optional<Version> before;
    for (const Toolkit& other : known_toolkits())
      if (first && other.ptx_isa < *first) before = other.ptx_isa;
    if (!before) continue;  // older than the table
    // A slip of 13.0's, which takes 88 with any ISA; 13.1 and later do not.
    if (toolkit.version == Version{13, 0} && target.number == 88) continue;
    const std::string refusal = "PTX .version " + to_string(*before) + " does not support";
    tally.compare(ptxas.assemble(*before, target, target).err.find(refusal) != std::string::npos,
                  "ptxas takes PTX " + to_string(*before) + " for sm_" + to_string(target));
  }
}

int check_ptxas(const Ptxas& ptxas, const Toolkit& toolkit) {
  Tally tally;
  const std::string help = ptxas.help();
  const std::set<Arch> table(toolkit.archs.begin(), toolkit.archs.end());
  compare_archs(tally, "ptxas --help, sm_", archs_named(help, "'sm_"), table);
  compare_archs(tally, "ptxas --help, compute_", archs_named(help, "'compute_"), table);
  for (const Arch arch : archs_until(newest_known_toolkit().version)) {
    const bool takes = ptxas.assemble(toolkit.ptx_isa, arch, arch).exit_code == 0;
    tally.compare(
        takes == (table.count(arch) != 0),
        "ptxas -arch=sm_" + to_string(arch) + (takes ? " works" : " fails") + "; the table says otherwise");
  }
  check_isas(tally, ptxas, toolkit);
  check_first_isas(tally, ptxas, toolkit);
  return tally.finish("ptxas " + to_string(toolkit.version));
}

// ptx_fits speaks of devices. Of a device's SASS targets, each takes the PTX that fits, but for PTX with `a`:
// that needs the `a` target. (A driver compiles for all that its device can do.)
bool suffix_reaches(Suffix ptx, Suffix sass) {
  return ptx != Suffix::a || sass == Suffix::a;
}

int check_matrix(const Ptxas& ptxas, const Toolkit& toolkit) {
  Tally tally;
  for (const Arch target : archs_until(toolkit.version)) {
    for (const Arch gpu : toolkit.archs) {
      const bool takes = ptxas.assemble(toolkit.ptx_isa, target, gpu).exit_code == 0;
      const Fit fit = ptx_fits(target, capability_of(gpu));
      const bool predicted = fit == Fit::yes && suffix_reaches(target.suffix, gpu.suffix);
      tally.compare(fit != Fit::unknown && predicted == takes,
                    "PTX sm_" + to_string(target) + " for sm_" + to_string(gpu) + ": ptxas " +
                        (takes ? "takes" : "refuses") + " it; ptx_fits says " + fit_text(fit));
    }
  }
  return tally.finish("PTX targets × SASS targets, ptxas " + to_string(toolkit.version));
}

// Whether nvlink takes relocatable SASS of an arch for a device under any of its names. A linker asks whether
// the instructions are the same, and so it mixes Tegra with desktop GPUs, which no driver does: there
// sass_fits may say no where nvlink says yes, never the other way round.
int check_sass(const std::string& folder, const Toolkit& toolkit) {
  const Ptxas ptxas(folder + "/ptxas");
  const TemporaryFolder scratch;
  std::set<int> devices;
  for (const Arch arch : toolkit.archs) devices.insert(arch.number);
  Tally tally;
  for (const Arch arch : toolkit.archs) {
    const std::string part = scratch.path() + "/part.cubin";
    const bool made = ptxas.assemble_relocatable({6, 0}, {50, Suffix::none}, arch, part).exit_code == 0 ||
                      ptxas.assemble_relocatable({6, 3}, {75, Suffix::none}, arch, part).exit_code == 0 ||
                      ptxas.assemble_relocatable({6, 0}, {35, Suffix::none}, arch, part).exit_code == 0;
    tally.compare(made, "ptxas makes no relocatable SASS for sm_" + to_string(arch));
    for (const int number : devices) {
      bool takes = false;
      for (const Suffix suffix : {Suffix::none, Suffix::a, Suffix::f}) {
        const Arch name{number, suffix};
        if (takes || std::find(toolkit.archs.begin(), toolkit.archs.end(), name) == toolkit.archs.end())
          continue;
        takes = run_process({folder + "/nvlink", "-arch=sm_" + to_string(name), part, "-o",
                             scratch.path() + "/linked"})
                    .exit_code == 0;
      }
      const ComputeCapability device = capability_of({number, Suffix::none});
      const Fit fit = sass_fits(arch, device);
      const auto own_kind = [](ComputeCapability each) {
        return is_tegra(each) || each == ComputeCapability{8, 8};
      };
      const bool mixed = own_kind(device) || own_kind(capability_of(arch));
      tally.compare(takes ? fit == Fit::yes || (mixed && fit == Fit::no) : fit == Fit::no,
                    "SASS sm_" + to_string(arch) + " for " + to_string(device) + ": nvlink " +
                        (takes ? "takes" : "refuses") + " it; sass_fits says " + fit_text(fit));
    }
  }
  return tally.finish("SASS × devices, nvlink " + to_string(toolkit.version));
}

// Every ISA of the table and one beyond it.
int check_nvjitlink(const std::string& library, const Toolkit& toolkit) {
  auto jit = NvJitLink::open(library, toolkit.version);
  if (!jit) {
    std::printf("%s\n", jit.error().text().c_str());
    return 1;
  }
  const Arch gpu{90, Suffix::none};
  std::set<Version> isas{{newest_known_toolkit().ptx_isa.major, newest_known_toolkit().ptx_isa.minor + 1}};
  for (const Toolkit& other : known_toolkits()) isas.insert(other.ptx_isa);
  Tally tally;
  for (const Version isa : isas) {
    if (isa < Version{6, 3}) continue;  // the first ISA that has sm_75, the oldest target of CUDA 13
    const auto linked = jit->link(ptx(isa, {75, Suffix::none}), gpu);
    const Fit fit = driver_takes_ptx(isa, toolkit.version);
    tally.compare(fit == (linked ? Fit::yes : Fit::no),
                  "PTX " + to_string(isa) + ": " +
                      (linked ? "linked" : "refused (" + linked.error().what + ")") +
                      "; driver_takes_ptx says " + fit_text(fit));
  }
  return tally.finish("nvJitLink " + to_string(toolkit.version));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 2 && args[0] == "nvcc") return check_nvcc(args[1]);
  const auto release = args.size() == 3 ? parse_version(args[2]) : std::nullopt;
  const Toolkit* toolkit = release ? find_toolkit(*release) : nullptr;
  if (toolkit == nullptr) {
    std::fprintf(stderr,
                 "usage: real_table nvcc NVCC | ptxas|matrix|nvjitlink CACHE RELEASE | sass BIN RELEASE\n");
    return 2;
  }
  if (args[0] == "sass")
    return exists(args[1] + "/nvlink") ? check_sass(args[1], *toolkit) : skipped("nvcc", args[2]);
  if (args[0] == "nvjitlink") {
    const std::string library = cached(args[1], "nvjitlink-" + args[2], "nvjitlink",
                                       "lib/libnvJitLink.so." + std::to_string(release->major));
    return library.empty() ? skipped("nvjitlink", args[2]) : check_nvjitlink(library, *toolkit);
  }
  const std::string path = cached(args[1], "ptxas-" + args[2], "cuda_nvcc", "bin/ptxas");
  if (path.empty()) return skipped("ptxas", args[2]);
  const Ptxas ptxas(path);
  return args[0] == "matrix" ? check_matrix(ptxas, *toolkit) : check_ptxas(ptxas, *toolkit);
}
