#include "requirements/needs.h"

#include <algorithm>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"

namespace archguard::requirements {
namespace {

Device table_device(ComputeCapability capability, std::optional<Version> driver) {
  Device device;
  device.capability = capability;
  device.driver_cuda = driver;
  device.origin = "requirements";
  return device;
}

// Those that there are: a driver that is too old or too new for the device is in no machine with it.
std::vector<Version> drivers_for(ComputeCapability device) {
  std::vector<Version> drivers;
  for (const Version each : known_driver_cudas())
    if (driver_knows(device, each) == Fit::yes) drivers.push_back(each);
  return drivers;
}

ComputeCapability newer_than_known() {
  return {known_devices().back().major + 1, 0};
}

struct TableAnswer {
  Coverage coverage = Coverage::covered;
  std::string why;
};

std::string why_of(const DeviceResult& result) {
  if (result.failures.empty()) return {};
  const Failure& first = result.failures.front();
  return (first.code != 0 ? "error " + std::to_string(first.code) + ": " : std::string()) + first.reason;
}

// Of all files together.
TableAnswer table_answer(const Verification& verification, std::size_t number) {
  TableAnswer answer;
  for (const FileResult& file : verification.files) {
    if (file.devices.empty()) continue;
    const DeviceResult& result = file.devices[number];
    if (result.coverage == Coverage::covered || answer.coverage == Coverage::not_covered) continue;
    answer.coverage = result.coverage;
    answer.why = why_of(result);
  }
  return answer;
}

std::vector<TableAnswer> table_answers(const Verification& verification) {
  std::vector<TableAnswer> answers(verification.devices.size(), TableAnswer{Coverage::unknown, {}});
  for (std::size_t i = 0; i < verification.classes.size(); ++i) {
    const TableAnswer answer = table_answer(verification, i);
    for (const std::size_t member : verification.classes[i].members) answers[member] = answer;
  }
  return answers;
}

// `answers`: with each of `drivers`.
Served served_by(ComputeCapability device, const std::vector<Version>& drivers, const TableAnswer* answers) {
  Served served;
  served.capability = device;
  std::size_t from = drivers.size();
  while (from > 0 && answers[from - 1].coverage == Coverage::covered) --from;
  if (from == drivers.size()) {
    if (!drivers.empty()) served.coverage = answers[from - 1].coverage;
    if (!drivers.empty()) served.why = answers[from - 1].why;
    return served;
  }
  served.coverage = Coverage::covered;
  served.driver = drivers[from];
  served.driver_matters = from > 0;
  return served;
}

}  // namespace

DeviceList machines_to_ask(const DeviceList& further) {
  DeviceList devices;
  for (const ComputeCapability each : known_devices())
    for (const Version driver : drivers_for(each)) devices.push_back(table_device(each, driver));
  devices.push_back(table_device(newer_than_known(), std::nullopt));
  for (std::size_t i = 0; i < further.size(); ++i) devices.push_back(further[i]);
  return devices;
}

Needs needs_of(const Verification& verification, bool on_x86) {
  Needs needs;
  needs.on_x86 = on_x86;
  const std::vector<TableAnswer> answers = table_answers(verification);
  std::size_t next = 0;
  for (const ComputeCapability each : known_devices()) {
    const std::vector<Version> drivers = drivers_for(each);
    needs.devices.push_back(served_by(each, drivers, answers.data() + next));
    next += drivers.size();
  }
  needs.newer.capability = newer_than_known();
  needs.newer.coverage = answers[next].coverage;
  for (++next; next < answers.size(); ++next) needs.further.push_back(answers[next].coverage);
  return needs;
}

bool is_met(const Needs& needs, ComputeCapability device) {
  return !needs.on_x86 || !may_be_tegra(device);
}

bool is_served(const Served& device) {
  return device.coverage == Coverage::covered;
}

}  // namespace archguard::requirements
