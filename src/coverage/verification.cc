#include "coverage/verification.h"

#include <algorithm>

namespace archguard {
namespace {

bool any_device(const FileResult& file, Coverage coverage) {
  return std::any_of(file.devices.begin(), file.devices.end(),
                     [&](const DeviceResult& result) { return result.coverage == coverage; });
}

}  // namespace

bool is_without_code(const Verification& verification, const FileResult& file) {
  const bool held = file.expect.fatbins + file.expect.specific != 0;
  return file.errors.empty() && !file.has_code && !(verification.expects && held);
}

bool is_unjudged(const Device& device) {
  return is_wanted(device) && !device.capability;
}

Outcome outcome_of(const Verification& verification, const FileResult& file) {
  if (!file.errors.empty()) return Outcome::unknown;
  if (is_without_code(verification, file) && !any_device(file, Coverage::not_covered))
    return Outcome::no_device_code;
  const bool unjudged = verification.devices.any_kind(is_unjudged);
  if (unjudged || any_device(file, Coverage::unknown)) return Outcome::unknown;
  const bool lacking = any_device(file, Coverage::not_covered) || !file.expect.failures.empty();
  return lacking ? Outcome::not_covered : Outcome::covered;
}

Outcome outcome_of(const Verification& verification, const AnyOf& group) {
  const auto any = [&](Coverage coverage) {
    return std::any_of(group.devices.begin(), group.devices.end(),
                       [&](const AnyOfDevice& each) { return each.coverage == coverage; });
  };
  const bool unjudged = verification.devices.any_kind(is_unjudged);
  if (group.files.empty() || group.unread || unjudged || any(Coverage::unknown)) return Outcome::unknown;
  return any(Coverage::not_covered) || !group.absent.empty() ? Outcome::not_covered : Outcome::covered;
}

bool expects_in_vain(const Verification& verification) {
  std::uint64_t held = 0, specific = 0;
  for (const FileResult& file : verification.files) {
    held += file.expect.fatbins;
    specific += file.expect.specific;
  }
  return held == 0 && (specific != 0 || expects_of_data_alone(verification));
}

bool expects_of_data_alone(const Verification& verification) {
  if (!verification.expects) return false;
  bool any_code = false;
  for (const FileResult& file : verification.files) {
    if (file.expect.fatbins + file.expect.specific != 0) return false;
    // A library that another file needs is asked for nothing.
    any_code |= file.has_code && file.needed_by.empty();
  }
  return any_code;
}

Outcome outcome_of(const Verification& verification) {
  bool not_covered = expects_in_vain(verification), covered = false;
  std::vector<Outcome> outcomes;
  for (const FileResult& file : verification.files)
    if (!file.alternative) outcomes.push_back(outcome_of(verification, file));
  for (const AnyOf& group : verification.any_of) outcomes.push_back(outcome_of(verification, group));
  for (const Outcome outcome : outcomes) {
    if (outcome == Outcome::unknown) return Outcome::unknown;
    not_covered |= outcome == Outcome::not_covered;
    covered |= outcome == Outcome::covered;
  }
  if (verification.needed && !verification.needed->errors.empty()) return Outcome::unknown;
  if (not_covered) return Outcome::not_covered;
  if (!covered && may_hide_code(verification.passed_over)) return Outcome::unknown;
  return covered ? Outcome::covered : Outcome::no_device_code;
}

}  // namespace archguard
