#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/version.h"
#include "coverage/header_fit.h"
#include "coverage/verify.h"
#include "device/device_list.h"
#include "device/probe.h"
#include "explain/explain.h"
#include "installed/package.h"
#include "installed/rivals.h"

// All that the checks rest on. It is gathered from a machine, or written down by a test; the checks read
// nothing else.
namespace archguard::doctor {

// Where Python finds packages. Nothing of it is started: it is known by its files.
struct PythonEnvironment {
  std::string kind;  // venv, conda, system, folder
  std::string prefix;
  std::string named_by;                          // "VIRTUAL_ENV", "--prefix", …
  std::string python;                            // "3.11"; empty where nothing tells it
  std::vector<std::string> sites;                // folders of packages, as sys.path has them
  std::vector<std::string> folders;              // others with libraries and programs: they are not walked
  std::vector<std::string> module_folders = {};  // of PYTHONPATH: only packages with __init__.py are walked
  std::vector<std::string> besides = {};         // what does not stand below the prefix: "X (PYTHONPATH)"
};

struct InstalledPackage {
  Package package;
  std::string site;
  // Told of those that hold device code (doctor/rebuild_fix.h).
  bool built_locally = false;
  std::string source = {};  // that pip can install: "git+https://github.com/…"
};

// Images that a file has in its data, beside fat binaries: the program hands them to the driver itself.
struct DataImages {
  std::string holds;                     // "PTX compute_52"
  std::vector<std::size_t> too_new_for;  // classes of devices whose driver takes none of a module: error 222
};

// SASS of a newer CUDA than some driver's, which no header of a fat binary tells: of one image.
struct NewerSass {
  Version needs;                         // the lowest CUDA of a driver that is known to load it
  std::vector<std::size_t> refused_for;  // classes of devices whose driver refuses it: error 200
  std::vector<std::size_t> untold_for;   // of which that is not known
};

// One file with device code, as the headers of its fat binaries tell.
struct CodeFile {
  std::string path;
  std::optional<Package> owner;
  bool loose = false;    // an image by itself: .cubin, .ptx, .fatbin
  bool as_data = false;  // what it holds stands in its data, as PTX that a program hands to the driver
  bool holds_link_parts = false;  // of -rdc=true, perhaps beside other fat binaries
  std::string holds;              // "sm_70 sm_75 sm_80, no PTX"
  bool any_ptx = false;
  std::uint64_t fatbins = 0;  // that ask for an image
  std::vector<FileFit> fits;  // one for each class of devices
  // Of the CUDA runtime that is linked in, at least; looked for where some driver is older than the newest
  // release.
  std::optional<Version> held_runtime;
  std::optional<DataImages> data = {};  // told where a driver is too old for them
  // Likewise; not of a file with a CUDA runtime, whose error comes first.
  std::optional<NewerSass> newer_sass = {};
};

// What a linked file of the environment needs of CUDA's libraries.
struct LinkedFile {
  std::string path;
  std::optional<Package> owner;
  std::vector<std::string> needed;         // names that belong to a family of libraries below, or to torch
  std::vector<std::string> run_path = {};  // folders of its own where the loader looks: DT_RPATH, DT_RUNPATH
  bool has_code = false;
};

// A copy of one of CUDA's libraries.
struct LibraryCopy {
  std::string family;  // "cudart", "nvrtc", …
  std::string path;
  std::string version;       // as far as something tells it: "12.8.93"
  std::optional<int> major;  // of its interface: 12 of libcudart.so.12
  std::optional<Package> owner;
  std::string found_by;  // "environment", "LD_LIBRARY_PATH", "ld.so.cache"
  // Of one that was named, or stands in a folder that was, which no loader looks into: its DT_SONAME.
  std::string soname = {};
  std::string folder = {};    // that it stands in, without links
  bool under_soname = false;  // a file or link of that name stands beside it
};

// A compiler of device code.
struct JitTool {
  std::string kind;  // "ptxas", "nvrtc", "nvcc", "nvvm"
  std::string path;
  std::optional<Version> version;
  std::optional<Package> owner;
  bool chosen = false;        // TRITON_PTXAS_PATH names it
  std::string found_by = {};  // of one outside the environment: "PATH", "CUDA_HOME"
};

// A file that wants functions that the library that it gets does not define.
struct SymbolGap {
  std::string path;
  std::optional<Package> owner;
  std::string library;       // that it gets: a path
  std::string library_said;  // how that came to be chosen: "LD_LIBRARY_PATH"
  std::vector<std::string> names;
  std::string family = {};  // of that library: "nvJitLink"
  bool sure = true;  // false: by the error that was given, or of a library that nothing here was seen to load
};

// A library that the given error says could not be loaded, and a file that has its name among its texts.
struct OpenedLibrary {
  std::string name;  // as the error has it: "libcublas.so.12"
  std::string path;
  Package owner;
};

// A statement of an installed package's Python source that raises the given error where a check of the GPU's
// compute capability fails.
struct CapabilityGate {
  std::string path;
  std::optional<Package> owner;
  std::size_t line = 0;
  std::string condition;  // "if not current_platform.has_device_capability(80):"
};

struct LibcudaCopy {
  std::string path, version, found_by;
  bool stub = false, compat = false;
};

// A process that runs: what it has loaded of CUDA's libraries, and which libcuda.
struct ProcessFacts {
  int id = 0;
  std::vector<std::string> libraries;  // paths, as the kernel tells them
};

// An extension that torch or flashinfer built when it was used, in a cache.
struct StaleFile {
  std::string builder;  // "torch"
  CodeFile code;
  bool older_than_torch = false;
  std::vector<std::string> missing = {};  // functions that it wants and the installed torch does not define
  std::vector<std::string> needed = {};   // names of CUDA's libraries
  std::string told_symbol = {};           // that the given error says it does not find
};

// "nvidia-cudnn-cu12>=9.8,<10.0" of a package's metadata.
struct CudnnBound {
  Package by;
  std::string package, at_least;
  std::string below = {};  // "10.0"; empty where it names none
};

// "torch==2.7.1" of the metadata of what is made for one torch.
struct TorchPin {
  Package by;
  std::string torch;             // empty where it names none
  std::string own_version = {};  // of its version.py, which tells more than its name: "0.22.0+cpu"
};

struct TorchFacts {
  Package package;
  std::string site;
  std::optional<Version> cuda;  // of torch/version.py; nothing: a build without CUDA
  bool told = false;            // torch/version.py was read
  // The architectures that TORCH_CUDA_ARCH_LIST may name, of torch/utils/cpp_extension.py; read only where
  // that variable is set.
  std::vector<std::string> build_archs = {};
};

struct Facts {
  std::string asked = "archguard doctor";  // the line that asked, without devices
  // Of the environment's files: x86_64, aarch64 or windows, as src/releases names them.
  std::string platform = "x86_64";
  std::optional<ProbeResult> probe;  // nothing where devices are named
  DeviceList devices;
  std::vector<DeviceClass> classes;
  std::map<std::string, std::string> variables;  // of the environment, those that are known here
  std::vector<PythonEnvironment> environments;
  std::vector<InstalledPackage> packages;
  std::vector<CodeFile> code;
  std::vector<LinkedFile> linked;
  std::vector<LibraryCopy> libraries;
  std::vector<TorchPin> torch_pins;
  std::vector<JitTool> tools;
  std::vector<SymbolGap> library_gaps;  // of files, in the copies of CUDA's libraries that they get
  std::vector<SymbolGap> torch_gaps;    // of extensions, in the installed torch
  std::vector<OpenedLibrary> opened;
  std::optional<CapabilityGate> gate;
  std::vector<Rivals> rivals;  // files that two packages claim
  std::vector<CudnnBound> cudnn_bounds;
  std::vector<LibcudaCopy> libcudas;
  std::vector<StaleFile> stale;
  std::vector<ProcessFacts> processes;
  std::optional<TorchFacts> torch;
  std::set<std::string> toolkits;       // folders where NVIDIA's installers put them: "/usr/local/cuda-12.9"
  std::set<std::string> names_to_find;  // sonames that the loader finds, or the environment holds
  std::set<std::string> names_on_path;  // those that it finds by LD_LIBRARY_PATH, its cache, its folders
  std::set<std::string> torchs_users;   // normal names of packages whose metadata asks for torch
  std::string error_text;               // that was given
  std::vector<Explanation> explained;   // what it means, the root cause first
  std::vector<Error> unread;
  std::vector<std::string>
      notes;  // what changes no answer: an environment that is not judged, a broken list of files
};

}  // namespace archguard::doctor
