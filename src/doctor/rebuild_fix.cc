#include "doctor/rebuild_fix.h"

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "base/text.h"
#include "compat/torch.h"
#include "doctor/gather.h"
#include "installed/claims.h"
#include "installed/python.h"
#include "releases/releases.h"

namespace archguard::doctor {
namespace {

// The value of "NAME": "VALUE" in a small JSON document. One with an escape is not taken.
std::string text_in_json(std::string_view json, std::string_view name) {
  const auto at = json.find("\"" + std::string(name) + "\"");
  const auto colon = at == std::string_view::npos ? at : json.find(':', at);
  const auto begin = colon == std::string_view::npos ? colon : json.find('"', colon);
  const auto end = begin == std::string_view::npos ? begin : json.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  const std::string_view value = json.substr(begin + 1, end - begin - 1);
  const bool has_escape = value.find('\\') != std::string_view::npos;
  return has_escape || printable(std::string(value)) != value || value.find('\'') != std::string_view::npos
             ? std::string()
             : std::string(value);
}

// What pip writes of a package that was not installed by its name from an index (PEP 610):
// {"url": "https://github.com/…", "vcs_info": {"vcs": "git", …}, "subdirectory": "…"}.
std::string source_in(std::string_view direct_url) {
  std::string url = text_in_json(direct_url, "url");
  if (url.empty()) return url;
  if (const std::string kind = text_in_json(direct_url, "vcs"); !kind.empty()) url = kind + "+" + url;
  const std::string folder = text_in_json(direct_url, "subdirectory");
  return folder.empty() ? url : url + "#subdirectory=" + folder;
}

void read_source(InstalledPackage& package) {
  const std::string folder = package.site + "/" + package.package.name + "-" + package.package.version +
                             std::string(installed::kDistInfo);
  installed::DatabaseFiles files;
  if (const auto text = files.read(folder + "/direct_url.json")) {
    package.source = source_in(*text);
    package.built_locally = !package.source.empty() && !ends_with(package.source, ".whl");
  }
  // PyPI takes no wheel for plain linux_x86_64 (PEP 513): what has this tag was built here, or comes from
  // elsewhere.
  if (const auto text = files.read(folder + "/WHEEL"))
    for (const std::string_view line : split(*text, '\n'))
      if (starts_with(line, "Tag: ") &&
          (ends_with(trim(line), "-linux_x86_64") || ends_with(trim(line), "-linux_aarch64")))
        package.built_locally = true;
}

// The list of installed packages has names as folders spell them, an owner as METADATA does.
bool is_same(const InstalledPackage& each, const Package& package) {
  return each.package.manager == package.manager && each.package.version == package.version &&
         normal_name(each.package.name) == normal_name(package.name);
}

bool is_extension_of_torch(const Facts& facts, const Package& package) {
  return std::any_of(facts.linked.begin(), facts.linked.end(), [&](const LinkedFile& file) {
    return file.owner && *file.owner == package &&
           std::any_of(file.needed.begin(), file.needed.end(), [](const std::string& name) {
             return starts_with(name, "libtorch") || starts_with(name, "libc10");
           });
  });
}

}  // namespace

void gather_sources(Facts& facts) {
  std::set<std::string> names;
  for (const CodeFile& file : facts.code)
    if (file.owner && file.owner->manager == PackageManager::pip) names.insert(normal_name(file.owner->name));
  for (InstalledPackage& each : facts.packages)
    if (each.package.manager == PackageManager::pip && names.count(normal_name(each.package.name)) != 0)
      read_source(each);
}

bool is_built_locally(const Facts& facts, const Package& package) {
  return std::any_of(facts.packages.begin(), facts.packages.end(), [&](const InstalledPackage& each) {
    return each.built_locally && is_same(each, package);
  });
}

std::string rebuild_line(const Facts& facts, const Package& package, const Device& device) {
  const bool of_torch = is_extension_of_torch(facts, package);
  if (!of_torch && !is_built_locally(facts, package)) return {};
  const Arch arch = arch_of(*device.capability);
  const auto name = torch_name(arch, false);
  std::string source = "<folder or URL of its source>";
  for (const InstalledPackage& each : facts.packages)
    if (!each.source.empty() && is_same(each, package)) source = "'" + each.source + "'";
  return (of_torch && name ? "TORCH_CUDA_ARCH_LIST='" + *name + "'" : "CUDAARCHS='" + to_string(arch) + "'") +
         " pip install --force-reinstall --no-deps --no-build-isolation --no-cache-dir " + source;
}

}  // namespace archguard::doctor
