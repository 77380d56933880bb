#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"
#include "doctor/gather.h"
#include "loader/files_once.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

bool is_library_name(const std::string& name) {
  if (ends_with(name, ".so") || ends_with(name, ".pyd") || ends_with(name, ".dll")) return true;
  const auto at = name.find(".so.");
  return at != std::string::npos && name.find_first_not_of("0123456789.", at + 4) == std::string::npos;
}

bool is_regular_package(const std::string& folder) {
  std::error_code error;
  return fs::exists(folder + "/__init__.py", error);
}

// Links to folders are followed last, so that each file is known by its own name where that is walked too;
// each folder is walked once, by what it is, so that a link to a folder above ends.
class EnvironmentWalk {
 public:
  explicit EnvironmentWalk(Facts& facts) : facts_(facts) {}

  FoundFiles run() {
    for (const PythonEnvironment& environment : facts_.environments) {
      imported_.clear();
      programs_ = environment.kind == "folder";
      hides_ = environment.sites.size() + environment.module_folders.size() > 1;
      for (const std::string& folder : environment.module_folders) modules(folder);
      for (const std::string& site : environment.sites) start(site);
      for (const std::string& folder : environment.folders) list(folder);
    }
    follow_links();
    return std::move(found_);
  }

 private:
  struct Link {
    std::string path;
    int depth;
    bool programs;
  };

  void start(const std::string& path) {
    std::error_code error;
    hidden_.clear();
    if (fs::is_directory(path, error))
      folder(path, 0);
    else if (once_.add(path))
      found_.named.push_back(path);
    tell_hidden(path);
  }

  // Its files alone.
  void list(const std::string& path) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
         entry.increment(error))
      if (!is_folder_itself(*entry)) file(entry->path().string());
  }

  // A folder of PYTHONPATH that is no folder of installed packages may hold anything beside what is imported.
  void modules(const std::string& path) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      const std::string each = entry->path().string();
      if (!fs::is_directory(each, error))
        file(each);
      else if (is_regular_package(each) && is_imported_from(each))
        folder(each, 1);
      error.clear();
    }
    if (error) not_walked(path, error.message());
  }

  static bool is_folder_itself(const fs::directory_entry& entry) {
    std::error_code error;
    return !entry.is_symlink(error) && entry.is_directory(error);  // as the folder's own list tells it
  }

  void folder(const std::string& path, int depth) {
    if (!folders_.add(path)) {
      if (depth == 0) remember_packages(path);
      return;
    }
    if (is_too_much(path)) return;
    std::error_code error;
    auto entry = fs::directory_iterator(path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string each = entry->path().string();
      std::error_code of_entry;
      if (entry->is_symlink(of_entry))
        link(each, depth);
      else if (entry->is_directory(of_entry))
        inner_folder(each, depth);
      else
        file(each);
    }
    if (error) not_walked(path, error.message());
  }

  void inner_folder(const std::string& path, int depth) {
    constexpr int kDepthMost = 64;
    if (!is_walked(path, depth)) return;
    if (depth >= kDepthMost) return not_walked(path, "it lies too deep");
    folder(path, depth + 1);
  }

  bool is_walked(const std::string& path, int depth) {
    const std::string name = file_name_of(path);
    return name != "__pycache__" && name != "include" && (depth > 0 || is_imported_from(path));
  }

  void link(const std::string& path, int depth) {
    std::error_code error;
    switch (fs::status(path, error).type()) {
      case fs::file_type::directory:
        if (is_walked(path, depth)) links_.push_back({path, depth, programs_});
        return;
      case fs::file_type::not_found:
        if (depth == 0 || is_library_name(file_name_of(path)) || is_image_name(path))
          facts_.notes.push_back(path + " is a link that leads nowhere");
        return;
      case fs::file_type::none:
        return not_walked(path, error.message());
      default:
        return file(path);
    }
  }

  void follow_links() {
    follows_ = true;
    while (!links_.empty()) {
      std::vector<Link> links = std::exchange(links_, {});
      std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.path < b.path; });
      for (const Link& each : links) {
        programs_ = each.programs;
        inner_folder(each.path, each.depth + 1);
      }
    }
  }

  // Links may lead to a whole file system.
  bool is_too_much(const std::string& path) {
    constexpr std::size_t kLinkedFoldersMost = 50'000;
    if (!follows_ || ++linked_folders_ <= kLinkedFoldersMost) return false;
    if (linked_folders_ == kLinkedFoldersMost + 1)
      not_walked(path, "links have led to " + std::to_string(kLinkedFoldersMost) + " folders before");
    return true;
  }

  // Python imports a package from the first folder of sys.path that has it.
  bool is_imported_from(const std::string& path) {
    if (!hides_ || !is_regular_package(path)) return true;
    const std::string name = file_name_of(path);
    const auto known = imported_.try_emplace(name, path).first;
    if (known->second == path) return true;
    hidden_.insert(name);
    return false;
  }

  // Of a folder that was walked for an environment before.
  void remember_packages(const std::string& site) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(site, error);
         hides_ && !error && entry != fs::directory_iterator(); entry.increment(error))
      is_imported_from(entry->path().string());
    hidden_.clear();
  }

  void tell_hidden(const std::string& site) {
    if (hidden_.empty()) return;
    const std::string& first = *hidden_.begin();
    facts_.notes.push_back(
        site + "/" + first +
        (hidden_.size() == 1 ? std::string() : " and " + count_of(hidden_.size() - 1, "other")) +
        ": not judged, since Python imports what has " + (hidden_.size() == 1 ? "this name" : "these names") +
        " from " + folder_of(imported_[first]));
  }

  void not_walked(const std::string& path, const std::string& why) {
    facts_.unread.push_back(Error{path, "cannot be walked: " + why, {}});
  }

  void file(const std::string& path) {
    const std::string name = file_name_of(path);
    const bool image = is_image_name(name);
    const bool library = is_library_name(name) || (programs_ && !image && is_program(path));
    if (!facts_.error_text.empty() && !programs_ && ends_with(name, ".py")) {
      std::error_code error;
      if (fs::is_regular_file(path, error) && once_.add(path)) found_.modules.push_back(path);
      return;
    }
    const bool ptxas = name == "ptxas" || starts_with(name, "ptxas-");
    if (!library && !image && !ptxas) return;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      if (error || !fs::exists(path, error)) facts_.notes.push_back(path + " is a link that leads nowhere");
      return;
    }
    if (!once_.add(path)) return;
    (library ? found_.libraries : image ? found_.images : found_.ptxas).push_back(path);
  }

  // By its first bytes, since its name tells nothing.
  bool is_program(const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) || error) return false;
    const auto source = FileSource::open(path);
    if (!source) facts_.notes.push_back(source.error().text());
    char start[4];
    if (!source || source->size() < sizeof start || !source->read(0, start, sizeof start)) return false;
    const std::string_view magic(start, sizeof start);
    return magic == "\177ELF" || starts_with(magic, "MZ");
  }

  Facts& facts_;
  FoundFiles found_;
  FilesOnce once_, folders_;
  std::vector<Link> links_;
  std::map<std::string, std::string> imported_;  // packages of one environment, with their folders
  std::set<std::string> hidden_;
  bool hides_ = false, follows_ = false;
  bool programs_ = false;  // a folder that was named is no environment: programs are looked at, too
  std::size_t linked_folders_ = 0;
};

}  // namespace

FoundFiles walk_environments(Facts& facts) {
  FoundFiles found = EnvironmentWalk(facts).run();
  for (auto* list : {&found.libraries, &found.images, &found.ptxas, &found.modules})
    std::sort(list->begin(), list->end());
  return found;
}

}  // namespace archguard::doctor
