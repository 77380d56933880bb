#include "releases/releases.h"

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "device/fleet.h"
#include "terminal.h"

namespace archguard {
namespace {

// "cupy" → "cupy-cuda11x, cupy-cuda12x or cupy-cuda13x": of several that begin so, all.
std::string package_meant(const std::string& package, const std::vector<std::string>& names) {
  if (package == "pytorch") return "torch";  // as conda and its project call it
  std::vector<std::string> longer;
  for (const std::string& name : names)
    if (starts_with(name, package + "-")) longer.push_back(name);
  if (longer.empty()) return did_you_mean(package, names).value_or("");
  const std::string last = longer.back();
  longer.pop_back();
  return longer.empty() ? last : join(longer, ", ") + " or " + last;
}

// What stands before the version in a line of requirements: "torch==2.9.1", "jax[cuda12]>=0.5".
std::string name_in_requirement(const std::string& package) {
  return package.substr(0, package.find_first_of("=<>~![;@ "));
}

Error not_in_table(const ReleasesOptions& options) {
  const std::vector<std::string> names = measured_packages();
  if (const std::string name = name_in_requirement(options.package);
      !name.empty() && name != options.package && !releases_of(name, options.platform).empty())
    return {{},
            "'" + printable(options.package) + "' is more than the name of a package",
            "leave the version out: archguard releases " + printable(name)};
  const std::string meant = package_meant(to_lower(name_in_requirement(options.package)), names);
  const std::string elsewhere = join(measured_platforms_of(options.package), " and ");
  if (!elsewhere.empty())
    return {{},
            "no release of '" + printable(options.package) + "' was measured for " + options.platform +
                ", only for " + elsewhere + ": wheels differ in what they hold",
            "judge a wheel for " + options.platform + " by its file: " +
                judge_by_file(options.devices.empty() ? "CC" : printable(options.devices.front()))};
  return {{},
          "no release of '" + printable(options.package) + "' was measured",
          !meant.empty() ? "did you mean " + meant + "?"
                         : "judge its file: " + judge_by_file("CC") + "; measured are " + join(names, ", ")};
}

}  // namespace

Result<int> run_releases(const ReleasesOptions& options) {
  if (options.package.empty())
    return Error{{}, "PACKAGE is empty", "name one: " + join(measured_packages(), ", ")};
  ReleasesQuestion question;
  question.platform = options.platform;
  for (const std::string& each : options.devices) {
    ARCHGUARD_TRY(device, parse_device_option(each));
    question.devices.push_back({*device.capability, device.driver_cuda});
  }
  if (!options.python.empty()) {
    question.python = parse_version(options.python);
    if (!question.python)
      return Error{"--python",
                   "'" + printable(options.python) + "' is no version of Python, expected X.Y such as 3.12",
                   {}};
  }
  const auto releases = releases_of(options.package, options.platform);
  if (releases.empty()) return not_in_table(options);
  question.package = releases.front()->package;
  for (const AskedDevice& each : question.devices)
    if (serves(*releases.front(), each) == Serves::unknown)
      return Error{"--device " + to_string(each.device), "no release was measured for this device",
                   "judge a file: " + judge_by_file(to_string(each.device))};
  print(options.format == "json" ? releases_json(question) : releases_text(question));
  ARCHGUARD_CHECK(finish_printing());
  const bool any =
      newest_serving(question.package, question.platform, question.devices, question.python) != nullptr;
  return any ? kExitCovered : kExitNotCovered;
}

}  // namespace archguard
