#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"
#include "releases/releases.h"

namespace archguard::doctor {
namespace {

// "Unsupported .version 8.7; current version is '8.4'": of a module, and of what was to compile it.
struct PtxGap {
  Version written, taken;
  bool of_driver = false;  // its assembler calls what it was given "application ptx input", ptxas a file
};

std::optional<PtxGap> ptx_gap_in(const std::string& text) {
  constexpr std::string_view kWritten = "Unsupported .version ", kTaken = "current version is '";
  const auto written = text.find(kWritten), taken = text.find(kTaken, written);
  if (written == std::string::npos || taken == std::string::npos) return std::nullopt;
  const auto of = leading_version(std::string_view(text).substr(written + kWritten.size()));
  const auto in = leading_version(std::string_view(text).substr(taken + kTaken.size()));
  if (!of || !in || !(*in < *of)) return std::nullopt;
  return PtxGap{*of, *in, text.find("ptxas application ptx input") != std::string::npos};
}

const Toolkit* first_with_ptx(Version isa) {
  const Toolkit* first = nullptr;
  for (const Toolkit& each : known_toolkits())
    if (first == nullptr && !(each.ptx_isa < isa)) first = &each;
  return first;
}

std::optional<Version> ptx_of(const JitTool& tool) {
  const Toolkit* release = tool.version ? find_toolkit(*tool.version) : nullptr;
  return release != nullptr ? std::optional(release->ptx_isa) : std::nullopt;
}

std::string tool_text(const JitTool& tool) {
  return tool.kind + " " + to_string(*tool.version) + " (" + tool.path +
         (tool.found_by.empty() ? "" : ", by " + tool.found_by) + ")";
}

bool is_told_already(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
    return is_cause(each) && (each.id == FindingId::jit_compiler || each.code == kUnsupportedPtxVersion);
  });
}

void add_writers(const Facts& facts, const PtxGap& gap, Finding& finding) {
  for (const JitTool& tool : facts.tools)
    if (tool.kind != "ptxas" && ptx_of(tool) == gap.written)
      finding.evidence.push_back(tool_text(tool) + " makes PTX " + to_string(gap.written));
}

// The driver itself was given it.
bool tell_driver(const Facts& facts, const PtxGap& gap, const Toolkit& writer, Findings& findings) {
  for (const DeviceClass& each : facts.classes) {
    const Device& device = each.device;
    if (!device.driver_cuda || newest_ptx_for_driver(*device.driver_cuda) != gap.taken) continue;
    Finding finding{FindingId::jit_compiler, Rank::likely, {}, kUnsupportedPtxVersion};
    finding.cause = "what was compiled at run time is PTX " + to_string(gap.written) + ", of " +
                    cuda_text(writer.version) + " or newer, and the driver of " +
                    archguard::describe(device) + " takes " + to_string(gap.taken) + " at most";
    finding.evidence.push_back("the error that was given says so; the driver offers " +
                               driver_text(*device.driver_cuda));
    add_writers(facts, gap, finding);
    finding.fix = "update the driver to one of " + driver_text(writer.version) +
                  " or newer, or compile with NVRTC, NVVM or nvcc of " + cuda_text(*device.driver_cuda) +
                  " or older";
    for (const char* const name : {"CUDA_HOME", "CUDA_PATH"})
      if (!variable(facts, name).empty())
        finding.fix += std::string(": export ") + name + "=FOLDER of it, now " + variable(facts, name);
    findings.push_back(std::move(finding));
    return true;
  }
  return false;
}

// A ptxas that stands somewhere was given it.
void tell_ptxas(const Facts& facts, const PtxGap& gap, const Toolkit& writer, Findings& findings) {
  const JitTool *taker = nullptr, *better = nullptr;
  for (const JitTool& tool : facts.tools) {
    const auto isa = ptx_of(tool);
    if (tool.kind != "ptxas" || !isa) continue;
    if (*isa == gap.taken && (taker == nullptr || !tool.found_by.empty())) taker = &tool;
    if (!(*isa < gap.written)) better = &tool;
  }
  if (taker == nullptr) return;
  Finding finding{FindingId::jit_compiler, Rank::likely, taker->owner};
  finding.cause = tool_text(*taker) + " takes PTX " + to_string(gap.taken) + " at most, and was given " +
                  to_string(gap.written) + ", of " + cuda_text(writer.version) + " or newer";
  finding.evidence = {"the error that was given says so"};
  add_writers(facts, gap, finding);
  finding.fix = taker->found_by.empty() ? "update " + who(taker->owner, taker->path)
                : better != nullptr
                    ? "export PATH=" + folder_of(better->path) + ":$PATH"
                    : "put the bin folder of " + cuda_text(writer.version) + " or newer first in PATH";
  findings.push_back(std::move(finding));
}

// The runtime that it needs is one that the driver supports.
bool has_known_runtime(const Facts& facts, const Package& package) {
  return std::any_of(facts.code.begin(), facts.code.end(),
                     [&](const CodeFile& file) { return file.owner == package && file.held_runtime; }) ||
         std::any_of(facts.linked.begin(), facts.linked.end(), [&](const LinkedFile& file) {
           return file.owner == package &&
                  std::any_of(file.needed.begin(), file.needed.end(), [](const std::string& name) {
                    const auto library = library_name(name);
                    return library && library->family == "cudart";
                  });
         });
}

// Whose runtime may be the one: of the packages with device code the one that the error names, else the only
// one. A runtime of CUDA 11 or older that is linked in does not tell its release.
std::optional<Package> user_of_runtime(const Facts& facts) {
  std::vector<Package> users;
  for (const CodeFile& file : facts.code) {
    if (!file.owner || starts_with(normal_name(file.owner->name), "nvidia-") ||
        has_known_runtime(facts, *file.owner) ||
        std::find(users.begin(), users.end(), *file.owner) != users.end())
      continue;
    users.push_back(*file.owner);
  }
  const auto place = [&](const Package& each) { return place_in_text(facts, each); };
  const auto last = std::max_element(users.begin(), users.end(),
                                     [&](const Package& a, const Package& b) { return place(a) < place(b); });
  if (last != users.end() && place(*last) != 0) return *last;
  return users.size() == 1 ? std::optional(users.front()) : std::nullopt;
}

void check_given_runtime(const Facts& facts, Findings& findings) {
  const bool told = std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
    return is_cause(each) && (each.code == kInsufficientDriver || each.id == FindingId::driver ||
                              each.id == FindingId::libcuda);
  });
  const auto has_driver = [](const DeviceClass& each) {
    return each.device.driver_cuda && !each.device.cuda_at_least;
  };
  const auto of = std::find_if(facts.classes.begin(), facts.classes.end(), has_driver);
  if (told || of == facts.classes.end() || !is_given(facts, kInsufficientDriver)) return;
  const auto user = user_of_runtime(facts);
  if (!user) return;
  const Version driver = *of->device.driver_cuda;
  // No CUDA is newer, or torch's own is not: then another driver answered, or another runtime.
  const bool is_torch = facts.torch && facts.torch->cuda && facts.torch->package == *user;
  constexpr Version kLastUntold{11, 8};  // of a runtime of CUDA 12 or newer the release is known
  const Version newest = is_torch ? *facts.torch->cuda : kLastUntold;
  if (lowest_driver_cuda_for_toolkit(newest) <= driver) return;
  const std::string supported =
      driver.major < 11 ? cuda_text(driver) : "CUDA " + std::to_string(driver.major);
  Finding finding{FindingId::library_mix, Rank::likely, *user, kInsufficientDriver};
  finding.cause = to_string(*user) + " was built with a CUDA that is newer than the driver of " +
                  archguard::describe(of->device) + " supports: error " + std::to_string(kInsufficientDriver);
  finding.evidence = {"the error that was given says so; the driver offers " + driver_text(driver)};
  finding.fix = "update the driver, or install a release of " + user->name + " that is built with " +
                supported + " or older";
  findings.push_back(std::move(finding));
}

}  // namespace

void check_given_error(const Facts& facts, Findings& findings) {
  check_given_runtime(facts, findings);
  const auto gap = ptx_gap_in(facts.error_text);
  if (!gap || is_told_already(findings)) return;
  const Toolkit* writer = first_with_ptx(gap->written);
  if (writer == nullptr) return;
  if (gap->of_driver && tell_driver(facts, *gap, *writer, findings)) return;
  tell_ptxas(facts, *gap, *writer, findings);
}

}  // namespace archguard::doctor
