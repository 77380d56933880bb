#include "report/source_place.h"

#include <cstdio>
#include <vector>

#include "base/text.h"

namespace archguard {
namespace {

// Of an absolute path, without empty parts, "." and "..".
std::vector<std::string> path_parts(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..")
      parts.emplace_back(part);
    else if (!parts.empty())
      parts.pop_back();
  }
  return parts;
}

}  // namespace

std::string path_below_root(const std::string& path, const ReportOptions& options) {
  const bool absolute = starts_with(path, "/");
  if (!absolute && options.folder.empty()) return path;
  std::vector<std::string> parts = path_parts(absolute ? path : options.folder + "/" + path);
  const std::vector<std::string> root = path_parts(options.root);
  bool below = !options.root.empty() && parts.size() > root.size();
  for (std::size_t i = 0; below && i < root.size(); ++i) below = parts[i] == root[i];
  if (!below) return "/" + join(parts, "/");
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(root.size()));
  return join(parts, "/");
}

std::optional<SourcePlace> place_of_device(const Device& device, const ReportOptions& options) {
  const auto end = device.origin.rfind(':');
  if (!is_of_fleet(device) || end == std::string::npos) return {};
  const auto line = parse_number(std::string_view(device.origin).substr(end + 1), SIZE_MAX >> 1U);
  if (!line || *line == 0) return {};
  const std::string path = device.origin.substr(0, end);
  if (path == "standard input") return {};
  return SourcePlace{path_below_root(path, options), static_cast<std::size_t>(*line)};
}

std::optional<SourcePlace> place_of(const Verification& verification, const Finding& finding,
                                    const ReportOptions& options) {
  for (const std::size_t each : finding.classes) {
    const Device device = verification.devices[verification.classes[each].members.front()];
    if (auto place = place_of_device(device, options)) return place;
  }
  if (finding.rule == "AG-device")
    for (std::size_t i = 0; i < verification.devices.size(); ++i)
      if (is_unjudged(verification.devices.kind(i))) return place_of_device(verification.devices[i], options);
  if (finding.files.empty()) return {};
  return SourcePlace{path_below_root(verification.files[finding.files.front()].path, options), 0};
}

std::string uri_of(const std::string& path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/+,=@()";
  std::string uri = starts_with(path, "/") ? "file://" : "";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
      continue;
    }
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    uri += escape;
  }
  return uri;
}

}  // namespace archguard
