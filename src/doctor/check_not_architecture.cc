#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/release_fix.h"
#include "releases/releases.h"

namespace archguard::doctor {
namespace {

// A torch without CUDA, beside a GPU.
void check_cpu_build(const Facts& facts, Findings& findings) {
  if (!facts.torch || facts.classes.empty()) return;
  const TorchFacts& torch = *facts.torch;
  const bool named_so = ends_with(torch.package.version, "+cpu");
  if (!named_so && (!torch.told || torch.cuda)) return;
  const bool rocm = torch.package.version.find("+rocm") != std::string::npos;
  Finding finding{FindingId::not_architecture, Rank::likely, torch.package};
  finding.cause = to_string(torch.package) +
                  (rocm ? " is a build for AMD's GPUs" : " is a build without CUDA") +
                  ": torch.cuda.is_available() is False";
  finding.evidence = {torch.told ? torch.site + "/torch/version.py says cuda = None"
                                 : "its version ends with +cpu"};
  if (torch.package.manager == PackageManager::conda && !rocm) {
    const bool pinned = installed_package(facts, "cpuonly") != nullptr;
    if (pinned)
      finding.evidence.emplace_back("conda's package cpuonly is installed, which asks for such a build");
    finding.fix =
        std::string(pinned ? "conda remove cpuonly, then " : "") + "conda install -c conda-forge pytorch-gpu";
    findings.push_back(std::move(finding));
    return;
  }
  const std::string release = rocm ? std::string() : release_fix(facts, torch.package.name, 0);
  finding.fix =
      release.empty()
          ? "install a build of torch with CUDA, which the selector on pytorch.org names for your driver"
          : (starts_with(release, "pip uninstall") ? "" : "pip uninstall torch, then ") + release;
  findings.push_back(std::move(finding));
}

// A package may hold a library for each torch, of which it loads one:
// libtorch_c_dlpack_addon_torch29-cuda.so.
bool is_named_for_another_torch(const std::string& path, const std::string& version) {
  const auto minor = version.find('.');  // of "2.13.0+cu130"
  if (minor == std::string::npos) return false;
  const auto installed = parse_version(version.substr(0, version.find_first_not_of("0123456789", minor + 1)));
  const std::string name = file_name_of(path);
  constexpr std::string_view kTorch = "torch";
  for (auto at = name.find(kTorch); installed && at != std::string::npos; at = name.find(kTorch, at + 1)) {
    const auto begin = at + kTorch.size(), end = name.find_first_not_of("0123456789", begin);
    const std::string digits = name.substr(begin, end == std::string::npos ? end : end - begin);
    if (digits.size() > 1)
      return digits != std::to_string(installed->major) + std::to_string(installed->minor);
  }
  return false;
}

void check_torch_gaps(const Facts& facts, Findings& findings) {
  for (const SymbolGap& gap : facts.torch_gaps) {
    if (is_named_for_another_torch(gap.path, facts.torch->package.version)) continue;
    Finding finding{FindingId::not_architecture, Rank::certain, gap.owner};
    finding.cause =
        who(gap.owner, gap.path) + " was built for another torch: undefined symbol " + gap.names.front();
    finding.evidence = {file_name_of(gap.path) + " needs " + count_of(gap.names.size(), "function") +
                            " that " + to_string(facts.torch->package) + " does not define",
                        "this is no matter of architectures"};
    finding.fix = "install the release of " + (gap.owner ? gap.owner->name : "it") +
                  " that is made for torch " + facts.torch->package.version + ", or build it anew";
    findings.push_back(std::move(finding));
  }
}

// "cu126", "cpu" of "2.7.1+cu126"; PyPI's files have none.
std::string local_of(const std::string& version) {
  const auto plus = version.find('+');
  return plus == std::string::npos ? "" : version.substr(plus + 1);
}

// The CUDA in "cu126"; nothing in another word.
std::optional<Version> cuda_in_local(const std::string& local) {
  if (!starts_with(local, "cu") || local.size() < 5) return std::nullopt;
  const auto number = parse_number(local.substr(2), 999);
  if (!number) return std::nullopt;
  return Version{static_cast<int>(*number) / 10, static_cast<int>(*number) % 10};
}

// torchvision/extension.py compares both numbers of CUDA up to 0.15, and from 0.16 on the first alone.
bool wants_same_cuda(const Package& package) {
  const auto version =
      parse_version(package.version.substr(0, package.version.find('.', package.version.find('.') + 1)));
  return package.name == "torchvision" && version && *version < Version{0, 16};
}

// What a package that is made for one torch lacks beside this one; empty where nothing is to be said.
// `local` is what stands behind the + of its version.
std::string why_not_for(const TorchFacts& torch, const Package& package, const std::string& local,
                        const std::string& pin) {
  const std::string plain = torch.package.version.substr(0, torch.package.version.find('+'));
  if (!pin.empty() && pin.substr(0, pin.find('+')) != plain)
    return "is made for torch " + pin + ", and torch " + torch.package.version + " is here";
  if (local == "cpu" && torch.cuda) return "is a build without CUDA beside a torch with CUDA";
  const auto cuda = cuda_in_local(local);
  if (!cuda || !torch.cuda || *cuda == *torch.cuda) return {};
  const bool other_major = cuda->major != torch.cuda->major;
  if (!other_major && !wants_same_cuda(package)) return {};
  const auto text = [&](Version version) {
    return other_major ? std::to_string(version.major) : to_string(version);
  };
  return "is a build for CUDA " + text(*cuda) + " beside a torch for CUDA " + text(*torch.cuda);
}

std::string fix_beside(const TorchFacts& torch, const std::string& name) {
  const std::string plain = torch.package.version.substr(0, torch.package.version.find('+'));
  const std::string local = local_of(torch.package.version);
  for (const Release* each : releases_of("torch", "x86_64"))
    if (each->version == plain)
      for (const std::string& along : installed_along(*each))
        if (starts_with(along, name + "=="))
          return "pip install " + along +
                 (local.empty() ? "" : "+" + local + " --index-url INDEX   (the one that torch is from)");
  return "install the " + name + " that is made for torch " + torch.package.version +
         ", from the index that this torch is from";
}

// torchvision and torchaudio beside another torch than theirs: their operators are missing, or refuse to
// load.
void check_companions(const Facts& facts, Findings& findings) {
  if (!facts.torch || !facts.torch->told) return;
  for (const InstalledPackage& each : facts.packages) {
    if (!is_made_for_one_torch(each.package.name) || each.package.manager != PackageManager::pip) continue;
    std::string pin, local = local_of(each.package.version), told_by;
    for (const TorchPin& told : facts.torch_pins)
      if (told.by.name == each.package.name && told.by.version == each.package.version) {
        pin = told.torch;
        if (!local.empty() || local_of(told.own_version).empty()) continue;
        local = local_of(told.own_version);
        told_by = each.package.name + "/version.py says " + told.own_version;
      }
    const std::string why = why_not_for(*facts.torch, each.package, local, pin);
    if (why.empty()) continue;
    Finding finding{FindingId::not_architecture, Rank::likely, each.package};
    finding.cause =
        to_string(each.package) + " " + why + ": its operators for the GPU are missing or do not load";
    finding.evidence = {
        "torch " + facts.torch->package.version +
            (pin.empty() ? "" : "; the metadata of " + each.package.name + " asks for " + pin),
        "this is no matter of architectures"};
    if (!told_by.empty()) finding.evidence.insert(finding.evidence.begin(), told_by);
    finding.fix = fix_beside(*facts.torch, each.package.name);
    finding.errors = {"torchvision-other-torch"};
    findings.push_back(std::move(finding));
  }
}

}  // namespace

void check_not_architecture(const Facts& facts, Findings& findings) {
  check_cpu_build(facts, findings);
  check_companions(facts, findings);
  check_torch_gaps(facts, findings);
  check_without_cuda(facts, findings);
}

}  // namespace archguard::doctor
