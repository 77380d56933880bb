#include "installed/claims.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/bytes.h"
#include "base/text.h"

namespace archguard {

bool operator==(const Package& a, const Package& b) {
  return a.name == b.name && a.version == b.version && a.manager == b.manager;
}

std::string name_of(PackageManager manager) {
  switch (manager) {
    case PackageManager::pip:
      break;
    case PackageManager::dpkg:
      return "dpkg";
    case PackageManager::conda:
      return "conda";
  }
  return "pip";
}

std::string to_string(const Package& package) {
  return package.name + (package.version.empty() ? "" : " " + package.version) + " (" +
         name_of(package.manager) + ")";
}

}  // namespace archguard

namespace archguard::installed {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kErrorsKept = 20;
constexpr std::size_t kRivalsKept = 1'000;
constexpr std::size_t kFolderNamesMost = 1'000'000;

}  // namespace

void Claims::claim(const std::string& path, const Package& package, const std::string& record) {
  const auto at = asked_.find(path);
  if (at == asked_.end()) return;
  if (!at->second) {
    at->second = package;
  } else if (at->second->manager == package.manager && !(*at->second == package)) {
    add_error(Error{record, "claims " + path + ", which " + to_string(*at->second) + " has already", {}});
    if (rivals_.size() < kRivalsKept) rivals_.push_back({path, *at->second, package});
  }
}

std::optional<Package> Claims::owner_of(const std::string& path) const {
  const auto at = asked_.find(path);
  return at == asked_.end() ? std::nullopt : at->second;
}

std::vector<std::string> Claims::unclaimed() const {
  std::vector<std::string> paths;
  for (const auto& [path, owner] : asked_)
    if (!owner) paths.push_back(path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

void Claims::add_error(Error error) {
  if (errors_.size() < kErrorsKept) errors_.push_back(std::move(error));
}

Result<std::string> DatabaseFiles::read(const std::string& path) {
  ARCHGUARD_TRY(source, FileSource::open(path));
  if (source.size() > std::min(kDatabaseFileMost, left_))
    return Error{path, "is too large for a list of files: " + count_of(source.size(), "byte"), {}};
  left_ -= source.size();
  ARCHGUARD_TRY(bytes, read_bytes(source, 0, source.size()));
  return std::string(ByteView(bytes).text());
}

std::string plain_path(std::string_view path) {
  std::string plain;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      plain += (plain.empty() ? "" : "/") + std::string(part);
      continue;
    }
    if (plain.empty()) return {};
    const auto slash = plain.rfind('/');
    plain.resize(slash == std::string::npos ? 0 : slash);
  }
  return plain;
}

std::set<std::string> folders_above(const std::vector<std::string>& paths) {
  std::set<std::string> folders;
  for (const std::string& path : paths)
    for (auto slash = path.rfind('/'); slash != std::string::npos; slash = path.rfind('/', slash - 1)) {
      if (!folders.insert(path.substr(0, slash)).second || slash == 0) break;
    }
  return folders;
}

std::vector<std::string> names_ending(const std::string& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  auto entry = fs::directory_iterator(folder.empty() ? "/" : folder, error);
  for (std::size_t count = 0; !error && entry != fs::directory_iterator() && count < kFolderNamesMost;
       ++count) {
    std::string name = entry->path().filename().string();
    if (ends_with(name, ending)) names.push_back(std::move(name));
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace archguard::installed
