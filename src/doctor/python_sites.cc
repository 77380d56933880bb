#include "doctor/python_sites.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace archguard::doctor {
namespace fs = std::filesystem;

bool is_a_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::string real_of(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

std::vector<std::string> subfolders(const std::string& folder, std::string_view beginning,
                                    std::vector<Error>* unread) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (starts_with(entry->path().filename().string(), beginning)) names.push_back(entry->path().string());
  const bool absent = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !absent && unread != nullptr)
    unread->push_back(
        Error{folder, "cannot be listed: " + error.message(), "run archguard as a user who can read it"});
  std::sort(names.begin(), names.end());
  return names;
}

std::string version_of_home(const std::string& home) {
  return home.substr(home.rfind("python3") + 6);
}

std::string python_of_program(const std::string& program) {
  const std::string real = real_of(program), name = real.substr(real.rfind('/') + 1);
  return starts_with(name, "python3.") ? name.substr(6) : std::string();
}

bool is_searched_by(const PythonEnvironment& environment, const std::string& version) {
  return version == "3" || environment.python.empty() || version == environment.python ||
         version == environment.python + "t";
}

bool has_site(const PythonEnvironment& environment, const std::string& site) {
  return std::any_of(environment.sites.begin(), environment.sites.end(),
                     [&](const std::string& known) { return real_of(known) == real_of(site); });
}

void add_sites(PythonEnvironment& environment, const std::string& prefix, std::vector<Error>& unread) {
  for (const char* const lib : {"/local/lib", "/lib", "/lib64"})  // as Debian's sys.path has them
    for (const std::string& home : subfolders(prefix + lib, "python3", &unread)) {
      const std::string version = version_of_home(home);
      if (!is_searched_by(environment, version)) continue;
      for (const std::string& site : subfolders(home, "", &unread)) {
        if (!ends_with(site, "/site-packages") && !ends_with(site, "/dist-packages")) continue;
        if (!is_a_folder(site)) continue;
        if (environment.python.empty() && version != "3") environment.python = version;
        if (!has_site(environment, site)) environment.sites.push_back(site);  // lib64 is often a link to lib
      }
    }
  if (is_a_folder(prefix + "/Lib/site-packages")) environment.sites.push_back(prefix + "/Lib/site-packages");
}

bool is_site(const std::string& folder) {
  if (ends_with(folder, "/site-packages") || ends_with(folder, "/dist-packages")) return true;
  const std::vector<std::string> names = subfolders(folder, "");
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return ends_with(name, ".dist-info"); });
}

}  // namespace archguard::doctor
