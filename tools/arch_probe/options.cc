#include "options.h"

#include <initializer_list>

#include "base/text.h"

// Plain comparisons instead of a table of callbacks: this file is compiled while other projects configure,
// and templates would cost most of that time.

namespace archguard {
namespace {

using Words = std::initializer_list<const char*>;

const Words kProbeOptions = {"--format", "--timeout", "--fleet",   "--write-devices",
                             "--help",   "-h",        "--version", "--cache"};
const Words kSelectOptions = {"--fleet",    "--device", "--nvcc",          "--toolkit",
                              "--ptx",      "--sass",   "--on-no-device",  "--on-detect-failure",
                              "--baseline", "--target", "--judge",         "--no-detect",
                              "--timeout",  "--format", "--write-devices", "--write-json",
                              "--help",     "-h",       "--cache",         "--suffix",
                              "--clang"};
const Words kFlags = {"--help", "-h", "--version", "--no-detect"};

bool is_one_of(std::string_view text, const Words& words) {
  for (const char* word : words)
    if (text == word) return true;
  return false;
}

std::vector<std::string> list_of(const Words& words) {
  return {words.begin(), words.end()};
}

std::string meant_fix(const std::string& text, const std::vector<std::string>& known) {
  const auto meant = did_you_mean(text, known);
  return meant ? "did you mean " + *meant + "?" : "";
}

Error bad_option_value(const std::string& option, const std::string& value, const std::string& expected) {
  return {"", option + " is '" + value + "', expected " + expected, ""};
}

// Sets `index` to the place of `value` among the words that the option takes.
Status choose(const std::string& option, const std::string& value, const Words& words, int& index) {
  index = 0;
  for (const char* word : words) {
    if (value == word) return Done{};
    ++index;
  }
  Error error = bad_option_value(option, value, join(list_of(words), ", "));
  error.fix = meant_fix(value, list_of(words));
  return error;
}

// Seconds, with up to three digits behind a dot, at most an hour.
Status take_timeout(const std::string& value, std::chrono::milliseconds& timeout) {
  const auto dot = value.find('.');
  const auto seconds = parse_number(std::string_view(value).substr(0, dot), 3600);
  std::string fraction = dot == std::string::npos ? "0" : value.substr(dot + 1);
  if (fraction.size() < 3) fraction.resize(3, '0');
  const auto milliseconds = parse_number(fraction.size() == 3 ? fraction : "", 999);
  if (!seconds || !milliseconds || *seconds * 1000 + *milliseconds == 0)
    return bad_option_value("--timeout", value, "seconds, more than 0 and at most 3600");
  timeout = std::chrono::milliseconds(*seconds * 1000 + *milliseconds);
  return Done{};
}

// newest, oldest, none, or the architecture whose PTX is wanted: 8.0 or 80.
Status take_ptx(const std::string& value, SelectPolicy& policy) {
  const Words words = {"newest", "oldest", "none"};
  int index = 0;
  if (choose("--ptx", value, words, index)) {
    policy.ptx = index == 0 ? PtxPolicy::newest : index == 1 ? PtxPolicy::oldest : PtxPolicy::none;
    return Done{};
  }
  const auto capability = parse_capability(value);
  const auto arch = capability ? arch_of(*capability) : parse_arch(value);
  if (arch) {
    policy.ptx = PtxPolicy::given;
    policy.given_ptx = *arch;
    return Done{};
  }
  Error error = bad_option_value("--ptx", value, "newest, oldest, none or an architecture such as 8.0");
  error.fix = meant_fix(value, list_of(words));
  return error;
}

Status take_list(const std::string& option, const std::string& value, std::vector<ArchEntry>& list) {
  auto entries = parse_arch_list(value);
  if (!entries) {
    Error error = std::move(entries).error();
    error.where = option;
    return error;
  }
  if (entries->empty()) return Error{"", option + " is empty", ""};
  list = std::move(*entries);
  return Done{};
}

Status take_probe_option(const std::string& name, const std::string& value, Options& options) {
  ProbeOptions& probe = options.probe;
  int index = 0;
  if (name == "--help" || name == "-h") {
    options.command = Options::Command::help;
  } else if (name == "--version") {
    options.command = Options::Command::version;
  } else if (name == "--timeout") {
    return take_timeout(value, probe.timeout);
  } else if (name == "--fleet") {
    probe.fleets.push_back(value);
  } else if (name == "--cache") {
    probe.cache = value;
  } else if (name == "--write-devices") {
    probe.write_devices = value;
  } else if (name == "--format") {
    ARCHGUARD_CHECK(choose(name, value, {"table", "json", "csv"}, index));
    probe.format = index == 0 ? ProbeFormat::table : index == 1 ? ProbeFormat::json : ProbeFormat::csv;
  }
  return Done{};
}

Status take_select_option(const std::string& name, const std::string& value, Options& options) {
  SelectOptions& select = options.select;
  int index = 0;
  if (name == "--help" || name == "-h") {
    options.command = Options::Command::select_help;
  } else if (name == "--fleet" || name == "--device") {
    select.sources.push_back({name == "--fleet", value});
  } else if (name == "--no-detect") {
    select.detect = false;
  } else if (name == "--timeout") {
    return take_timeout(value, select.timeout);
  } else if (name == "--cache") {
    select.cache = value;
  } else if (name == "--nvcc") {
    select.nvcc = value;
  } else if (name == "--clang") {
    select.clang = value;
  } else if (name == "--toolkit") {
    select.toolkit = parse_version(value);
    if (!select.toolkit) return bad_option_value(name, value, "X.Y such as 13.0");
  } else if (name == "--ptx") {
    return take_ptx(value, select.policy);
  } else if (name == "--sass") {
    ARCHGUARD_CHECK(choose(name, value, {"exact", "minimal"}, index));
    select.policy.sass = index == 0 ? SassPolicy::exact : SassPolicy::minimal;
  } else if (name == "--suffix") {
    ARCHGUARD_CHECK(choose(name, value, {"none", "a", "f"}, index));
    const Suffix suffixes[] = {Suffix::none, Suffix::a, Suffix::f};
    select.policy.suffix = suffixes[index];
  } else if (name == "--on-no-device" || name == "--on-detect-failure") {
    ARCHGUARD_CHECK(choose(name, value, {"error", "baseline"}, index));
    (name == "--on-no-device" ? select.error_on_no_device : select.error_on_detect_failure) = index == 0;
  } else if (name == "--baseline") {
    return take_list(name, value, select.policy.baseline);
  } else if (name == "--judge") {
    return take_list(name, value, select.judge);
  } else if (name == "--target") {
    ARCHGUARD_CHECK(choose(name, value, {"aarch64", "arm64", "x86_64", "amd64", "ppc64le"}, index));
    select.policy.tegra_in_baseline = index < 2;
  } else if (name == "--format") {
    ARCHGUARD_CHECK(choose(name, value, {"cmake", "torch", "gencode", "json"}, index));
    const SelectFormat formats[] = {SelectFormat::cmake, SelectFormat::torch, SelectFormat::gencode,
                                    SelectFormat::json};
    select.format = formats[index];
  } else if (name == "--write-devices") {
    select.write_devices = value;
  } else if (name == "--write-json") {
    select.write_json = value;
  }
  return Done{};
}

Error unknown_argument(const std::string& argument, bool select) {
  std::vector<std::string> known = list_of(select ? kSelectOptions : kProbeOptions);
  if (!select) known.emplace_back("select");
  const bool option = starts_with(argument, "-");
  Error error{"", (option ? "unknown option '" : "unexpected argument '") + argument + "'", ""};
  error.fix = meant_fix(argument.substr(0, argument.find('=')), known);
  if (error.fix.empty())
    error.fix =
        select ? "arch_probe select --help lists what there is" : "arch_probe --help lists what there is";
  return error;
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
  const bool select = !arguments.empty() && arguments[0] == "select";
  if (select) options.command = Options::Command::select;
  for (std::size_t i = select ? 1 : 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto equals = starts_with(argument, "--") ? argument.find('=') : std::string::npos;
    const std::string name = argument.substr(0, equals);
    if (!is_one_of(name, select ? kSelectOptions : kProbeOptions)) return unknown_argument(argument, select);
    const bool flag = is_one_of(name, kFlags);
    std::string value;
    if (equals != std::string::npos) {
      if (flag) return Error{"", name + " takes no value", ""};
      value = argument.substr(equals + 1);
    } else if (!flag && i + 1 < arguments.size() && !starts_with(arguments[i + 1], "--")) {
      value = arguments[++i];
    }
    if (!flag && value.empty()) return Error{"", name + " needs a value", "give it one, or leave it out"};
    ARCHGUARD_CHECK(select ? take_select_option(name, value, options)
                           : take_probe_option(name, value, options));
  }
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
  --timeout SECONDS         how long to wait for the driver (default: 15)
  --fleet FILE              show the devices of this fleet file instead (- is standard input); may be repeated,
                            which merges the files
  --write-devices FILE      write the devices to a fleet file too
  --cache FILE              keep the drivers' answer there, and take it again while nothing has changed
  --help, --version

exit status:
  0  there are devices
  2  wrong usage, or a fleet file that cannot be read
  3  there is no device: no driver, the toolkit's stub library, no GPU, or all hidden by the environment
  4  a driver is there and fails, crashes or does not answer
)";
}

std::string select_help() {
  return R"(usage: arch_probe select (--nvcc PATH | --toolkit X.Y) [--clang PATH] [OPTION...]

Chooses the CUDA architectures that reach every device: of this machine, unless --fleet or --device names others.

devices:
  --fleet FILE                 the devices of a fleet file (- is standard input); may be repeated. A line
                               whose column excluded says why is left out
  --device CC[@DRIVER_CUDA]    a device of this compute capability, as 8.6 or 8.6@12.4; may be repeated
  --no-detect                  without --fleet and --device: do not look for GPUs in this machine
  --timeout SECONDS            how long to wait for the driver (default: 15)
  --cache FILE                 keep the drivers' answer there, and take it again while nothing has changed

compiler:
  --nvcc PATH                  what this nvcc can make (it is run)
  --toolkit X.Y                what nvcc of this release can make
  --clang PATH                 this clang compiles, with the CUDA toolkit of the nvcc or the release
  --target PROCESSOR           aarch64: the baseline holds Tegra architectures too

choice:
  --ptx newest|oldest|none|CC  the PTX for devices without an image of their own (default: newest)
  --sass exact|minimal         an image for each architecture, or the fewest that reach all (default: exact)
  --suffix none|a|f            SASS with a (that device alone: 90a) or f (its family: 100f) where there is such
                               an image (default: none); PTX stays plain
  --on-no-device error|baseline
  --on-detect-failure error|baseline
                               without a device, or with a driver that fails: stop, or take the baseline and
                               warn (default: baseline)
  --baseline LIST              the list to take then, as 80-real;90-virtual (default: this nvcc's all-major)
  --judge LIST                 choose as usual, and also judge this list: for each device (in the JSON), and
                               whether the compiler makes it

output:
  --format cmake|torch|gencode|json   (default: cmake); the reasons go to standard error
  --write-devices FILE         write the devices to a fleet file
  --write-json FILE            write the JSON to a file too
  --help

exit status:
  0  a list was chosen
  1  this compiler can serve none of the devices
  2  wrong usage, a fleet file that cannot be read, or a compiler that does not answer
  3  no device, and --on-no-device error
  4  the driver fails, and --on-detect-failure error
)";
}

}  // namespace archguard
