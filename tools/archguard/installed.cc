#include "installed.h"

#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace archguard {
namespace fs = std::filesystem;
namespace {

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// Is the line the rest of the path before it, behind a semicolon of a name? It is no path, or `folder;/file`.
bool continues(const std::string& before, const std::string& line, const std::string& destdir) {
  if (!fs::path(line).is_absolute()) return true;
  if (is_there(destdir + before) && is_there(destdir + line)) return false;
  return is_there(destdir + before + ";" + line);
}

// What the link leads to below `destdir`, else the link itself.
std::string staged(const std::string& link, const std::string& destdir) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  if (error || destdir.empty() || !target.is_absolute()) return link;
  const std::string below = destdir + target.string();
  return is_there(below) ? below : link;
}

}  // namespace

FoundPaths installed_paths(std::string_view manifest, const std::string& destdir) {
  std::vector<std::string> paths;
  for (const std::string_view line : split(manifest, '\n')) {
    if (!paths.empty() && continues(paths.back(), std::string(line), destdir)) {
      paths.back() += ";" + std::string(line);
      continue;
    }
    if (!line.empty()) paths.emplace_back(line);
  }
  FoundPaths found;
  for (const std::string& each : paths) {
    const std::string path = fs::path(destdir + each).lexically_normal().string();
    std::error_code error;
    const fs::file_type type = fs::symlink_status(path, error).type();
    if (type == fs::file_type::regular) found.files.push_back(path);
    if (type == fs::file_type::symlink) found.links.push_back(staged(path, destdir));
    if (type == fs::file_type::not_found) found.gone.push_back(path);
    if (type == fs::file_type::none || type == fs::file_type::unknown) found.files.push_back(path);
  }
  return found;
}

}  // namespace archguard
