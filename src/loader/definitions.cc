#include "loader/definitions.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "host/elf_dynamic.h"

namespace archguard {
namespace {

constexpr std::size_t kSymbolNameMost = 127;

// False where it cannot be read.
bool add_defined(const std::string& path, const std::set<std::string>& names, std::set<std::string>& found) {
  const auto source = FileSource::open(path);
  if (!source) return false;
  const auto dynamic = read_elf_dynamic(*source);
  if (!dynamic || !*dynamic) return false;
  visit_defined_names(*source, (*dynamic)->tables, kSymbolNameMost, [&](const std::string& name) {
    if (names.count(name) != 0) found.insert(name);
    return true;
  });
  return true;
}

}  // namespace

Definitions definitions_of(const std::set<std::string>& names, const std::string& path,
                           const LoaderFolders& folders) {
  Definitions out;
  const NeededLibraries needed = needed_libraries(path, folders);
  for (const NeededLibrary& library : needed.found)
    if (!add_defined(library.path, names, out.names)) out.not_found.push_back(library.name);
  for (const MissingLibrary& library : needed.missing) out.not_found.push_back(library.name);
  out.needs_libcuda = std::any_of(
      needed.passed_over.begin(), needed.passed_over.end(),
      [](const std::string& name) { return starts_with(name.substr(name.rfind('/') + 1), "libcuda.so"); });
  return out;
}

std::vector<Interposed> interposed_names(std::string_view beginning, const std::string& path,
                                         const LoaderFolders& folders) {
  constexpr std::size_t kNameMost = 1024, kNamesMost = std::size_t{1} << 16;
  std::vector<Interposed> all;
  std::map<std::string, std::string> first_with;
  const auto look_into = [&](const std::string& file) {
    const auto source = FileSource::open(file);
    if (!source) return;
    const auto dynamic = read_elf_dynamic(*source);
    if (!dynamic || !*dynamic) return;
    std::set<std::string> interposable;
    visit_interposable_names(*source, (*dynamic)->tables, kNameMost, [&](const std::string& name) {
      if (starts_with(name, beginning) && interposable.size() != kNamesMost) interposable.insert(name);
    });
    bool told = false;
    visit_defined_names(*source, (*dynamic)->tables, kNameMost, [&](const std::string& name) {
      if (!starts_with(name, beginning) || first_with.size() == kNamesMost) return true;
      const auto [found, is_new] = first_with.try_emplace(name, file);
      if (!is_new && found->second != file && !told && interposable.count(name) != 0) {
        all.push_back({name, file, found->second});
        told = true;
      }
      return true;
    });
  };
  look_into(path);
  for (const NeededLibrary& library : needed_libraries(path, folders).found) look_into(library.path);
  return all;
}

}  // namespace archguard
