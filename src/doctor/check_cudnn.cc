#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"
#include "releases/releases.h"

// cuDNN since 8 is a library that opens others by their names ("libcudnn_graph.so.9"), as the loader finds
// them, and refuses those of another release: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH (cuDNN's manual of its
// errors). A framework refuses a release that is older than the one it was built with: PyTorch, and XLA
// ("matching major version and equal or higher minor version").
namespace archguard::doctor {
namespace {

constexpr const char* kMixed = "cudnn-mixed";
constexpr const char* kTooOld = "cudnn-too-old";

bool is_cudnn(const LibraryCopy& copy) {
  return copy.family == "cudnn" || is_part_of_cudnn(copy.family);
}

bool is_another(const LibraryCopy& a, const LibraryCopy& b) {
  return a.major == b.major && !a.version.empty() && !b.version.empty() &&
         (is_older(a.version, b.version) || is_older(b.version, a.version));
}

// LD_LIBRARY_PATH comes before the folder that a package's cuDNN stands in.
void check_library_path(const Facts& facts, Findings& findings) {
  std::set<std::string> said;  // folders
  for (const LibraryCopy& own : facts.libraries)
    for (const LibraryCopy& other : facts.libraries) {
      if (own.family != "cudnn" || own.found_by != "environment" || !is_cudnn(other) ||
          other.found_by != "LD_LIBRARY_PATH" || !is_another(own, other) ||
          !said.insert(folder_of(other.path)).second)
        continue;
      const bool older = is_older(other.version, own.version);
      Finding finding{FindingId::library_mix, Rank::risk, own.owner};
      finding.cause = "LD_LIBRARY_PATH puts cuDNN " + other.version + (older ? ", which is older," : "") +
                      " before the one of " + who(own.owner, own.path) +
                      ": parts of two releases do not work together";
      finding.evidence = {
          describe_copy(other), describe_copy(own),
          "this is the loader's search; torch loads some of its libraries by their paths before"};
      finding.fix = "take " + folder_of(other.path) + " out of LD_LIBRARY_PATH";
      finding.errors = {kMixed};
      if (older) finding.errors.emplace_back(kTooOld);
      findings.push_back(std::move(finding));
    }
}

const Explanation* explained(const Facts& facts, std::string_view id) {
  for (const Explanation& each : facts.explained)
    if (each.id == id) return &each;
  return nullptr;
}

// Where the error says that parts are mixed: a part that the environment's cuDNN lacks, and the system has.
void check_parts_elsewhere(const Facts& facts, Findings& findings) {
  if (explained(facts, kMixed) == nullptr) return;
  std::set<std::string> own_parts;
  const LibraryCopy* own = nullptr;
  for (const LibraryCopy& copy : facts.libraries)
    if (is_cudnn(copy) && copy.found_by == "environment") {
      own_parts.insert(copy.family);
      if (copy.family == "cudnn") own = &copy;
    }
  for (const LibraryCopy& copy : facts.libraries) {
    if (own == nullptr || !is_part_of_cudnn(copy.family) || copy.found_by == "environment" ||
        copy.found_by == "LD_LIBRARY_PATH" || own_parts.count(copy.family) != 0 || !is_another(*own, copy))
      continue;
    Finding finding{FindingId::library_mix, Rank::likely, own->owner};
    finding.cause = "the cuDNN of " + who(own->owner, own->path) + " lacks lib" + copy.family +
                    ", which the loader finds in the system, of another release";
    finding.evidence = {describe_copy(copy), describe_copy(*own)};
    finding.fix = "remove the system's cuDNN " + copy.version + ", or bring both to one release";
    findings.push_back(std::move(finding));
    return;
  }
}

// "9.10.1", and "(9, 10, 1)" as PyTorch writes it.
std::vector<std::string> releases_in(std::string text) {
  for (auto at = text.find(", "); at != std::string::npos; at = text.find(", ", at + 1))
    if (at != 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0) text.replace(at, 2, ".");
  std::vector<std::string> releases;
  for (auto at = text.find_first_of("0123456789"); at != std::string::npos;
       at = text.find_first_of("0123456789", at)) {
    const auto end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    std::string release = text.substr(at, end - at);
    while (ends_with(release, ".")) release.pop_back();
    if (release.find('.') != std::string::npos) releases.push_back(std::move(release));
    at = end;
  }
  return releases;
}

std::string update_line(const LibraryCopy& copy, const std::string& wanted) {
  const std::string name = copy.owner ? copy.owner->name : "",
                    next = std::to_string(copy.major.value_or(9) + 1);
  if (copy.found_by == "LD_LIBRARY_PATH") return "take " + folder_of(copy.path) + " out of LD_LIBRARY_PATH";
  if (!copy.owner) return "install cuDNN " + major_minor(wanted) + " or newer in the place of " + copy.path;
  if (copy.owner->manager == PackageManager::conda)
    return "conda install '" + name + ">=" + major_minor(wanted) + ",<" + next + "'";
  if (copy.owner->manager == PackageManager::pip)
    return "pip install '" + name + ">=" + major_minor(wanted) + ",<" + next + "'";
  return "update " + name + " to " + major_minor(wanted) + " or newer";
}

// The error tells both releases; the older of them is here.
void check_told_release(const Facts& facts, Findings& findings) {
  const Explanation* told = explained(facts, kTooOld);
  const auto releases = told != nullptr ? releases_in(told->found) : std::vector<std::string>();
  if (releases.size() < 2) return;
  const bool first_is_older = is_older(releases[0], releases[1]);
  const std::string& loaded = releases[first_is_older ? 0 : 1];
  const std::string& built = releases[first_is_older ? 1 : 0];
  for (const LibraryCopy& copy : facts.libraries) {
    if (copy.family != "cudnn" || copy.version.empty() || is_older(copy.version, loaded) ||
        is_older(loaded, copy.version))
      continue;
    Finding finding{FindingId::library_mix, Rank::likely, copy.owner};
    finding.cause = "cuDNN " + loaded + " of " + who(copy.owner, copy.path) +
                    " is older than the one that the framework was built with, " + built;
    finding.evidence = {describe_copy(copy), "the error that was given says: " + told->found};
    finding.fix = update_line(copy, built) +
                  "; or install a release of the framework that was built with cuDNN " + major_minor(loaded) +
                  " or an older one";
    findings.push_back(std::move(finding));
    return;
  }
}

// cuDNN 9 where below "9.0" is asked for: libcudnn.so.8 is opened.
bool is_next_major(const LibraryCopy& copy, const CudnnBound& bound) {
  const auto below = leading_version(bound.below + ".0");
  return below && copy.major && *copy.major >= below->major;
}

// JAX's plugin asks for the minor version that it was built with, and refuses an older one when it starts.
// For others it is what their metadata asks for.
void check_bounds(const Facts& facts, Findings& findings) {
  for (const CudnnBound& bound : facts.cudnn_bounds)
    for (const LibraryCopy& copy : facts.libraries) {
      if (copy.family != "cudnn" || copy.found_by != "environment" || !copy.owner ||
          copy.owner->name != bound.package)
        continue;
      const bool older = is_older(major_minor(copy.version), major_minor(bound.at_least));
      const bool of_next_major = is_next_major(copy, bound);
      if (!older && !of_next_major) continue;
      const bool refuses = starts_with(bound.by.name, "jax");
      Finding finding{FindingId::library_mix, refuses ? Rank::likely : Rank::risk, copy.owner};
      finding.cause = to_string(*copy.owner) +
                      (older ? " is older than " : " is another major version than ") + to_string(bound.by) +
                      " asks for, " + (older ? bound.at_least : "below " + bound.below);
      finding.evidence = {describe_copy(copy), to_string(bound.by) + " says so in its METADATA"};
      finding.fix =
          older ? update_line(copy, bound.at_least)
                : "pip install '" + copy.owner->name + ">=" + bound.at_least + ",<" + bound.below + "'";
      if (older) finding.errors = {kTooOld};
      findings.push_back(std::move(finding));
      return;
    }
}

// A jaxlib that holds the code for CUDA itself tells in its version which cuDNN it was built with:
// "0.4.25+cuda12.cudnn89". It opens that major version alone; jax 0.4.25 asked for nvidia-cudnn-cu12>=8.9,
// without a bound above (jax-ml/jax#20519).
void check_jaxlib(const Facts& facts, Findings& findings) {
  constexpr std::string_view kMark = ".cudnn";
  for (const InstalledPackage& each : facts.packages) {
    const std::string& version = each.package.version;
    const auto at = version.find(kMark);
    if (normal_name(each.package.name) != "jaxlib" || at == std::string::npos) continue;
    const auto major = parse_number(version.substr(at + kMark.size(), 1), 9);
    if (!major) continue;
    const LibraryCopy* other = nullptr;
    bool found = false;
    for (const LibraryCopy& copy : facts.libraries) {
      if (copy.family != "cudnn" || !copy.major) continue;
      found |= *copy.major == static_cast<int>(*major);
      if (other == nullptr || copy.found_by == "environment") other = &copy;
    }
    if (found || other == nullptr) continue;
    const std::string made_for = std::to_string(*major);
    Finding finding{FindingId::library_mix, Rank::likely, other->owner};
    finding.cause = to_string(each.package) + " is made for cuDNN " + made_for + ", and only cuDNN " +
                    std::to_string(*other->major) + " is here: it opens libcudnn.so." + made_for;
    finding.evidence = {describe_copy(*other), "its version says so: " + version.substr(at + 1)};
    const std::string name = other->owner && other->owner->manager == PackageManager::pip
                                 ? other->owner->name
                                 : "nvidia-cudnn-cu12";
    finding.fix = "pip install '" + name + ">=" + made_for + "." + version.substr(at + kMark.size() + 1, 1) +
                  ",<" + std::to_string(*major + 1) + "'";
    findings.push_back(std::move(finding));
  }
}

// Parts that a process has loaded from two folders.
void check_loaded_parts(const Facts& facts, Findings& findings) {
  for (const ProcessFacts& process : facts.processes) {
    std::map<std::string, std::string> folders;  // with one of the files there
    for (const std::string& path : process.libraries)
      if (const auto library = library_name(file_name_of(path));
          library && (library->family == "cudnn" || is_part_of_cudnn(library->family)))
        folders.emplace(folder_of(path), path);
    if (folders.size() < 2) continue;
    Finding finding{FindingId::library_mix, Rank::risk};
    finding.cause = "process " + std::to_string(process.id) + " has loaded parts of cuDNN from " +
                    count_of(folders.size(), "folder");
    for (const auto& [folder, path] : folders) finding.evidence.push_back(path);
    finding.fix = "keep one cuDNN in the environment, and out of LD_LIBRARY_PATH";
    finding.errors = {kMixed};
    findings.push_back(std::move(finding));
  }
}

}  // namespace

void check_cudnn(const Facts& facts, Findings& findings) {
  check_told_release(facts, findings);
  check_bounds(facts, findings);
  check_jaxlib(facts, findings);
  check_library_path(facts, findings);
  check_parts_elsewhere(facts, findings);
  check_loaded_parts(facts, findings);
}

}  // namespace archguard::doctor
