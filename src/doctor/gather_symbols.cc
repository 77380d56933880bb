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
#include "releases/releases.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kSymbolMost = 512;
constexpr std::size_t kNamesKept = 50;

// Names that the file wants from others and that `takes` is true of. Weak ones may be missing.
template <class Takes>
std::set<std::string> wanted_in(const std::string& path, Takes takes) {
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

// A library of CUDA, and how the names of its functions begin. cuSPARSE and cuSOLVER want functions of
// nvJitLink that carry its release in their names; cuBLAS wants those of a cuBLASLt of its own release
// (pytorch/pytorch#103832), and torch those of the NCCL that it was built with (rwth-i6/returnn#1802).
struct Provider {
  std::string_view family;
  std::string_view prefix, other_prefix;  // the second of names that are not of C's
};
constexpr Provider kProviders[] = {{"nvJitLink", "nvJitLink", "__nvJitLink"},
                                   {"cublasLt", "cublasLt", "cublasLt"},
                                   {"cublas", "cublas", "cublas"},
                                   {"nccl", "nccl", "pnccl"}};

bool is_of(const Provider& provider, std::string_view name) {
  return starts_with(name, provider.prefix) || starts_with(name, provider.other_prefix);
}

bool is_copy_of(const Provider& provider, const std::string& name) {
  const auto library = library_name(name);
  return library && library->family == provider.family;
}

// What files of the environment want of CUDA's libraries, against the copies that the loader takes for them.
class LibraryGaps {
 public:
  LibraryGaps(const GatherQuestion& question, Facts& facts) : facts_(facts) {
    folders_.library_path = variable(facts, "LD_LIBRARY_PATH");
    folders_.cache = question.loader_cache;
    for (const LinkedFile& file : facts.linked) linked_[real_of(file.path)] = &file;
  }

  // A library of CUDA's that a file here loads is judged as it is loaded there, where its own needs may be
  // met before; one that nothing here loads, by itself.
  void run() {
    for (const bool own : {false, true})
      for (const LinkedFile& file : facts_.linked)
        if (is_cudas(file) == own && !is_loaded_after_torch(file) && seen_.count(real_of(file.path)) == 0)
          judge(file, own ? needs_jit_link(file) : !facts_.torch || is_torchs(file));
    judge_told();
  }

 private:
  static bool is_cudas(const LinkedFile& file) { return library_name(file_name_of(file.path)).has_value(); }

  static bool needs_jit_link(const LinkedFile& file) {
    return std::any_of(file.needed.begin(), file.needed.end(),
                       [](const std::string& name) { return starts_with(name, "libnvJitLink.so"); });
  }

  bool is_torchs(const LinkedFile& file) const {
    return facts_.torch && starts_with(file.path, facts_.torch->site + "/torch/");
  }

  // By then torch has loaded the libraries that it needs.
  bool is_loaded_after_torch(const LinkedFile& file) const {
    if (!facts_.torch || is_torchs(file)) return false;
    if (file.owner && facts_.torchs_users.count(normal_name(file.owner->name)) != 0) return true;
    return std::any_of(file.needed.begin(), file.needed.end(), [](const std::string& name) {
      return starts_with(name, "libtorch") || starts_with(name, "libc10");
    });
  }

  void judge(const LinkedFile& root, bool sure) {
    if (std::none_of(root.needed.begin(), root.needed.end(),
                     [](const std::string& name) { return library_name(name).has_value(); }))
      return;
    const NeededLibraries needed = needed_libraries(root.path, folders_);
    judge_one(root, needed, sure);
    for (const NeededLibrary& each : needed.found) {
      const std::string real = real_of(each.path);
      const auto linked = linked_.find(real);
      if (linked == linked_.end() || !seen_.insert(real).second) continue;
      judge_one(*linked->second, needed, sure);
    }
  }

  void judge_one(const LinkedFile& user, const NeededLibraries& needed, bool sure) {
    for (const Provider& provider : kProviders) {
      const auto is_copy = [&](const std::string& name) { return is_copy_of(provider, name); };
      if (std::none_of(user.needed.begin(), user.needed.end(), is_copy)) continue;
      const auto taken = std::find_if(needed.found.begin(), needed.found.end(),
                                      [&](const NeededLibrary& each) { return is_copy(each.name); });
      if (taken == needed.found.end()) continue;
      std::set<std::string> wanted = wanted_by(user.path, provider);
      if (wanted.empty() || !remove_defined(taken->path, wanted) || wanted.empty()) continue;
      for (const NeededLibrary& each : needed.found)
        if (!wanted.empty() && each.path != taken->path) remove_defined(each.path, wanted);
      if (!wanted.empty())
        add({user.path, user.owner, real_of(taken->path), how_found(taken->path, facts_), first_of(wanted),
             std::string(provider.family), sure});
    }
  }

  static std::set<std::string> wanted_by(const std::string& path, const Provider& provider) {
    return wanted_in(path, [&](std::string_view name) { return is_of(provider, name); });
  }

  void add(SymbolGap gap) {
    for (const SymbolGap& each : facts_.library_gaps)
      if (each.path == gap.path && each.library == gap.library) return;
    facts_.library_gaps.push_back(std::move(gap));
  }

  // "undefined symbol: cublasLtGetStatusString, version libcublasLt.so.11" of the error: a copy here that
  // does not define it may be the one that was loaded.
  void judge_told() {
    for (const std::string& name : undefined_symbols(facts_.error_text))
      for (const Provider& provider : kProviders) {
        if (!is_of(provider, name) || is_told(name)) continue;
        const LinkedFile* user = user_of(name, provider);
        for (const LibraryCopy& copy : facts_.libraries) {
          std::set<std::string> wanted{name};
          if (user == nullptr || copy.family != provider.family || !remove_defined(copy.path, wanted) ||
              wanted.empty() || !is_needed(*user, copy))
            continue;
          add({user->path,
               user->owner,
               real_of(copy.path),
               copy.found_by,
               {name},
               std::string(provider.family),
               false});
          break;
        }
      }
  }

  bool is_told(const std::string& name) const {
    return std::any_of(facts_.library_gaps.begin(), facts_.library_gaps.end(), [&](const SymbolGap& gap) {
      return std::find(gap.names.begin(), gap.names.end(), name) != gap.names.end();
    });
  }

  static bool is_needed(const LinkedFile& user, const LibraryCopy& copy) {
    return std::any_of(user.needed.begin(), user.needed.end(), [&](const std::string& name) {
      const auto library = library_name(name);
      return library && library->family == copy.family && library->major == copy.major;
    });
  }

  const LinkedFile* user_of(const std::string& name, const Provider& provider) const {
    for (const LinkedFile& file : facts_.linked)
      if (std::any_of(file.needed.begin(), file.needed.end(),
                      [&](const std::string& each) { return is_copy_of(provider, each); }) &&
          !wanted_in(file.path, [&](std::string_view each) { return each == name; }).empty())
        return &file;
    return nullptr;
  }

  Facts& facts_;
  LoaderFolders folders_;
  std::map<std::string, const LinkedFile*> linked_;  // by their names without links
  std::set<std::string> seen_;                       // of them, that were judged as others load them
};

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

std::vector<std::string> undefined_symbols(const std::string& text) {
  constexpr std::string_view kWords = "undefined symbol: ";
  std::vector<std::string> names;
  for (auto at = text.find(kWords); at != std::string::npos; at = text.find(kWords, at)) {
    at += kWords.size();
    const auto end =
        text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", at);
    if (std::string name = text.substr(at, end - at); !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

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
  LibraryGaps(question, facts).run();
  find_torch_gaps(facts);
}

}  // namespace archguard::doctor
