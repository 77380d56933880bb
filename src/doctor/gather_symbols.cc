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

// What these files want of torch and the installed one does not define, by file.
using NamesByFile = std::map<std::string, std::set<std::string>>;
NamesByFile missing_in_torch(const Facts& facts, const std::vector<std::string>& paths) {
  NamesByFile wanted;
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
  for (const auto& [path, names] : wanted)
    std::set_intersection(names.begin(), names.end(), all.begin(), all.end(),
                          std::inserter(missing[path], missing[path].end()));
  return missing;
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
    if (const auto found = missing.find(file.path); found != missing.end() && !found->second.empty())
      facts.torch_gaps.push_back({file.path, file.owner, own + "lib", {}, first_of(found->second)});
}

// torch builds into "py311_cu128" of its cache, and looks nowhere else (`_get_build_directory` in
// torch/utils/cpp_extension.py); what TORCH_EXTENSIONS_DIR names has no such folders.
bool is_for_another_torch(const std::string& folder, const Facts& facts) {
  if (!starts_with(folder, "py")) return false;
  const auto line = folder.find('_');
  if (line == std::string::npos) return false;
  const std::string python = folder.substr(2, line - 2), made_for = folder.substr(line + 1);
  std::string own;
  for (const PythonEnvironment& each : facts.environments)
    if (has_site(each, facts.torch->site)) own = each.python;
  own.erase(std::remove(own.begin(), own.end(), '.'), own.end());
  if (!own.empty() && python.substr(0, own.size()) != own) return true;
  const auto& cuda = facts.torch->cuda;
  return cuda && made_for != "cu" + std::to_string(cuda->major) + std::to_string(cuda->minor);
}

std::vector<std::string> cached_extensions(const std::string& folder, const Facts& facts) {
  std::vector<std::string> paths;
  std::error_code error;
  for (auto entry =
           fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string path = entry->path().string();
    if (entry.depth() == 0 && is_for_another_torch(file_name_of(path), facts))
      entry.disable_recursion_pending();
    if (ends_with(path, ".so")) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

void gather_symbols(const GatherQuestion& question, Facts& facts) {
  find_jit_link_gaps(question, facts);
  find_torch_gaps(facts);
}

void gather_stale(const GatherQuestion& question, Facts& facts) {
  if (!facts.torch) return;
  std::string folder = variable(facts, "TORCH_EXTENSIONS_DIR");
  if (folder.empty() && !question.home.empty()) folder = question.home + "/.cache/torch_extensions";
  std::error_code error;
  if (folder.empty() || !fs::is_directory(folder, error)) return;
  const fs::file_time_type torch = fs::last_write_time(facts.torch->site + "/torch/version.py", error);
  const bool told = !error;
  const std::vector<std::string> paths = cached_extensions(folder, facts);
  const NamesByFile missing = missing_in_torch(facts, paths);
  for (const std::string& path : paths) {
    std::error_code of_file;
    const auto built = fs::last_write_time(path, of_file);
    auto code = read_code_file(path, facts, facts.unread);
    const auto names = missing.find(path);
    StaleFile file{code ? std::move(*code) : CodeFile{}, told && !of_file && built < torch,
                   names == missing.end() ? std::vector<std::string>() : first_of(names->second)};
    file.code.path = path;
    if (code || !file.missing.empty()) facts.stale.push_back(std::move(file));
  }
}

}  // namespace archguard::doctor
