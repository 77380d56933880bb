#include "options.h"

#include <initializer_list>

#include "base/colour.h"
#include "base/text.h"
#include "compat/toolkit.h"

// Plain comparisons instead of a table of callbacks: this file is compiled while other projects configure,
// and templates would cost most of that time.

namespace archguard {
namespace {

using Words = std::initializer_list<const char*>;

const Words kProbeOptions = {"--format",  "--timeout", "--fleet", "--write-devices", "--help", "-h",
                             "--version", "--cache",   "-V",      "--color"};
const Words kSelectOptions = {"--fleet",    "--device", "--nvcc",          "--toolkit",
                              "--ptx",      "--sass",   "--on-no-device",  "--on-detect-failure",
                              "--baseline", "--target", "--judge",         "--no-detect",
                              "--timeout",  "--format", "--write-devices", "--write-json",
                              "--help",     "-h",       "--cache",         "--suffix",
                              "--clang",    "--color",  "--version",       "-V"};
const Words kFlags = {"--help", "-h", "--version", "-V", "--no-detect"};

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

// Those that both commands have.
Status take_general_option(const std::string& name, const std::string& value, Options& options) {
  int index = 0;
  if (name == "--help" || name == "-h") {
    options.wants = name == "-h" ? Options::Wants::short_help : Options::Wants::help;
  } else if (name == "--version" || name == "-V") {
    options.wants = Options::Wants::version;
  } else if (name == "--color") {
    ARCHGUARD_CHECK(choose(name, value, {"auto", "always", "never"}, index));
    choose_colour(value);
  }
  return Done{};
}

Status take_probe_option(const std::string& name, const std::string& value, Options& options) {
  ProbeOptions& probe = options.probe;
  int index = 0;
  if (name == "--timeout") {
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

// Of 13 and 13.0.1 the release that they mean; of what is none the range.
Error bad_toolkit(const std::string& value) {
  Error error = bad_option_value("--toolkit", value, "X.Y such as 13.0");
  const auto& known = known_toolkits();
  const auto parts = split(value, '.');
  const auto meant =
      parse_version(std::string(parts[0]) + "." + std::string(parts.size() > 1 ? parts[1] : "0"));
  error.fix = meant && find_toolkit(*meant) != nullptr
                  ? "write " + to_string(*meant)
                  : "write a release from " + to_string(known.front().version) + " to " +
                        to_string(known.back().version);
  return error;
}

Status take_select_option(const std::string& name, const std::string& value, Options& options) {
  SelectOptions& select = options.select;
  int index = 0;
  if (name == "--fleet" || name == "--device") {
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
    if (!select.toolkit) return bad_toolkit(value);
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
  options.is_select = select;
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
    ARCHGUARD_CHECK(take_general_option(name, value, options));
    ARCHGUARD_CHECK(select ? take_select_option(name, value, options)
                           : take_probe_option(name, value, options));
  }
  if (select && options.wants == Options::Wants::answer) ARCHGUARD_CHECK(check_select(options.select));
  return options;
}

}  // namespace archguard
