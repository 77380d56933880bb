#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/text.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"
#include "releases/releases.h"

namespace archguard::doctor {
namespace {

constexpr std::uint64_t kOpenedBlock = std::uint64_t{1} << 20;
constexpr std::uint64_t kOpenedFileMost = std::uint64_t{1} << 30;

bool holds_text(const std::string& path, const std::string& text) {
  const auto source = FileSource::open(path);
  if (!source || source->size() > kOpenedFileMost) return false;
  const std::vector<std::uint8_t> wanted(text.begin(), text.end());
  const std::boyer_moore_horspool_searcher searcher(wanted.begin(), wanted.end());
  for (std::uint64_t at = 0; at < source->size(); at += kOpenedBlock) {
    const auto bytes = read_bytes(*source, at, std::min(source->size() - at, kOpenedBlock + text.size()));
    if (!bytes) return false;
    if (std::search(bytes->begin(), bytes->end(), searcher) != bytes->end()) return true;
  }
  return false;
}

// NVIDIA's wheels and torch find theirs by themselves; what is in no package names none that could change.
bool may_open(const std::optional<Package>& owner) {
  return owner && !starts_with(normal_name(owner->name), "nvidia-") && normal_name(owner->name) != "torch";
}

}  // namespace

std::vector<std::string> libraries_not_loaded(const std::string& text) {
  // Of the loader; of ctranslate2; of cuDNN 8 and 9.
  constexpr std::string_view kBehind[] = {": cannot open shared object file",
                                          " is not found or cannot be loaded"};
  constexpr std::string_view kBefore[] = {"Could not load library ", "Unable to load any of {"};
  const auto is_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    while (!name.empty() && name.back() == '.') name.pop_back();
    if (library_name(name) && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  };
  for (const std::string_view words : kBehind)
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
      auto begin = at;
      while (begin > 0 && is_of_name(text[begin - 1])) --begin;
      add(text.substr(begin, at - begin));
    }
  for (const std::string_view words : kBefore)
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
      const auto begin = at + words.size();
      auto end = begin;
      while (end < text.size() && is_of_name(text[end])) ++end;
      add(text.substr(begin, end - begin));
    }
  return names;
}

void gather_opened(Facts& facts) {
  std::vector<std::pair<std::string, Package>> files;
  std::set<std::string> seen;
  const auto add = [&](const auto& file) {
    if (may_open(file.owner) && seen.insert(file.path).second) files.emplace_back(file.path, *file.owner);
  };
  for (const LinkedFile& file : facts.linked) add(file);
  for (const CodeFile& file : facts.code) add(file);
  for (const LibraryCopy& copy : facts.libraries) add(copy);  // a wheel's own cuDNN opens its parts
  std::map<std::string, const std::pair<std::string, Package>*> by_family;
  for (const std::string& name : libraries_not_loaded(facts.error_text)) {
    const std::string family = library_name(name)->family;
    const auto [entry, is_new] = by_family.try_emplace(family, nullptr);
    for (const auto& file : files) {
      if (!is_new || entry->second != nullptr) break;
      const auto own = library_name(file_name_of(file.first));  // its own name is among its texts
      if ((!own || own->family != family) && holds_text(file.first, "lib" + family + ".so"))
        entry->second = &file;
    }
    if (entry->second != nullptr) facts.opened.push_back({name, entry->second->first, entry->second->second});
  }
}

}  // namespace archguard::doctor
