#include "coverage/any_of.h"

#include <algorithm>
#include <fnmatch.h>
#include <map>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "coverage/verification.h"

namespace archguard {
namespace {

// "./a/./b" and "a//b" as "a/b": CMake and users write such paths.
std::string without_dots(std::string_view path) {
  std::string plain(path.substr(0, path.find_first_not_of('/') == 0 ? 0 : 1));
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (!plain.empty() && plain.back() != '/') plain += '/';
    plain += part;
  }
  return plain;
}

// Since no star, `?` or bracket stands for a `/`, the end with as many of them is the only one that can
// match.
bool matches_end(const std::string& glob, const std::string& path) {
  auto folders = std::count(glob.begin(), glob.end(), '/');
  std::size_t at = path.size();
  while (at != 0 && (path[at - 1] != '/' || folders-- != 0)) --at;
  return ::fnmatch(glob.c_str(), path.c_str() + at, FNM_PATHNAME) == 0;
}

// The path without so many of its last parts; empty where it has no more. That of the root is "/".
std::string above(std::string path, std::size_t parts) {
  for (; parts != 0 && !path.empty(); --parts) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == 0) return "/";
    path.erase(slash == std::string::npos ? 0 : slash);
  }
  return path;
}

bool is_above(const std::string& folder, const std::string& path) {
  if (folder.empty()) return path.empty() || path.front() != '/';
  return starts_with(path, folder) &&
         (folder == "/" || path.size() == folder.size() || path[folder.size()] == '/');
}

// Where a file that the glob matches stands with its alternatives: the outermost zip file; the folder that
// was named; of a file that was named itself, its own. The folders that the glob names stand side by side, in
// the one above them.
std::string alternatives_place(const std::string& written, const FileResult& file) {
  const std::string path = without_dots(file.path);
  if (!file.member.empty()) return path;
  const std::string glob = without_dots(written);
  const auto folders = static_cast<std::size_t>(std::count(glob.begin(), glob.end(), '/'));
  const std::string found = file.found_under.empty() ? above(path, 1) : without_dots(file.found_under);
  const std::string spanned = above(path, folders + 1);
  const std::string place = is_above(spanned, found) ? spanned : found;
  return place.empty() ? "." : place;
}

// Something runs there, and nothing that it asks for fails.
bool runs(const FileResult& file, std::size_t device_class) {
  const DeviceResult& result = file.devices[device_class];
  const bool any_runs = result.fatbins.sass + result.fatbins.jit + result.embedded.fitting != 0;
  return file.errors.empty() && file.has_code && any_runs && result.coverage == Coverage::covered;
}

// What a library that the file needs says of the device; covered where it has no device code.
Coverage library_coverage(const Verification& verification, const FileResult& library,
                          std::size_t device_class) {
  if (!library.errors.empty()) return Coverage::unknown;
  if (outcome_of(verification, library) == Outcome::no_device_code) return Coverage::covered;
  return library.devices[device_class].coverage;
}

// The file with all that it needs.
Coverage coverage_of(const Verification& verification, const FileResult& file, std::size_t device_class) {
  const Coverage own = file.devices[device_class].coverage;
  if (!runs(file, device_class))
    return file.errors.empty() && own == Coverage::not_covered ? own : Coverage::unknown;
  bool unknown = false;
  for (const std::size_t library : file.libraries) {
    const Coverage each = library_coverage(verification, verification.files[library], device_class);
    if (each == Coverage::not_covered) return each;
    unknown |= each == Coverage::unknown;
  }
  return unknown ? Coverage::unknown : Coverage::covered;
}

bool covers_file(const Verification& verification, const FileResult& file, std::size_t device_class) {
  return coverage_of(verification, file, device_class) == Coverage::covered;
}

// What there is to remark on where the file covers a device: the less, the better.
std::tuple<bool, std::size_t, bool> remarks_on(const DeviceResult& result) {
  return {result.partly || result.toolkit_ahead || result.embedded.lacking(), result.kernels.hollow.size(),
          result.fatbins.linked_at_load != 0 || result.other_order || result.for_others};
}

AnyOfDevice judge(const Verification& verification, const AnyOf& group, std::size_t device_class) {
  AnyOfDevice answer;
  bool unknown = false;
  for (const std::size_t index : group.files) {
    const FileResult& file = verification.files[index];
    const Coverage coverage = coverage_of(verification, file, device_class);
    if (coverage == Coverage::covered) answer.covered_by.push_back(index);
    unknown |= coverage == Coverage::unknown;
  }
  const auto remarks = [&](std::size_t index) {
    return remarks_on(verification.files[index].devices[device_class]);
  };
  std::stable_sort(answer.covered_by.begin(), answer.covered_by.end(),
                   [&](std::size_t a, std::size_t b) { return remarks(a) < remarks(b); });
  answer.coverage = !answer.covered_by.empty() ? Coverage::covered
                    : unknown                  ? Coverage::unknown
                                               : Coverage::not_covered;
  return answer;
}

bool contains(const std::vector<ExpectedImage>& images, const ExpectedImage& image) {
  return std::any_of(images.begin(), images.end(), [&](const ExpectedImage& each) {
    return each.arch == image.arch && each.sass == image.sass;
  });
}

// An image that was asked for stands in each fat binary of at least one of the files.
void judge_expected(const Verification& verification, AnyOf& group) {
  if (!verification.expects) return;
  std::vector<std::vector<ExpectedImage>> lacking;  // of each file that was read whole
  std::vector<ExpectedImage> any_lacks;
  bool one_unread = false;
  for (const std::size_t index : group.files) {
    const FileResult& file = verification.files[index];
    one_unread |= !file.errors.empty();
    std::vector<ExpectedImage> absent;
    for (const ExpectFailure& failure : file.expect.failures)
      for (const ExpectedImage& image : failure.absent)
        if (!contains(absent, image)) absent.push_back(image);
    for (const ExpectedImage& image : absent)
      if (!contains(any_lacks, image)) any_lacks.push_back(image);
    if (file.errors.empty() && file.expect.fatbins != 0) lacking.push_back(std::move(absent));
  }
  for (const ExpectedImage& image : any_lacks)
    if (std::all_of(lacking.begin(), lacking.end(),
                    [&](const auto& absent) { return contains(absent, image); }))
      group.absent.push_back(image);
  group.unread = one_unread && (lacking.empty() || !group.absent.empty());
}

// The files that the glob matches, by the places where they stand; one without files where no place has one
// with device code.
std::vector<AnyOf> groups_by_place(const Verification& verification, const std::string& glob) {
  std::vector<AnyOf> groups;
  std::map<std::string, std::size_t> group_in;
  std::map<std::string, std::uint64_t> without_code;
  std::uint64_t all_without_code = 0;
  for (std::size_t i = 0; i < verification.files.size(); ++i) {
    const FileResult& file = verification.files[i];
    if (!file.opened || !file.needed_by.empty() || !any_of_matches(glob, file)) continue;
    const std::string place = alternatives_place(glob, file);
    if (is_without_code(verification, file)) {
      ++without_code[place];
      ++all_without_code;
      continue;
    }
    const auto [group, is_new] = group_in.try_emplace(place, groups.size());
    if (is_new) {
      AnyOf added;
      added.glob = glob;
      added.in = place;
      added.in_zip = !file.member.empty();
      groups.push_back(std::move(added));
    }
    groups[group->second].files.push_back(i);
  }
  if (groups.empty()) {
    AnyOf none;
    none.glob = glob;
    none.without_code = all_without_code;
    return {std::move(none)};
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].place = i;
    groups[i].places = groups.size();
    groups[i].without_code = without_code[groups[i].in];
  }
  return groups;
}

std::vector<const AnyOf*> groups_of(const Verification& verification, const FileResult& file) {
  std::vector<const AnyOf*> groups;
  for (const std::size_t group : file.any_of) groups.push_back(&verification.any_of[group]);
  return groups;
}

// Of a library that alternatives alone need: those.
std::vector<const FileResult*> users_of(const Verification& verification, const FileResult& library) {
  const auto index = static_cast<std::size_t>(&library - verification.files.data());
  std::vector<const FileResult*> users;
  for (const FileResult& file : verification.files)
    if (std::find(file.libraries.begin(), file.libraries.end(), index) != file.libraries.end())
      users.push_back(&file);
  return users;
}

void resolve_libraries(Verification& verification) {
  std::map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < verification.files.size(); ++i)
    if (verification.files[i].member.empty()) index_of.try_emplace(verification.files[i].path, i);
  for (FileResult& file : verification.files)
    for (const std::string& path : file.needs)
      if (const auto found = index_of.find(path); found != index_of.end())
        file.libraries.push_back(found->second);
}

// Alternatives, and what they alone need. What another file needs is loaded with it, whoever else may do
// without.
void mark_alternatives(Verification& verification) {
  for (FileResult& file : verification.files) {
    const auto groups = groups_of(verification, file);
    file.alternative = !groups.empty() && std::all_of(groups.begin(), groups.end(), [](const AnyOf* group) {
      return group->files.size() > 1;
    });
  }
  std::vector<bool> of_others(verification.files.size()), of_alternatives(verification.files.size());
  for (const FileResult& file : verification.files)
    for (const std::size_t library : file.libraries)
      (file.alternative ? of_alternatives : of_others)[library] = true;
  for (std::size_t i = 0; i < verification.files.size(); ++i) {
    FileResult& file = verification.files[i];
    if (of_others[i])
      file.alternative = false;
    else if (!file.needed_by.empty() && of_alternatives[i])
      file.alternative = true;
  }
}

}  // namespace

bool any_of_matches(const std::string& written, const FileResult& file) {
  const std::string glob = without_dots(written), path = without_dots(file.path);
  if (file.member.empty()) return matches_end(glob, path);
  return matches_end(glob, file.member) || matches_end(glob, path + "(" + file.member + ")");
}

void forget_alternatives(FileResult& file) {
  file.any_of.clear();
  file.libraries.clear();
  file.alternative = false;
}

void find_alternatives(Verification& verification, const std::vector<std::string>& globs) {
  if (globs.empty()) return;
  resolve_libraries(verification);
  for (const std::string& glob : globs) {
    for (AnyOf& group : groups_by_place(verification, glob)) {
      for (const std::size_t file : group.files)
        verification.files[file].any_of.push_back(verification.any_of.size());
      for (std::size_t i = 0; i < verification.classes.size(); ++i)
        group.devices.push_back(judge(verification, group, i));
      judge_expected(verification, group);
      verification.any_of.push_back(std::move(group));
    }
  }
  mark_alternatives(verification);
}

std::optional<std::size_t> covered_elsewhere(const Verification& verification, const FileResult& file,
                                             std::size_t device_class) {
  if (!file.alternative || covers_file(verification, file, device_class)) return std::nullopt;
  const auto groups = groups_of(verification, file);
  if (groups.empty()) {  // a library: where all that need it are not the ones
    const auto users = users_of(verification, file);
    std::optional<std::size_t> elsewhere;
    for (const FileResult* user : users) {
      elsewhere = covered_elsewhere(verification, *user, device_class);
      if (!elsewhere) return std::nullopt;
    }
    return elsewhere;
  }
  const bool all_cover = std::all_of(groups.begin(), groups.end(), [&](const AnyOf* group) {
    return group->devices[device_class].coverage == Coverage::covered;
  });
  if (!all_cover) return std::nullopt;
  return groups.front()->devices[device_class].covered_by.front();
}

bool is_to_be_told(const Verification& verification, const FileResult& file, std::size_t device_class) {
  if (!file.alternative) return true;
  const auto groups = groups_of(verification, file);
  if (groups.empty()) {
    const auto users = users_of(verification, file);
    return std::any_of(users.begin(), users.end(), [&](const FileResult* user) {
      return is_to_be_told(verification, *user, device_class);
    });
  }
  return std::any_of(groups.begin(), groups.end(), [&](const AnyOf* group) {
    const auto& covered_by = group->devices[device_class].covered_by;
    return !covered_by.empty() && &verification.files[covered_by.front()] == &file;
  });
}

bool errors_matter(const Verification& verification, const FileResult& file) {
  if (!file.alternative) return true;
  const auto groups = globs_of(verification, file);
  return std::any_of(groups.begin(), groups.end(), [&](std::size_t group) {
    return outcome_of(verification, verification.any_of[group]) == Outcome::unknown;
  });
}

std::vector<std::size_t> globs_of(const Verification& verification, const FileResult& file) {
  std::vector<std::size_t> globs = file.any_of;
  if (file.alternative && globs.empty())
    for (const FileResult* user : users_of(verification, file))
      for (const std::size_t group : user->any_of)
        if (std::find(globs.begin(), globs.end(), group) == globs.end()) globs.push_back(group);
  return globs;
}

std::string suggest_any_of(const Verification& verification) {
  std::map<std::string, std::size_t> globs;  // names without their numbers, and how many files have each
  for (const FileResult& file : verification.files) {
    if (!file.opened || is_without_code(verification, file)) continue;
    const std::string& path = file.member.empty() ? file.path : file.member;
    std::string glob;
    for (const char c : path.substr(path.find_last_of('/') + 1)) {
      const bool digit = c >= '0' && c <= '9';
      if (digit && !glob.empty() && glob.back() == '*') continue;
      if (!digit && std::string_view("*?[\\").find(c) != std::string_view::npos) glob += '\\';
      glob += digit ? '*' : c;
    }
    ++globs[glob];
  }
  if (globs.empty()) return {};
  return std::max_element(globs.begin(), globs.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace archguard
