#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"
#include "releases/releases.h"

// A library in a wheel (site-packages/nvidia/cudnn/lib) is on nobody's path. It is found by a DT_RPATH that
// leads there, or because somebody has loaded it before: torch loads those that it needs itself
// (`_preload_cuda_deps` in torch/__init__.py), onnxruntime has preload_dlls() since 1.21, which the program
// has to call (onnxruntime.ai, "CUDA Execution Provider": Preload DLLs).
namespace archguard::doctor {
namespace {

bool is_torchs_library(const std::string& name) {
  return starts_with(name, "libtorch") || starts_with(name, "libc10");
}

// What is loaded after torch, or finds its libraries by its own: torch's files, those that need them, those
// of packages that import torch, as bitsandbytes always does; NVIDIA's own wheels; and JAX's plugin, which
// loads what stands in wheels by its path (jax_plugins/cuda/__init__.py).
bool is_served_otherwise(const Facts& facts, const LinkedFile& file) {
  if (std::any_of(file.needed.begin(), file.needed.end(), is_torchs_library)) return true;
  if (!file.owner) return false;
  const std::string owner = normal_name(file.owner->name);
  return owner == "torch" || owner == "bitsandbytes" ||
         (facts.torch && facts.torchs_users.count(owner) != 0) || starts_with(owner, "nvidia-") ||
         starts_with(owner, "jax");
}

// The folders of conda and of a system's Python are where that Python's own DT_RPATH, or the loader, leads.
bool is_folder_of_python(const Facts& facts, const std::string& folder) {
  return std::any_of(
      facts.environments.begin(), facts.environments.end(),
      [&](const PythonEnvironment& each) { return each.kind != "venv" && folder == each.prefix + "/lib"; });
}

// The copy in a wheel by which this name could be found; null where it is found, or is nowhere.
const LibraryCopy* copy_in_wheel(const Facts& facts, const std::string& name) {
  if (facts.names_on_path.count(name) != 0) return nullptr;
  const auto asked = library_name(name);
  for (const LibraryCopy& copy : facts.libraries)
    if (asked && copy.family == asked->family && copy.major == asked->major &&
        copy.found_by == "environment" && !is_folder_of_python(facts, folder_of(copy.path)))
      return &copy;
  return nullptr;
}

// Does a file of this package lead the loader there? Then what it loads serves the others, too.
bool leads_there(const Facts& facts, const LinkedFile& asker, const LibraryCopy& copy) {
  if (copy.owner && asker.owner && *copy.owner == *asker.owner) return true;
  const std::string folder = copy.folder.empty() ? folder_of(copy.path) : copy.folder;
  return std::any_of(facts.linked.begin(), facts.linked.end(), [&](const LinkedFile& each) {
    const bool same = asker.owner ? each.owner && *each.owner == *asker.owner : each.path == asker.path;
    return same && std::find(each.run_path.begin(), each.run_path.end(), folder) != each.run_path.end();
  });
}

bool is_loaded_by_torch(const Facts& facts, const std::string& name) {
  return facts.torch && std::any_of(facts.linked.begin(), facts.linked.end(), [&](const LinkedFile& file) {
           return starts_with(file.path, facts.torch->site + "/torch/") &&
                  std::find(file.needed.begin(), file.needed.end(), name) != file.needed.end();
         });
}

// What loads them first, or where the loader has to look.
std::string how_to_load(const Facts& facts, const std::string& package, const std::string& version,
                        const std::map<std::string, const LibraryCopy*>& copies) {
  std::vector<std::string> ways, folders;
  bool by_torch = true;
  for (const auto& [name, copy] : copies) {
    by_torch = by_torch && is_loaded_by_torch(facts, name);
    const std::string folder = folder_of(copy->path);
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  }
  if (by_torch) ways.push_back("import torch before it: torch loads these libraries");
  if (package == "onnxruntime-gpu" && !is_older(version, "1.21"))
    ways.emplace_back("call onnxruntime.preload_dlls() before the first session");
  if (starts_with(package, "cupy-cuda"))
    ways.push_back("pip install '" + package + ">=14', which looks into wheels");
  ways.push_back("export LD_LIBRARY_PATH=" + join(folders, ":") + ":$LD_LIBRARY_PATH");
  return join(ways, "; or ");
}

Finding not_loaded(const Facts& facts, const std::optional<Package>& owner, const std::string& path,
                   const std::map<std::string, const LibraryCopy*>& copies) {
  std::vector<std::string> names;
  for (const auto& [name, copy] : copies) names.push_back(name);
  Finding finding{FindingId::library_mix, Rank::risk, owner};
  finding.cause = who(owner, path) + " needs " + some_of(names, 2) + ", which " +
                  (names.size() == 1 ? "is" : "are") +
                  " in another package's folder alone: the loader does not look there";
  finding.evidence.push_back("needed by " + path);
  for (const auto& [name, copy] : copies)
    if (finding.evidence.size() < 4) finding.evidence.push_back(describe_copy(*copy));
  finding.evidence.emplace_back(
      "neither the run path of its files nor LD_LIBRARY_PATH nor the loader's cache leads there; it is found "
      "if the "
      "program has loaded it before");
  finding.fix =
      how_to_load(facts, owner ? normal_name(owner->name) : "", owner ? owner->version : "", copies);
  finding.subjects = names;
  return finding;
}

void check_needed(const Facts& facts, Findings& findings) {
  struct User {
    std::optional<Package> owner;
    std::string path;
    std::map<std::string, const LibraryCopy*> copies;
  };
  std::map<std::string, User> users;  // by package
  for (const LinkedFile& file : facts.linked) {
    if (is_served_otherwise(facts, file)) continue;
    for (const std::string& name : file.needed) {
      const LibraryCopy* copy = copy_in_wheel(facts, name);
      if (copy == nullptr || !copy->owner || leads_there(facts, file, *copy)) continue;
      User& user =
          users.try_emplace(who(file.owner, file.path), User{file.owner, file.path, {}}).first->second;
      user.copies.emplace(name, copy);
    }
  }
  for (const auto& [name, user] : users)
    findings.push_back(not_loaded(facts, user.owner, user.path, user.copies));
}

// "12" of cupy-cuda12x, "11" of cupy-cuda117; nothing for other packages.
std::optional<int> cuda_of_cupy(const std::string& name) {
  constexpr std::string_view kName = "cupy-cuda";
  if (!starts_with(name, kName)) return std::nullopt;
  const auto number = parse_number(name.substr(kName.size(), 2), 99);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// CuPy opens NVRTC by the name of the CUDA that its package is made for; before release 14 it does not look
// into wheels (docs.cupy.dev, "Upgrade Guide": CuPy v14).
void check_cupy(const Facts& facts, Findings& findings) {
  for (const InstalledPackage& each : facts.packages) {
    const std::string name = normal_name(each.package.name);
    const auto cuda = cuda_of_cupy(name);
    if (!cuda) continue;
    const Package cupy{name, each.package.version, each.package.manager};
    const LibraryCopy *own = nullptr, *other = nullptr;
    bool on_path = false;
    for (const LibraryCopy& copy : facts.libraries) {
      if (copy.family != "nvrtc" || !copy.major || file_name_of(copy.path).find(".alt.") != std::string::npos)
        continue;
      if (*copy.major != *cuda) other = &copy;
      if (*copy.major == *cuda) own = &copy;
      on_path |= *copy.major == *cuda &&
                 (copy.found_by != "environment" || is_folder_of_python(facts, folder_of(copy.path)));
    }
    const std::string library = "libnvrtc.so." + std::to_string(*cuda);
    for (const std::string& found : facts.names_on_path) on_path |= starts_with(found, library);
    const bool told = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.id == FindingId::library_mix && finding.package && *finding.package == cupy;
    });
    if (on_path || told) continue;
    if (own != nullptr && is_older(each.package.version, "14"))
      findings.push_back(not_loaded(facts, cupy, name, {{file_name_of(own->path), own}}));
    if (own != nullptr || other == nullptr) continue;
    Finding finding{FindingId::library_mix, Rank::likely, cupy};
    finding.cause = to_string(cupy) + " is made for CUDA " + std::to_string(*cuda) +
                    ", and NVRTC is here for CUDA " + std::to_string(*other->major) + " alone: it opens " +
                    library;
    finding.evidence = {describe_copy(*other)};
    finding.fix = "pip uninstall " + name + ", then pip install cupy-cuda" + std::to_string(*other->major) +
                  "x; or install the libraries of CUDA " + std::to_string(*cuda);
    findings.push_back(std::move(finding));
  }
}

// What stands where the loader does not look, or is not here at all, by who opens it.
Finding unopened_library(const Facts& facts, const std::string& name, const LibraryCopy* copy,
                         const OpenedLibrary* by) {
  Finding finding{FindingId::library_mix, Rank::likely,
                  by != nullptr ? std::optional(by->owner) : std::nullopt};
  finding.cause =
      by != nullptr ? to_string(by->owner) + " opens " + name + " by its name, which " : name + " ";
  finding.cause += copy != nullptr ? "is in the folder of " + to_string(*copy->owner) +
                                         " alone: the loader does not look there"
                                   : "is neither in the environment nor on the loader's path";
  finding.evidence = {"the error that was given names " + name};
  if (by != nullptr) finding.evidence.push_back(by->path + " holds its name");
  if (copy != nullptr) finding.evidence.push_back(describe_copy(*copy));
  const auto library = library_name(name);
  for (const LibraryCopy& other : facts.libraries)
    if (copy == nullptr && library && other.family == library->family && finding.evidence.size() < 5)
      finding.evidence.push_back(describe_copy(other));
  finding.fix = copy != nullptr
                    ? how_to_load(facts, "", "", {{name, copy}})
                    : "install the library, or a release of " +
                          (by != nullptr ? by->owner.name : "what opens it") + " for the CUDA that is here";
  finding.subjects = {name};
  return finding;
}

// The error names a library that somebody opened by its name.
void check_told_name(const Facts& facts, Findings& findings) {
  for (const std::string& name : libraries_not_loaded(facts.error_text)) {
    const bool told = std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
      return std::find(each.subjects.begin(), each.subjects.end(), name) != each.subjects.end() ||
             (is_cause(each) && each.id == FindingId::library_mix && holds_word(each.cause, name));
    });
    if (told || facts.names_on_path.count(name) != 0) continue;
    const auto by = std::find_if(facts.opened.begin(), facts.opened.end(),
                                 [&](const OpenedLibrary& each) { return each.name == name; });
    const LibraryCopy* copy = copy_in_wheel(facts, name);
    if (copy != nullptr && !copy->owner) continue;
    if (copy == nullptr && by == facts.opened.end()) continue;
    findings.push_back(unopened_library(facts, name, copy, by == facts.opened.end() ? nullptr : &*by));
  }
}

}  // namespace

void check_unloaded(const Facts& facts, Findings& findings) {
  check_needed(facts, findings);
  check_cupy(facts, findings);
  check_told_name(facts, findings);
}

}  // namespace archguard::doctor
