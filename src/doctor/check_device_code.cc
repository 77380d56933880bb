#include <algorithm>
#include <map>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/fix.h"
#include "doctor/checks.h"
#include "doctor/code_fix.h"
#include "doctor/gather.h"
#include "doctor/package_code.h"

namespace archguard::doctor {
namespace {

// The number that the driver of this device answers with: for PTX that is too new, its own.
int error_number(int code, const Device& device, bool linked = false) {
  if (!device.driver_cuda) return code;
  if (code == kUnsupportedPtxVersion) return error_of_newer_ptx(*device.driver_cuda);
  return linked && code == kNoKernelImage ? error_of_unfit_link(*device.driver_cuda) : code;
}

// Is what lacks the device what a device linker made, of objects of which none is for it either?
bool are_unfit_links(const std::vector<const CodeFile*>& files, std::size_t of_class) {
  return std::all_of(files.begin(), files.end(), [&](const CodeFile* file) {
    return file->holds_link_parts && file->fatbins == 1 && file->fits[of_class].to_link == 0;
  });
}

// In words: what happens with this code of CUDA's.
std::string ending_of(int code, const Device& device, bool linked) {
  const std::string error = ": error " + std::to_string(error_number(code, device, linked));
  if (code == kUnsupportedPtxVersion)
    return " has only PTX, and it is too new for the driver of " + archguard::describe(device) + error;
  if (code == kInvalidKernelImage)
    return " uses a compression that the driver of " + archguard::describe(device) + " does not know" + error;
  return " has no code for " + archguard::describe(device) + error;
}

// What Triton brings is its profiler's. Its kernels are made by its ptxas, which check_jit_compiler looks at.
bool is_tritons_own(const CodeFile& file) {
  return file.owner && file.owner->name == "triton";
}

class DeviceCodeCheck {
 public:
  DeviceCodeCheck(const Facts& facts, Findings& findings) : facts_(facts), findings_(findings) {
    for (const CodeFile& file : facts.code)
      if (!is_tritons_own(file)) packages_[who(file.owner, file.path)].files.push_back(&file);
  }

  void run() {
    std::vector<std::pair<std::string, const PackageCode*>> order;
    for (const auto& [name, package] : packages_) order.emplace_back(name, &package);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return fatbins_of(*a.second) > fatbins_of(*b.second);  // what others rest on comes first
    });
    for (const auto& [name, package] : order) {
      std::map<std::string, std::vector<std::size_t>> said;  // one finding for devices that end alike
      std::map<std::string, Finding> found;
      for (std::size_t i = 0; i < facts_.classes.size(); ++i)
        if (auto finding = judge_one(name, *package, i))
          found.try_emplace(std::to_string(i), std::move(*finding));
      for (std::size_t i = 0; i < facts_.classes.size(); ++i)
        if (auto finding = newer_data(name, *package, i))
          found.try_emplace(std::to_string(i) + " data", std::move(*finding));
      for (std::size_t i = 0; i < facts_.classes.size(); ++i)
        if (auto finding = newer_sass(name, *package, i))
          found.try_emplace(std::to_string(i) + " sass", std::move(*finding));
      for (auto& [key, finding] : found) findings_.push_back(std::move(finding));
    }
  }

 private:
  static std::uint64_t fatbins_of(const PackageCode& package) {
    std::uint64_t sum = 0;
    for (const CodeFile* file : package.files) sum += file->fatbins;
    return sum;
  }

  // Do other packages have code for this class? Then one that has none may be a part that nobody needs there.
  bool others_serve(const PackageCode& package, std::size_t of_class) const {
    for (const CodeFile& file : facts_.code)
      if (file.fits[of_class].state == FileFit::State::served &&
          std::find(package.files.begin(), package.files.end(), &file) == package.files.end())
        return true;
    return false;
  }

  std::optional<Finding> judge_one(const std::string& name, const PackageCode& package,
                                   std::size_t of_class) {
    const PackageFit fit = fit_of_package(facts_, package, of_class);
    const ComputeCapability device = *facts_.classes[of_class].device.capability;
    if (!fit.lacking.empty() && (fit.served.empty() || any_is_main(fit.lacking)))
      return lacks_all(name, package, fit, of_class);
    std::vector<const CodeFile*> meant;  // that are for this device by their names, or for all
    for (const CodeFile* file : fit.lacking)
      if (!is_for_another(*file, device) &&
          (file->fits[of_class].failing() != 0 || !named_archs(file->path).empty()))
        meant.push_back(file);
    if (!meant.empty()) return lacks_some(name, package, fit, meant, of_class);
    if (!fit.partly.empty()) return has_little(name, package, fit, of_class);
    if (!fit.unknown.empty()) return cannot_tell(name, fit.unknown, of_class);
    if (auto gaps = gaps_in(name, package, of_class)) return gaps;
    if (auto newer = newer_ptx_in(name, package, of_class)) return newer;
    if (const auto untold = some_untold(fit.served, of_class); !untold.empty())
      return cannot_tell("every part of " + name, untold, of_class);
    return ptx_alone(name, package, fit, of_class);
  }

  // Covered by the rules, at a price: the driver compiles all of it when it is used first.
  std::optional<Finding> ptx_alone(const std::string& name, const PackageCode& package, const PackageFit& fit,
                                   std::size_t of_class) const {
    for (const CodeFile* file : package.files)
      if (file->fits[of_class].sass != 0 || file->as_data) return std::nullopt;
    if (fit.served.empty()) return std::nullopt;
    const Device& device = facts_.classes[of_class].device;
    Finding finding = begin(Rank::risk, package, 0);
    finding.cause =
        name + " serves " + archguard::describe(device) +
        " through PTX alone: the driver compiles it at the first start, which can take many minutes";
    finding.evidence.push_back(file_name_of(fit.served.front()->path) + " holds " +
                               fit.served.front()->holds);
    finding.fix =
        "wait for the first start, and keep the driver's cache (CUDA_CACHE_MAXSIZE=4294967296); or install a "
        "release of " +
        (package.files.front()->owner ? package.files.front()->owner->name : "it") + " with SASS for " +
        to_string(*device.capability);
    return finding;
  }

  // PTX that the program hands to the driver itself, beside fat binaries that fit.
  std::optional<Finding> newer_data(const std::string& name, const PackageCode& package,
                                    std::size_t of_class) const {
    if (is_of_nvidia(package)) return std::nullopt;
    for (const CodeFile* file : package.files) {
      const auto& data = file->data;
      if (!data ||
          std::find(data->too_new_for.begin(), data->too_new_for.end(), of_class) == data->too_new_for.end())
        continue;
      const Device& device = facts_.classes[of_class].device;
      Finding finding = begin(Rank::risk, package, error_number(kUnsupportedPtxVersion, device));
      finding.cause = name + " has PTX in its data that is too new for the driver of " +
                      archguard::describe(device) + ": error " + std::to_string(finding.code) +
                      " where the program hands it to the driver";
      finding.evidence = {file_name_of(file->path) + " holds " + file->holds + "; in its data " +
                          data->holds};
      finding.fix = general_fix(kUnsupportedPtxVersion, file->owner ? file->owner->name : "it", device);
      return finding;
    }
    return std::nullopt;
  }

  std::optional<Finding> newer_sass(const std::string& name, const PackageCode& package,
                                    std::size_t of_class) const {
    const auto holds = [&](const std::vector<std::size_t>& classes) {
      return std::find(classes.begin(), classes.end(), of_class) != classes.end();
    };
    for (const CodeFile* file : package.files) {
      if (!file->newer_sass) continue;
      const bool refused = holds(file->newer_sass->refused_for);
      if (!refused && !holds(file->newer_sass->untold_for)) continue;
      const Device& device = facts_.classes[of_class].device;
      const std::string needs = to_string(file->newer_sass->needs);
      Finding finding =
          begin(refused ? Rank::certain : Rank::risk, package, refused ? kInvalidKernelImage : 0);
      finding.cause = name + " has SASS that needs a driver of CUDA " + needs + ", and that of " +
                      archguard::describe(device) +
                      (refused ? " does not load it: error " + std::to_string(kInvalidKernelImage)
                               : " is older: whether it loads it is not known");
      finding.evidence = {file_name_of(file->path) + " holds " + file->holds};
      finding.fix = update_driver(file->newer_sass->needs, *device.capability) +
                    "; or install a release of " + (file->owner ? file->owner->name : "it") +
                    " that an older CUDA made";
      return finding;
    }
    return std::nullopt;
  }

  Finding begin(Rank rank, const PackageCode& package, int code) const {
    return {FindingId::device_code, rank, package.files.front()->owner, code};
  }

  void add_files(Finding& finding, const std::vector<const CodeFile*>& files, std::size_t of_class,
                 std::size_t of_all) const {
    std::uint64_t fatbins = 0, failing = 0;
    for (const CodeFile* file : files) {
      fatbins += file->fatbins;
      failing += file->fatbins - file->fits[of_class].good();
    }
    finding.evidence.push_back(std::to_string(files.size()) + " of " + count_of(of_all, "file") +
                               " with device code, " + std::to_string(failing) + " of " +
                               count_of(fatbins, "fat binary", "fat binaries"));
    for (std::size_t i = 0; i < files.size() && i < 3; ++i)
      finding.evidence.push_back(file_name_of(files[i]->path) + " holds " + files[i]->holds);
  }

  Finding lacks_all(const std::string& name, const PackageCode& package, const PackageFit& fit,
                    std::size_t of_class) const {
    const Device& device = facts_.classes[of_class].device;
    int code = 0;
    bool loose = true, as_data = true;
    // A cubin is for one architecture, and a package has one for each; a .fatbin holds all that there are.
    bool of_one = false;
    for (const CodeFile* file : fit.lacking) {
      of_one |= !ends_with(file->path, ".fatbin");
      code = std::max(code, file->fits[of_class].code());
      loose &= file->loose;
      as_data &= file->as_data;
    }
    const bool others = others_serve(package, of_class);
    const Rank rank = others && is_of_nvidia(package) ? Rank::risk
                      : loose && others               ? (of_one ? Rank::risk : Rank::likely)
                      : as_data                       ? Rank::risk
                                                      : Rank::certain;
    const bool linked = are_unfit_links(fit.lacking, of_class);
    Finding finding = begin(rank, package, error_number(code, device, linked));
    finding.cause = name + ending_of(code, device, linked);
    add_files(finding, fit.lacking, of_class, package.files.size());
    if (!fit.served.empty()) finding.evidence.push_back(others_cover(fit));
    if (as_data)
      finding.evidence.emplace_back(
          "it stands in the program's data, outside fat binaries: the program hands it to the driver, if it "
          "uses it");
    finding.fix = code_fix(facts_, code, package.files.front()->owner, of_class);
    if (rank == Rank::risk && loose)
      finding.fix = "none where the program has other kernels for this GPU; else " + finding.fix;
    return finding;
  }

  static std::string others_cover(const PackageFit& fit) {
    return count_of(fit.served.size(), "other file of it covers", "other files of it cover") + " this GPU";
  }

  Finding lacks_some(const std::string& name, const PackageCode& package, const PackageFit& fit,
                     const std::vector<const CodeFile*>& meant, std::size_t of_class) const {
    const Device& device = facts_.classes[of_class].device;
    const bool others = others_serve(package, of_class);
    const bool by_name = std::any_of(meant.begin(), meant.end(), [&](const CodeFile* file) {
      if (file->loose && others) return false;  // one of many, of which a program takes what it finds
      return !named_archs(file->path).empty();  // and, being meant, of this device's major version
    });
    const int code = meant.front()->fits[of_class].code();
    const bool linked = are_unfit_links(meant, of_class);
    Finding finding = begin(by_name ? Rank::likely : Rank::risk, package, error_number(code, device, linked));
    finding.cause = "a part of " + name + ending_of(code, device, linked);
    add_files(finding, meant, of_class, package.files.size());
    finding.evidence.push_back(others_cover(fit));
    finding.fix = code_fix(facts_, code, package.files.front()->owner, of_class);
    return finding;
  }

  // Then what comes with torch is no cause of its own.
  bool torch_lacks(std::size_t of_class) const {
    bool any = false, any_serves = false;
    for (const CodeFile& file : facts_.code) {
      if (!file.owner || file.owner->name != "torch") continue;
      const bool lacks = file.fits[of_class].state == FileFit::State::lacking;
      if (lacks && is_main_file(file)) return true;
      any |= lacks;
      any_serves |= file.fits[of_class].state == FileFit::State::served;
    }
    return any && !any_serves;
  }

  // Does the package run without these files? Where nothing is known of it, what holds most of its code is
  // needed.
  bool runs_without(const std::vector<const CodeFile*>& files, const PackageCode& package,
                    const PackageFit& fit, std::size_t of_class) const {
    if (fit.served.empty() || any_is_main(files)) return false;
    if (any_is_main(fit.served)) return true;
    const auto bytes_of = [&](const std::vector<const CodeFile*>& some) {
      std::uint64_t sum = 0;
      for (const CodeFile* file : some) sum += file->fits[of_class].best_bytes;
      return sum;
    };
    return 2 * bytes_of(files) < bytes_of(package.files);
  }

  Finding has_little(const std::string& name, const PackageCode& package, const PackageFit& fit,
                     std::size_t of_class) const {
    const std::vector<const CodeFile*>& files = fit.partly;
    const Device& device = facts_.classes[of_class].device;
    const bool refused = std::all_of(files.begin(), files.end(), [&](const CodeFile* file) {
      return file->fits[of_class].driver_refuses;
    });
    const int code = refused ? kInvalidKernelImage : kNoKernelImage;
    // NVIDIA makes some libraries for newer GPUs alone: cuSPARSELt on 7.5 is missed by who prunes weights.
    const bool is_part = is_of_nvidia(package) && (torch_lacks(of_class) || others_serve(package, of_class));
    const bool runs = runs_without(files, package, fit, of_class);
    Finding finding{FindingId::device_code, is_part || runs ? Rank::risk : Rank::likely, files.front()->owner,
                    code};
    finding.cause = (runs ? "a part of " : "") + name +
                    (refused ? " has code for " + to_string(*device.capability) + " that the driver of " +
                                   archguard::describe(device) + " is too old to load"
                             : " has hardly any code for " + archguard::describe(device));
    for (const CodeFile* file : files)
      finding.evidence.push_back(file_name_of(file->path) + ": " + file->fits[of_class].partly +
                                 " can run; it holds " + file->holds);
    if (runs) finding.evidence.push_back(others_cover(fit));
    finding.fix = code_fix(facts_, code, files.front()->owner, of_class);
    return finding;
  }

  // Files that serve the device, with fat binaries that are not understood.
  static std::vector<const CodeFile*> some_untold(const std::vector<const CodeFile*>& served,
                                                  std::size_t of_class) {
    std::vector<const CodeFile*> files;
    for (const CodeFile* file : served)
      if (file->fits[of_class].unknown != 0) files.push_back(file);
    return files;
  }

  Finding cannot_tell(const std::string& name, const std::vector<const CodeFile*>& files,
                      std::size_t of_class) const {
    Finding finding{FindingId::device_code, Rank::risk, files.front()->owner};
    finding.cause = "whether " + name + " has code for " +
                    archguard::describe(facts_.classes[of_class].device) + " cannot be told";
    finding.evidence.push_back(file_name_of(files.front()->path) + " holds " + files.front()->holds);
    finding.fix = "archguard verify --scope library " + files.front()->path + " --device " +
                  to_string(*facts_.classes[of_class].device.capability);
    return finding;
  }

  // Fat binaries for several architectures, and not for this one, in files that serve it otherwise: kernels
  // that were left out on purpose, or forgotten.
  std::optional<Finding> gaps_in(const std::string& name, const PackageCode& package,
                                 std::size_t of_class) const {
    if (is_of_nvidia(package)) return std::nullopt;
    const Device& device = facts_.classes[of_class].device;
    for (const CodeFile* file : package.files) {
      const FileFit& fit = file->fits[of_class];
      const std::uint64_t gaps = fit.good() != 0 ? fit.none : 0;
      if (gaps == 0 || fit.state != FileFit::State::served) continue;
      Finding finding = begin(Rank::risk, package, kNoKernelImage);
      finding.cause = "some kernels of " + name + " have no code for " + archguard::describe(device) +
                      ": error " + std::to_string(kNoKernelImage) + " where one is called";
      finding.evidence.push_back(file_name_of(file->path) + ": " + std::to_string(gaps) + " of " +
                                 count_of(file->fatbins, "fat binary", "fat binaries") + "; it holds " +
                                 file->holds);
      finding.fix = "install a newer release of " +
                    (file->owner ? file->owner->name : library_stem(file->path)) +
                    "; these are the kernels: archguard verify " + file->path + " --device " +
                    to_string(*device.capability) +
                    (device.driver_cuda ? "@" + to_string(*device.driver_cuda) : std::string());
      return finding;
    }
    return std::nullopt;
  }

  // Fat binaries that have only PTX for this device, and that the driver is too old for, in files that serve
  // it otherwise.
  std::optional<Finding> newer_ptx_in(const std::string& name, const PackageCode& package,
                                      std::size_t of_class) const {
    if (is_of_nvidia(package)) return std::nullopt;
    const Device& device = facts_.classes[of_class].device;
    for (const CodeFile* file : package.files) {
      const FileFit& fit = file->fits[of_class];
      if (fit.good() == 0 || fit.too_new == 0 || fit.state != FileFit::State::served) continue;
      Finding finding = begin(Rank::risk, package, error_number(kUnsupportedPtxVersion, device));
      finding.cause = "some kernels of " + name + " are PTX alone for " + archguard::describe(device) +
                      ", and too new for its driver: error " + std::to_string(finding.code) +
                      " where one is called";
      finding.evidence.push_back(file_name_of(file->path) + ": " + std::to_string(fit.too_new) + " of " +
                                 count_of(file->fatbins, "fat binary", "fat binaries") + "; it holds " +
                                 file->holds);
      finding.fix = general_fix(kUnsupportedPtxVersion, file->owner ? file->owner->name : "it", device) +
                    "; these are the kernels: archguard verify " + file->path + " --device " +
                    to_string(*device.capability) + "@" + to_string(*device.driver_cuda);
      return finding;
    }
    return std::nullopt;
  }

  const Facts& facts_;
  Findings& findings_;
  std::map<std::string, PackageCode> packages_;
};

}  // namespace

void check_device_code(const Facts& facts, Findings& findings) {
  DeviceCodeCheck(facts, findings).run();
}

}  // namespace archguard::doctor
