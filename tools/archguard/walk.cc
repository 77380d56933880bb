#include "walk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "fatbin/other_file.h"

namespace archguard {
namespace fs = std::filesystem;
namespace {

using PlaceOnDisk = std::pair<dev_t, ino_t>;

PlaceOnDisk place_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

// One of the paths, and what stands in it.
struct Walked {
  std::string folder;  // empty for a file
  std::vector<InputFile> files;
  std::vector<std::string> links;
};

class Walk {
 public:
  void add(const std::string& path) {
    walked_.emplace_back();
    std::error_code error;
    const std::string index = (fs::path(path) / "index.json").string();
    if (is_saved_image(index) && fs::is_regular_file(index, error)) {
      walked_.back().files.push_back({index, true, std::nullopt});
      beside_layout(path);
    } else if (fs::is_directory(path, error)) {
      walked_.back().folder = path;
      folder(path);
    } else {
      walked_.back().files.push_back({path, true, std::nullopt});
    }
  }

  // What a folder has that is no part of the OCI layout in it.
  void beside_layout(const std::string& path) {
    constexpr std::string_view kOfLayout[] = {"index.json", "oci-layout", "blobs", "manifest.json",
                                              "repositories"};
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (std::find(std::begin(kOfLayout), std::end(kOfLayout), name) != std::end(kOfLayout)) continue;
      std::error_code unknown;
      if (at->is_directory(unknown)) {
        add(at->path().string());
      } else {
        walked_.emplace_back();
        walked_.back().files.push_back({at->path().string(), false, std::nullopt});
      }
    }
  }

  void add(const FoundPaths& found) {
    walked_.emplace_back();
    for (const std::string& path : found.files) walked_.back().files.push_back({path, false, std::nullopt});
    walked_.back().links = found.links;
    if (found.links.empty()) return;
    std::set<std::string> folders;
    for (const std::string& path : found.files) folders.insert(fs::path(path).parent_path().string());
    for (const std::string& folder : folders)
      if (struct stat status{}; ::stat(folder.c_str(), &status) == 0) folders_.insert(place_of(status));
  }

  std::vector<InputFile> finish(PassedOver& passed_over) {
    // Asking what each file is takes time, and is for the links alone.
    const bool any_link =
        std::any_of(walked_.begin(), walked_.end(), [](const Walked& each) { return !each.links.empty(); });
    if (any_link)
      for (const Walked& each : walked_)
        for (const InputFile& file : each.files)
          if (struct stat status{}; ::stat(file.path.c_str(), &status) == 0) files_.insert(place_of(status));
    std::vector<InputFile> all;
    for (Walked& each : walked_) {
      std::sort(each.links.begin(), each.links.end());
      for (const std::string& link : each.links) follow(link, each.files, passed_over);
      for (InputFile& file : each.files) file.found_under = each.folder;
      std::stable_sort(each.files.begin(), each.files.end(),
                       [](const auto& a, const auto& b) { return a.path < b.path; });
      all.insert(all.end(), std::make_move_iterator(each.files.begin()),
                 std::make_move_iterator(each.files.end()));
    }
    return all;
  }

 private:
  void folder(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return fail(path, std::strerror(errno));
    // A folder that holds itself, by a mount, ends where it comes again.
    const PlaceOnDisk place = place_of(status);
    if (std::find(above_.begin(), above_.end(), place) != above_.end()) return;
    above_.push_back(place);
    folders_.insert(place);
    std::error_code error;
    auto entry = fs::directory_iterator(path, error);
    while (!error && entry != fs::directory_iterator()) {
      const auto kind = entry->symlink_status(error).type();
      const std::string name = entry->path().string();
      if (kind == fs::file_type::regular) walked_.back().files.push_back({name, false, std::nullopt});
      if (kind == fs::file_type::symlink) walked_.back().links.push_back(name);
      if (kind == fs::file_type::directory) folder(name);
      if (error) fail(name, error.message());
      entry.increment(error);
    }
    if (error) fail(path, error.message());
    above_.pop_back();
  }

  void follow(const std::string& link, std::vector<InputFile>& files, PassedOver& passed_over) {
    struct stat status {};
    if (::stat(link.c_str(), &status) != 0) {
      const bool broken = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
      if (!broken)
        files.push_back(
            {link, false, Error{link, std::string("cannot be followed: ") + std::strerror(errno), {}}});
      else if (is_named_like_binary(link))
        passed_over.push_back({link, UnreadKind::broken_link});
    } else if (S_ISREG(status.st_mode)) {
      if (files_.insert(place_of(status)).second) files.push_back({link, false, std::nullopt});
    } else if (S_ISDIR(status.st_mode)) {
      if (folders_.insert(place_of(status)).second) passed_over.push_back({link, UnreadKind::folder_link});
    }
  }

  void fail(const std::string& path, const std::string& why) {
    walked_.back().files.push_back({path, false, Error{path, "cannot be walked: " + why, {}}});
  }

  std::vector<Walked> walked_;
  std::vector<PlaceOnDisk> above_;
  std::set<PlaceOnDisk> files_, folders_;  // that are known
};

}  // namespace

std::vector<InputFile> walk(const std::vector<std::string>& paths, PassedOver& passed_over) {
  Walk walk;
  for (const std::string& path : paths) walk.add(path);
  return walk.finish(passed_over);
}

std::vector<InputFile> walk_found(const FoundPaths& found, PassedOver& passed_over) {
  Walk walk;
  walk.add(found);
  return walk.finish(passed_over);
}

}  // namespace archguard
