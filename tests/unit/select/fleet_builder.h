#pragma once

#include <string>
#include <vector>

#include "base/text.h"
#include "select/select.h"

namespace archguard {

// A fleet from text: "8.0 12.0@12.2 ?" — capability, perhaps @ the driver's CUDA; `?` has no capability, a
// leading
// `-` is hidden. The origin of each is its line: "fleet.csv:2" for the first.
inline std::vector<Device> fleet(std::string_view text) {
  std::vector<Device> devices;
  for (auto token : split(text, ' ')) {
    if (token.empty()) continue;
    Device device;
    device.visible = token[0] != '-';
    if (!device.visible) token.remove_prefix(1);
    const auto at = std::min(token.find('@'), token.size());
    device.capability = parse_capability(token.substr(0, at));
    if (at < token.size()) device.driver_cuda = parse_version(token.substr(at + 1));
    device.origin = "fleet.csv:" + std::to_string(devices.size() + 2);
    devices.push_back(device);
  }
  return devices;
}

inline Compiler cuda(const char* version) {
  return compiler_of_toolkit(parse_version(version).value()).value();
}

// "newest", "oldest", "none", or an architecture.
inline SelectPolicy with_ptx(const char* ptx) {
  const std::string text = ptx;
  SelectPolicy policy;
  if (const auto arch = parse_arch(text)) policy.given_ptx = *arch;
  policy.ptx = text == "newest"   ? PtxPolicy::newest
               : text == "oldest" ? PtxPolicy::oldest
               : text == "none"   ? PtxPolicy::none
                                  : PtxPolicy::given;
  return policy;
}

inline SelectPolicy with_suffix(Suffix suffix, SelectPolicy policy = {}) {
  policy.suffix = suffix;
  return policy;
}

inline SelectPolicy minimal(SelectPolicy policy = {}) {
  policy.sass = SassPolicy::minimal;
  return policy;
}

// All that a selection says, a line each.
inline std::string told(const Selection& selection, const DeviceList& devices) {
  std::string text;
  for (const auto& chosen : selection.entries) text += to_string(chosen.entry) + ": " + chosen.reason + "\n";
  for (const std::size_t i : selection.excluded)
    text += "excluded " + describe(devices[i]) + ": " +
            selection.why_excluded[devices.kind_number(i)].reason + "\n";
  for (const auto& warning : selection.warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace archguard
