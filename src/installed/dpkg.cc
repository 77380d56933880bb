#include "installed/dpkg.h"

#include <map>
#include <unordered_set>

#include "base/text.h"

namespace archguard::installed {
namespace {

// /var/lib/dpkg/info/NAME.list or NAME:ARCH.list has a path a line, as the package calls it: /lib/x.so, where
// /lib is a link to usr/lib. So each line with the name of a file that is asked about is followed through the
// links. /var/lib/dpkg/diversions has three lines a diversion: the path, where its file went instead, and the
// package whose own file stands at the path, ":" for none. /var/lib/dpkg/status has a paragraph a package,
// ended by an empty line: "Package: ", "Architecture: ", "Version: ".
struct Diversion {
  std::string to, by;
};

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

class DpkgDatabase {
 public:
  DpkgDatabase(RootedPaths& paths, DatabaseFiles& files, Claims& claims)
      : paths_(paths), files_(files), claims_(claims), folder_(paths.on_disk("/var/lib/dpkg")) {}

  void read() {
    const std::vector<std::string> lists = names_ending(folder_ + "/info", ".list");
    if (lists.empty()) return;
    const std::vector<std::string> asked = claims_.unclaimed();
    if (asked.empty()) return;
    for (const std::string& path : asked) names_.emplace(base_name(path));
    read_diversions();
    for (const std::string& list : lists) read_list(list);
    if (found_.empty()) return;
    read_versions();
    for (const auto& [path, list] : found_) {
      const std::string package = list.substr(0, list.size() - std::string_view(".list").size());
      const std::string name = package.substr(0, package.find(':'));
      claims_.claim(path, {name, version_of(package), PackageManager::dpkg}, folder_ + "/info/" + list);
    }
  }

 private:
  void read_diversions() {
    const std::string path = folder_ + "/diversions";
    const auto text = files_.read(path);
    if (!text) return;  // a system without any has none
    std::vector<std::string> parts;
    for_lines(*text, [&](std::string_view line) {
      parts.emplace_back(line);
      if (parts.size() < 3) return;
      if (names_.count(std::string(base_name(parts[1]))) != 0) names_.emplace(base_name(parts[0]));
      diversions_[parts[0]] = {parts[1], parts[2]};
      parts.clear();
    });
    if (!parts.empty()) claims_.add_error(Error{path, "ends within a diversion", {}});
  }

  void read_list(const std::string& list) {
    const auto text = files_.read(folder_ + "/info/" + list);
    if (!text) return claims_.add_error(text.error());
    for_lines(*text, [&](std::string_view line) {
      name_.assign(base_name(line));
      if (names_.count(name_) == 0) return;
      if (!starts_with(line, "/"))
        return claims_.add_error(Error{folder_ + "/info/" + list,
                                       "names '" + std::string(line) + "', which is no path of the system",
                                       {}});
      std::string path(line);
      const auto diverted = diversions_.find(path);
      if (diverted != diversions_.end() && !is_by(diverted->second.by, list)) path = diverted->second.to;
      path = paths_.with_real_folder(path);
      if (claims_.asks(path)) found_.emplace_back(std::move(path), list);
    });
  }

  // The name of a package may have points in it.
  static bool is_by(const std::string& package, const std::string& list) {
    return list == package + ".list" || starts_with(list, package + ":");
  }

  void read_versions() {
    const std::string path = folder_ + "/status";
    const auto text = files_.read(path);
    if (!text) return claims_.add_error(text.error());
    std::string name, arch, version;
    const auto end_of_paragraph = [&] {
      if (!name.empty()) {
        versions_.emplace(name + ":" + arch, version);
        versions_.emplace(name, version);
      }
      name.clear();
      arch.clear();
      version.clear();
    };
    for_lines(*text, [&](std::string_view line) {
      const auto value = [&](std::string_view key, std::string& out) {
        if (starts_with(line, key)) out = trim(line.substr(key.size()));
      };
      value("Package:", name);
      value("Architecture:", arch);
      value("Version:", version);
      if (line.empty()) end_of_paragraph();
    });
    end_of_paragraph();
  }

  std::string version_of(const std::string& package) {
    const auto version = versions_.find(package);
    if (version != versions_.end()) return version->second;
    if (nameless_.insert(package).second && !versions_.empty())
      claims_.add_error(
          Error{folder_ + "/status", "does not know the package " + package + ", which has files", {}});
    return {};
  }

  RootedPaths& paths_;
  DatabaseFiles& files_;
  Claims& claims_;
  const std::string folder_;
  std::unordered_set<std::string> names_;  // of the files, and of what was diverted to them
  std::string name_;
  std::unordered_map<std::string, Diversion> diversions_;
  std::vector<std::pair<std::string, std::string>> found_;  // paths, and the lists that have them
  std::unordered_map<std::string, std::string> versions_;
  std::set<std::string> nameless_;
};

}  // namespace

void claim_by_dpkg(RootedPaths& paths, DatabaseFiles& files, Claims& claims) {
  DpkgDatabase(paths, files, claims).read();
}

}  // namespace archguard::installed
