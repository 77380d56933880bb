#include "installed/rooted_paths.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace archguard::installed {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kRootLinksMost = 40;     // as Linux has it
constexpr std::size_t kFoldersKept = 100'000;  // that were looked at once

std::string without_slash(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

RootedPaths::RootedPaths(const std::string& root) {
  if (root.empty()) return;
  std::error_code error;
  const std::string real = fs::canonical(root, error).string();
  root_ = without_slash(error ? root : real);
}

std::optional<std::string> RootedPaths::inside(const std::string& path) const {
  std::error_code error;
  const std::string whole = fs::absolute(path, error).string();
  if (error) return std::nullopt;
  // Where the root is "/", a path is inside as it is written. Else its folder has to be known to stand there.
  if (root_.empty()) return whole;
  if (starts_with(whole, root_ + "/") && whole.find("/../") == std::string::npos)
    return whole.substr(root_.size());
  const fs::path folder = fs::canonical(fs::path(whole).parent_path(), error);
  const std::string real = folder.string() + "/" + fs::path(whole).filename().string();
  if (error || !starts_with(real, root_ + "/")) return std::nullopt;
  return real.substr(root_.size());
}

std::string RootedPaths::real(const std::string& inside) const {
  std::vector<std::string> left;  // the next part last
  const auto push = [&](const std::string& path) {
    const auto parts = split(path, '/');
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) left.emplace_back(*part);
  };
  push(inside);
  std::string done;
  for (std::size_t links = 0; !left.empty();) {
    const std::string part = std::move(left.back());
    left.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done.resize(done.empty() ? 0 : done.rfind('/'));
      continue;
    }
    std::error_code error;
    const std::string target = fs::read_symlink(root_ + done + "/" + part, error).string();
    if (error) {  // no link, or not there
      done += "/" + part;
      continue;
    }
    if (++links > kRootLinksMost) return inside;
    if (starts_with(target, "/")) done.clear();
    push(target);
  }
  return done.empty() ? "/" : done;
}

std::string RootedPaths::with_real_folder(const std::string& inside) {
  const auto slash = inside.rfind('/');
  if (slash == std::string::npos || slash == 0) return inside;
  const std::string folder = inside.substr(0, slash);
  auto known = folders_.find(folder);
  if (known == folders_.end()) {
    if (folders_.size() >= kFoldersKept) folders_.clear();
    known = folders_.emplace(folder, real(folder)).first;
  }
  return (known->second == "/" ? "" : known->second) + inside.substr(slash);
}

}  // namespace archguard::installed
