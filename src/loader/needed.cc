#include "loader/needed.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "loader/files_once.h"
#include "loader/search.h"

namespace archguard {
namespace fs = std::filesystem;
namespace {

// A limit on time: no program needs that many.
constexpr std::size_t kNeededLibrariesMost = 10'000;

bool begins_with_any(const std::string& name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return starts_with(name, prefix); });
}

// The libraries of the C and C++ compilers hold no device code anywhere. A build for another machine may have
// none of that machine's here.
bool is_runtime_library(const std::string& name) {
  return begins_with_any(name, {"ld-linux", "ld64.so.", "libc.so.", "libm.so.", "libmvec.so.", "libdl.so.",
                                "libpthread.so.", "librt.so.", "libresolv.so.", "libutil.so.", "libanl.so.",
                                "libgcc_s.so.", "libstdc++.so.", "libatomic.so.", "libgomp.so."});
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The program's own folder: the kernel tells the loader of a program where it is without links; a library is
// taken as it is named.
std::string origin_of_first(const std::string& path, const ElfDynamic& dynamic) {
  std::error_code error;
  const fs::path whole = dynamic.interpreter.empty() ? fs::absolute(path, error) : fs::canonical(path, error);
  return folder_of(error ? path : whole.string());
}

// One program and what it loads.
class Loading {
 public:
  Loading(const LoaderFolders& folders, LoadedFile first) : search_(folders, first) {
    names_.insert(last_part(first.dynamic.interpreter));  // the loader itself
    files_.add(first.path);
    const std::string path = first.path;
    enter(path, std::move(first));
  }

  NeededLibraries run() {
    for (std::size_t i = 0; i < loaded_.size() && !is_too_much(); ++i)
      for (const bool must : {true, false}) {
        ElfDynamic& dynamic = loaded_[i].dynamic;
        for (const std::string& name : std::exchange(must ? dynamic.needed : dynamic.auxiliary, {}))
          if (names_.count(name) == 0 && !is_too_much()) need(name, i, must);
      }
    if (is_too_much())
      out_.errors.push_back(
          {loaded_.front().path, "asks the loader to look into more places than are followed", {}});
    out_.tried = search_.tried(out_.tried_whole);
    return std::move(out_);
  }

 private:
  bool is_too_much() const { return search_.exhausted() || loaded_.size() >= kNeededLibrariesMost; }

  // `must`: without it the loader refuses the program.
  void need(const std::string& name, std::size_t asker, bool must) {
    const std::string by = loaded_[asker].path;
    if (is_driver_library(last_part(name))) {
      pass_over(name);
      return;
    }
    LoaderSearch::Answer answer = search_.find(name, loaded_, asker);
    if (answer.file) take(name, std::move(*answer.file), asker, answer.by_linker);
    for (LoadedFile& variant : answer.variants) take(name, std::move(variant), asker, false);
    if (!answer.file) {
      if (is_runtime_library(last_part(name)))
        pass_over(name);
      else if (must && said_.insert(name).second)
        out_.missing.push_back({name, by, std::move(answer.searched)});
    }
  }

  void take(const std::string& name, LoadedFile file, std::size_t asker, bool by_linker) {
    if (!files_.add(file.path)) {
      search_.keep_tried(file.path);
      names_.insert(name);
      return;
    }
    if (file.error) out_.errors.push_back(std::move(*file.error));
    out_.found.push_back({name, file.path, loaded_[asker].path, by_linker});
    file.asker = asker;
    enter(name, std::move(file));
  }

  // From now on it is known by the name that it was asked for, and by the name that it gives itself.
  void enter(const std::string& name, LoadedFile file) {
    names_.insert({name, file.dynamic.soname});
    loaded_.push_back(std::move(file));
  }

  void pass_over(const std::string& name) {
    if (said_.insert(name).second) out_.passed_over.push_back(name);
  }

  LoaderSearch search_;
  std::vector<LoadedFile> loaded_;
  FilesOnce files_;              // that are loaded
  std::set<std::string> names_;  // that they go by
  std::set<std::string> said_;   // names that are missing, or passed over
  NeededLibraries out_;
};

}  // namespace

// The driver's README, "Installed Components"; any other libnvidia-*.so may be anybody's, and is judged.
bool is_driver_library(const std::string& name) {
  if (begins_with_any(name, {"libcuda.so", "libcudadebugger.so", "libnvcuvid.so", "libnvoptix.so"}))
    return true;
  constexpr std::string_view kPrefix = "libnvidia-";
  if (!starts_with(name, kPrefix)) return false;
  const std::string_view rest = std::string_view(name).substr(kPrefix.size());
  for (const std::string_view part :
       {"allocator",     "api",          "cbl",         "cfg",       "compiler",
        "container",     "egl-gbm",      "egl-wayland", "eglcore",   "encode",
        "fbc",           "glcore",       "glsi",        "glvkspirv", "gpucomp",
        "gtk2",          "gtk3",         "ml",          "ngx",       "nscq",
        "nvvm",          "opencl",       "opticalflow", "pkcs11",    "ptxjitcompiler",
        "rtcore",        "sandboxutils", "tileiras",    "tls",       "vksc-core",
        "wayland-client"})
    if (starts_with(rest, part) && starts_with(rest.substr(part.size()), ".so")) return true;
  return false;
}

NeededLibraries needed_libraries(const std::string& path, const LoaderFolders& folders) {
  auto source = FileSource::open(path);
  NeededLibraries none;
  if (!source) {
    none.errors.push_back(source.error());
    return none;
  }
  auto dynamic = read_elf_dynamic(*source);
  if (!dynamic) {
    none.errors.push_back({path, dynamic.error().what, {}});
    return none;
  }
  if (!*dynamic || ((*dynamic)->needed.empty() && (*dynamic)->auxiliary.empty())) return {};
  LoadedFile first{path, std::move(**dynamic), {}, {}};
  first.origin = origin_of_first(path, first.dynamic);
  return Loading(folders, std::move(first)).run();
}

}  // namespace archguard
