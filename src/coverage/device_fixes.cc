#include "coverage/device_fixes.h"

#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "coverage/demanded_names.h"
#include "coverage/device_driver.h"
#include "coverage/device_link.h"
#include "coverage/failures_by_cause.h"

namespace archguard {
namespace {

// Equal for fat binaries that have the same fix.
std::string fix_key(const FatbinCode& code, const std::vector<std::string>& excused) {
  std::string same = describe_images(code);
  for (std::size_t i = 0; i < code.images.size(); ++i) {
    const Image& image = code.images[i];
    const auto toolkit = toolkit_of(image);
    same += "|" + (toolkit ? to_string(*toolkit) : std::string());
    same += "|" + std::to_string(image.code ? image.code->cubin_abi : 0);
    if (image.code && image.code->parameters > kParametersMost) same += "p";
    if (image.code && image.code->newest_call) same += "c" + image.code->newest_call->name;
    if (image.entry.compression == Compression::zstd) same += "z";
    if (image.code && image.code->relocatable) same += "r";
    if (!holds_all(code, i, excused)) same += "-";
  }
  for (const Fatbin& part : code.lto_parts) {
    same += "|of";
    for (const FatbinEntry& entry : part.entries) same += " " + image_name(entry);
  }
  return same;
}

// Else the fix is that of the runtime, the library, or of what an image lacks.
bool is_said_by_mend(const Failure& failure) {
  return failure.code != kInsufficientDriver && failure.code != kNoDevice &&
         failure.cause != FailureCause::partly && failure.mend.lacking.empty();
}

}  // namespace

Fix DeviceFixes::find(const FatbinCode& code, const Judgement& judgement) {
  const bool lacks_code = judgement.verdict == Verdict::uncovered && !judgement.image;
  if (lacks_code && DeviceLinks::is_runtime(code)) return fix_of_runtime(*device_.capability);
  auto without = excused(code, judgement);
  const auto [known, is_new] = found_.try_emplace(fix_key(code, without) + "|" + judgement.reason);
  if (is_new)
    known->second = find_fix(
        {code, device_, policy_.judge, policy_.scope == Scope::library, {}, std::move(without)}, judgement);
  return known->second;
}

std::vector<std::string> DeviceFixes::excused(const FatbinCode& code, const Judgement& judgement) const {
  return excused_names(code, judgement, [&](const std::string& name) {
    return waivers_.is_waived(name, *device_.capability);
  });
}

FatbinCode DeviceFixes::demands_of(const FatbinCode& code, const Judgement& judgement) const {
  return without_names(code, excused(code, judgement));
}

void DeviceFixes::note_hollow(const std::string& image) {
  if (std::find(hollow_in_.begin(), hollow_in_.end(), image) == hollow_in_.end()) hollow_in_.push_back(image);
}

void DeviceFixes::note_kind(const FatbinCode& code, const Judgement& judgement) {
  const auto driver = newest_driver(device_);
  const auto is_ahead = [&](const Image& image) {
    const auto toolkit = toolkit_of(image);
    return toolkit && *driver < lowest_driver_cuda_for_toolkit(*toolkit);
  };
  const bool any_ahead = driver && std::any_of(code.images.begin(), code.images.end(), is_ahead);
  if (!any_ahead || kinds_.size() >= kCausesMost) return;
  const bool runs = judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit ||
                    judgement.code == kUnsupportedPtxVersion || judgement.code == kInvalidKernelImage;
  const auto without = excused(code, judgement);
  const auto [kind, is_new] = kinds_.try_emplace(fix_key(code, without));
  if (is_new) kind->second = {without_names(code, without), false};
  kind->second.runs |= runs;
}

std::vector<KindOfFatbin> DeviceFixes::take_kinds() {
  std::vector<KindOfFatbin> kinds;
  for (auto& [name, kind] : kinds_) kinds.push_back(std::move(kind));
  kinds_.clear();
  return kinds;
}

std::string DeviceFixes::say(const Failure& failure, const DeviceResult& result,
                             const std::vector<ExpectedImage>& held) const {
  const ComputeCapability capability = *device_.capability;
  const std::string& image = failure.mend.lacking;
  if (failure.code == kInsufficientDriver) return result.runtime_fix;
  if (failure.cause == FailureCause::partly) return fix_for_partly(device_, policy_.judge, failure.code == 0);
  if (image.empty()) return text_of(failure.mend, device_, held, policy_.target);
  const auto& names = names_failing(result, failure);
  if (failure.cause == FailureCause::hollow) return fix_for_hollow(image, failure.kernel, names, capability);
  return failure.kernel.empty() ? fix_for_missing("variables", image, failure.variable, names, capability)
                                : fix_for_missing("kernels", image, failure.kernel, names, capability);
}

void DeviceFixes::say(DeviceResult& result, const std::vector<ExpectedImage>& held) const {
  const auto& hollow = result.kernels.hollow;
  if (!hollow.empty())
    result.hollow_fix = fix_for_hollow(join(hollow_in_, ", "), hollow.front(), hollow, *device_.capability);
  bool of_unknown = false;
  for (Failure& failure : result.failures) {
    if (failure.code != kNoDevice) failure.fix = say(failure, result, held);  // that one came with its fix
    if (is_said_by_mend(failure)) failure.add = entries_to_add(failure.mend, held, policy_.target);
    const bool graver = result.fix.empty() || (of_unknown && !failure.unknown);
    if (!graver || failure.fix.empty()) continue;
    result.fix = failure.fix;
    of_unknown = failure.unknown;
  }
}

}  // namespace archguard
