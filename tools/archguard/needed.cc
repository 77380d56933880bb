#include "needed.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sys/stat.h>
#include <utility>

#include "base/text.h"
#include "container/pe_object.h"
#include "loader/needed.h"

namespace archguard {
namespace {

using FileId = std::pair<dev_t, ino_t>;

bool is_pe_image(const std::string& path) {
  auto source = FileSource::open(path);
  if (!source) return false;
  const auto start = read_bytes(*source, 0, std::min<std::uint64_t>(4096, source->size()));
  return start && is_pe(*start);
}

Error not_found(const MissingLibrary& library) {
  std::string what = "needs " + library.name + ", which is not found";
  if (!library.searched.empty()) what += "; looked in " + join(library.searched, ", ");
  return {library.needed_by, what,
          "set LD_LIBRARY_PATH to its folder, as it will be where the program runs; --sysroot for another "
          "system"};
}

// A needed library that was found by several files is one file.
class Files {
 public:
  bool add(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) != 0 || known_.insert({status.st_dev, status.st_ino}).second;
  }

 private:
  std::set<FileId> known_;
};

}  // namespace

NeededReport add_needed(std::vector<InputFile>& files, const std::string& sysroot) {
  LoaderFolders folders;
  folders.sysroot = sysroot;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) folders.library_path = path;
  NeededReport report;
  Files known;
  std::vector<InputFile> more;
  for (const InputFile& file : files) known.add(file.path);
  for (const InputFile& file : files) {
    if (file.error) continue;
    if (is_pe_image(file.path))
      report.errors.push_back({file.path, "is a PE file; --needed follows those of ELF files alone",
                               "name its DLLs instead of --needed"});
    const NeededLibraries needed = needed_libraries(file.path, folders);
    for (const NeededLibrary& library : needed.found)
      if (known.add(library.path)) more.push_back({library.path, false, std::nullopt, library.needed_by});
    for (const MissingLibrary& library : needed.missing) report.errors.push_back(not_found(library));
    report.errors.insert(report.errors.end(), needed.errors.begin(), needed.errors.end());
    for (const std::string& name : needed.passed_over)
      if (std::find(report.passed_over.begin(), report.passed_over.end(), name) == report.passed_over.end())
        report.passed_over.push_back(name);
  }
  files.insert(files.end(), more.begin(), more.end());
  return report;
}

Error needs_unpacking(const std::string& path) {
  return {path, "is a zip file; the libraries that its members need are found when it is unpacked",
          "unpack it and name the folder"};
}

}  // namespace archguard
