#include "loader/needed.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <system_error>

#include "base/text.h"
#include "loader/search.h"

namespace archguard {
namespace fs = std::filesystem;
namespace {

// A limit on time: no program needs that many.
constexpr std::size_t kLibrariesMost = 10'000;

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
    names_.push_back({first.path});
    remember(first.path);
    loaded_.push_back(std::move(first));
  }

  NeededLibraries run() {
    for (std::size_t i = 0; i < loaded_.size() && loaded_.size() < kLibrariesMost; ++i)
      for (const std::string& name : std::vector<std::string>(loaded_[i].dynamic.needed)) need(name, i);
    if (search_.exhausted() || loaded_.size() >= kLibrariesMost)
      out_.errors.push_back(
          {loaded_.front().path, "asks the loader to look into more places than are followed", {}});
    return std::move(out_);
  }

 private:
  void need(const std::string& name, std::size_t asker) {
    if (is_loaded(name)) return;
    const std::string by = loaded_[asker].path;
    if (is_driver_library(last_part(name))) {
      pass_over(name);
      return;
    }
    LoaderSearch::Answer answer = search_.find(name, loaded_, asker);
    if (!answer.file) {
      if (is_runtime_library(last_part(name)))
        pass_over(name);
      else if (tried_.insert(name).second)
        out_.missing.push_back({name, by, std::move(answer.searched)});
      return;
    }
    if (const auto same = find_same(answer.file->path)) {
      names_[*same].push_back(name);
      return;
    }
    if (answer.error) out_.errors.push_back(std::move(*answer.error));
    out_.found.push_back({name, answer.file->path, by});
    names_.push_back({name});
    remember(answer.file->path);
    answer.file->asker = asker;
    loaded_.push_back(std::move(*answer.file));
  }

  // By the name that it was asked for, or by the name that it gives itself.
  bool is_loaded(const std::string& name) const {
    for (std::size_t i = 0; i < loaded_.size(); ++i)
      if (loaded_[i].dynamic.soname == name ||
          std::find(names_[i].begin(), names_[i].end(), name) != names_[i].end())
        return true;
    return last_part(loaded_.front().dynamic.interpreter) == name;  // the loader itself
  }

  void remember(const std::string& path) {
    struct stat status {};
    const bool known = ::stat(path.c_str(), &status) == 0;
    files_.push_back(known ? std::make_pair(status.st_dev, status.st_ino) : std::make_pair(dev_t{}, ino_t{}));
  }

  std::optional<std::size_t> find_same(const std::string& path) const {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    const auto found = std::find(files_.begin(), files_.end(), std::make_pair(status.st_dev, status.st_ino));
    if (found == files_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - files_.begin());
  }

  void pass_over(const std::string& name) {
    auto& all = out_.passed_over;
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }

  LoaderSearch search_;
  std::vector<LoadedFile> loaded_;
  std::vector<std::vector<std::string>> names_;  // that each was asked for by
  std::vector<std::pair<dev_t, ino_t>> files_;   // which file each is
  std::set<std::string> tried_;
  NeededLibraries out_;
};

}  // namespace

bool is_driver_library(const std::string& name) {
  return begins_with_any(
      name, {"libcuda.so", "libcudadebugger.so", "libnvidia-", "libnvcuvid.so", "libnvoptix.so"});
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
  if (!*dynamic || (*dynamic)->needed.empty()) return {};
  LoadedFile first{path, std::move(**dynamic), {}, {}};
  first.origin = origin_of_first(path, first.dynamic);
  return Loading(folders, std::move(first)).run();
}

}  // namespace archguard
