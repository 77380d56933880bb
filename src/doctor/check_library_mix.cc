#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/rules.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"
#include "doctor/release_fix.h"
#include "fatbin/cuda_runtime.h"

namespace archguard::doctor {
namespace {

// A copy of this very library in a folder, by its SONAME, that the loader does not find by that name.
const LibraryCopy* copy_of_name(const Facts& facts, const std::string& name) {
  for (const LibraryCopy& copy : facts.libraries)
    if (copy.soname == name) return &copy;
  return nullptr;
}

bool looks_in(const LinkedFile& file, const std::string& folder) {
  return std::find(file.run_path.begin(), file.run_path.end(), folder) != file.run_path.end();
}

// Nothing where the loader finds it after all.
std::optional<Finding> not_found_by_name(const LinkedFile& file, const std::string& name,
                                         const LibraryCopy& copy) {
  const std::string folder = folder_of(copy.path), link = folder + "/" + name;
  if (copy.under_soname && (copy.owner || looks_in(file, copy.folder))) return std::nullopt;
  Finding finding{FindingId::library_mix, Rank::likely, file.owner};
  finding.cause = who(file.owner, file.path) + " needs " + name + "; " +
                  (copy.under_soname ? link : copy.path) + " is that version, but " +
                  (copy.under_soname ? "the loader does not look in " + folder : "not by that name");
  finding.evidence = {"needed by " + file.path, describe_copy(copy)};
  finding.fix = copy.under_soname ? "export LD_LIBRARY_PATH=" + copy.folder
                                  : "ln -s " + file_name_of(copy.path) + " " + link;
  return finding;
}

// The libraries that every program of a release of CUDA has, and that are called otherwise in each:
// libcusparse.so.12 is of CUDA 12 and 13.
bool needs_cuda_that_is_here(const Facts& facts, const LinkedFile& file) {
  return std::any_of(file.needed.begin(), file.needed.end(), [&](const std::string& each) {
    const auto library = library_name(each);
    return library && (library->family == "cudart" || library->family == "nvrtc") &&
           facts.names_to_find.count(each) != 0;
  });
}

// Modules without device code, of a package that has some elsewhere, and has its CUDA: they are for who uses
// them. cuDF installs CuPy and not the cuBLAS that a module of CuPy calls.
bool is_needed_by_modules(const Facts& facts, const std::vector<const LinkedFile*>& files) {
  const auto& owner = files.front()->owner;
  if (!owner ||
      std::any_of(files.begin(), files.end(), [](const LinkedFile* file) { return file->has_code; }))
    return false;
  const auto is_of_package = [&](const auto& file) { return file.owner && *file.owner == *owner; };
  return std::any_of(facts.code.begin(), facts.code.end(), is_of_package) &&
         std::any_of(facts.linked.begin(), facts.linked.end(), [&](const LinkedFile& file) {
           return is_of_package(file) && needs_cuda_that_is_here(facts, file);
         });
}

// The packages whose files need this library of a major version that nobody has.
void check_missing(const Facts& facts, Findings& findings) {
  std::map<std::string, std::vector<const LinkedFile*>> by_name;
  for (const LinkedFile& file : facts.linked)
    for (const std::string& name : file.needed)
      if (const auto library = library_name(name); library && facts.names_to_find.count(name) == 0)
        by_name[name].push_back(&file);
  for (const auto& [missing, files] : by_name) {
    const std::string& name = missing;  // lambdas of C++17 capture no structured bindings
    if (const LibraryCopy* copy = copy_of_name(facts, name)) {
      if (auto finding = not_found_by_name(*files.front(), name, *copy))
        findings.push_back(std::move(*finding));
      continue;
    }
    const auto family = library_name(name)->family;
    std::vector<std::string> others, needed_by;
    for (const LibraryCopy& copy : facts.libraries)
      if (copy.family == family) others.push_back(describe_copy(copy));
    for (const LinkedFile* file : files) needed_by.push_back(file->path);
    const LinkedFile& first = *files.front();
    // Several builds side by side, of which a package takes one, need what the others do without.
    const bool alternatives =
        first.owner && std::any_of(facts.linked.begin(), facts.linked.end(), [&](const LinkedFile& other) {
          return other.owner && *other.owner == *first.owner && other.path != first.path &&
                 std::any_of(other.needed.begin(), other.needed.end(), [&](const std::string& each) {
                   const auto library = library_name(each);
                   return library && library->family == family && each != name &&
                          facts.names_to_find.count(each) != 0;
                 });
        });
    Finding finding{FindingId::library_mix,
                    alternatives                                           ? Rank::note
                    : others.empty() || is_needed_by_modules(facts, files) ? Rank::risk
                                                                           : Rank::likely,
                    first.owner};
    finding.cause = who(first.owner, first.path) + " needs " + name +
                    (others.empty() ? ", which is neither in the environment nor on the loader's path"
                                    : ", and only other versions of it are here");
    finding.evidence.push_back("needed by " + some_of(needed_by, 2));
    for (std::size_t i = 0; i < others.size() && i < 3; ++i) finding.evidence.push_back(others[i]);
    finding.fix = "install a build of " + (first.owner ? first.owner->name : file_name_of(first.path)) +
                  " for the CUDA that is here, or the library that it needs";
    findings.push_back(std::move(finding));
  }
}

// A file that uses the CUDA runtime of a release.
struct RuntimeUser {
  std::string path;
  std::optional<Package> owner;
  Version lowest;   // that the driver has to offer: of CUDA 11 and newer the first of the major version
  std::string how;  // "needs libcudart.so.13"
};

// One file of each package. Of alternatives, the one that the driver supports is taken: the lowest.
std::map<std::string, RuntimeUser> runtime_users(const Facts& facts) {
  std::map<std::string, RuntimeUser> users;
  const auto add = [&](RuntimeUser user) {
    auto& entry = users.try_emplace(who(user.owner, user.path), user).first->second;
    if (user.lowest < entry.lowest) entry = std::move(user);
  };
  for (const LinkedFile& file : facts.linked)
    for (const std::string& name : file.needed) {
      const auto library = runtime_library(name);
      if (library && library->version)
        add({file.path, file.owner, lowest_driver_cuda_for_toolkit(*library->version), "needs " + name});
    }
  for (const CodeFile& file : facts.code)
    if (file.held_runtime)
      add({file.path, file.owner, lowest_driver_cuda_for_toolkit(*file.held_runtime),
           "holds the runtime of " + cuda_text(*file.held_runtime) + " or newer"});
  return users;
}

bool is_file_of_nvidia(const RuntimeUser& user) {
  return user.owner && starts_with(user.owner->name, "nvidia-");
}

// NVIDIA's packages come with those that use them: where one of these needs the same runtime, it is what to
// replace. Else the first of NVIDIA's speaks for all.
std::vector<std::string> brought_along(const std::map<std::string, RuntimeUser>& users,
                                       const RuntimeUser& with) {
  std::vector<std::string> names;
  for (const auto& [name, user] : users)
    if (user.lowest == with.lowest && is_file_of_nvidia(user) && user.path != with.path)
      names.push_back(user.owner->name);
  return names;
}

bool is_brought_along(const std::map<std::string, RuntimeUser>& users, const RuntimeUser& user) {
  if (!is_file_of_nvidia(user)) return false;
  for (const auto& [name, other] : users) {
    if (other.lowest != user.lowest || !other.owner) continue;
    if (!is_file_of_nvidia(other) || other.owner->name < user.owner->name) return true;
  }
  return false;
}

void check_runtime(const Facts& facts, Findings& findings) {
  const auto users = runtime_users(facts);
  for (const auto& [name, user] : users) {
    if (is_brought_along(users, user)) continue;
    bool may_have_compat = false;
    const Version lowest = user.lowest;
    const auto classes = classes_too_old_for(facts, lowest, may_have_compat);
    if (classes.empty()) continue;
    const auto release_text = [](Version version) {  // CUDA 10 has no compatibility between minor versions
      return version.major < 11 ? cuda_text(version) : "CUDA " + std::to_string(version.major);
    };
    const Device& device = facts.classes[classes.front()].device;
    Finding finding{FindingId::library_mix, may_have_compat ? Rank::likely : Rank::certain, user.owner,
                    kInsufficientDriver};
    finding.cause = name + " uses the runtime of " + release_text(lowest) +
                    ", which the driver is too old for: error " + std::to_string(kInsufficientDriver);
    finding.evidence.push_back(file_name_of(user.path) + " " + user.how + "; the driver of " +
                               archguard::describe(device) + " offers " + driver_text(*device.driver_cuda));
    if (const auto along = brought_along(users, user); !along.empty())
      finding.evidence.push_back(
          (is_file_of_nvidia(user) ? "others do, too: " : "so does what comes with it: ") +
          some_of(along, 3));
    const auto last = last_driver_cuda_for(*device.capability);
    finding.fix = last && *last < lowest
                      ? "install a build of it for " + cuda_text(*device.driver_cuda)
                      : "update the driver to one of " + driver_text(lowest) +
                            (last && !(lowest < *last) ? ", the last for " + to_string(*device.capability)
                                                       : std::string(" or newer")) +
                            ", or install a build for " + release_text(*device.driver_cuda);
    if (user.owner)
      if (const std::string line = release_fix(facts, user.owner->name, classes.front()); !line.empty())
        finding.fix += "; " + line;
    findings.push_back(std::move(finding));
  }
}

// cuda-bindings is the CUDA runtime for Python, which is linked into it, and has CUDA's version; cuda-python
// brings it along. Who calls the driver API alone does without.
void check_bindings(const Facts& facts, Findings& findings) {
  for (const char* const name : {"cuda-bindings", "cuda-python"}) {
    const InstalledPackage* bindings = installed_package(facts, name);
    const auto release = bindings != nullptr ? leading_version(bindings->package.version) : std::nullopt;
    if (!release) continue;
    bool may_have_compat = false;
    const auto classes = classes_too_old_for(facts, {release->major, 0}, may_have_compat);
    if (classes.empty()) return;
    const Device& device = facts.classes[classes.front()].device;
    const Version lowest = lowest_driver_cuda_for_toolkit({release->major, 0});
    const Package package{name, bindings->package.version, bindings->package.manager};
    Finding finding{FindingId::library_mix, Rank::risk, package, kInsufficientDriver};
    finding.cause = to_string(package) + " is the runtime of CUDA " + std::to_string(release->major) +
                    ", which the driver is too old for: error " + std::to_string(kInsufficientDriver) +
                    " in what calls it";
    finding.evidence = {"the driver of " + archguard::describe(device) + " offers " +
                        driver_text(*device.driver_cuda)};
    finding.errors = {"driver-too-old"};
    finding.fix = "pip install '" + std::string(name) + "<" + std::to_string(release->major) +
                  "', or update the driver to one of " + driver_text(lowest) + " or newer";
    findings.push_back(std::move(finding));
    return;
  }
}

// A copy in LD_LIBRARY_PATH comes before what a package brings, but for a DT_RPATH.
void check_shadowed(const Facts& facts, Findings& findings) {
  for (const LibraryCopy& winner : facts.libraries) {
    if (winner.found_by != "LD_LIBRARY_PATH" || winner.version.empty() || winner.family == "nvrtc-builtins" ||
        winner.family == "cudnn" || is_part_of_cudnn(winner.family))
      continue;
    for (const LibraryCopy& copy : facts.libraries) {
      if (copy.family != winner.family || copy.major != winner.major || copy.found_by != "environment" ||
          copy.version.empty() || !is_older(winner.version, copy.version))
        continue;
      Finding finding{FindingId::library_mix, Rank::risk, copy.owner};
      finding.cause = "LD_LIBRARY_PATH puts an older lib" + winner.family + " before the one of " +
                      who(copy.owner, copy.path);
      finding.evidence = {
          describe_copy(winner), describe_copy(copy),
          "this is the loader's search; a package that loads its libraries by itself may take its own"};
      finding.fix = "take " + folder_of(winner.path) + " out of LD_LIBRARY_PATH";
      findings.push_back(std::move(finding));
      break;
    }
  }
}

// bitsandbytes has one library for each release of CUDA, and takes the one that is named like torch's, or
// like BNB_CUDA_VERSION. Before 0.45 it had another beside each for where no GPU is of 7.5 or newer
// (`has_cublaslt` in its cuda_specs.py, and cuda_setup/main.py before).
std::string wanted_of_bitsandbytes(const Facts& facts, const std::string& version) {
  const Version cuda = *facts.torch->cuda;
  std::string digits = variable(facts, "BNB_CUDA_VERSION");
  if (digits.empty()) digits = std::to_string(cuda.major) + std::to_string(cuda.minor);
  const auto has_cublaslt = [](const DeviceClass& each) {
    return has_cublaslt_for_bitsandbytes(*each.device.capability);
  };
  const bool without = is_older(version, "0.45") && !facts.classes.empty() &&
                       std::none_of(facts.classes.begin(), facts.classes.end(), has_cublaslt);
  return digits + (without ? "_nocublaslt" : "");
}

void check_bitsandbytes(const Facts& facts, Findings& findings) {
  if (!facts.torch || !facts.torch->cuda) return;
  const std::string stem = "libbitsandbytes_cuda";
  std::vector<std::string> there;
  const CodeFile* first = nullptr;
  for (const CodeFile& file : facts.code)
    if (const std::string name = file_name_of(file.path); starts_with(name, stem)) {
      there.push_back(name);
      if (first == nullptr) first = &file;
    }
  if (first == nullptr) return;
  const std::string ending = there.front().substr(there.front().rfind('.'));  // .so or .dll
  const std::string wanted =
      stem + wanted_of_bitsandbytes(facts, first->owner ? first->owner->version : "") + ending;
  if (std::find(there.begin(), there.end(), wanted) != there.end()) return;
  Finding finding{FindingId::library_mix, Rank::certain, first->owner};
  const bool for_older = wanted.find("_nocublaslt") != std::string::npos;
  finding.cause = who(first->owner, first->path) + " has no library for the CUDA of torch, " +
                  to_string(*facts.torch->cuda) + (for_older ? ", and GPUs below 7.5" : "") +
                  ": Configured CUDA binary not found at " + wanted;
  finding.evidence = {"it has " + some_of(there, 4), to_string(facts.torch->package)};
  if (!variable(facts, "BNB_CUDA_VERSION").empty())
    finding.evidence.push_back(value_of(facts, "BNB_CUDA_VERSION"));
  finding.fix = for_older ? "pip install 'bitsandbytes>=0.45', which has one library of a CUDA for all GPUs"
                : variable(facts, "BNB_CUDA_VERSION").empty()
                    ? "update bitsandbytes, or install a torch whose CUDA it has"
                    : "unset BNB_CUDA_VERSION";
  findings.push_back(std::move(finding));
}

// Two copies of one library in one process: each has a state of its own, and the first that was loaded wins
// what both define.
void check_processes(const Facts& facts, Findings& findings) {
  for (const ProcessFacts& process : facts.processes) {
    std::map<std::string, std::vector<std::string>> by_family;
    for (const std::string& path : process.libraries)
      if (const auto library = library_name(file_name_of(path))) by_family[library->family].push_back(path);
    for (const auto& [family, paths] : by_family) {
      if (paths.size() < 2 || is_part_of_cudnn(family)) continue;  // its parts are as many as it is itself
      Finding finding{FindingId::library_mix, Rank::risk};
      finding.cause = "process " + std::to_string(process.id) + " has loaded " +
                      std::to_string(paths.size()) + " copies of lib" + family;
      finding.evidence = paths;
      finding.fix = "keep one of them in the environment, and out of LD_LIBRARY_PATH";
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace

void check_library_mix(const Facts& facts, Findings& findings) {
  check_runtime(facts, findings);
  check_bindings(facts, findings);
  check_symbols(facts, findings);
  check_missing(facts, findings);
  check_unloaded(facts, findings);
  check_bitsandbytes(facts, findings);
  check_shadowed(facts, findings);
  check_cudnn(facts, findings);
  check_processes(facts, findings);
}

}  // namespace archguard::doctor
