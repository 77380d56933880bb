#include "diff/match.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.h"

namespace archguard {
namespace {

bool is_of_version(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

bool is_version(std::string_view text) {
  if (text.size() > 1 && (text.front() == 'v' || text.front() == 'V')) text.remove_prefix(1);
  if (text.empty() || !is_of_version(text.front())) return false;
  for (const char letter : text)
    if (!is_of_version(letter) && letter != '.') return false;
  return true;
}

// What auditwheel puts behind a library's name: eight digits of a hash.
bool is_hash(std::string_view text) {
  if (text.size() != 8) return false;
  for (const char letter : text)
    if (std::isxdigit(static_cast<unsigned char>(letter)) == 0) return false;
  return true;
}

// "libx" of "libx-1.2" and "libx-0a1b2c3d"; digits of a Windows library: "cudart" of "cudart64_110".
std::string stem_of(std::string_view stem, bool is_dll) {
  const std::size_t dash = stem.rfind('-');
  if (dash != std::string_view::npos && dash != 0 &&
      (is_version(stem.substr(dash + 1)) || is_hash(stem.substr(dash + 1))))
    stem = stem.substr(0, dash);
  while (is_dll && stem.size() > 1 && (is_of_version(stem.back()) || stem.back() == '_'))
    stem.remove_suffix(1);
  return std::string(stem);
}

std::string name_without_version(std::string_view name) {
  if (ends_with(name, ".whl")) return std::string(name.substr(0, name.find('-')));
  if (const std::size_t so = name.find(".so."); so != std::string_view::npos) {
    std::string_view behind = name.substr(so + 4);
    if (is_version(behind)) name = name.substr(0, so + 3);
  }
  const std::size_t tag = name.find(".cpython-");  // x.cpython-311-x86_64-linux-gnu.so
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0)
    return is_version(name) ? std::string() : stem_of(name, false);
  const std::string_view extension = name.substr(dot);
  if (tag != std::string_view::npos && tag < dot)
    return std::string(name.substr(0, tag)) + std::string(extension);
  if (is_version(extension.substr(1))) return is_version(name) ? std::string() : stem_of(name, false);
  return stem_of(name.substr(0, dot), extension == ".dll") + std::string(extension);
}

std::string path_of(const DiffFile& file) {
  return file.key;
}

std::string path_without_versions(const DiffFile& file) {
  return without_versions(file.key);
}

// Of the file, or of the member of a wheel; `key` is empty of what was named itself.
std::string name_without_folders(const DiffFile& file) {
  std::string_view path = file.key.empty() ? file.path : file.key;
  while (!path.empty() && path.back() == ')') path.remove_suffix(1);
  const std::size_t end = path.find_last_of("/(");
  return without_versions(std::string(end == std::string_view::npos ? path : path.substr(end + 1)));
}

// Pairs what one key has on both sides alone, of what is left.
void pair_up(const std::vector<DiffFile>& before, const std::vector<DiffFile>& after,
             std::string (*key_of)(const DiffFile&), std::vector<std::optional<std::size_t>>& partner,
             std::vector<bool>& taken) {
  std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> of;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!partner[i]) of[key_of(before[i])].first.push_back(i);
  for (std::size_t i = 0; i < after.size(); ++i)
    if (!taken[i]) of[key_of(after[i])].second.push_back(i);
  for (const auto& [key, files] : of)
    if (files.first.size() == 1 && files.second.size() == 1) {
      partner[files.first.front()] = files.second.front();
      taken[files.second.front()] = true;
    }
}

}  // namespace

std::string without_versions(const std::string& path) {
  std::string shown;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find_first_of("/()", begin), path.size());
    shown += name_without_version(std::string_view(path).substr(begin, end - begin));
    if (end < path.size()) shown += path[end];
    begin = end + 1;
  }
  return shown;
}

std::vector<FilePair> match_files(const std::vector<DiffFile>& before, const std::vector<DiffFile>& after) {
  std::vector<std::optional<std::size_t>> partner(before.size());
  std::vector<bool> taken(after.size());
  for (const auto key_of : {path_of, path_without_versions, name_without_folders})
    pair_up(before, after, key_of, partner, taken);
  std::vector<FilePair> pairs;
  for (std::size_t i = 0; i < before.size(); ++i) pairs.push_back({i, partner[i]});
  for (std::size_t i = 0; i < after.size(); ++i)
    if (!taken[i]) pairs.push_back({std::nullopt, i});
  return pairs;
}

}  // namespace archguard
