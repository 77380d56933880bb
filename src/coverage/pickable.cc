#include "coverage/pickable.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "fatbin/other_file.h"

namespace archguard {
namespace {

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool is_pick_digit(char c) {
  return c >= '0' && c <= '9';
}

// The path, whose file's name has a star for each number: sm90a is one, too.
std::string glob_of(const std::string& path) {
  const std::size_t name = path.find_last_of('/') + 1;  // 0 where there is none
  std::string glob;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i >= name && is_pick_digit(path[i])) {
      while (i + 1 < path.size() && is_pick_digit(path[i + 1])) ++i;
      const bool suffix = i + 1 < path.size() && (path[i + 1] == 'a' || path[i + 1] == 'f') &&
                          (i + 2 == path.size() || !is_alnum(path[i + 2]));
      if (suffix) ++i;
      glob += '*';
    } else {
      if (std::string_view("*?[\\").find(path[i]) != std::string_view::npos) glob += '\\';
      glob += path[i];
    }
  }
  return glob;
}

bool pick_covers(const FileResult& file, std::size_t device) {
  return file.devices[device].coverage == Coverage::covered;
}

bool is_pickable(const std::vector<const FileResult*>& files, std::size_t devices) {
  if (files.size() < 2) return false;
  for (const FileResult* file : files) {
    std::size_t covered = 0;
    for (std::size_t i = 0; i < devices; ++i) covered += pick_covers(*file, i) ? 1 : 0;
    if (!file->errors.empty() || covered == devices) return false;
  }
  for (std::size_t i = 0; i < devices; ++i)
    if (std::none_of(files.begin(), files.end(),
                     [&](const FileResult* file) { return pick_covers(*file, i); }))
      return false;
  return true;
}

}  // namespace

std::vector<Pickable> pickable_images(const Verification& verification) {
  std::vector<Pickable> found;
  if (!verification.any_of.empty()) return found;
  std::map<std::string, std::vector<const FileResult*>> globs;
  for (const FileResult& file : verification.files) {
    const std::string& path = file.member.empty() ? file.path : file.member;
    if (file.needed_by.empty() && is_named_like_image(path) && file.has_code)
      globs[glob_of(path)].push_back(&file);
  }
  for (const auto& [glob, files] : globs)
    if (is_pickable(files, verification.classes.size())) found.push_back({glob, files.size()});
  return found;
}

}  // namespace archguard
