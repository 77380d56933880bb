#include "verify_question.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "base/text_file.h"
#include "compat/toolkit.h"
#include "device/exclusion.h"
#include "device/fleet.h"
#include "device/not_a_fleet.h"
#include "device/probe.h"
#include "device_option.h"
#include "environment.h"
#include "excluded.h"
#include "files.h"
#include "promise/promise.h"
#include "requirements.h"
#include "select/select.h"

namespace archguard {
namespace {

Result<std::vector<Device>> devices_of_this_machine() {
  ProbeResult probe = probe_this_machine(kProbeTimeout);
  if (probe.status == ProbeStatus::ok) return std::move(probe.devices);
  Error error{"--this-machine", "no device to judge", "name the devices: --fleet FILE or --device CC"};
  for (const Diagnostic& diagnostic : probe.diagnostics) error.what += "; " + diagnostic.cause;
  return error;
}

Result<promise::Promise> collect_promises(const VerifyOptions& options) {
  promise::Promise promised;
  for (const std::string& text : options.promises) ARCHGUARD_CHECK(promise::read_promise(text, promised));
  return promised;
}

Status add_promised(const VerifyOptions& options, const promise::Promise& promised, DeviceList& devices) {
  if (promised.admits.empty()) return Done{};
  if (!promise::tells_devices(promised))
    return Error{"--promise", "says nothing of devices, only of drivers",
                 "add what is promised of devices: --promise '__cuda_arch >=7.5'"};
  const DeviceList admitted = promise::promised_devices(promised, !are_for_x86(options.paths));
  if (admitted.empty())
    return Error{"--promise", "admits no device that a known CUDA release knows, with a driver that knows it",
                 "look whether the bounds contradict each other"};
  for (std::size_t i = 0; i < admitted.size(); ++i) devices.push_back(admitted[i]);
  return Done{};
}

// Of `verify fleet.csv --fleet PROGRAM`, the line that was meant; else empty.
std::string fix_of_swapped(const VerifyOptions& options, const std::string& fleet) {
  if (options.paths.size() != 1 || !ends_with(options.paths.front(), ".csv")) return {};
  const auto source = FileSource::open(fleet);
  const auto start = source ? read_bytes(*source, 0, std::min<std::uint64_t>(4, source->size())) : Bytes();
  if (!start || !begins_like_program(ByteView(*start).text())) return {};
  return "the two are swapped: archguard verify " + fleet + " --fleet " + options.paths.front();
}

Result<std::size_t> read_fleet_of(const VerifyOptions& options, const std::string& path,
                                  DeviceList& devices) {
  auto added = read_fleet(path, devices);
  if (added) return added;
  Error error = std::move(added).error();
  if (std::string fix = fix_of_swapped(options, path); !fix.empty()) error.fix = std::move(fix);
  return error;
}

Result<DeviceList> collect_devices(const VerifyOptions& options) {
  DeviceList devices = options.given.value_or(DeviceList());
  for (const std::string& path : options.fleets) {
    ARCHGUARD_TRY(added, read_fleet_of(options, path, devices));
    if (added == 0) return no_device_in_fleet(path);
  }
  for (const std::string& text : options.devices) {
    ARCHGUARD_TRY(device, device_of_option(text));
    devices.push_back(device);
  }
  if (options.this_machine) {
    ARCHGUARD_TRY(found, devices_of_this_machine());
    for (const Device& device : found) devices.push_back(device);
  }
  return devices;
}

Result<std::vector<ExpectedImage>> collect_expected(const std::string& list) {
  std::vector<ExpectedImage> expected;
  if (list.empty()) return expected;
  auto entries = parse_arch_list(list);
  if (!entries) return Error{"--expect", entries.error().text(), entries.error().fix};
  for (const ArchEntry& entry : *entries) {
    if (is_no_arch(entry.arch.number) || !may_be_made(entry.arch, std::nullopt))
      return Error{"--expect", "no CUDA makes code for " + to_string(entry.arch),
                   "look up the names: nvcc --list-gpu-arch"};
    if (entry.real) expected.push_back({entry.arch, true});
    if (entry.virtual_) expected.push_back({entry.arch, false});
  }
  return expected;
}

// With --this-machine the program is taken to run in this environment, unless --env says otherwise.
Result<JitEnvironment> collect_environment(const VerifyOptions& options) {
  std::vector<std::string> settings;
  if (options.this_machine) settings = settings_of_this_process();
  settings.insert(settings.end(), options.environment.begin(), options.environment.end());
  return read_environment(settings);
}

VerifyPolicy policy_of(const VerifyOptions& options) {
  VerifyPolicy policy;
  policy.scope = options.scope == "library" ? Scope::library : Scope::fatbin;
  policy.hollow = options.hollow == "error" ? HollowPolicy::error
                  : options.hollow == "off" ? HollowPolicy::off
                                            : HollowPolicy::warn;
  policy.driver = options.driver == "warn" ? DriverPolicy::warn : DriverPolicy::error;
  policy.partly = options.partly == "error" ? PartlyPolicy::error
                  : options.partly == "off" ? PartlyPolicy::off
                                            : PartlyPolicy::warn;
  policy.embedded = options.embedded == "error" ? EmbeddedPolicy::error
                    : options.embedded == "off" ? EmbeddedPolicy::off
                                                : EmbeddedPolicy::warn;
  policy.judge.require_sass = options.require == "sass";
  policy.judge.require_ptx = options.require_ptx;
  policy.judge.require_driver = options.require_driver;
  policy.target = {options.target, options.compiles_cuda, options.linked_cuda, options.target_word,
                   options.target_spelled};
  return policy;
}

Result<Waivers> read_waivers(const std::string& path) {
  if (path.empty()) return Waivers{};
  ARCHGUARD_TRY(text, read_file_of_option("--waivers", path));
  return Waivers::parse(text, text_file_name(path));
}

// A library that is needed was made by others: it chooses among its images, and no list asked for them.
VerifyRequest request_of_library(VerifyRequest request) {
  request.expected.clear();
  VerifyPolicy& policy = request.policy;
  policy.scope = Scope::library;
  if (policy.embedded == EmbeddedPolicy::error) policy.embedded = EmbeddedPolicy::warn;
  policy.target = {};
  policy.hollow = HollowPolicy::off;
  return request;
}

// An error where no device is left, and no image is expected either.
Status check_any_asked(const VerifyQuestion& question) {
  if (!question.of_file.expected.empty() || question.devices.any_kind(is_wanted)) return Done{};
  if (!question.excluded.empty()) {
    const auto& toolkit = question.excluded.front().last_toolkit;
    return Error{{},
                 "every device of the fleet was left out when the architectures were chosen",
                 toolkit ? "build with CUDA " + to_string(*toolkit) + ", or name other devices"
                         : "name other devices"};
  }
  if (question.devices.any_kind(is_excluded)) return all_excluded();
  return Error{{},
               "no device to judge",
               "give --fleet FILE, --device CC, --this-machine, --expect LIST or --promise TEXT"};
}

}  // namespace

Result<VerifyQuestion> question_of(const VerifyOptions& options) {
  VerifyQuestion question;
  ARCHGUARD_TRY(devices, collect_devices(options));
  ARCHGUARD_TRY(expected, collect_expected(options.expect));
  ARCHGUARD_TRY(promised, collect_promises(options));
  ARCHGUARD_CHECK(add_promised(options, promised, devices));
  expected.insert(expected.end(), promised.images.begin(), promised.images.end());
  ARCHGUARD_TRY(environment, collect_environment(options));
  if (!options.excluded.empty()) {
    ARCHGUARD_TRY(excluded, read_excluded(options.excluded));
    question.excluded = take_excluded(devices, excluded);
  }
  question.of_file.classes = classes_of(devices);
  question.of_file.expected = std::move(expected);
  question.of_file.policy = policy_of(options);
  question.of_file.policy.judge.environment = std::move(environment);
  question.of_library = request_of_library(question.of_file);
  question.devices = std::move(devices);
  ARCHGUARD_CHECK(check_any_asked(question));
  ARCHGUARD_TRY(waivers, read_waivers(options.waivers));
  question.waivers = std::move(waivers);
  return question;
}

}  // namespace archguard
