#include "doctor/gather.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "base/parallel.h"
#include "base/text.h"
#include "doctor/library_names.h"
#include "doctor/rebuild_fix.h"
#include "installed/claims.h"
#include "installed/owners.h"
#include "installed/python.h"
#include "releases/releases.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

// "torch-2.7.1.dist-info", or "cudnn-9.1.0-h1_0.json" of conda.
void add_package(const std::string& stem, const std::string& site, PackageManager manager, Facts& facts) {
  std::string name = stem, version;
  if (manager == PackageManager::conda) name = name.substr(0, name.rfind('-'));
  if (const auto dash = name.rfind('-'); dash != std::string::npos) {
    version = name.substr(dash + 1);
    name.resize(dash);
  }
  facts.packages.push_back({{name, version, manager}, site});
}

// torch/utils/cpp_extension.py: "supported_arches = ['3.5', …, '12.1a']".
std::vector<std::string> read_build_archs(const std::string& site) {
  std::vector<std::string> archs;
  const auto text = installed::DatabaseFiles().read(site + "/torch/utils/cpp_extension.py");
  if (!text) return archs;
  const auto name = text->find("supported_arches = [");
  const auto begin = name == std::string::npos ? name : text->find('[', name);
  const auto end = begin == std::string::npos ? begin : text->find(']', begin);
  if (end == std::string::npos) return archs;
  const auto quoted = split(std::string_view(*text).substr(begin, end - begin), '\'');
  for (std::size_t i = 1; i < quoted.size(); i += 2) archs.emplace_back(quoted[i]);
  return archs;
}

// torch/version.py: "cuda: Optional[str] = '12.8'", or None of a build without CUDA.
void read_torch(const InstalledPackage& package, Facts& facts) {
  TorchFacts torch;
  torch.package = package.package;
  torch.site = package.site;
  const std::string path = package.site + "/torch/version.py";
  const auto text = installed::DatabaseFiles().read(path);
  std::error_code error;
  if (!text && fs::exists(path, error)) facts.unread.push_back(text.error());
  if (text)
    for (const std::string_view line : split(*text, '\n')) {
      if (!starts_with(line, "cuda:") && !starts_with(line, "cuda ")) continue;
      const auto equals = line.find('=');
      if (equals == std::string_view::npos) continue;
      std::string value(trim(line.substr(equals + 1)));
      value.erase(std::remove_if(value.begin(), value.end(), [](char c) { return c == '\'' || c == '"'; }),
                  value.end());
      torch.told = true;
      torch.cuda = leading_version(value);  // "10.1.243" before torch 1.5
    }
  if (!variable(facts, "TORCH_CUDA_ARCH_LIST").empty()) torch.build_archs = read_build_archs(package.site);
  facts.torch = std::move(torch);
}

// A package of conda does not tell the folder of its modules, and may have no list of pip beside it.
void read_torch_of_conda(Facts& facts) {
  for (const InstalledPackage& each : facts.packages) {
    if (each.package.manager != PackageManager::conda || each.package.name != "pytorch") continue;
    for (const PythonEnvironment& environment : facts.environments)
      for (const std::string& site : environment.sites) {
        std::error_code error;
        if (!fs::exists(site + "/torch/version.py", error)) continue;
        InstalledPackage torch = each;
        torch.site = site;
        return read_torch(torch, facts);
      }
  }
}

void find_owners_of_all(Facts& facts) {
  std::vector<std::string> paths;
  std::vector<std::optional<Package>*> asked;
  const auto ask = [&](const std::string& path, std::optional<Package>& owner) {
    paths.push_back(path);
    asked.push_back(&owner);
  };
  for (CodeFile& each : facts.code) ask(each.path, each.owner);
  for (LinkedFile& each : facts.linked) ask(each.path, each.owner);
  for (LibraryCopy& each : facts.libraries) ask(each.path, each.owner);
  for (JitTool& each : facts.tools) ask(each.path, each.owner);
  if (facts.gate) ask(facts.gate->path, facts.gate->owner);
  if (paths.empty()) return;
  Owners owners = owners_of(paths);
  for (std::size_t i = 0; i < asked.size(); ++i) *asked[i] = std::move(owners.of[i]);
  for (const Error& error : owners.errors) facts.notes.push_back(error.text());
  facts.rivals = std::move(owners.rivals);
}

// What the owner's version tells of a library whose name tells none.
void complete_versions(Facts& facts) {
  for (JitTool& tool : facts.tools)
    if (tool.kind == "nvvm" && !tool.version && tool.owner)
      tool.version = leading_version(tool.owner->version);
  for (LibraryCopy& copy : facts.libraries) {
    if (!copy.version.empty() || !copy.owner || copy.owner->version.empty()) continue;
    copy.version = copy.owner->version;
  }
}

}  // namespace

const InstalledPackage* installed_package(const Facts& facts, std::string_view name) {
  const auto is_named = [&](const InstalledPackage& each) { return normal_name(each.package.name) == name; };
  const auto found = std::find_if(facts.packages.begin(), facts.packages.end(), is_named);
  return found == facts.packages.end() ? nullptr : &*found;
}

std::string variable(const Facts& facts, const std::string& name) {
  const auto found = facts.variables.find(name);
  return found == facts.variables.end() ? std::string() : found->second;
}

std::vector<std::string> folders_of_list(const std::string& list) {
  std::vector<std::string> folders;
  for (const std::string_view folder : split(list, ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

bool is_made_for_one_torch(std::string_view name) {
  return name == "torchvision" || name == "torchaudio";
}

std::string file_name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_image_name(const std::string& name) {
  return ends_with(name, ".cubin") || ends_with(name, ".fatbin") || ends_with(name, ".ptx");
}

namespace {

// Those whose lists stand in the folder, by name.
void add_packages_of(const std::string& folder, std::string_view ending, PackageManager manager,
                     Facts& facts) {
  const std::size_t before = facts.packages.size();
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (ends_with(name, ending))
      add_package(name.substr(0, name.size() - ending.size()), folder, manager, facts);
  }
  std::sort(facts.packages.begin() + static_cast<std::ptrdiff_t>(before), facts.packages.end(),
            [](const auto& a, const auto& b) {
              return std::tie(a.package.name, a.package.version) <
                     std::tie(b.package.name, b.package.version);
            });
}

// Python imports a package from the first folder of sys.path that has it.
void drop_hidden_packages(std::size_t begin, Facts& facts) {
  std::map<std::string, std::string> sites;  // of the first package of each name
  const auto is_hidden = [&](const InstalledPackage& each) {
    return each.package.manager == PackageManager::pip &&
           sites.try_emplace(each.package.name, each.site).first->second != each.site;
  };
  facts.packages.erase(std::remove_if(facts.packages.begin() + static_cast<std::ptrdiff_t>(begin),
                                      facts.packages.end(), is_hidden),
                       facts.packages.end());
}

// Those that load cuDNN, by the beginnings of their names.
bool is_served_by_cudnn(std::string_view name) {
  for (const std::string_view each : {"jax_cuda", "jax-cuda", "tensorflow", "onnxruntime", "torch"})
    if (starts_with(name, each)) return true;
  return false;
}

std::string metadata_of(const InstalledPackage& package) {
  const std::string folder = package.site + "/" + package.package.name + "-" + package.package.version;
  auto text = installed::DatabaseFiles().read(folder + std::string(installed::kDistInfo) + "/METADATA");
  return text ? std::move(*text) : "";
}

// "__version__ = '0.22.0+cpu'" of torchvision/version.py and torchaudio/version.py: PyPI's names of both have
// no part behind a +, and tell so only there (torchvision 0.22.0 for Windows; 0.24.1+cu128 for Linux).
std::string own_version_of(const InstalledPackage& package) {
  constexpr std::string_view kVersion = "__version__ = '";
  const auto text =
      installed::DatabaseFiles().read(package.site + "/" + package.package.name + "/version.py");
  if (!text) return {};
  for (const std::string_view line : split(*text, '\n'))
    if (starts_with(line, kVersion))
      return std::string(line.substr(kVersion.size(), line.find('\'', kVersion.size()) - kVersion.size()));
  return {};
}

// torchvision and torchaudio are made for one torch, which each release names.
void read_torch_pin(const InstalledPackage& package, Facts& facts) {
  constexpr std::string_view kPin = "Requires-Dist: torch==";
  const std::string text = metadata_of(package);
  TorchPin pin{package.package, {}, own_version_of(package)};
  for (const std::string_view line : split(text, '\n'))
    if (starts_with(line, kPin) && pin.torch.empty()) {
      const std::string_view version = line.substr(kPin.size());
      pin.torch = std::string(trim(version.substr(0, version.find_first_of(",; "))));
    }
  facts.torch_pins.push_back(std::move(pin));
}

std::string release_behind(std::string_view bounds, std::size_t at) {
  const std::string_view version = trim(bounds.substr(at));
  return std::string(version.substr(0, version.find_first_not_of("0123456789.")));
}

// "10.0" of "<10.0,>=9.8"; empty where there is none.
std::string upper_bound_in(std::string_view bounds) {
  const auto at = bounds.find('<');
  if (at == std::string_view::npos || bounds.substr(at + 1, 1) == "=") return {};
  return release_behind(bounds, at + 1);
}

// "Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.8; extra == …" (PEP 508): the releases that are asked for.
void read_cudnn_bound(const InstalledPackage& package, Facts& facts) {
  const std::string text = metadata_of(package);
  constexpr std::string_view kRequires = "Requires-Dist: nvidia-cudnn-", kPackage = "Requires-Dist: ";
  for (const std::string_view line : split(text, '\n')) {
    if (!starts_with(line, kRequires)) continue;
    const std::string_view asked = line.substr(kPackage.size());
    const std::string_view name = asked.substr(0, asked.find_first_of(" <>=~!(;"));
    const std::string_view bounds = asked.substr(0, asked.find(';'));
    for (const std::string_view sign : {">=", "==", "~="}) {
      const auto at = bounds.find(sign);
      if (at == std::string_view::npos) continue;
      facts.cudnn_bounds.push_back({package.package, std::string(name),
                                    release_behind(bounds, at + sign.size()), upper_bound_in(bounds)});
      break;
    }
  }
}

// Packages that bring files which need CUDA's libraries, and import torch: their metadata asks for it.
void find_users_of_torch(Facts& facts) {
  constexpr std::string_view kTorch = "Requires-Dist: torch";
  std::set<std::string> asked;
  for (const LinkedFile& file : facts.linked) {
    if (!file.owner || !asked.insert(normal_name(file.owner->name)).second) continue;
    const InstalledPackage* package = installed_package(facts, normal_name(file.owner->name));
    const std::string text = package == nullptr ? std::string() : metadata_of(*package);
    for (const std::string_view line : split(text, '\n'))
      if (starts_with(line, kTorch) && line.find("extra ==") == std::string_view::npos &&
          (line.size() == kTorch.size() ||
           std::string_view(" <>=~!(;[\r").find(line[kTorch.size()]) != std::string_view::npos))
        facts.torchs_users.insert(normal_name(file.owner->name));
  }
}

}  // namespace

void gather_packages(Facts& facts) {
  for (const PythonEnvironment& environment : facts.environments) {
    const std::size_t begin = facts.packages.size();
    for (const std::string& site : environment.sites)
      add_packages_of(site, installed::kDistInfo, PackageManager::pip, facts);
    drop_hidden_packages(begin, facts);
    if (environment.kind == "conda")
      add_packages_of(environment.prefix + "/conda-meta", ".json", PackageManager::conda, facts);
  }
  std::stable_sort(facts.packages.begin(), facts.packages.end(),
                   [](const auto& a, const auto& b) { return a.package.name < b.package.name; });
  for (const InstalledPackage& each : facts.packages)
    if (each.package.manager == PackageManager::pip && is_served_by_cudnn(each.package.name))
      read_cudnn_bound(each, facts);
  for (const InstalledPackage& each : facts.packages)
    if (each.package.manager == PackageManager::pip && is_made_for_one_torch(each.package.name))
      read_torch_pin(each, facts);
  for (const InstalledPackage& each : facts.packages)
    if (each.package.name == "torch" && !facts.torch && each.package.manager == PackageManager::pip)
      read_torch(each, facts);
  if (!facts.torch) read_torch_of_conda(facts);
}

namespace {

// The files are independent of each other, and many: the cores share them.
void gather_code(const FoundFiles& files, Facts& facts) {
  std::vector<std::string> paths;
  for (const auto* list : {&files.named, &files.libraries, &files.images})
    paths.insert(paths.end(), list->begin(), list->end());
  struct Read {
    std::optional<CodeFile> code;
    std::vector<Error> unread;
  };
  constexpr unsigned kMostThreads = 4;  // each holds the images of one file
  constexpr std::size_t kAhead = 16;
  const Facts& known = facts;
  InOrder<Read> all(
      paths.size(), kAhead,
      [&](std::size_t i, unsigned) {
        Read read;
        read.code = read_code_file(paths[i], known, read.unread);
        return read;
      },
      std::min(threads_to_use(), kMostThreads));
  std::vector<CodeFile> code;
  std::vector<Error> unread;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Read read = all.next();
    if (read.code) code.push_back(std::move(*read.code));
    std::move(read.unread.begin(), read.unread.end(), std::back_inserter(unread));
  }
  facts.code = std::move(code);
  std::move(unread.begin(), unread.end(), std::back_inserter(facts.unread));
}

}  // namespace

void gather(const GatherQuestion& question, Facts& facts) {
  const FoundFiles files = walk_environments(facts);
  gather_packages(facts);
  for (const std::string& path : files.named)
    if (!is_program_or_library(path))
      facts.unread.push_back(Error{path, "is neither a folder nor a program or library",
                                   "name a program, a library or the folder of an environment"});
  gather_code(files, facts);
  gather_libraries(files, question, facts);
  gather_tools(files, facts);
  gather_gate(files, facts);
  find_owners_of_all(facts);
  find_users_of_torch(facts);
  gather_sources(facts);
  complete_versions(facts);
  gather_symbols(question, facts);
  gather_stale(question, facts);
  gather_opened(facts);
}

}  // namespace archguard::doctor
