#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"

namespace archguard::doctor {
namespace {

// "nvidia-nccl" and 12 of nvidia-nccl-cu12.
struct WheelName {
  std::string stem;
  int cuda;
};

std::optional<WheelName> wheel_name(const std::string& package) {
  const auto at = package.rfind("-cu");
  if (at == std::string::npos) return std::nullopt;
  const auto cuda = parse_number(package.substr(at + 3), 99);
  if (!cuda) return std::nullopt;
  return WheelName{package.substr(0, at), static_cast<int>(*cuda)};
}

// Wheels of one library for two CUDAs that put their files in the same places: the last one that pip
// installed has it, and uninstalling one takes it from the other. The first is for torch's CUDA where that is
// told.
struct TwoWheels {
  Package right, other;
  std::string path;
};

std::optional<TwoWheels> two_wheels(const Facts& facts, const Rivals& rivals) {
  const auto first = wheel_name(rivals.first.name), second = wheel_name(rivals.second.name);
  if (!first || !second || first->stem != second->stem || first->cuda == second->cuda) return std::nullopt;
  const int wanted =
      facts.torch && facts.torch->cuda ? facts.torch->cuda->major : std::max(first->cuda, second->cuda);
  if (second->cuda == wanted) return TwoWheels{rivals.second, rivals.first, rivals.path};
  return TwoWheels{rivals.first, rivals.second, rivals.path};
}

std::string reinstall_line(const TwoWheels& wheels) {
  return "pip uninstall " + wheels.other.name + " " + wheels.right.name +
         ", then pip install --force-reinstall " + wheels.right.name + "==" + wheels.right.version;
}

bool is_one_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

std::optional<TwoWheels> wheels_of(const Facts& facts, const std::string& path) {
  for (const Rivals& each : facts.rivals)
    if (auto wheels = two_wheels(facts, each); wheels && is_one_file(wheels->path, path)) return wheels;
  return std::nullopt;
}

void check_gaps(const Facts& facts, Findings& findings) {
  for (const SymbolGap& gap : facts.library_gaps) {
    const std::string library = "lib" + gap.family;
    Finding finding{FindingId::library_mix, gap.sure ? Rank::certain : Rank::likely, gap.owner};
    finding.cause = who(gap.owner, gap.path) + " gets a " + library +
                    " that lacks what it needs: undefined symbol " + gap.names.front();
    finding.evidence.push_back("the loader finds " + gap.library + " by " + gap.library_said);
    for (const LibraryCopy& copy : facts.libraries)
      if (copy.family == gap.family) finding.evidence.push_back(describe_copy(copy));
    if (const auto wheels = wheels_of(facts, gap.library)) {
      finding.package = wheels->other;
      finding.evidence.push_back(to_string(wheels->other) + " and " + to_string(wheels->right) +
                                 " both install it");
      finding.fix = reinstall_line(*wheels);
    } else if (gap.library_said == "LD_LIBRARY_PATH") {
      finding.fix = "take " + folder_of(gap.library) + " out of LD_LIBRARY_PATH";
    } else {
      finding.fix =
          "install " + library + " of the release that " + who(gap.owner, gap.path) + " is made for";
      if (gap.family == "nvJitLink")
        finding.fix = "install nvidia-nvjitlink of the release of CUDA that " + who(gap.owner, gap.path) +
                      " is made for";
    }
    findings.push_back(std::move(finding));
  }
}

// One finding for each pair of wheels. Their libraries are for two CUDAs, and have the same name where its
// own version is the same: libnccl.so.2.
void check_two_wheels(const Facts& facts, Findings& findings) {
  std::map<std::string, Finding> by_wheel;
  for (const Rivals& each : facts.rivals) {
    const auto wheels = two_wheels(facts, each);
    const auto library = library_name(file_name_of(each.path));
    if (!wheels || !library) continue;
    const bool told = std::any_of(facts.library_gaps.begin(), facts.library_gaps.end(),
                                  [&](const SymbolGap& gap) { return is_one_file(gap.library, each.path); });
    if (told) continue;
    Finding& finding =
        by_wheel.try_emplace(wheels->other.name, Finding{FindingId::library_mix, Rank::risk, wheels->other})
            .first->second;
    finding.cause = to_string(wheels->other) + " and " + to_string(wheels->right) + " both install " +
                    file_name_of(each.path) + ": one has replaced the other's";
    finding.evidence.push_back(each.path);
    finding.fix = reinstall_line(*wheels);
    finding.subjects.push_back(file_name_of(each.path));
    for (std::string& name : undefined_symbols(facts.error_text))
      if (starts_with(name, library->family)) finding.subjects.push_back(std::move(name));
  }
  for (auto& [name, finding] : by_wheel) findings.push_back(std::move(finding));
}

}  // namespace

void check_symbols(const Facts& facts, Findings& findings) {
  check_gaps(facts, findings);
  check_two_wheels(facts, findings);
}

}  // namespace archguard::doctor
