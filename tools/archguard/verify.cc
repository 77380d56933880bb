#include <algorithm>
#include <iterator>
#include <set>

#include "base/colour.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/write_file.h"
#include "commands.h"
#include "coverage/outcome.h"
#include "device/fleet.h"
#include "device/probe.h"
#include "environment.h"
#include "excluded.h"
#include "files.h"
#include "image/demangle.h"
#include "judge_files.h"
#include "needed.h"
#include "report/verify_json.h"
#include "report/verify_text.h"
#include "select/select.h"
#include "terminal.h"
#include "walk.h"

namespace archguard {
namespace {

constexpr std::chrono::seconds kProbeTimeout{15};

Result<std::vector<Device>> devices_of_this_machine() {
  ProbeResult probe = probe_this_machine(kProbeTimeout);
  if (probe.status == ProbeStatus::ok) return std::move(probe.devices);
  Error error{"--this-machine", "no device to judge", "name the devices: --fleet FILE or --device CC"};
  for (const Diagnostic& diagnostic : probe.diagnostics) error.what += "; " + diagnostic.cause;
  return error;
}

Result<DeviceList> collect_devices(const VerifyOptions& options) {
  DeviceList devices;
  for (const std::string& path : options.fleets) {
    ARCHGUARD_TRY(added, read_fleet(path, devices));
    if (added == 0) return no_device_in_fleet(path);
  }
  for (const std::string& text : options.devices) {
    ARCHGUARD_TRY(device, parse_device_option(text));
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
  policy.target = {options.target, options.compiles_cuda};
  return policy;
}

Result<Waivers> read_waivers(const std::string& path) {
  if (path.empty()) return Waivers{};
  ARCHGUARD_TRY(text, read_text_file(path));
  return Waivers::parse(text, text_file_name(path));
}

// What reading the files told, beside what looking for their libraries did: each error is said once.
void complete(NeededOutcome& needed, const std::vector<FileResult>& files,
              const std::set<std::string>& zips) {
  for (const std::string& path : zips) needed.errors.push_back(needs_unpacking(path));
  std::set<std::string> said;
  for (const FileResult& file : files)
    for (const Error& error : file.errors) said.insert(error.text());
  needed.errors.erase(std::remove_if(needed.errors.begin(), needed.errors.end(),
                                     [&](const Error& error) { return !said.insert(error.text()).second; }),
                      needed.errors.end());
}

int exit_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::covered:
      return kExitCovered;
    case Outcome::not_covered:
      return kExitNotCovered;
    case Outcome::no_device_code:
      return kExitNoDeviceCode;
    case Outcome::unknown:
      break;
  }
  return kExitUnreadable;
}

}  // namespace

Result<Verification> verification_of(const VerifyOptions& options) {
  if (options.paths.empty() && options.files_from.empty())
    return Error{{}, "PATH is required", "archguard verify --help"};
  ARCHGUARD_CHECK(
      check_needed(options.needed || options.needed_only, options.where, options.needed_list, options.cache));
  Verification verification;
  VerifyRequest request;
  ARCHGUARD_TRY(devices, collect_devices(options));
  ARCHGUARD_TRY(expected, collect_expected(options.expect));
  ARCHGUARD_TRY(environment, collect_environment(options));
  if (!options.excluded.empty()) {
    ARCHGUARD_TRY(excluded, read_excluded(options.excluded));
    verification.excluded = take_excluded(devices, excluded);
  }
  const bool any_device = devices.any_kind(is_wanted);
  if (!any_device && !verification.excluded.empty() && expected.empty())
    return Error{{},
                 "every device of the fleet was left out when the architectures were chosen",
                 verification.excluded.front().last_toolkit
                     ? "build with CUDA " + to_string(*verification.excluded.front().last_toolkit) +
                           ", or name other devices"
                     : "name other devices"};
  if (!any_device && devices.any_kind(is_excluded) && expected.empty()) return all_excluded();
  if (!any_device && expected.empty())
    return Error{{}, "no device to judge", "give --fleet FILE, --device CC, --this-machine or --expect LIST"};
  ARCHGUARD_TRY(waivers, read_waivers(options.waivers));
  ARCHGUARD_TRY(files,
                list_files(options.paths, options.found ? "" : options.files_from, verification.passed_over));
  if (options.found) {
    std::vector<InputFile> found = walk_found(*options.found, verification.passed_over);
    std::move(found.begin(), found.end(), std::back_inserter(files));
  }
  if (options.format == "text" || !options.waivers.empty()) prepare_demangle();

  if (options.needed || options.needed_only) {
    NeededReport needed =
        add_needed(files, options.where, options.needed_only ? NeededFiles::alone : NeededFiles::beside);
    verification.needed.emplace();
    verification.needed->passed_over = std::move(needed.passed_over);
    verification.needed->errors = std::move(needed.errors);
    verification.needed->tried = std::move(needed.tried);
    verification.needed->tried_whole = needed.tried_whole;
    if (!options.needed_list.empty()) {
      std::string list;
      for (const InputFile& file : files)
        if (!file.needed_by.empty()) list += file.path + "\n";
      ARCHGUARD_CHECK(write_file(options.needed_list, list));
    }
  }

  verification.expects = !expected.empty();
  request.classes = classes_of(devices);
  request.expected = std::move(expected);
  request.policy = policy_of(options);
  request.policy.judge.environment = std::move(environment);
  verification.devices = std::move(devices);
  verification.classes = request.classes;
  // A library that is needed was made by others: it chooses among its images, and no list asked for them.
  VerifyRequest of_library = request;
  of_library.expected.clear();
  of_library.policy.scope = Scope::library;
  if (of_library.policy.embedded == EmbeddedPolicy::error) of_library.policy.embedded = EmbeddedPolicy::warn;
  of_library.policy.target = {};
  of_library.policy.hollow = HollowPolicy::off;
  std::set<std::string> zips;  // whose members are linked, and need libraries
  const KeptVerdicts kept(options.cache);
  const auto take = [&](JudgedFile judged) {
    if (judged.is_linked_member) zips.insert(judged.result.path);
    verification.files.push_back(std::move(judged.result));
  };
  judge_files(
      files, {request, of_library, waivers, kept, options.passes_bitcode}, take,
      [&](const FilesDone& done) { show_progress(done, files.size()); }, verification.passed_over);
  find_alternatives(verification, options.any_of);
  if (verification.needed) complete(*verification.needed, verification.files, zips);
  verification.unused_waivers = waivers.unused();

  return verification;
}

std::string verification_text(const Verification& verification, const VerifyOptions& options) {
  const Style style = options.output.empty() ? Style{colour_for_stdout()} : Style{};
  return verify_text(verification, {style, options.brief, options.target,
                                    options.scope != "library" && options.target.empty()});
}

Result<int> run_verify(const VerifyOptions& options) {
  ARCHGUARD_TRY(verification, verification_of(options));
  std::string text;
  if (options.format == "text") {
    text = verification_text(verification, options);
    if (verification.files.empty() && !options.needed_only)
      text += printable(no_binary_text(options.paths, options.files_from)) + "\n";
  }
  const PlainText plain(text);
  const VerifyJson json(verification);
  const TextSource& report = options.format == "text" ? static_cast<const TextSource&>(plain) : json;
  if (!options.output.empty()) {
    ARCHGUARD_CHECK(write_file(options.output, report));
  } else {
    print_source(report);
  }
  ARCHGUARD_CHECK(finish_printing());
  return exit_code(outcome_of(verification));
}

}  // namespace archguard
