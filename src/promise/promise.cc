#include "promise/promise.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "host/zip.h"
#include "promise/package.h"

namespace archguard::promise {
namespace {

struct PromisedMachine {
  ComputeCapability device;
  std::optional<Version> driver;  // nothing: one that is newer than all that are known
};

bool compares(Version left, const std::string& comparator, Version right) {
  if (comparator == ">=") return left >= right;
  if (comparator == ">") return left > right;
  if (comparator == "<=") return left <= right;
  if (comparator == "<") return left < right;
  if (comparator == "!=") return left != right;
  return left == right;
}

bool branch_compares(int branch, const Condition& condition) {
  const int asked = condition.value.major;
  if (condition.comparator == ">=" || condition.comparator == ">") return branch >= asked;
  if (condition.comparator == "<") return branch < asked || (branch == asked && condition.value.minor > 0);
  if (condition.comparator == "<=") return branch <= asked;
  return condition.comparator == "!=" || branch == asked;
}

bool holds(const Condition& condition, const PromisedMachine& machine) {
  if (condition.of == Condition::Of::arch)
    return compares({machine.device.major, machine.device.minor}, condition.comparator, condition.value);
  if (!machine.driver) return true;
  if (condition.of == Condition::Of::cuda)
    return compares(*machine.driver, condition.comparator, condition.value);
  const auto branch = driver_branch_of(*machine.driver);
  return !branch || branch_compares(*branch, condition);
}

bool admits(const Promise& promise, const PromisedMachine& machine) {
  return std::all_of(promise.admits.begin(), promise.admits.end(), [&](const Alternatives& each) {
    return std::any_of(each.begin(), each.end(), [&](const Term& term) {
      return std::all_of(term.begin(), term.end(),
                         [&](const Condition& condition) { return holds(condition, machine); });
    });
  });
}

bool tells(const Promise& promise, bool of_arch) {
  for (const Alternatives& each : promise.admits)
    for (const Term& term : each)
      for (const Condition& condition : term)
        if ((condition.of == Condition::Of::arch) == of_arch) return true;
  return false;
}

Device promised_device(const PromisedMachine& machine, bool with_driver) {
  Device device;
  device.capability = machine.device;
  device.origin = "--promise";
  if (with_driver && machine.driver) {
    device.driver_cuda = machine.driver;
    device.origin += ", driver of CUDA " + to_string(*machine.driver);
  }
  return device;
}

// A promise itself: each line is one.
Status read_statements(std::string_view text, Promise& promise) {
  constexpr const char* kWhere = "--promise";
  bool any = false;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    ARCHGUARD_TRY(found, read_line(line, kWhere, promise));
    if (!found) return not_understood(kWhere, "'" + printable(trim(line)) + "' is no known bound on GPUs");
    any = true;
  }
  return any ? Status(Done{}) : not_understood(kWhere, "declares no known bound on GPUs");
}

Status read_file(const std::string& path, const std::string& text, Promise& promise) {
  const std::string_view start = trim(text);
  if (starts_with(start, "{") || starts_with(start, "[{")) return read_json(text, path, promise);
  ARCHGUARD_TRY(any, read_lines(text, path, promise));
  return any ? Status(Done{}) : not_understood(path, "declares no known bound on GPUs");
}

}  // namespace

Error not_understood(const std::string& where, std::string_view what) {
  return {
      where, std::string(what),
      "write '__cuda_arch >=7.5', 'NVIDIA_REQUIRE_ARCH=arch>=7.5' or 'cuda_compute_capabilities=8.0,9.0', or "
      "name a file that has it: a recipe, index.json, variant.json, a wheel, the JSON of docker inspect, an "
      "easyconfig"};
}

Status read_promise(const std::string& text, Promise& promise) {
  promise.told.clear();
  if (text != "-") {
    const auto source = FileSource::open(text);
    if (!source) return read_statements(text, promise);
    if (is_zip(*source)) {
      ARCHGUARD_TRY(metadata, metadata_of_package(*source, text));
      return read_json(metadata.text, text + "(" + metadata.name + ")", promise);
    }
  }
  ARCHGUARD_TRY(read, read_text_file(text));
  return read_file(text_file_name(text), read, promise);
}

bool tells_devices(const Promise& promise) {
  return tells(promise, true);
}

DeviceList promised_devices(const Promise& promise, bool tegra) {
  DeviceList devices;
  if (promise.admits.empty()) return devices;
  const bool with_driver = tells(promise, false);
  for (const ComputeCapability each : known_devices()) {
    if (!tegra && may_be_tegra(each)) continue;
    for (const Version driver : known_driver_cudas()) {
      const PromisedMachine machine{each, driver};
      if (driver_knows(each, driver) != Fit::yes || !admits(promise, machine)) continue;
      devices.push_back(promised_device(machine, with_driver));
      break;
    }
  }
  const PromisedMachine newer{{known_devices().back().major + 1, 0}, std::nullopt};
  if (admits(promise, newer)) {
    Device device = promised_device(newer, false);
    device.name = "a future GPU";
    devices.push_back(device);
  }
  return devices;
}

}  // namespace archguard::promise
