#include "needed.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "fatbin/driver_imports.h"
#include "fatbin/fatbin.h"
#include "fatbin/format.h"
#include "host/coff.h"
#include "loader/definitions.h"
#include "loader/files_once.h"
#include "loader/needed.h"

namespace archguard {
namespace {

bool is_pe_image(const ByteSource& source) {
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(4096, source.size()));
  return start && is_pe(*start);
}

LoaderFolders folders_of(const NeededOptions& where) {
  LoaderFolders folders;
  folders.sysroot = where.sysroot;
  folders.rpath_link = where.rpath_link;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) folders.library_path = path;
  return folders;
}

Error not_found(const MissingLibrary& library) {
  std::string what = "needs " + library.name + ", which is not found";
  if (!library.searched.empty()) what += "; looked in " + join(library.searched, ", ");
  return {library.needed_by, what,
          "set LD_LIBRARY_PATH to its folder, as it will be where the program runs; --rpath-link for where "
          "the linker found it, --sysroot for another system"};
}

// Each device link counts its objects by functions of the objects' names. Where two of the files that are
// loaded together hold one object, as a static library of device code, the second's is called for the first,
// and the second never registers its kernels (link.stub of the CUDA toolkit; seen with 13.0).
void add_shared_registrations(const std::string& path, const LoaderFolders& folders,
                              std::set<std::string>& told, NeededReport& report) {
  for (const Interposed& each : interposed_names(fatbin::kLinkedRegistration, path, folders)) {
    if (!told.insert(each.path + "\n" + each.first).second) continue;
    const bool is_runtime = each.name.find(fatbin::kDeviceRuntimeId) != std::string::npos;
    report.errors.push_back({each.path,
                             "registers none of its separately compiled device code beside " + each.first +
                                 ": both hold '" + each.name.substr(fatbin::kLinkedRegistration.size()) +
                                 "', and the loader takes the other's",
                             is_runtime ? fatbin::kKeepDeviceRuntime
                                        : "link the static library of device code into one of them alone"});
  }
}

}  // namespace

NeededReport add_needed(std::vector<InputFile>& files, const NeededOptions& where, NeededFiles which) {
  const LoaderFolders folders = folders_of(where);
  NeededReport report;
  FilesOnce known;
  std::set<std::string> passed_over, told;
  std::vector<InputFile> more;
  std::size_t missing = 0;
  if (which == NeededFiles::beside)
    for (const InputFile& file : files) known.add(file.path);
  for (InputFile& file : files) {
    if (which == NeededFiles::alone && file.error) report.errors.push_back(*file.error);
    if (file.error) continue;
    if (const auto source = FileSource::open(file.path)) {
      if (is_pe_image(*source))
        report.errors.push_back({file.path, "is a PE file; --needed follows those of ELF files alone",
                                 "name its DLLs instead of --needed"});
      if (which == NeededFiles::alone && holds_files(*source))
        report.errors.push_back(needs_unpacking(file.path));
    }
    const NeededLibraries needed = needed_libraries(file.path, folders);
    for (const NeededLibrary& library : needed.found) {
      if (known.add(library.path))
        more.push_back({library.path, false, std::nullopt, library.needed_by, library.by_linker});
      file.needs.push_back(known.known_as(library.path));
    }
    for (const MissingLibrary& library : needed.missing) report.errors.push_back(not_found(library));
    report.errors.insert(report.errors.end(), needed.errors.begin(), needed.errors.end());
    report.tried.insert(report.tried.end(), needed.tried.begin(), needed.tried.end());
    report.tried_whole &= needed.tried_whole;
    missing += needed.missing.size();
    add_shared_registrations(file.path, folders, told, report);
    for (const std::string& name : needed.passed_over)
      if (passed_over.insert(name).second) report.passed_over.push_back(name);
  }
  // That a library was not found rests on the places where it was looked for; any other error on more.
  report.tried_whole &= report.errors.size() == missing;
  if (which == NeededFiles::alone) files.clear();
  files.insert(files.end(), more.begin(), more.end());
  return report;
}

AskElsewhere ask_libraries(const std::string& path, const NeededOptions& where) {
  return [path, where](const std::set<std::string>& functions) {
    Definitions found = definitions_of(functions, path, folders_of(where));
    auto& missing = found.not_found;
    missing.erase(std::remove_if(missing.begin(), missing.end(),
                                 [](const auto& name) { return !may_define_driver_functions(name); }),
                  missing.end());
    return FunctionsElsewhere{std::move(found.names), std::move(missing), found.needs_libcuda};
  };
}

Status check_needed(bool asked, const NeededOptions& where, const std::string& list,
                    const std::vector<std::string>& cache) {
  std::error_code error;
  if (asked && !where.sysroot.empty() && !std::filesystem::is_directory(where.sysroot, error))
    return Error{where.sysroot, "is no folder", "name the root of the other system: --sysroot DIR"};
  if (asked) return Done{};
  for (const auto& [option, given] : {std::pair<const char*, bool>{"--sysroot", !where.sysroot.empty()},
                                      {"--rpath-link", !where.rpath_link.empty()},
                                      {"--needed-list", !list.empty()},
                                      {"--cache", !cache.empty()}})
    if (given) return Error{{}, std::string(option) + " says nothing without --needed", "add --needed"};
  return Done{};
}

bool is_linked_member(const DeviceCode& code) {
  return !code.member.empty() &&
         std::any_of(code.objects.begin(), code.objects.end(),
                     [](const DeviceObject& object) { return object.linked && !object.member.empty(); });
}

Error needs_unpacking(const std::string& path) {
  return {path, "is an archive; the libraries that its members need are found when it is unpacked",
          "unpack it and name the folder"};
}

}  // namespace archguard
