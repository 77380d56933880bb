#include "fatbin/zip_links.h"

#include <algorithm>

#include "base/text.h"
#include "fatbin/other_file.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kPathMost = 4095;     // PATH_MAX of Linux, without the zero
constexpr std::size_t kLinksFollowed = 40;  // that Linux follows on one path
constexpr std::size_t kKeptMost = std::size_t{64} << 20;
constexpr std::size_t kComparedMost = std::size_t{256} << 20;

void push(std::vector<std::string_view>& pending, std::string_view path) {
  const auto parts = split(path, '/');
  pending.insert(pending.end(), parts.rbegin(), parts.rend());
}

}  // namespace

std::string target_from_top(const std::string& name, const std::string& target) {
  std::string relative;
  for (std::size_t at = name.find_first_not_of('/'); at < name.size(); at = name.find_first_not_of('/', at)) {
    at = name.find('/', at);
    if (at < name.size() && name.find_first_not_of('/', at) < name.size()) relative += "../";
  }
  return relative + target;
}

void ZipLinks::add(const std::string& name, std::string_view target) {
  std::size_t compared = 0;
  const std::string path = ZipLinks{}.resolve(name, compared);
  const bool followed = target.size() <= kPathMost && kept_ + name.size() + target.size() <= kKeptMost;
  if (is_named_like_binary(name)) like_binary_.emplace(name, path);
  if (!followed) target = {};
  kept_ += name.size() + target.size();
  targets_.insert_or_assign(path, std::string(target));
}

// The path from the zip file's top that `name` leads to; empty where it leads out of the zip file, in a
// circle, or too far.
std::string ZipLinks::resolve(std::string_view name, std::size_t& bytes_compared) const {
  std::vector<std::string_view> pending;  // the next one last
  std::vector<std::size_t> folders;       // how long the path to each of them is
  std::string path;
  std::size_t links = 0;
  push(pending, name);
  while (!pending.empty()) {
    const std::string_view part = pending.back();
    pending.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (folders.empty()) return {};
      path.resize(folders.back());
      folders.pop_back();
      continue;
    }
    folders.push_back(path.size());
    if (!path.empty()) path += '/';
    path += part;
    bytes_compared += path.size();
    if (path.size() > kPathMost || bytes_compared > kComparedMost) return {};
    const auto link = targets_.find(path);
    if (link == targets_.end()) continue;
    if (++links > kLinksFollowed || link->second.empty() || starts_with(link->second, "/")) return {};
    path.resize(folders.back());
    folders.pop_back();
    push(pending, link->second);
  }
  return path;
}

Result<std::vector<std::string>> ZipLinks::broken(
    const std::function<Status(const VisitName&)>& visit_files) const {
  std::multimap<std::string, std::string> unmet;  // from where a link leads to its name
  std::size_t compared = 0;
  for (const auto& [name, path] : like_binary_) unmet.emplace(resolve(path, compared), name);
  if (!unmet.empty()) {
    ARCHGUARD_CHECK(visit_files([&](const std::string& name) {
      std::size_t of_this = 0;
      if (std::string path = ZipLinks{}.resolve(name, of_this); !path.empty()) unmet.erase(path);
    }));
  }
  std::vector<std::string> names;
  for (const auto& [path, name] : unmet) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace archguard::fatbin
