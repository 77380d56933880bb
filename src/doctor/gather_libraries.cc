#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/bytes.h"
#include "base/text.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"
#include "doctor/python_sites.h"
#include "host/elf_dynamic.h"
#include "loader/files_once.h"
#include "loader/ld_cache.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

std::string real_name(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

bool is_of_torch(std::string_view name) {
  return starts_with(name, "libtorch") || starts_with(name, "libc10");
}

class LibraryGathering {
 public:
  LibraryGathering(const GatherQuestion& question, Facts& facts) : question_(question), facts_(facts) {}

  void run(const FoundFiles& files) {
    for (const auto* list : {&files.named, &files.libraries})
      for (const std::string& path : *list) {
        note(path, "environment");
        add_linked(path);
      }
    for (const std::string& folder : folders_of_list(variable(facts_, "LD_LIBRARY_PATH")))
      add_folder(folder, "LD_LIBRARY_PATH");
    add_loader_cache();
    tell_platform();
    for (const char* const folder :
         {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
          "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64"})
      add_folder(folder, "the loader's folders");
  }

 private:
  void add_folder(const std::string& folder, const std::string& by) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error))
      note(entry->path().string(), by);
  }

  void add_loader_cache() {
    const auto source = FileSource::open(question_.loader_cache);
    if (!source) return;
    constexpr std::uint64_t kMost = std::uint64_t{16} << 20;
    const auto bytes = read_bytes(*source, 0, std::min(source->size(), kMost));
    if (!bytes) return;
    const auto cache = parse_loader_cache(*bytes);
    if (!cache) return;
    for (const auto& [name, paths] : *cache)
      for (const std::string_view path : paths) note(std::string(path), "ld.so.cache");
  }

  void note(const std::string& path, const std::string& by) {
    const std::string name = file_name_of(path);
    if (starts_with(name, "libcuda.so")) return note_libcuda(path, by);
    const auto library = library_name(name);
    if (!library) return;
    facts_.names_to_find.insert(name);
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    if (by != "environment") facts_.names_on_path.insert(name);
    if (!once_.add(path)) return;
    LibraryCopy copy{library->family, path, library->version, library->major, {}, by};
    const auto real = library_name(file_name_of(real_name(path)));
    if (real && real->family == copy.family && copy.version.empty()) copy.version = real->version;
    if (copy.family == "nvrtc" && copy.version.empty()) copy.version = version_of_builtins(path, copy.major);
    facts_.libraries.push_back(std::move(copy));
  }

  // NVRTC opens libnvrtc-builtins.so.12.8 beside itself, whose name tells the release. Nothing where two fit.
  static std::string version_of_builtins(const std::string& path, std::optional<int> major) {
    std::set<std::string> found;
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder_of(path), error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const auto name = library_name(entry->path().filename().string());
      if (!name || name->family != "nvrtc-builtins" || (major && name->major != major)) continue;
      if (const auto version = leading_version(name->version)) found.insert(to_string(*version));
    }
    return found.size() == 1 ? *found.begin() : std::string();
  }

  void note_libcuda(const std::string& path, const std::string& by) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) || !libcudas_.add(path)) return;
    LibcudaCopy copy{path, {}, by};
    const std::string real = real_name(path);
    copy.stub = path.find("/stubs/") != std::string::npos || real.find("/stubs/") != std::string::npos;
    copy.compat =
        real.find("/compat/") != std::string::npos || real.find("/cuda-compat") != std::string::npos;
    if (const auto at = real.rfind(".so.");
        at != std::string::npos && real.find('.', at + 4) != std::string::npos)
      copy.version = real.substr(at + 4);
    facts_.libcudas.push_back(std::move(copy));
  }

  void add_linked(const std::string& path) {
    const auto source = FileSource::open(path);
    if (!source) return;  // it was told where its code was read
    const auto dynamic = read_elf_dynamic(*source);
    if (is_of_windows(path)) ++files_of_windows_;
    if (!dynamic || !*dynamic) return;
    if (!is_of_windows(path)) ++files_of_machine_[(*dynamic)->machine];
    LinkedFile file;
    file.path = path;
    for (const std::string& name : (*dynamic)->needed)
      if (library_name(name) || is_of_torch(name)) file.needed.push_back(name);
    for (const std::string* list : {&(*dynamic)->rpath, &(*dynamic)->runpath})
      for (std::string& folder : folders_of_list(*list)) file.run_path.push_back(with_origin(folder, path));
    if (!file.needed.empty()) facts_.linked.push_back(std::move(file));
    if (!(*dynamic)->soname.empty()) tell_soname(path, (*dynamic)->soname);
  }

  static bool is_of_windows(const std::string& path) {
    return ends_with(path, ".dll") || ends_with(path, ".pyd");
  }

  static std::string with_origin(std::string folder, const std::string& path) {
    for (const std::string_view name : {"${ORIGIN}", "$ORIGIN"})
      if (const auto at = folder.find(name); at != std::string::npos)
        folder.replace(at, name.size(), folder_of(path));
    return real_name(folder);
  }

  void tell_soname(const std::string& path, const std::string& soname) {
    std::error_code error;
    for (LibraryCopy& copy : facts_.libraries)
      if (copy.path == path) {
        copy.soname = soname;
        copy.folder = real_name(folder_of(path));
        copy.under_soname = fs::exists(folder_of(path) + "/" + soname, error);
      }
  }

  // That of the environment's files, which may be of another machine than this.
  void tell_platform() {
    constexpr std::uint16_t kX86 = 62, kArm = 183;  // e_machine of the ELF header
    const std::size_t x86 = files_of_machine_[kX86], arm = files_of_machine_[kArm];
    if (x86 != arm) facts_.platform = arm > x86 ? "aarch64" : "x86_64";
    const bool in_windows_folder =
        std::any_of(facts_.environments.begin(), facts_.environments.end(), [](const auto& each) {
          return std::any_of(each.sites.begin(), each.sites.end(),
                             [](const std::string& site) { return ends_with(site, "/Lib/site-packages"); });
        });
    if (files_of_windows_ > x86 + arm || (in_windows_folder && x86 + arm == 0)) facts_.platform = "windows";
  }

  const GatherQuestion& question_;
  Facts& facts_;
  std::map<std::uint16_t, std::size_t> files_of_machine_;
  std::size_t files_of_windows_ = 0;
  FilesOnce once_, libcudas_;
};

std::string program_in_path(const Facts& facts, const std::string& name) {
  std::error_code error;
  for (const std::string& folder : folders_of_list(variable(facts, "PATH")))
    if (fs::is_regular_file(folder + "/" + name, error)) return folder + "/" + name;
  return {};
}

// A toolkit, and what is installed in its shape, has nvvm/lib64/libnvvm.so beside bin/ptxas.
std::optional<Version> release_beside_nvvm(const std::string& path) {
  const std::string root = folder_of(folder_of(folder_of(path)));
  return release_told_in(root + "/bin/ptxas");
}

// numba takes the NVVM of its environment, else that of CUDA_HOME or CUDA_PATH, else of /usr/local/cuda
// (numba/cuda/cuda_paths.py).
void add_nvvm_of_toolkit(Facts& facts) {
  std::string home = "/usr/local/cuda", by = home;
  for (const char* const name : {"CUDA_PATH", "CUDA_HOME"})
    if (const std::string value = variable(facts, name); !value.empty()) home = value, by = name;
  const std::string path = home + "/nvvm/lib64/libnvvm.so";
  std::error_code error;
  if (fs::is_regular_file(path, error))
    facts.tools.push_back({"nvvm", path, release_beside_nvvm(path), {}, false, by});
}

// Those that XLA may take in place of the environment's.
void add_ptxas_outside(Facts& facts) {
  std::error_code error;
  const auto add = [&](const std::string& path, const char* by) {
    const auto is_known = [&](const JitTool& tool) { return real_name(tool.path) == real_name(path); };
    if (!path.empty() && fs::is_regular_file(path, error) &&
        std::none_of(facts.tools.begin(), facts.tools.end(), is_known))
      facts.tools.push_back({"ptxas", path, release_told_in(path), {}, false, by});
  };
  if (const std::string root = variable(facts, "CUDA_ROOT"); !root.empty())
    add(root + "/bin/ptxas", "CUDA_ROOT");
  add(program_in_path(facts, "ptxas"), "PATH");
}

}  // namespace

void gather_libraries(const FoundFiles& files, const GatherQuestion& question, Facts& facts) {
  LibraryGathering(question, facts).run(files);
  std::set<std::string> with_code;
  for (const CodeFile& file : facts.code) with_code.insert(file.path);
  for (LinkedFile& file : facts.linked) file.has_code = with_code.count(file.path) != 0;
}

void gather_tools(const FoundFiles& files, Facts& facts) {
  for (std::string& folder : subfolders("/usr/local", "cuda-")) facts.toolkits.insert(std::move(folder));
  const auto add = [&](const std::string& kind, const std::string& path, bool chosen) {
    facts.tools.push_back({kind, path, release_told_in(path), {}, chosen});
  };
  for (const std::string& path : files.ptxas) add("ptxas", path, false);
  for (const char* const name : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"})
    if (const std::string path = variable(facts, name); !path.empty()) add("ptxas", path, true);
  for (const LibraryCopy& copy : facts.libraries) {
    if (copy.family != "nvrtc" || file_name_of(copy.path).find(".alt.") != std::string::npos) continue;
    auto version = leading_version(copy.version);
    if (!version && copy.found_by == "environment") version = release_told_in(copy.path);
    facts.tools.push_back({"nvrtc", copy.path, version, {}, copy.found_by == "LD_LIBRARY_PATH"});
  }
  for (const std::string& path : files.libraries)
    if (file_name_of(path) == "libnvvm.so" || starts_with(file_name_of(path), "libnvvm.so."))
      facts.tools.push_back({"nvvm", path, release_beside_nvvm(path), {}, false});
  const auto is_nvvm = [](const JitTool& tool) { return tool.kind == "nvvm"; };
  if (std::none_of(facts.tools.begin(), facts.tools.end(), is_nvvm)) add_nvvm_of_toolkit(facts);
  add_ptxas_outside(facts);
  std::string nvcc = program_in_path(facts, "nvcc");
  for (const char* const name : {"CUDA_PATH", "CUDA_HOME"})  // torch asks the second first, and PATH last
    if (const std::string home = variable(facts, name); !home.empty()) nvcc = home + "/bin/nvcc";
  std::error_code error;
  if (!nvcc.empty() && fs::is_regular_file(nvcc, error)) add("nvcc", nvcc, false);
}

}  // namespace archguard::doctor
