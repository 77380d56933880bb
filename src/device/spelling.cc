#include "device/spelling.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"

namespace archguard {
namespace {

constexpr int kLowestDriverBranch = 100;  // no version of CUDA is near
constexpr std::uint64_t kHighestDriverBranch = 9999;

// The option as it should be written: "8.6@13.0" for sm_86@580.95.05; empty where that cannot be told.
std::string mended_device(std::string_view text) {
  auto at = text.find('@');
  if (at == std::string_view::npos) at = text.find_first_of(":/");  // 9.0:13.0
  const auto capability = meant_capability(text.substr(0, at));
  if (!capability) return {};
  if (at == std::string_view::npos) return to_string(*capability);
  std::string driver(text.substr(at + 1));
  const auto comma = driver.find(',');  // of a decimal
  if (comma != std::string::npos && driver.find('.') == std::string::npos) driver[comma] = '.';
  const auto cuda = meant_driver_cuda(driver, capability);
  return cuda ? to_string(*capability) + "@" + to_string(cuda->version) : std::string();
}

// 12040, as cuDriverGetVersion and NVML spell 12.4. Nothing for a number that is none of theirs.
std::optional<Version> version_of_number(std::string_view text) {
  constexpr std::uint64_t kMost = 99'990;
  const auto number = parse_number(text, kMost);
  if (!number || *number % 10 != 0) return std::nullopt;
  const auto version = version_from_cuda_number(static_cast<int>(*number));
  return version && version->minor < 10 ? version : std::nullopt;
}

}  // namespace

std::string without_wide_blanks(std::string_view text) {
  constexpr std::string_view kBlanks[] = {"\u00a0", "\u200b", "\u202f", "\u2060", "\u3000", "\ufeff"};
  std::string rest;
  while (!text.empty()) {
    const auto blank = std::find_if(std::begin(kBlanks), std::end(kBlanks),
                                    [&](std::string_view each) { return starts_with(text, each); });
    const bool is_blank = blank != std::end(kBlanks);
    if (!is_blank) rest += text.front();
    text.remove_prefix(is_blank ? blank->size() : 1);
  }
  return rest;
}

std::optional<ComputeCapability> meant_capability(std::string_view text) {
  // 8,0 as some languages write it; 8 . 0; and with the blank of a web page or a spreadsheet.
  std::string lower;
  for (const char c : to_lower(without_wide_blanks(text)))
    if (c != ' ' && c != '\t') lower += c == ',' ? '.' : c;
  std::string_view name = lower;
  for (const char* prefix : {"sm_", "compute_", "sm"})
    if (starts_with(name, prefix)) {
      name.remove_prefix(std::string_view(prefix).size());
      break;
    }
  const auto number = parse_number(name, 19);
  if (number && *number != 0) return ComputeCapability{static_cast<int>(*number), 0};
  if (const auto arch = parse_arch(name)) return capability_of(*arch);
  if (ends_with(name, "a") || ends_with(name, "f")) name.remove_suffix(1);
  return parse_capability(name);
}

std::optional<Version> parse_driver_cuda(std::string_view text) {
  const auto version = parse_version(text);
  const bool is_cuda = version && version->major > 0 && version->major < kLowestDriverBranch;
  return is_cuda && version->minor < 10 ? version : std::nullopt;  // 12.20 is no release: 12020 means 12.2
}

std::optional<MeantCuda> meant_driver_cuda(std::string_view text, std::optional<ComputeCapability> device) {
  text = trim(text);
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  if (const auto version = version_of_number(text)) return MeantCuda{*version, false};
  if (const auto version = driver_cuda_of(text, device)) return MeantCuda{*version, true};
  const auto parts = split(text, '.');
  std::string minor(parts.size() > 1 ? parts[1] : "0");
  if (minor.size() == 2 && minor[1] == '0') minor.pop_back();
  const auto version = parse_driver_cuda(std::string(parts[0]) + "." + minor);
  if (version) return MeantCuda{*version, false};
  return std::nullopt;
}

std::string driver_fix(std::string_view text, std::optional<ComputeCapability> device,
                       const std::string& before) {
  const auto meant = meant_driver_cuda(text, device);
  if (meant && meant->of_driver && is_driver_beyond_table(text))
    return "write the CUDA that it offers, " + to_string(meant->version) + " or newer: " + before +
           to_string(meant->version);
  if (meant)
    return (meant->of_driver ? "write the CUDA that it offers: " : "write ") + before +
           to_string(meant->version);
  if (device && may_be_tegra(*device) && driver_cuda_of(text))
    return "write the CUDA of its JetPack, which the driver's version does not tell: " + before + "X.Y";
  return {};
}

bool is_driver_version(std::string_view text) {
  const auto branch = parse_number(text.substr(0, text.find('.')), kHighestDriverBranch);
  return text.find_first_not_of("0123456789.") == std::string_view::npos && branch &&
         *branch >= kLowestDriverBranch;
}

std::string driver_version_fix(std::string_view text) {
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return {};
  if (const auto cuda = version_of_number(text))
    return "that is a CUDA version: write driver_cuda " + to_string(*cuda);
  std::string digits(text);  // of 31.0.15.3623 the last five: 53623
  const auto parts = split(text, '.');
  constexpr std::size_t kOfWindows = 4, kDigits = 5, kOfBranch = 3;
  if (parts.size() == kOfWindows) digits = std::string(parts[2]) + std::string(parts[3]);
  if ((parts.size() == kOfWindows || parts.size() == 1) && digits.size() >= kDigits) {
    digits = digits.substr(digits.size() - kDigits);
    return "write " + digits.substr(0, kOfBranch) + "." + digits.substr(kOfBranch);
  }
  if (const auto cuda = parts.size() == 2 ? parse_driver_cuda(text) : std::nullopt)
    return "write it into the column driver_cuda, if it is the CUDA that the driver offers";
  return {};
}

std::string device_fix(std::string_view text) {
  const std::string mended = mended_device(text);
  if (!mended.empty()) return "write " + mended;
  const auto comma = text.find(',');
  if (comma != std::string_view::npos) {  // of a decimal
    const auto capability =
        parse_capability(std::string(text.substr(0, comma)) + "." + std::string(text.substr(comma + 1)));
    if (capability) return "write " + to_string(*capability);
  }
  const auto separator = text.find_first_of(",; ");
  if (separator == std::string_view::npos) return {};
  std::string options;
  std::size_t count = 0;
  for (const auto piece : split(text, text[separator])) {
    if (trim(piece).empty()) continue;
    const std::string device = mended_device(piece);
    if (device.empty()) return {};
    options += " --device " + device;
    ++count;
  }
  if (count == 0) return {};
  if (count == 1) return "write " + options.substr(std::string_view(" --device ").size());
  return "give --device " + (count == 2 ? "twice" : std::to_string(count) + " times") + ":" + options;
}

}  // namespace archguard
