#include "options.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace archguard {
namespace {

// One option of a command: what takes its value, or, for a flag, what sets it.
struct OptionSpec {
  std::string name;
  bool has_value = true;
  std::function<Status(const std::string& value)> take;
};

Error bad_option_value(const std::string& option, const std::string& value, const std::string& expected) {
  return {"", option + " is '" + value + "', expected " + expected, ""};
}

// An option whose value is one of a few words, each with what it means.
template <class Value>
OptionSpec choice_option(const std::string& name, Value& target,
                         const std::vector<std::pair<std::string, Value>>& choices) {
  return {name, true, [name, &target, choices](const std::string& value) -> Status {
            std::vector<std::string> words;
            for (const auto& [word, meaning] : choices) {
              if (word == value) {
                target = meaning;
                return Done{};
              }
              words.push_back(word);
            }
            Error error = bad_option_value(name, value, join(words, ", "));
            if (const auto meant = did_you_mean(value, words)) error.fix = "did you mean " + *meant + "?";
            return error;
          }};
}

OptionSpec text_option(const std::string& name, std::string& target) {
  return {name, true, [name, &target](const std::string& value) -> Status {
            if (value.empty()) return Error{"", name + " needs a value", ""};
            target = value;
            return Done{};
          }};
}

OptionSpec flag_option(const std::string& name, std::function<void()> set) {
  return {name, false, [set = std::move(set)](const std::string&) -> Status {
            set();
            return Done{};
          }};
}

// Seconds, with up to three digits behind a dot, at most an hour.
OptionSpec timeout_option(std::chrono::milliseconds& target) {
  return {"--timeout", true, [&target](const std::string& value) -> Status {
            const auto dot = value.find('.');
            const auto seconds = parse_number(std::string_view(value).substr(0, dot), 3600);
            std::string fraction = dot == std::string::npos ? "0" : value.substr(dot + 1);
            fraction.resize(std::max<std::size_t>(fraction.size(), 3), '0');
            const auto milliseconds = fraction.size() == 3 ? parse_number(fraction, 999) : std::nullopt;
            if (!seconds || !milliseconds || *seconds * 1000 + *milliseconds == 0)
              return bad_option_value("--timeout", value, "seconds, more than 0 and at most 3600");
            target = std::chrono::milliseconds(*seconds * 1000 + *milliseconds);
            return Done{};
          }};
}

Error unknown_argument(const std::string& argument, const std::vector<OptionSpec>& specs,
                       const std::vector<std::string>& commands) {
  std::vector<std::string> known = commands;
  for (const auto& spec : specs) known.push_back(spec.name);
  const bool option = starts_with(argument, "-");
  Error error{"", (option ? "unknown option '" : "unexpected argument '") + argument + "'", ""};
  const auto meant = did_you_mean(argument.substr(0, argument.find('=')), known);
  error.fix = meant ? "did you mean " + *meant + "?" : "arch_probe --help lists what there is";
  return error;
}

Status parse_with(const std::vector<OptionSpec>& specs, const std::vector<std::string>& commands,
                  std::vector<std::string>::const_iterator next,
                  std::vector<std::string>::const_iterator end) {
  while (next != end) {
    const std::string argument = *next++;
    const auto equals = starts_with(argument, "--") ? argument.find('=') : std::string::npos;
    const std::string name = argument.substr(0, equals);
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&](const OptionSpec& each) { return each.name == name; });
    if (spec == specs.end()) return unknown_argument(argument, specs, commands);
    std::string value;
    if (!spec->has_value && equals != std::string::npos) return Error{"", name + " takes no value", ""};
    if (spec->has_value) {
      if (equals != std::string::npos) {
        value = argument.substr(equals + 1);
      } else if (next != end && !starts_with(*next, "--")) {
        value = *next++;
      } else {
        return Error{"", name + " needs a value", ""};
      }
    }
    ARCHGUARD_CHECK(spec->take(value));
  }
  return Done{};
}

OptionSpec list_option(const std::string& name, std::function<void(std::vector<ArchEntry>)> take) {
  return {name, true, [name, take = std::move(take)](const std::string& value) -> Status {
            auto entries = parse_arch_list(value);
            if (!entries) {
              Error error = std::move(entries).error();
              error.where = name;
              return error;
            }
            if (entries->empty()) return Error{"", name + " is empty", ""};
            take(std::move(*entries));
            return Done{};
          }};
}

// newest, oldest, none, or the architecture whose PTX is wanted: 8.0 or 80.
Status take_ptx(const std::string& value, SelectPolicy& policy) {
  const std::vector<std::pair<std::string, PtxPolicy>> words = {
      {"newest", PtxPolicy::newest}, {"oldest", PtxPolicy::oldest}, {"none", PtxPolicy::none}};
  for (const auto& [word, meaning] : words)
    if (word == value) {
      policy.ptx = meaning;
      return Done{};
    }
  const auto capability = parse_capability(value);
  const auto arch = capability ? std::optional(arch_of(*capability)) : parse_arch(value);
  if (arch) {
    policy.ptx = PtxPolicy::given;
    policy.given_ptx = *arch;
    return Done{};
  }
  Error error = bad_option_value("--ptx", value, "newest, oldest, none or an architecture such as 8.0");
  if (const auto meant = did_you_mean(value, {"newest", "oldest", "none"}))
    error.fix = "did you mean " + *meant + "?";
  return error;
}

std::vector<OptionSpec> probe_specs(Options& options) {
  ProbeOptions& probe = options.probe;
  return {choice_option<ProbeFormat>(
              "--format", probe.format,
              {{"table", ProbeFormat::table}, {"json", ProbeFormat::json}, {"csv", ProbeFormat::csv}}),
          timeout_option(probe.timeout),
          {"--fleet", true,
           [&probe](const std::string& value) -> Status {
             probe.fleets.push_back(value);
             return Done{};
           }},
          text_option("--write-devices", probe.write_devices),
          flag_option("--help", [&options] { options.command = Options::Command::help; }),
          flag_option("-h", [&options] { options.command = Options::Command::help; }),
          flag_option("--version", [&options] { options.command = Options::Command::version; })};
}

std::vector<OptionSpec> select_specs(Options& options) {
  SelectOptions& select = options.select;
  const auto source = [&select](bool fleet) {
    return [&select, fleet](const std::string& value) -> Status {
      select.sources.push_back({fleet, value});
      return Done{};
    };
  };
  const std::vector<std::pair<std::string, bool>> policies = {{"error", true}, {"baseline", false}};
  const std::vector<std::pair<std::string, bool>> targets = {
      {"aarch64", true}, {"arm64", true}, {"x86_64", false}, {"amd64", false}, {"ppc64le", false}};
  return {
      {"--fleet", true, source(true)},
      {"--device", true, source(false)},
      text_option("--nvcc", select.nvcc),
      {"--toolkit", true,
       [&select](const std::string& value) -> Status {
         select.toolkit = parse_version(value);
         if (!select.toolkit) return bad_option_value("--toolkit", value, "X.Y such as 13.0");
         return Done{};
       }},
      {"--ptx", true, [&select](const std::string& value) { return take_ptx(value, select.policy); }},
      choice_option<SassPolicy>("--sass", select.policy.sass,
                                {{"exact", SassPolicy::exact}, {"minimal", SassPolicy::minimal}}),
      choice_option<bool>("--on-no-device", select.error_on_no_device, policies),
      choice_option<bool>("--on-detect-failure", select.error_on_detect_failure, policies),
      list_option("--baseline",
                  [&select](std::vector<ArchEntry> list) { select.policy.baseline = std::move(list); }),
      choice_option<bool>("--target", select.policy.tegra_in_baseline, targets),
      list_option("--judge", [&select](std::vector<ArchEntry> list) { select.judge = std::move(list); }),
      flag_option("--no-detect", [&select] { select.detect = false; }),
      timeout_option(select.timeout),
      choice_option<SelectFormat>("--format", select.format,
                                  {{"cmake", SelectFormat::cmake},
                                   {"torch", SelectFormat::torch},
                                   {"gencode", SelectFormat::gencode},
                                   {"json", SelectFormat::json}}),
      text_option("--write-devices", select.write_devices),
      text_option("--write-json", select.write_json),
      flag_option("--help", [&options] { options.command = Options::Command::select_help; }),
      flag_option("-h", [&options] { options.command = Options::Command::select_help; }),
  };
}

Status check_select(const SelectOptions& select) {
  if (select.nvcc.empty() && !select.toolkit)
    return Error{"", "select needs to know the compiler", "add --nvcc PATH, or --toolkit X.Y"};
  if (!select.nvcc.empty() && select.toolkit)
    return Error{"", "--nvcc and --toolkit are both given", "leave out one of them"};
  return Done{};
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  const bool select = !arguments.empty() && arguments.front() == "select";
  if (select) options.command = Options::Command::select;
  const auto specs = select ? select_specs(options) : probe_specs(options);
  const std::vector<std::string> commands =
      select ? std::vector<std::string>{} : std::vector<std::string>{"select"};
  ARCHGUARD_CHECK(parse_with(specs, commands, arguments.begin() + (select ? 1 : 0), arguments.end()));
  if (options.command == Options::Command::select) ARCHGUARD_CHECK(check_select(options.select));
  return options;
}

std::string probe_help() {
  return R"(usage: arch_probe [OPTION...]
       arch_probe select [OPTION...]

Shows the NVIDIA GPUs of this machine, or says why there are none. `arch_probe select --help` tells how to
choose CUDA architectures for them.

options:
  --format table|json|csv   how to print (default: table); csv is a fleet file, which --fleet reads again
  --timeout SECONDS         how long to wait for the driver (default: 30)
  --fleet FILE              show the devices of this fleet file instead; may be repeated, which merges the files
  --write-devices FILE      write the devices to a fleet file too
  --help, --version

exit status:
  0  there are devices
  2  wrong usage, or a fleet file that cannot be read
  3  there is no device: no driver, the toolkit's stub library, no GPU, or all hidden by the environment
  4  a driver is there and fails, crashes or does not answer
)";
}

std::string select_help() {
  return R"(usage: arch_probe select (--nvcc PATH | --toolkit X.Y) [OPTION...]

Chooses the CUDA architectures that reach every device: of this machine, unless --fleet or --device names others.

devices:
  --fleet FILE                 the devices of a fleet file; may be repeated
  --device CC[@DRIVER_CUDA]    a device of this compute capability, as 8.6 or 8.6@12.4; may be repeated
  --no-detect                  without --fleet and --device: do not look for GPUs in this machine
  --timeout SECONDS            how long to wait for the driver (default: 30)

compiler:
  --nvcc PATH                  what this nvcc can make (it is run)
  --toolkit X.Y                what nvcc of this release can make
  --target PROCESSOR           aarch64: the baseline holds Tegra architectures too

choice:
  --ptx newest|oldest|none|CC  the PTX for devices without an image of their own (default: newest)
  --sass exact|minimal         an image for each architecture, or the fewest that reach all (default: exact)
  --on-no-device error|baseline
  --on-detect-failure error|baseline
                               without a device, or with a driver that fails: stop, or take the baseline and
                               warn (default: baseline)
  --baseline LIST              the list to take then, as 80-real;90-virtual (default: this nvcc's all-major)
  --judge LIST                 choose as usual, and also judge this list for each device (in the JSON)

output:
  --format cmake|torch|gencode|json   (default: cmake); the reasons go to standard error
  --write-devices FILE         write the devices to a fleet file
  --write-json FILE            write the JSON to a file too
  --help

exit status:
  0  a list was chosen
  1  this compiler can serve none of the devices
  2  wrong usage, a fleet file that cannot be read, or an nvcc that does not answer
  3  no device, and --on-no-device error
  4  the driver fails, and --on-detect-failure error
)";
}

}  // namespace archguard
