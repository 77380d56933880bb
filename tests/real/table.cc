// Compares the table and the rules of src/compat with NVIDIA's own compilers, none of which needs a GPU:
//
//   real_table nvcc NVCC                what this nvcc lists, against the row of its release
//   real_table ptxas CACHE RELEASE      the archs and the newest PTX that this ptxas takes, against its row
//   real_table matrix CACHE RELEASE     every PTX target × every device that this ptxas knows, against
//   ptx_fits real_table nvjitlink CACHE RELEASE  every PTX ISA of the table, against driver_takes_ptx:
//   nvJitLink is the
//                                       JIT that a driver of that release carries
//
// Exit: 0 no disagreement, 1 disagreements (each printed), 2 usage, 77 the tool is not in the cache.

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
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

int skipped(const std::string& tool, const std::string& release) {
  std::printf("SKIPPED: %s of CUDA %s is not in the cache; run tests/support/fetch %s-%s\n", tool.c_str(),
              release.c_str(), tool.c_str(), release.c_str());
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

int check_nvcc(const std::string& nvcc) {
  const RunOutput version = run_process({nvcc, "--version"});
  const std::size_t at = version.out.find("release ");
  if (version.exit_code != 0 || at == std::string::npos) {
    std::printf("SKIPPED: no nvcc runs as '%s'\n", nvcc.c_str());
    return kSkipped;
  }
  const std::size_t begin = at + 8;
  const auto release =
      parse_version(std::string_view(version.out).substr(begin, version.out.find(',', begin) - begin));
  const Toolkit* toolkit = release ? find_toolkit(*release) : nullptr;
  Tally tally;
  tally.compare(toolkit != nullptr, "the table has no row for this nvcc: " + version.out);
  if (toolkit != nullptr) {
    std::set<Arch> plain;  // nvcc lists neither `a` nor `f` names
    for (const Arch arch : toolkit->archs)
      if (arch.suffix == Suffix::none) plain.insert(arch);
    compare_archs(tally, "--list-gpu-code", archs_named(run_process({nvcc, "--list-gpu-code"}).out, "sm_"),
                  plain);
    compare_archs(tally, "--list-gpu-arch",
                  archs_named(run_process({nvcc, "--list-gpu-arch"}).out, "compute_"), plain);
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
  std::string help() const { return run_process({path_, "--help"}).out; }

 private:
  std::string path_;
  TemporaryFolder folder_;
};

// The newest ISA, as the message about an impossible one names it; and as a program of that ISA and of the
// next two prove it.
void check_newest_isa(Tally& tally, const Ptxas& ptxas, const Toolkit& toolkit) {
  const Arch gpu = toolkit.archs.back();
  const std::string claim = "current version is '" + to_string(toolkit.ptx_isa) + "'";
  const RunOutput impossible = ptxas.assemble({99, 0}, gpu, gpu);
  tally.compare(impossible.err.find(claim) != std::string::npos,
                "the table says: " + claim + "; ptxas says: " + impossible.err);
  tally.compare(ptxas.assemble(toolkit.ptx_isa, gpu, gpu).exit_code == 0,
                "ptxas refuses PTX " + to_string(toolkit.ptx_isa));
  for (const Version next :
       {Version{toolkit.ptx_isa.major, toolkit.ptx_isa.minor + 1}, Version{toolkit.ptx_isa.major + 1, 0}})
    tally.compare(ptxas.assemble(next, gpu, gpu).exit_code != 0, "ptxas takes PTX " + to_string(next));
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
  check_newest_isa(tally, ptxas, toolkit);
  return tally.finish("ptxas " + to_string(toolkit.version));
}

// A driver compiles for all that its device can do, so a target counts as fitting where ptxas takes it for
// any name of the device: sm_90 or sm_90a for 9.0.
int check_matrix(const Ptxas& ptxas, const Toolkit& toolkit) {
  std::set<int> devices;
  for (const Arch arch : toolkit.archs) devices.insert(arch.number);
  const std::set<Arch> known(toolkit.archs.begin(), toolkit.archs.end());
  Tally tally;
  for (const Arch target : archs_until(toolkit.version)) {
    for (const int number : devices) {
      bool takes = false;
      for (const Suffix suffix : {Suffix::a, Suffix::f, Suffix::none}) {
        const Arch gpu{number, suffix};
        if (takes || known.count(gpu) == 0) continue;
        takes = ptxas.assemble(toolkit.ptx_isa, target, gpu).exit_code == 0;
      }
      const ComputeCapability device = capability_of({number, Suffix::none});
      const Fit fit = ptx_fits(target, device);
      tally.compare(fit == (takes ? Fit::yes : Fit::no),
                    "PTX sm_" + to_string(target) + " on " + to_string(device) + ": ptxas " +
                        (takes ? "takes" : "refuses") + " it; ptx_fits says " +
                        (fit == Fit::yes  ? "yes"
                         : fit == Fit::no ? "no"
                                          : "unknown"));
    }
  }
  return tally.finish("PTX targets × devices, ptxas " + to_string(toolkit.version));
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
                      "; driver_takes_ptx says " +
                      (fit == Fit::yes  ? "yes"
                       : fit == Fit::no ? "no"
                                        : "unknown"));
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
    std::fprintf(stderr, "usage: real_table nvcc NVCC | ptxas|matrix|nvjitlink CACHE RELEASE\n");
    return 2;
  }
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
