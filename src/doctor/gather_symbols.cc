#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "base/bytes.h"
#include "base/text.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"
#include "doctor/python_sites.h"
#include "host/elf_dynamic.h"
#include "loader/needed.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kSymbolMost = 512;
constexpr std::size_t kNamesKept = 50;

// Names that the file wants from others and that `takes` is true of. Weak ones may be missing.
std::set<std::string> wanted_in(const std::string& path, bool (*takes)(std::string_view)) {
  std::set<std::string> names;
  const auto source = FileSource::open(path);
  if (!source) return names;
  const auto dynamic = read_elf_dynamic(*source);
  if (!dynamic || !*dynamic) return names;
  visit_wanted_names(*source, (*dynamic)->tables, kSymbolMost, [&](const WantedName& name) {
    if (!name.weak && takes(name.name)) names.insert(name.name);
  });
  return names;
}

// Removes what the file defines; false where that cannot be told.
bool remove_defined(const std::string& path, std::set<std::string>& names) {
  const auto source = FileSource::open(path);
  if (!source) return false;
  const auto dynamic = read_elf_dynamic(*source);
  if (!dynamic || !*dynamic) return false;
  bool any = false;
  visit_defined_names(*source, (*dynamic)->tables, kSymbolMost, [&](const std::string& name) {
    any = true;
    names.erase(name);
    return !names.empty();
  });
  return any;
}

bool is_of_jit_link(std::string_view name) {
  return starts_with(name, "__nvJitLink") || starts_with(name, "nvJitLink");
}

// Of the namespaces c10, at and torch, as C++ compilers spell them: functions, tables and type names.
bool is_torch_name(std::string_view name) {
  if (!starts_with(name, "_Z")) return false;
  name.remove_prefix(2);
  for (const std::string_view kind : {"TV", "TI", "TS", "TT"})
    if (starts_with(name, kind)) name.remove_prefix(2);
  if (!starts_with(name, "N")) return false;
  name.remove_prefix(1);
  while (starts_with(name, "K") || starts_with(name, "R") || starts_with(name, "V")) name.remove_prefix(1);
  return starts_with(name, "3c10") || starts_with(name, "2at") || starts_with(name, "5torch");
}

std::string how_found(const std::string& path, const Facts& facts) {
  for (const std::string& folder : folders_of_list(variable(facts, "LD_LIBRARY_PATH")))
    if (starts_with(path, folder)) return "LD_LIBRARY_PATH";
  for (const PythonEnvironment& environment : facts.environments)
    if (starts_with(path, environment.prefix + "/")) return "the file's own run path";
  return "the loader's folders";
}

std::vector<std::string> first_of(const std::set<std::string>& names) {
  std::vector<std::string> kept;
  for (const std::string& name : names)
    if (kept.size() < kNamesKept) kept.push_back(name);
  return kept;
}

// cuSPARSE and cuSOLVER want functions of nvJitLink that carry its release in their names.
void find_jit_link_gaps(const GatherQuestion& question, Facts& facts) {
  LoaderFolders folders;
  folders.library_path = variable(facts, "LD_LIBRARY_PATH");
  folders.cache = question.loader_cache;
  for (const LinkedFile& file : facts.linked) {
    const auto is_jit_link = [](const std::string& name) { return starts_with(name, "libnvJitLink.so"); };
    if (std::none_of(file.needed.begin(), file.needed.end(), is_jit_link)) continue;
    std::set<std::string> wanted = wanted_in(file.path, is_of_jit_link);
    if (wanted.empty()) continue;
    const NeededLibraries needed = needed_libraries(file.path, folders);
    for (const NeededLibrary& library : needed.found)
      if (is_jit_link(library.name) && remove_defined(library.path, wanted) && !wanted.empty())
        facts.jit_link_gaps.push_back(
            {file.path, file.owner, library.path, how_found(library.path, facts), first_of(wanted)});
  }
}

std::vector<std::string> libraries_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (entry->path().filename().string().find(".so") != std::string::npos)
      paths.push_back(entry->path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void find_torch_gaps(Facts& facts) {
  if (!facts.torch) return;
  const std::string own = facts.torch->site + "/torch/";
  std::vector<std::string> paths;
  for (const LinkedFile& file : facts.linked)
    if (!starts_with(file.path, own) &&
        std::any_of(file.needed.begin(), file.needed.end(), [](const std::string& name) {
          return starts_with(name, "libtorch") || starts_with(name, "libc10");
        }))
      paths.push_back(file.path);
  const NamesByFile missing = missing_in_torch(facts, paths);
  for (const LinkedFile& file : facts.linked)
    if (const auto found = missing.find(file.path); found != missing.end())
      facts.torch_gaps.push_back({file.path, file.owner, own + "lib", {}, found->second});
}

}  // namespace

NamesByFile missing_in_torch(const Facts& facts, const std::vector<std::string>& paths) {
  std::map<std::string, std::set<std::string>> wanted;
  std::set<std::string> all;
  for (const std::string& path : paths) {
    auto names = wanted_in(path, is_torch_name);
    all.insert(names.begin(), names.end());
    wanted[path] = std::move(names);
  }
  if (all.empty()) return {};
  bool any = false;
  for (const std::string& path : libraries_in(facts.torch->site + "/torch/lib"))
    any |= remove_defined(path, all);
  if (!any) return {};
  // An extension's own parts define names of these namespaces for each other.
  std::set<std::string> folders;
  for (const auto& [path, names] : wanted) folders.insert(folder_of(path));
  for (const std::string& folder : folders)
    for (const std::string& path : libraries_in(folder))
      if (!all.empty()) remove_defined(path, all);
  NamesByFile missing;
  for (const auto& [path, names] : wanted) {
    std::set<std::string> lacking;
    std::set_intersection(names.begin(), names.end(), all.begin(), all.end(),
                          std::inserter(lacking, lacking.end()));
    if (!lacking.empty()) missing[path] = first_of(lacking);
  }
  return missing;
}

void gather_symbols(const GatherQuestion& question, Facts& facts) {
  find_jit_link_gaps(question, facts);
  find_torch_gaps(facts);
}

}  // namespace archguard::doctor
