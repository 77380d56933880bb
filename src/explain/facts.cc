#include "explain/facts.h"

#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "compat/torch.h"

namespace archguard {
namespace {

constexpr std::size_t kMostTold = 16;  // of what one text may name many times

bool is_told_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_told_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_told_digit(text[end])) ++end;
  return text.substr(at, end - at);
}

std::string sm_text(Arch arch) {
  return "sm_" + to_string(arch);
}

// The first and the last known toolkit with an arch.
std::optional<ToolkitRange> toolkits_with(Arch arch) {
  std::optional<ToolkitRange> range;
  for (const Toolkit& each : known_toolkits()) {
    if (!has_arch(each, arch)) continue;
    if (!range) range = ToolkitRange{each.version, each.version};
    range->last = each.version;
  }
  return range;
}

std::string compilers_of(Arch arch) {
  const auto range = toolkits_with(arch);
  if (!range) return "no known CUDA release has " + sm_text(arch);
  std::string text =
      "nvcc, ptxas and NVRTC know " + sm_text(arch) + " from CUDA " + to_string(range->first) + " on";
  if (range->last != newest_known_toolkit().version)
    text = "nvcc, ptxas and NVRTC know " + sm_text(arch) + " up to CUDA " + to_string(range->last) +
           "; newer releases dropped it";
  if (const auto later = later_name(arch)) text += ", where it is called " + sm_text(*later);
  return text;
}

std::string release_with_ptx(Version ptx_isa) {
  for (const Toolkit& each : known_toolkits())
    if (each.ptx_isa == ptx_isa) return "CUDA " + to_string(each.version);
  return {};
}

// "capability (12, 0)", "capability 6.1", "capability sm_61" behind the word.
std::optional<ComputeCapability> capability_at(std::string_view text) {
  while (!text.empty() &&
         (text.front() == ' ' || text.front() == '(' || text.front() == ':' || text.front() == '='))
    text.remove_prefix(1);
  if (starts_with(text, "sm_")) {
    const auto arch = parse_arch(digits_at(text, 3));
    return arch ? std::optional(capability_of(*arch)) : std::nullopt;
  }
  const std::string_view major = digits_at(text, 0);
  if (major.empty() || major.size() > 2 || text.size() < major.size() + 2) return std::nullopt;
  std::size_t at = major.size();
  if (text[at] != '.' && text[at] != ',') return std::nullopt;
  ++at;
  while (at < text.size() && text[at] == ' ') ++at;
  const std::string_view minor = digits_at(text, at);
  if (minor.size() != 1) return std::nullopt;
  return parse_capability(std::string(major) + "." + std::string(minor));
}

// "cc=860", "[750 890 1000 1200]": a hundred times the major part, ten times the minor.
std::optional<ComputeCapability> capability_in_hundreds(std::string_view digits) {
  if (digits.size() < 3 || digits.size() > 4 || digits.back() != '0') return std::nullopt;
  const auto arch = parse_arch(digits.substr(0, digits.size() - 1));
  return arch ? std::optional(capability_of(*arch)) : std::nullopt;
}

std::string sm_names(const std::vector<Arch>& archs) {
  std::vector<std::string> names;
  for (const Arch arch : archs) names.push_back(sm_text(arch));
  return join(names, ", ");
}

// What of a list of names runs on the device, by NVIDIA's rules.
std::string fitting_of(const std::vector<Arch>& sass, const std::vector<Arch>& ptx,
                       ComputeCapability device) {
  const std::string who = to_string(device);
  for (const Arch arch : sass)
    if (sass_fits(arch, device) == Fit::yes)
      return "SASS of " + sm_text(arch) + " runs on " + who +
             (sass_fit_is_doubted(arch, device) ? " by NVIDIA's rule, which one report contradicts" : "") +
             ": if the list is what the binary holds, the message compares names and the code runs";
  const std::string none =
      sass.empty() ? "the list has no SASS" : "SASS of none of these runs on " + who + ": " + sm_names(sass);
  if (ptx.empty()) return none;
  for (const Arch arch : ptx)
    if (ptx_fits(arch, device) == Fit::yes)
      return none + "; PTX of compute_" + to_string(arch) + " runs there, where the driver compiles it";
  return none + ", nor PTX of compute_" + to_string(ptx.front());
}

// Each that `text` names with this prefix.
void add_archs(std::string_view text, std::string_view prefix, std::vector<Arch>& archs) {
  for (std::size_t at = text.find(prefix); at != std::string_view::npos && archs.size() < kMostTold;
       at = text.find(prefix, at + 1)) {
    if (at != 0 && (is_told_letter(text[at - 1]) || is_told_digit(text[at - 1]))) continue;
    const std::string_view digits = digits_at(text, at + prefix.size());
    const std::size_t end = at + prefix.size() + digits.size();
    std::string name(digits);
    if (end < text.size() && suffix_of(text[end]) != Suffix::none) name += text[end];
    if (end - digits.size() + name.size() < text.size() &&
        is_told_letter(text[end - digits.size() + name.size()]))
      continue;
    const auto arch = parse_arch(name);
    if (arch && std::find(archs.begin(), archs.end(), *arch) == archs.end()) archs.push_back(*arch);
  }
}

// "requires compute capability 8.9": the end of `before` asks for what follows, in its own clause.
bool asks_for_capability(std::string_view before) {
  constexpr std::size_t kMostOfClause = 64;
  if (before.size() > kMostOfClause) before.remove_prefix(before.size() - kMostOfClause);
  for (const char* end : {". ", "; ", ", ", " but "})
    if (const auto at = before.rfind(end); at != std::string_view::npos)
      before.remove_prefix(at + std::string_view(end).size());
  for (const char* word : {"require", "need", "support", "minimum", "at least"})
    if (before.find(word) != std::string_view::npos) return true;
  return false;
}

// "8.9 or higher", "8.0 (Ampere) or newer", "8.0+", where a capability begins.
bool begins_a_range(std::string_view behind) {
  constexpr std::size_t kMostOfRange = 64;
  behind = behind.substr(0, kMostOfRange);
  const auto skip = [&behind](std::string_view characters) {
    const auto end = behind.find_first_not_of(characters);
    behind.remove_prefix(end == std::string_view::npos ? behind.size() : end);
  };
  skip(" (:=");
  skip("0123456789.,");
  skip(") ");
  if (starts_with(behind, "(")) {
    behind.remove_prefix(std::min(behind.find(')'), behind.size()));
    skip(") ");
  }
  for (const char* word : {"or higher", "or above", "or newer", "or later", "or greater", "or better",
                           "or more", "and higher", "and above", "and newer", "and later", "and up", "+"})
    if (starts_with(behind, word)) return true;
  return false;
}

// The devices that stand behind these words, each once.
std::vector<ComputeCapability> devices_behind(std::string_view text, std::string_view words) {
  std::vector<ComputeCapability> devices;
  for (std::size_t at = text.find(words); at != std::string_view::npos && devices.size() < kMostTold;
       at = text.find(words, at + 1)) {
    const std::string_view behind = text.substr(at + words.size());
    const auto device = capability_at(behind);
    if (!device || begins_a_range(behind) || asks_for_capability(text.substr(0, at))) continue;
    if (std::find(devices.begin(), devices.end(), *device) == devices.end()) devices.push_back(*device);
  }
  return devices;
}

// Behind "supports CUDA capabilities", where PyTorch lists names; "(8.0) - (12.0)" where it tells two.
std::string fitting_of_torch(std::string_view text, ComputeCapability device) {
  constexpr std::string_view kList = "supports CUDA capabilities";
  constexpr std::string_view kRange = "supported by this version of PyTorch is";
  constexpr std::size_t kMostOfRange = 24;
  if (const auto at = text.find(kList); at != std::string_view::npos) {
    const std::string_view rest = text.substr(at + kList.size());
    const std::string_view list = rest.substr(0, rest.find('.'));
    std::vector<Arch> sass, ptx;
    add_archs(list, "sm_", sass);
    add_archs(list, "compute_", ptx);
    return sass.empty() && ptx.empty() ? std::string() : fitting_of(sass, ptx, device);
  }
  const auto at = text.find(kRange);
  if (at == std::string_view::npos) return {};
  for (const Version end : versions_in(text.substr(at + kRange.size(), kMostOfRange)))
    if (const auto known = parse_capability(to_string(end));
        known && sass_fits(arch_of(*known), device) == Fit::yes)
      return fitting_of({arch_of(*known)}, {}, device);
  return {};
}

}  // namespace

std::vector<Arch> archs_in(std::string_view text) {
  std::vector<Arch> archs;
  for (const char* prefix : {"sm_", "compute_", "sm"}) add_archs(text, prefix, archs);
  return archs;
}

std::optional<ComputeCapability> device_in(std::string_view text) {
  for (const char* words : {"your GPU has capability", "of cuda capability", "with CUDA capability",
                            "device capability", "capability"}) {
    const auto devices = devices_behind(text, words);
    if (devices.empty()) continue;
    return devices.size() == 1 ? std::optional(devices.front()) : std::nullopt;
  }
  if (const auto at = text.find(" cc="); at != std::string_view::npos)
    return capability_in_hundreds(digits_at(text, at + 4));
  return std::nullopt;
}

std::vector<Version> versions_in(std::string_view text) {
  std::vector<Version> versions;
  for (std::size_t at = 0; at < text.size() && versions.size() < kMostTold;) {
    const std::string_view major = digits_at(text, at);
    if (major.empty()) {
      ++at;
      continue;
    }
    at += major.size();
    if (at >= text.size() || text[at] != '.') continue;
    const std::string_view minor = digits_at(text, at + 1);
    if (minor.empty() || major.size() > 2 || minor.size() > 2) continue;
    at += 1 + minor.size();
    versions.push_back(
        {static_cast<int>(*parse_number(major, 99)), static_cast<int>(*parse_number(minor, 99))});
  }
  return versions;
}

std::vector<std::string> tell_compilers(std::string_view slice, std::string_view around) {
  std::vector<std::string> told;
  std::vector<Arch> archs = archs_in(slice);
  if (archs.empty()) archs = archs_in(around);
  for (const Arch arch : archs) {
    if (told.size() == 2) break;
    told.push_back(compilers_of(arch));
  }
  return told;
}

std::vector<std::string> tell_ptx_versions(std::string_view slice, std::string_view) {
  const std::vector<Version> versions = versions_in(slice);
  std::vector<std::string> told;
  if (versions.empty()) return told;
  const std::string maker = release_with_ptx(versions.front());
  const auto lowest = lowest_driver_cuda_for_ptx(versions.front());
  if (!maker.empty()) told.push_back(maker + " writes PTX " + to_string(versions.front()));
  if (lowest) told.push_back("drivers compile it from " + driver_text(*lowest) + " on");
  if (versions.size() > 1) {
    const std::string reader = release_with_ptx(versions[1]);
    if (!reader.empty())
      told.push_back("what refused it takes PTX up to " + to_string(versions[1]) + ": it is of " + reader);
  }
  return told;
}

std::vector<std::string> tell_device(std::string_view slice, std::string_view around) {
  auto device = device_in(slice);
  if (!device) device = device_in(around);
  if (!device) return {};
  const std::string who = to_string(*device);
  if (is_beyond_table(*device)) return {"no known CUDA release makes code for " + who};
  std::vector<std::string> told;
  if (const auto range = toolkits_with_sass_for(*device))
    told.push_back("CUDA " + to_string(range->first) + " to " + to_string(range->last) +
                   " can generate code (SASS) for " + who);
  if (const auto branch = last_driver_branch_for(*device))
    told.push_back("driver branch " + std::to_string(*branch) + " is the last that supports " + who);
  return told;
}

std::vector<std::string> tell_arch_list(std::string_view slice, std::string_view around) {
  std::vector<std::string> told;
  const auto device = device_in(slice);
  if (!device) return tell_device(slice, around);
  std::vector<Arch> archs;
  if (const auto bracket = slice.find("archs=["); bracket != std::string_view::npos) {
    const std::string_view rest = slice.substr(bracket + 7);
    for (const std::string_view each : split(rest.substr(0, rest.find(']')), ' '))
      if (const auto capability = capability_in_hundreds(trim(each))) archs.push_back(arch_of(*capability));
  }
  const std::string fitting =
      archs.empty() ? fitting_of_torch(around, *device) : fitting_of(archs, {}, *device);
  if (!fitting.empty()) told.push_back(fitting);
  for (std::string& each : tell_device(slice, around)) told.push_back(std::move(each));
  return told;
}

std::vector<std::string> tell_arch_specific(std::string_view slice, std::string_view) {
  std::vector<std::string> told;
  for (const Arch arch : archs_in(slice)) {
    if (arch.suffix == Suffix::none) continue;
    std::vector<std::string> devices;
    for (const ComputeCapability device : known_devices())
      if (ptx_fits(arch, device) == Fit::yes) devices.push_back(to_string(device));
    told.push_back("PTX and SASS of " + sm_text(arch) + " are for " + join(devices, ", ") +
                   " alone: for newer GPUs " + "plain PTX, without the suffix, is needed");
  }
  return told;
}

std::vector<std::string> tell_two_cudas(std::string_view slice, std::string_view) {
  const std::vector<Version> versions = versions_in(slice);
  if (versions.size() < 2) return {};
  return {"nvcc is of CUDA " + to_string(versions[0]) + ", torch was built with CUDA " +
          to_string(versions[1])};
}

std::vector<std::string> tell_torch_names(std::string_view slice, std::string_view) {
  const auto open = slice.find('(');
  const auto close = slice.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  std::string name(slice.substr(open + 1, close - open - 1));
  std::string digits;
  for (const char c : name)
    if (c != '.') digits += c;
  if (starts_with(digits, "sm_")) digits.erase(0, 3);
  const auto arch = parse_arch(digits);
  if (!arch) return {"'" + name + "' is not how torch names an architecture: 8.6, 9.0a, 12.0+PTX"};
  if (const auto known = torch_name(*arch, false))
    return {"torch 2.9.1 takes " + *known + "; an older release may not: they take fewer"};
  if (const auto nearest = nearest_in_torch(*arch)) {
    const auto known = torch_name(*nearest, false);
    if (known)
      return {"torch takes " + *known + ", whose code runs wherever that of " + to_string(*arch) + " does"};
  }
  return {"torch 2.9.1 takes no name for " + sm_text(*arch)};
}

std::vector<std::string> tell_library(std::string_view slice, std::string_view) {
  const std::string_view before = starts_with(slice, "lib") ? ".so." : "64_";
  const auto at = slice.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view major = digits_at(slice, at + before.size());
  if (major.empty()) return {};
  bool with_cuda = false;
  for (const char* library : {"libcudart", "libnvrtc", "libcublas", "libnvJitLink", "cublas"})
    with_cuda = with_cuda || starts_with(slice, library);
  if (!with_cuda) return {};
  return {"what needs it was built with CUDA " + std::string(major) +
          ", and this CUDA's library is not where the loader looks"};
}

std::vector<std::string> tell_driver(std::string_view slice, std::string_view around) {
  constexpr std::string_view kWords = "found version ";
  const auto at = around.find(kWords);
  if (at == std::string_view::npos) return tell_device(slice, around);
  const auto number = parse_number(digits_at(around, at + kWords.size()), 99999);
  if (!number || *number < 1000) return {};
  const int told = static_cast<int>(*number);
  return {"the driver offers " + driver_text({told / 1000, told % 1000 / 10})};
}

std::vector<std::string> tell_condition(std::string_view, std::string_view around) {
  constexpr std::string_view kWords = "unsatisfied condition: cuda>=";
  constexpr std::size_t kMostOfVersion = 6;
  const auto at = around.find(kWords);
  if (at == std::string_view::npos) return {};
  const std::vector<Version> versions = versions_in(around.substr(at + kWords.size(), kMostOfVersion));
  if (versions.empty()) return {};
  return {"the image asks for " + driver_text(versions.front()) + " or newer"};
}

}  // namespace archguard
