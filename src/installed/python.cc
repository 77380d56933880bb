#include "installed/python.h"

#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace archguard::installed {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMetadataMost = 64 * 1024;  // of the headers; a description follows them

// PEP 503: runs of "-", "_" and "." are one "-", and letters are small.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : to_lower(name)) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (!separates)
      plain += c;
    else if (!plain.empty() && plain.back() != '-')
      plain += '-';
  }
  return plain;
}

// The first field of a line of CSV, which may be in quotes: a quote in it is doubled. Nothing where the
// quotes do not end in the line.
std::optional<std::string> first_field(std::string_view line) {
  if (!starts_with(line, "\"")) return std::string(line.substr(0, line.find(',')));
  std::string field;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '"') {
      field += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '"') {
      field += line[i++];
    } else {
      return field;
    }
  }
  return std::nullopt;
}

bool is_folder_on_disk(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// `site` is a folder with *.dist-info in it, inside.
void read_site(const std::string& site, const RootedPaths& paths, DatabaseFiles& files, Claims& claims) {
  const std::string on_disk = paths.on_disk(site);
  for (const std::string& folder : names_ending(on_disk, kDistInfo)) {
    const std::string path = on_disk + "/" + folder;
    std::error_code error;
    if (!fs::exists(path + "/RECORD", error)) continue;  // it may be left out
    const auto record = files.read(path + "/RECORD");
    if (!record) {
      claims.add_error(record.error());
      continue;
    }
    const auto metadata = files.read(path + "/METADATA");
    const Package package =
        package_of_dist_info(folder, metadata ? *metadata : std::string(), path + "/METADATA", claims);
    claim_by_record(*record, site + "/", package, path + "/RECORD", claims);
  }
}

}  // namespace

Package package_of_dist_info(std::string_view folder, std::string_view metadata, const std::string& where,
                             Claims& claims) {
  const std::string_view both = folder.substr(0, folder.size() - kDistInfo.size());
  const auto dash = both.rfind('-');
  Package package{std::string(both.substr(0, dash)),
                  dash == std::string_view::npos ? "" : std::string(both.substr(dash + 1)),
                  PackageManager::pip};
  std::string name;
  bool in_headers = true;
  for_lines(metadata.substr(0, kMetadataMost), [&](std::string_view line) {
    line = trim(line);
    in_headers = in_headers && !line.empty();
    if (in_headers && name.empty() && starts_with(line, "Name:")) name = trim(line.substr(5));
  });
  if (name.empty() || plain_name(name) == plain_name(package.name)) {
    if (!name.empty()) package.name = name;
  } else {
    claims.add_error(Error{where, "names the package '" + name + "', its folder '" + package.name + "'", {}});
  }
  return package;
}

void claim_by_record(std::string_view record, const std::string& below, const Package& package,
                     const std::string& where, Claims& claims) {
  std::size_t number = 0, broken = 0;
  for_lines(record, [&](std::string_view line) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto field = first_field(line);
    if (!field) {
      broken = broken == 0 ? number : broken;
      return;
    }
    if (field->empty()) return;
    const bool absolute = starts_with(*field, "/");
    const bool plain = !absolute && !starts_with(*field, ".") && field->find("/.") == std::string::npos &&
                       field->find("//") == std::string::npos;
    if (plain) return claims.claim(below + *field, package, where);
    const std::string whole = plain_path(absolute ? *field : below + *field);
    if (!whole.empty()) claims.claim((starts_with(below, "/") ? "/" : "") + whole, package, where);
  });
  if (broken != 0)
    claims.add_error(Error{
        where, "line " + std::to_string(broken) + " has a quote that does not end; it was passed over", {}});
}

void claim_by_pip(const RootedPaths& paths, DatabaseFiles& files, Claims& claims) {
  std::set<std::string> sites;
  for (const std::string& folder : folders_above(claims.unclaimed())) {
    sites.insert(folder);
    for (const char* const lib : {"/lib", "/lib64", "/Lib"}) {
      std::vector<std::string> libraries = {folder + lib};
      for (const std::string& name : names_ending(paths.on_disk(libraries.front()), ""))
        if (starts_with(name, "python3")) libraries.push_back(libraries.front() + "/" + name);
      for (const std::string& each : libraries)
        for (const char* const packages : {"/site-packages", "/dist-packages"})
          if (is_folder_on_disk(paths.on_disk(each + packages))) sites.insert(each + packages);
    }
  }
  for (const std::string& site : sites) read_site(site, paths, files, claims);
}

}  // namespace archguard::installed
